//! Where a git command takes effect: in which repository, and on which branch.
//!
//! A command line says which branches it checked out before. Which branch that leaves checked out depends on the
//! repository on disk, so an effect carries the switches and the caller resolves them.

use std::path::PathBuf;
use std::sync::Arc;

/// Where a git command takes effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitSite {
    /// A directory in the repository; `None` where it is not certain.
    pub repository: Option<PathBuf>,
    /// The possible directories where it is not certain, the one that was entered last at the end. Empty where it
    /// may be any.
    pub possible: Vec<PathBuf>,
    /// The directories that the line entered one after the other, if no condition decides on any of them. If all
    /// of them exist, the command runs in the last one.
    pub entered: Vec<PathBuf>,
    /// What the line did to the checked-out branch before this command, in order. Commands in the same place share
    /// one list.
    pub switches: Arc<[BranchSwitch]>,
}

/// A git command, other than `commit`, that moves, creates or removes a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchUpdate {
    /// The command with the option that matters: `merge`, `branch -f`.
    pub command: &'static str,
    /// The repository, and what is checked out there.
    pub site: GitSite,
    /// The branch that changes.
    pub branch: UpdatedBranch,
    /// What happens to the branch.
    pub kind: UpdateKind,
    /// The revision that the branch gets, where the words name one.
    pub from: Option<String>,
    /// The message of the new commit.
    pub message: CommitMessage,
}

/// The message that a command line gives a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CommitMessage {
    /// The words give none: git takes an old one, or starts an editor.
    #[default]
    NotGiven,
    /// The words give all of it.
    Known(String),
    /// It is what this file holds.
    InFile(PathBuf),
    /// It is given, but depends on variables or on what commands print.
    Unknown,
}

impl BranchUpdate {
    /// Whether the command makes commits of its own, as `git commit` does. A `pull` or `rebase` does not count.
    pub fn makes_commits(&self) -> bool {
        matches!(self.command, "merge" | "revert" | "cherry-pick" | "am")
    }
}

/// The branch that a git command updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdatedBranch {
    /// The one that is checked out.
    CheckedOut,
    /// The one of this name.
    Named(String),
    /// One whose name cannot be known.
    Unknown,
}

/// A `git push`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// The repository that is pushed from, and what is checked out there.
    pub site: GitSite,
    /// The name or address of the other repository; `None` where the words do not say.
    pub remote: Option<String>,
    /// The branches of the other repository that change; empty where only tags do.
    pub branches: Vec<PushedBranch>,
    /// `--dry-run`: nothing changes.
    pub is_dry_run: bool,
}

/// A branch that a push changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedBranch {
    /// The branch in the other repository.
    pub target: PushTarget,
    /// Whether the push may take commits away from it.
    pub force: PushForce,
    /// The branch is deleted.
    pub is_deletion: bool,
}

/// Which branch of the other repository a push changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushTarget {
    /// No branch is named, so the configuration of the checked-out branch decides; usually its upstream.
    Upstream,
    /// The one with the name of the branch that is checked out here.
    CheckedOut,
    /// The one of this name.
    Named(String),
    /// All branches that exist here, or those that exist on both sides.
    All,
    /// One whose name cannot be known.
    Unknown,
}

/// Whether a push may take commits away from a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushForce {
    /// It only adds commits.
    Never,
    /// `--force-with-lease`: only commits that this repository has seen.
    WithLease,
    /// `--force`, `+SOURCE:TARGET`, `--mirror`.
    Always,
}

/// What happens to an updated branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateKind {
    /// It gets other commits.
    Moves,
    /// It is created; the command fails if it exists.
    Creates,
    /// It is deleted or renamed.
    Removes,
}

/// A command that checks out something else, or creates something that can be checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSwitch {
    /// The directories in which it may happen; empty where it may be any.
    pub places: Vec<PathBuf>,
    /// What is checked out afterwards.
    pub target: SwitchTarget,
    /// It always runs before the effect that lists it, and has succeeded by then.
    pub is_certain: bool,
}

/// What a switch leaves checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchTarget {
    /// A branch that the command creates, resets, or writes into HEAD.
    New(String),
    /// A branch that exists, or else something other than a branch.
    Existing {
        /// The branch or revision.
        name: String,
        /// If there is no such branch, the name may be a file that is restored.
        or_path: bool,
    },
    /// `git switch -`, `@{-2}`: the branch that was checked out this many switches ago.
    Previous(usize),
    /// The branch that was checked out when the line started.
    Start,
    /// No branch: HEAD points to a commit.
    Detached,
    /// Anything.
    Unknown,
    /// Nothing is checked out, but a branch of this name exists from now on.
    Created(String),
    /// A work tree is created at `places`.
    WorkTree {
        /// A directory in the repository that gets the work tree.
        repository: PathBuf,
        /// What is checked out in the work tree.
        target: Box<SwitchTarget>,
    },
}

/// The branch that a command line names, without a look at the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBranch<'a> {
    /// The line switches nowhere.
    Current,
    /// The line switches to this branch first.
    Named(&'a str),
    /// The line switches, but it is not certain where to.
    Unknown,
}

impl GitSite {
    /// The branch that the line itself names for this command.
    pub fn named_branch(&self) -> NamedBranch<'_> {
        let is_move = |switch: &&BranchSwitch| !matches!(switch.target, SwitchTarget::Created(_));
        let Some(last) = self.switches.iter().rfind(is_move) else { return NamedBranch::Current };
        let is_here = matches!((&*last.places, &self.repository), ([place], Some(here)) if place == here);
        match &last.target {
            SwitchTarget::New(name) | SwitchTarget::Existing { name, .. } if last.is_certain && is_here => {
                NamedBranch::Named(name)
            }
            _ => NamedBranch::Unknown,
        }
    }
}

/// A git command that changes files of a work tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TreeChange {
    /// The command: `checkout`, `clean`.
    pub command: &'static str,
    /// The directory in which git runs.
    pub directory: PathBuf,
    /// The directory of the repository, where an option or a variable names one.
    pub repository: Option<PathBuf>,
    /// The top of the work tree, where an option or a variable names one.
    pub work_tree: Option<PathBuf>,
    /// The files that change; empty: all files of the work tree.
    pub paths: Vec<Pathspec>,
    /// Files that do not change although `paths` matches them.
    pub excluded: Vec<Pathspec>,
    /// An earlier command of the line changed which files git tracks.
    pub is_index_changed: bool,
    /// What happens to the files.
    pub kind: TreeChangeKind,
}

/// What a git command does to files of a work tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TreeChangeKind {
    /// Tracked files lose the changes that are not committed.
    Restore,
    /// Files get the content that they have in another revision, or are deleted.
    Replace,
    /// Tracked files are deleted.
    Remove,
    /// Files that are not tracked are deleted.
    Clean {
        /// Files that are not ignored are deleted.
        untracked: bool,
        /// Ignored files are deleted.
        ignored: bool,
        /// Patterns that count as ignored besides those of the repository.
        kept: Vec<String>,
    },
    /// Tracked files that no pattern matches are taken out of the work tree.
    Sparse {
        /// The patterns are directories, and files beside and above them stay.
        is_cone: bool,
        /// What stays.
        patterns: Vec<String>,
    },
}

/// A path or pattern as git reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Pathspec {
    /// The path or pattern without its magic words.
    pub pattern: String,
    /// It is relative to the top of the work tree, not to the current directory.
    pub from_top: bool,
    /// Upper and lower case are equal.
    pub ignores_case: bool,
    /// No character of it is a wildcard.
    pub is_literal: bool,
}

impl Pathspec {
    /// Parses `src`, `*.rs`, `:/src`, `:(top,icase)src` or `:!src`. The second value is true if it excludes files.
    pub fn parse(text: &str) -> (Self, bool) {
        let mut spec = Self::default();
        let mut is_excluded = false;
        let mut pattern = text;
        if let Some((magic, rest)) = text.strip_prefix(":(").and_then(|rest| rest.split_once(')')) {
            pattern = rest;
            for word in magic.split(',') {
                match word.trim() {
                    "top" => spec.from_top = true,
                    "icase" => spec.ignores_case = true,
                    "literal" => spec.is_literal = true,
                    "exclude" => is_excluded = true,
                    _ => {}
                }
            }
        } else if let Some(rest) = text.strip_prefix(':') {
            let signs = rest.len() - rest.trim_start_matches(['/', '!', '^']).len();
            spec.from_top = rest[..signs].contains('/') || rest.is_empty();
            is_excluded = rest[..signs].contains(['!', '^']);
            pattern = &rest[signs..];
            pattern = pattern.strip_prefix(':').unwrap_or(pattern);
        }
        pattern.clone_into(&mut spec.pattern);
        spec.is_literal |= !pattern.contains(['*', '?', '[']);
        (spec, is_excluded)
    }
}
