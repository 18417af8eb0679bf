//! Keeps the last good version of each file that has rules.
//!
//! A file that is not TOML any more must not switch its rules off, so the rules of its last good version hold until it is
//! corrected. The copy follows each good change of the file; as long as nothing changes, that costs two looks at the
//! disk for each file.

use super::Workspace;
use crate::config::{RuleFile, last_good_name};
use provost_files as files;

impl Workspace {
    /// Keeps the files with rules, and forgets those that have none any more. An error must not change an answer: then
    /// the older copy stays.
    pub fn keep_good_rules(&self) {
        if self.is_past() {
            return;
        }
        let Some(directory) = self.places.kept_rules_directory() else { return };
        for (_, path) in &self.config.files {
            let copy = directory.join(last_good_name(path));
            match self.config.rule_files.iter().find(|file| file.path == *path) {
                Some(RuleFile { is_good: false, .. }) => {}
                Some(RuleFile { text, .. }) => _ = files::keep_copy(path, text.as_bytes(), &copy),
                // A broken file has a copy only if it is used.
                None if copy.exists() => _ = files::remove_file(&copy),
                None => {}
            }
        }
    }
}
