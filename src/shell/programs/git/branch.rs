//! Which commands of git check out another branch. [`updates`](super::updates) has those that give a branch
//! other commits.

use std::rc::Rc;

use super::super::Found;
use super::super::options::{Item, Name, Options, STRICT, Walk};
use super::options;
use crate::effect::Effect;
use crate::effect::git::{GitSite, Switch, SwitchTarget, UpdateKind, UpdatedBranch};
use crate::shell::flow::Op;
use crate::shell::word::Word;
use crate::shell::{LONGEST_PATH, Line};

impl Line<'_> {
    /// What a command of git does to branches.
    pub(super) fn follow_branches(&mut self, command: &str, words: &[Word]) {
        match command {
            "commit" => {
                let site = self.git_site();
                let dry_run = is_dry_run(words);
                let cost = cost_of(&site);
                let at = self.effects.len();
                self.push(Effect::Commit { site: Box::new(site), dry_run }, cost);
                self.record(Op::Site(at));
            }
            "switch" | "checkout" => self.check_out(command == "checkout", words),
            "symbolic-ref" => self.symbolic_ref(words),
            "branch" => self.branch_command(words),
            "worktree" => self.worktree(words),
            "stash" if words.first().and_then(Word::known) == Some("branch") => {
                let name = words.get(1).and_then(Word::known);
                self.switch_to(name.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned())));
            }
            "bisect" if !words.is_empty() => {
                let is_reading = matches!(words[0].known(), Some("log" | "terms" | "visualize" | "view"));
                if !is_reading {
                    self.switch_to(SwitchTarget::Unknown);
                }
            }
            _ => self.update(command, words),
        }
    }

    fn check_out(&mut self, checkout: bool, words: &[Word]) {
        let Some((target, moved)) = switch_target(checkout, words, self.git.is_fed) else { return };
        // `-B NAME` and `-b NAME` also give the branch the commit that it starts from.
        if let (SwitchTarget::New(name), Some((kind, start))) = (&target, moved) {
            let command = if checkout { "checkout" } else { "switch" };
            self.update_named(command, UpdatedBranch::Named(name.clone()), kind, start.as_deref());
        }
        self.switch_to(target);
    }

    /// `git symbolic-ref NAME TARGET`: what NAME gets from now on, TARGET gets.
    fn symbolic_ref(&mut self, words: &[Word]) {
        let found = found(words, "qm:", "--quiet --recurse --short");
        let [name, target] = &*found.operands else { return };
        let branch = target.known().and_then(|text| text.strip_prefix("refs/heads/"));
        match name.known() {
            Some("HEAD") | None => {
                let target = branch.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned()));
                self.switch_to(target);
            }
            Some(name) => {
                if let Some(name) = name.strip_prefix("refs/heads/") {
                    for branch in [Some(name), branch].into_iter().flatten() {
                        self.update_branch("symbolic-ref", branch, None);
                    }
                    self.switch_to(SwitchTarget::Unknown);
                    self.record(Op::Doubt);
                }
            }
        }
    }

    /// A command of git that is not known here may be an alias for a switch.
    pub(super) fn follow_alias(&mut self, words: &[Word]) {
        let is_main = |word: &&Word| matches!(word.known(), Some("main" | "master"));
        if let Some(name) = words.iter().find(is_main).and_then(Word::known) {
            self.switch_to(SwitchTarget::Existing { name: name.to_owned(), or_path: true });
            self.record(Op::Doubt);
        }
    }

    /// What git is told is not known: afterwards, anything may be checked out.
    pub(super) fn lose_branch(&mut self) {
        self.switch_to(SwitchTarget::Unknown);
        self.record(Op::Doubt);
    }

    pub(super) fn switch_to(&mut self, target: SwitchTarget) {
        let site = self.git_site();
        let places = site.repository.map_or(site.possible, |place| vec![place]);
        let name = match &target {
            SwitchTarget::New(name) | SwitchTarget::Existing { name, .. } | SwitchTarget::Made(name) => {
                name.len()
            }
            _ => 0,
        };
        // A branch is a file; no system has one with a longer name.
        let target = if name > LONGEST_PATH { SwitchTarget::Unknown } else { target };
        let cost = places.iter().map(|place| place.as_os_str().len()).sum::<usize>() + name;
        if self.work.pay(cost + size_of::<Switch>()) {
            self.record(Op::Switch(Rc::new(Switch { places, target, is_certain: true })));
        }
    }

    /// `git worktree add PATH [REVISION]`: what is checked out there.
    fn worktree(&mut self, words: &[Word]) {
        let Some((first, words)) = words.split_first() else { return };
        if first.known() == Some("move") {
            let found = found(words, "f", "--force");
            if let [_, to] = &*found.operands {
                self.work_tree_at(to.known(), SwitchTarget::Unknown);
            }
        }
        if first.known() != Some("add") {
            return;
        }
        let longs = "--checkout --detach --force --guess-remote --lock --orphan --quiet --reason= --track";
        let found = found(words, "b:B:dfq", longs);
        let Some(path) = found.operands.first().map(|word| word.known()) else { return };
        let made = found.options.iter().find(|(name, _)| matches!(name, Name::Letter('b' | 'B')));
        let start = found.operands.get(1);
        let target = match (made, start) {
            (Some((letter, value)), _) => {
                let kind = if *letter == Name::Letter('B') { UpdateKind::Moves } else { UpdateKind::Makes };
                let name = value.as_ref().and_then(Word::known);
                let branch =
                    name.map_or(UpdatedBranch::Unknown, |name| UpdatedBranch::Named(name.to_owned()));
                self.update_named(
                    "worktree add",
                    branch,
                    kind,
                    start.map_or(Some("HEAD"), |word| word.known()),
                );
                name.map(|name| SwitchTarget::New(name.into()))
            }
            _ if found.has('d', "--detach") => Some(SwitchTarget::Detached),
            (None, Some(name)) => {
                let existing = |name: &str| SwitchTarget::Existing { name: name.into(), or_path: false };
                name.known().map(existing)
            }
            (None, None) => {
                let name = path.and_then(|path| std::path::Path::new(path).file_name()?.to_str());
                name.map(|name| SwitchTarget::New(name.to_owned()))
            }
        };
        self.work_tree_at(path, target.unwrap_or(SwitchTarget::Unknown));
    }

    /// `path`: `None` where it is not known.
    fn work_tree_at(&mut self, path: Option<&str>, target: SwitchTarget) {
        let Some(repository) = self.git_site().repository else { return };
        let here = self.place.certain();
        let place = path.zip(here).map(|(path, here)| std::path::PathBuf::from(here).join(path));
        let places: Vec<_> = place.into_iter().collect();
        let length = places.first().map_or(0, |place| place.as_os_str().len());
        if self.work.pay(length + repository.as_os_str().len() + size_of::<Switch>()) {
            let target = SwitchTarget::WorkTree { repository, target: Box::new(target) };
            self.record(Op::Switch(Rc::new(Switch { places, target, is_certain: true })));
        }
    }
}

pub(super) fn cost_of(site: &GitSite) -> usize {
    size_of::<GitSite>()
        + site.repository.iter().chain(&site.possible).map(|path| path.as_os_str().len()).sum::<usize>()
}

pub(super) fn has_word(words: &[Word], name: &str) -> bool {
    words.iter().take_while(|word| word.known() != Some("--")).any(|word| word.known() == Some(name))
}

/// The operands and options of a command, where unknown options take no value.
pub(in crate::shell::programs) fn found<'w, 'a>(
    words: &'w [Word<'a>],
    letters: &'static str,
    longs: &'static str,
) -> Found<'w, 'a> {
    let options = Options { letters, longs, quiet: true, ..STRICT };
    let mut found = Found::default();
    for item in Walk::new(&options, words) {
        match item {
            Item::Operand(word) | Item::Doubtful(word) => found.operands.push(word),
            Item::Dashes => found.before_dashes = Some(found.operands.len()),
            Item::Known { name, value, .. } => found.options.push((name, value)),
            Item::Strange(_) => {}
        }
    }
    found
}

/// How a branch that is checked out is made, and the revision that it starts from where that is known.
type Start = (UpdateKind, Option<String>);

/// What `switch` and `checkout` check out; `None` if only files are restored. `is_fed`: more words follow.
fn switch_target(checkout: bool, words: &[Word], is_fed: bool) -> Option<(SwitchTarget, Option<Start>)> {
    let letters = if checkout { "b:B:dfmlpqt23" } else { "c:C:dfmqt" };
    let options = Options { letters, longs: options::SWITCH, ..STRICT };
    let mut found = Found::default();
    for item in Walk::new(&options, words) {
        match item {
            Item::Operand(word) => found.operands.push(word),
            Item::Dashes => found.before_dashes = Some(found.operands.len()),
            Item::Known { name, value, .. } => found.options.push((name, value)),
            Item::Strange(_) | Item::Doubtful(_) => return Some((SwitchTarget::Unknown, None)),
        }
    }
    let kind_of = |name: &Name| match name {
        Name::Letter('B') | Name::Long("--force-create") => Some(UpdateKind::Moves),
        Name::Letter('C') if !checkout => Some(UpdateKind::Moves),
        Name::Letter('b') | Name::Long("--create" | "--orphan") => Some(UpdateKind::Makes),
        Name::Letter('c') if !checkout => Some(UpdateKind::Makes),
        _ => None,
    };
    if let Some((name, value)) = found.options.iter().find(|(name, _)| kind_of(name).is_some()) {
        let is_empty = *name == Name::Long("--orphan");
        let start = match &*found.operands {
            _ if is_fed => None,
            [] => Some("HEAD".to_owned()),
            [start, ..] => start.known().map(str::to_owned),
        };
        let start = kind_of(name).filter(|_| !is_empty).map(|kind| (kind, start));
        let name = value.as_ref().and_then(Word::known);
        let target = name.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned()));
        return Some((target, start));
    }
    existing_target(checkout, &found, is_fed).map(|target| (target, None))
}

/// What is checked out where no branch is made.
fn existing_target(checkout: bool, found: &Found, is_fed: bool) -> Option<SwitchTarget> {
    let only_files = [('p', "--patch"), ('2', "--ours"), ('3', "--theirs"), ('\0', "--pathspec-from-file")];
    if checkout && only_files.iter().any(|(letter, long)| found.has(*letter, long)) {
        return None;
    }
    let behind = found.before_dashes.map_or(0, |before| found.operands.len() - before);
    let is_path_checkout = checkout && (behind > 0 || found.operands.len() > 1);
    match &*found.operands {
        _ if is_path_checkout || (checkout && is_fed && found.before_dashes.is_some()) => None,
        _ if is_fed => Some(SwitchTarget::Unknown),
        _ if found.has('d', "--detach") => Some(SwitchTarget::Detached),
        [] => None,
        [name] => Some(match name.known() {
            // A pattern, a magic word or a place below here: only a file can be called so.
            Some(text) if checkout && is_path(text) => return None,
            Some("-") => SwitchTarget::Previous(1),
            Some(text) if previous(text).is_some() => SwitchTarget::Previous(previous(text)?),
            Some(text) if found.has('t', "--track") => {
                // `origin/NAME` makes NAME.
                SwitchTarget::New(text.split_once('/').map_or(text, |(_, name)| name).to_owned())
            }
            Some(text) => {
                let or_path = checkout && found.before_dashes.is_none();
                SwitchTarget::Existing { name: text.to_owned(), or_path }
            }
            None => SwitchTarget::Unknown,
        }),
        _ => Some(SwitchTarget::Unknown),
    }
}

/// `@{-2}`.
fn previous(text: &str) -> Option<usize> {
    text.strip_prefix("@{-")?.strip_suffix('}')?.parse().ok()
}

fn is_path(text: &str) -> bool {
    text == "."
        || text == ".."
        || text.ends_with('/')
        || text.starts_with([':', '.', '/'])
        || text.contains(['*', '?'])
}

pub(super) fn is_dry_run(words: &[Word]) -> bool {
    let options = Options { letters: "qvsaeiopnzF:m:c:C:t:S::u::", longs: options::COMMIT, ..STRICT };
    let mut dry = false;
    for item in Walk::new(&options, words) {
        match item {
            Item::Known { name: Name::Long("--dry-run"), .. } => dry = true,
            Item::Known { name: Name::Not("--dry-run"), .. } => dry = false,
            // What is not known may take it back, or take it for a value.
            Item::Strange(_) | Item::Doubtful(_) => return false,
            _ => {}
        }
    }
    dry
}
