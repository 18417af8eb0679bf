//! On which branches of a repository a git command may act.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use provost_core::effect::Effect;
use provost_core::effect::git::{BranchSwitch, GitSite, SwitchTarget};
use provost_core::opinion::Fault;
use provost_core::places::is_within;
use provost_core::workspace::Workspace;
use provost_core::workspace::git_repository::{Head, Repository};

#[derive(Clone, PartialEq)]
pub(crate) enum PossibleBranch {
    Named(String),
    /// No branch is checked out.
    None,
    Unknown,
}

impl PossibleBranch {
    /// What a client recorded as the branch.
    pub(crate) fn from_record(recorded: &str) -> Self {
        if recorded == "HEAD" { Self::None } else { Self::Named(recorded.to_owned()) }
    }
}

/// What is checked out after one switch.
enum AfterSwitch {
    Branch(PossibleBranch),
    /// This branch, or what was checked out before.
    MaybeBranch(PossibleBranch),
    Unchanged,
}

pub(crate) struct BranchFinder<'a> {
    pub(crate) workspace: &'a Workspace,
    /// The repository whose branches are meant.
    pub(crate) own: &'a Repository,
    /// Where the command line starts.
    pub(crate) start: &'a Path,
    /// All effects of the command line.
    pub(crate) effects: &'a [Effect],
}

impl BranchFinder<'_> {
    /// The branches on which a command may act: a single one is certain. The inner error says why it acts on
    /// no branch of the project.
    pub(crate) fn find_branches(
        &self,
        site: &GitSite,
    ) -> Result<Result<Vec<PossibleBranch>, &'static str>, Fault> {
        let start = [self.start.to_owned()];
        let places: &[PathBuf] = match (&site.repository, &*site.possible) {
            (Some(place), _) => std::slice::from_ref(place),
            (None, []) => &start,
            (None, possible) => possible,
        };
        // If all directories that the line enters exist, it surely enters the last one.
        if let Some(last) = site.entered.last().filter(|_| places.len() > 1)
            && site.entered.iter().all(|place| self.is_left_in_place(place))
            && self.find_own_repository(last).is_none()
        {
            return Ok(Err("it commits in another repository"));
        }
        let mut branches = Vec::new();
        for place in places {
            for branch in self.find_branches_in(place, site)? {
                if !branches.contains(&branch) {
                    branches.push(branch);
                }
            }
        }
        if site.repository.is_none() && site.possible.is_empty() {
            // The command may run in any work tree that the line creates.
            branches.extend(self.find_in_new_trees(site, |_| true)?);
        }
        if branches.is_empty() {
            return Ok(Err("it commits in another repository, or in none"));
        }
        Ok(Ok(branches))
    }

    /// Whether a directory exists and the line neither deletes nor moves it.
    fn is_left_in_place(&self, place: &Path) -> bool {
        let is_deleted = || {
            let real = self.workspace.resolve(place);
            self.effects.iter().any(|effect| match effect {
                Effect::Delete { path } => is_within(&real, &self.workspace.resolve(path)),
                _ => false,
            })
        };
        self.workspace.is_directory(place) && !is_deleted()
    }

    /// The repository around a place, if it is the project's own.
    fn find_own_repository(&self, place: &Path) -> Option<Repository> {
        self.workspace.find_repository(place).filter(|found| found.is_same_repository(self.own))
    }

    fn find_branches_in(&self, place: &Path, site: &GitSite) -> Result<Vec<PossibleBranch>, Fault> {
        let exists = self.workspace.exists(place);
        if !exists {
            let branches = self.find_in_new_tree(place, site)?;
            if !branches.is_empty() {
                return Ok(branches);
            }
        }
        let Some(repository) = self.find_own_repository(place) else { return Ok(Vec::new()) };
        if !exists && place.components().any(|part| part.as_os_str() == "worktrees") {
            // `--git-dir=.git/worktrees/NAME` of a work tree that the line creates.
            return self.find_in_new_trees(site, |_| true);
        }
        let mut branches = Vec::new();
        for (at, switch) in site.switches.iter().enumerate().rev() {
            let is_unknown = site.repository.is_none() && site.possible.is_empty();
            let is_here = |place: &PathBuf| {
                self.workspace.find_repository(place).is_some_and(|other| other.is_same_tree(&repository))
            };
            let (may_be_here, is_surely_here) = match &*switch.places {
                [] => (true, is_unknown),
                places => (places.iter().any(is_here), places.iter().all(is_here)),
            };
            if !may_be_here {
                continue;
            }
            match apply_switch(&switch.target, &repository, &site.switches[..at])? {
                AfterSwitch::Unchanged => {}
                AfterSwitch::MaybeBranch(branch) => branches.push(branch),
                AfterSwitch::Branch(branch) => {
                    branches.push(branch);
                    if switch.is_certain && is_surely_here {
                        return Ok(branches);
                    }
                }
            }
        }
        branches.push(self.find_head(&repository));
        Ok(branches)
    }

    /// What is checked out. In a past session, what its record says, because that may have changed since.
    fn find_head(&self, repository: &Repository) -> PossibleBranch {
        let is_own = || {
            let own = self.workspace.find_repository(self.start);
            own.is_some_and(|own| own.is_same_tree(repository))
        };
        match self.workspace.find_recorded_branch() {
            Some(recorded) if !recorded.is_empty() && is_own() => PossibleBranch::from_record(&recorded),
            _ => read_head(repository),
        }
    }

    /// What is checked out in the work trees that the line creates in the places that `is_there` accepts.
    fn find_in_new_trees(
        &self,
        site: &GitSite,
        is_there: impl Fn(&[PathBuf]) -> bool,
    ) -> Result<Vec<PossibleBranch>, Fault> {
        let mut branches = Vec::new();
        for BranchSwitch { places, target, .. } in site.switches.iter() {
            if let SwitchTarget::WorkTree { repository, target } = target
                && let Some(repository) = self.find_own_repository(repository)
                && is_there(places)
            {
                branches.extend(apply_switch(target, &repository, &[])?.into_branch());
            }
        }
        Ok(branches)
    }

    /// What is checked out in a work tree that the line creates here.
    fn find_in_new_tree(&self, place: &Path, site: &GitSite) -> Result<Vec<PossibleBranch>, Fault> {
        let real = self.workspace.resolve(place);
        let mut branches = self.find_in_new_trees(site, |places| {
            places.is_empty() || places.iter().any(|tree| real.starts_with(self.workspace.resolve(tree)))
        })?;
        if branches.is_empty() {
            return Ok(branches);
        }
        // Switches inside the new tree.
        for BranchSwitch { places, target, .. } in site.switches.iter() {
            let is_there = places.iter().any(|tree| self.workspace.find_repository(tree).is_none());
            if is_there && !matches!(target, SwitchTarget::WorkTree { .. }) {
                branches.extend(apply_switch(target, self.own, &[])?.into_branch());
            }
        }
        Ok(branches)
    }
}

impl AfterSwitch {
    fn into_branch(self) -> Option<PossibleBranch> {
        match self {
            Self::Branch(branch) | Self::MaybeBranch(branch) => Some(branch),
            Self::Unchanged => None,
        }
    }
}

fn read_head(repository: &Repository) -> PossibleBranch {
    match repository.read_head() {
        Head::Branch(name) => PossibleBranch::Named(name),
        Head::Detached | Head::Unknown => PossibleBranch::None,
    }
}

/// `earlier`: switches of the same line, which may have created the branch.
fn apply_switch(
    target: &SwitchTarget,
    repository: &Repository,
    earlier: &[BranchSwitch],
) -> Result<AfterSwitch, Fault> {
    let creates = |switch: &BranchSwitch, wanted: &str| match &switch.target {
        SwitchTarget::New(name) | SwitchTarget::Created(name) => name == wanted,
        _ => false,
    };
    Ok(match target {
        SwitchTarget::New(name) => AfterSwitch::Branch(PossibleBranch::Named(name.clone())),
        SwitchTarget::Detached => AfterSwitch::Branch(PossibleBranch::None),
        SwitchTarget::Unknown => AfterSwitch::MaybeBranch(PossibleBranch::Unknown),
        SwitchTarget::Start => AfterSwitch::Branch(read_head(repository)),
        SwitchTarget::Created(_) | SwitchTarget::WorkTree { .. } => AfterSwitch::Unchanged,
        SwitchTarget::Previous(steps) => AfterSwitch::Branch(match repository.find_previous_branch(*steps) {
            Some(name) if repository.has_branch(&name)? => PossibleBranch::Named(name),
            // A commit was checked out then.
            Some(_) => PossibleBranch::None,
            None => PossibleBranch::Unknown,
        }),
        // Both mean the branch that is checked out.
        SwitchTarget::Existing { name, .. } if matches!(name.as_str(), "HEAD" | "@") => {
            AfterSwitch::Unchanged
        }
        SwitchTarget::Existing { name, or_path } => {
            let is_branch = is_main(name)
                || repository.has_branch(name)?
                || earlier.iter().any(|switch| creates(switch, name));
            let branch = PossibleBranch::Named(name.clone());
            let (_, name_at_remote) = name.split_once('/').unwrap_or_default();
            if is_branch || (!name.contains('/') || !or_path) && repository.has_remote_branch(name)? {
                AfterSwitch::Branch(branch)
            } else if is_revision(name) || repository.has_remote_branch(name_at_remote)? {
                // git checks out a commit without a branch, and says so.
                AfterSwitch::Branch(PossibleBranch::None)
            } else if *or_path {
                AfterSwitch::MaybeBranch(branch)
            } else {
                AfterSwitch::Branch(branch)
            }
        }
    })
}

/// Whether a name can only be a commit: `HEAD~1`, a hash.
fn is_revision(name: &str) -> bool {
    let is_hash = name.len() >= 7 && name.bytes().all(|c| c.is_ascii_hexdigit());
    let is_full = ["refs/", "heads/", "tags/", "remotes/"].iter().any(|front| name.starts_with(front));
    is_hash || is_full || name.contains(['~', '^', '@']) || matches!(name, "FETCH_HEAD" | "ORIG_HEAD")
}

pub(crate) fn is_main(branch: &str) -> bool {
    matches!(branch, "main" | "master")
}
