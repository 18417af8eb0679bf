//! Adds effects to the result, as long as the budget lasts.

use std::path::{Path, PathBuf};

use crate::LONGEST_PATH;
use crate::effect::{Effect, FileChange, ReadScope, WriteContent};
use crate::line::LineWalker;
use crate::word::Word;

impl LineWalker<'_> {
    /// `cost`: the bytes that the effect owns.
    pub(super) fn report_effect(&mut self, effect: Effect, cost: usize) {
        if self.work.pay(cost + size_of::<Effect>()) {
            self.push_effect(effect);
        }
    }

    fn push_effect(&mut self, effect: Effect) {
        if self.is_remote && !matters_from_elsewhere(&effect) {
            return;
        }
        self.effects.push(effect);
        self.tree.note_effect();
    }

    pub(super) fn report_write(&mut self, word: &Word) {
        self.report_change(word, 0, |path| Effect::Write { path, content: WriteContent::Unknown });
    }

    pub(super) fn report_delete(&mut self, word: &Word) {
        self.report_change(word, 0, |path| Effect::Delete { path });
    }

    pub(super) fn report_read(&mut self, word: &Word, scope: ReadScope) {
        let Some(values) = &word.loop_values else {
            return match word.text() {
                Some(text) => self.report_known_read(text, word.source, scope),
                None => self.report_unknown_read(format!("`{}`", word.source), scope),
            };
        };
        for value in values.iter() {
            let text = format!("{}{}{}", word.prefix(), value.text, word.tail);
            if !self.work.pay(text.len()) {
                return;
            }
            if value.is_known {
                self.report_known_read(&text, word.source, scope);
            } else {
                self.report_unknown_read(format!("`{text}`"), scope);
            }
        }
    }

    fn report_known_read(&mut self, text: &str, source: &str, scope: ReadScope) {
        if text.is_empty() || text.len() > LONGEST_PATH {
            return;
        }
        if self.place.is_lost && !Path::new(text).is_absolute() {
            self.report_unknown_read(format!("`{source}`"), scope);
        }
        self.report_in_each_directory(text, 0, |path| Effect::Read { path, scope });
    }

    fn report_unknown_read(&mut self, target: String, scope: ReadScope) {
        let places = self.place.possible_directories();
        let cost = target.len() + places.iter().map(|place| place.as_os_str().len()).sum::<usize>();
        self.report_effect(Effect::UnknownRead { target, places, scope }, cost);
    }

    /// Reports that files below a directory change whose names the words do not say.
    pub(super) fn report_change_below(&mut self, directory: &Word, change: FileChange) {
        if let Some(text) = directory.text() {
            self.report_in_each_directory(text, 0, |directory| Effect::ChangeBelow { directory, change });
        }
    }

    /// Reports one effect for each path that a word may mean. `cost`: the bytes that an effect owns besides the path.
    pub(super) fn report_change(&mut self, word: &Word, cost: usize, effect: impl Fn(PathBuf) -> Effect) {
        let change = match effect(PathBuf::new()) {
            Effect::Delete { .. } => FileChange::Delete,
            Effect::Place { .. } => FileChange::Place,
            _ => FileChange::Write,
        };
        let Some(values) = &word.loop_values else {
            return match word.text() {
                Some(text) => self.report_known_change(text, word.source, change, cost, effect),
                None => self.report_unknown_target(format!("`{}`", word.source), change),
            };
        };
        for value in values.iter() {
            let text = format!("{}{}{}", word.prefix(), value.text, word.tail);
            if !self.work.pay(text.len()) {
                return;
            }
            if value.is_known {
                self.report_known_change(&text, word.source, change, cost, &effect);
            } else {
                self.report_unknown_target(format!("`{text}`"), change);
            }
        }
    }

    fn report_known_change(
        &mut self,
        text: &str,
        source: &str,
        change: FileChange,
        cost: usize,
        effect: impl Fn(PathBuf) -> Effect,
    ) {
        if text.is_empty() {
            return self.report_unknown_target(format!("`{source}`"), change);
        }
        if self.place.is_lost && !Path::new(text).is_absolute() {
            self.report_unknown_target(format!("`{source}` in a directory that is not known"), change);
        }
        self.report_in_each_directory(text, cost, effect);
    }

    pub(super) fn report_in_each_directory(
        &mut self,
        text: &str,
        cost: usize,
        effect: impl Fn(PathBuf) -> Effect,
    ) {
        for cwd in self.place.current.clone().iter().take(most_directories(text)) {
            let cost = cost + cwd.as_os_str().len() + text.len();
            if self.work.pay(cost + size_of::<Effect>()) {
                self.push_effect(effect(cwd.join(text)));
            }
        }
    }

    pub(super) fn report_unknown_target(&mut self, target: String, change: FileChange) {
        let places = self.place.possible_directories();
        let cost = target.len() + places.iter().map(|place| place.as_os_str().len()).sum::<usize>();
        self.report_effect(Effect::UnknownTarget { target, places, change }, cost);
    }

    pub(super) fn report_unparsed(&mut self, what: &str) {
        self.report_effect(Effect::Unparsed { what: what.to_owned(), command: None }, what.len());
    }

    pub(super) fn report_unparsed_word(&mut self, word: &Word) {
        self.report_unparsed(&format!("`{}`", word.source));
    }

    /// Reports that something is nested too deeply to be parsed.
    pub(super) fn report_too_deep(&mut self, what: &str) {
        if self.is_guess {
            return self.report_unparsed(what);
        }
        self.report_effect(Effect::TooLarge { what: what.to_owned() }, what.len());
    }

    /// Reports an assignment. `word`: the whole assignment.
    pub(super) fn set_variable(&mut self, name: &str, word: &Word) {
        self.apply_git_variable(name, word);
        self.evaluate_assignment(name, word);
        self.run_variable_value(name, word);
        let value = word.assigned_text().map(str::to_owned);
        let cost = name.len() + value.as_ref().map_or(0, String::len);
        self.report_effect(Effect::SetVariable { name: name.to_owned(), value }, cost);
    }

    /// Reports that the shell itself sets a variable: `for NAME in …`, `printf -v NAME`.
    pub(super) fn set_unknown_variable(&mut self, name: &str) {
        self.evaluate_unknown_value(name);
        self.report_effect(Effect::SetVariable { name: name.to_owned(), value: None }, name.len());
    }
}

/// Whether an effect of a command on another machine or in a container counts.
fn matters_from_elsewhere(effect: &Effect) -> bool {
    matches!(effect, Effect::Run { .. } | Effect::Unparsed { command: Some(_), .. } | Effect::TooLarge { .. })
}

/// In how many of the current directories a path is looked up: an absolute path only in one.
pub(super) fn most_directories(path: &str) -> usize {
    if Path::new(path).is_absolute() { 1 } else { usize::MAX }
}
