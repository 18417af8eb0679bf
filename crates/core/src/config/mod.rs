//! `provost.toml`: three layers, every key optional, no mistake fatal.
//!
//! An administrator's file wins over the project's, and the project's over the user's. A wrong or unknown key is
//! reported with its line and the nearest known key, and the rest of the file still counts. If the line that should
//! switch a guard off is broken, the guard stays on.

mod document;
mod guard_switches;
mod problems;
pub mod settings;
mod workflows;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::DeTable;

pub use crate::layer::ConfigLayer;
use crate::places::{CONFIG_FILE, Places, find_project_config, fnv1a};
use crate::rules::{
    LayerRules, RuleInterest, RuleSet, RuleSource, read_concerned_rules, read_layer_rules,
    read_sound_sections, read_table,
};
use crate::text::strip_byte_order_mark;
pub use crate::text::suggest_word;
use crate::workflow_table::{WorkflowLayer, read_workflow_tables};
use document::read_settings;
pub use guard_switches::{PROTECTING_GUARDS, RULES_GUARD};
pub use problems::{ConfigProblem, find_place};
use provost_files as files;
use settings::{Setting, SettingValue};

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;
/// How many mistakes of one file are reported.
const MOST_PROBLEMS: usize = 50;

/// A file that has rules.
#[derive(Debug)]
pub struct RuleFile {
    pub layer: ConfigLayer,
    pub path: PathBuf,
    /// Its text, or that of its last good version.
    pub text: String,
    /// The file itself is TOML. Otherwise the rules are those of its last good version, or what can be read of it.
    pub is_good: bool,
    /// Its examples were looked at when it was read, and have no mistake.
    has_good_examples: bool,
}

/// Whether a file could be read.
enum FileState {
    Missing,
    Good,
    /// It is not TOML, not UTF-8, too large, or not a file. `text`: of a file that is not TOML.
    Broken {
        text: Option<String>,
    },
}

#[derive(Debug, Default)]
pub struct Config {
    /// The values of all files, the winning layer first.
    values: Vec<(ConfigLayer, String, SettingValue)>,
    /// The files that were found.
    pub files: Vec<(ConfigLayer, PathBuf)>,
    pub problems: Vec<ConfigProblem>,
    pub rules: RuleSet,
    /// The files that have rules, with their text.
    pub rule_files: Vec<RuleFile>,
    /// A file that has no rules any more still has a copy with rules.
    pub has_outdated_copy: bool,
    /// Whether the managed file cannot be read or has a mistake.
    is_managed_broken: bool,
    /// The workflows of each file, the winning layer first.
    workflow_layers: Vec<WorkflowLayer>,
    /// The names in `use`, with their places, until they are checked.
    used_workflows: Vec<(String, PathBuf, (usize, usize))>,
}

/// The files of all layers, whether they exist or not, for a session that started in the directory `start` of
/// `project`.
pub fn list_config_files(places: &Places, start: &Path, project: &Path) -> Vec<(ConfigLayer, PathBuf)> {
    let managed = places.managed.iter().map(|dir| (ConfigLayer::Managed, dir.join(CONFIG_FILE)));
    let project = std::iter::once((ConfigLayer::Project, find_project_config(start, project)));
    let user = places.config.iter().map(|dir| (ConfigLayer::User, dir.join(CONFIG_FILE)));
    managed.chain(project).chain(user).collect()
}

impl Config {
    /// Reads each layer's file. `guards` returns the switch of each guard. `kept` is the directory with the last good
    /// versions of files that have rules. With an `interest`, only the rules that an event may concern are read.
    pub fn load(
        layers: &[(ConfigLayer, PathBuf)],
        guards: fn() -> Vec<Setting>,
        kept: Option<&Path>,
        interest: Option<&RuleInterest<'_>>,
    ) -> Self {
        let mut config = Self::default();
        let mut rules = Vec::new();
        for (layer, path) in layers {
            let before = config.problems.len();
            let copy = kept.map(|directory| directory.join(last_good_name(path)));
            let state = config.read_file(*layer, path, guards, interest, &mut rules);
            let has_rules = config.rule_files.iter().any(|file| file.path == *path);
            match state {
                FileState::Good if !has_rules => {
                    config.has_outdated_copy |= copy.is_some_and(|copy| copy.exists());
                }
                FileState::Missing | FileState::Good => {}
                FileState::Broken { text } => {
                    let is_kept = config.read_last_good_rules(*layer, path, copy, &mut rules);
                    if let Some(text) = text.filter(|_| !is_kept && !has_rules) {
                        config.read_sound_rules(*layer, path, text, &mut rules);
                    }
                }
            }
            config.is_managed_broken |= *layer == ConfigLayer::Managed && config.problems.len() > before;
        }
        config.join_rules(rules, interest);
        config.report_unknown_workflows();
        config.report_ignored_switches();
        config
    }

    fn report_file(&mut self, file: &Path, text: &str) {
        self.problems.push(ConfigProblem { file: file.to_owned(), place: None, text: text.into() });
    }

    fn read_file(
        &mut self,
        layer: ConfigLayer,
        path: &Path,
        guards: fn() -> Vec<Setting>,
        interest: Option<&RuleInterest<'_>>,
        rules: &mut Vec<LayerRules>,
    ) -> FileState {
        let bytes = match files::read_file(path, LARGEST) {
            Ok(None) => return FileState::Missing,
            Ok(Some(bytes)) => bytes,
            Err(error) => {
                if error.kind() != io::ErrorKind::FileTooLarge {
                    self.report_file(path, &format!("cannot be read, so it is left out: {error}"));
                    return FileState::Broken { text: None };
                }
                let what =
                    "cannot be read whole, so its settings are left out: it is larger than 1 MiB; shorten it";
                self.report_file(path, what);
                let start = files::read_start(path, LARGEST).ok();
                let text = start.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned());
                return FileState::Broken { text };
            }
        };
        self.files.push((layer, path.to_owned()));
        // Not `from_utf8_lossy` at once, which looks at each byte of a good file.
        let (text, is_text) = match String::from_utf8(bytes) {
            Ok(text) => (text, true),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
        };
        if !is_text {
            self.report_file(path, "is not UTF-8, so some of its texts are not as they were written");
        }
        match self.read_layer(layer, path, text, guards, interest, rules) {
            Ok(()) if is_text => FileState::Good,
            Ok(()) => FileState::Broken { text: None },
            Err(text) => FileState::Broken { text: Some(text) },
        }
    }

    /// Reads one file, and keeps its text if it has rules. The error is the text of a file that is not TOML.
    fn read_layer(
        &mut self,
        layer: ConfigLayer,
        file: &Path,
        text: String,
        guards: fn() -> Vec<Setting>,
        interest: Option<&RuleInterest<'_>>,
        rules: &mut Vec<LayerRules>,
    ) -> Result<(), String> {
        let text = match strip_byte_order_mark(&text) {
            stripped if stripped.len() < text.len() => stripped.to_owned(),
            _ => text,
        };
        let before = rules.len();
        if !self.read_layer_text(layer, file, &text, guards, interest, rules) {
            return Err(text);
        }
        if rules.len() > before {
            let has_good_examples = rules.last().is_some_and(|rules| rules.has_good_examples);
            let path = file.to_owned();
            self.rule_files.push(RuleFile { layer, path, text, is_good: true, has_good_examples });
        }
        Ok(())
    }

    fn read_layer_text(
        &mut self,
        layer: ConfigLayer,
        file: &Path,
        text: &str,
        guards: fn() -> Vec<Setting>,
        interest: Option<&RuleInterest<'_>>,
        rules: &mut Vec<LayerRules>,
    ) -> bool {
        let settings = settings::list_settings(guards());
        let source = RuleSource { layer, file: file.into(), text, is_built_in: false };
        if let Some(interest) = interest
            && text.contains("[[rule]]")
            && let Some((concerned, rest)) = read_concerned_rules(&source, interest)
        {
            let (document, errors) = DeTable::parse_recoverable(&rest);
            let mut mistakes = Vec::new();
            let values = read_settings(layer, document.get_ref(), &settings, false, &mut mistakes);
            let has_good_examples = interest.needs_mistakes();
            let mut own = LayerRules { layer, rules: concerned, has_good_examples, ..LayerRules::default() };
            read_table(document.get_ref(), &mut own, &mut mistakes);
            let workflows = read_workflows(document.get_ref(), &settings, &mut mistakes);
            // A file with a mistake is read in full, so that the mistake is reported with its place.
            if errors.is_empty() && mistakes.is_empty() {
                self.values.extend(values);
                self.add_workflows(workflows, file, text);
                rules.push(own);
                return true;
            }
        }
        let (document, errors) = DeTable::parse_recoverable(text);
        let is_toml = errors.is_empty();
        // The parser keeps the first of two values, and the user may have meant the second.
        let has_duplicate = errors.iter().any(|error| error.message().contains("duplicate"));
        let mut mistakes: Vec<(usize, String)> = Vec::new();
        for error in errors.into_iter().take(MOST_PROBLEMS) {
            let at = error.span().map_or(0, |span| span.start);
            mistakes.push((at, error.message().replace('\n', ", ")));
        }
        self.values.extend(read_settings(layer, document.get_ref(), &settings, has_duplicate, &mut mistakes));
        let workflows = read_workflows(document.get_ref(), &settings, &mut mistakes);
        self.add_workflows(workflows, file, text);
        if is_toml && (document.get_ref().contains_key("rule") || document.get_ref().contains_key("rules")) {
            rules.push(read_layer_rules(document.get_ref(), &source, &mut mistakes));
        }
        self.report_mistakes(file, text, mistakes);
        is_toml
    }

    /// Reads the rules that the last good version of a broken file had. Returns whether there is one.
    fn read_last_good_rules(
        &mut self,
        layer: ConfigLayer,
        file: &Path,
        kept: Option<PathBuf>,
        rules: &mut Vec<LayerRules>,
    ) -> bool {
        let Some(bytes) = kept.and_then(|kept| files::read_file(&kept, LARGEST).ok().flatten()) else {
            return false;
        };
        // What could be read of the broken file is not what its author wrote.
        rules.retain(|rules| rules.layer != layer);
        self.rule_files.retain(|rule_file| rule_file.path != file);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (document, _) = DeTable::parse_recoverable(&text);
        let source = RuleSource { layer, file: file.into(), text: &text, is_built_in: false };
        let kept = read_layer_rules(document.get_ref(), &source, &mut Vec::new());
        let count = kept.rules.len();
        self.report_file(
            file,
            &match count {
                1 => "is broken, so the rule of its last good version holds".to_owned(),
                count => format!("is broken, so the {count} rules of its last good version hold"),
            },
        );
        rules.push(kept);
        self.rule_files.push(RuleFile {
            layer,
            path: file.to_owned(),
            text,
            is_good: false,
            has_good_examples: false,
        });
        true
    }

    /// Reads the rules of a broken file that are TOML by themselves, where no good version is known.
    fn read_sound_rules(
        &mut self,
        layer: ConfigLayer,
        file: &Path,
        text: String,
        rules: &mut Vec<LayerRules>,
    ) {
        if !text.contains("[[rule]]") && !text.contains("[rules]") {
            return;
        }
        let source = RuleSource { layer, file: file.into(), text: &text, is_built_in: false };
        let sound = read_sound_sections(&source);
        let what = match sound.as_ref().map_or(0, |sound| sound.rules.len()) {
            0 => "none of its rules holds".to_owned(),
            1 => "only one of its rules, which can be read by itself, holds".to_owned(),
            count => format!("only {count} of its rules, which can be read by themselves, hold"),
        };
        self.report_file(file, &format!("is broken, and there is no earlier version of it here, so {what}"));
        if let Some(sound) = sound {
            rules.push(sound);
            let path = file.to_owned();
            self.rule_files.push(RuleFile { layer, path, text, is_good: false, has_good_examples: true });
        }
    }

    fn join_rules(&mut self, layers: Vec<LayerRules>, interest: Option<&RuleInterest<'_>>) {
        let mut mistakes = Vec::new();
        self.rules = RuleSet::join(layers, interest, &mut mistakes);
        for (layer, offset, text) in mistakes {
            if let Some(file) = self.rule_files.iter().find(|file| file.layer == layer) {
                let place = Some(find_place(&file.text, offset));
                self.problems.push(ConfigProblem { file: file.path.clone(), place, text });
            }
        }
    }

    /// The configuration of one file with this text.
    pub fn read_text(layer: ConfigLayer, path: &Path, text: &str, guards: fn() -> Vec<Setting>) -> Self {
        let mut config = Self::default();
        let mut rules = Vec::new();
        let _ = config.read_layer(layer, path, text.to_owned(), guards, None, &mut rules);
        config.join_rules(rules, None);
        config.report_unknown_workflows();
        config
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

/// The workflows of a document.
fn read_workflows(
    document: &DeTable<'_>,
    settings: &[Setting],
    mistakes: &mut Vec<(usize, String)>,
) -> WorkflowLayer {
    let is_setting =
        |name: &str| settings.iter().any(|setting| setting.table == "workflow" && setting.name == name);
    read_workflow_tables(document, is_setting, mistakes)
}

/// The name of the last good version of a file.
pub fn last_good_name(file: &Path) -> String {
    format!("{:016x}.toml", fnv1a(file.as_os_str().as_encoded_bytes()))
}

#[cfg(test)]
mod tests;
