//! Which effects give a branch new commits, and which of them bring main nothing but its own past.

use std::borrow::Cow;
use std::path::Path;

use super::landing::{Branch, is_main};
use crate::decision::Fault;
use crate::effect::Effect;
use crate::effect::git::{BranchUpdate, GitSite, UpdateKind, UpdatedBranch};
use crate::workspace::Workspace;
use crate::workspace::git::Repository;

/// A command of git that gives a branch new commits.
pub(super) struct Update<'a> {
    pub(super) command: &'static str,
    pub(super) site: &'a GitSite,
    pub(super) branch: &'a UpdatedBranch,
    kind: UpdateKind,
    from: Option<&'a str>,
}

impl<'a> Update<'a> {
    pub(super) fn of(effect: &'a Effect) -> Option<Self> {
        match effect {
            Effect::Commit { site, dry_run: false } => Some(Self {
                command: "commit",
                site,
                branch: &UpdatedBranch::CheckedOut,
                kind: UpdateKind::Moves,
                from: None,
            }),
            Effect::UpdateBranch(update) if update.kind != UpdateKind::Removes => {
                let BranchUpdate { command, site, branch, kind, from } = &**update;
                Some(Self { command, site, branch, kind: *kind, from: from.as_deref() })
            }
            _ => None,
        }
    }

    /// Whether main only gets what is its own: from where it comes, or from its own past. `current`: what may
    /// be checked out.
    pub(super) fn is_harmless(
        &self,
        main: &str,
        current: &[Branch],
        effects: &[Effect],
        own: &Repository,
    ) -> Result<bool, Fault> {
        if self.kind == UpdateKind::Makes && !self.can_make(main, effects, own)? {
            return Ok(true);
        }
        let Some(from) = self.from else { return Ok(false) };
        let name =
            ["refs/heads/", "heads/"].iter().find_map(|front| from.strip_prefix(front)).unwrap_or(from);
        let is_upstream =
            |text: &str| matches!(text, "@{u}" | "@{upstream}") || text == format!("{main}@{{u}}");
        let is_local = own.has_branch(name)?;
        let remote = name.strip_prefix("refs/remotes/").unwrap_or(name);
        let is_remote = !is_local && remote.split_once('/').is_some_and(|(_, branch)| branch == main);
        if name == main || is_upstream(name) || is_remote {
            return Ok(true);
        }
        if matches!(name, "HEAD" | "@") && *self.branch != UpdatedBranch::CheckedOut {
            return Ok(matches!(current, [Branch::Named(only)] if only == main));
        }
        // These also go back in time, and to files; only another branch brings something new.
        let goes_back = matches!(self.command, "reset" | "rebase");
        Ok(goes_back && self.is_past(name, main, own)?)
    }

    /// Whether a revision that is no name of main may still be its past.
    fn is_past(&self, name: &str, main: &str, own: &Repository) -> Result<bool, Fault> {
        let end = name.find(['~', '^', ':']).unwrap_or(name.len());
        let end = name.find("@{").map_or(end, |at| at.min(end));
        let (base, rest) = name.split_at(end);
        let number = |front: &str| rest.strip_prefix(front)?.strip_suffix('}')?.parse::<usize>().ok();
        let previous = if base == "-" { Some(1) } else { number("@{-").filter(|_| base.is_empty()) };
        if let Some(steps) = previous {
            let is_first = self.site.switches.is_empty();
            return Ok(is_first && own.previous_branch(steps).is_some_and(|branch| branch == main));
        }
        if base.is_empty() || base == main {
            return Ok(true);
        }
        let hash = match (base, number("@{")) {
            ("HEAD", Some(_)) if !self.site.switches.is_empty() => return Ok(false),
            ("HEAD", Some(steps)) => own.earlier_head(steps),
            ("HEAD" | "@", _) => return Ok(true),
            _ if own.has_branch(base)? => return Ok(false),
            _ => own.commit_of(base),
        };
        if let Some(hash) = hash {
            return Ok(!own.is_of_another_branch(&hash, main));
        }
        let remote = base.strip_prefix("refs/remotes/").unwrap_or(base);
        let (_, branch) = remote.split_once('/').unwrap_or_default();
        Ok(branch == main || !own.has_remote_branch(branch)?)
    }

    /// Whether a branch that is main can be made: it was there, and is gone or is taken away by the line.
    fn can_make(&self, main: &str, effects: &[Effect], own: &Repository) -> Result<bool, Fault> {
        let takes_away = |effect: &Effect| match effect {
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
            return Ok(effects.iter().any(takes_away));
        }
        Ok(own.had_branch(main) || own.has_remote_branch(main)?)
    }
}

/// The file that is written or put somewhere, if its name is one of git's references.
pub(super) fn written_reference(effect: &Effect) -> Option<Cow<'_, Path>> {
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

/// The branch that is main, if a file that holds it is written.
pub(super) fn written_branch(
    effects: &[Effect],
    workspace: &Workspace,
    own: &Repository,
) -> Option<&'static str> {
    let paths = effects.iter().filter_map(written_reference).filter(|path| !path.ends_with("HEAD"));
    let mut own = paths.filter(|path| own.is_shared_file(&workspace.resolve_parent(path)));
    own.next().map(|path| if path.ends_with("master") { "master" } else { "main" })
}

/// Whether the line writes the file that says what is checked out.
pub(super) fn is_head_written(effects: &[Effect], workspace: &Workspace, own: &Repository) -> bool {
    let mut paths = effects.iter().filter_map(written_reference).filter(|path| path.ends_with("HEAD"));
    paths.any(|path| own.is_shared_file(&workspace.resolve_parent(&path)))
}
