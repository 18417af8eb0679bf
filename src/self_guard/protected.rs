//! What no tool may touch, looked up once per event.
//!
//! A file is protected by what it is, not by how it is written: by the name it is given, by its real
//! place, and by its identity, because hard links and names that a file system takes for equal lead
//! to the same file.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use super::refusal::Thing;
use crate::decision::Fault;
use crate::files::Identity;
use crate::reviewer;
use crate::workspace::{CONFIG_FILE, Workspace, is_provost, is_within};

/// What a path means.
pub(super) enum Meaning {
    Nothing,
    /// Provost's configuration, state, key or program: closed to every tool.
    Own(Thing),
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

/// A protected file that is there.
pub(super) struct Existing {
    /// Where it really lies.
    pub path: PathBuf,
    /// The parts of that.
    pub names: Vec<String>,
    pub is_settings: bool,
}

pub(super) struct Protected<'a> {
    workspace: &'a Workspace,
    state: Option<PathBuf>,
    /// The plugin that calls Provost: whoever writes its script decides what is called.
    plugin: Option<PathBuf>,
    own: Vec<Place>,
    settings: Vec<Place>,
    /// The programs that review, looked up when a file outside the project is written.
    reviewers: OnceCell<Vec<PathBuf>>,
    /// The directory that was resolved last, and where it lies.
    last: RefCell<(PathBuf, PathBuf)>,
    existing: OnceCell<Vec<Existing>>,
}

impl<'a> Protected<'a> {
    pub(super) fn of(workspace: &'a Workspace) -> Self {
        let places = &workspace.places;
        let configs = [places.managed.as_ref(), Some(&workspace.project), places.config.as_ref()];
        let configs = configs.into_iter().flatten().map(|directory| directory.join(CONFIG_FILE));
        let found = workspace.config.files.iter().map(|(_, file)| file.clone());
        let plugin = (workspace.client.settings.plugin)();
        let rest = [places.seal_key(), places.state.clone(), workspace.program(), plugin.clone()];
        let place =
            |named: PathBuf| Place { identity: workspace.identity(&named), named, real: OnceCell::new() };
        Self {
            workspace,
            state: places.state.as_ref().map(|state| workspace.resolve(state)),
            plugin: plugin.map(|plugin| workspace.resolve(&plugin)),
            own: configs.chain(found).chain(rest.into_iter().flatten()).map(place).collect(),
            settings: workspace.settings_files().into_iter().map(place).collect(),
            reviewers: OnceCell::new(),
            last: RefCell::default(),
            existing: OnceCell::new(),
        }
    }

    /// What a file is that is called `named` and really lies at `real`.
    pub(super) fn meaning(&self, named: &Path, real: &Path) -> Result<Meaning, Fault> {
        if is_config(named) || is_config(real) {
            return Ok(Meaning::Own(Thing::Configuration));
        }
        if is_program(real) && self.workspace.is_searched(real) {
            return Ok(Meaning::Own(Thing::SearchPath));
        }
        if self.state.as_ref().is_some_and(|state| is_within(real, state)) {
            return Ok(Meaning::Own(Thing::State));
        }
        if self.plugin.as_ref().is_some_and(|plugin| is_within(real, plugin)) {
            return Ok(Meaning::Own(Thing::Plugin));
        }
        if (self.workspace.client.is_transcript)(real, &self.workspace.places) {
            return Ok(Meaning::Own(Thing::Transcript));
        }
        if self.is_reviewer(real) {
            return Ok(Meaning::Own(Thing::Reviewer));
        }
        let identity = self.workspace.identity(real);
        if self.own.iter().any(|place| self.is(place, real, identity)) {
            return Ok(Meaning::Own(Thing::OwnFile));
        }
        if let (Some(identity), Some(state)) = (identity, &self.state)
            && self.workspace.has_name_below(identity, state)?
        {
            return Ok(Meaning::Own(Thing::OwnFile));
        }
        Ok(if self.is_settings(named, real, identity) { Meaning::Settings } else { Meaning::Nothing })
    }

    /// A program of the project is never taken for a reviewer without the user's word, so only others count.
    fn is_reviewer(&self, real: &Path) -> bool {
        !is_within(real, &self.workspace.project)
            && self.reviewers.get_or_init(reviewer::remembered_files).iter().any(|known| known == real)
    }

    /// Whether a file is one of the client's settings files: by its name, its place, or because it
    /// is one of them under another name.
    pub(super) fn is_settings(&self, named: &Path, real: &Path, identity: Option<Identity>) -> bool {
        let is_named_so = self.workspace.client.settings.names;
        is_named_so(named)
            || is_named_so(real)
            || self.settings.iter().any(|place| self.is(place, real, identity))
    }

    /// Whether a name alone says that a file decides on the guards.
    pub(super) fn is_named_so(&self, path: &Path) -> bool {
        is_config(path) || (self.workspace.client.settings.names)(path)
    }

    /// Whether everything below a directory is closed.
    pub(super) fn is_closed(&self, real: &Path) -> bool {
        self.state.iter().chain(&self.plugin).any(|closed| is_within(real, closed))
    }

    /// The protected files that are there.
    pub(super) fn existing(&self) -> &[Existing] {
        self.existing.get_or_init(|| {
            let own = self.own.iter().map(|place| (place, false));
            let places = own.chain(self.settings.iter().map(|place| (place, true)));
            let there = places.filter(|(place, _)| place.identity.is_some());
            let existing = there.map(|(place, is_settings)| {
                let path = place.real(self.workspace).to_owned();
                let names = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
                Existing { names: names.collect(), path, is_settings }
            });
            existing.collect()
        })
    }

    /// Where a directory really lies. A line names few of them, and often.
    pub(super) fn resolved(&self, directory: &Path) -> PathBuf {
        let mut last = self.last.borrow_mut();
        if last.0 != directory {
            *last = (directory.to_owned(), self.workspace.resolve(directory));
        }
        last.1.clone()
    }

    fn is(&self, place: &Place, real: &Path, identity: Option<Identity>) -> bool {
        match (identity, place.identity) {
            (Some(file), Some(known)) if cfg!(unix) => file == known,
            // A file that is there is not one that is missing.
            (Some(_), None) | (None, Some(_)) => false,
            _ => place.real(self.workspace) == real,
        }
    }

    /// Provost's own files and directories that are protected by their place, as they are named.
    pub(super) fn own(&self) -> impl Iterator<Item = &Path> {
        self.own.iter().map(|place| place.named.as_path())
    }

    /// The client's settings files that count here: as they are named, and where they really lie.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.settings.iter().map(|place| (place.named.as_path(), place.real(self.workspace)))
    }

    /// Whether a path could be protected even if nothing is there: by its name, or as state to come.
    pub(super) fn could_mean(&self, named: &Path) -> bool {
        let state = self.workspace.places.state.as_ref();
        self.is_named_so(named)
            || is_program(named) && self.workspace.is_searched(named)
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

fn is_program(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_provost)
}

fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(CONFIG_FILE))
}
