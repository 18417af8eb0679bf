//! Simple commands that a shell runs itself, or for which another shell runs commands: `eval`, `trap`, `sh -c`.
//!
//! All other programs are in [`super::programs`].

use super::effect::ReadScope;
use super::flow::{FlowStep, ScriptTime};
use super::grammar::{Redirection, SimpleCommand, TextKind};
use super::line::ShellParameters;
use super::texts::TextSource;
use super::word::{Word, is_name};
use super::{LineWalker, SHELLS};

/// At most this many aliases of a text are followed.
const MOST_ALIASES: usize = 16;

impl LineWalker<'_> {
    pub(super) fn run_eval(&mut self, words: &[Word]) {
        if let Some(words) = words.iter().map(Word::text).collect::<Option<Vec<_>>>() {
            return self.run_text(words.join(" "));
        }
        self.report_unparsed("eval of an unknown text");
        self.note_code_input();
        words.iter().take(1).for_each(|word| self.note_variable_code(word));
        let words: Vec<String> = words.iter().map(Word::source_without_quotes).collect();
        self.run_text_before(words.join(" "), TextKind::Rest);
    }

    pub(super) fn run_simple_command(&mut self, command: &SimpleCommand) {
        let is_remote = self.is_remote;
        match self.replace_known_words(&command.words) {
            Some(words) => self.run_words(&words, &command.redirections),
            None => self.run_words(&command.words, &command.redirections),
        }
        self.is_remote = is_remote;
    }

    fn run_words(&mut self, words: &[Word], redirections: &[Redirection]) {
        self.run_shell_alias(words);
        let outside = self.place.save();
        let git = self.git.clone();
        let Some((program, words)) = self.resolve_program(words) else {
            self.place.restore(outside);
            self.git.merge_unexported(&git);
            return;
        };
        match program {
            "cd" | "pushd" | "popd" | "exit" if self.is_remote => {}
            _ if SHELLS.contains(&program) => self.run_shell(words, redirections),
            "eval" => {
                let queued = self.nested.len();
                self.run_eval(words);
                self.pass_status_from(queued);
            }
            "alias" => {
                self.tree.distrust_status();
                self.learn_shell_aliases(words);
                self.report_program(program, words);
            }
            "trap" => {
                self.tree.distrust_status();
                if let Some(text) = words.iter().find(|word| !word.is_option()) {
                    let script = self.record_script(ScriptTime::Later);
                    self.queue_word(text, script);
                }
            }
            "true" | ":" => self.record_step(FlowStep::Outcome(true)),
            "false" => self.record_step(FlowStep::Outcome(false)),
            "exit" => {
                if !words.first().and_then(Word::text).is_some_and(is_failure) {
                    self.tree.note_exit();
                }
                self.record_step(FlowStep::Leave { shell: true });
            }
            "break" | "continue" | "return" => self.record_step(FlowStep::Leave { shell: false }),
            "set" => self.record_set_options(words),
            "su" => {
                let queued = self.nested.len();
                self.run_command_option(words);
                self.pass_status_from(queued);
            }
            "popd" => return self.return_to_seen_directory(),
            "pushd" if !words.iter().any(is_directory_operand) => return self.return_to_seen_directory(),
            "cd" | "pushd" => return self.change_directory(words),
            "export" | "declare" | "typeset" | "readonly" | "local" => {
                self.declare_variables(words);
                self.place.restore(outside);
                return;
            }
            "source" | "." if is_input(words.first()) => self.run_shell(words, redirections),
            "source" | "." => {
                if let Some(script) = words.first() {
                    self.note_script_source(script);
                    script.text().into_iter().for_each(|file| self.run_written_script(file));
                    self.run_printed_script(script);
                    self.report_unparsed(&format!("the script `{}`", script.source));
                }
                self.report_program(program, words);
            }
            "let" | "read" | "mapfile" | "readarray" | "getopts" | "unset" | "wait" | "compgen" => {
                self.evaluate_operands(program, words);
            }
            _ => self.report_program(program, words),
        }
        self.place.restore(outside);
        self.git.restore_settings(git);
    }

    /// `alias NAME=TEXT`.
    fn learn_shell_aliases(&mut self, words: &[Word]) {
        let pairs = words.iter().filter_map(Word::text).filter_map(|text| text.split_once('='));
        for (name, value) in pairs.take(MOST_ALIASES.saturating_sub(self.aliases.len())) {
            if self.work.pay(name.len() + value.len()) {
                self.aliases.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    /// Runs the text of an alias as well, because not every shell follows it. The words of the alias itself are no aliases.
    fn run_shell_alias(&mut self, words: &[Word]) {
        let Some((first, rest)) = words.split_first().filter(|_| !self.aliases.is_empty()) else { return };
        let is_it = |(name, _): &&(String, String)| first.source == name;
        let Some((_, value)) = self.aliases.iter().rfind(is_it) else { return };
        let line = [value.as_str()].into_iter().chain(rest.iter().map(|word| word.source));
        self.run_text_before(line.collect::<Vec<_>>().join(" "), TextKind::Commands);
    }

    /// `set -e`, `set -euo pipefail`, `set +e`.
    fn record_set_options(&mut self, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let names = |sign: &str, option: &str| {
                let before = at.checked_sub(1).and_then(|at| words[at].text());
                word.text() == Some(option)
                    && before.is_some_and(|text| text.starts_with(sign) && text.ends_with('o'))
            };
            if word.has_letter(&['e']) || names("-", "errexit") {
                self.record_step(FlowStep::ExitOnError(true));
            } else if word.prefix().starts_with('+') && word.prefix().contains('e') || names("+", "errexit") {
                self.record_step(FlowStep::ExitOnError(false));
            } else if word.text() == Some("pipefail") {
                self.tree.set_pipefail(names("-", "pipefail"));
            }
        }
    }

    /// `sh -c TEXT`, or a shell that reads its commands from its input.
    fn run_shell(&mut self, words: &[Word], redirections: &[Redirection]) {
        let queued = self.nested.len();
        self.run_shell_text(words, redirections);
        self.pass_status_from(queued);
        let has_pipefail = words.iter().any(|word| word.text() == Some("pipefail"));
        self.nested[queued..].iter_mut().for_each(|nested| nested.status.has_pipefail = has_pipefail);
    }

    fn run_shell_text(&mut self, words: &[Word], redirections: &[Redirection]) {
        // `-c` may be clustered: `bash -lc`.
        if words.iter().any(|word| word.has_letter(&['c'])) {
            let queued = self.nested.len();
            self.run_command_option(words);
            return self.give_parameters(queued, words);
        }
        let script = find_script(words);
        let reads = words.iter().any(|word| word.has_letter(&['s'])) || script.is_none() || is_input(script);
        if reads {
            let mut documents = 0;
            for redirection in redirections {
                match redirection {
                    Redirection::HereString(text) => self.run_word(text),
                    Redirection::Document => documents += 1,
                    Redirection::Read(_) | Redirection::Write { .. } => {}
                }
            }
            let first = self.documents.len().saturating_sub(documents);
            for at in first..self.documents.len() {
                self.documents[at].script = Some(self.record_script(ScriptTime::Now));
                self.documents[at].is_remote = self.is_remote;
            }
        }
        if reads {
            self.note_code_input();
            self.run_piped_text(redirections);
        }
        if let Some(script) = script {
            self.note_script_source(script);
            script.text().into_iter().for_each(|file| self.run_written_script(file));
            self.run_printed_script(script);
            self.report_read(script, ReadScope::File);
            self.report_unparsed(&format!("the script `{}`", script.source));
        } else if redirections.is_empty() {
            self.report_unparsed("commands that a shell reads from its input");
        }
    }

    /// Gives the text of `-c` the words behind it: `sh -c 'rm "$1"' _ file`.
    fn give_parameters(&mut self, queued: usize, words: &[Word]) {
        let Some(nested) = self.nested.get_mut(queued) else { return };
        let behind = words.iter().skip_while(|word| word.text() != Some(&*nested.text)).skip(1);
        let texts = behind.clone().map_while(|word| word.text().map(str::to_owned));
        let known: Vec<String> = texts.collect();
        nested.parameters = ShellParameters { are_all_known: known.len() == behind.count(), known };
    }

    /// Runs the text of `<(echo …)`.
    fn run_printed_script(&mut self, script: &Word) {
        if let Some(text) = self.find_printed_script(script) {
            self.run_text(text);
        }
    }

    /// Runs the text that the command in front of `|` prints: `echo ls | sh`.
    fn run_piped_text(&mut self, redirections: &[Redirection]) {
        if !redirections.iter().all(|one| matches!(one, Redirection::Write { .. })) {
            return;
        }
        match self.texts.input.clone() {
            Some(TextSource::Known { text, is_complete: true }) if self.work.pay(text.len()) => {
                self.run_text(text.to_string());
            }
            Some(TextSource::Document(number)) => {
                let script = self.record_script(ScriptTime::Now);
                if let Some(document) = self.find_document(number) {
                    document.script = Some(script);
                }
            }
            _ => {}
        }
    }

    /// The current command runs code that it gets from another command, on this machine.
    pub(super) fn note_code_input(&mut self) {
        if !self.is_remote {
            self.tree.note_code_input();
        }
    }

    /// A script in a file may have been fetched; `<(…)` is the output of a command.
    fn note_script_source(&mut self, script: &Word) {
        if script.text().is_some() { self.tree.note_script() } else { self.note_code_input() }
    }

    /// Notes the variable whose value is run, if the word is nothing else.
    fn note_variable_code(&mut self, word: &Word) {
        let name = word.source.trim_matches('"').strip_prefix('$');
        let name = name.map(|name| name.trim_start_matches('{').trim_end_matches('}'));
        if let Some(name) = name.filter(|name| is_name(name)) {
            self.tree.note_variable_code(name);
        }
    }

    pub(super) fn run_command_option(&mut self, words: &[Word]) {
        let is_c = |word: &Word| word.has_letter(&['c']) || word.text() == Some("--command");
        let long = words.iter().find(|word| word.prefix().starts_with("--command="));
        if let Some(word) = long {
            self.run_word(&word.skip_bytes("--command=".len()));
        } else if let Some(at) = words.iter().position(is_c)
            && let Some(text) = words[at + 1..].iter().find(|word| !word.is_option())
        {
            if text.text().is_none() {
                self.note_code_input();
                self.note_variable_code(text);
            }
            self.run_word(text);
        }
    }
}

/// Whether the operand of `exit` is certainly no success.
fn is_failure(status: &str) -> bool {
    status.parse::<u8>().is_ok_and(|status| status != 0)
}

/// The script that a shell is given: its first operand. `-o pipefail` takes a word.
fn find_script<'w, 'a>(words: &'w [Word<'a>]) -> Option<&'w Word<'a>> {
    let takes_value = |word: &Word| {
        let text = word.prefix();
        let is_cluster =
            text.starts_with(['-', '+']) && !text.starts_with("--") && text.ends_with(['o', 'O']);
        is_cluster || matches!(text, "--rcfile" | "--init-file")
    };
    let mut is_value = false;
    words.iter().find(|word| {
        let is_operand = !is_value && !word.is_option() && !takes_value(word);
        is_value = !is_value && takes_value(word);
        is_operand
    })
}

/// Whether a script is the standard input.
fn is_input(script: Option<&Word>) -> bool {
    matches!(script.and_then(Word::text), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Whether `pushd` is given a directory, and not a position in its stack.
fn is_directory_operand(word: &Word) -> bool {
    !word.is_option() && !word.prefix().starts_with('+')
}
