//! Which effects give a branch new commits, and which of them give main only what it had before.

use crate::phases::prelude::*;
use std::borrow::Cow;
use std::path::Path;

use crate::branch_finder::{PossibleBranch, is_main};
use provost_core::effect::Effect;
use provost_core::effect::git::{BranchUpdate, GitSite, UpdateKind, UpdatedBranch};
use provost_core::workspace::git_repository::Repository;

/// A git command that gives a branch new commits.
pub(super) struct NewCommits<'a> {
    pub(super) command: &'static str,
    pub(super) site: &'a GitSite,
    pub(super) branch: &'a UpdatedBranch,
    kind: UpdateKind,
    from: Option<&'a str>,
}

impl<'a> NewCommits<'a> {
    pub(super) fn from_effect(effect: &'a Effect) -> Option<Self> {
        match effect {
            Effect::Commit { site, dry_run: false, .. } => Some(Self {
                command: "commit",
                site,
                branch: &UpdatedBranch::CheckedOut,
                kind: UpdateKind::Moves,
                from: None,
            }),
            Effect::UpdateBranch(update) if update.kind != UpdateKind::Removes => {
                let BranchUpdate { command, site, branch, kind, from, .. } = &**update;
                Some(Self { command, site, branch, kind: *kind, from: from.as_deref() })
            }
            _ => None,
        }
    }

    /// Whether main gets only its own commits: from its remote, or from its past. `current`: what may be
    /// checked out.
    pub(super) fn are_harmless(
        &self,
        main: &str,
        current: &[PossibleBranch],
        effects: &[Effect],
        own: &Repository,
    ) -> Result<bool, Fault> {
        if self.kind == UpdateKind::Creates && !self.can_create(main, effects, own)? {
            return Ok(true);
        }
        let Some(from) = self.from else { return Ok(false) };
        let name =
            ["refs/heads/", "heads/"].iter().find_map(|front| from.strip_prefix(front)).unwrap_or(from);
        let is_upstream =
            |text: &str| matches!(text, "@{u}" | "@{upstream}") || text == format!("{main}@{{u}}");
        let is_local = own.has_branch(name)?;
        let is_remote = !is_local && strip_remote(name) == Some(main);
        if name == main || is_upstream(name) || is_remote {
            return Ok(true);
        }
        if matches!(name, "HEAD" | "@") && *self.branch != UpdatedBranch::CheckedOut {
            return Ok(matches!(current, [PossibleBranch::Named(only)] if only == main));
        }
        // These also go back in time, and to files; only another branch brings something new.
        let goes_back = matches!(self.command, "reset" | "rebase");
        Ok(goes_back && self.is_past(name, main, own)?)
    }

    /// Whether a revision that is not a name of main may be one of its earlier commits.
    fn is_past(&self, name: &str, main: &str, own: &Repository) -> Result<bool, Fault> {
        let end = name.find(['~', '^', ':']).unwrap_or(name.len());
        let end = name.find("@{").map_or(end, |at| at.min(end));
        let (base, rest) = name.split_at(end);
        let number = |front: &str| rest.strip_prefix(front)?.strip_suffix('}')?.parse::<usize>().ok();
        let previous = if base == "-" { Some(1) } else { number("@{-").filter(|_| base.is_empty()) };
        if let Some(steps) = previous {
            let is_first = self.site.switches.is_empty();
            return Ok(is_first && own.find_previous_branch(steps).is_some_and(|branch| branch == main));
        }
        if base.is_empty() || base == main {
            return Ok(true);
        }
        let hash = match (base, number("@{")) {
            ("HEAD", Some(_)) if !self.site.switches.is_empty() => return Ok(false),
            ("HEAD", Some(steps)) => own.find_earlier_head(steps),
            ("HEAD" | "@", _) => return Ok(true),
            _ if own.has_branch(base)? => return Ok(false),
            _ => own.resolve_commit(base),
        };
        if let Some(hash) = hash {
            return Ok(!own.is_only_on_other_branch(&hash, main));
        }
        let branch = strip_remote(base).unwrap_or_default();
        Ok(branch == main || !own.has_remote_branch(branch)?)
    }

    /// Whether main can be created: it existed, and is gone or deleted by the same line.
    fn can_create(&self, main: &str, effects: &[Effect], own: &Repository) -> Result<bool, Fault> {
        let deletes_main = |effect: &Effect| match effect {
            Effect::UpdateBranch(update) if update.kind == UpdateKind::Removes => match &update.branch {
                UpdatedBranch::Named(name) => name == main,
                UpdatedBranch::Unknown | UpdatedBranch::CheckedOut => true,
            },
            _ => false,
        };
        if *self.branch == UpdatedBranch::Unknown {
            return Ok(false);
        }
        if own.has_branch(main)? {
            return Ok(effects.iter().any(deletes_main));
        }
        Ok(own.has_had_branch(main) || own.has_remote_branch(main)?)
    }
}

/// The branch of `origin/BRANCH` or `refs/remotes/origin/BRANCH`.
fn strip_remote(name: &str) -> Option<&str> {
    let name = name.strip_prefix("refs/remotes/").unwrap_or(name);
    name.split_once('/').map(|(_, branch)| branch)
}

/// The file that an effect writes, if its name is that of a git reference which can be main.
pub(super) fn find_reference(effect: &Effect) -> Option<Cow<'_, Path>> {
    let is_reference = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        matches!(name, "packed-refs" | "HEAD")
            || is_main(name) && path.parent().is_some_and(|parent| parent.ends_with("refs/heads"))
    };
    match effect {
        Effect::Write { path, .. } | Effect::Touch { path } => {
            is_reference(path).then_some(Cow::Borrowed(path))
        }
        Effect::Place { names, to, .. } => {
            let inside = names.iter().map(|name| Cow::Owned(to.join(name)));
            std::iter::once(Cow::Borrowed(to.as_path())).chain(inside).find(|path| is_reference(path))
        }
        _ => None,
    }
}

/// The branch that is main, if the line writes a file that holds it.
pub(super) fn find_written_branch(
    effects: &[Effect],
    workspace: &Workspace,
    own: &Repository,
) -> Option<&'static str> {
    let paths = effects.iter().filter_map(find_reference).filter(|path| !path.ends_with("HEAD"));
    let mut own = paths.filter(|path| own.is_own_file(&workspace.resolve_parent(path)));
    own.next().map(|path| if path.ends_with("master") { "master" } else { "main" })
}

/// Whether the line writes the file that says what is checked out.
pub(super) fn is_head_written(effects: &[Effect], workspace: &Workspace, own: &Repository) -> bool {
    let mut paths = effects.iter().filter_map(find_reference).filter(|path| path.ends_with("HEAD"));
    paths.any(|path| own.is_own_file(&workspace.resolve_parent(&path)))
}
