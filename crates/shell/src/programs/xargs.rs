//! The commands that `xargs` starts where the line itself says what it reads: `echo .env | xargs cat`.
//!
//! Where its input is not known, its command counts with words that cannot be known.

use std::borrow::Cow;

use crate::texts::TextSource;
use crate::word::Word;
use crate::{LineWalker, SHELLS};

/// A longer input, and more words or commands, are not followed.
const LONGEST_INPUT: usize = 4096;
const MOST_WORDS: usize = 256;
const MOST_COMMANDS: usize = 16;

/// How `xargs` gives its input to the command.
enum Feeding<'w> {
    /// All words of the input behind the words of the command.
    Appended { separator: Option<char> },
    /// A command for each line, in which this text is replaced.
    Replaced { mark: &'w str },
}

impl LineWalker<'_> {
    /// Runs the command of `xargs` with the words of its input. `options`: its own options. Returns whether they are known.
    pub(super) fn run_fed_command(&mut self, options: &[Word], command: &[Word]) -> bool {
        let Some(TextSource::Known { text, is_complete: true }) = self.texts.input.clone() else {
            return false;
        };
        if text.len() > LONGEST_INPUT || command.is_empty() {
            return false;
        }
        let make = |text: &str| Word { value: Cow::Owned(text.to_owned()), quoted: true, ..Word::default() };
        match find_feeding(options) {
            Some(Feeding::Appended { separator }) => {
                let fed: Vec<Word> = match separator {
                    Some(sign) => text.split(sign).filter(|word| !word.is_empty()).map(make).collect(),
                    None if text.contains(['"', '\'', '\\']) => return false,
                    None => text.split_whitespace().map(make).collect(),
                };
                if fed.len() > MOST_WORDS {
                    return false;
                }
                self.run_nested_command(&[command, &fed].concat());
            }
            Some(Feeding::Replaced { mark }) => {
                let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
                if lines.len() > MOST_COMMANDS || command.iter().any(|word| word.text().is_none()) {
                    return false;
                }
                for line in lines {
                    let replace = |word: &Word| make(&word.prefix().replace(mark, line.trim_start()));
                    let words: Vec<Word> = command.iter().map(replace).collect();
                    self.run_nested_command(&words);
                }
            }
            None => return false,
        }
        true
    }

    /// Notes that a shell runs what `xargs` reads: `xargs sh -c`, `xargs -I{} sh -c {}`.
    pub(super) fn note_fed_code(&mut self, options: &[Word], command: &[Word]) {
        let Some((shell, words)) = command.split_first() else { return };
        let name = shell.text().and_then(|name| name.rsplit('/').next());
        if !name.is_some_and(|name| SHELLS.contains(&name)) {
            return;
        }
        let Some(at) = words.iter().position(|word| word.has_letter(&['c'])) else { return };
        let runs_input = match (find_feeding(options), words.get(at + 1)) {
            (_, None) => true,
            (Some(Feeding::Replaced { mark }), Some(text)) => text.text().map(str::trim) == Some(mark),
            _ => false,
        };
        if runs_input {
            self.note_code_input();
        }
    }
}

/// `None`: an option changes in another way what is fed.
fn find_feeding<'w>(options: &'w [Word<'_>]) -> Option<Feeding<'w>> {
    let mut feeding = Feeding::Appended { separator: None };
    for (at, word) in options.iter().enumerate() {
        let next = || options.get(at + 1).and_then(Word::text);
        match word.text()? {
            "-I" => feeding = Feeding::Replaced { mark: next()? },
            "-i" | "--replace" => feeding = Feeding::Replaced { mark: "{}" },
            "-0" | "--null" => feeding = Feeding::Appended { separator: Some('\0') },
            "-d" | "--delimiter" if matches!(next()?, "\n" | "\\n") => {
                feeding = Feeding::Appended { separator: Some('\n') };
            }
            "-a" | "--arg-file" | "-d" | "--delimiter" => return None,
            text => {
                let attached = text.strip_prefix("-I").or_else(|| text.strip_prefix("--replace="));
                if let Some(mark) = attached {
                    feeding = Feeding::Replaced { mark };
                } else if text.starts_with("-a") || text.starts_with("-d") || text.starts_with("--arg-file=")
                {
                    return None;
                }
            }
        }
    }
    Some(feeding)
}
