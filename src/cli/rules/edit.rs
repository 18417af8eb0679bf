//! Changes to a `provost.toml`: adds rules and built-in sets, and keeps everything else as it is.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::cli::file_change::{SettingsFileEdit, read_text};
use crate::cli::{CommandError, CurrentProject};
use crate::config::{Config, ConfigLayer};
use crate::places::resolve_path;
use crate::registry::guard_settings;
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// A `provost.toml` that is about to change.
pub(crate) struct RuleFileEdit {
    pub(crate) layer: ConfigLayer,
    pub(crate) path: PathBuf,
    before: Option<String>,
    after: String,
}

impl RuleFileEdit {
    /// Opens the file of a layer. The error says why it cannot be changed.
    pub(crate) fn open(here: &CurrentProject, layer: ConfigLayer) -> Result<Self, String> {
        let path = here.layers.iter().find(|(known, _)| *known == layer).map(|(_, path)| path.clone());
        let path = path.ok_or("there is no home directory, so you have no file of your own")?;
        let named = path.display().to_string();
        let before =
            read_text(&resolve_path(&path)).map_err(|why| format!("{named} cannot be read: {why}"))?;
        let after = before.clone().unwrap_or_default();
        let edit = Self { layer, path, before, after };
        edit.parse().map_err(|why| format!("{named} is broken, so nothing is added: {why}"))?;
        Ok(edit)
    }

    fn parse(&self) -> Result<DocumentMut, String> {
        let text = self.after.strip_prefix('\u{feff}').unwrap_or(&self.after);
        text.parse().map_err(|error: toml_edit::TomlError| {
            let line =
                error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            make_one_line(&format!("line {line}: {}", error.message().replace('\n', ", ")))
        })
    }

    /// The configuration that the file would be.
    pub(crate) fn read_config(&self) -> Config {
        Config::read_text(self.layer, &self.path, &self.after, guard_settings)
    }

    pub(crate) fn has_rule(&self, name: &str) -> bool {
        let document = self.parse().unwrap_or_default();
        let rules = document.get("rule").and_then(Item::as_array_of_tables);
        let is_named = |rule: &Table| rule.get("name").and_then(Item::as_str) == Some(name);
        rules.is_some_and(|rules| rules.iter().any(is_named))
    }

    /// Adds a rule at the end of the file.
    pub(crate) fn add_rule(&mut self, rule: &Table) {
        self.append(&format!("[[rule]]\n{rule}"));
    }

    /// Adds a text at the end of the file.
    pub(crate) fn append(&mut self, text: &str) {
        let is_windows = self.after.contains("\r\n");
        let end = self.after.trim_end().len();
        let gap = if self.after[..end].trim_start_matches('\u{feff}').is_empty() { "" } else { "\n\n" };
        let added = format!("{gap}{}\n", text.trim_end());
        self.after.truncate(end);
        self.after += &if is_windows { added.replace('\n', "\r\n") } else { added };
    }

    /// Adds a built-in set to `[rules] use`. Returns whether that changes the file.
    pub(crate) fn use_set(&mut self, set: &str, is_watched: bool) -> Result<bool, String> {
        let mut document = self.parse()?;
        if document.get("rules").is_none() {
            let mode = if is_watched { "mode = \"watch\"\n" } else { "" };
            let table = format!("[rules]\nuse = [\"{set}\"]\n{mode}");
            // The first rule would end the table, so it comes before the rules or at the end.
            self.append(&table);
            return Ok(true);
        }
        let Some(rules) = document["rules"].as_table_like_mut() else {
            return Err("`rules` must be a table".into());
        };
        let old = rules.get("use");
        let mut sets = match old {
            Some(item) if item.is_array() => item.as_array().cloned().unwrap_or_default(),
            Some(item) => item.as_str().map(|set| Array::from_iter([set])).unwrap_or_default(),
            None => Array::new(),
        };
        let is_used = sets.iter().any(|used| used.as_str() == Some(set));
        if is_used && !is_watched {
            return Ok(false);
        }
        if !is_used {
            sets.push(set);
            rules.insert("use", value(sets));
        }
        if is_watched {
            rules.insert("mode", value("watch"));
        }
        let mark = if self.after.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        self.after = format!("{mark}{document}");
        Ok(true)
    }

    /// Sets `[workflow] use`, which the file does not have yet.
    pub(crate) fn use_workflows(&mut self, names: &[&str]) -> Result<(), String> {
        let mut document = self.parse()?;
        if document.get("workflow").is_none() {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            self.append(&format!("[workflow]\nuse = [{}]\n", names.join(", ")));
            return Ok(());
        }
        let Some(table) = document["workflow"].as_table_like_mut() else {
            return Err("`workflow` must be a table".into());
        };
        table.insert("use", value(names.iter().copied().collect::<Array>()));
        let mark = if self.after.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        self.after = format!("{mark}{document}");
        Ok(())
    }

    /// Writes the file.
    pub(crate) fn write(self, workspace: &Workspace) -> Result<(), CommandError> {
        self.as_file_change().apply(workspace, || false, None).map(drop)
    }

    pub(crate) fn as_file_change(&self) -> SettingsFileEdit {
        SettingsFileEdit {
            real_path: resolve_path(&self.path),
            shown_path: self.path.clone(),
            before: self.before.clone(),
            after: Some(self.after.clone()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
