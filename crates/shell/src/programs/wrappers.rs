//! The program of a simple command, after assignments and programs that run another one.
//!
//! `sudo env A=1 nice rm f` runs `rm`. Each wrapper counts as run too, because a guard may allow one and not the other.
//! An unknown option may take the next word as its value. Then the first word that can only be a program counts as
//! well.

use std::path::PathBuf;

use super::runners::{CommandForm, find_started_command, strip_version};
use super::{has_mutating_options, is_known_program};
use crate::LineWalker;
use crate::arithmetic::EvaluationScope;
use crate::effect::{Effect, ReadScope, UnknownArgument, UnknownCommand, UnknownWord};
use crate::word::{UnknownPart, Word};

/// How many programs that run another one are reported with their words.
const MOST_WITH_WORDS: usize = 8;

/// A program that runs the command after its options and operands.
struct Wrapper {
    /// Letters and names of the options that take the next word.
    letters: &'static str,
    names: &'static [&'static str],
    operands: usize,
}

fn find_wrapper(program: &str) -> Option<Wrapper> {
    let (letters, names, operands): (_, &[&str], _) = match program {
        "sudo" | "doas" | "pkexec" | "run0" => {
            ("ugpCrtTDhRU", &["--user", "--group", "--chdir", "--host", "--prompt"], 0)
        }
        "env" => ("uCSa", &["--unset", "--chdir", "--split-string", "--argv0"], 0),
        "nice" => ("n", &["--adjustment"], 0),
        "ionice" => ("cn", &["--class", "--classdata"], 0),
        "timeout" => ("sk", &["--signal", "--kill-after"], 1),
        "stdbuf" => ("ioe", &["--input", "--output", "--error"], 0),
        "xargs" => ("IELnPdas", &["--max-args", "--max-procs", "--delimiter", "--arg-file", "--replace"], 0),
        "flock" => ("wE", &["--timeout", "--conflict-exit-code"], 1),
        "exec" => ("a", &[], 0),
        "time" => ("fo", &["--format", "--output"], 0),
        "chroot" => ("", &[], 1),
        "chrt" => ("TPDp", &["--sched-runtime", "--sched-period", "--sched-deadline", "--pid"], 1),
        "choom" => ("np", &["--adjust", "--pid"], 0),
        "dbus-run-session" => ("", &["--config-file", "--dbus-daemon"], 0),
        "ltrace" | "strace" => ("abeEIoOpPsSuUX", &["--output", "--attach", "--trace", "--user", "--env"], 0),
        "prlimit" => ("po", &["--pid", "--output"], 0),
        "setarch" => ("", &[], 1),
        "setpriv" => ("", &["--reuid", "--regid", "--ruid", "--euid", "--rgid", "--egid", "--groups"], 0),
        "taskset" => ("p", &["--pid"], 1),
        "nsenter" => ("tSG", &["--target", "--setuid", "--setgid"], 0),
        "unshare" => ("GRSw", &["--root", "--wd", "--setuid", "--setgid"], 0),
        "ssh-agent" => ("aEtO", &[], 0),
        "chronic" | "linux32" | "linux64" | "unbuffer" => ("", &[], 0),
        _ if program.starts_with("ld-linux") || program == "ld.so" => {
            ("", &["--library-path", "--preload", "--argv0", "--audit", "--inhibit-rpath"], 0)
        }
        "command" | "builtin" | "nohup" | "setsid" | "busybox" | "toybox" | "coreutils" | "fakeroot"
        | "proot" => ("", &[], 0),
        _ => return None,
    };
    Some(Wrapper { letters, names, operands })
}

impl Wrapper {
    /// The letter or long name of an option, and its value, which may be in the next word.
    fn parse_option<'w>(
        &self,
        word: &'w Word<'w>,
        words: &mut &'w [Word<'w>],
    ) -> (&'w str, Option<Word<'w>>) {
        let text = word.prefix();
        let (option, attached) = if let Some((option, _)) =
            text.split_once('=').filter(|_| text.starts_with("--"))
        {
            (option, Some(option.len() + 1))
        } else {
            let letter = text.char_indices().skip(1).find(|(_, c)| self.letters.contains(*c));
            match letter.filter(|_| !text.starts_with("--")) {
                Some((at, c)) => (&text[at..at + c.len_utf8()], Some(at + 1).filter(|at| *at < text.len())),
                None => (text, None),
            }
        };
        let is_listed = option.len() > 2 && self.names.iter().any(|name| name.starts_with(option));
        let value = match attached {
            Some(at) => Some(word.skip_bytes(at)),
            None if is_listed || !option.starts_with('-') => words.split_off_first().cloned(),
            None => None,
        };
        (option, value)
    }
}

impl LineWalker<'_> {
    /// Finds the program of a simple command and its arguments. A directory that a wrapper changes to is the current
    /// one from then on.
    pub(crate) fn resolve_program<'w>(
        &mut self,
        mut words: &'w [Word<'w>],
    ) -> Option<(&'w str, &'w [Word<'w>])> {
        let (mut is_fed, mut is_reported, mut is_package) = (false, false, false);
        let mut wrappers = 0;
        loop {
            let first = words.split_off_first()?;
            let assigned = first.assigned_name().or_else(|| {
                // To `env`, a quoted assignment is one too.
                first.text().filter(|_| wrappers > 0)?.split_once('=').map(|(name, _)| name)
            });
            if let Some(name) = assigned {
                self.set_variable(name, first);
                continue;
            }
            let Some(text) = first.text() else {
                // One report has all words, so that many unknown words do not cost their square.
                if std::mem::replace(&mut is_reported, true) {
                    self.report_unparsed_word(first);
                } else {
                    self.report_unknown_program(first, words, is_fed);
                }
                self.note_code_input();
                // `a[…]=1`, or a builtin that evaluates its words.
                self.widen_evaluation(EvaluationScope::Subscripts);
                // `$GIT commit`, `$(which git) commit`.
                if names_git(first) {
                    return Some(("git", words));
                }
                // It may be empty, and then the next word is the program.
                if first.may_split() && first.prefix().is_empty() {
                    continue;
                }
                return None;
            };
            let text = if std::mem::take(&mut is_package) { strip_version(text) } else { text };
            let name = file_name(text);
            // Only the first wrappers have their words, so that many of them do not cost their square.
            let own_words = if wrappers < MOST_WITH_WORDS { words } else { &[] };
            if let Some(started) = find_started_command(name, words) {
                self.report_run(text, own_words, is_fed);
                self.report_program(name, words);
                self.is_remote |= started.is_remote;
                wrappers += 1;
                match started.form {
                    CommandForm::Words { from, is_package: is_named_by_package } => {
                        (words, is_package) = (&words[from..], is_named_by_package);
                        continue;
                    }
                    CommandForm::JoinedLine(from) if from == words.len() => return Some(("sh", &[])),
                    form => {
                        self.run_started_line(&form, words);
                        return None;
                    }
                }
            }
            let Some(wrapper) = find_wrapper(name) else {
                self.report_run(text, words, is_fed);
                self.git.is_fed |= is_fed;
                if is_fed && has_mutating_options(name) {
                    self.report_unparsed(&format!("`xargs`: what it reads may be an option of {name}"));
                }
                return Some((name, words));
            };
            self.report_run(text, own_words, false);
            wrappers += 1;
            is_fed |= name == "xargs";
            match name {
                // They may start nothing, or not wait for it.
                "xargs" | "setsid" => self.tree.revoke_current(),
                "exec" if !words.is_empty() => self.tree.note_exit(),
                _ => {}
            }
            let all_words = words;
            let is_doubtful = self.parse_wrapper_options(name, &wrapper, &mut words)?;
            if name == "xargs" {
                let options = &all_words[..all_words.len() - words.len()];
                if self.run_fed_command(options, words) {
                    return None;
                }
                self.note_fed_code(options, words);
            }
            // The value of an unknown option may precede the program.
            let is_known = |word: &Word| word.text().is_some_and(|text| is_known_program(file_name(text)));
            let runs_another =
                |word: &Word| word.text().is_some_and(|text| find_wrapper(file_name(text)).is_some());
            if is_doubtful
                && !words.first().is_some_and(|word| runs_another(word) || is_known(word))
                && let Some(at) = words.iter().position(is_known)
            {
                if let Some(program) = words[0].text() {
                    self.report_run(program, &words[1..], false);
                }
                words = &words[at..];
            }
        }
    }

    /// Runs a line that a runner gives to a shell.
    fn run_started_line(&mut self, form: &CommandForm, words: &[Word]) {
        let queued = self.nested.len();
        match form {
            CommandForm::Line(line) => self.run_word(line),
            CommandForm::JoinedLine(from) | CommandForm::Words { from, .. } => self.run_eval(&words[*from..]),
        }
        self.pass_status_from(queued);
    }

    /// Skips the options and operands of a wrapper. Returns whether the value of its last option may be the next word;
    /// `None` if the wrapper runs no other command.
    fn parse_wrapper_options<'w>(
        &mut self,
        name: &str,
        wrapper: &Wrapper,
        words: &mut &'w [Word<'w>],
    ) -> Option<bool> {
        let mut operands = wrapper.operands;
        let mut is_doubtful = false;
        while let Some(word) = words.first() {
            let text = word.prefix();
            if name == "env" && word.text() == Some("-") {
                // A lone `-` means `-i`.
            } else if !word.is_option() {
                if operands == 0 || (name == "timeout" && word.assigned_name().is_some()) {
                    break;
                }
                operands -= 1;
            } else if text == "--" {
                is_doubtful = false;
            } else if name == "command" && word.has_letter(&['v', 'V']) {
                return None;
            } else {
                *words = &words[1..];
                let (option, value) = wrapper.parse_option(word, words);
                is_doubtful = value.is_none();
                let is_long = |long: &str, least: usize| option.len() > least && long.starts_with(option);
                match (name, value) {
                    ("env" | "sudo", Some(value))
                        if matches!((name, option), ("env", "C") | ("sudo", "D"))
                            || is_long("--chdir", 4) =>
                    {
                        self.enter_directory(&value, "a command in an unknown directory");
                        self.note_command_site();
                    }
                    ("env", Some(value)) if option == "S" || is_long("--split-string", 2) => {
                        let rest = words.iter().filter_map(Word::text);
                        let line: Vec<_> = ["env"].into_iter().chain(value.text()).chain(rest).collect();
                        let queued = self.nested.len();
                        self.run_text(line.join(" "));
                        self.pass_status_from(queued);
                        return None;
                    }
                    ("time" | "strace" | "ltrace", Some(value))
                        if option == "o" || is_long("--output", 2) =>
                    {
                        self.report_write(&value);
                    }
                    ("xargs", Some(file)) if option == "a" || is_long("--arg-file", 2) => {
                        self.report_read(&file, ReadScope::File);
                    }
                    ("flock", _) if matches!(option, "-c" | "--command") => {
                        let queued = self.nested.len();
                        words.iter().take(1).for_each(|text| self.run_word(text));
                        self.pass_status_from(queued);
                        return None;
                    }
                    _ => {}
                }
                continue;
            }
            *words = &words[1..];
        }
        Some(is_doubtful)
    }

    /// `is_fed`: unknown words follow these.
    fn report_run(&mut self, program: &str, words: &[Word], is_fed: bool) {
        if program.contains('/') {
            self.run_written_script(program);
        }
        if let Some((arguments, unknown_arguments)) = self.split_arguments(words, is_fed) {
            let unknown_from = unknown_arguments.first().map(|unknown| unknown.at);
            let directory = self.place.known_directory().filter(|_| !self.is_remote).map(PathBuf::from);
            let length = directory.as_ref().map_or(0, |directory| directory.as_os_str().len());
            let program = program.to_owned();
            let cost = length + program.len();
            self.report_effect(
                Effect::Run { program, arguments, unknown_from, unknown_arguments, directory },
                cost,
            );
        }
    }

    fn report_unknown_program(&mut self, program: &Word, words: &[Word], is_fed: bool) {
        if let Some((arguments, unknown_arguments)) = self.split_arguments(words, is_fed) {
            let what = format!("`{}`", program.source);
            let cost = what.len() + size_of::<UnknownCommand>() + count_bytes(program);
            let command = UnknownCommand { program: describe_unknown(program), arguments, unknown_arguments };
            self.report_effect(Effect::Unparsed { what, command: Some(Box::new(command)) }, cost);
        }
    }

    /// The known arguments and the others; `None` if the budget does not last. `is_fed`: unknown words follow these.
    fn split_arguments(&self, words: &[Word], is_fed: bool) -> Option<(Vec<String>, Vec<UnknownArgument>)> {
        let cost = |word: &Word| match word.text() {
            Some(text) => text.len() + size_of::<String>(),
            None => count_bytes(word) + size_of::<UnknownArgument>(),
        };
        if !self.work.pay(words.iter().map(cost).sum()) {
            return None;
        }
        let (mut known, mut unknown) = (Vec::with_capacity(words.len()), Vec::new());
        for word in words {
            match word.text() {
                Some(text) => known.push(text.to_owned()),
                None => unknown.push(UnknownArgument { at: known.len(), word: describe_unknown(word) }),
            }
        }
        if is_fed {
            let fed = Word {
                source: "xargs",
                unknown: Some(UnknownPart { splits: true, may_dash: true }),
                ..Word::default()
            };
            unknown.push(UnknownArgument { at: known.len(), word: describe_unknown(&fed) });
        }
        Some((known, unknown))
    }
}

/// How many bytes an [`UnknownWord`] owns.
fn count_bytes(word: &Word) -> usize {
    word.source.len() + word.prefix().len() + word.tail.len()
}

fn describe_unknown(word: &Word) -> UnknownWord {
    UnknownWord {
        source: word.source.to_owned(),
        prefix: word.prefix().to_owned(),
        tail: word.tail.clone(),
        splits: word.may_split(),
        may_dash: word.unknown.is_some_and(|unknown| unknown.may_dash),
    }
}

/// Whether the source of an unknown program names git.
fn names_git(word: &Word) -> bool {
    let source = word.source.to_ascii_lowercase();
    source.starts_with(['$', '`', '"'])
        && source.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == "git")
}

fn file_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
