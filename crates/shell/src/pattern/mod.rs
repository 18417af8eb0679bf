//! Command patterns: which started programs a rule is about.
//!
//! A pattern such as `git push --force|-f` is matched against the words that a program gets, not against the text of a
//! command line. So quotes, wrappers and options in between make no difference, and text that is only data never
//! matches. `table` says which options of a program take a value, `arguments` splits the words of a run by it, and
//! `matching` compares them. There is no I/O and no regular expression.
//!
//! ```
//! use std::path::Path;
//! use provost_shell::pattern::{CommandPattern, PatternMatch, RunView};
//!
//! let pattern = CommandPattern::parse("git push --force|-f").unwrap();
//! let effects = provost_shell::effects("git -C sub push -uf origin", Path::new("/project"), None);
//! let runs = effects.iter().filter_map(RunView::from_effect);
//! assert!(runs.into_iter().any(|run| pattern.matches(&run) == PatternMatch::Yes));
//! ```
//!
//! # The language
//!
//! - Words are separated by blanks, alternatives by `|`. There are no quotes. `*` is any one word. In a word, it is any
//!   text: `run test*`, `--force*`, `-n=a*`. The program and the names of short options take none.
//! - The first word is the name of the program. With a `/` it is its path; a relative one starts at the project's
//!   root.
//! - The following words without a dash are the leading operands in order: `git add .` does not match `git add src .`.
//!   Options, their values and words such as `+nightly`, or `V=1` of `make`, may stand in between.
//! - A word with a dash is an option that must be given in front of `--`, at any position. `-rf` is `-r` and `-f`,
//!   unless the options of the program are whole words (`find -delete`). `--` itself must be given too.
//! - `--name=value` and `-n=value` ask for a value, in whatever form it is given: `-n value`, `-nvalue`.
//! - `<end>` as the last word: nothing else is given. `git push <end>` does not match `git push origin`.
//! - A script or target counts in each of its spellings: `yarn deploy` and `yarn run deploy`, `npm t` and `npm run test`,
//!   `make build deploy` for `make deploy`.
//! - Long options may be abbreviated if the program allows it and no other option that is known starts alike.
//! - Two spellings of one option are different options. Exceptions are `-r`, `-R`, `--recursive` of `rm` and `cp`,
//!   `-f`, `--force` of `rm`, and `-R`, `--recursive` of `chmod`, `chown` and `chgrp`.
//!
//! # Words that cannot be known
//!
//! The answer is [`PatternMatch::Unknown`] if the command matches for some values of its unknown words only. An unknown
//! word does not hide a match that the other words decide: `git push $REMOTE --force` and `git $OPTIONS push --force`
//! match `git push --force`, although the variables could hold `--` or another command.
//!
//! What is known of a word counts: `src/*.rs` is no option, and neither is `"$DIR/file"`. An unquoted variable may hold
//! several words, so `git push $X` may be anything that starts with `git push`.

mod arguments;
mod matching;
mod run;
mod scripts;
mod spellings;
mod table;
mod targets;
#[cfg(test)]
mod tests;

pub use run::{ArgumentWord, ProgramWord, RunView};
pub use scripts::find_script;
pub use targets::is_excused;

use std::fmt;
pub(crate) use table::OptionScope;

/// The last word of a pattern that describes the whole command.
pub const END: &str = "<end>";
/// A pattern with more words is refused.
const MOST_WORDS: usize = 32;
/// Characters that only a shell understands.
const SHELL_SIGNS: &[char] = &['"', '\'', '\\', '$', '`', ';', '&', '<', '>'];

/// A pattern for started programs. It borrows its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern<'a> {
    /// The alternatives for the program.
    program: PatternWord<'a>,
    words: Vec<PatternWord<'a>>,
    /// Nothing else may be given.
    is_whole: bool,
}

/// One word of a pattern, with all its alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PatternWord<'a>(&'a str);

/// Whether a run matches a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatternMatch {
    /// It does not match.
    No,
    /// It matches for some values of words that cannot be known.
    Unknown,
    /// It matches.
    Yes,
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// What is wrong, and how to fix it.
    pub message: String,
    /// The byte in the pattern where the mistake is.
    pub offset: usize,
    /// An operand stands where the program would take it for the value of an option.
    pub is_separate_value: bool,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PatternError {}

impl<'a> PatternWord<'a> {
    fn alternatives(self) -> impl Iterator<Item = &'a str> {
        self.0.split('|')
    }

    fn options(self) -> impl Iterator<Item = &'a str> {
        self.alternatives().filter(|text| is_option(text))
    }

    fn operands(self) -> impl Iterator<Item = &'a str> {
        self.alternatives().filter(|text| !is_option(text))
    }
}

/// Whether the first word of a pattern's text may name this program. It costs less than parsing the pattern.
pub fn may_name_program(pattern: &str, program: &str) -> bool {
    let name = run::strip_directory(program);
    let first = pattern.split_ascii_whitespace().next().unwrap_or_default();
    first.split('|').any(|wanted| wanted == name || wanted == "*" || wanted.contains('/'))
}

/// Whether a word is an option; a lone `-` is an operand.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

impl<'a> CommandPattern<'a> {
    /// Parses a pattern.
    pub fn parse(text: &'a str) -> Result<Self, PatternError> {
        let position = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let error = |word: &str, message: String| {
            Err(PatternError { message, offset: position(word), is_separate_value: false })
        };
        let mut words = text.split_ascii_whitespace().map(PatternWord);
        let Some(program) = words.next() else {
            return error(text, "the pattern is empty: write the name of a program".into());
        };
        let mut words: Vec<_> = words.collect();
        let is_whole = words.pop_if(|last| last.0 == END).is_some();
        let pattern = Self { program, words, is_whole };
        for alternative in program.alternatives() {
            if is_option(alternative) {
                let message = format!("`{alternative}` is an option: start with the name of a program");
                return error(alternative, message);
            }
            if alternative.contains('=') {
                let message = format!("`{alternative}` sets a variable: start with the name of a program");
                return error(alternative, message);
            }
        }
        for (at, word) in std::iter::once(&program).chain(&pattern.words).enumerate() {
            if at > MOST_WORDS {
                return error(word.0, format!("more than {MOST_WORDS} words after the program: use fewer"));
            }
            for alternative in word.alternatives() {
                if alternative.is_empty() {
                    return error(alternative, "an alternative is empty: remove one `|`".into());
                }
                if let Some(sign) = alternative.find(SHELL_SIGNS) {
                    let shown = alternative[sign..].chars().next().unwrap_or_default();
                    let message = format!(
                        "`{shown}` has no meaning in a pattern: write the words of one command as the program gets them"
                    );
                    return error(&alternative[sign..], message);
                }
                let is_short = is_option(alternative) && !alternative.starts_with("--");
                // In `-n=a*` it stands for a part of the value.
                let named =
                    if is_short { alternative.split('=').next().unwrap_or(alternative) } else { alternative };
                let takes_star = at > 0 && !(is_short && named.contains('*'));
                if let Some(star) = alternative.find('*').filter(|_| alternative != "*" && !takes_star) {
                    let message = format!(
                        "`*` in `{alternative}`: it can only stand in an operand, a long option or a value"
                    );
                    return error(&alternative[star..], message);
                }
            }
        }
        match pattern.find_separate_value() {
            Some((option, value)) => {
                let message = format!(
                    "`{option}` takes a value: write `{option}={value}` if `{value}` is the value, or put `{value}` \
                     before `{option}`"
                );
                error(value, message).map_err(|error| PatternError { is_separate_value: true, ..error })
            }
            None => Ok(pattern),
        }
    }

    /// An operand that the program would take for the value of the option before it.
    fn find_separate_value(&self) -> Option<(&'a str, &'a str)> {
        let is_option = |word: PatternWord| word.operands().next().is_none();
        // Most patterns need no look into the table.
        if !self.words.windows(2).any(|pair| is_option(pair[0]) && !is_option(pair[1])) {
            return None;
        }
        let program = self.program.alternatives().next()?;
        let mut scope = OptionScope::new(run::strip_directory(program));
        for pair in self.words.windows(2) {
            if let Some(operand) = pair[0].operands().next() {
                scope.enter_command(operand);
                continue;
            }
            let option = pair[0].options().find(|option| scope.takes_next_word(option));
            if let (Some(option), Some(value)) = (option, pair[1].operands().next()) {
                return Some((option, value));
            }
        }
        None
    }

    /// Whether a run matches the pattern. The work is at most the number of words in the pattern times that in the run.
    pub fn matches(&self, run: &RunView) -> PatternMatch {
        matching::match_run(self, run)
    }
}
