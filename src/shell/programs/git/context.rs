//! What a line has told git so far, beyond the words of one command: another repository, aliases.

use std::path::{Path, PathBuf};

use crate::effect::git::GitSite;
use crate::shell::Line;
use crate::shell::word::Word;

/// So many aliases of a line are known.
const MOST_ALIASES: usize = 16;

#[derive(Clone, Default)]
pub(in crate::shell) struct GitContext {
    pub(super) directory: GitDirectory,
    /// The top of the work tree, where an option or a variable names one.
    pub(super) work_tree: Option<PathBuf>,
    /// The line has changed what git tracks.
    pub(super) is_index_changed: bool,
    /// `-c alias.NAME=VALUE`, `git config alias.NAME VALUE`.
    pub(super) aliases: Vec<(String, String)>,
    /// Words that are not known come behind those of the current command.
    pub(in crate::shell) is_fed: bool,
}

/// Which repository git takes.
#[derive(Clone, Default, PartialEq)]
pub(super) enum GitDirectory {
    /// The one around the current directory.
    #[default]
    Here,
    /// The one that a variable or an option names.
    At(PathBuf),
    /// Either of both.
    HereOrAt(PathBuf),
    Unknown,
}

impl GitContext {
    /// The top of the work tree, where an option or a variable names one.
    pub(in crate::shell) fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// A variable was set in front of no command: it counts for git only if it was exported before.
    pub(in crate::shell) fn may_be_as(&mut self, before: &Self) {
        if self.directory != before.directory {
            self.directory = match (&self.directory, &before.directory) {
                (GitDirectory::At(path), GitDirectory::Here) => GitDirectory::HereOrAt(path.clone()),
                _ => GitDirectory::Unknown,
            };
        }
    }

    /// What was set for one command is gone behind it. Aliases that it wrote down stay.
    pub(in crate::shell) fn restore(&mut self, before: Self) {
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

impl Line<'_> {
    pub(in crate::shell) fn note_git_variable(&mut self, name: &str, word: &Word) {
        match name {
            "GIT_DIR" => {
                let value = word.known().and_then(|text| text.split_once('=')).map(|(_, value)| value);
                self.git.directory = self.git_directory(value);
            }
            "GIT_WORK_TREE" => {
                let value = word.known().and_then(|text| text.split_once('='));
                self.git.work_tree = value.map(|(_, value)| value.into());
            }
            "GIT_CONFIG" => self.write(&word.behind(name.len() + 1)),
            "GIT_COMMON_DIR" => self.git.directory = GitDirectory::Unknown,
            _ => {}
        }
    }

    pub(super) fn git_directory(&self, value: Option<&str>) -> GitDirectory {
        match (value, self.place.certain()) {
            (Some(path), Some(here)) => GitDirectory::At(PathBuf::from(here).join(path)),
            (Some(path), None) if path.starts_with('/') => GitDirectory::At(path.into()),
            _ => GitDirectory::Unknown,
        }
    }

    /// The repository of the current command, as far as the words say it.
    pub(super) fn git_site(&self) -> GitSite {
        let possible = |more: Option<&PathBuf>| {
            let mut places = self.place.possible();
            places.extend(more.cloned().filter(|_| !self.place.is_lost));
            places
        };
        let entered = self.place.entered().iter().map(|path| path.to_path_buf()).collect();
        let site = GitSite { entered, ..GitSite::default() };
        match (&self.git.directory, self.place.certain()) {
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
