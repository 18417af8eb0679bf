//! The program of a simple command, behind assignments and programs that run another.
//!
//! `sudo env A=1 nice rm f` runs `rm`. Each wrapper counts as run, too, because a guard may allow the
//! one and not the other. An option that is not known here may take the next word for its value: then
//! the first word that can only be a program is taken as well.

use crate::effect::Effect;
use crate::shell::Line;
use crate::shell::arithmetic::Reach;
use crate::shell::word::Word;
use std::path::PathBuf;

/// A program that runs the command behind its options and operands.
struct Wrapper {
    /// Letters and names of the options that take the next word.
    letters: &'static str,
    names: &'static [&'static str],
    operands: usize,
}

fn wrapper(program: &str) -> Option<Wrapper> {
    let (letters, names, operands): (_, &[&str], _) = match program {
        "sudo" | "doas" => ("ugpCrtTDhRU", &["--user", "--group", "--chdir", "--host", "--prompt"], 0),
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
        "unshare" => ("GRSw", &["--root", "--wd", "--setuid", "--setgid"], 0),
        "chronic" | "linux32" | "linux64" | "unbuffer" => ("", &[], 0),
        _ if program.starts_with("ld-linux") || program == "ld.so" => {
            ("", &["--library-path", "--preload", "--argv0", "--audit", "--inhibit-rpath"], 0)
        }
        "command" | "builtin" | "nohup" | "setsid" | "busybox" => ("", &[], 0),
        _ => return None,
    };
    Some(Wrapper { letters, names, operands })
}

impl Line<'_> {
    /// The program of a simple command and its words. A directory that a wrapper changes to is
    /// the current one from then on.
    pub(in crate::shell) fn program<'w>(
        &mut self,
        mut words: &'w [Word<'w>],
    ) -> Option<(&'w str, &'w [Word<'w>])> {
        let (mut wrapped, mut fed) = (false, false);
        loop {
            let (first, rest) = words.split_first()?;
            words = rest;
            let assigned = first.assigned().or_else(|| {
                // To `env`, a quoted assignment is one too.
                first.known().filter(|_| wrapped)?.split_once('=').map(|(name, _)| name)
            });
            if let Some(name) = assigned {
                self.set(name, first);
                continue;
            }
            let Some(text) = first.known() else {
                self.obscure_word(first);
                // `a[…]=1`, or a builtin that evaluates its words.
                self.may_evaluate(Reach::Subscripts);
                // It may come to nothing, and then the next word is the program.
                if first.splits() && first.start().is_empty() && !names_git(first) {
                    continue;
                }
                // `$GIT commit`, `$(which git) commit`.
                return names_git(first).then_some(("git", words));
            };
            let name = base(text);
            if let Some(wrapper) = wrapper(name) {
                wrapped = true;
                fed |= name == "xargs";
                self.ran_program(text, &[], false);
                let doubtful = self.pass_options(name, &wrapper, &mut words)?;
                // The value of an option that is not known here may stand in front of the program.
                let is_known = |word: &Word| word.known().is_some_and(|text| super::is_known(base(text)));
                if doubtful
                    && !words
                        .first()
                        .is_some_and(|word| word.known().is_some_and(is_wrapper) || is_known(word))
                    && let Some(at) = words.iter().position(is_known)
                {
                    self.ran(words);
                    words = &words[at..];
                }
            } else {
                self.ran_program(text, words, fed);
                self.git.is_fed |= fed;
                if fed && super::is_steered(name) {
                    self.obscure(&format!("`xargs`: what it reads may be an option of {name}"));
                }
                return Some((name, words));
            }
        }
    }

    /// Passes the options and operands of a wrapper. Says whether it met an option with a value
    /// that may be the next word; `None` if the wrapper runs nothing more.
    fn pass_options<'w>(
        &mut self,
        name: &str,
        wrapper: &Wrapper,
        words: &mut &'w [Word<'w>],
    ) -> Option<bool> {
        let mut operands = wrapper.operands;
        let mut doubtful = false;
        while let Some((word, rest)) = words.split_first() {
            let text = word.start();
            // The same as `-i`.
            if name == "env" && word.known() == Some("-") {
                *words = rest;
                continue;
            }
            if !word.is_option() {
                if operands == 0 || (name == "timeout" && word.assigned().is_some()) {
                    break;
                }
                operands -= 1;
                *words = rest;
                continue;
            }
            *words = rest;
            if text == "--" {
                doubtful = false;
                continue;
            }
            if name == "command" && word.has_letter(&['v', 'V']) {
                return None;
            }
            let (option, attached) =
                if let Some((option, _)) = text.split_once('=').filter(|_| text.starts_with("--")) {
                    (option, Some(option.len() + 1))
                } else if text.starts_with("--") {
                    (text, None)
                } else {
                    match text.char_indices().skip(1).find(|(_, c)| wrapper.letters.contains(*c)) {
                        Some((at, c)) => {
                            (&text[at..at + c.len_utf8()], Some(at + 1).filter(|at| *at < text.len()))
                        }
                        None => (text, None),
                    }
                };
            let takes = if option.starts_with('-') {
                option.len() > 2 && wrapper.names.iter().any(|name| name.starts_with(option))
            } else {
                true
            };
            let value = match attached {
                Some(at) => Some(word.behind(at)),
                None if takes => {
                    let value = words.first().cloned();
                    *words = words.get(1..).unwrap_or_default();
                    value
                }
                None => None,
            };
            doubtful = value.is_none();
            match (name, option, value) {
                ("env", "C", Some(value)) | ("sudo", "D", Some(value)) => self.enter(&value),
                ("env" | "sudo", _, Some(value)) if option.len() > 4 && "--chdir".starts_with(option) => {
                    self.enter(&value);
                }
                ("env", _, Some(value))
                    if option == "S" || (option.len() > 2 && "--split-string".starts_with(option)) =>
                {
                    let rest = words.iter().filter_map(Word::known);
                    let line: Vec<_> = ["env"].into_iter().chain(value.known()).chain(rest).collect();
                    self.run(line.join(" "));
                    return None;
                }
                ("time" | "strace" | "ltrace", _, Some(value))
                    if option == "o" || (option.len() > 2 && "--output".starts_with(option)) =>
                {
                    self.write(&value);
                }
                ("flock", "-c" | "--command", _) => {
                    words.iter().take(1).for_each(|text| self.run_word(text));
                    return None;
                }
                _ => {}
            }
        }
        if name == "flock"
            && words.first().is_some_and(|word| matches!(word.known(), Some("-c" | "--command")))
        {
            words.iter().skip(1).take(1).for_each(|text| self.run_word(text));
            return None;
        }
        Some(doubtful)
    }

    fn enter(&mut self, directory: &Word) {
        let lost = match directory.known() {
            Some(text) => self.place.enter(text, self.work),
            None => Some("a command in an unknown directory"),
        };
        if let Some(what) = lost {
            self.obscure(what);
        }
    }

    fn ran(&mut self, words: &[Word]) {
        if let Some((Some(program), rest)) = words.split_first().map(|(first, rest)| (first.known(), rest)) {
            self.ran_program(program, rest, false);
        }
    }

    /// `fed`: words that nobody knows come behind these.
    fn ran_program(&mut self, program: &str, words: &[Word], fed: bool) {
        let known = words.iter().filter_map(Word::known);
        let cost = known.clone().map(|text| text.len() + size_of::<String>()).sum::<usize>() + program.len();
        if self.work.pay(cost) {
            let arguments: Vec<String> = known.map(str::to_owned).collect();
            let unknown_from = words
                .iter()
                .position(|word| word.known().is_none())
                .or_else(|| fed.then_some(arguments.len()));
            let directory = self.place.certain().map(PathBuf::from);
            let length = directory.as_ref().map_or(0, |directory| directory.as_os_str().len());
            self.push(
                Effect::Run { program: program.to_owned(), arguments, unknown_from, directory },
                length,
            );
        }
    }
}

/// Whether a program that is not known is git by the words that make it.
fn names_git(word: &Word) -> bool {
    let source = word.source().to_ascii_lowercase();
    source.starts_with(['$', '`', '"'])
        && source.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == "git")
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_wrapper(program: &str) -> bool {
    wrapper(base(program)).is_some()
}
