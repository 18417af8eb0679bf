//! `provost.toml`: three layers, every key optional, mistakes reported and stepped over.
//!
//! An administrator's file wins over the project's, the project's over the person's. No mistake in
//! a file is fatal: a key that is wrong or unknown is a [`Problem`] with its line and the nearest
//! known key, and the rest of the file still counts. A guard that a broken line meant to switch
//! off stays on.

pub mod settings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::files;
use crate::text::short;
use crate::workspace::{CONFIG_FILE, Places, project_config};
use settings::{Setting, Value};

/// No configuration that a person writes is larger than this.
const LARGEST: u64 = 64 << 10;
/// More mistakes than this are not told: the first ones will do.
const MOST_PROBLEMS: usize = 50;

/// Which layer a file is; the first wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    Managed,
    Project,
    User,
}

/// A mistake in a file. It is told, and the rest still works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub file: PathBuf,
    pub line: Option<usize>,
    pub text: String,
}

#[derive(Debug, Default)]
pub struct Config {
    /// What files say, the winning layer first.
    values: Vec<(Layer, String, Value)>,
    /// The files that were found.
    pub files: Vec<(Layer, PathBuf)>,
    pub problems: Vec<Problem>,
    /// The managed file cannot be read, or has a mistake.
    managed_in_doubt: bool,
}

/// The files of all layers, whether they exist or not, for a session that started in `start`, in
/// `project`.
pub fn layers(places: &Places, start: &Path, project: &Path) -> Vec<(Layer, PathBuf)> {
    let managed = places.managed.iter().map(|dir| (Layer::Managed, dir.join(CONFIG_FILE)));
    let project = std::iter::once((Layer::Project, project_config(start, project)));
    let user = places.config.iter().map(|dir| (Layer::User, dir.join(CONFIG_FILE)));
    managed.chain(project).chain(user).collect()
}

impl Layer {
    pub fn word(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.text)
    }
}

impl Config {
    /// Reads each layer's file once.
    pub fn load(layers: &[(Layer, PathBuf)]) -> Self {
        let mut config = Self::default();
        for (layer, path) in layers {
            let before = config.problems.len();
            match files::read(path, LARGEST) {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    config.files.push((*layer, path.clone()));
                    config.read(*layer, path, &String::from_utf8_lossy(&bytes));
                }
                Err(error) => config.problems.push(Problem {
                    file: path.clone(),
                    line: None,
                    text: format!("cannot be read, so it is left out: {error}"),
                }),
            }
            config.managed_in_doubt |= *layer == Layer::Managed && config.problems.len() > before;
        }
        config
    }

    fn read(&mut self, layer: Layer, file: &Path, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (document, errors) = DeTable::parse_recoverable(text);
        // The parser keeps the first of two values; which one was meant, nobody knows.
        let twice = errors.iter().any(|error| error.message().contains("duplicate"));
        let mut mistakes: Vec<(usize, String)> = Vec::new();
        for error in errors.into_iter().take(MOST_PROBLEMS) {
            let at = error.span().map_or(0, |span| span.start);
            mistakes.push((at, error.message().replace('\n', ", ")));
        }
        for (table, content) in document.get_ref() {
            let known: Vec<Setting> =
                settings::all().filter(|s| s.table == table.get_ref().as_ref()).collect();
            if known.is_empty() {
                let tables = settings::all().map(|setting| setting.table.to_owned());
                let words = format!(
                    "unknown table `{}`{}",
                    short(table.get_ref()),
                    suggestion(table.get_ref(), tables)
                );
                mistakes.push((table.span().start, words));
                continue;
            }
            let DeValue::Table(entries) = content.get_ref() else {
                mistakes.push((table.span().start, format!("`{}` must be a table", table.get_ref())));
                continue;
            };
            for (name, value) in entries {
                match setting_of(&known, name.get_ref(), value.get_ref()) {
                    Ok((_, Value::Word(word))) if twice && word == "off" => {}
                    Ok((key, value)) => self.values.push((layer, key, value)),
                    Err(words) if mistakes.len() < MOST_PROBLEMS => mistakes.push((name.span().start, words)),
                    Err(_) => {}
                }
            }
        }
        // The parser orders keys by name; a person reads the file from the top.
        mistakes.sort_unstable();
        let (mut line, mut counted) = (1, 0);
        for (at, words) in mistakes {
            line += text.get(counted..at).unwrap_or_default().matches('\n').count();
            counted = at.max(counted);
            self.problems.push(Problem { file: file.to_owned(), line: Some(line), text: words });
        }
    }

    /// What a key is set to, and by which layer; `None`: by its default.
    pub fn get(&self, key: &str) -> Option<(Layer, &Value)> {
        self.values.iter().find(|(_, set, _)| set == key).map(|(layer, _, value)| (*layer, value))
    }

    /// Sets a word over all layers, for one call.
    pub fn insist(&mut self, key: &str, word: &str) {
        self.values.insert(0, (Layer::Managed, key.to_owned(), Value::Word(word.to_owned())));
    }

    pub fn deadline(&self) -> Duration {
        Duration::from_secs(self.number_or(settings::DEADLINE, settings::DEADLINE_DEFAULT))
    }

    pub fn journal_is_on(&self) -> bool {
        !matches!(self.get(settings::JOURNAL), Some((_, Value::Switch(false))))
    }

    pub fn journal_limit(&self) -> u64 {
        self.number_or(settings::JOURNAL_SIZE, settings::JOURNAL_SIZE_DEFAULT) * 1024
    }

    pub fn guard_is_on(&self, name: &str) -> bool {
        let own = |key: &str| key.strip_prefix("guards.") == Some(name);
        match self.values.iter().find(|(_, key, _)| own(key)) {
            // While the managed file is in doubt, it may have meant to keep this guard on.
            Some((layer, _, Value::Word(word))) if word == "off" => {
                self.managed_in_doubt && *layer != Layer::Managed
            }
            _ => true,
        }
    }

    pub fn switch(&self, key: &str) -> bool {
        matches!(self.value(key), Some(Value::Switch(true)))
    }

    pub fn number(&self, key: &str) -> u64 {
        match self.value(key) {
            Some(Value::Number(number)) => u64::try_from(number).unwrap_or_default(),
            _ => 0,
        }
    }

    pub fn word(&self, key: &str) -> String {
        match self.value(key) {
            Some(Value::Word(word)) => word,
            _ => String::new(),
        }
    }

    pub fn words(&self, key: &str) -> Vec<String> {
        match self.value(key) {
            Some(Value::Words(words)) => words,
            _ => Vec::new(),
        }
    }

    /// What holds for a key: what a file says, or its default.
    fn value(&self, key: &str) -> Option<Value> {
        self.get(key).map(|(_, value)| value.clone()).or_else(|| settings::default_of(key))
    }

    fn number_or(&self, key: &str, default: i64) -> u64 {
        let number = match self.get(key) {
            Some((_, Value::Number(number))) => *number,
            _ => default,
        };
        u64::try_from(number).unwrap_or_default()
    }
}

/// The setting that an entry of a table means, and its value.
fn setting_of(known: &[Setting], name: &str, value: &DeValue<'_>) -> Result<(String, Value), String> {
    let Some(setting) = known.iter().find(|setting| setting.name == name) else {
        let names = known.iter().map(|setting| setting.name.to_owned());
        return Err(format!("unknown key `{}`{}", short(name), suggestion(name, names)));
    };
    match setting.takes.read(value) {
        Ok(value) => Ok((setting.key(), value)),
        Err(expected) => Err(format!("`{}` takes {expected}", setting.key())),
    }
}

/// As many letters of a word are compared with others.
const LONGEST_WORD: usize = 64;

/// `; did you mean …?` for a key that is nearly one of these.
pub(crate) fn suggestion(word: &str, known: impl Iterator<Item = String>) -> String {
    let nearest = known.map(|known| (distance(word, &known), known)).min();
    match nearest {
        Some((distance, known)) if distance <= 2.max(word.chars().take(LONGEST_WORD).count() / 3) => {
            format!("; did you mean `{known}`?")
        }
        _ => String::new(),
    }
}

/// How many letters must be changed, added or taken away to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(LONGEST_WORD).enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
