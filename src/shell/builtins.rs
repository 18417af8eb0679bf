//! What one simple command does, where the shell itself or another shell reads on: `eval`, `trap`, `source`, `sh -c`.
//!
//! Programs that are no part of a shell are in [`super::programs`].

use super::flow::Op;
use super::grammar::{Kind, Redirection, Simple};
use super::word::Word;
use super::{Line, SHELLS};

impl Line<'_> {
    pub(super) fn eval(&mut self, words: &[Word]) {
        if let Some(words) = words.iter().map(Word::known).collect::<Option<Vec<_>>>() {
            return self.run(words.join(" "));
        }
        self.obscure("eval of an unknown text");
        let words: Vec<String> = words.iter().map(Word::unquoted).collect();
        self.read_before(words.join(" "), Kind::Rest);
    }

    pub(super) fn simple(&mut self, command: &Simple) {
        let outside = self.place.keep();
        let git = self.git.clone();
        let Some((program, words)) = self.program(&command.words) else {
            self.place.go_back(outside);
            // A variable that is set alone counts for git only if it is exported.
            self.git.may_be_as(&git);
            return;
        };
        match program {
            _ if SHELLS.contains(&program) => self.shell(words, command),
            "eval" => self.eval(words),
            "trap" => {
                if let Some(text) = words.iter().find(|word| !word.is_option()) {
                    let script = self.flow.new_script();
                    self.record(Op::RunLater(script));
                    self.read_word(text, script);
                }
            }
            "true" | ":" => self.record(Op::Outcome(true)),
            "false" => self.record(Op::Outcome(false)),
            "exit" => self.record(Op::Leave { shell: true }),
            "break" | "continue" | "return" => self.record(Op::Leave { shell: false }),
            "set" => self.set_options(words),
            "su" => self.operand_of_c(words),
            "popd" => return self.turn_back(),
            "pushd" if !words.iter().any(is_directory_operand) => return self.turn_back(),
            "cd" | "pushd" => return self.change_directory(words),
            "export" | "declare" | "typeset" | "readonly" | "local" => {
                self.declare(words);
                self.place.go_back(outside);
                return;
            }
            "source" | "." if is_input(words.first()) => self.shell(words, command),
            "source" | "." => {
                if let Some(script) = words.first() {
                    self.obscure(&format!("the script `{}`", script.source()));
                }
                self.program_effects(program, words);
            }
            "let" | "read" | "mapfile" | "readarray" | "getopts" | "unset" | "wait" | "compgen" => {
                self.evaluate_operands(program, words);
            }
            _ => self.program_effects(program, words),
        }
        self.place.go_back(outside);
        self.git.restore(git);
    }

    /// `set -e`, `set -euo pipefail`, `set +e`.
    fn set_options(&mut self, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let names = |sign: &str| {
                let before = at.checked_sub(1).and_then(|at| words[at].known());
                word.known() == Some("errexit")
                    && before.is_some_and(|text| text.starts_with(sign) && text.ends_with('o'))
            };
            if word.has_letter(&['e']) || names("-") {
                self.record(Op::ExitOnError(true));
            } else if word.start().starts_with('+') && word.start().contains('e') || names("+") {
                self.record(Op::ExitOnError(false));
            }
        }
    }

    /// A command that another program runs, by its words.
    pub(super) fn simple_words(&mut self, words: &[Word]) {
        self.simple(&Simple { words: words.to_vec(), ..Simple::default() });
    }

    /// `sh -c TEXT`, or a shell that reads its commands from what it is given.
    fn shell(&mut self, words: &[Word], command: &Simple) {
        // `-c` may stand among other letters: `bash -lc`.
        if words.iter().any(|word| word.has_letter(&['c'])) {
            return self.operand_of_c(words);
        }
        let script = words.iter().find(|word| !word.is_option());
        let reads = words.iter().any(|word| word.has_letter(&['s'])) || script.is_none() || is_input(script);
        if reads {
            let mut documents = 0;
            for redirection in &command.redirections {
                match redirection {
                    Redirection::HereString(text) => self.run_word(text),
                    Redirection::Document => documents += 1,
                    Redirection::Read(_) | Redirection::Write(_) => {}
                }
            }
            let first = self.fed.len().saturating_sub(documents);
            for at in first..self.fed.len() {
                let script = self.flow.new_script();
                self.record(Op::Run(script));
                self.fed[at] = Some(script);
            }
        }
        if let Some(script) = script {
            self.read(script, false);
            self.obscure(&format!("the script `{}`", script.source()));
        } else if command.redirections.is_empty() {
            self.obscure("commands that a shell reads from its input");
        }
    }

    pub(super) fn operand_of_c(&mut self, words: &[Word]) {
        let is_c = |word: &Word| word.has_letter(&['c']) || word.known() == Some("--command");
        let long = words.iter().find(|word| word.start().starts_with("--command="));
        if let Some(word) = long {
            self.run_word(&word.behind("--command=".len()));
        } else if let Some(at) = words.iter().position(is_c)
            && let Some(text) = words[at + 1..].iter().find(|word| !word.is_option())
        {
            self.run_word(text);
        }
    }
}

/// Whether a script is what the shell is given as its input.
fn is_input(script: Option<&Word>) -> bool {
    matches!(script.and_then(Word::known), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Whether `pushd` is given a directory, and not a place in its list.
fn is_directory_operand(word: &Word) -> bool {
    !word.is_option() && !word.start().starts_with('+')
}
