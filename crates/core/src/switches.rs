//! The parts of a client's settings file that decide whether hooks run, in a form that can be compared.
//!
//! One guard judges an edit before a tool makes it, another a file that has changed already. Both compare two values of
//! this type, so that "silenced" means the same. Values of the file are kept as fingerprints only, because settings are
//! private.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::places::fnv1a;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Entries that call Provost and enabled plugins. They must stay; others may be added.
    pub required: BTreeMap<String, String>,
    /// Hooks that only the user may add, each with what it could do to a guard.
    pub reserved_hooks: BTreeMap<String, &'static str>,
    /// The command lines of hooks that do not call Provost.
    pub hook_commands: BTreeSet<String>,
    /// Variables that control Provost. They must not change.
    pub fixed_variables: BTreeMap<String, String>,
    /// Other keys, which might make the client ignore the file.
    pub other_keys: BTreeMap<String, String>,
    /// Switches that are set and keep hooks from running.
    pub disabling_switches: Vec<String>,
}

impl Switches {
    /// Describes each registration that `after` would silence.
    pub fn find_silenced(&self, after: &Self) -> Vec<String> {
        let gone = self.required.iter().filter(|(name, value)| after.required.get(*name) != Some(value));
        let gone = gone.map(|(name, _)| format!("{} would be gone", words(name)));
        let names = self
            .fixed_variables
            .keys()
            .chain(after.fixed_variables.keys().filter(|name| !self.fixed_variables.contains_key(*name)));
        let changed =
            names.filter(|name| self.fixed_variables.get(*name) != after.fixed_variables.get(*name));
        let off = after.disabling_switches.iter().filter(|switch| !self.disabling_switches.contains(switch));
        gone.chain(changed.chain(off).map(|name| format!("{name} would change"))).collect()
    }

    /// Describes each change that a tool must not make. Unlike the user, a tool may not add hooks that could undo a
    /// denial, nor keys that could make the client ignore the file.
    pub fn find_forbidden_changes(&self, after: &Self) -> Vec<String> {
        let mut found = self.find_silenced(after);
        let switched_on =
            self.disabling_switches.iter().filter(|switch| !after.disabling_switches.contains(switch));
        found.extend(switched_on.map(|switch| format!("{switch} would change")));
        let added = after.reserved_hooks.iter().filter(|(name, _)| !self.reserved_hooks.contains_key(*name));
        found.extend(added.map(|(name, why)| format!("{} is new, and {why}", words(name))));
        let doubtful =
            after.other_keys.iter().filter(|(key, value)| self.other_keys.get(*key) != Some(value));
        found.extend(
            doubtful
                .filter(|_| !self.required.is_empty())
                .map(|(key, _)| format!("with `{key}` changed, the client may drop the file")),
        );
        found
    }

    /// The command lines of hooks that `after` adds.
    pub fn find_added_commands<'a>(&'a self, after: &'a Self) -> impl Iterator<Item = &'a String> {
        after.hook_commands.difference(&self.hook_commands)
    }

    /// The part that a session remembers.
    pub fn to_json(&self) -> Value {
        json!({"kept": self.required, "fixed": self.fixed_variables, "off": self.disabling_switches})
    }

    pub fn from_json(value: &Value) -> Self {
        let texts = |value: &Value| value.as_str().map(str::to_owned);
        let map = |name: &str| -> BTreeMap<String, String> {
            let entries = value[name].as_object().into_iter().flatten();
            entries.filter_map(|(name, value)| Some((name.clone(), texts(value)?))).collect()
        };
        let off = value["off"].as_array().into_iter().flatten().filter_map(texts).collect();
        Self {
            required: map("kept"),
            fixed_variables: map("fixed"),
            disabling_switches: off,
            ..Self::default()
        }
    }
}

/// A digest of a value. It does not depend on the order of keys or the spelling of numbers.
pub fn fingerprint(value: &Value) -> String {
    let mut text = String::new();
    spell(value, &mut text);
    format!("{:016x}", fnv1a(text.as_bytes()))
}

/// Writes a value with sorted keys and normalised numbers.
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
        // Clients read every number as a float.
        Value::Number(number) => *text += &number.as_f64().unwrap_or_default().to_string(),
        other => *text += &other.to_string(),
    }
}

/// A name that differs for entries with different values: `name#fingerprint`.
pub fn name_with_fingerprint(name: &str, value: &Value) -> String {
    format!("{name}#{}", fingerprint(value))
}

fn words(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(words, _)| words)
}
