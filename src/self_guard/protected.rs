//! What no tool may touch, looked up once per event.
//!
//! A file is protected by what it is, not by how it is written: by the name it is given, by its real
//! place, and by its identity, because hard links and names that a file system takes for equal lead
//! to the same file.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::decision::Fault;
use crate::files::Identity;
use crate::workspace::{CONFIG_FILE, Workspace, is_within};

/// What a path means.
pub(super) enum Meaning {
    Nothing,
    /// Provost's configuration, state, key or program: closed to every tool.
    Own(&'static str),
    /// A settings file of the client: its hooks are closed, the rest is open.
    Settings,
}

/// A file that is protected by its place.
struct Place {
    named: PathBuf,
    identity: Option<Identity>,
    /// Where it really lies. Following links costs a system call for each part of a path, so it
    /// is done only where identities do not settle the question.
    real: OnceCell<PathBuf>,
}

impl Place {
    fn real(&self, workspace: &Workspace) -> &Path {
        self.real.get_or_init(|| workspace.resolve(&self.named))
    }
}

pub(super) struct Protected<'a> {
    workspace: &'a Workspace,
    state: Option<PathBuf>,
    own: Vec<Place>,
    settings: Vec<Place>,
}

impl<'a> Protected<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Self {
        let places = &workspace.places;
        let configs = [places.managed.as_ref(), Some(&workspace.project), places.config.as_ref()];
        let configs = configs.into_iter().flatten().map(|directory| directory.join(CONFIG_FILE));
        let found = workspace.config.files.iter().map(|(_, file)| file.clone());
        let rest = [places.seal_key(), places.state.clone(), workspace.program()];
        let place =
            |named: PathBuf| Place { identity: workspace.identity(&named), named, real: OnceCell::new() };
        Self {
            workspace,
            state: places.state.as_ref().map(|state| workspace.resolve(state)),
            own: configs.chain(found).chain(rest.into_iter().flatten()).map(place).collect(),
            settings: workspace.settings_files().into_iter().map(place).collect(),
        }
    }

    /// What a file is that is called `named` and really lies at `real`.
    pub(super) fn meaning(&self, named: &Path, real: &Path) -> Result<Meaning, Fault> {
        let is_config =
            |path: &Path| path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(CONFIG_FILE));
        if is_config(named) || is_config(real) {
            return Ok(Meaning::Own("Provost's configuration"));
        }
        if self.state.as_ref().is_some_and(|state| is_within(real, state)) {
            return Ok(Meaning::Own("Provost's own state"));
        }
        let identity = self.workspace.identity(real);
        let is = |place: &Place| match (identity, place.identity) {
            (Some(file), Some(known)) if cfg!(unix) => file == known,
            // A file that is there is not one that is missing.
            (Some(_), None) | (None, Some(_)) => false,
            _ => place.real(self.workspace) == real,
        };
        if self.own.iter().any(is) {
            return Ok(Meaning::Own("one of Provost's own files"));
        }
        if let (Some(identity), Some(state)) = (identity, &self.state)
            && self.workspace.has_name_below(identity, state)?
        {
            return Ok(Meaning::Own("one of Provost's own files"));
        }
        let is_named_so = self.workspace.client.settings.names;
        Ok(if is_named_so(named) || is_named_so(real) || self.settings.iter().any(is) {
            Meaning::Settings
        } else {
            Meaning::Nothing
        })
    }

    /// Whether a path could be protected even if nothing is there: by its name, or as state to come.
    pub(super) fn could_mean(&self, named: &Path) -> bool {
        let is_config = named.file_name().is_some_and(|name| name.eq_ignore_ascii_case(CONFIG_FILE));
        let state = self.workspace.places.state.as_ref();
        is_config
            || (self.workspace.client.settings.names)(named)
            || state.is_some_and(|state| is_within(named, state))
    }

    /// A protected file that is looked for below this path, whether it exists or not.
    pub(super) fn held_by(&self, real: &Path) -> Option<&Path> {
        let places = self.own.iter().chain(&self.settings).map(|place| place.real(self.workspace));
        places.into_iter().find(|place| is_within(place, real) && *place != real)
    }

    /// Whether a file of Provost's own goes when these paths go.
    pub(super) fn goes_with(&self, gone: impl Fn(&Path) -> bool) -> bool {
        self.own.iter().any(|place| place.identity.is_some() && gone(place.real(self.workspace)))
    }
}
