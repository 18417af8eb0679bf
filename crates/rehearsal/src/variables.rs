//! `${name}`: what a scenario leaves open until it is staged.
//!
//! Hook commands and scripts have variables of their own with the same notation
//! (`${CLAUDE_PROJECT_DIR}`, `${line}`). So an unknown name is left as it stands, except where a
//! missing one would make the rehearsal pass for the wrong reason: a hook command that does not
//! exist fails open, and everything seems allowed. There, unknown lower-case names are errors.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{Error, Result};

#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(crate) fn new(values: BTreeMap<String, String>) -> Self {
        Self(values)
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Fills in what is known and leaves the rest.
    pub(crate) fn fill(&self, text: &str) -> String {
        self.walk(text, |_| Ok(())).unwrap_or_else(|_| text.to_owned())
    }

    /// Fills in what is known and refuses unknown names that cannot be environment variables.
    pub(crate) fn fill_strictly(&self, text: &str) -> Result<String> {
        self.walk(text, |name| {
            if name.chars().any(char::is_uppercase) {
                return Ok(());
            }
            Err(Error::stage(format!("`${{{name}}}` is not set. To fix: give it a value, `--set {name}=…`")))
        })
    }

    pub(crate) fn fill_json(&self, value: &Value) -> Value {
        map_strings(value, &mut |text| self.fill(text))
    }

    fn walk(&self, text: &str, unknown: impl Fn(&str) -> Result<()>) -> Result<String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, opened) = rest.split_at(start);
            filled.push_str(before);
            let name = opened[2..].split('}').next().unwrap_or_default();
            let closed = opened[2 + name.len()..].starts_with('}');
            if !(closed && is_name(name)) {
                filled.push_str("${");
                rest = &opened[2..];
                continue;
            }
            if let Some(value) = self.0.get(name) {
                filled.push_str(value);
            } else {
                unknown(name)?;
                filled.push_str(&opened[..name.len() + 3]);
            }
            rest = &opened[name.len() + 3..];
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
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
