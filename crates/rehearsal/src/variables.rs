//! `${name}`: placeholders of a scenario, which are filled when it is played.
//!
//! Hook commands and scripts use the same notation for their own variables (`${CLAUDE_PROJECT_DIR}`, `${line}`), so an
//! unknown name is left as it is. The exception is a place where a missing value would let the scenario pass for the wrong
//! reason: a hook command that does not exist fails open, and everything seems allowed. There, unknown lower-case names are
//! errors.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde_json::Value;

use crate::error::{Error, Result};

static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{([A-Za-z0-9_-]+)\}").expect("a valid expression"));

#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(crate) fn new(values: BTreeMap<String, String>) -> Self {
        Self(values)
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Fills in known names and leaves the others.
    pub(crate) fn fill(&self, text: &str) -> String {
        let value = |found: &Captures<'_>| self.0.get(&found[1]).map_or(&found[0], String::as_str).to_owned();
        REFERENCE.replace_all(text, value).into_owned()
    }

    /// Fills in known names. An unknown name is an error, unless it could be an environment variable.
    pub(crate) fn fill_strictly(&self, text: &str) -> Result<String> {
        let mut names = REFERENCE.captures_iter(text).map(|found| found.extract::<1>().1[0]);
        match names.find(|name| !self.0.contains_key(*name) && !name.chars().any(char::is_uppercase)) {
            Some(name) => Err(Error::stage(format!(
                "`${{{name}}}` is not set. To fix: give it a value, `--set {name}=…`"
            ))),
            None => Ok(self.fill(text)),
        }
    }

    pub(crate) fn fill_json(&self, value: &Value) -> Value {
        map_strings(value, &mut |text| self.fill(text))
    }
}

/// Rewrites every string value of a JSON tree; keys stay.
pub(crate) fn map_strings(value: &Value, change: &mut impl FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => items.iter().map(|item| map_strings(item, change)).collect(),
        Value::Object(keys) => {
            keys.iter().map(|(key, value)| (key.clone(), map_strings(value, change))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        Variables::new(BTreeMap::from([("tool".to_owned(), "/bin/x".to_owned())]))
    }

    #[test]
    fn known_names_are_filled_and_others_left() {
        assert_eq!(
            variables().fill("${tool} ${tool}! ${other} ${x%y} ${"),
            "/bin/x /bin/x! ${other} ${x%y} ${"
        );
    }

    #[test]
    fn a_forgotten_variable_in_a_command_is_an_error_that_names_it() {
        let error = variables().fill_strictly("${gate} hook").unwrap_err();
        assert!(error.to_string().contains("`${gate}` is not set"), "{error}");
    }

    #[test]
    fn environment_variables_in_a_command_are_left_to_the_client() {
        assert_eq!(variables().fill_strictly("${CLAUDE_PROJECT_DIR}/x").unwrap(), "${CLAUDE_PROJECT_DIR}/x");
    }

    #[test]
    fn json_strings_are_filled_at_any_depth() {
        let filled = variables().fill_json(&serde_json::json!({"a": [{"b": "${tool}"}], "n": 1}));
        assert_eq!(filled, serde_json::json!({"a": [{"b": "/bin/x"}], "n": 1}));
    }
}
