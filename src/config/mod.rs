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
                let words =
                    format!("unknown table `{}`{}", table.get_ref(), suggestion(table.get_ref(), tables));
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
        match self.get(&format!("guards.{name}")) {
            // While the managed file is in doubt, it may have meant to keep this guard on.
            Some((layer, Value::Word(word))) if word == "off" => {
                self.managed_in_doubt && layer != Layer::Managed
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
        return Err(format!("unknown key `{name}`{}", suggestion(name, names)));
    };
    match setting.takes.read(value) {
        Ok(value) => Ok((setting.key(), value)),
        Err(expected) => Err(format!("`{}` takes {expected}", setting.key())),
    }
}

/// `; did you mean …?` for a key that is nearly one of these.
fn suggestion(word: &str, known: impl Iterator<Item = String>) -> String {
    let nearest = known.map(|known| (distance(word, &known), known)).min();
    match nearest {
        Some((distance, known)) if distance <= 2.max(word.chars().count() / 3) => {
            format!("; did you mean `{known}`?")
        }
        _ => String::new(),
    }
}

/// How many letters must be changed, added or taken away to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
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
mod tests {
    use super::*;

    fn load(files: &[(Layer, &str)]) -> Config {
        let dir = tempfile::tempdir().unwrap();
        let layers: Vec<_> = files
            .iter()
            .enumerate()
            .map(|(i, (layer, text))| {
                let path = dir.path().join(format!("{i}.toml"));
                std::fs::write(&path, text).unwrap();
                (*layer, path)
            })
            .collect();
        Config::load(&layers)
    }

    fn problems(config: &Config) -> Vec<String> {
        config.problems.iter().map(|p| format!("{}: {}", p.line.unwrap_or(0), p.text)).collect()
    }

    #[test]
    fn no_file_is_the_defaults() {
        let config = Config::load(&[(Layer::User, "/nonexistent/provost.toml".into())]);
        assert!(config.problems.is_empty() && config.files.is_empty());
        assert_eq!(config.deadline(), Duration::from_secs(5));
        assert!(config.journal_is_on() && config.guard_is_on("self-guard"));
    }

    #[test]
    fn managed_wins_over_project_and_project_over_user() {
        let config = load(&[
            (Layer::Managed, "[guards]\nself-guard = \"on\""),
            (Layer::Project, "[guards]\nself-guard = \"off\"\n[engine]\ndeadline_seconds = 7"),
            (Layer::User, "[engine]\ndeadline_seconds = 9\n[journal]\nenabled = false"),
        ]);
        assert!(config.guard_is_on("self-guard"));
        assert_eq!(config.deadline(), Duration::from_secs(7));
        assert!(!config.journal_is_on());
    }

    #[test]
    fn a_managed_file_in_doubt_lets_nobody_else_switch_off() {
        let project = (Layer::Project, "[guards]\nself-guard = \"off\"");
        assert!(!load(&[project]).guard_is_on("self-guard"));
        let managed = (Layer::Managed, "[guards]\nself-guard = \"onn\"\nconfig-check = \"off\"");
        let config = load(&[managed, project]);
        assert!(config.guard_is_on("self-guard") && !config.guard_is_on("config-check"));
    }

    #[test]
    fn an_unknown_key_is_told_with_line_and_nearest_name_and_the_rest_works() {
        let config = load(&[(
            Layer::Project,
            "# mine\n[engine]\ndeadline_second = 3\n\n[guard]\nx = 1\n[journal]\nenabled = false\nfoo = 1\n",
        )]);
        assert_eq!(
            problems(&config),
            [
                "3: unknown key `deadline_second`; did you mean `deadline_seconds`?",
                "5: unknown table `guard`; did you mean `guards`?",
                "9: unknown key `foo`",
            ]
        );
        assert!(!config.journal_is_on());
    }

    #[test]
    fn wrong_types_and_values_are_told_and_leave_the_default() {
        let config = load(&[(
            Layer::User,
            "guards = 5\n[engine]\ndeadline_seconds = 0\n[journal]\nenabled = \"yes\"\nmax_kilobytes = 1_000\n",
        )]);
        assert_eq!(
            problems(&config),
            [
                "1: `guards` must be a table",
                "3: `engine.deadline_seconds` takes a whole number from 1 to 60",
                "5: `journal.enabled` takes true or false",
            ]
        );
        assert_eq!(config.deadline(), Duration::from_secs(5));
        assert_eq!(config.journal_limit(), 1_024_000);
    }

    #[test]
    fn a_list_of_a_nearer_layer_replaces_a_farther_one() {
        let config = load(&[
            (Layer::Project, "[planner]\nallow = [\"sort\", \"uniq\"]\nagents = []"),
            (Layer::User, "[planner]\nallow = [\"jq\"]\ntools = [\"t\"]"),
        ]);
        assert_eq!(config.words(settings::PLANNER_ALLOW), ["sort", "uniq"]);
        assert_eq!(config.words(settings::PLANNER_TOOLS), ["t"]);
        assert!(config.words(settings::PLANNER_AGENTS).is_empty());
        assert_eq!(config.words(settings::PLANNER_SLICES), ["test specification", "slice N"]);
        assert_eq!(config.word(settings::PLANNER_DIRECTORY), "planning");
        assert_eq!(config.number(settings::PLANNER_MINUTES), 30);
        assert!(config.switch(settings::PLANNER_STRICT));
    }

    #[test]
    fn a_list_takes_words_and_a_directory_lies_below() {
        let config = load(&[(
            Layer::Project,
            "[planner]\nallow = \"sort\"\nagents = [\"a\", 5]\ntools = [\" \"]\ndirectory = \"../x\"\n",
        )]);
        assert_eq!(
            problems(&config),
            [
                "2: `planner.allow` takes a list of words",
                "3: `planner.agents` takes a list of words",
                "4: `planner.tools` takes a list of words",
                "5: `planner.directory` takes the name of a directory below the project",
            ]
        );
        assert_eq!(config.words(settings::PLANNER_AGENTS), ["tdd-planner"]);
        for wrong in ["", ".", "/etc", "a/../b", "./a"] {
            let config = load(&[(Layer::Project, &format!("[planner]\ndirectory = \"{wrong}\""))]);
            assert_eq!(config.problems.len(), 1, "{wrong}");
        }
        let config = load(&[(Layer::Project, "[planner]\ndirectory = \"docs/plans\"")]);
        assert_eq!(config.word(settings::PLANNER_DIRECTORY), "docs/plans");
    }

    #[test]
    fn a_guard_that_is_set_twice_stays_on() {
        let config = load(&[(Layer::Project, "[guards]\nself-guard = \"off\"\nself-guard = \"on\"\n")]);
        assert!(config.guard_is_on("self-guard") && !config.problems.is_empty());
    }

    #[test]
    fn a_hostile_file_is_read_in_bounded_time_and_told_in_few_lines() {
        let many = (0..5_000).map(|n| format!("k{n} = 1")).collect::<Vec<_>>().join("\n");
        for text in
            [format!("[journal]\n{many}"), "= ".repeat(30_000), "[a]\n".repeat(15_000), "[".repeat(60_000)]
        {
            let began = std::time::Instant::now();
            let config = load(&[(Layer::Project, &text)]);
            assert!((1..=2 * MOST_PROBLEMS).contains(&config.problems.len()), "{}", config.problems.len());
            assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        }
    }

    #[test]
    fn a_syntax_error_keeps_what_can_be_read() {
        let config = load(&[(Layer::User, "[engine\n[journal]\nenabled = false\n= 3\n")]);
        assert!(!config.problems.is_empty());
        assert!(!config.journal_is_on(), "{:?}", config.problems);
    }

    #[test]
    fn broken_utf8_and_a_byte_order_mark_are_no_obstacle() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.toml");
        std::fs::write(&path, b"\xef\xbb\xbf# \xff\n[journal]\nenabled = false\n").unwrap();
        assert!(!Config::load(&[(Layer::User, path)]).journal_is_on());
    }
}
