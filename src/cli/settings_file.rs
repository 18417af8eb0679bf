//! The settings file that `init` and `uninstall` change: which one it is, and why it may be left alone.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::change::{self, shown};
use crate::clients::{Client, Scope};
use crate::text::one_line;
use crate::workspace::{Workspace, is_within, resolve};

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Whose {
    /// Yours, in every project
    User,
    /// The project's, shared with everybody who works on it
    Project,
    /// Yours, in this project
    Local,
}

impl Whose {
    pub(crate) const ALL: [Self; 3] = [Self::Project, Self::Local, Self::User];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }

    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::User => Scope::User,
            Self::Project => Scope::Project,
            Self::Local => Scope::Local,
        }
    }
}

/// One settings file.
pub(crate) struct SettingsFile {
    pub(crate) whose: Whose,
    /// As the person knows it.
    pub(crate) named: PathBuf,
    /// Where it really lies.
    pub(crate) real: PathBuf,
    /// `None`: there is no file.
    pub(crate) text: Option<String>,
}

/// Where the client would be started: the nearest directory that has its folder, or else the project's root. The
/// client looks for settings in the directory that it is started in, and not above.
pub(crate) fn home_of_client(client: &Client, start: &Path, project: &Path) -> PathBuf {
    let within = |directory: &&Path| directory.starts_with(project);
    let has_folder = |directory: &&Path| directory.join(client.folder).is_dir();
    start.ancestors().take_while(within).find(has_folder).unwrap_or(project).to_owned()
}

/// A path as a person would write it in this project.
pub(crate) fn short(path: &Path, root: &Path, home: Option<&Path>) -> String {
    if let Ok(below) = path.strip_prefix(root) {
        return shown(below);
    }
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", shown(below)),
        None => shown(path),
    }
}

impl SettingsFile {
    /// The file of a scope, or what is wrong with it and how to fix that.
    pub(crate) fn find(whose: Whose, root: &Path, workspace: &Workspace) -> Result<Self, (String, String)> {
        let file = workspace.client.installation.file;
        let Some(named) = file(&workspace.places, root, &whose.scope()) else {
            let why = format!("there is no settings file of the scope `{}`", whose.word());
            return Err((why, "set the variable HOME, or choose another `--scope`".into()));
        };
        // The settings of a home are the person's.
        let of_person = file(&workspace.places, root, &Scope::User);
        let whose = if of_person.as_deref() == Some(named.as_path()) { Whose::User } else { whose };
        let real = resolve(&named);
        // A repository can bring any link, and what is shared with other projects is not this one's to change.
        if whose != Whose::User && !is_within(&real, &resolve(root)) {
            let why = format!("{} leads out of the project, to {}", shown(&named), shown(&real));
            return Err((why, "put a file in the place of the link, or choose another `--scope`".into()));
        }
        let text = change::read(&real).map_err(|why| {
            let why = format!("{} cannot be read ({})", shown(&named), one_line(&why));
            (why, "put a readable file there, or take it away".into())
        })?;
        Ok(Self { whose, named, real, text })
    }

    /// Why it must not be written to. The system would let a file be replaced that is read-only.
    pub(crate) fn is_fixed(&self) -> Option<(String, String)> {
        let is_read_only = |path: &Path| fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
        let directory = self.real.ancestors().skip(1).find(|directory| directory.exists());
        let fixed = [Some(self.real.as_path()), directory];
        let path = fixed.into_iter().flatten().find(|path| is_read_only(path))?;
        let why = format!("{} is read-only", shown(path));
        Some((why, format!("`chmod u+w {}`, and run this again", shown(path))))
    }
}
