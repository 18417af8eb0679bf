//! Where a command of git takes effect: in which repository, and on which branch.
//!
//! A command line says which branches it switched to before; which branch that leaves is decided by the
//! repository on disk. So an effect carries the switches, and a guard resolves them.

use std::path::PathBuf;
use std::sync::Arc;

/// Where a command of git takes effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitSite {
    /// A directory in the repository; `None` where it is not certain.
    pub repository: Option<PathBuf>,
    /// Where it is not certain: the possible directories, the one that was entered last at the end. Empty
    /// where it may be any.
    pub possible: Vec<PathBuf>,
    /// The directories that the line entered one after the other, where no condition decides on it; empty
    /// where one does. If all of them are there, the command runs in the last one.
    pub entered: Vec<PathBuf>,
    /// What the line did to the checked-out branch before, in order. Shared by all commands in the same place
    /// of the line.
    pub switches: Arc<[Switch]>,
}

/// A command of git, other than `commit`, that gives a branch other commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchUpdate {
    /// `merge`, `branch -f`.
    pub command: &'static str,
    pub site: GitSite,
    pub branch: UpdatedBranch,
    pub kind: UpdateKind,
    /// The revision that it gets, where the words name one.
    pub from: Option<String>,
}

/// The branch that a command updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdatedBranch {
    CheckedOut,
    Named(String),
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateKind {
    Moves,
    /// The branch is made, and the command fails if it exists.
    Makes,
    /// The branch is deleted or gets another name.
    Removes,
}

/// A command that checks out another branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The directories in which it may happen; empty where it may be any.
    pub places: Vec<PathBuf>,
    pub target: SwitchTarget,
    /// It happens in any case, and succeeds.
    pub is_certain: bool,
}

/// What a switch leaves checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchTarget {
    /// A branch that the command makes, resets, or writes into HEAD.
    New(String),
    /// A name that is a branch if there is one of this name. `or_path`: else it may be a file that is
    /// restored.
    Existing {
        name: String,
        or_path: bool,
    },
    /// `git switch -`, `@{-2}`: the branch that was checked out so many switches ago.
    Previous(usize),
    /// The branch on which the line started.
    Start,
    /// No branch at all.
    Detached,
    Unknown,
    /// Nothing is checked out, but a branch of this name is there from now on.
    Made(String),
    /// A work tree is made at `places` for the repository in this directory, with this checked out.
    WorkTree {
        repository: PathBuf,
        target: Box<SwitchTarget>,
    },
}

/// The branch that a command line names, without a look at the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBranch<'a> {
    /// The line switches nowhere.
    Current,
    Named(&'a str),
    Unknown,
}

impl GitSite {
    pub fn named_branch(&self) -> NamedBranch<'_> {
        let is_move = |switch: &&Switch| !matches!(switch.target, SwitchTarget::Made(_));
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

/// A command of git changes files of a work tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TreeChange {
    /// `checkout`, `clean`.
    pub command: &'static str,
    /// The directory in which git runs.
    pub directory: PathBuf,
    /// The directory of the repository, where an option or a variable names one.
    pub repository: Option<PathBuf>,
    /// The top of the work tree, where an option or a variable names one.
    pub work_tree: Option<PathBuf>,
    /// The files that are meant; none: all files of the work tree.
    pub paths: Vec<Pathspec>,
    pub excluded: Vec<Pathspec>,
    /// The line has changed before what git tracks.
    pub is_index_changed: bool,
    pub kind: TreeChangeKind,
}

/// What a command of git does to the files that it is given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TreeChangeKind {
    /// Tracked files lose the changes that are not committed.
    Restore,
    /// Files get the content that they have in another revision, or are deleted.
    Replace,
    /// Tracked files are deleted.
    Remove,
    /// Files that are not tracked are deleted. `kept`: patterns that are ignored besides those of the
    /// repository.
    Clean { untracked: bool, ignored: bool, kept: Vec<String> },
    /// Tracked files are taken out of the work tree, except these. `is_cone`: the patterns are directories, and
    /// files beside them and above them stay.
    Sparse { is_cone: bool, patterns: Vec<String> },
}

/// A path or pattern as git reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Pathspec {
    pub pattern: String,
    /// It is seen from the top of the work tree, not from the current directory.
    pub from_top: bool,
    pub ignores_case: bool,
    /// No letter of it is a wildcard.
    pub is_literal: bool,
}

impl Pathspec {
    /// Reads `src`, `*.rs`, `:/src`, `:(top,icase)src`, `:!src`. The second value: the files are excluded.
    pub fn read(text: &str) -> (Self, bool) {
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
