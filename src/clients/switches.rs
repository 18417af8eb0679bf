//! What in a client's settings file decides whether hooks run, in a form that can be compared.
//!
//! Two guards ask: one judges an edit before a tool makes it, the other a file that has already
//! changed. Both compare two values of this type, so that there is one notion of "silenced". Values
//! of the file are kept as fingerprints only: what somebody wrote there is nobody's business.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::workspace::fnv1a;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Every hook of the file, by the place it is registered in.
    pub hooks: BTreeMap<String, String>,
    /// What must not go: entries that call Provost, enabled plugins. More may be added.
    pub kept: BTreeMap<String, String>,
    /// What must not change in any way: variables that steer Provost.
    pub fixed: BTreeMap<String, String>,
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

    /// The same for an edit by a tool, which may not touch any hook.
    pub fn altered_by(&self, after: &Self) -> Vec<String> {
        let places = self.hooks.keys().chain(after.hooks.keys());
        let changed = places.filter(|place| self.hooks.get(*place) != after.hooks.get(*place));
        let mut found: Vec<String> = changed.take(1).map(|place| format!("`{place}` would change")).collect();
        if found.is_empty() {
            found = self.silenced_by(after);
            found.extend(
                self.off
                    .iter()
                    .filter(|switch| !after.off.contains(switch))
                    .map(|s| format!("{s} would change")),
            );
        }
        found
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
        Self { hooks: BTreeMap::new(), kept: map("kept"), fixed: map("fixed"), off }
    }
}

/// A value that can be compared but not read.
pub fn fingerprint(value: &Value) -> String {
    format!("{:016x}", fnv1a(value.to_string().as_bytes()))
}

/// Entries that differ only in their value get names that differ: `name#fingerprint`.
pub fn distinct(name: &str, value: &Value) -> String {
    format!("{name}#{}", fingerprint(value))
}

fn words(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(words, _)| words)
}
