//! `[guards]`: which guards judge, which only watch, and which file may say so.

use super::{Config, SettingValue};
use crate::layer::ConfigLayer;

/// The guard that judges rules.
pub const RULES_GUARD: &str = "rules";
/// The guards that protect Provost itself. No project switches them off, because the user may only have cloned it.
pub const PROTECTING_GUARDS: &[&str] = &["self-guard", "registration-guard"];

impl Config {
    /// Reports that a file tries to switch a guard off that it cannot reach.
    pub(super) fn report_ignored_switches(&mut self) {
        let ignored = self.values.iter().filter_map(|value| {
            let guard = value.1.strip_prefix("guards.").filter(|guard| self.is_ignored_switch(guard, value))?;
            let why = if PROTECTING_GUARDS.contains(&guard) {
                "because it protects Provost from what a project may contain; only the user's or the administrator's \
                 provost.toml can do that"
            } else if value.0 == ConfigLayer::Project {
                "because the user or the administrator has rules too"
            } else {
                "because the administrator has rules too"
            };
            let (_, file) = self.files.iter().find(|(layer, _)| *layer == value.0)?;
            Some((file.clone(), format!("cannot switch `{guard}` off, {why}")))
        });
        for (file, text) in ignored.collect::<Vec<_>>() {
            self.report_file(&file, &text);
        }
    }

    /// What the files say about a guard.
    fn guard_word(&self, name: &str) -> Option<&(ConfigLayer, String, SettingValue)> {
        self.values.iter().find(|value| {
            value.1.strip_prefix("guards.") == Some(name) && !self.is_ignored_switch(name, value)
        })
    }

    /// Whether a file would switch a guard off, or only watch it, for others: no file does so for the rules of a more
    /// powerful one, and no project for the guards that protect Provost.
    fn is_ignored_switch(
        &self,
        guard: &str,
        (layer, _, value): &(ConfigLayer, String, SettingValue),
    ) -> bool {
        if matches!(value, SettingValue::Word(word) if word == "on") {
            return false;
        }
        let have_rules = |is_theirs: fn(ConfigLayer) -> bool| {
            guard == RULES_GUARD && self.rule_files.iter().any(|file| is_theirs(file.layer))
        };
        match layer {
            ConfigLayer::Project => {
                PROTECTING_GUARDS.contains(&guard) || have_rules(|layer| layer != ConfigLayer::Project)
            }
            ConfigLayer::User => have_rules(|layer| layer == ConfigLayer::Managed),
            ConfigLayer::Managed => false,
        }
    }

    pub fn is_guard_on(&self, name: &str) -> bool {
        match self.guard_word(name) {
            // A broken managed file may have meant to keep this guard on.
            Some((layer, _, SettingValue::Word(word))) if word == "off" => {
                self.is_managed_broken && *layer != ConfigLayer::Managed
            }
            _ => true,
        }
    }

    /// Whether a guard is judged and recorded, but not enforced.
    pub fn is_guard_watched(&self, name: &str, pack: &str) -> bool {
        let is_watched = |name: &str| {
            // A broken managed file may have meant to enforce this guard.
            matches!(self.guard_word(name), Some((layer, _, SettingValue::Word(word)))
                if word == "watch" && !(self.is_managed_broken && *layer != ConfigLayer::Managed))
        };
        is_watched(name) || is_watched(pack)
    }
}
