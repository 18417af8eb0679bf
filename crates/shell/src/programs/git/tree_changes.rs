//! Which files of the work tree a git command changes.
//!
//! A path that is named by itself is written or deleted, as by `tee` or `rm`. A pattern, a directory or the whole work
//! tree is a [`TreeChange`]: which files it changes depends on what git tracks.

use super::super::options::{OptionName, ParsedArguments};
use super::context::GitDirectory;
use super::options;
use crate::effect::Effect;
use crate::effect::git::{Pathspec, TreeChange, TreeChangeKind};
use crate::word::Word;
use crate::{LONGEST_PATH, LineWalker};

const FROM_FILE: &str = "--pathspec-from-file";

/// What a command does to a path that it names.
#[derive(Clone, Copy, PartialEq)]
enum PathChange {
    Written,
    Deleted,
    /// The word may be a revision, or only some of the files below the path change.
    Unsure,
}
use PathChange::{Deleted, Unsure, Written};
use TreeChangeKind::{Clean, Remove, Replace, Restore, Sparse};

impl LineWalker<'_> {
    /// Reports what a git command does to files.
    pub(super) fn report_changed_files(&mut self, command: &str, words: &[Word]) {
        match command {
            "rm" => {
                let longs = "--cached --dry-run --force --ignore-unmatch --pathspec-file-nul \
                             --pathspec-from-file= --quiet --sparse";
                let arguments = ParsedArguments::parse(words, "fnrq", longs);
                if arguments.has('\0', "--cached") {
                    self.git.is_index_changed = true;
                } else if !arguments.has('n', "--dry-run") {
                    self.report_paths("rm", &arguments, &arguments.operands, (&Remove, Deleted));
                }
            }
            "mv" => self.report_moved_files(words),
            "checkout" => self.report_checked_out_files(words),
            "switch" => {
                let arguments = ParsedArguments::parse(words, "c:C:dfmqt", options::SWITCH);
                if arguments.has('f', "--force") || arguments.has('\0', "--discard-changes") {
                    self.report_whole_tree("switch", &Restore);
                }
            }
            "restore" => self.report_restored_files(words),
            "clean" => self.report_cleaned_files(words),
            "stash" => self.report_stashed_files(words),
            "reset" => {
                let longs = "--hard --keep --merge --mixed --patch --pathspec-from-file= --quiet --soft";
                if ParsedArguments::parse(words, "qpN", longs).has('\0', "--hard") {
                    self.report_whole_tree("reset", &Restore);
                }
            }
            "read-tree" => {
                let longs = "--dry-run --empty --index-output= --prefix= --reset";
                let arguments = ParsedArguments::parse(words, "imnuv", longs);
                self.git.is_index_changed = true;
                if arguments.has('u', "") && !arguments.has('n', "--dry-run") {
                    self.report_whole_tree("read-tree", &Restore);
                }
            }
            "checkout-index" => {
                let longs = "--all --force --index --no-create --prefix= --quiet --stage= --stdin --temp";
                let arguments = ParsedArguments::parse(words, "afnquz", longs);
                if let Some(Some(prefix)) = arguments.values('\0', "--prefix").next() {
                    self.report_write(prefix);
                } else if arguments.has('a', "--all") || arguments.has('\0', "--stdin") {
                    self.report_whole_tree("checkout-index", &Restore);
                } else {
                    self.report_paths("checkout-index", &arguments, &arguments.operands, (&Restore, Written));
                }
            }
            "update-index" => self.git.is_index_changed = true,
            "apply" => self.report_git_apply(words),
            "am" => self.report_git_am(words),
            "sparse-checkout" => self.report_sparse_checkout(words),
            _ => self.report_named_file(command, words),
        }
    }

    fn report_moved_files(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "fknv", "--dry-run --force --sparse --verbose");
        if arguments.has('n', "--dry-run") {
            return;
        }
        if let Some((to, sources)) = arguments.operands.split_last() {
            for source in sources {
                self.report_delete(source);
            }
            self.report_placement(sources, to, true);
        }
    }

    /// `git checkout [REVISION] [--] PATH…`.
    fn report_checked_out_files(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "b:B:dfmlpqt23", options::SWITCH);
        let operands = &*arguments.operands;
        let is_switch = arguments.options.iter().any(|(name, _)| match name {
            OptionName::Letter(letter) => matches!(letter, 'b' | 'B' | 'd' | 't'),
            OptionName::Long(name) => matches!(*name, "--orphan" | "--detach" | "--track"),
            OptionName::Negated(_) => false,
        });
        let from_file = arguments.mentions('\0', FROM_FILE);
        let (paths, change) = match arguments.before_dashes {
            _ if is_switch => (&[][..], (&Restore, Unsure)),
            Some(0) if !operands.is_empty() => (operands, (&Restore, Written)),
            Some(1) if operands.len() > 1 || from_file => (&operands[1..], (&Replace, Written)),
            _ if from_file => (operands, (&Replace, Unsure)),
            None if !operands.is_empty() => {
                // The first may be a revision or a path. If it is a revision, the others come from it.
                self.report_paths("checkout", &arguments, &operands[..1], (&Restore, Unsure));
                (&operands[1..], (&Replace, Written))
            }
            _ => (&[][..], (&Restore, Unsure)),
        };
        if !paths.is_empty() || from_file && !is_switch {
            self.report_paths("checkout", &arguments, paths, change);
        } else if arguments.has('f', "--force") {
            self.report_whole_tree("checkout", &Restore);
        }
    }

    fn report_restored_files(&mut self, words: &[Word]) {
        let longs = "--conflict= --ignore-skip-worktree-bits --ignore-unmerged --merge --ours --overlay --patch \
                     --pathspec-file-nul --pathspec-from-file= --progress --quiet --recurse-submodules --source= \
                     --staged --theirs --worktree";
        let arguments = ParsedArguments::parse(words, "s:SWpqm23", longs);
        let is_staged = arguments.has('S', "--staged");
        if is_staged && !arguments.has('W', "--worktree") {
            return;
        }
        let kind = if is_staged || arguments.mentions('s', "--source") { Replace } else { Restore };
        self.report_paths("restore", &arguments, &arguments.operands, (&kind, Written));
    }

    fn report_cleaned_files(&mut self, words: &[Word]) {
        let longs = "--dry-run --exclude= --force --interactive --quiet";
        let arguments = ParsedArguments::parse(words, "de:finqxX", longs);
        if arguments.has('n', "--dry-run") {
            return;
        }
        let only_ignored = arguments.has('X', "");
        let kind = Clean {
            untracked: !only_ignored,
            ignored: only_ignored || arguments.has('x', ""),
            kept: arguments.known_values('e', "--exclude"),
        };
        let here = Word::literal(".");
        let paths = if arguments.operands.is_empty() { &[&here][..] } else { &*arguments.operands };
        self.report_paths("clean", &arguments, paths, (&kind, Unsure));
    }

    fn report_stashed_files(&mut self, words: &[Word]) {
        let (command, rest) = match words.split_first() {
            Some((first, rest)) if !first.is_option() => (first.text(), rest),
            _ => (Some("push"), words),
        };
        let longs = "--all --include-untracked --keep-index --message= --patch --pathspec-file-nul \
                     --pathspec-from-file= --quiet --staged";
        let arguments = ParsedArguments::parse(rest, "akm:pqSu", longs);
        if !matches!(command, Some("push" | "save")) || arguments.has('S', "--staged") {
            return;
        }
        // The operands of `save` are a message.
        let paths = if command == Some("save") { &[][..] } else { &*arguments.operands };
        let ignored = arguments.has('a', "--all");
        let mut kinds = vec![Restore];
        if ignored || arguments.has('u', "--include-untracked") {
            kinds.push(Clean { untracked: true, ignored, kept: Vec::new() });
        }
        for kind in kinds {
            if paths.is_empty() && !arguments.mentions('\0', FROM_FILE) {
                self.report_whole_tree("stash", &kind);
            } else {
                self.report_paths("stash", &arguments, paths, (&kind, Written));
            }
        }
    }

    /// Reports the files that the options name, which are known without the patch, and the patches.
    fn report_git_apply(&mut self, words: &[Word]) {
        let longs = "--allow-empty --apply --build-fake-ancestor= --cached --check --directory= --exclude= \
                     --include= --index --numstat --recount --reject --reverse --stat --summary --whitespace=";
        let arguments = ParsedArguments::parse(words, "3C:Np:qRvz", longs);
        let asks = ["--cached", "--check", "--numstat", "--stat", "--summary"];
        if arguments.has_any(&asks) && !arguments.has('\0', "--apply") {
            return;
        }
        let is_place = |name: &OptionName| matches!(name, OptionName::Long("--directory" | "--include"));
        let places = arguments.options.iter().filter(|(name, _)| is_place(name));
        let places: Vec<&Word> = places.filter_map(|(_, value)| value.as_ref()).collect();
        if !places.is_empty() {
            self.report_paths("apply", &arguments, &places, (&Replace, Written));
        }
        self.report_git_patches("git apply", &arguments);
    }

    fn report_git_am(&mut self, words: &[Word]) {
        const RESUMES: &[&str] =
            &["--abort", "--continue", "--quit", "--resolved", "--retry", "--show-current-patch", "--skip"];
        let resumes = |word: &Word| {
            RESUMES.iter().any(|name| word.prefix().starts_with(name)) || word.text() == Some("-r")
        };
        if !words.iter().any(resumes) {
            let longs = "--directory= --exclude= --include= --patch-format= --resolvemsg= --whitespace=";
            self.report_git_patches("git am", &ParsedArguments::parse(words, "3bC:ciKkmp:qsuS::", longs));
        }
    }

    /// `git sparse-checkout` removes the tracked files from the work tree that its patterns leave out.
    fn report_sparse_checkout(&mut self, words: &[Word]) {
        let Some((command, rest)) = words.split_first() else { return };
        let longs = "--cone --end-of-options --skip-checks --sparse-index --stdin";
        let arguments = ParsedArguments::parse(rest, "", longs);
        let operands = arguments.operands.iter();
        let known: Vec<String> = operands.filter_map(|word| word.text().map(str::to_owned)).collect();
        let is_pattern = |pattern: &String| pattern.starts_with('!') || pattern.contains(['*', '?', '[']);
        let is_cone_off = matches!(arguments.options.last(), Some((OptionName::Negated("--cone"), _)));
        let is_cone = !is_cone_off && !known.iter().any(is_pattern);
        let is_known = known.len() == arguments.operands.len() && !arguments.has('\0', "--stdin");
        let patterns = match command.text() {
            Some("set") => known,
            Some("init") => Vec::new(),
            // An added pattern removes files only if it starts with `!`.
            Some("add") if known.iter().any(|pattern| pattern.starts_with('!')) => {
                std::iter::once("/*".to_owned()).chain(known).collect()
            }
            _ => return,
        };
        let patterns = if is_known { patterns } else { Vec::new() };
        self.report_whole_tree("sparse-checkout", &Sparse { is_cone, patterns });
    }

    fn report_whole_tree(&mut self, command: &'static str, kind: &TreeChangeKind) {
        self.report_tree_change(command, kind, &[], &[]);
    }

    fn report_paths(
        &mut self,
        command: &'static str,
        arguments: &ParsedArguments,
        words: &[&Word],
        (kind, change): (&TreeChangeKind, PathChange),
    ) {
        let mut paths = Vec::new();
        let mut excluded = Vec::new();
        for word in words {
            let text = match word.text() {
                Some(text) => text.to_owned(),
                None if word.source.contains(['$', '`', '{', '~', '(']) => continue,
                // Git reads a pattern as the shell does.
                None => word.source_without_quotes(),
            };
            if text.len() > LONGEST_PATH {
                continue;
            }
            let (path, is_excluded) = Pathspec::parse(&text);
            if is_excluded { excluded.push(path) } else { paths.push(path) }
        }
        if arguments.mentions('\0', FROM_FILE) || (paths.is_empty() && !excluded.is_empty()) {
            paths.push(Pathspec { from_top: true, is_literal: true, ..Pathspec::default() });
        }
        if excluded.is_empty() && change != Unsure {
            for word in words.iter().filter(|word| !word.text().is_some_and(is_pattern)) {
                if change == Deleted { self.report_delete(word) } else { self.report_write(word) }
            }
        }
        if !paths.is_empty() {
            self.report_tree_change(command, kind, &paths, &excluded);
        }
    }

    fn report_tree_change(
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
                self.report_effect(Effect::ChangeTree(Box::new(change)), cost);
            }
        }
    }
}

fn is_pattern(text: &str) -> bool {
    text.starts_with(':') || text.contains(['*', '?', '['])
}
