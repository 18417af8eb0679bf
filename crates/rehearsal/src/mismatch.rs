//! A failed expectation, described so that it can be understood without the run.

use std::fmt;

use serde_json::Value;

use crate::json_subset::{Gap, find_gaps};
use crate::text_diff::{closest_line, line_diff, shorten};

/// One expectation that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What was checked: `request 2 of route main`.
    pub subject: String,
    /// What is wrong with it: `does not contain`.
    pub fault: String,
    /// Labelled texts, such as what was expected and what is there.
    details: Vec<(&'static str, String)>,
}

impl Mismatch {
    pub(crate) fn new(subject: impl Into<String>, fault: impl Into<String>) -> Self {
        Self { subject: subject.into(), fault: fault.into(), details: Vec::new() }
    }

    pub(crate) fn with(mut self, label: &'static str, text: impl Into<String>) -> Self {
        self.details.push((label, text.into()));
        self
    }

    pub(crate) fn differs(
        subject: &str,
        fault: &str,
        expected: &impl ToString,
        actual: &impl ToString,
    ) -> Self {
        Self::new(subject, fault).with("expected", expected.to_string()).with("actual", actual.to_string())
    }

    /// A text lacks something.
    pub(crate) fn missing(subject: &str, fault: &str, wanted: &str, text: &str) -> Self {
        let mismatch = Self::new(subject, fault).with("expected", wanted);
        if text.trim().is_empty() {
            return mismatch.with("actual", "(nothing)");
        }
        let mismatch = match closest_line(wanted, text) {
            Some(line) => mismatch.with("closest", shorten(line)),
            None => mismatch,
        };
        mismatch.with("actual", shorten(text))
    }

    /// A text contains something that it must not contain.
    pub(crate) fn unwanted(subject: &str, unwanted: &str, text: &str) -> Self {
        let first = unwanted.lines().next().unwrap_or_default();
        let line = text.lines().find(|line| line.contains(first)).unwrap_or(text);
        Self::new(subject, "contains").with("unwanted", unwanted).with("in", shorten(line))
    }

    pub(crate) fn lines(subject: &str, expected: &str, actual: &str) -> Self {
        Self::new(subject, "differs (- expected, + actual)").with("", line_diff(expected, actual))
    }

    /// `expected` is not a part of `actual`; `None` if it is.
    pub(crate) fn partial(subject: &str, expected: &Value, actual: &Value) -> Option<Self> {
        let gaps = find_gaps(expected, actual);
        if gaps.is_empty() {
            return None;
        }
        let list = gaps.iter().map(describe_gap).collect::<Vec<_>>().join("\n");
        Some(Self::new(subject, "differs").with("", list).with("actual", shorten(&format!("{actual:#}"))))
    }
}

fn describe_gap(gap: &Gap) -> String {
    let Gap { path, expected, actual } = gap;
    let path = if path.is_empty() { "the whole" } else { path };
    match actual {
        Some(actual) => format!("{path}: expected {expected}, got {}", shorten(&actual.to_string())),
        None => format!("{path}: expected {expected}, got nothing"),
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject, self.fault)?;
        for (label, text) in &self.details {
            let mut label = *label;
            for line in text.lines().chain(text.is_empty().then_some("(nothing)")) {
                write!(f, "\n  {label:<9} {line}")?;
                label = "";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_missing_text_is_shown_with_the_closest_line() {
        let mismatch = Mismatch::missing(
            "request 2 of route main",
            "does not contain",
            "denied: no plan",
            "a\nhook error: denied, no plan\nb",
        );
        assert_eq!(
            mismatch.to_string(),
            "request 2 of route main does not contain\n\
             \x20 expected  denied: no plan\n\
             \x20 closest   hook error: denied, no plan\n\
             \x20 actual    a\n\
             \x20           hook error: denied, no plan\n\
             \x20           b"
        );
    }

    #[test]
    fn a_partial_answer_names_the_field() {
        let mismatch = Mismatch::partial(
            "stdout of hook 1",
            &json!({"a": {"b": "deny"}}),
            &json!({"a": {"b": "allow"}}),
        )
        .unwrap();
        let text = mismatch.to_string();
        assert!(text.contains(r#"a.b: expected "deny", got "allow""#), "{text}");
        assert_eq!(Mismatch::partial("x", &json!({}), &json!({"a": 1})), None);
    }

    #[test]
    fn an_unwanted_text_is_shown_with_its_line() {
        let text = Mismatch::unwanted("file log", "secret", "a\nthe secret word\nb").to_string();
        assert!(text.contains("in        the secret word"), "{text}");
    }
}
