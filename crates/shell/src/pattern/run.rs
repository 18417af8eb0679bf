//! A started program as a pattern sees it: its name and its words, known or not.

use std::path::{Path, PathBuf};

use crate::directories::resolve_parent_names;
use crate::effect::{Effect, UnknownArgument, UnknownWord};
use crate::pattern::PatternMatch;

/// One argument of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentWord<'a> {
    /// The argument as the program gets it.
    Known(&'a str),
    /// An argument that cannot be known.
    Unknown(&'a UnknownWord),
}

/// The program of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramWord<'a> {
    /// The program as it is written: `git`, `/usr/bin/git`.
    Known(&'a str),
    /// A program that cannot be known: `$TOOL`.
    Unknown(&'a UnknownWord),
}

/// A started program. Build it once for each effect, and compare it with all patterns.
#[derive(Debug, Clone)]
pub struct RunView<'a> {
    program: ProgramWord<'a>,
    /// It is a script, whose name is a path also without a slash.
    is_script: bool,
    words: Vec<ArgumentWord<'a>>,
    directory: Option<&'a Path>,
    /// Where it may run if the directory is not certain.
    possible: &'a [PathBuf],
    root: Option<&'a Path>,
    home: Option<&'a Path>,
}

impl<'a> RunView<'a> {
    /// The program that an effect starts: a [`Run`](Effect::Run), or an [`Unparsed`](Effect::Unparsed) that is a
    /// command with an unknown program. The latter never matches for certain.
    pub fn from_effect(effect: &'a Effect) -> Option<Self> {
        let (program, arguments, unknown, directory) = match effect {
            Effect::Run { program, arguments, unknown_arguments, directory, .. } => {
                (ProgramWord::Known(program), arguments, unknown_arguments, directory.as_deref())
            }
            Effect::Unparsed { command: Some(command), .. } => {
                let program = ProgramWord::Unknown(&command.program);
                (program, &command.arguments, &command.unknown_arguments, None)
            }
            _ => return None,
        };
        let words = merge_arguments(arguments, unknown);
        Some(Self { program, is_script: false, words, directory, possible: &[], root: None, home: None })
    }

    /// Sets the directories where relative paths and `~/…` of a pattern start. Without them, the path of a program is
    /// compared as it is written.
    #[must_use]
    pub fn in_project(self, root: Option<&'a Path>, home: Option<&'a Path>) -> Self {
        Self { root, home, ..self }
    }

    /// Sets the directories in which it may run, for a program whose directory is not certain: after `cd build;`.
    #[must_use]
    pub fn in_any_of(self, possible: &'a [PathBuf]) -> Self {
        Self { possible, ..self }
    }

    /// A script that runs in the same place with the arguments from this one on.
    pub(super) fn starting(&self, script: &'a str, first: usize) -> Self {
        let words = self.words[first..].to_vec();
        Self { program: ProgramWord::Known(script), is_script: true, words, ..*self }
    }

    /// The same run with only these of its arguments.
    pub(super) fn with_arguments(&self, positions: impl Iterator<Item = usize>) -> Self {
        let words = positions.filter_map(|at| self.words.get(at).copied()).collect();
        Self { words, ..*self }
    }

    /// The program.
    pub fn program(&self) -> ProgramWord<'a> {
        self.program
    }

    /// The arguments.
    pub fn arguments(&self) -> &[ArgumentWord<'a>] {
        &self.words
    }

    /// Whether the program is the one that an alternative of a pattern names.
    pub(super) fn match_program(&self, wanted: &str) -> PatternMatch {
        let is_match = match self.program {
            _ if wanted == "*" => true,
            ProgramWord::Unknown(word) if may_be_program(word, wanted) => return PatternMatch::Unknown,
            ProgramWord::Unknown(_) => false,
            ProgramWord::Known(program) if wanted.contains('/') => return self.match_path(program, wanted),
            ProgramWord::Known(program) => strip_directory(program) == wanted,
        };
        if is_match { PatternMatch::Yes } else { PatternMatch::No }
    }

    fn match_path(&self, program: &str, wanted: &str) -> PatternMatch {
        if !program.contains('/') && !self.is_script {
            return PatternMatch::No;
        }
        let wanted_path = match (wanted.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            (Some(_), None) => None,
            (None, _) => resolve(wanted, self.root),
        };
        let is_wanted = |path: PathBuf| wanted_path.as_ref() == Some(&path);
        let mut possible = self.possible.iter().filter_map(|directory| resolve(program, Some(directory)));
        let is_equal = match (resolve(program, self.directory), &wanted_path) {
            (Some(program), Some(wanted)) => program == *wanted,
            _ if possible.any(is_wanted) || trim_path(program) == trim_path(wanted) => true,
            _ if strip_directory(program) == strip_directory(wanted) => return PatternMatch::Unknown,
            _ => false,
        };
        if is_equal { PatternMatch::Yes } else { PatternMatch::No }
    }
}

fn merge_arguments<'a>(known: &'a [String], unknown: &'a [UnknownArgument]) -> Vec<ArgumentWord<'a>> {
    let mut words = Vec::with_capacity(known.len() + unknown.len());
    let mut unknown = unknown.iter().peekable();
    for (at, text) in known.iter().enumerate() {
        while let Some(argument) = unknown.next_if(|argument| argument.at <= at) {
            words.push(ArgumentWord::Unknown(&argument.word));
        }
        words.push(ArgumentWord::Known(text));
    }
    words.extend(unknown.map(|argument| ArgumentWord::Unknown(&argument.word)));
    words
}

/// The last part of a program's path, without `.exe`.
pub(super) fn strip_directory(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn trim_path(path: &str) -> &str {
    path.trim_start_matches("./")
}

fn resolve(path: &str, from: Option<&Path>) -> Option<PathBuf> {
    let path = Path::new(path);
    if path.is_absolute() {
        Some(resolve_parent_names(path))
    } else {
        Some(resolve_parent_names(&from?.join(path)))
    }
}

/// Whether an unknown word may name this program.
fn may_be_program(word: &UnknownWord, wanted: &str) -> bool {
    if wanted.contains('/') {
        return wanted.starts_with(&word.prefix) || word.prefix.is_empty();
    }
    match word.tail.rsplit_once('/').filter(|_| !word.splits) {
        Some((_, name)) => is_subsequence(name.strip_suffix(".exe").unwrap_or(name), wanted),
        None => match wanted.strip_prefix(strip_directory(&word.prefix)) {
            Some(rest) => {
                word.splits || is_subsequence(word.tail.strip_suffix(".exe").unwrap_or(&word.tail), rest)
            }
            None => false,
        },
    }
}

/// Whether a text contains these characters in this order.
pub(super) fn is_subsequence(part: &str, text: &str) -> bool {
    let mut rest = text.chars();
    part.chars().all(|wanted| rest.any(|c| c == wanted))
}
