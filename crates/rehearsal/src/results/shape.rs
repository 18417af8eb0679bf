//! The shape of what a hook was given: which fields, of which kind, without what is in them.
//!
//! The same scenarios on two versions meet the same situations, so a field that is in one shape and not in the other was
//! added or taken away by the client.

use std::collections::BTreeSet;

use serde_json::Value;

/// Deeper than this are things that nobody decides by, such as the hunks of a patch.
const DEPTH: usize = 3;

/// Adds every field of an input, as `path:kind`.
pub(super) fn note(input: &Value, fields: &mut BTreeSet<String>) {
    descend(input, "", 0, fields);
}

fn descend(value: &Value, path: &str, depth: usize, fields: &mut BTreeSet<String>) {
    if depth > 0 {
        fields.insert(format!("{path}:{}", kind(value)));
    }
    match value {
        Value::Object(map) if depth < DEPTH => {
            for (key, value) in map {
                let key = if is_name(key) { key } else { "*" };
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                descend(value, &path, depth + 1, fields);
            }
        }
        Value::Array(list) if depth < DEPTH => {
            for value in list {
                descend(value, &format!("{path}[]"), depth + 1, fields);
            }
        }
        _ => {}
    }
}

/// Keys that are names, and not a path, an id or a sentence that serves as a key.
fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_shape_has_fields_and_kinds_and_no_content() {
        let mut fields = BTreeSet::new();
        note(
            &json!({"cwd": "/p", "ok": true, "answer": {"/a path": 1, "list": [{"deep": {"x": 1}}, null]}}),
            &mut fields,
        );
        let expected = [
            "answer.*:number",
            "answer.list:list",
            "answer.list[]:null",
            "answer.list[]:object",
            "answer:object",
        ];
        let mut expected: BTreeSet<String> = expected.map(str::to_owned).into();
        expected.extend(["cwd:text".to_owned(), "ok:bool".to_owned()]);
        assert_eq!(fields, expected);
    }
}
