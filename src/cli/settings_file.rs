//! Finds the settings file that `init` and `uninstall` change, and refuses files that they must not change.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::file_change::{self, printable_path};
use crate::cli::current_client;
use crate::clients::{Client, SettingsScope};
use crate::places::{is_within, resolve_path};
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// The settings file to change, by who uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeOption {
    /// Your settings for all projects
    User,
    /// The project's settings, which everybody who works on it shares
    Project,
    /// Your settings for this project
    Local,
}

impl ScopeOption {
    pub(crate) const ALL: [Self; 3] = [Self::Project, Self::Local, Self::User];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }

    pub(crate) fn to_client_scope(self) -> SettingsScope {
        match self {
            Self::User => SettingsScope::User,
            Self::Project => SettingsScope::Project,
            Self::Local => SettingsScope::Local,
        }
    }
}

/// A settings file and its text.
pub(crate) struct SettingsFile {
    pub(crate) scope: ScopeOption,
    /// The path that the user knows.
    pub(crate) shown_path: PathBuf,
    /// The path with its links resolved.
    pub(crate) real_path: PathBuf,
    /// `None`: there is no file.
    pub(crate) text: Option<String>,
}

/// The directory in which the client would be started: the nearest one with the client's folder, or else the
/// project's root. The client reads project settings only from the directory in which it is started.
pub(crate) fn find_client_root(client: &Client, start: &Path, project: &Path) -> PathBuf {
    let within = |directory: &&Path| directory.starts_with(project);
    let has_folder = |directory: &&Path| directory.join(client.facts.folder).is_dir();
    start.ancestors().take_while(within).find(has_folder).unwrap_or(project).to_owned()
}

/// A path relative to the project or the home directory, for messages.
pub(crate) fn shorten_path(path: &Path, root: &Path, home: Option<&Path>) -> String {
    if let Ok(below) = path.strip_prefix(root) {
        return printable_path(below);
    }
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", printable_path(below)),
        None => printable_path(path),
    }
}

impl SettingsFile {
    /// Finds and reads the file of a scope. The error is what is wrong, and how to fix it.
    pub(crate) fn read(
        scope: ScopeOption,
        root: &Path,
        workspace: &Workspace,
    ) -> Result<Self, (String, String)> {
        let file = current_client().installation().find_settings_file;
        let Some(named) = file(&workspace.places, root, &scope.to_client_scope()) else {
            let why = format!("there is no settings file for the scope `{}`", scope.name());
            return Err((why, "set the variable HOME, or choose another `--scope`".into()));
        };
        // In the home directory, the project's settings are the user's.
        let user_file = file(&workspace.places, root, &SettingsScope::User);
        let scope = if user_file.as_ref() == Some(&named) { ScopeOption::User } else { scope };
        let real = resolve_path(&named);
        // A repository may contain a link to any file, even to one that other projects use.
        if scope != ScopeOption::User && !is_within(&real, &resolve_path(root)) {
            let why = format!(
                "{} points to {}, outside of the project",
                printable_path(&named),
                printable_path(&real)
            );
            return Err((why, "replace the link with a file, or choose another `--scope`".into()));
        }
        let text = file_change::read_text(&real).map_err(|why| {
            let why = format!("{} cannot be read ({})", printable_path(&named), make_one_line(&why));
            (why, "make the file readable, or remove it".into())
        })?;
        Ok(Self { scope, shown_path: named, real_path: real, text })
    }

    /// Why the file must not be written, and how to fix that. The system itself would replace a read-only file.
    pub(crate) fn find_write_obstacle(&self) -> Option<(String, String)> {
        let is_read_only = |path: &Path| fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
        let directory = self.real_path.ancestors().skip(1).find(|directory| directory.exists());
        let paths = [Some(self.real_path.as_path()), directory];
        let path = paths.into_iter().flatten().find(|path| is_read_only(path))?;
        let why = format!("{} is read-only", printable_path(path));
        Some((why, format!("`chmod u+w {}`, and run this again", printable_path(path))))
    }
}
