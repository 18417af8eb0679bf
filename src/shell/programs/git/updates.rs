//! Which commands of git, other than `commit`, give a branch other commits, as far as their words say it.

use super::super::Found;
use super::super::options::Name;
use super::branch::{cost_of, found};
use crate::effect::Effect;
use crate::effect::git::{BranchUpdate, SwitchTarget, UpdateKind, UpdatedBranch};
use crate::shell::flow::Op;
use crate::shell::word::Word;
use crate::shell::{LONGEST_PATH, Line};

/// The long options of `merge`, `rebase`, `cherry-pick`, `revert`, `am` and `reset` that matter here, and those
/// that take values.
const LONGS: &str = "\
    --abort --cleanup= --commit --committer-date-is-author-date --continue --directory= --empty= --exclude= \
    --exec= --ff --file= --force-rebase --gpg-sign --include= --interactive --into-name= --mainline= --message= \
    --onto= --patch-format= --pathspec-from-file= --quit --rebase --resolvemsg= --root --show-current-patch \
    --signoff --skip --squash --strategy= --strategy-option= --whitespace=";

impl Line<'_> {
    pub(super) fn update(&mut self, command: &str, words: &[Word]) {
        match command {
            "rebase" => self.rebase(words),
            "merge" => self.merge(words),
            "pull" | "fetch" | "push" | "send-pack" => self.transfer(command, words),
            "cherry-pick" | "revert" | "am" => self.pick(command, words),
            "reset" => {
                let found = found(words, "qpN", LONGS);
                match (&*found.operands, found.before_dashes) {
                    ([from], None | Some(1)) => self.update_checked_out("reset", from.known()),
                    ([], None) if self.git.is_fed => self.update_checked_out("reset", None),
                    _ => {}
                }
            }
            "update-ref" => self.update_ref(words),
            "subtree" if matches!(words.first().and_then(Word::known), Some("add" | "merge" | "pull")) => {
                self.update_checked_out("subtree", None);
            }
            "filter-branch" => {
                let is_branch = |word: &&Word| matches!(word.known(), Some("main" | "master" | "--all"));
                match words.iter().find(is_branch).and_then(Word::known) {
                    Some("--all") => {
                        self.update_named("filter-branch", UpdatedBranch::Unknown, UpdateKind::Moves, None);
                    }
                    Some(name) => self.update_branch("filter-branch", name, None),
                    None => self.update_checked_out("filter-branch", None),
                }
            }
            _ => {}
        }
    }

    /// The branch that is checked out gets commits.
    fn update_checked_out(&mut self, command: &'static str, from: Option<&str>) {
        self.update_named(command, UpdatedBranch::CheckedOut, UpdateKind::Moves, from);
    }

    /// The branch of this name gets commits.
    pub(super) fn update_branch(&mut self, command: &'static str, branch: &str, from: Option<&str>) {
        self.update_named(command, UpdatedBranch::Named(branch.to_owned()), UpdateKind::Moves, from);
    }

    pub(super) fn update_named(
        &mut self,
        command: &'static str,
        branch: UpdatedBranch,
        kind: UpdateKind,
        from: Option<&str>,
    ) {
        let site = self.git_site();
        let from = from.filter(|text| text.len() <= LONGEST_PATH).map(str::to_owned);
        let name = if let UpdatedBranch::Named(name) = &branch { name.len() } else { 0 };
        let cost = cost_of(&site) + name + from.as_ref().map_or(0, String::len);
        let at = self.effects.len();
        self.push(Effect::UpdateBranch(Box::new(BranchUpdate { command, site, branch, kind, from })), cost);
        self.record(Op::Site(at));
    }

    fn pick(&mut self, command: &str, words: &[Word]) {
        let found = found(words, "enrsxqkcu3iSm:X:C:p:", LONGS);
        let stops = ["--abort", "--quit", "--show-current-patch"].iter().any(|name| found.has('\0', name));
        let is_kept = command != "am" && (found.has('n', "") || is_off(&found, "--commit"));
        // `am` reads its input where it is given no file.
        if stops || is_kept || (words.is_empty() && command != "am" && !self.git.is_fed) {
            return;
        }
        let name = match command {
            "cherry-pick" => "cherry-pick",
            "revert" => "revert",
            _ => "am",
        };
        self.update_checked_out(name, None);
    }

    fn update_ref(&mut self, words: &[Word]) {
        let found = found(words, "dzm:", "--create-reflog --no-deref --stdin");
        let (name, new) = match &*found.operands {
            [name, ..] if found.has('d', "") => {
                let branch = name.known().and_then(|name| name.strip_prefix("refs/heads/"));
                return self.remove_branch("update-ref -d", branch);
            }
            [name, new, ..] => (name.known(), new.known()),
            [name] if self.git.is_fed => (name.known(), None),
            [] if self.git.is_fed => (None, None),
            _ => return,
        };
        // `xargs -I{}` puts what it reads there.
        let is_made = |name: &&str| self.git.is_fed && name.contains(['{', '%']);
        match name.filter(|name| !is_made(name)) {
            Some("HEAD") => self.update_checked_out("update-ref", new),
            Some(name) => {
                if let Some(branch) = name.strip_prefix("refs/heads/") {
                    self.update_branch("update-ref", branch, new);
                }
            }
            None => self.update_named("update-ref", UpdatedBranch::Unknown, UpdateKind::Moves, new),
        }
    }

    fn remove_branch(&mut self, command: &'static str, name: Option<&str>) {
        let branch = name.map_or(UpdatedBranch::Unknown, |name| UpdatedBranch::Named(name.to_owned()));
        self.update_named(command, branch, UpdateKind::Removes, None);
    }

    pub(super) fn branch_command(&mut self, words: &[Word]) {
        let longs = "--all --column --contains= --copy --delete --edit-description --force --format= --list \
                     --merged --move --no-track --points-at= --quiet --remotes --set-upstream-to= --show-current \
                     --sort= --track --unset-upstream --verbose";
        let found = found(words, "adfiqrvtlmMcCDu:", longs);
        let has = |letter: char, long: &str| found.has(letter, long);
        let operands: Vec<Option<&str>> = found.operands.iter().map(|word| word.known()).collect();
        let is_forced = has('f', "--force") || has('M', "") || has('C', "");
        let kind = if is_forced { UpdateKind::Moves } else { UpdateKind::Makes };
        // What is fed to the command may be any of its operands.
        let named = |name: Option<&str>| match name.filter(|_| !self.git.is_fed) {
            Some(name) => UpdatedBranch::Named(name.to_owned()),
            None => UpdatedBranch::Unknown,
        };
        let is_upstream = |(name, _): &&(Name, Option<Word>)| {
            matches!(name, Name::Letter('u') | Name::Long("--set-upstream-to"))
        };
        if has('d', "--delete") || has('D', "") {
            for name in &operands {
                self.remove_branch("branch -d", *name);
            }
        } else if has('m', "--move") || has('M', "") {
            let (old, new) = match &*operands {
                [new] => (Some("HEAD"), *new),
                [old, new] => (*old, *new),
                _ => return,
            };
            let branch = named(new);
            self.update_named("branch -M", branch, kind, old);
            if operands.len() == 2 {
                self.remove_branch("branch -m", old);
            }
            let target = new.map_or(SwitchTarget::Unknown, |name| SwitchTarget::New(name.to_owned()));
            self.switch_to(target);
            if operands.len() == 2 {
                // Only if the branch that is renamed is checked out.
                self.record(Op::Doubt);
            }
        } else if has('c', "--copy") || has('C', "") {
            let (old, new) = match &*operands {
                [new] => (Some("HEAD"), *new),
                [old, new] => (*old, *new),
                _ => return,
            };
            let branch = named(new);
            self.update_named("branch -C", branch, kind, old);
        } else if let Some((_, upstream)) = found.options.iter().find(is_upstream) {
            // From then on, `pull`, `merge` and `rebase` without a name bring what is there.
            let branch = operands.first().map_or(UpdatedBranch::CheckedOut, |name| named(*name));
            let from = upstream.as_ref().and_then(Word::known);
            self.update_named("branch -u", branch, UpdateKind::Moves, from);
        } else if !found.options.iter().any(|(name, _)| lists_branches(*name)) {
            let (name, start) = match &*operands {
                [] if self.git.is_fed => (None, None),
                [] => return,
                [name] if self.git.is_fed => (*name, None),
                [name] => (*name, Some("HEAD")),
                [name, start, ..] => (*name, *start),
            };
            let branch = named(name);
            self.update_named(if is_forced { "branch -f" } else { "branch" }, branch, kind, start);
            if let Some(name) = name {
                self.switch_to(SwitchTarget::Made(name.to_owned()));
            }
        }
    }

    /// `git rebase UPSTREAM BRANCH` checks out the branch first.
    fn rebase(&mut self, words: &[Word]) {
        let found = found(words, "ifkmnpqrvx:s:X:C:S", LONGS);
        let has = |name: &str| found.has('\0', name);
        if has("--continue") || has("--skip") || has("--abort") || has("--quit") {
            return self.switch_to(SwitchTarget::Unknown);
        }
        let is_onto = |(name, _): &&(Name, Option<Word>)| matches!(name, Name::Long("--onto"));
        let onto = found.options.iter().find(is_onto).map(|(_, value)| value.as_ref().and_then(Word::known));
        let is_root = has("--root");
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
        // These make new commits even of what the branch already has.
        let rewrites = found.has('i', "--interactive")
            || found.has('f', "--force-rebase")
            || found.has('x', "--exec")
            || is_root
            || has("--signoff")
            || is_off(&found, "--ff");
        let from = match (onto, upstream) {
            _ if rewrites => None,
            (Some(onto), _) => onto,
            (None, Some(upstream)) => upstream.known(),
            (None, None) if self.git.is_fed => None,
            (None, None) => return,
        };
        // What is checked out is meant as it was before the branch is.
        let is_current = |text: &&str| text.starts_with("HEAD") || text.starts_with('@');
        self.update_checked_out("rebase", from.filter(|from| branch.is_none() || !is_current(from)));
    }

    fn merge(&mut self, words: &[Word]) {
        let found = found(words, "enqvSm:F:s:X:", LONGS);
        let has = |name: &str| found.has('\0', name);
        let is_kept = is_off(&found, "--commit") && is_off(&found, "--ff");
        if has("--abort") || has("--quit") || has("--squash") || is_kept {
            return;
        }
        if has("--continue") || (found.operands.is_empty() && self.git.is_fed) {
            return self.update_checked_out("merge", None);
        }
        for operand in &found.operands {
            self.update_checked_out("merge", operand.known());
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
        let name = match command {
            "push" | "send-pack" => "push",
            "fetch" => "fetch",
            _ => "pull",
        };
        // What is pushed lands elsewhere, unless the other repository is named by its place.
        let elsewhere = match (name, remote.known()) {
            ("push", Some(text)) if is_path(text) => Some(text.strip_prefix("file://").unwrap_or(text)),
            ("push", _) => return,
            _ => None,
        };
        let outside = self.place.keep();
        if let Some(place) = elsewhere {
            self.place.enter(place, self.work);
        }
        if references.is_empty() && self.git.is_fed {
            self.update_named(name, UpdatedBranch::Unknown, UpdateKind::Moves, None);
        }
        for reference in references {
            self.transfer_one(name, remote.known() == Some("."), reference);
        }
        self.place.go_back(outside);
    }

    fn transfer_one(&mut self, command: &'static str, is_here: bool, reference: &Word) {
        let Some(reference) = reference.known() else {
            // Which branch it is cannot be known, only that one is named.
            if reference.source().contains(':') && (is_here || command == "push") {
                self.update_named(command, UpdatedBranch::Unknown, UpdateKind::Moves, None);
            } else if command == "pull" {
                self.update_checked_out(command, None);
            }
            return;
        };
        let reference = reference.strip_prefix('+').unwrap_or(reference);
        let (from, to) = reference.split_once(':').unwrap_or((reference, ""));
        let to = ["refs/heads/", "heads/"].iter().find_map(|front| to.strip_prefix(front)).unwrap_or(to);
        // A branch of the same name elsewhere is where this one comes from.
        let is_update = !is_here && command != "push";
        let from = if is_update { format!("origin/{from}") } else { from.to_owned() };
        if to.contains('*') {
            self.update_named(command, UpdatedBranch::Unknown, UpdateKind::Moves, None);
        } else if !to.is_empty() && !to.starts_with("refs/") {
            self.update_branch(command, to, Some(&from));
        }
        if command == "pull" {
            self.update_checked_out(command, Some(&from));
        }
    }
}

/// Whether `git branch` with this option makes no branch.
fn lists_branches(option: Name) -> bool {
    match option {
        Name::Letter(letter) => matches!(letter, 'a' | 'r' | 'v' | 'l'),
        Name::Long(name) | Name::Not(name) => {
            !matches!(name, "--force" | "--track" | "--no-track" | "--quiet")
        }
    }
}

/// `--no-ff`, by the name of `--ff`.
fn is_off(found: &Found, name: &str) -> bool {
    found.options.iter().any(|(option, _)| matches!(option, Name::Not(taken) if *taken == name))
}
