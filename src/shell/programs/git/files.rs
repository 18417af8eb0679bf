//! Which files of the work tree a command of git changes.
//!
//! A path that is named by itself is written or deleted, as by `tee` or `rm`. A pattern, a directory or the
//! whole work tree is a [`TreeChange`]: what it means for a file depends on what git tracks.

use super::super::Found;
use super::super::options::Name;
use super::branch::found;
use super::context::GitDirectory;
use super::options;
use crate::effect::Effect;
use crate::effect::git::{Pathspec, TreeChange, TreeChangeKind};
use crate::shell::word::Word;
use crate::shell::{LONGEST_PATH, Line};

const FROM_FILE: &str = "--pathspec-from-file";

/// What a command does to a path that it names.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    Written,
    Deleted,
    /// It may be a revision, or only some of the files below it are meant.
    Unsure,
}

impl Line<'_> {
    /// What a command of git does to files.
    pub(super) fn change_files(&mut self, command: &str, words: &[Word]) {
        match command {
            "rm" => {
                let longs = "--cached --dry-run --force --ignore-unmatch --pathspec-file-nul \
                             --pathspec-from-file= --quiet --sparse";
                let found = found(words, "fnrq", longs);
                if found.has('\0', "--cached") {
                    self.git.is_index_changed = true;
                } else if !found.has('n', "--dry-run") {
                    self.change_paths(
                        "rm",
                        &found,
                        &found.operands,
                        (&TreeChangeKind::Remove, Named::Deleted),
                    );
                }
            }
            "mv" => self.move_files(words),
            "checkout" => self.checkout_files(words),
            "switch" => {
                let found = found(words, "c:C:dfmqt", options::SWITCH);
                if found.has('f', "--force") || found.has('\0', "--discard-changes") {
                    self.change_tree("switch", &TreeChangeKind::Restore);
                }
            }
            "restore" => self.restore_files(words),
            "clean" => self.clean_files(words),
            "stash" => self.stash_files(words),
            "reset" => {
                let longs = "--hard --keep --merge --mixed --patch --pathspec-from-file= --quiet --soft";
                if found(words, "qpN", longs).has('\0', "--hard") {
                    self.change_tree("reset", &TreeChangeKind::Restore);
                }
            }
            "read-tree" => {
                let longs = "--dry-run --empty --index-output= --prefix= --reset";
                let found = found(words, "imnuv", longs);
                self.git.is_index_changed = true;
                if found.has('u', "") && !found.has('n', "--dry-run") {
                    self.change_tree("read-tree", &TreeChangeKind::Restore);
                }
            }
            "checkout-index" => {
                let longs = "--all --force --index --no-create --prefix= --quiet --stage= --stdin --temp";
                let found = found(words, "afnquz", longs);
                if let Some(prefix) = value_of(&found, "--prefix") {
                    self.write(&prefix);
                } else if found.has('a', "--all") || found.has('\0', "--stdin") {
                    self.change_tree("checkout-index", &TreeChangeKind::Restore);
                } else {
                    let change = (&TreeChangeKind::Restore, Named::Written);
                    self.change_paths("checkout-index", &found, &found.operands, change);
                }
            }
            "update-index" => self.git.is_index_changed = true,
            "apply" => self.apply_patch(words),
            "am" => self.apply_mails(words),
            "sparse-checkout" => self.sparse_checkout(words),
            _ => self.change_named_file(command, words),
        }
    }

    fn move_files(&mut self, words: &[Word]) {
        let found = found(words, "fknv", "--dry-run --force --sparse --verbose");
        if found.has('n', "--dry-run") {
            return;
        }
        if let Some((to, sources)) = found.operands.split_last() {
            for source in sources {
                self.each(source, 0, |path| Effect::Delete { path });
            }
            self.place(sources, to, true);
        }
    }

    /// `git checkout [REVISION] [--] PATH…`.
    fn checkout_files(&mut self, words: &[Word]) {
        let found = found(words, "b:B:dfmlpqt23", options::SWITCH);
        let operands = &*found.operands;
        let makes = found.options.iter().any(|(name, _)| {
            matches!(
                name,
                Name::Letter('b' | 'B' | 'd' | 't') | Name::Long("--orphan" | "--detach" | "--track")
            )
        });
        let (restore, replace) = (&TreeChangeKind::Restore, &TreeChangeKind::Replace);
        let from_file = has_value(&found, FROM_FILE);
        match found.before_dashes {
            _ if makes => {}
            Some(0) if !operands.is_empty() => {
                return self.change_paths("checkout", &found, operands, (restore, Named::Written));
            }
            Some(1) if operands.len() > 1 || from_file => {
                return self.change_paths("checkout", &found, &operands[1..], (replace, Named::Written));
            }
            _ if from_file => {
                return self.change_paths("checkout", &found, operands, (replace, Named::Unsure));
            }
            None if !operands.is_empty() => {
                // The first may be a revision or a path. Where it is a revision, the others come from it.
                let (first, others) = operands.split_at(1);
                self.change_paths("checkout", &found, first, (restore, Named::Unsure));
                if !others.is_empty() {
                    return self.change_paths("checkout", &found, others, (replace, Named::Written));
                }
            }
            _ => {}
        }
        if found.has('f', "--force") {
            self.change_tree("checkout", &TreeChangeKind::Restore);
        }
    }

    fn restore_files(&mut self, words: &[Word]) {
        let longs = "--conflict= --ignore-skip-worktree-bits --ignore-unmerged --merge --ours --overlay --patch \
                     --pathspec-file-nul --pathspec-from-file= --progress --quiet --recurse-submodules --source= \
                     --staged --theirs --worktree";
        let found = found(words, "s:SWpqm23", longs);
        let (staged, tree) = (found.has('S', "--staged"), found.has('W', "--worktree"));
        if staged && !tree {
            return;
        }
        let has_source = staged
            || found
                .options
                .iter()
                .any(|(name, _)| matches!(name, Name::Letter('s') | Name::Long("--source")));
        let kind = if has_source { TreeChangeKind::Replace } else { TreeChangeKind::Restore };
        self.change_paths("restore", &found, &found.operands, (&kind, Named::Written));
    }

    fn clean_files(&mut self, words: &[Word]) {
        let found = found(words, "de:finqxX", "--dry-run --exclude= --force --interactive --quiet");
        if found.has('n', "--dry-run") {
            return;
        }
        let kept = found
            .options
            .iter()
            .filter(|(name, _)| matches!(name, Name::Letter('e') | Name::Long("--exclude")));
        let kept = kept.filter_map(|(_, value)| value.as_ref()?.known().map(str::to_owned)).collect();
        let only_ignored = found.has('X', "");
        let kind = TreeChangeKind::Clean {
            untracked: !only_ignored,
            ignored: only_ignored || found.has('x', ""),
            kept,
        };
        let here = Word::literal(".");
        let paths = if found.operands.is_empty() { &[&here][..] } else { &*found.operands };
        self.change_paths("clean", &found, paths, (&kind, Named::Unsure));
    }

    fn stash_files(&mut self, words: &[Word]) {
        let (command, rest) = match words.split_first() {
            Some((first, rest)) if !first.is_option() => (first.known(), rest),
            _ => (Some("push"), words),
        };
        let longs = "--all --include-untracked --keep-index --message= --patch --pathspec-file-nul \
                     --pathspec-from-file= --quiet --staged";
        let found = found(rest, "akm:pqSu", longs);
        if !matches!(command, Some("push" | "save")) || found.has('S', "--staged") {
            return;
        }
        // Behind `save` stands a message.
        let paths = if command == Some("save") { &[][..] } else { &*found.operands };
        let ignored = found.has('a', "--all");
        let mut kinds = vec![TreeChangeKind::Restore];
        if ignored || found.has('u', "--include-untracked") {
            kinds.push(TreeChangeKind::Clean { untracked: true, ignored, kept: Vec::new() });
        }
        for kind in kinds {
            if paths.is_empty() && !has_value(&found, FROM_FILE) {
                self.change_tree("stash", &kind);
            } else {
                self.change_paths("stash", &found, paths, (&kind, Named::Written));
            }
        }
    }

    /// What its options name is known without a look at the patch.
    fn apply_patch(&mut self, words: &[Word]) {
        let longs = "--allow-empty --apply --build-fake-ancestor= --cached --check --directory= --exclude= \
                     --include= --index --numstat --recount --reject --reverse --stat --summary --whitespace=";
        let found = found(words, "3C:Np:qRvz", longs);
        let asks = ["--cached", "--check", "--numstat", "--stat", "--summary"];
        if asks.iter().any(|name| found.has('\0', name)) && !found.has('\0', "--apply") {
            return;
        }
        let is_place = |name: &Name| matches!(name, Name::Long("--directory" | "--include"));
        let values = found.options.iter().filter(|(name, _)| is_place(name));
        let values: Vec<&Word> = values.filter_map(|(_, value)| value.as_ref()).collect();
        if !values.is_empty() {
            self.change_paths("apply", &found, &values, (&TreeChangeKind::Replace, Named::Written));
        }
        self.apply_patches("git apply", &found);
    }

    fn apply_mails(&mut self, words: &[Word]) {
        const GOES_ON: &[&str] =
            &["--abort", "--continue", "--quit", "--resolved", "--retry", "--show-current-patch", "--skip"];
        let is_going_on = |word: &Word| {
            GOES_ON.iter().any(|name| word.start().starts_with(name)) || word.known() == Some("-r")
        };
        if !words.iter().any(is_going_on) {
            let longs = "--directory= --exclude= --include= --patch-format= --resolvemsg= --whitespace=";
            self.apply_patches("git am", &found(words, "3bC:ciKkmp:qsuS::", longs));
        }
    }

    /// `git sparse-checkout` takes the tracked files out of the work tree that its patterns leave out.
    fn sparse_checkout(&mut self, words: &[Word]) {
        let Some((command, rest)) = words.split_first() else { return };
        let found = found(rest, "", "--cone --end-of-options --skip-checks --sparse-index --stdin");
        let known: Vec<String> =
            found.operands.iter().filter_map(|word| word.known().map(str::to_owned)).collect();
        let is_pattern = |pattern: &String| pattern.starts_with('!') || pattern.contains(['*', '?', '[']);
        let is_taken_back = matches!(found.options.last(), Some((Name::Not("--cone"), _)));
        let is_cone = !is_taken_back && !known.iter().any(is_pattern);
        let is_known = known.len() == found.operands.len() && !found.has('\0', "--stdin");
        let patterns = match command.known() {
            Some("set") => known,
            Some("init") => Vec::new(),
            // What is added takes nothing away, unless it is a pattern that does.
            Some("add") if known.iter().any(|pattern| pattern.starts_with('!')) => {
                std::iter::once("/*".to_owned()).chain(known).collect()
            }
            _ => return,
        };
        let patterns = if is_known { patterns } else { Vec::new() };
        self.change_tree("sparse-checkout", &TreeChangeKind::Sparse { is_cone, patterns });
    }

    /// All files of the work tree.
    fn change_tree(&mut self, command: &'static str, kind: &TreeChangeKind) {
        self.push_tree_change(command, kind, &[], &[]);
    }

    fn change_paths(
        &mut self,
        command: &'static str,
        found: &Found,
        words: &[&Word],
        (kind, named): (&TreeChangeKind, Named),
    ) {
        let mut paths = Vec::new();
        let mut excluded = Vec::new();
        for word in words {
            let text = match word.known() {
                Some(text) => text.to_owned(),
                None if word.source().contains(['$', '`', '{', '~', '(']) => continue,
                // A pattern that the shell fills in means no more to git.
                None => word.unquoted(),
            };
            if text.len() > LONGEST_PATH {
                continue;
            }
            let (path, is_excluded) = Pathspec::read(&text);
            if is_excluded { excluded.push(path) } else { paths.push(path) }
        }
        if has_value(found, FROM_FILE) || (paths.is_empty() && !excluded.is_empty()) {
            paths.push(Pathspec { from_top: true, is_literal: true, ..Pathspec::default() });
        }
        if excluded.is_empty() && named != Named::Unsure {
            for word in words.iter().filter(|word| !word.known().is_some_and(is_pattern)) {
                if named == Named::Deleted {
                    self.each(word, 0, |path| Effect::Delete { path });
                } else {
                    self.write(word);
                }
            }
        }
        if !paths.is_empty() {
            self.push_tree_change(command, kind, &paths, &excluded);
        }
    }

    fn push_tree_change(
        &mut self,
        command: &'static str,
        kind: &TreeChangeKind,
        paths: &[Pathspec],
        excluded: &[Pathspec],
    ) {
        let repositories = match &self.git.directory {
            GitDirectory::Here | GitDirectory::Unknown => vec![None],
            GitDirectory::At(path) => vec![Some(path.clone())],
            GitDirectory::HereOrAt(path) => vec![None, Some(path.clone())],
        };
        let patterns = paths.iter().chain(excluded).map(|path| path.pattern.len() + size_of::<Pathspec>());
        let patterns = patterns.sum::<usize>() + size_of::<TreeChange>();
        for directory in self.place.current.clone().iter() {
            for repository in &repositories {
                let named = repository.iter().chain(&self.git.work_tree).map(|path| path.as_os_str().len());
                let cost = patterns + directory.as_os_str().len() + named.sum::<usize>();
                let change = TreeChange {
                    command,
                    directory: directory.to_path_buf(),
                    repository: repository.clone(),
                    work_tree: self.git.work_tree.as_ref().map(|path| directory.join(path)),
                    paths: paths.to_vec(),
                    excluded: excluded.to_vec(),
                    is_index_changed: self.git.is_index_changed,
                    kind: kind.clone(),
                };
                self.push(Effect::ChangeTree(Box::new(change)), cost);
            }
        }
    }
}

fn has_value(found: &Found, long: &str) -> bool {
    found.options.iter().any(|(name, _)| matches!(name, Name::Long(found) if *found == long))
}

fn value_of<'a>(found: &Found<'_, 'a>, long: &str) -> Option<Word<'a>> {
    let is_it = |(name, _): &&(Name, Option<Word>)| matches!(name, Name::Long(found) if *found == long);
    found.options.iter().find(is_it).and_then(|(_, value)| value.clone())
}

fn is_pattern(text: &str) -> bool {
    text.starts_with(':') || text.contains(['*', '?', '['])
}
