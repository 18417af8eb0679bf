//! On which branches of the project's repository a command of git may land.

use std::path::{Path, PathBuf};

use crate::decision::Fault;
use crate::effect::git::{GitSite, Switch, SwitchTarget};
use crate::workspace::git::{Head, Repository};
use crate::workspace::{Workspace, is_within};

/// Where a command of git may land.
pub(super) enum Landing {
    /// On one of these branches; where there is one, that is certain.
    On(Vec<Branch>),
    /// On no branch of this workflow's business.
    Elsewhere(&'static str),
}

#[derive(Clone, PartialEq)]
pub(super) enum Branch {
    Named(String),
    /// No branch is checked out.
    None,
    Unknown,
}

/// What one switch leaves checked out.
enum Left {
    Branch(Branch),
    /// What was there before may still be there.
    OrBefore(Branch),
    /// What was there before is still there.
    Before,
}

pub(super) struct Places<'a> {
    pub(super) workspace: &'a Workspace,
    /// The project's own repository.
    pub(super) own: &'a Repository,
    /// Where the command line starts.
    pub(super) start: &'a Path,
    /// What the command line deletes or moves away.
    pub(super) gone: &'a [PathBuf],
}

impl Places<'_> {
    pub(super) fn landing(&self, site: &GitSite) -> Result<Landing, Fault> {
        let anywhere = [self.start.to_owned()];
        let places: Vec<&PathBuf> = match (&site.repository, &*site.possible) {
            (Some(place), _) => vec![place],
            (None, []) => anywhere.iter().collect(),
            (None, possible) => possible.iter().collect(),
        };
        // Where all directories that the line enters are there, nothing keeps it from entering the last.
        if let Some(last) = site.entered.last().filter(|_| places.len() > 1)
            && site.entered.iter().all(|place| self.stays(place))
            && !self.is_own(last)
        {
            return Ok(Landing::Elsewhere("it commits in another repository"));
        }
        let mut branches = Vec::new();
        for place in places {
            for branch in self.branches_at(place, site)? {
                if !branches.contains(&branch) {
                    branches.push(branch);
                }
            }
        }
        if site.repository.is_none() && site.possible.is_empty() {
            // It may run in any work tree that the line makes.
            branches.extend(self.branches_of_trees(site, |_| true)?);
        }
        if branches.is_empty() {
            return Ok(Landing::Elsewhere("it commits in another repository, or in none"));
        }
        Ok(Landing::On(branches))
    }

    /// Whether a directory is there, and the line leaves it there.
    fn stays(&self, place: &Path) -> bool {
        let is_gone = || {
            let real = self.workspace.resolve(place);
            self.gone.iter().any(|gone| is_within(&real, &self.workspace.resolve(gone)))
        };
        self.workspace.is_directory(place) && !is_gone()
    }

    fn is_own(&self, place: &Path) -> bool {
        self.workspace.repository(place).is_some_and(|repository| repository.is(self.own))
    }

    fn branches_at(&self, place: &Path, site: &GitSite) -> Result<Vec<Branch>, Fault> {
        if !self.workspace.exists(place) {
            let branches = self.branches_of_new_tree(place, site)?;
            if !branches.is_empty() {
                return Ok(branches);
            }
        }
        let Some(repository) = self.workspace.repository(place).filter(|found| found.is(self.own)) else {
            return Ok(Vec::new());
        };
        let is_part_of_git = place.components().any(|part| part.as_os_str() == "worktrees");
        if is_part_of_git && !self.workspace.exists(place) {
            // `--git-dir=.git/worktrees/NAME` of a work tree that the line makes.
            return self.branches_of_trees(site, |_| true);
        }
        let mut branches = Vec::new();
        for (at, switch) in site.switches.iter().enumerate().rev() {
            let is_unknown = site.repository.is_none() && site.possible.is_empty();
            let is_here = |place: &PathBuf| {
                self.workspace.repository(place).is_some_and(|other| other.is_same_tree(&repository))
            };
            let (may_be, is_sure) = match &*switch.places {
                [] => (true, is_unknown),
                places => (places.iter().any(is_here), places.iter().all(is_here)),
            };
            if !may_be {
                continue;
            }
            let made = || site.switches[..at].iter().filter_map(|switch| made_branch(&switch.target));
            match left(&switch.target, &repository, made)? {
                Left::Before => {}
                Left::OrBefore(branch) => branches.push(branch),
                Left::Branch(branch) => {
                    branches.push(branch);
                    if switch.is_certain && is_sure {
                        return Ok(branches);
                    }
                }
            }
        }
        branches.push(head(&repository));
        Ok(branches)
    }

    /// What is checked out in the work trees that the line makes in some place.
    fn branches_of_trees(
        &self,
        site: &GitSite,
        is_there: impl Fn(&[PathBuf]) -> bool,
    ) -> Result<Vec<Branch>, Fault> {
        let mut branches = Vec::new();
        for Switch { places, target, .. } in site.switches.iter() {
            let SwitchTarget::WorkTree { repository, target } = target else { continue };
            let repository = self.workspace.repository(repository).filter(|found| found.is(self.own));
            let Some(repository) = repository.filter(|_| is_there(places)) else { continue };
            if let Left::Branch(branch) | Left::OrBefore(branch) =
                left(target, &repository, std::iter::empty)?
            {
                branches.push(branch);
            }
        }
        Ok(branches)
    }

    /// A work tree that the line itself makes is not there yet.
    fn branches_of_new_tree(&self, place: &Path, site: &GitSite) -> Result<Vec<Branch>, Fault> {
        let real = self.workspace.resolve(place);
        let mut branches = self.branches_of_trees(site, |places| {
            places.is_empty() || places.iter().any(|tree| real.starts_with(self.workspace.resolve(tree)))
        })?;
        if branches.is_empty() {
            return Ok(branches);
        }
        // Switches in the new tree.
        for Switch { places, target, .. } in site.switches.iter() {
            let is_there = places.iter().any(|tree| self.workspace.repository(tree).is_none());
            if is_there && !matches!(target, SwitchTarget::WorkTree { .. }) {
                let made = || std::iter::empty();
                if let Left::Branch(branch) | Left::OrBefore(branch) = left(target, self.own, made)? {
                    branches.push(branch);
                }
            }
        }
        Ok(branches)
    }
}

fn made_branch(target: &SwitchTarget) -> Option<&str> {
    match target {
        SwitchTarget::New(name) | SwitchTarget::Made(name) => Some(name),
        _ => None,
    }
}

fn head(repository: &Repository) -> Branch {
    match repository.head() {
        Head::Branch(name) => Branch::Named(name),
        Head::Detached | Head::Unknown => Branch::None,
    }
}

/// `made`: branches that the line made before.
fn left<'s, I: Iterator<Item = &'s str>>(
    target: &SwitchTarget,
    repository: &Repository,
    made: impl Fn() -> I,
) -> Result<Left, Fault> {
    Ok(match target {
        SwitchTarget::New(name) => Left::Branch(Branch::Named(name.clone())),
        SwitchTarget::Detached => Left::Branch(Branch::None),
        SwitchTarget::Unknown => Left::OrBefore(Branch::Unknown),
        SwitchTarget::Start => Left::Branch(head(repository)),
        SwitchTarget::Made(_) | SwitchTarget::WorkTree { .. } => Left::Before,
        SwitchTarget::Previous(steps) => Left::Branch(match repository.previous_branch(*steps) {
            Some(name) if repository.has_branch(&name)? => Branch::Named(name),
            // A commit was checked out then.
            Some(_) => Branch::None,
            None => Branch::Unknown,
        }),
        // They mean the branch that is checked out.
        SwitchTarget::Existing { name, .. } if matches!(name.as_str(), "HEAD" | "@") => Left::Before,
        SwitchTarget::Existing { name, or_path } => {
            let is_branch = is_main(name) || repository.has_branch(name)? || made().any(|made| made == name);
            let branch = Branch::Named(name.clone());
            if is_branch || (!name.contains('/') || !or_path) && repository.has_remote_branch(name)? {
                Left::Branch(branch)
            } else if is_revision(name) || repository.has_remote_branch(tail(name))? {
                // A commit of no branch; git says so and goes on.
                Left::Branch(Branch::None)
            } else if *or_path {
                Left::OrBefore(branch)
            } else {
                Left::Branch(branch)
            }
        }
    })
}

/// `origin/NAME` without the name of the other repository.
fn tail(name: &str) -> &str {
    name.split_once('/').map_or("", |(_, rest)| rest)
}

/// Whether a name can only be a commit: `HEAD~1`, a hash.
fn is_revision(name: &str) -> bool {
    let is_hash = name.len() >= 7 && name.bytes().all(|c| c.is_ascii_hexdigit());
    let is_full = ["refs/", "heads/", "tags/", "remotes/"].iter().any(|front| name.starts_with(front));
    is_hash || is_full || name.contains(['~', '^', '@']) || matches!(name, "FETCH_HEAD" | "ORIG_HEAD")
}

pub(super) fn is_main(branch: &str) -> bool {
    matches!(branch, "main" | "master")
}
