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
    /// No condition decided whether the line entered these directories.
    pub is_unconditional: bool,
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
    /// The branch; `None`: the one that is checked out.
    pub branch: Option<String>,
    /// The revision that it gets, where the words name one.
    pub from: Option<String>,
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
