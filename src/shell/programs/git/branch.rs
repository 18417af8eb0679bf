//! Which commands of git check out another branch, and which give a branch other commits.

use std::rc::Rc;

use super::super::Found;
use super::super::options::{Item, Name, Options, STRICT, Walk};
use super::options;
use crate::effect::Effect;
use crate::effect::git::{BranchUpdate, GitSite, Switch, SwitchTarget};
use crate::shell::flow::Op;
use crate::shell::word::Word;
use crate::shell::{LONGEST_PATH, Line};

/// What `merge`, `pull`, `rebase`, `cherry-pick`, `revert`, `am` and `reset` take values for.
const VALUES: &str = "\
    --cleanup= --committer-date-is-author-date --directory= --empty= --exclude= --exec= --file= --gpg-sign \
    --include= --into-name= --mainline= --message= --onto= --patch-format= --pathspec-from-file= \
    --rebase --resolvemsg= --strategy= --strategy-option= --whitespace=";

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
            "switch" | "checkout" => {
                if let Some(target) = switch_target(command == "checkout", words, self.git.is_fed) {
                    self.switch_to(target);
                }
            }
            "symbolic-ref" => {
                let found = found(words, "qm:", "--quiet --recurse --short");
                if let [head, target] = &*found.operands
                    && head.known() != Some("refs/remotes/origin/HEAD")
                {
                    let branch = target.known().and_then(|text| text.strip_prefix("refs/heads/"));
                    self.switch_to(
                        branch.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned())),
                    );
                }
            }
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
            "rebase" => self.rebase(words),
            "merge" => self.merge(words),
            "pull" | "fetch" | "push" => self.transfer(command, words),
            "cherry-pick" | "revert" | "am" => {
                let found = found(words, "enrsxqkcu3iSm:X:C:p:", VALUES);
                let stops =
                    ["--abort", "--quit", "--show-current-patch"].iter().any(|name| has_word(words, name));
                let is_kept = command != "am" && (found.has('n', "") || has_word(words, "--no-commit"));
                if !stops && !is_kept && !words.is_empty() {
                    let name = match command {
                        "cherry-pick" => "cherry-pick",
                        "revert" => "revert",
                        _ => "am",
                    };
                    self.update_branch(name, None, None);
                }
            }
            "reset" => {
                let found = found(words, "qpN", VALUES);
                if let ([from], None) = (&*found.operands, found.before_dashes) {
                    self.update_branch("reset", None, from.known());
                }
            }
            "update-ref" => {
                let found = found(words, "dzm:", "--create-reflog --no-deref --stdin");
                if let [name, new, ..] = &*found.operands {
                    match name.known() {
                        Some("HEAD") => self.update_branch("update-ref", None, new.known()),
                        Some(name) => {
                            if let Some(branch) = name.strip_prefix("refs/heads/") {
                                self.update_branch("update-ref", Some(branch), new.known());
                            }
                        }
                        None => {}
                    }
                }
            }
            _ => {}
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

    fn switch_to(&mut self, target: SwitchTarget) {
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

    fn update_branch(&mut self, command: &'static str, branch: Option<&str>, from: Option<&str>) {
        let site = self.git_site();
        let is_short = |text: &&str| text.len() <= LONGEST_PATH;
        let (branch, from) = (branch.map(str::to_owned), from.filter(is_short).map(str::to_owned));
        let text = branch.as_ref().map_or(0, String::len) + from.as_ref().map_or(0, String::len);
        let cost = cost_of(&site) + text;
        let at = self.effects.len();
        self.push(Effect::UpdateBranch(Box::new(BranchUpdate { command, site, branch, from })), cost);
        self.record(Op::Site(at));
    }

    fn branch_command(&mut self, words: &[Word]) {
        let longs = "--copy --delete --edit-description --force --list --move --no-track --quiet \
                     --set-upstream-to= --show-current --track --unset-upstream";
        let found = found(words, "adfiqrvtlmMcCDu:", longs);
        let has = |letter: char, long: &str| found.has(letter, long);
        let operands: Vec<Option<&str>> = found.operands.iter().map(|word| word.known()).collect();
        let is_forced = has('f', "--force") || has('M', "") || has('C', "");
        if has('m', "--move") || has('M', "") {
            let (old, new) = match &*operands {
                [new] => (None, *new),
                [old, new] => (*old, *new),
                _ => return,
            };
            if let (Some(name), true) = (new, is_forced) {
                self.update_branch("branch -M", Some(name), old.or(Some("HEAD")));
            }
            let target = new.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned()));
            self.switch_to(target);
            if operands.len() == 2 {
                // Only if the branch that is renamed is checked out.
                self.record(Op::Doubt);
            }
        } else if has('c', "--copy") || has('C', "") {
            if let Some(Some(name)) = operands.last()
                && is_forced
            {
                self.update_branch("branch -C", Some(name), operands.first().copied().flatten());
            }
        } else if let [Some(name), start @ ..] = &*operands {
            let lists = ["--delete", "--list", "--show-current"].iter().any(|long| has('\0', long));
            if lists || has('d', "") || has('D', "") || has('l', "") {
                return;
            }
            if has('f', "--force") {
                self.update_branch("branch -f", Some(name), start.first().copied().flatten());
            }
            self.switch_to(SwitchTarget::Made((*name).to_owned()));
        }
    }

    /// `git worktree add PATH [REVISION]`: what is checked out there.
    fn worktree(&mut self, words: &[Word]) {
        let Some((first, words)) = words.split_first() else { return };
        if first.known() != Some("add") {
            return;
        }
        let longs = "--checkout --detach --force --guess-remote --lock --orphan --quiet --reason= --track";
        let found = found(words, "b:B:dfq", longs);
        let Some(path) = found.operands.first().and_then(|word| word.known()) else { return };
        let made = found.options.iter().find(|(name, _)| matches!(name, Name::Letter('b' | 'B')));
        let target = match (made, found.operands.get(1)) {
            (Some((_, value)), _) => {
                value.as_ref().and_then(Word::known).map(|name| SwitchTarget::New(name.into()))
            }
            _ if found.has('d', "--detach") => Some(SwitchTarget::Detached),
            (None, Some(name)) => {
                let existing = |name: &str| SwitchTarget::Existing { name: name.into(), or_path: false };
                name.known().map(existing)
            }
            (None, None) => {
                let name = std::path::Path::new(path).file_name().and_then(|name| name.to_str());
                name.map(|name| SwitchTarget::New(name.to_owned()))
            }
        };
        let Some(repository) = self.git_site().repository else { return };
        let Some(here) = self.place.certain() else { return };
        let target = Box::new(target.unwrap_or(SwitchTarget::Unknown));
        let places = vec![std::path::PathBuf::from(here).join(path)];
        let cost = places[0].as_os_str().len() + repository.as_os_str().len() + size_of::<Switch>();
        if self.work.pay(cost) {
            let target = SwitchTarget::WorkTree { repository, target };
            self.record(Op::Switch(Rc::new(Switch { places, target, is_certain: true })));
        }
    }

    /// `git rebase UPSTREAM BRANCH` checks out the branch first.
    fn rebase(&mut self, words: &[Word]) {
        let found = found(words, "ifkmnpqrvx:s:X:C:S", VALUES);
        let goes_on = ["--continue", "--skip", "--abort", "--quit"].iter().any(|name| has_word(words, name));
        if goes_on {
            return self.switch_to(SwitchTarget::Unknown);
        }
        let is_onto = |(name, _): &&(Name, Option<Word>)| matches!(name, Name::Long("--onto"));
        let onto = found.options.iter().find(is_onto).and_then(|(_, value)| value.as_ref()?.known());
        let is_root = has_word(words, "--root");
        let (upstream, branch) = match &*found.operands {
            [branch] if is_root => (None, Some(branch)),
            [] => (None, None),
            [upstream] => (Some(upstream), None),
            [upstream, branch, ..] => (Some(upstream), Some(branch)),
        };
        if let Some(branch) = branch {
            let existing = |name: &str| SwitchTarget::Existing { name: name.to_owned(), or_path: false };
            self.switch_to(branch.known().map_or(SwitchTarget::Unknown, existing));
        }
        if let Some(from) = onto.or_else(|| upstream.and_then(|word| word.known())) {
            self.update_branch("rebase", None, Some(from));
        }
    }

    fn merge(&mut self, words: &[Word]) {
        let found = found(words, "enqvSm:F:s:X:", VALUES);
        let has = |name: &str| has_word(words, name);
        if has("--abort") || has("--quit") || has("--squash") || (has("--no-commit") && has("--no-ff")) {
            return;
        }
        if has("--continue") {
            return self.update_branch("merge", None, None);
        }
        for operand in &found.operands {
            self.update_branch("merge", None, operand.known());
        }
    }

    /// `pull REMOTE REVISION` merges it; `fetch` and `push` write the branches that they name behind a colon.
    fn transfer(&mut self, command: &str, words: &[Word]) {
        let longs = "--all --atomic --depth= --exec= --force --jobs= --prune --push-option= --rebase --receive-pack= \
                     --recurse-submodules --refmap= --repo= --server-option= --set-upstream --shallow-exclude= \
                     --shallow-since= --strategy= --strategy-option= --tags --upload-pack=";
        let found = found(words, "46adfnkpqrtuvPj:o:s:X:", longs);
        let Some((remote, references)) = found.operands.split_first() else { return };
        let is_path = |text: &str| text.starts_with(['.', '/']) || text.starts_with("file:");
        // What is pushed lands elsewhere, unless the other repository is named by its place.
        let elsewhere = match (command, remote.known()) {
            ("push", Some(text)) if is_path(text) => Some(text.strip_prefix("file://").unwrap_or(text)),
            ("push", _) => return,
            _ => None,
        };
        for reference in references.iter().filter_map(|word| word.known()) {
            let reference = reference.strip_prefix('+').unwrap_or(reference);
            let (from, to) = reference.split_once(':').unwrap_or((reference, ""));
            let to = to.strip_prefix("refs/heads/").unwrap_or(to);
            // A branch of the same name elsewhere is where this one comes from.
            let is_update = remote.known() != Some(".") && command != "push";
            let from = if is_update { format!("origin/{from}") } else { from.to_owned() };
            let outside = elsewhere.map(|place| {
                let here = self.place.current.clone();
                self.place.enter(place, self.work);
                here
            });
            let name = match command {
                "push" => "push",
                "fetch" => "fetch",
                _ => "pull",
            };
            if !to.is_empty() && !to.starts_with("refs/") {
                self.update_branch(name, Some(to), Some(&from));
            }
            if command == "pull" {
                self.update_branch(name, None, Some(&from));
            }
            if let Some(here) = outside {
                self.place.current = here;
            }
        }
    }
}

fn cost_of(site: &GitSite) -> usize {
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

/// What `switch` and `checkout` check out; `None` if only files are restored. `is_fed`: more words follow.
fn switch_target(checkout: bool, words: &[Word], is_fed: bool) -> Option<SwitchTarget> {
    let letters = if checkout { "b:B:dfmlpqt23" } else { "c:C:dfmqt" };
    let options = Options { letters, longs: options::SWITCH, ..STRICT };
    let mut found = Found::default();
    for item in Walk::new(&options, words) {
        match item {
            Item::Operand(word) => found.operands.push(word),
            Item::Dashes => found.before_dashes = Some(found.operands.len()),
            Item::Known { name, value, .. } => found.options.push((name, value)),
            Item::Strange(_) | Item::Doubtful(_) => return Some(SwitchTarget::Unknown),
        }
    }
    let creates = |(name, _): &&(Name, _)| {
        let letters: &[char] = if checkout { &['b', 'B'] } else { &['c', 'C'] };
        matches!(name, Name::Letter(letter) if letters.contains(letter))
            || matches!(name, Name::Long("--create" | "--force-create" | "--orphan"))
    };
    if let Some((_, value)) = found.options.iter().find(creates) {
        let name = value.as_ref().and_then(Word::known);
        return Some(name.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned())));
    }
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
