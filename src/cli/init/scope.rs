//! Whose settings file `init` writes to, and what that means for others.
//!
//! Without `--scope`, nobody else's session changes: the entries go where they are already, or else into the
//! user's own file of this project.

use std::path::Path;
use std::process::{Command, Stdio};

use super::found::{Found, GATE};
use crate::cli::settings_file::{SettingsFile, Whose};
use crate::workspace::resolve;

/// The scope, and why it is this one.
pub(super) struct ScopeChoice {
    pub(super) whose: Whose,
    reason: Reason,
}

enum Reason {
    Named,
    Installed,
    Home,
    Default,
}

impl ScopeChoice {
    pub(super) fn choose(named: Option<Whose>, found: &Found, home: Option<&Path>) -> Self {
        if let Some(whose) = named {
            return Self { whose, reason: Reason::Named };
        }
        let has_entries = |whose: &Whose| {
            let mut sources = found.sources.iter().filter(|source| source.scope == whose.scope());
            sources.any(|source| source.hooks.iter().any(|hook| hook.is_installed))
        };
        if let Some(whose) = [Whose::Local, Whose::Project, Whose::User].into_iter().find(has_entries) {
            return Self { whose, reason: Reason::Installed };
        }
        if home.is_some_and(|home| resolve(home) == resolve(&found.root)) {
            return Self { whose: Whose::User, reason: Reason::Home };
        }
        Self { whose: Whose::Local, reason: Reason::Default }
    }

    /// Why this scope, and how to choose another; `None`: the user named it.
    pub(super) fn explanation(&self) -> Option<String> {
        let word = self.whose.word();
        match self.reason {
            Reason::Named => None,
            Reason::Installed => Some(format!("Scope: {word}, because Provost's entries are there already.")),
            Reason::Home => Some(format!("Scope: {word}, because this is your home directory.")),
            Reason::Default => Some(format!(
                "Scope: {word}, so only your own sessions in this project change. For everybody who works on it: \
                 `--scope project`. For all your projects: `--scope user`."
            )),
        }
    }
}

/// What people get who share the file and do not have Provost.
pub(super) fn warn_about_teammates(whose: Whose, packs: &[&str], closed: bool) -> Option<String> {
    if whose != Whose::Project {
        return None;
    }
    let (word, what) = match (closed, packs.contains(&GATE)) {
        (true, _) => ("Warning", "have every tool call blocked until they install it"),
        (false, true) => (
            "Warning",
            "cannot leave plan mode until they install it. Their other tool calls continue unchecked; one line says \
             so when a session starts",
        ),
        (false, false) => ("Note", "work unchecked; one line says so when a session starts"),
    };
    Some(format!("{word}: Teammates without Provost {what}. `--scope local` keeps the entries to yourself."))
}

/// What to do where git would commit the user's own file.
pub(super) fn check_git_ignores(file: &SettingsFile, found: &Found) -> Option<String> {
    if file.whose != Whose::Local {
        return None;
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(&found.root).args(["check-ignore", "--quiet", "--"]).arg(&file.named);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Any other code means that git does not know: there is no repository, or no git.
    let is_not_ignored = git.status().is_ok_and(|status| status.code() == Some(1));
    let name = found.short(&file.named);
    is_not_ignored.then(|| {
        format!("git does not ignore {name}, so a commit could share it. To fix: add it to .gitignore")
    })
}
