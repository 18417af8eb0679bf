//! Scripts that a shell or another interpreter gets by name: `bash deploy.sh` starts `deploy.sh`.

use crate::SHELLS;
use crate::pattern::run::{ArgumentWord, ProgramWord, RunView, strip_directory};
use crate::pattern::table::OptionScope;
use crate::programs::is_interpreter;

/// Options after which code follows in place of a script.
const CODE: &[&str] = &["-c", "-e", "-m", "-p", "-r", "-E", "-ne", "-pe", "-pie", "--eval", "--print"];
/// Options of shells that take the next word, besides clusters that end with `o`.
const SHELL_VALUES: &[&str] = &["--rcfile", "--init-file"];

/// The position of the script among the words of an interpreter. A word that is not known is `None`.
pub fn find_script<'w>(program: &str, words: impl Iterator<Item = Option<&'w str>>) -> Option<usize> {
    let name = strip_directory(program);
    let is_shell = SHELLS.contains(&name);
    if !is_shell && !matches!(name, "source" | ".") && (!is_interpreter(name) || has_commands(name)) {
        return None;
    }
    let scope = OptionScope::new(name);
    let mut words = words.enumerate();
    while let Some((at, word)) = words.next() {
        let word = word?;
        if word == "--" {
            return words.next().and_then(|(at, word)| word.map(|_| at));
        }
        if !word.starts_with('-') {
            return Some(at);
        }
        let is_cluster = is_shell && !word.starts_with("--");
        let is_code = if is_shell {
            is_cluster && word.contains('c')
        } else {
            CODE.contains(&word) || word.starts_with("--eval=")
        };
        if word == "-" || is_code {
            return None;
        }
        let takes_next = if is_shell {
            is_cluster && word.ends_with(['o', 'O']) || SHELL_VALUES.contains(&word)
        } else {
            scope.takes_next_word(word)
        };
        if takes_next {
            words.next();
        }
    }
    None
}

/// Interpreters whose first word is a command of their own.
fn has_commands(name: &str) -> bool {
    matches!(name, "deno" | "bun")
}

impl RunView<'_> {
    /// The script that an interpreter starts, with the words that the script gets.
    #[must_use]
    pub fn script(&self) -> Option<Self> {
        let ProgramWord::Known(program) = self.program() else { return None };
        let known = self.arguments().iter().map(|word| match word {
            ArgumentWord::Known(text) => Some(*text),
            ArgumentWord::Unknown(_) => None,
        });
        let at = find_script(program, known)?;
        let ArgumentWord::Known(script) = self.arguments()[at] else { return None };
        Some(self.starting(script, at + 1))
    }
}
