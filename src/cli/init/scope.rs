//! Whose settings file `init` writes to, and what that means for others.
//!
//! Without `--scope`, nobody else's session changes: the entries stay in the file that has them, or go into the
//! user's own file of this project.

use std::process::{Command, Stdio};

use crate::cli::overview::Overview;
use crate::cli::overview::activation::PLAN_GATE;
use crate::cli::settings_file::{ScopeOption, SettingsFile};
use crate::clients::SettingsScope;
use crate::places::resolve_path;

/// The scope, and a sentence that says why and how to choose another. No sentence if the user named it.
pub(super) fn choose(named: Option<ScopeOption>, overview: &Overview) -> (ScopeOption, Option<String>) {
    if let Some(scope) = named {
        return (scope, None);
    }
    let has_entries = |scope: &ScopeOption| {
        let mut sources = overview.sources().iter().filter(|source| source.scope == scope.to_client_scope());
        sources.any(|source| source.hooks.iter().any(|hook| hook.is_installed))
    };
    let home = overview.workspace.places.home.as_deref();
    let has_file = |scope: ScopeOption| {
        overview.client.has_file(
            &scope.to_client_scope(),
            &overview.workspace.places,
            &overview.settings_root,
        )
    };
    let (scope, why) = if let Some(scope) =
        [ScopeOption::Local, ScopeOption::Project, ScopeOption::User].into_iter().find(has_entries)
    {
        (scope, "because Provost's entries are there already.")
    } else if home.is_some_and(|home| resolve_path(home) == resolve_path(&overview.settings_root)) {
        (ScopeOption::User, "because this is your home directory.")
    } else if !has_file(ScopeOption::Project) {
        (ScopeOption::User, "because this client reads no settings of a project.")
    } else if !has_file(ScopeOption::Local) {
        let why = "because this client has no settings file for you alone in a project. For all your projects: \
                   `--scope user`.";
        (ScopeOption::Project, why)
    } else {
        let why = "so only your own sessions in this project change. For everybody who works on it: `--scope \
                   project`. For all your projects: `--scope user`.";
        (ScopeOption::Local, why)
    };
    (scope, Some(format!("Scope: {}, {why}", scope.name())))
}

/// What people get who share the file and do not have Provost.
pub(super) fn warn_about_teammates(
    scope: ScopeOption,
    packs: &[&str],
    closed: bool,
    overview: &Overview,
) -> Option<String> {
    if scope != ScopeOption::Project {
        return None;
    }
    let (word, what) = match (closed, packs.contains(&PLAN_GATE)) {
        (true, _) => ("Warning", "have every tool call blocked until they install it"),
        (false, true) => (
            "Warning",
            "cannot leave plan mode until they install it. Their other tool calls continue unchecked; one line says \
             so when a session starts",
        ),
        (false, false) => ("Note", "work unchecked; one line says so when a session starts"),
    };
    let (places, root) = (&overview.workspace.places, &overview.settings_root);
    let has_local = overview.client.has_file(&SettingsScope::Local, places, root);
    let alone = if has_local { "local" } else { "user" };
    Some(format!(
        "{word}: Teammates without Provost {what}. `--scope {alone}` keeps the entries to yourself."
    ))
}

/// A note for a file of the user alone that git would commit.
pub(super) fn check_git_ignores(file: &SettingsFile, overview: &Overview) -> Option<String> {
    if file.scope != ScopeOption::Local {
        return None;
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(&overview.settings_root).args(["check-ignore", "--quiet", "--"]).arg(&file.shown_path);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Code 1 means "not ignored". Every other code means that git does not know: no repository, or no git.
    let is_not_ignored = git.status().is_ok_and(|status| status.code() == Some(1));
    let name = overview.short_path(&file.shown_path);
    is_not_ignored.then(|| {
        format!("git does not ignore {name}, so a commit could share it. To fix: add it to .gitignore")
    })
}
