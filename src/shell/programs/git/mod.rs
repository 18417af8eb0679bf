//! `git`: which of its commands read, which change something, and where a commit lands.
//!
//! A command is found behind the options of git itself. [`commands`] says what kind it is; those
//! that read in some forms only are judged by [`forms`]; [`branch`] follows the branch from one
//! command of a line to the next, [`updates`] says which branches get commits, [`files`] which files
//! change. A command that is not known may be an alias for anything.

mod branch;
mod commands;
mod context;
mod files;
mod forms;
mod named_files;
mod options;
mod programs;
mod settings;
mod updates;

pub(super) use branch::found;
pub(in crate::shell) use context::GitContext;
pub(super) use settings::verifies;

use super::Caller;
use crate::shell::Line;
use crate::shell::word::Word;
use commands::Kind;
use context::GitDirectory;
use settings::Setting;

const GIT: Caller = Caller { program: "git", command: "" };
const RUNS: &str = "runs another program";
const UNKNOWN_DIRECTORY: &str = "git in an unknown directory";

impl Line<'_> {
    pub(super) fn git(&mut self, words: &[Word]) {
        let mut words = words;
        while let Some((word, rest)) = words.split_first() {
            let text = word.start();
            if !text.starts_with('-') {
                break;
            }
            words = rest;
            let (name, attached) = match text.split_once('=') {
                Some((name, _)) => (name, Some(word.behind(name.len() + 1))),
                None if word.known().is_none() => return self.lost(word),
                None => (text, None),
            };
            let mut value = || {
                attached.clone().or_else(|| {
                    let (first, rest) = words.split_first()?;
                    words = rest;
                    Some(first.clone())
                })
            };
            match name {
                "-C" => {
                    if let Some(value) = value() {
                        self.enter_repository(&value);
                    }
                }
                "-c" => {
                    if let Some(value) = value() {
                        self.setting(&value);
                    }
                }
                "--git-dir" => {
                    let path = value();
                    self.needs_known(path.as_ref());
                    self.git.directory = self.git_directory(path.as_ref().and_then(Word::known));
                }
                "--work-tree" => {
                    let path = value();
                    self.needs_known(path.as_ref());
                    self.git.work_tree = path.as_ref().and_then(Word::known).map(Into::into);
                }
                "--config-env" => {
                    let pair = value();
                    self.setting_from_variable(pair.as_ref().and_then(Word::known));
                }
                "--namespace" | "--super-prefix" | "--attr-source" => {
                    let _ = value();
                }
                "--no-pager"
                | "-P"
                | "--no-replace-objects"
                | "--no-lazy-fetch"
                | "--no-optional-locks"
                | "--no-advice"
                | "--literal-pathspecs"
                | "--glob-pathspecs"
                | "--noglob-pathspecs"
                | "--icase-pathspecs"
                | "--bare" => {}
                "-p" | "--paginate" => self.act(GIT, name, "runs a pager"),
                "--exec-path" if attached.is_some() => self.act(GIT, name, RUNS),
                "--exec-path" | "--html-path" | "--man-path" | "--info-path" | "--version" | "-v"
                | "--help" | "-h" | "--list-cmds" => return,
                _ => return self.lost(word),
            }
        }
        let Some((command, words)) = words.split_first() else {
            if self.git.is_fed {
                self.lose_branch();
            }
            return;
        };
        let Some(name) = command.known() else { return self.lost(command) };
        self.run_given_programs(name, words);
        let Some(kind) = commands::kind(name) else { return self.git_alias(name, words) };
        if let [only] = words
            && matches!(only.known(), Some("-h" | "--help"))
        {
            return;
        }
        let caller = Caller { program: "git", command: name };
        match kind {
            Kind::Reads(options) => {
                self.judge(caller, options, words);
            }
            Kind::Form => self.git_form(caller, words),
            Kind::Does(_) if name == "commit" && branch::is_dry_run(words) => {}
            Kind::Does(does) => self.act(caller, "", does),
        }
        if let ("config", Some((alias, value))) = (name, written_setting(words)) {
            self.git.learn_alias(alias, value);
            self.run_setting(alias, value);
        }
        self.follow_branches(name, words);
        self.change_files(name, words);
    }

    /// A command that is not known may be an alias; one that the line itself has made is followed.
    fn git_alias(&mut self, name: &str, words: &[Word]) {
        self.obscure(&format!("`{name}`: a command of git that is not known here"));
        let is_it = |(alias, _): &&(String, String)| alias.eq_ignore_ascii_case(name);
        let Some((_, value)) = self.git.aliases.iter().rfind(is_it).cloned() else {
            self.update(name, words);
            return self.follow_alias(words);
        };
        let line = match value.strip_prefix('!') {
            Some(text) => text.to_owned(),
            None => format!("git {value}"),
        };
        let rest: Vec<&str> = words.iter().map(Word::source).collect();
        self.run(format!("{line} {}", rest.join(" ")));
    }

    /// An option or a command of git itself that is not known: what follows may be anything.
    fn lost(&mut self, word: &Word) {
        self.lose_branch();
        if word.known().is_some() { self.strange(GIT, word) } else { self.doubt(GIT, word) }
    }

    /// Files in a repository tell git what to run, so it must be known which one is meant.
    fn needs_known(&mut self, directory: Option<&Word>) {
        if directory.is_some_and(|word| word.known().is_none()) {
            self.obscure(UNKNOWN_DIRECTORY);
        }
    }

    fn enter_repository(&mut self, directory: &Word) {
        let lost = match directory.known() {
            Some("") => None,
            Some(text) => self.place.enter(text, self.work),
            None => {
                self.git.directory = GitDirectory::Unknown;
                Some(UNKNOWN_DIRECTORY)
            }
        };
        if let Some(what) = lost {
            self.obscure(what);
        }
    }

    /// `-c name=value`.
    fn setting(&mut self, word: &Word) {
        let text = word.start();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => {
                self.git.learn_alias(name, value);
                (name, word.known().map(|_| value))
            }
            None if word.known().is_none() => return self.obscure_word(word),
            None => (text, Some("true")),
        };
        match settings::setting(name, value) {
            Setting::Harmless => {}
            Setting::Runs => {
                self.act(GIT, &format!("-c {name}"), RUNS);
                // An alias that the line makes is followed where it is used.
                if !name.to_ascii_lowercase().starts_with("alias.") {
                    self.run_setting(name, value.unwrap_or_default());
                }
            }
            Setting::Unknown => {
                self.obscure(&format!("`-c {name}`: a setting of git that is not known here"));
            }
        }
    }
}

/// The name and the value of `git config NAME VALUE`.
fn written_setting<'w>(words: &'w [Word]) -> Option<(&'w str, &'w str)> {
    let found = found(words, "elzf:t:", options::CONFIG);
    let mut operands = found.operands.into_iter().filter_map(Word::known);
    let mut name = operands.next()?;
    if name == "set" {
        name = operands.next()?;
    }
    Some((name, operands.next()?))
}
