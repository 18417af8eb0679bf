//! Whether a git command changes or deletes a file of a work tree.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::Workspace;
use super::git_index::{Tracking, look_up};
use super::gitignore::is_kept;
use crate::effect::git::{Pathspec, TreeChange, TreeChangeKind};
use crate::glob::matches_glob;
use crate::places::{is_within, resolve_path};
use provost_files as files;

/// The largest index that is read.
const LARGEST_INDEX: u64 = 256 << 20;
const LARGEST_SETTINGS: u64 = 1 << 20;
/// How many work trees of one command line are looked at.
const MOST_TREES: usize = 16;

/// The work trees that a command line changes.
pub struct WorkTrees<'a> {
    pub(super) workspace: &'a Workspace,
    known: Vec<WorkTree>,
    /// The index that was read last, and its directory.
    index: Option<(PathBuf, Index)>,
}

struct WorkTree {
    /// What the command names: the directory where git runs, the repository and the work tree.
    key: (PathBuf, Option<PathBuf>, Option<PathBuf>),
    /// `None`: git finds no repository there.
    place: Option<TreePlace>,
    tracked: HashMap<PathBuf, Tracking>,
}

#[derive(Clone)]
pub(super) struct TreePlace {
    pub(super) top: PathBuf,
    /// The directory that paths of the command are relative to.
    pub(super) directory: PathBuf,
    /// The directory with the index.
    pub(super) own: PathBuf,
    pub(super) shared: PathBuf,
}

pub(super) struct Index {
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) hash: usize,
}

/// How closely a command names a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathReach {
    /// By its own name.
    Exact,
    /// By a directory above it.
    Directory,
    /// By a pattern, or with the whole work tree.
    Broad,
}

impl<'a> WorkTrees<'a> {
    pub fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, known: Vec::new(), index: None }
    }

    /// The top of the work tree that a command changes; `None` if git has no list of its files.
    pub fn find_listed_top(&mut self, change: &TreeChange) -> Option<PathBuf> {
        let at = self.find_tree(change)?;
        let place = self.known[at].place.as_ref()?;
        self.workspace.exists(&place.own.join("index")).then(|| place.top.clone())
    }

    /// Whether a command changes or deletes a file, by its name or by its real path.
    pub fn is_changed_by(&mut self, change: &TreeChange, file: &Path) -> bool {
        let Some(at) = self.find_tree(change) else { return true };
        let Some(place) = self.known[at].place.clone() else { return false };
        let named = self.workspace.resolve_parent(file);
        let real = self.workspace.resolve(file);
        let is_link = named != real;
        self.changes_here(at, &place, change, &named)
            || is_link && self.changes_here(at, &place, change, &real)
    }

    fn changes_here(&mut self, at: usize, place: &TreePlace, change: &TreeChange, file: &Path) -> bool {
        let Ok(path) = file.strip_prefix(&place.top) else { return false };
        let Some(reach) = self.reach(place, change, file) else { return false };
        let is_index_changed = change.is_index_changed;
        let mut tracked =
            || if is_index_changed { Tracking::Unknown } else { self.find_tracking(at, place, path) };
        match &change.kind {
            TreeChangeKind::Restore => {
                reach == PathReach::Exact
                    || match tracked() {
                        Tracking::Changed => true,
                        Tracking::Unknown => is_index_changed || reach != PathReach::Broad,
                        Tracking::Unchanged | Tracking::Untracked => false,
                    }
            }
            TreeChangeKind::Replace => reach != PathReach::Broad || tracked() != Tracking::Untracked,
            TreeChangeKind::Remove => tracked() != Tracking::Untracked,
            TreeChangeKind::Sparse { is_cone, patterns } => {
                let stays =
                    if *is_cone { stays_in_cone(patterns, place, path) } else { is_kept(patterns, path) };
                !stays && tracked() != Tracking::Untracked
            }
            TreeChangeKind::Clean { untracked, ignored, kept } => {
                if std::fs::symlink_metadata(file).is_err() {
                    return false;
                }
                match tracked() {
                    Tracking::Changed | Tracking::Unchanged => return false,
                    Tracking::Unknown if reach == PathReach::Broad && !is_index_changed => return false,
                    Tracking::Unknown | Tracking::Untracked => {}
                }
                let is_ignored =
                    |more: &[String]| self.workspace.is_ignored(&place.top, &place.shared, path, more);
                match (untracked, ignored) {
                    (true, true) => !is_kept(kept, path),
                    (true, false) => !is_ignored(kept),
                    (false, _) => is_ignored(kept),
                }
            }
        }
    }

    /// The index of the work tree in `known`; `None` if the line names too many.
    fn find_tree(&mut self, change: &TreeChange) -> Option<usize> {
        let is_same = |known: &WorkTree| {
            let (directory, repository, work_tree) = &known.key;
            (directory, repository, work_tree) == (&change.directory, &change.repository, &change.work_tree)
        };
        if let Some(at) = self.known.iter().position(is_same) {
            return Some(at);
        }
        if self.known.len() == MOST_TREES {
            return None;
        }
        let key = (change.directory.clone(), change.repository.clone(), change.work_tree.clone());
        let place = self.locate(change);
        self.known.push(WorkTree { key, place, tracked: HashMap::new() });
        Some(self.known.len() - 1)
    }

    pub(super) fn locate(&self, change: &TreeChange) -> Option<TreePlace> {
        if self.workspace.ask_content() {
            return None;
        }
        let here = resolve_path(&change.directory);
        let named = change.repository.as_deref();
        let is_missing = named.is_some_and(|named| !self.workspace.exists(named));
        let repository =
            self.workspace.find_repository(named.unwrap_or(&change.directory)).filter(|_| !is_missing);
        let top = match (&change.work_tree, &change.repository) {
            (Some(top), _) => resolve_path(top),
            (None, Some(_)) => here.clone(),
            (None, None) => here.ancestors().find(|above| above.join(".git").exists())?.to_owned(),
        };
        let directory = if is_within(&here, &top) { here } else { top.clone() };
        let (own, shared) = match (repository, &change.repository) {
            (Some(repository), _) => repository.into_directories(),
            // The command line may create it first. Then it tracks nothing.
            (None, Some(named)) => (named.clone(), named.clone()),
            (None, None) => return None,
        };
        Some(TreePlace { top, directory, own, shared })
    }

    fn find_tracking(&mut self, at: usize, place: &TreePlace, path: &Path) -> Tracking {
        if let Some(known) = self.known[at].tracked.get(path) {
            return *known;
        }
        if self.index.as_ref().is_none_or(|(own, _)| *own != place.own) {
            self.index = Some((place.own.clone(), Index::read(place)));
        }
        let found = std::fs::symlink_metadata(place.top.join(path)).ok();
        let tracked = match &self.index {
            Some((_, Index { bytes: Some(bytes), hash })) => look_up(bytes, *hash, path, found.as_ref()),
            Some((_, Index { bytes: None, .. })) => Tracking::Untracked,
            None => Tracking::Unknown,
        };
        self.known[at].tracked.insert(path.to_owned(), tracked);
        tracked
    }

    pub(super) fn reach(&self, place: &TreePlace, change: &TreeChange, file: &Path) -> Option<PathReach> {
        let reach = |spec: &Pathspec| match_pathspec(spec, place, file, self.workspace);
        if change.excluded.iter().any(|spec| reach(spec).is_some()) {
            return None;
        }
        if change.paths.is_empty() {
            return Some(PathReach::Broad);
        }
        change.paths.iter().filter_map(reach).min()
    }
}

/// Whether a file stays in a sparse checkout of directories: it is in one of them, at the top, or directly in a directory
/// above one.
fn stays_in_cone(directories: &[String], place: &TreePlace, path: &Path) -> bool {
    let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return true };
    let from = place.directory.strip_prefix(&place.top).unwrap_or(Path::new(""));
    directories.iter().any(|directory| {
        let directory = from.join(directory.trim_matches('/'));
        is_within(path, &directory) || is_within(&directory, parent)
    })
}

impl Index {
    /// An index that cannot be read counts as one of unknown form.
    pub(super) fn read(place: &TreePlace) -> Self {
        let bytes = files::read_file(&place.own.join("index"), LARGEST_INDEX);
        let settings = files::read_file(&place.shared.join("config"), LARGEST_SETTINGS).ok().flatten();
        let is_long =
            settings.is_some_and(|text| text.to_ascii_lowercase().windows(6).any(|part| part == b"sha256"));
        Self { bytes: bytes.unwrap_or_else(|_| Some(Vec::new())), hash: if is_long { 32 } else { 20 } }
    }
}

fn match_pathspec(
    spec: &Pathspec,
    place: &TreePlace,
    file: &Path,
    workspace: &Workspace,
) -> Option<PathReach> {
    let base = if spec.from_top { &place.top } else { &place.directory };
    let has_wildcard = |part: &Component| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let pattern = Path::new(&spec.pattern);
    let parts: Vec<Component> = pattern.components().collect();
    let wildcard = if spec.is_literal { None } else { parts.iter().position(has_wildcard) };
    let front: PathBuf = parts[..wildcard.unwrap_or(parts.len())].iter().collect();
    let front = workspace.resolve_parent(&base.join(front));
    let fold = |text: &Path| {
        let text = text.to_string_lossy();
        if spec.ignores_case { text.to_lowercase() } else { text.into_owned() }
    };
    let (front_text, file_text) = (PathBuf::from(fold(&front)), PathBuf::from(fold(file)));
    let Some(first) = wildcard else {
        return match () {
            () if front_text == file_text => Some(PathReach::Exact),
            () if !is_within(&file_text, &front_text) => None,
            () if is_within(&place.top, &front) => Some(PathReach::Broad),
            () => Some(PathReach::Directory),
        };
    };
    let rest = file_text.strip_prefix(&front_text).ok()?;
    let pattern: PathBuf = parts[first..].iter().collect();
    // In git, a star also matches a slash, and a dot at the start.
    let pattern = format!("/{}", fold(&pattern).replace("**/", "*"));
    let is_match = |path: &Path| matches_glob(&pattern, &format!("/{}", path.to_string_lossy()));
    rest.ancestors().filter(|path| !path.as_os_str().is_empty()).any(is_match).then_some(PathReach::Broad)
}
