//! What a line has set for its git commands: another repository, aliases.

use std::path::PathBuf;

use super::switches::site_cost;
use crate::LineWalker;
use crate::effect::git::GitSite;
use crate::flow::{FlowStep, SiteOwner};
use crate::word::Word;

/// At most this many aliases of a line are followed.
const MOST_ALIASES: usize = 16;

#[derive(Clone, Default)]
pub(crate) struct GitContext {
    pub(super) directory: GitDirectory,
    /// The top of the work tree, if an option or a variable names one.
    pub(in crate::programs) work_tree: Option<PathBuf>,
    /// The line has changed what git tracks.
    pub(super) is_index_changed: bool,
    /// `-c alias.NAME=VALUE`, `git config alias.NAME VALUE`.
    pub(super) aliases: Vec<(String, String)>,
    /// Unknown words follow those of the current command.
    pub(crate) is_fed: bool,
}

/// The repository that git uses.
#[derive(Clone, Default, PartialEq)]
pub(super) enum GitDirectory {
    /// The one around the current directory.
    #[default]
    Here,
    /// The one that a variable or an option names.
    At(PathBuf),
    /// Either of these two.
    HereOrAt(PathBuf),
    Unknown,
}

impl GitContext {
    /// Merges the state before an assignment without a command: the variable counts only if it was exported before.
    pub(crate) fn merge_unexported(&mut self, before: &Self) {
        if self.directory != before.directory {
            self.directory = match (&self.directory, &before.directory) {
                (GitDirectory::At(path), GitDirectory::Here) => GitDirectory::HereOrAt(path.clone()),
                _ => GitDirectory::Unknown,
            };
        }
    }

    /// Drops what was set for one command. Aliases that the command saved remain.
    pub(crate) fn restore_settings(&mut self, before: Self) {
        self.directory = before.directory;
        self.work_tree = before.work_tree;
        self.is_fed = before.is_fed;
    }

    pub(super) fn learn_alias(&mut self, name: &str, value: &str) {
        if let Some(alias) = name.to_ascii_lowercase().strip_prefix("alias.")
            && self.aliases.len() < MOST_ALIASES
        {
            self.aliases.push((alias.to_owned(), value.to_owned()));
        }
    }
}

impl LineWalker<'_> {
    pub(crate) fn apply_git_variable(&mut self, name: &str, word: &Word) {
        match name {
            "GIT_DIR" => self.git.directory = self.resolve_git_directory(word.assigned_text()),
            "GIT_WORK_TREE" => self.git.work_tree = word.assigned_text().map(Into::into),
            "GIT_CONFIG" => self.report_write(&word.skip_bytes(name.len() + 1)),
            "GIT_COMMON_DIR" => self.git.directory = GitDirectory::Unknown,
            _ => {}
        }
    }

    pub(super) fn resolve_git_directory(&self, value: Option<&str>) -> GitDirectory {
        match (value, self.place.known_directory()) {
            (Some(path), Some(here)) => GitDirectory::At(PathBuf::from(here).join(path)),
            (Some(path), None) if path.starts_with('/') => GitDirectory::At(path.into()),
            _ => GitDirectory::Unknown,
        }
    }

    /// Notes where the current command runs, if that may differ from where the line starts.
    pub(crate) fn note_command_site(&mut self) {
        let is_moved = self.place.has_moved() || self.git.directory != GitDirectory::Here;
        if !is_moved && !self.flow.may_switch() && self.loops.is_empty() {
            return;
        }
        let site = self.git_site();
        if self.work.pay(site_cost(&site)) {
            self.record_step(FlowStep::Site(SiteOwner::Command(self.tree.sites.len())));
            self.tree.sites.push((self.tree.current, site));
        }
    }

    /// The repository of the current command, as far as its words show it.
    pub(super) fn git_site(&self) -> GitSite {
        let possible = |more: Option<&PathBuf>| {
            let mut places = self.place.possible_directories();
            places.extend(more.cloned().filter(|_| !self.place.is_lost));
            places
        };
        let entered = self.place.entered().iter().map(|path| path.to_path_buf()).collect();
        let site = GitSite { entered, ..GitSite::default() };
        match (&self.git.directory, self.place.known_directory()) {
            (GitDirectory::At(path), _) => GitSite { repository: Some(path.clone()), ..site },
            (GitDirectory::Here, Some(here)) => GitSite { repository: Some(here.into()), ..site },
            (GitDirectory::Here, None) => GitSite { possible: possible(None), ..site },
            (GitDirectory::HereOrAt(path), _) => {
                GitSite { possible: possible(Some(path)), entered: Vec::new(), ..site }
            }
            (GitDirectory::Unknown, _) => GitSite::default(),
        }
    }
}
