//! Git commands, other than `commit`, that give a branch other commits, as far as their arguments show it.

use super::super::options::{OptionName, ParsedArguments};
use super::switches::{existing_branch, named_branch, new_branch, site_cost};
use crate::effect::Effect;
use crate::effect::git::{BranchUpdate, CommitMessage, SwitchTarget, UpdateKind, UpdatedBranch};
use crate::flow::{FlowStep, SiteOwner};
use crate::word::Word;
use crate::{LONGEST_PATH, LineWalker};

/// The long options of `merge`, `rebase`, `cherry-pick`, `revert`, `am` and `reset` that matter here or take values.
const LONGS: &str = "\
    --abort --cleanup= --commit --committer-date-is-author-date --continue --directory= --empty= --exclude= \
    --exec= --ff --file= --force-rebase --gpg-sign --include= --interactive --into-name= --mainline= --message= \
    --onto= --patch-format= --pathspec-from-file= --quit --rebase --resolvemsg= --root --show-current-patch \
    --signoff --skip --squash --strategy= --strategy-option= --whitespace=";

impl LineWalker<'_> {
    pub(super) fn report_branch_updates(&mut self, command: &str, words: &[Word]) {
        match command {
            "rebase" => self.report_rebase(words),
            "merge" => self.report_merge(words),
            "push" | "send-pack" => {
                self.report_push(words);
                self.report_transfer("push", words);
            }
            "fetch" => self.report_transfer("fetch", words),
            "pull" => self.report_transfer("pull", words),
            "cherry-pick" => self.report_pick("cherry-pick", words),
            "revert" => self.report_pick("revert", words),
            "am" => self.report_pick("am", words),
            "reset" => {
                let arguments = ParsedArguments::parse(words, "qpN", LONGS);
                match (&*arguments.operands, arguments.before_dashes) {
                    ([from], None | Some(1)) => self.report_checked_out_update("reset", from.text()),
                    ([], None) if self.git.is_fed => self.report_checked_out_update("reset", None),
                    _ => {}
                }
            }
            "update-ref" => self.report_update_ref(words),
            "subtree" if matches!(words.first().and_then(Word::text), Some("add" | "merge" | "pull")) => {
                self.report_checked_out_update("subtree", None);
            }
            "filter-branch" => {
                let is_branch = |word: &&Word| matches!(word.text(), Some("main" | "master" | "--all"));
                match words.iter().find(is_branch).and_then(Word::text) {
                    Some("--all") => self.report_unknown_update("filter-branch", None),
                    Some(name) => self.report_named_update("filter-branch", name, None),
                    None => self.report_checked_out_update("filter-branch", None),
                }
            }
            _ => {}
        }
    }

    fn report_checked_out_update(&mut self, command: &'static str, from: Option<&str>) {
        self.report_update(command, UpdatedBranch::CheckedOut, UpdateKind::Moves, from);
    }

    fn report_unknown_update(&mut self, command: &'static str, from: Option<&str>) {
        self.report_update(command, UpdatedBranch::Unknown, UpdateKind::Moves, from);
    }

    pub(super) fn report_named_update(&mut self, command: &'static str, branch: &str, from: Option<&str>) {
        self.report_update(command, UpdatedBranch::Named(branch.to_owned()), UpdateKind::Moves, from);
    }

    fn report_removed_branch(&mut self, command: &'static str, name: Option<&str>) {
        self.report_update(command, named_branch(name), UpdateKind::Removes, None);
    }

    pub(super) fn report_update(
        &mut self,
        command: &'static str,
        branch: UpdatedBranch,
        kind: UpdateKind,
        from: Option<&str>,
    ) {
        let site = self.git_site();
        let from = from.filter(|text| text.len() <= LONGEST_PATH).map(str::to_owned);
        let name = if let UpdatedBranch::Named(name) = &branch { name.len() } else { 0 };
        let cost = site_cost(&site) + name + from.as_ref().map_or(0, String::len);
        let at = self.effects.len();
        let update = BranchUpdate { command, site, branch, kind, from, message: CommitMessage::NotGiven };
        self.report_effect(Effect::UpdateBranch(Box::new(update)), cost);
        self.record_step(FlowStep::Site(SiteOwner::Effect(at)));
    }

    fn report_pick(&mut self, command: &'static str, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "enrsxqkcu3iSm:X:C:p:", LONGS);
        let is_am = command == "am";
        let stops = arguments.has_any(&["--abort", "--quit", "--show-current-patch"]);
        let makes_no_commit = !is_am && (arguments.has('n', "") || arguments.has_negated("--commit"));
        // `am` reads its input if it has no arguments.
        if !stops && !makes_no_commit && (!words.is_empty() || is_am || self.git.is_fed) {
            self.report_checked_out_update(command, None);
        }
    }

    fn report_update_ref(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "dzm:", "--create-reflog --no-deref --stdin");
        let (name, new) = match &*arguments.operands {
            [name, ..] if arguments.has('d', "") => {
                let branch = name.text().and_then(|name| name.strip_prefix("refs/heads/"));
                return self.report_removed_branch("update-ref -d", branch);
            }
            [name, new, ..] => (name.text(), new.text()),
            [name] if self.git.is_fed => (name.text(), None),
            [] if self.git.is_fed => (None, None),
            _ => return,
        };
        // `xargs -I{}` replaces the braces with what it reads.
        let is_replaced = |name: &&str| self.git.is_fed && name.contains(['{', '%']);
        match name.filter(|name| !is_replaced(name)) {
            Some("HEAD") => self.report_checked_out_update("update-ref", new),
            Some(name) => {
                if let Some(branch) = name.strip_prefix("refs/heads/") {
                    self.report_named_update("update-ref", branch, new);
                }
            }
            None => self.report_unknown_update("update-ref", new),
        }
    }

    pub(super) fn report_branch_command(&mut self, words: &[Word]) {
        let longs = "--all --column --contains= --copy --delete --edit-description --force --format= --list \
                     --merged --move --no-track --points-at= --quiet --remotes --set-upstream-to= --show-current \
                     --sort= --track --unset-upstream --verbose";
        let arguments = ParsedArguments::parse(words, "adfiqrvtlmMcCDu:", longs);
        let has = |letter: char, long: &str| arguments.has(letter, long);
        let operands: Vec<Option<&str>> = arguments.operands.iter().map(|word| word.text()).collect();
        let is_forced = has('f', "--force") || has('M', "") || has('C', "");
        let kind = if is_forced { UpdateKind::Moves } else { UpdateKind::Creates };
        // A word that is fed to the command may be any of its operands.
        let is_fed = self.git.is_fed;
        let branch = |name: Option<&str>| named_branch(name.filter(|_| !is_fed));
        if has('d', "--delete") || has('D', "") {
            for name in &operands {
                self.report_removed_branch("branch -d", *name);
            }
            return;
        }
        let moves = has('m', "--move") || has('M', "");
        if moves || has('c', "--copy") || has('C', "") {
            let (old, new) = match &*operands {
                [new] => (Some("HEAD"), *new),
                [old, new] => (*old, *new),
                _ => return,
            };
            self.report_update(if moves { "branch -M" } else { "branch -C" }, branch(new), kind, old);
            if !moves {
                return;
            }
            if operands.len() == 2 {
                self.report_removed_branch("branch -m", old);
            }
            self.record_switch(new_branch(new));
            if operands.len() == 2 {
                // Only if the renamed branch is checked out.
                self.record_step(FlowStep::Doubt);
            }
        } else if let Some(upstream) = arguments.values('u', "--set-upstream-to").next() {
            // From now on, `pull`, `merge` and `rebase` without a name use the upstream.
            let branch = operands.first().map_or(UpdatedBranch::CheckedOut, |name| branch(*name));
            self.report_update("branch -u", branch, UpdateKind::Moves, upstream.and_then(Word::text));
        } else if !arguments.options.iter().any(|(name, _)| lists_branches(*name)) {
            let (name, start) = match &*operands {
                [] if is_fed => (None, None),
                [] => return,
                [name] if is_fed => (*name, None),
                [name] => (*name, Some("HEAD")),
                [name, start, ..] => (*name, *start),
            };
            self.report_update(if is_forced { "branch -f" } else { "branch" }, branch(name), kind, start);
            if let Some(name) = name {
                self.record_switch(SwitchTarget::Created(name.to_owned()));
            }
        }
    }

    /// `git rebase UPSTREAM BRANCH` checks out the branch first.
    fn report_rebase(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "ifkmnpqrvx:s:X:C:S", LONGS);
        if arguments.has_any(&["--continue", "--skip", "--abort", "--quit"]) {
            return self.record_switch(SwitchTarget::Unknown);
        }
        let onto = arguments.values('\0', "--onto").next().map(|value| value.and_then(Word::text));
        let is_root = arguments.has('\0', "--root");
        let (upstream, branch) = match &*arguments.operands {
            [branch] if is_root => (None, Some(branch)),
            [] => (None, None),
            [upstream] => (Some(upstream), None),
            [upstream, branch, ..] => (Some(upstream), Some(branch)),
        };
        if let Some(branch) = branch {
            self.record_switch(existing_branch(branch.text(), false));
        }
        // These make new commits even of those that the branch already has.
        let rewrites = arguments.has('i', "--interactive")
            || arguments.has('f', "--force-rebase")
            || arguments.has('x', "--exec")
            || is_root
            || arguments.has('\0', "--signoff")
            || arguments.has_negated("--ff");
        let from = match (onto, upstream) {
            _ if rewrites => None,
            (Some(onto), _) => onto,
            (None, Some(upstream)) => upstream.text(),
            (None, None) if self.git.is_fed => None,
            (None, None) => return,
        };
        // `HEAD` is what was checked out before the branch.
        let is_current = |text: &&str| text.starts_with("HEAD") || text.starts_with('@');
        self.report_checked_out_update("rebase", from.filter(|from| branch.is_none() || !is_current(from)));
    }

    fn report_merge(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "enqvSm:F:s:X:", LONGS);
        let makes_no_commit = arguments.has_negated("--commit") && arguments.has_negated("--ff");
        if arguments.has_any(&["--abort", "--quit", "--squash"]) || makes_no_commit {
            return;
        }
        if arguments.has('\0', "--continue") || (arguments.operands.is_empty() && self.git.is_fed) {
            return self.report_checked_out_update("merge", None);
        }
        let from = self.effects.len();
        for operand in &arguments.operands {
            self.report_checked_out_update("merge", operand.text());
        }
        self.note_message(&arguments, from);
    }

    /// `pull REMOTE REVISION` merges the revision; `fetch` and `push` write the branches that are named after a colon.
    fn report_transfer(&mut self, command: &'static str, words: &[Word]) {
        let longs = "--all --atomic --depth= --exec= --force --jobs= --prune --push-option= --rebase --receive-pack= \
                     --recurse-submodules --refmap= --repo= --server-option= --set-upstream --shallow-exclude= \
                     --shallow-since= --strategy= --strategy-option= --tags --upload-pack=";
        let arguments = ParsedArguments::parse(words, "46adfnkpqrtuvPj:o:s:X:", longs);
        let Some((remote, references)) = arguments.operands.split_first() else { return };
        let is_path = |text: &&str| text.starts_with(['.', '/']) || text.starts_with("file:");
        let outside = self.place.save();
        // A push changes another repository, which is known only if a path names it.
        if command == "push" {
            let Some(path) = remote.text().filter(is_path) else { return };
            self.place.enter(path.strip_prefix("file://").unwrap_or(path), self.work);
        }
        if references.is_empty() && self.git.is_fed {
            self.report_unknown_update(command, None);
        }
        for reference in references {
            self.report_refspec(command, remote.text() == Some("."), reference);
        }
        self.place.restore(outside);
    }

    fn report_refspec(&mut self, command: &'static str, is_here: bool, reference: &Word) {
        let Some(text) = reference.text() else {
            // The refspec names a branch, but not which one.
            if reference.source.contains(':') && (is_here || command == "push") {
                self.report_unknown_update(command, None);
            } else if command == "pull" {
                self.report_checked_out_update(command, None);
            }
            return;
        };
        let text = text.strip_prefix('+').unwrap_or(text);
        let (from, to) = text.split_once(':').unwrap_or((text, ""));
        let to = ["refs/heads/", "heads/"].iter().find_map(|front| to.strip_prefix(front)).unwrap_or(to);
        // A branch of another repository is known here by its remote name.
        let is_remote = !is_here && command != "push";
        let from = if is_remote { format!("origin/{from}") } else { from.to_owned() };
        if to.contains('*') {
            self.report_unknown_update(command, None);
        } else if !to.is_empty() && !to.starts_with("refs/") {
            self.report_named_update(command, to, Some(&from));
        }
        if command == "pull" {
            self.report_checked_out_update(command, Some(&from));
        }
    }
}

/// Whether `git branch` with this option creates no branch.
fn lists_branches(option: OptionName) -> bool {
    match option {
        OptionName::Letter(letter) => matches!(letter, 'a' | 'r' | 'v' | 'l'),
        OptionName::Long(name) | OptionName::Negated(name) => {
            !matches!(name, "--force" | "--track" | "--no-track" | "--quiet")
        }
    }
}
