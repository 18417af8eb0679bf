//! Variables that a line itself gives a value that is certain.
//!
//! `out=planning/notes.md; cat > "$out"` is how people write. A value counts only where nothing on
//! the way can change it: assigned on its own, outside every construct, not behind `&&`, and
//! forgotten as soon as anything else could set it.

use super::{Grammar, Join, Simple};
use crate::shell::word::Word;

/// Programs of the shell that set variables by their names, or run a text that may.
const SETTERS: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "let",
    "eval",
    "source",
    ".",
    "wait",
    "trap",
    "set",
    "shopt",
    "command",
    "builtin",
    "enable",
];
/// Variables that the shell itself gives values.
const SPECIAL: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "UID",
    "EUID",
    "PPID",
    "GROUPS",
    "DIRSTACK",
    "FUNCNAME",
    "PIPESTATUS",
    "HISTCMD",
    "OPTARG",
    "OPTIND",
    "SHELLOPTS",
    "SHLVL",
    "OLDPWD",
    "REPLY",
    "LINES",
    "COLUMNS",
    "_",
];

/// A line that sets more is not followed: every word is compared with all of them.
const MOST: usize = 32;

pub(super) enum Value {
    Is(String),
    /// One of several.
    OneOf(Shape),
}

/// What all values of a loop's variable have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// None of them is split without quotes.
    pub(super) is_one_word: bool,
    pub(super) may_dash: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self { is_one_word: true, may_dash: false }
    }
}

impl Shape {
    pub(super) fn with(self, word: &Word) -> Self {
        let known = word.known();
        Self {
            is_one_word: self.is_one_word && known.is_some_and(is_one_word),
            may_dash: self.may_dash
                || word.may_be_option()
                || known.is_some_and(|text| text.starts_with('-')),
        }
    }
}

/// Whether a value stays the one word that it is where the shell splits and expands it.
pub(super) fn is_one_word(value: &str) -> bool {
    !value.is_empty() && !value.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

#[derive(Default)]
pub(super) struct Variables<'a> {
    known: Vec<(&'a str, Value)>,
    /// Something on the line may set any variable.
    pub(super) given_up: bool,
}

impl<'a> Variables<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(super) fn learn_shape(&mut self, name: &'a str, shape: Shape) {
        self.forget(name);
        if !self.given_up && self.known.len() < MOST && !is_special(name) {
            self.known.push((name, Value::OneOf(shape)));
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.known.retain(|(known, _)| *known != name);
    }

    pub(super) fn forget_all(&mut self) {
        self.known.clear();
    }

    pub(super) fn give_up(&mut self) {
        self.known.clear();
        self.given_up = true;
    }

    fn learn(&mut self, word: &Word<'a>) {
        let Some(name) = word.assigned() else { return };
        self.forget(name);
        let value = word.known().and_then(|text| text.split_once('=')).filter(|(left, _)| *left == name);
        let counts = self.known.len() < MOST && !is_special(name);
        if let Some((_, value)) = value.filter(|(_, value)| counts && !value.contains('~')) {
            self.known.push((name, Value::Is(value.to_owned())));
        }
    }
}

fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name) || name.starts_with("BASH") || name.starts_with("COMP")
}

impl<'a> Grammar<'a> {
    /// The line may set this variable itself.
    pub(super) fn forget_variable(&mut self, name: &str) {
        match name {
            "HOME" => self.home = None,
            "PWD" => self.pwd = None,
            "IFS" => self.variables.give_up(),
            _ => self.variables.forget(name),
        }
    }

    /// At the end of a command: what is known of variables from here on.
    pub(super) fn note_variables(&mut self, command: &Simple<'a>, before: Join, join: Join) {
        let is_chained = matches!(before, Join::And | Join::Or | Join::Pipe);
        if join == Join::Background {
            // All commands that are joined to this one run in a shell of their own.
            self.variables.forget_all();
        }
        if self.variables.given_up {
            return;
        }
        let Some(program) = command.words.iter().find(|word| word.assigned().is_none()) else {
            let is_straight = self.frames.len() == 1 && !is_chained && matches!(join, Join::Next | Join::And);
            if is_straight && command.redirections.is_empty() {
                for word in &command.words {
                    if self.work.pay(word.source.len()) {
                        self.variables.learn(word);
                    }
                }
            }
            return;
        };
        let is_straight = self.frames.len() == 1 && !is_chained && matches!(join, Join::Next | Join::And);
        let is_declared = matches!(program.known(), Some("export" | "readonly" | "declare" | "typeset"))
            && command
                .words
                .iter()
                .filter(|word| !std::ptr::eq(*word, program))
                .all(|word| word.assigned().is_some());
        if is_straight && is_declared && command.redirections.is_empty() {
            for word in &command.words {
                if let Some(name) = word.assigned() {
                    self.forget_variable(name);
                }
                if !self.variables.given_up && self.work.pay(word.source.len()) {
                    self.variables.learn(word);
                }
            }
        } else if program.known().is_none_or(|name| SETTERS.contains(&name)) {
            self.variables.give_up();
        }
    }
}
