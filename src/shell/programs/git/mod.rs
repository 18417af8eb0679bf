//! `git`: which of its commands read, which change something, and where a commit lands.
//!
//! A command is found behind the options of git itself. [`commands`] says what kind it is; those
//! that read in some forms only are judged by [`forms`]; [`branch`] follows the branch from one
//! command of a line to the next. A command that is not known may be an alias for anything.

mod branch;
mod commands;
mod forms;
mod options;
mod settings;

pub(in crate::shell) use branch::{Branches, forget_branches};
pub(super) use settings::verifies;

use super::Caller;
use crate::effect::{Branch, Effect};
use crate::shell::Line;
use crate::shell::word::Word;
use commands::Kind;
use settings::Setting;
use std::path::PathBuf;

const GIT: Caller = Caller { program: "git", command: "" };
const RUNS: &str = "runs another program";
const UNKNOWN_DIRECTORY: &str = "git in an unknown directory";

impl Line<'_> {
    pub(super) fn git(&mut self, words: &[Word]) {
        let mut words = words;
        // Where `--git-dir` points to; `None` inside: not known.
        let mut directory = None;
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
                    let path = path.and_then(|word| word.known().map(PathBuf::from));
                    directory =
                        Some(path.and_then(|path| Some(PathBuf::from(self.place.certain()?).join(path))));
                }
                "--work-tree" => {
                    let path = value();
                    self.needs_known(path.as_ref());
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
        let Some((command, words)) = words.split_first() else { return };
        let Some(name) = command.known() else { return self.lost(command) };
        let Some(kind) = commands::kind(name) else {
            self.branches.lose();
            return self.obscure(&format!("`{name}`: a command of git that is not known here"));
        };
        if let [only] = words
            && matches!(only.known(), Some("-h" | "--help"))
        {
            return;
        }
        let is_here = directory.is_none() && !self.branches.is_elsewhere;
        let repository = match directory {
            Some(directory) => directory,
            None if is_here => self.place.certain().map(PathBuf::from),
            None => None,
        };
        let caller = Caller { program: "git", command: name };
        match kind {
            Kind::Reads(options) => {
                self.judge(caller, options, words);
            }
            Kind::Form => self.git_form(caller, words),
            Kind::Does(_) if name == "commit" && branch::is_dry_run(words) => {}
            Kind::Does(does) => self.act(caller, "", does),
        }
        match name {
            "commit" => self.commit(words, repository, is_here),
            "switch" | "checkout" => self.branches.follow(name == "checkout", words, repository),
            _ if branch::may_move(name, words) => self.branches.lose(),
            _ => {}
        }
    }

    /// A commit in a repository, or where that is not certain, in one of the current directories.
    fn commit(&mut self, words: &[Word], repository: Option<PathBuf>, is_here: bool) {
        let branch = self.branches.known(repository.as_deref());
        let dry_run = branch::is_dry_run(words);
        let is_uncertain = repository.is_none() && is_here;
        let possible = if is_uncertain { self.place.possible() } else { Vec::new() };
        let named = if let Branch::Named(name) = &branch { name.len() } else { 0 };
        let cost =
            named + repository.iter().chain(&possible).map(|path| path.as_os_str().len()).sum::<usize>();
        self.push(Effect::Commit { repository, possible, branch, dry_run }, cost);
    }

    /// An option or a command of git itself that is not known: what follows may be anything.
    fn lost(&mut self, word: &Word) {
        self.branches.lose();
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
                self.branches.is_elsewhere = true;
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
            Some((name, value)) => (name, word.known().map(|_| value)),
            None if word.known().is_none() => return self.obscure_word(word),
            None => (text, Some("true")),
        };
        match settings::setting(name, value) {
            Setting::Harmless => {}
            Setting::Runs => self.act(GIT, &format!("-c {name}"), RUNS),
            Setting::Unknown => {
                self.obscure(&format!("`-c {name}`: a setting of git that is not known here"));
            }
        }
    }
}
