//! What in a client's settings file decides whether hooks run, in a form that can be compared.
//!
//! Two guards ask: one judges an edit before a tool makes it, the other a file that has already
//! changed. Both compare two values of this type, so that there is one notion of "silenced". Values
//! of the file are kept as fingerprints only: what somebody wrote there is nobody's business.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::workspace::fnv1a;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// What must not go: entries that call Provost, enabled plugins. More may be added.
    pub kept: BTreeMap<String, String>,
    /// Hooks that only the user adds, each with what it could do to a guard.
    pub reserved: BTreeMap<String, &'static str>,
    /// The command lines of hooks that do not call Provost.
    pub commands: BTreeSet<String>,
    /// What must not change in any way: variables that steer Provost.
    pub fixed: BTreeMap<String, String>,
    /// What may or may not make the client drop the file: nobody here knows.
    pub others: BTreeMap<String, String>,
    /// Switches that are on and keep hooks from running.
    pub off: Vec<String>,
}

impl Switches {
    /// What `after` would silence of what is registered here.
    pub fn silenced_by(&self, after: &Self) -> Vec<String> {
        let gone = self.kept.iter().filter(|(name, value)| after.kept.get(*name) != Some(value));
        let gone = gone.map(|(name, _)| format!("{} would be gone", words(name)));
        let names =
            self.fixed.keys().chain(after.fixed.keys().filter(|name| !self.fixed.contains_key(*name)));
        let changed = names.filter(|name| self.fixed.get(*name) != after.fixed.get(*name));
        let off = after.off.iter().filter(|switch| !self.off.contains(switch));
        gone.chain(changed.chain(off).map(|name| format!("{name} would change"))).collect()
    }

    /// What an edit by a tool would take away from Provost. Unlike a change by the user, it may not add
    /// hooks that could undo a judgement, nor what could make the client drop the file.
    pub fn altered_by(&self, after: &Self) -> Vec<String> {
        let mut found = self.silenced_by(after);
        let switched_on = self.off.iter().filter(|switch| !after.off.contains(switch));
        found.extend(switched_on.map(|switch| format!("{switch} would change")));
        let added = after.reserved.iter().filter(|(name, _)| !self.reserved.contains_key(*name));
        found.extend(added.map(|(name, why)| format!("{} is new, and {why}", words(name))));
        let doubtful = after.others.iter().filter(|(key, value)| self.others.get(*key) != Some(value));
        found.extend(
            doubtful
                .filter(|_| !self.kept.is_empty())
                .map(|(key, _)| format!("with `{key}` changed, the client may drop the file")),
        );
        found
    }

    /// The command lines of hooks that `after` adds.
    pub fn added_commands<'a>(&'a self, after: &'a Self) -> impl Iterator<Item = &'a String> {
        after.commands.difference(&self.commands)
    }

    /// What a session has to remember.
    pub fn to_json(&self) -> Value {
        json!({"kept": self.kept, "fixed": self.fixed, "off": self.off})
    }

    pub fn from_json(value: &Value) -> Self {
        let texts = |value: &Value| value.as_str().map(str::to_owned);
        let map = |name: &str| -> BTreeMap<String, String> {
            let entries = value[name].as_object().into_iter().flatten();
            entries.filter_map(|(name, value)| Some((name.clone(), texts(value)?))).collect()
        };
        let off = value["off"].as_array().into_iter().flatten().filter_map(texts).collect();
        Self { kept: map("kept"), fixed: map("fixed"), off, ..Self::default() }
    }
}

/// A value that can be compared but not read. Another spelling of the same value has the same one.
pub fn fingerprint(value: &Value) -> String {
    let mut text = String::new();
    spell(value, &mut text);
    format!("{:016x}", fnv1a(text.as_bytes()))
}

/// Writes a value with its keys in order and its numbers by their value.
fn spell(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut parts: Vec<_> = map.iter().collect();
            parts.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, part) in parts {
                *text += &Value::from(name.as_str()).to_string();
                text.push(':');
                spell(part, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(list) => {
            text.push('[');
            for part in list {
                spell(part, text);
                text.push(',');
            }
            text.push(']');
        }
        // Clients hold every number in this form.
        Value::Number(number) => *text += &number.as_f64().unwrap_or_default().to_string(),
        other => *text += &other.to_string(),
    }
}

/// Entries that differ only in their value get names that differ: `name#fingerprint`.
pub fn distinct(name: &str, value: &Value) -> String {
    format!("{name}#{}", fingerprint(value))
}

fn words(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(words, _)| words)
}
