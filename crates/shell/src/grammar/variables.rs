//! Variables to which a line itself assigns a known value.
//!
//! People write `out=planning/notes.md; cat > "$out"`. A value counts only if nothing can change it on the way: it is
//! assigned on its own, outside every construct, not after `&&`, and it is forgotten as soon as anything else could set
//! it.

use std::rc::Rc;

use super::{ControlOperator, Parser, SimpleCommand};
use crate::word::{LoopValue, Word};

/// Builtins that set variables by their names, or run a text that may.
#[rustfmt::skip]
const SETTERS: &[&str] = &[
    "read", "mapfile", "readarray", "getopts", "printf", "export", "declare", "typeset", "local", "readonly", "unset",
    "let", "eval", "source", ".", "wait", "trap", "set", "shopt", "command", "builtin", "enable",
];
/// Variables that the shell itself sets.
#[rustfmt::skip]
const SPECIAL: &[&str] = &[
    "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "UID", "EUID", "PPID", "GROUPS",
    "DIRSTACK", "FUNCNAME", "PIPESTATUS", "HISTCMD", "OPTARG", "OPTIND", "SHELLOPTS", "SHLVL", "OLDPWD", "REPLY",
    "LINES", "COLUMNS", "_",
];

/// At most this many variables are followed, because every word is compared with all of them.
const MOST: usize = 32;

pub(super) enum VariableValue {
    Is(String),
    /// One of the words in the head of a loop.
    OneOf(ValueShape, Rc<[LoopValue]>),
}

/// What all values of a loop variable have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueShape {
    /// None of them splits without quotes.
    pub(super) is_one_word: bool,
    pub(super) may_dash: bool,
}

impl Default for ValueShape {
    fn default() -> Self {
        Self { is_one_word: true, may_dash: false }
    }
}

impl ValueShape {
    pub(super) fn with(self, word: &Word) -> Self {
        let known = word.text();
        Self {
            is_one_word: self.is_one_word && known.is_some_and(is_one_word),
            may_dash: self.may_dash
                || word.may_be_option()
                || known.is_some_and(|text| text.starts_with('-')),
        }
    }
}

/// Whether a value stays one word if the shell splits and expands it.
pub(super) fn is_one_word(value: &str) -> bool {
    !value.is_empty() && !value.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

#[derive(Default)]
pub(super) struct KnownVariables<'a> {
    known: Vec<(&'a str, VariableValue)>,
    /// The line may set any variable.
    pub(super) given_up: bool,
}

impl<'a> KnownVariables<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&VariableValue> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(super) fn learn_loop(&mut self, name: &'a str, shape: ValueShape, values: Rc<[LoopValue]>) {
        self.forget(name);
        if !self.given_up && self.known.len() < MOST && !is_special(name) {
            self.known.push((name, VariableValue::OneOf(shape, values)));
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
        let Some(name) = word.assigned_name() else { return };
        self.forget(name);
        let value = word.text().and_then(|text| text.split_once('=')).filter(|(left, _)| *left == name);
        let counts = self.known.len() < MOST && !is_special(name);
        if let Some((_, value)) = value.filter(|(_, value)| counts && !value.contains('~')) {
            self.known.push((name, VariableValue::Is(value.to_owned())));
        }
    }
}

fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name) || name.starts_with("BASH") || name.starts_with("COMP")
}

/// The names of parameters, as far as they have one sign.
const PARAMETERS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// All parameters but the first.
const ALL: [&str; 2] = ["@", "*"];

impl<'a> Parser<'a> {
    /// Learns the values of `$0`, `$1` and so on. `are_all`: nothing follows them. A function has parameters of its own.
    pub(crate) fn learn_parameters(&mut self, values: &[String], are_all: bool) {
        let has_function = self.text.contains("()") || self.text.contains("function ");
        if values.is_empty() || has_function {
            return;
        }
        let one = |value: &String| VariableValue::Is(value.clone());
        self.variables.known.extend(PARAMETERS.into_iter().zip(values.iter().map(one)));
        let rest = &values[1..];
        if !are_all || rest.is_empty() {
            return;
        }
        for name in ALL {
            let value = if let [only] = rest {
                one(only)
            } else {
                let shape = ValueShape {
                    is_one_word: rest.iter().all(|value| is_one_word(value)),
                    may_dash: rest.iter().any(|value| value.starts_with('-')),
                };
                let values = rest.iter().map(|value| LoopValue { text: value.clone(), is_known: true });
                VariableValue::OneOf(shape, values.collect())
            };
            self.variables.known.push((name, value));
        }
    }

    /// Forgets a variable that the line may set.
    pub(super) fn forget_variable(&mut self, name: &str) {
        match name {
            "HOME" => self.home = None,
            "PWD" => self.pwd = None,
            "IFS" => self.variables.give_up(),
            _ => self.variables.forget(name),
        }
    }

    /// At the end of a command, updates the known variables.
    pub(super) fn learn_variables(
        &mut self,
        command: &SimpleCommand<'a>,
        before: ControlOperator,
        join: ControlOperator,
    ) {
        let is_chained = matches!(before, ControlOperator::And | ControlOperator::Or | ControlOperator::Pipe);
        if join == ControlOperator::Background {
            // All commands of the list run in a shell of their own.
            self.variables.forget_all();
        }
        if self.variables.given_up {
            return;
        }
        let is_straight = self.frames.len() == 1
            && !is_chained
            && matches!(join, ControlOperator::Next | ControlOperator::And)
            && command.redirections.is_empty();
        let program = command.words.iter().position(|word| word.assigned_name().is_none());
        let name = program.map(|at| command.words[at].text());
        if name == Some(Some("shift")) {
            PARAMETERS.iter().chain(&ALL).for_each(|name| self.variables.forget(name));
        }
        let is_declaration = matches!(name, Some(Some("export" | "readonly" | "declare" | "typeset")));
        let is_assigned = |(at, word): (usize, &Word)| Some(at) == program || word.assigned_name().is_some();
        if program.is_none()
            || is_straight && is_declaration && command.words.iter().enumerate().all(is_assigned)
        {
            for word in command.words.iter().filter(|_| is_straight) {
                if let Some(name) = word.assigned_name().filter(|_| program.is_some()) {
                    self.forget_variable(name);
                }
                if !self.variables.given_up && self.work.pay(word.source.len()) {
                    self.variables.learn(word);
                }
            }
        } else if name.flatten().is_none_or(|name| SETTERS.contains(&name)) {
            self.variables.give_up();
        }
    }
}
