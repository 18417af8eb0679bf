//! The front matter of hookify's rule files, as hookify itself reads it.
//!
//! It looks like YAML and is none: quotes around a value are removed, and nothing inside of them has a meaning. So
//! `pattern: "rm\s+-rf"` is a regular expression, and a `#` behind a value belongs to it.

use serde_json::{Map, Value};

/// The front matter and the message below it.
pub(super) fn split(text: &str) -> Option<(Map<String, Value>, &str)> {
    let (front, message) = text.strip_prefix("---")?.split_once("---")?;
    let mut fields = Map::new();
    let mut list: Option<(String, Vec<Value>)> = None;
    let mut item: Option<Map<String, Value>> = None;
    for line in front.lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let entry = content.split_once(':');
        match (entry, content.strip_prefix('-'), &mut list) {
            (Some((key, value)), None, _) if indent == 0 => {
                close_list(&mut fields, &mut list, &mut item);
                match value.trim() {
                    "" => list = Some((key.trim().to_owned(), Vec::new())),
                    value => _ = fields.insert(key.trim().to_owned(), read_value(value)),
                }
            }
            (_, Some(text), Some((_, values))) => {
                values.extend(item.take().map(Value::Object));
                let text = text.trim();
                if text.contains(':') && text.contains(',') {
                    values.push(Value::Object(text.split(',').filter_map(read_entry).collect()));
                } else if let Some(entry) = read_entry(text) {
                    item = Some(Map::from_iter([entry]));
                } else {
                    values.push(strip_quotes(text).into());
                }
            }
            (Some(_), None, _) if indent > 2 => {
                if let (Some(item), Some((key, value))) = (&mut item, read_entry(content)) {
                    item.insert(key, value);
                }
            }
            _ => {}
        }
    }
    close_list(&mut fields, &mut list, &mut item);
    Some((fields, message))
}

fn close_list(
    fields: &mut Map<String, Value>,
    list: &mut Option<(String, Vec<Value>)>,
    item: &mut Option<Map<String, Value>>,
) {
    if let Some((key, mut values)) = list.take() {
        values.extend(item.take().map(Value::Object));
        fields.insert(key, values.into());
    }
}

fn read_entry(text: &str) -> Option<(String, Value)> {
    let (key, value) = text.split_once(':')?;
    Some((key.trim().to_owned(), strip_quotes(value.trim()).into()))
}

fn read_value(text: &str) -> Value {
    match strip_quotes(text) {
        text if text.eq_ignore_ascii_case("true") => true.into(),
        text if text.eq_ignore_ascii_case("false") => false.into(),
        text => text.into(),
    }
}

fn strip_quotes(text: &str) -> &str {
    text.trim_matches('"').trim_matches('\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_and_conditions_are_read_as_hookify_does() {
        let text = "---\nname: a\nenabled: True\n# no\npattern: \"rm\\s+-rf\"\nconditions:\n  - field: file_path\n    \
                    operator: 'contains'\n    pattern: a: b # c\n  - field: x, operator: y\n  - plain\naction: block\n---\n\nText\n";
        let (fields, message) = split(text).unwrap();
        let expected = json!({"name": "a", "enabled": true, "pattern": "rm\\s+-rf", "action": "block", "conditions": [
            {"field": "file_path", "operator": "contains", "pattern": "a: b # c"}, {"field": "x", "operator": "y"}, "plain"]});
        assert_eq!(Value::Object(fields), expected);
        assert_eq!(message.trim(), "Text");
        assert!(split("name: a\n").is_none() && split("---\nname: a\n").is_none());
    }
}
