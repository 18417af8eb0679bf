//! `provost.toml`: three layers, every key optional, no mistake fatal.
//!
//! An administrator's file wins over the project's, and the project's over the user's. A wrong or unknown key is
//! reported with its line and the nearest known key, and the rest of the file still counts. If the line that should
//! switch a guard off is broken, the guard stays on.

pub mod settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::places::{CONFIG_FILE, Places, find_project_config};
use crate::text::{shorten_name, strip_byte_order_mark};
use provost_files as files;
use settings::{Setting, SettingValue};

/// The largest file that is read.
const LARGEST: u64 = 64 << 10;
/// How many mistakes of one file are reported.
const MOST_PROBLEMS: usize = 50;

/// The layer of a file. The first that sets a key wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigLayer {
    Managed,
    Project,
    User,
}

/// A mistake in a file. The rest of the file still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    pub file: PathBuf,
    pub line: Option<usize>,
    pub text: String,
}

#[derive(Debug, Default)]
pub struct Config {
    /// The values of all files, the winning layer first.
    values: Vec<(ConfigLayer, String, SettingValue)>,
    /// The files that were found.
    pub files: Vec<(ConfigLayer, PathBuf)>,
    pub problems: Vec<ConfigProblem>,
    /// Whether the managed file cannot be read or has a mistake.
    is_managed_broken: bool,
}

/// The files of all layers, whether they exist or not, for a session that started in the directory `start` of
/// `project`.
pub fn list_config_files(places: &Places, start: &Path, project: &Path) -> Vec<(ConfigLayer, PathBuf)> {
    let managed = places.managed.iter().map(|dir| (ConfigLayer::Managed, dir.join(CONFIG_FILE)));
    let project = std::iter::once((ConfigLayer::Project, find_project_config(start, project)));
    let user = places.config.iter().map(|dir| (ConfigLayer::User, dir.join(CONFIG_FILE)));
    managed.chain(project).chain(user).collect()
}

impl ConfigLayer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

impl std::fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.text)
    }
}

impl Config {
    /// Reads each layer's file. `guards` returns the switch of each guard.
    pub fn load(layers: &[(ConfigLayer, PathBuf)], guards: fn() -> Vec<Setting>) -> Self {
        let mut config = Self::default();
        for (layer, path) in layers {
            let before = config.problems.len();
            match files::read_file(path, LARGEST) {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    config.files.push((*layer, path.clone()));
                    config.read_layer(*layer, path, &String::from_utf8_lossy(&bytes), guards);
                }
                Err(error) => config.problems.push(ConfigProblem {
                    file: path.clone(),
                    line: None,
                    text: format!("cannot be read, so it is left out: {error}"),
                }),
            }
            config.is_managed_broken |= *layer == ConfigLayer::Managed && config.problems.len() > before;
        }
        config
    }

    fn read_layer(&mut self, layer: ConfigLayer, file: &Path, text: &str, guards: fn() -> Vec<Setting>) {
        let settings = settings::list_settings(guards());
        let text = strip_byte_order_mark(text);
        let (document, errors) = DeTable::parse_recoverable(text);
        // The parser keeps the first of two values, and the user may have meant the second.
        let has_duplicate = errors.iter().any(|error| error.message().contains("duplicate"));
        let mut mistakes: Vec<(usize, String)> = Vec::new();
        for error in errors.into_iter().take(MOST_PROBLEMS) {
            let at = error.span().map_or(0, |span| span.start);
            mistakes.push((at, error.message().replace('\n', ", ")));
        }
        for (table, content) in document.get_ref() {
            let is_in_table = |setting: &&Setting| setting.table == table.get_ref().as_ref();
            let known: Vec<&Setting> = settings.iter().filter(is_in_table).collect();
            if known.is_empty() {
                let tables = settings.iter().map(|setting| setting.table.to_owned());
                let (name, suggestion) =
                    (shorten_name(table.get_ref()), suggest_word(table.get_ref(), tables));
                mistakes.push((table.span().start, format!("unknown table `{name}`{suggestion}")));
                continue;
            }
            let DeValue::Table(entries) = content.get_ref() else {
                mistakes.push((table.span().start, format!("`{}` must be a table", table.get_ref())));
                continue;
            };
            for (name, value) in entries {
                match read_setting(&known, name.get_ref(), value.get_ref()) {
                    Ok((_, SettingValue::Word(word))) if has_duplicate && word == "off" => {}
                    Ok((key, value)) => self.values.push((layer, key, value)),
                    Err(words) if mistakes.len() < MOST_PROBLEMS => mistakes.push((name.span().start, words)),
                    Err(_) => {}
                }
            }
        }
        // The parser orders keys by name. Report them in the order of the file.
        mistakes.sort_unstable();
        let (mut line, mut counted) = (1, 0);
        for (at, words) in mistakes {
            line += text.get(counted..at).unwrap_or_default().matches('\n').count();
            counted = at.max(counted);
            self.problems.push(ConfigProblem { file: file.to_owned(), line: Some(line), text: words });
        }
    }

    /// The value that a file sets for a key, and the layer of that file.
    pub fn configured_value(&self, key: &str) -> Option<(ConfigLayer, &SettingValue)> {
        self.values.iter().find(|(_, set, _)| set == key).map(|(layer, _, value)| (*layer, value))
    }

    /// Sets a key to a word, above all layers.
    pub fn force_word(&mut self, key: &str, word: &str) {
        self.values.insert(0, (ConfigLayer::Managed, key.to_owned(), SettingValue::Word(word.to_owned())));
    }

    pub fn deadline(&self) -> Duration {
        Duration::from_secs(self.number(settings::DEADLINE_SECONDS))
    }

    pub fn is_journal_on(&self) -> bool {
        self.is_switched_on(settings::JOURNAL_ENABLED)
    }

    pub fn journal_limit(&self) -> u64 {
        self.number(settings::JOURNAL_MAX_KILOBYTES) * 1024
    }

    pub fn is_guard_on(&self, name: &str) -> bool {
        let own = |key: &str| key.strip_prefix("guards.") == Some(name);
        match self.values.iter().find(|(_, key, _)| own(key)) {
            // A broken managed file may have meant to keep this guard on.
            Some((layer, _, SettingValue::Word(word))) if word == "off" => {
                self.is_managed_broken && *layer != ConfigLayer::Managed
            }
            _ => true,
        }
    }

    pub fn is_switched_on(&self, key: &str) -> bool {
        matches!(self.value(key), Some(SettingValue::Switch(true)))
    }

    pub fn number(&self, key: &str) -> u64 {
        match self.value(key) {
            Some(SettingValue::Number(number)) => u64::try_from(number).unwrap_or_default(),
            _ => 0,
        }
    }

    pub fn word(&self, key: &str) -> String {
        match self.value(key) {
            Some(SettingValue::Word(word)) => word,
            _ => String::new(),
        }
    }

    pub fn words(&self, key: &str) -> Vec<String> {
        match self.value(key) {
            Some(SettingValue::Words(words)) => words,
            _ => Vec::new(),
        }
    }

    /// The value of a key in the files, or its default.
    fn value(&self, key: &str) -> Option<SettingValue> {
        self.configured_value(key).map(|(_, value)| value.clone()).or_else(|| settings::find_default(key))
    }
}

/// The key and value of an entry of a table. An error describes the mistake.
fn read_setting(
    known: &[&Setting],
    name: &str,
    value: &DeValue<'_>,
) -> Result<(String, SettingValue), String> {
    let Some(setting) = known.iter().find(|setting| setting.name == name) else {
        let names = known.iter().map(|setting| setting.name.to_owned());
        return Err(format!("unknown key `{}`{}", shorten_name(name), suggest_word(name, names)));
    };
    match setting.value_type.parse(value) {
        Ok(value) => Ok((setting.key(), value)),
        Err(expected) => Err(format!("`{}` takes {expected}", setting.key())),
    }
}

/// `; did you mean …?` for a key that is nearly one of these.
pub fn suggest_word(word: &str, known: impl Iterator<Item = String>) -> String {
    /// How many characters of a word are compared.
    const LONGEST: usize = 64;
    let word: String = word.chars().take(LONGEST).collect();
    let nearest = known.map(|known| (strsim::levenshtein(&word, &known), known)).min();
    match nearest {
        Some((distance, known)) if distance <= 2.max(word.chars().count() / 3) => {
            format!("; did you mean `{known}`?")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
