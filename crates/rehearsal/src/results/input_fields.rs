//! Lists the fields of a hook's input with their types, without their values.
//!
//! On two versions, a scenario gives hooks equal inputs, except for fields that the client added or removed.

use std::collections::BTreeSet;

use serde_json::Value;

/// Deeper fields, such as the hunks of a patch, are ignored.
const MAX_DEPTH: usize = 3;

/// Adds every field of an input, as `path:type`.
pub(super) fn add_fields(input: &Value, fields: &mut BTreeSet<String>) {
    add_below(input, "", 0, fields);
}

fn add_below(value: &Value, path: &str, depth: usize, fields: &mut BTreeSet<String>) {
    if depth > 0 {
        fields.insert(format!("{path}:{}", type_name(value)));
    }
    match value {
        Value::Object(map) if depth < MAX_DEPTH => {
            for (key, value) in map {
                let key = if is_name(key) { key } else { "*" };
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                add_below(value, &path, depth + 1, fields);
            }
        }
        Value::Array(list) if depth < MAX_DEPTH => {
            for value in list {
                add_below(value, &format!("{path}[]"), depth + 1, fields);
            }
        }
        _ => {}
    }
}

/// Whether a key is a name, and not a path, an id or a sentence.
fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn type_name(value: &Value) -> &'static str {
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
    fn fields_have_types_and_no_values() {
        let mut fields = BTreeSet::new();
        add_fields(
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
