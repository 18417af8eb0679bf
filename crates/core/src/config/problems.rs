//! The mistakes in `provost.toml`, with their places.
//!
//! A hook call reports what it finds while it reads. Patterns and examples of rules are looked through by the commands
//! and at the start of a session only.

use std::path::{Path, PathBuf};

use super::{Config, MOST_PROBLEMS};
use crate::rules::examples::read_examples;

/// A mistake in a file. The rest of the file still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    pub file: PathBuf,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    pub text: String,
}

impl std::fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.text)
    }
}

impl Config {
    /// Every mistake: in the files, in the patterns of rules, and in their examples.
    pub fn list_all_problems(&self) -> Vec<ConfigProblem> {
        self.list_problems(true)
    }

    /// Every mistake that a hook call has the time to look for. A regular expression that is too large in Unicode is not.
    pub fn list_quick_problems(&self) -> Vec<ConfigProblem> {
        self.list_problems(false)
    }

    fn list_problems(&self, is_thorough: bool) -> Vec<ConfigProblem> {
        let patterns = self.find_rule_mistakes(is_thorough).into_iter();
        self.problems.iter().cloned().chain(patterns).chain(self.find_example_mistakes()).collect()
    }

    /// Reports mistakes of a file in the order of its text.
    pub(super) fn report_mistakes(&mut self, file: &Path, text: &str, mut mistakes: Vec<(usize, String)>) {
        mistakes.sort_unstable();
        mistakes.truncate(MOST_PROBLEMS);
        for (at, words) in mistakes {
            let place = Some(find_place(text, at));
            self.problems.push(ConfigProblem { file: file.to_owned(), place, text: words });
        }
    }

    /// The mistakes in the patterns of all rules. The hook does not look for them.
    fn find_rule_mistakes(&self, is_thorough: bool) -> Vec<ConfigProblem> {
        let rules = self.rules.rules.iter().filter(|rule| !rule.origin.is_built_in);
        let found = rules.flat_map(|rule| {
            let file = self.rule_files.iter().find(|file| file.path == *rule.origin.file);
            let text = file.map_or("", |file| file.text.as_str());
            let mistakes = rule.find_pattern_mistakes(is_thorough).into_iter();
            mistakes.map(move |(at, words)| ConfigProblem {
                file: rule.origin.file.to_path_buf(),
                place: Some(find_place(text, at)),
                text: words,
            })
        });
        found.take(MOST_PROBLEMS).collect()
    }

    /// The mistakes in the examples of all rules. The hook does not look for them.
    pub fn find_example_mistakes(&self) -> Vec<ConfigProblem> {
        let files = self.rule_files.iter().filter(|file| !file.has_good_examples);
        let found = files.flat_map(|file| {
            let mistakes = read_examples(&file.text).mistakes.into_iter();
            mistakes.map(|(at, text)| ConfigProblem {
                file: file.path.clone(),
                place: Some(find_place(&file.text, at)),
                text,
            })
        });
        found.take(MOST_PROBLEMS).collect()
    }
}

/// The line and column of a byte, from 1.
pub fn find_place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}
