//! The files that no tool may change, looked up once per event.
//!
//! A file is recognized by its name, by its resolved path, and by its identity, because hard links, and names that a
//! file system treats as equal, lead to the same file.

use crate::prelude::*;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

use super::refusal::ProtectedFile;
use crate::change_review::prompts::list_instruction_files;
use provost_core::disk_use::DiskUse;
use provost_core::opinion::Fault;
use provost_core::places::{CONFIG_FILE, is_provost_program, is_within};
use provost_core::reviewer;
use provost_core::workspace::{FileIdentity, Workspace};

/// No file that registers hooks is larger.
const LARGEST_HOOK_FILE: u64 = 8 << 20;

/// How a path is protected.
pub(super) enum Protection {
    None,
    /// Provost's configuration, state, key or program: no tool may change it.
    Own(ProtectedFile),
    /// A settings file of the client: tools may change it, except its hooks.
    Settings,
}

/// A path that is protected independently of its content.
struct ProtectedPath {
    named: PathBuf,
    /// `None`: the file does not exist.
    identity: Option<FileIdentity>,
    /// Resolved only where identities do not decide, because that costs a system call for each part of the path.
    real: OnceCell<PathBuf>,
}

impl ProtectedPath {
    fn resolve(&self, workspace: &Workspace) -> &Path {
        self.real.get_or_init(|| workspace.resolve(&self.named))
    }
}

/// A protected file that exists.
pub(super) struct ExistingFile {
    /// The resolved path.
    pub path: PathBuf,
    /// The parts of `path`.
    pub names: Vec<String>,
    pub is_settings: bool,
}

pub(super) struct Protected<'a> {
    workspace: &'a Workspace,
    state: Option<PathBuf>,
    /// The plugin that calls Provost. Its script decides which program the hooks start.
    plugin: Option<PathBuf>,
    own: Vec<ProtectedPath>,
    settings: Vec<ProtectedPath>,
    /// The programs that review, looked up when a file outside the project is written.
    reviewers: OnceCell<Vec<PathBuf>>,
    /// The directory that was resolved last, and its resolved path.
    last: RefCell<(PathBuf, PathBuf)>,
    existing: OnceCell<Vec<ExistingFile>>,
}

impl<'a> Protected<'a> {
    pub(super) fn find(workspace: &'a Workspace) -> Self {
        let places = &workspace.places;
        let configs = [places.managed.as_ref(), Some(&workspace.project), places.config.as_ref()];
        let configs = configs.into_iter().flatten().map(|directory| directory.join(CONFIG_FILE));
        let found = workspace.config.files.iter().map(|(_, file)| file.clone());
        let plugin = (workspace.client.settings.find_plugin)();
        let rest = [places.seal_key_file(), places.state.clone(), workspace.own_program(), plugin.clone()];
        let instructions = list_instruction_files(workspace);
        let protect = |named: PathBuf| ProtectedPath {
            identity: workspace.find_identity(&named),
            named,
            real: OnceCell::new(),
        };
        Self {
            workspace,
            state: places.state.as_ref().map(|state| workspace.resolve(state)),
            plugin: plugin.map(|plugin| workspace.resolve(&plugin)),
            own: configs
                .chain(found)
                .chain(rest.into_iter().flatten())
                .chain(instructions)
                .map(protect)
                .collect(),
            settings: workspace.list_settings_files().into_iter().map(protect).collect(),
            reviewers: OnceCell::new(),
            last: RefCell::default(),
            existing: OnceCell::new(),
        }
    }

    /// How the file called `named`, whose resolved path is `real`, is protected.
    pub(super) fn find_protection(&self, named: &Path, real: &Path) -> Result<Protection, Fault> {
        let is_within_own = |own: &Option<PathBuf>| own.as_ref().is_some_and(|own| is_within(real, own));
        let own = if is_config(named) || is_config(real) {
            Some(ProtectedFile::Configuration)
        } else if is_program(real) && self.workspace.is_on_search_path(real) {
            Some(ProtectedFile::SearchPath)
        } else if is_within_own(&self.state) {
            Some(ProtectedFile::State)
        } else if is_within_own(&self.plugin) {
            Some(ProtectedFile::Plugin)
        } else if (self.workspace.client.transcripts().is_transcript)(real, &self.workspace.places) {
            Some(ProtectedFile::Transcript)
        } else if self.is_reviewer(real) {
            Some(ProtectedFile::Reviewer)
        } else if self.is_other_hook_file(named, real) {
            Some(ProtectedFile::HookFile)
        } else {
            None
        };
        if let Some(own) = own {
            return Ok(Protection::Own(own));
        }
        let identity = self.workspace.find_identity(real);
        if self.own.iter().any(|own| self.is_same(own, real, identity)) {
            return Ok(Protection::Own(ProtectedFile::OwnFile));
        }
        // A hard link to a file of Provost's state.
        if let (Some(identity), Some(state)) = (identity, &self.state)
            && self.workspace.has_link_below(identity, state)?
        {
            return Ok(Protection::Own(ProtectedFile::OwnFile));
        }
        Ok(if self.is_settings(named, real, identity) { Protection::Settings } else { Protection::None })
    }

    /// Whether a file makes another client call Provost.
    fn is_other_hook_file(&self, named: &Path, real: &Path) -> bool {
        let is_named_so = self.workspace.client.settings.is_other_hook_file;
        (is_named_so(named) || is_named_so(real)) && self.calls_provost(real)
    }

    fn calls_provost(&self, file: &Path) -> bool {
        self.workspace.note_disk_use(DiskUse::CONTENT);
        // A file that cannot be read may call it.
        self.workspace
            .read_text(file, LARGEST_HOOK_FILE)
            .map_or(true, |text| text.is_some_and(|text| text.contains("provost")))
    }

    /// A file at or below a path that makes another client call Provost.
    pub(super) fn find_other_hook_file(&self, path: &Path) -> Option<PathBuf> {
        let workspace = self.workspace;
        let settings = &workspace.client.settings;
        let home = workspace.places.home.as_deref();
        let folders = (settings.list_other_hook_folders)(path, home, &workspace.project);
        let is_near = |folder: &PathBuf| is_within(folder, path) || is_within(path, folder);
        let mut files = folders
            .into_iter()
            .filter(is_near)
            .flat_map(|folder| workspace.expand_wildcards(&folder.join("*")));
        files.find(|file| {
            let is_gone = is_within(file, path) || is_within(path, file);
            is_gone && (settings.is_other_hook_file)(file) && self.calls_provost(file)
        })
    }

    /// Only programs outside the project count, because a reviewer inside it needs the user's consent anyway.
    fn is_reviewer(&self, real: &Path) -> bool {
        let reviewers = || {
            self.workspace.note_disk_use(DiskUse::CONTENT);
            self.reviewers.get_or_init(|| reviewer::list_remembered_reviewers(&self.workspace.places)).iter()
        };
        !is_within(real, &self.workspace.project) && reviewers().any(|known| known == real)
    }

    /// Whether a file is one of the client's settings files: by its name, its path or its identity.
    pub(super) fn is_settings(&self, named: &Path, real: &Path, identity: Option<FileIdentity>) -> bool {
        let is_named_so = self.workspace.client.settings.is_settings_file;
        is_named_so(named)
            || is_named_so(real)
            || self.settings.iter().any(|settings| self.is_same(settings, real, identity))
    }

    /// Whether a file with this name switches guards on and off in any directory.
    pub(super) fn is_protected_name(&self, path: &Path) -> bool {
        is_config(path) || (self.workspace.client.settings.is_settings_file)(path)
    }

    /// Whether no tool may change anything below a directory.
    pub(super) fn is_closed(&self, real: &Path) -> bool {
        self.state.iter().chain(&self.plugin).any(|closed| is_within(real, closed))
    }

    /// The protected files that exist.
    pub(super) fn existing(&self) -> &[ExistingFile] {
        self.existing.get_or_init(|| {
            let own = self.own.iter().map(|own| (own, false));
            let all = own.chain(self.settings.iter().map(|settings| (settings, true)));
            let existing = all.filter(|(protected, _)| protected.identity.is_some());
            let existing = existing.map(|(protected, is_settings)| {
                let path = protected.resolve(self.workspace).to_owned();
                let names = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
                ExistingFile { names: names.collect(), path, is_settings }
            });
            existing.collect()
        })
    }

    /// Resolves a directory and caches the last one: a command line names few directories, but often.
    pub(super) fn resolve_directory(&self, directory: &Path) -> PathBuf {
        let mut last = self.last.borrow_mut();
        if last.0 != directory {
            *last = (directory.to_owned(), self.workspace.resolve(directory));
        }
        last.1.clone()
    }

    fn is_same(&self, protected: &ProtectedPath, real: &Path, identity: Option<FileIdentity>) -> bool {
        match (identity, protected.identity) {
            (Some(file), Some(known)) if cfg!(unix) => file == known,
            // An existing file is not a missing one.
            (Some(_), None) | (None, Some(_)) => false,
            _ => protected.resolve(self.workspace) == real,
        }
    }

    /// Provost's own files and directories, unresolved.
    pub(super) fn own(&self) -> impl Iterator<Item = &Path> {
        self.own.iter().map(|own| own.named.as_path())
    }

    /// The client's settings files, unresolved and resolved.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.settings.iter().map(|settings| (settings.named.as_path(), settings.resolve(self.workspace)))
    }

    /// Whether a path is protected even if no file exists there yet.
    pub(super) fn may_become_protected(&self, named: &Path) -> bool {
        let state = self.workspace.places.state.as_ref();
        self.is_protected_name(named)
            || is_program(named) && self.workspace.is_on_search_path(named)
            || state.is_some_and(|state| is_within(named, state))
    }

    /// A protected path below this one, whether it exists or not.
    pub(super) fn find_below(&self, real: &Path) -> Option<&Path> {
        let mut all =
            self.own.iter().chain(&self.settings).map(|protected| protected.resolve(self.workspace));
        all.find(|protected| is_within(protected, real) && *protected != real)
    }

    /// Whether one of Provost's own files that exist is among these paths.
    pub(super) fn has_own_file(&self, is_among: impl Fn(&Path) -> bool) -> bool {
        self.own.iter().any(|own| own.identity.is_some() && is_among(own.resolve(self.workspace)))
    }
}

fn is_program(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_provost_program)
}

fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(CONFIG_FILE))
}
