//! Git commands that check out another branch.
//!
//! [`branch_updates`](super::branch_updates) has those that give a branch other commits.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::super::options::{OptionName, OptionTable, ParsedArguments, STRICT};
use super::options;
use crate::effect::Effect;
use crate::effect::git::{BranchSwitch, CommitMessage, GitSite, SwitchTarget, UpdateKind, UpdatedBranch};
use crate::flow::{FlowStep, SiteOwner};
use crate::word::Word;
use crate::{LONGEST_PATH, LineWalker};

impl LineWalker<'_> {
    /// Reports what a git command does to branches.
    pub(super) fn report_branch_effects(&mut self, command: &str, words: &[Word]) {
        match (command, words.first().map(Word::text)) {
            ("commit", _) => {
                let site = self.git_site();
                let cost = site_cost(&site);
                let at = self.effects.len();
                let arguments = parse_commit(words);
                let dry_run = is_dry_run(&arguments);
                let message = CommitMessage::NotGiven;
                let commit = Effect::Commit { site: Box::new(site), dry_run, message };
                self.report_effect(commit, cost);
                self.note_message(&arguments, at);
                self.record_step(FlowStep::Site(SiteOwner::Effect(at)));
            }
            ("switch" | "checkout", _) => self.report_checkout(command == "checkout", words),
            ("symbolic-ref", _) => self.report_symbolic_ref(words),
            ("branch", _) => self.report_branch_command(words),
            ("worktree", _) => self.report_worktree(words),
            ("stash", Some(Some("branch"))) => {
                self.record_switch(new_branch(words.get(1).and_then(Word::text)));
            }
            ("bisect", Some(Some("log" | "terms" | "visualize" | "view"))) => {}
            ("bisect", Some(_)) => self.record_switch(SwitchTarget::Unknown),
            _ => self.report_branch_updates(command, words),
        }
    }

    fn report_checkout(&mut self, checkout: bool, words: &[Word]) {
        let Some((target, start)) = parse_switch_target(checkout, words, self.git.is_fed) else { return };
        // `-B NAME` and `-b NAME` also move the branch to the commit that it starts from.
        if let (SwitchTarget::New(name), Some((kind, start))) = (&target, start) {
            let command = if checkout { "checkout" } else { "switch" };
            self.report_update(command, UpdatedBranch::Named(name.clone()), kind, start.as_deref());
        }
        self.record_switch(target);
    }

    /// `git symbolic-ref NAME TARGET`: commits to NAME land on TARGET from now on.
    fn report_symbolic_ref(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "qm:", "--quiet --recurse --short");
        let [name, target] = &*arguments.operands else { return };
        let branch = target.text().and_then(|text| text.strip_prefix("refs/heads/"));
        match name.text() {
            Some("HEAD") | None => self.record_switch(new_branch(branch)),
            Some(name) => {
                if let Some(name) = name.strip_prefix("refs/heads/") {
                    for branch in [Some(name), branch].into_iter().flatten() {
                        self.report_named_update("symbolic-ref", branch, None);
                    }
                    self.record_unknown_switch();
                }
            }
        }
    }

    /// Records a switch for an unknown command, which may be an alias for one.
    pub(super) fn assume_alias_switches(&mut self, words: &[Word]) {
        let is_main = |word: &&Word| matches!(word.text(), Some("main" | "master"));
        if let Some(name) = words.iter().find(is_main).and_then(Word::text) {
            self.record_switch(existing_branch(Some(name), true));
            self.record_step(FlowStep::Doubt);
        }
    }

    /// Records that anything may be checked out from here on.
    pub(super) fn record_unknown_switch(&mut self) {
        self.record_switch(SwitchTarget::Unknown);
        self.record_step(FlowStep::Doubt);
    }

    pub(super) fn record_switch(&mut self, target: SwitchTarget) {
        let site = self.git_site();
        let places = site.repository.map_or(site.possible, |place| vec![place]);
        let name = match &target {
            SwitchTarget::New(name) | SwitchTarget::Existing { name, .. } | SwitchTarget::Created(name) => {
                name.len()
            }
            _ => 0,
        };
        // A branch is a file; no system has one with a longer name.
        let target = if name > LONGEST_PATH { SwitchTarget::Unknown } else { target };
        self.record_switch_at(places, target, name);
    }

    /// `cost`: the bytes of the target.
    fn record_switch_at(&mut self, places: Vec<PathBuf>, target: SwitchTarget, cost: usize) {
        let cost = cost + places.iter().map(|place| place.as_os_str().len()).sum::<usize>();
        if self.work.pay(cost + size_of::<BranchSwitch>()) {
            self.record_step(FlowStep::Switch(Rc::new(BranchSwitch { places, target, is_certain: true })));
        }
    }

    /// `git worktree add PATH [REVISION]` checks out a branch at PATH.
    fn report_worktree(&mut self, words: &[Word]) {
        let Some((first, words)) = words.split_first() else { return };
        if first.text() == Some("move") {
            let arguments = ParsedArguments::parse(words, "f", "--force");
            if let [_, to] = &*arguments.operands {
                self.record_new_worktree(to.text(), SwitchTarget::Unknown);
            }
        }
        if first.text() != Some("add") {
            return;
        }
        let longs = "--checkout --detach --force --guess-remote --lock --orphan --quiet --reason= --track";
        let arguments = ParsedArguments::parse(words, "b:B:dfq", longs);
        let Some(path) = arguments.operands.first().map(|word| word.text()) else { return };
        let start = arguments.operands.get(1).map(|word| word.text());
        let is_new = |name: &OptionName| matches!(name, OptionName::Letter('b' | 'B'));
        let target = if let Some((letter, value)) = arguments.options.iter().find(|(name, _)| is_new(name)) {
            let kind =
                if *letter == OptionName::Letter('B') { UpdateKind::Moves } else { UpdateKind::Creates };
            let name = value.as_ref().and_then(Word::text);
            self.report_update("worktree add", named_branch(name), kind, start.unwrap_or(Some("HEAD")));
            new_branch(name)
        } else if arguments.has('d', "--detach") {
            SwitchTarget::Detached
        } else if let Some(name) = start {
            existing_branch(name, false)
        } else {
            new_branch(path.and_then(|path| Path::new(path).file_name()?.to_str()))
        };
        self.record_new_worktree(path, target);
    }

    /// `path`: `None` if it is unknown.
    fn record_new_worktree(&mut self, path: Option<&str>, target: SwitchTarget) {
        let Some(repository) = self.git_site().repository else { return };
        let place = path.zip(self.place.known_directory()).map(|(path, here)| Path::new(&here).join(path));
        let cost = repository.as_os_str().len();
        let target = SwitchTarget::WorkTree { repository, target: Box::new(target) };
        self.record_switch_at(place.into_iter().collect(), target, cost);
    }
}

pub(super) fn site_cost(site: &GitSite) -> usize {
    size_of::<GitSite>()
        + site.repository.iter().chain(&site.possible).map(|path| path.as_os_str().len()).sum::<usize>()
}

pub(super) fn new_branch(name: Option<&str>) -> SwitchTarget {
    name.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned()))
}

pub(super) fn existing_branch(name: Option<&str>, or_path: bool) -> SwitchTarget {
    name.map_or(SwitchTarget::Unknown, |name| SwitchTarget::Existing { name: name.to_owned(), or_path })
}

pub(super) fn named_branch(name: Option<&str>) -> UpdatedBranch {
    name.map_or(UpdatedBranch::Unknown, |name| UpdatedBranch::Named(name.to_owned()))
}

/// How a branch that is checked out is made, and the revision that it starts from if that is known.
type BranchStart = (UpdateKind, Option<String>);

/// What `switch` and `checkout` check out; `None` if they only restore files. `is_fed`: more words follow.
fn parse_switch_target(
    checkout: bool,
    words: &[Word],
    is_fed: bool,
) -> Option<(SwitchTarget, Option<BranchStart>)> {
    let letters = if checkout { "b:B:dfmlpqt23" } else { "c:C:dfmqt" };
    let table = OptionTable { letters, longs: options::SWITCH, ..STRICT };
    let arguments = ParsedArguments::parse_with(&table, words);
    if arguments.is_uncertain {
        return Some((SwitchTarget::Unknown, None));
    }
    let creation = arguments.options.iter().find_map(|(name, value)| match name {
        OptionName::Letter('B' | 'C') | OptionName::Long("--force-create") => {
            Some((name, value, UpdateKind::Moves))
        }
        OptionName::Letter('b' | 'c') | OptionName::Long("--create" | "--orphan") => {
            Some((name, value, UpdateKind::Creates))
        }
        _ => None,
    });
    let Some((name, value, kind)) = creation else {
        return parse_existing_target(checkout, &arguments, is_fed).map(|target| (target, None));
    };
    let start = match &*arguments.operands {
        _ if is_fed => None,
        [] => Some("HEAD".to_owned()),
        [start, ..] => start.text().map(str::to_owned),
    };
    let has_commits = *name != OptionName::Long("--orphan");
    Some((new_branch(value.as_ref().and_then(Word::text)), has_commits.then_some((kind, start))))
}

/// What is checked out if no branch is created.
fn parse_existing_target(checkout: bool, arguments: &ParsedArguments, is_fed: bool) -> Option<SwitchTarget> {
    let only_files = [('p', "--patch"), ('2', "--ours"), ('3', "--theirs"), ('\0', "--pathspec-from-file")];
    if checkout && only_files.iter().any(|(letter, long)| arguments.has(*letter, long)) {
        return None;
    }
    let behind = arguments.before_dashes.map_or(0, |before| arguments.operands.len() - before);
    let is_path_checkout = checkout && (behind > 0 || arguments.operands.len() > 1);
    match &*arguments.operands {
        _ if is_path_checkout || (checkout && is_fed && arguments.before_dashes.is_some()) => None,
        _ if is_fed => Some(SwitchTarget::Unknown),
        _ if arguments.has('d', "--detach") => Some(SwitchTarget::Detached),
        [] => None,
        [name] => Some(match name.text() {
            // A pattern, a magic word or a path below this directory can only be a file.
            Some(text) if checkout && is_path(text) => return None,
            Some("-") => SwitchTarget::Previous(1),
            Some(text) if parse_previous(text).is_some() => SwitchTarget::Previous(parse_previous(text)?),
            // `origin/NAME` creates NAME.
            Some(text) if arguments.has('t', "--track") => {
                new_branch(Some(text.split_once('/').map_or(text, |(_, name)| name)))
            }
            name => existing_branch(name, checkout && arguments.before_dashes.is_none()),
        }),
        _ => Some(SwitchTarget::Unknown),
    }
}

/// `@{-2}`.
fn parse_previous(text: &str) -> Option<usize> {
    text.strip_prefix("@{-")?.strip_suffix('}')?.parse().ok()
}

fn is_path(text: &str) -> bool {
    text.ends_with('/') || text.starts_with([':', '.', '/']) || text.contains(['*', '?'])
}

/// The arguments of `git commit`.
pub(super) fn parse_commit<'w, 'a>(words: &'w [Word<'a>]) -> ParsedArguments<'w, 'a> {
    let table = OptionTable { letters: "qvsaeiopnzF:m:c:C:t:S::u::", longs: options::COMMIT, ..STRICT };
    ParsedArguments::parse_with(&table, words)
}

/// Whether `git commit` has `--dry-run`. An unknown argument may take it back, or take it as a value.
pub(super) fn is_dry_run(arguments: &ParsedArguments) -> bool {
    arguments.has('\0', "--dry-run") && !arguments.is_uncertain
}
