//! Checks whether a JSON value has all expected fields.
//!
//! Expectations name only some fields, because the client adds fields with every version. A text `{{re:REGEX}}` is met by any
//! text that it matches.

use regex_lite::Regex;
use serde_json::Value;

/// A place where the actual value differs from the expected one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gap {
    pub(crate) path: String,
    pub(crate) expected: Value,
    pub(crate) actual: Option<Value>,
}

/// Finds all gaps. Without any, `expected` is a part of `actual`.
pub(crate) fn find_gaps(expected: &Value, actual: &Value) -> Vec<Gap> {
    let mut found = Vec::new();
    compare(expected, Some(actual), String::new(), &mut found);
    found
}

pub(crate) fn is_part_of(expected: &Value, actual: &Value) -> bool {
    find_gaps(expected, actual).is_empty()
}

fn compare(expected: &Value, actual: Option<&Value>, path: String, found: &mut Vec<Gap>) {
    match (expected, actual) {
        (Value::Object(wanted), Some(Value::Object(there))) => {
            for (key, value) in wanted {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(value, there.get(key), below, found);
            }
        }
        // Lists must have the same length: an expectation of two calls is not met by three.
        (Value::Array(wanted), Some(Value::Array(there))) if wanted.len() == there.len() => {
            for (index, (value, other)) in wanted.iter().zip(there).enumerate() {
                compare(value, Some(other), format!("{path}[{index}]"), found);
            }
        }
        (wanted, Some(there)) if is_equal(wanted, there) => {}
        _ => found.push(Gap { path, expected: expected.clone(), actual: actual.cloned() }),
    }
}

fn is_equal(wanted: &Value, there: &Value) -> bool {
    match (wanted, there) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::String(text), Value::String(actual)) => {
            text == actual || parse_pattern(text).is_some_and(|regex| regex.is_match(actual))
        }
        _ => wanted == there,
    }
}

fn parse_pattern(text: &str) -> Option<Regex> {
    let inner = text.strip_prefix("{{re:")?.strip_suffix("}}")?;
    Regex::new(inner).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn other_fields_are_ignored() {
        let actual = json!({"a": {"b": 1, "c": [1, {"d": 2, "e": 3}]}, "f": null});
        assert!(is_part_of(&json!({"a": {"c": [1.0, {"d": 2}]}}), &actual));
        assert!(is_part_of(&json!({}), &actual));
    }

    #[test]
    fn a_gap_names_its_path_and_both_values() {
        let found = find_gaps(&json!({"a": {"b": "deny"}, "x": true}), &json!({"a": {"b": "allow"}}));
        assert_eq!(
            found,
            [
                Gap { path: "a.b".into(), expected: json!("deny"), actual: Some(json!("allow")) },
                Gap { path: "x".into(), expected: json!(true), actual: None },
            ]
        );
    }

    #[test]
    fn lists_have_equal_lengths_and_types_are_strict() {
        assert!(!is_part_of(&json!([1]), &json!([1, 2])));
        assert!(!is_part_of(&json!(1), &json!("1")));
        assert!(!is_part_of(&json!({}), &json!(null)));
    }

    #[test]
    fn a_pattern_is_met_by_a_text_that_it_matches() {
        assert!(is_part_of(&json!({"r": "{{re:^no: [a-z]+$}}"}), &json!({"r": "no: plan"})));
        assert!(!is_part_of(&json!({"r": "{{re:^yes}}"}), &json!({"r": "no: plan"})));
    }
}
