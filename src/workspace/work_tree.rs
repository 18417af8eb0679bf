//! What a command of git that changes files means for one file of a work tree.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::ignored::is_kept;
use super::index::{Tracking, tracking};
use super::{Workspace, is_within, resolve};
use crate::effect::git::{Pathspec, TreeChange, TreeChangeKind};
use crate::files;
use crate::glob::is_like;

/// No repository has a larger index.
const LARGEST_INDEX: u64 = 256 << 20;
const LARGEST_SETTINGS: u64 = 1 << 20;
/// So many work trees of one command line are looked at.
const MOST_TREES: usize = 16;

/// The work trees that the commands of one line change.
pub struct WorkTrees<'a> {
    workspace: &'a Workspace,
    known: Vec<WorkTree>,
    /// The index that was read last, and the directory that it lies in.
    index: Option<(PathBuf, Index)>,
}

struct WorkTree {
    /// What the words name: where git runs, its repository, its work tree.
    key: (PathBuf, Option<PathBuf>, Option<PathBuf>),
    /// `None`: git finds no repository there.
    place: Option<TreePlace>,
    tracked: HashMap<PathBuf, Tracking>,
}

#[derive(Clone)]
struct TreePlace {
    top: PathBuf,
    /// The directory that paths are seen from.
    directory: PathBuf,
    /// The directory with the index.
    own: PathBuf,
    shared: PathBuf,
}

struct Index {
    bytes: Option<Vec<u8>>,
    hash: usize,
}

/// How a command names a file.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
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

    /// Whether a command changes or deletes a file, by its name or where it really lies.
    pub fn changes(&mut self, change: &TreeChange, file: &Path) -> bool {
        let Some(at) = self.find(change) else { return true };
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
        let is_lost = change.is_index_changed;
        let mut tracked = || if is_lost { Tracking::Unknown } else { self.tracked(at, place, path) };
        match &change.kind {
            TreeChangeKind::Restore => {
                reach == Reach::Exact
                    || match tracked() {
                        Tracking::Changed => true,
                        Tracking::Unknown => is_lost || reach != Reach::Broad,
                        Tracking::Unchanged | Tracking::Untracked => false,
                    }
            }
            TreeChangeKind::Replace => reach != Reach::Broad || tracked() != Tracking::Untracked,
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
                    Tracking::Unknown if reach == Reach::Broad && !is_lost => return false,
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

    /// The number of the work tree; `None` if the line names too many.
    fn find(&mut self, change: &TreeChange) -> Option<usize> {
        let is_it = |known: &WorkTree| {
            let (directory, repository, work_tree) = &known.key;
            (directory, repository, work_tree) == (&change.directory, &change.repository, &change.work_tree)
        };
        if let Some(at) = self.known.iter().position(is_it) {
            return Some(at);
        }
        if self.known.len() == MOST_TREES {
            return None;
        }
        let key = (change.directory.clone(), change.repository.clone(), change.work_tree.clone());
        let place = self.place(change);
        self.known.push(WorkTree { key, place, tracked: HashMap::new() });
        Some(self.known.len() - 1)
    }

    fn place(&self, change: &TreeChange) -> Option<TreePlace> {
        let here = resolve(&change.directory);
        let named = change.repository.as_deref();
        let is_missing = named.is_some_and(|named| !self.workspace.exists(named));
        let repository =
            self.workspace.repository(named.unwrap_or(&change.directory)).filter(|_| !is_missing);
        let top = match (&change.work_tree, &change.repository) {
            (Some(top), _) => resolve(top),
            (None, Some(_)) => here.clone(),
            (None, None) => here.ancestors().find(|above| above.join(".git").exists())?.to_owned(),
        };
        let directory = if is_within(&here, &top) { here } else { top.clone() };
        let (own, shared) = match (repository, &change.repository) {
            (Some(repository), _) => repository.into_directories(),
            // The line may make it first. It tracks nothing then.
            (None, Some(named)) => (named.clone(), named.clone()),
            (None, None) => return None,
        };
        Some(TreePlace { top, directory, own, shared })
    }

    fn tracked(&mut self, at: usize, place: &TreePlace, path: &Path) -> Tracking {
        if let Some(known) = self.known[at].tracked.get(path) {
            return *known;
        }
        if self.index.as_ref().is_none_or(|(own, _)| *own != place.own) {
            self.index = Some((place.own.clone(), Index::read(place)));
        }
        let found = std::fs::symlink_metadata(place.top.join(path)).ok();
        let tracked = match &self.index {
            Some((_, Index { bytes: Some(bytes), hash })) => tracking(bytes, *hash, path, found.as_ref()),
            Some((_, Index { bytes: None, .. })) => Tracking::Untracked,
            None => Tracking::Unknown,
        };
        self.known[at].tracked.insert(path.to_owned(), tracked);
        tracked
    }

    fn reach(&self, place: &TreePlace, change: &TreeChange, file: &Path) -> Option<Reach> {
        let is_meant = |spec: &Pathspec| reach_of(spec, place, file, self.workspace);
        if change.excluded.iter().any(|spec| is_meant(spec).is_some()) {
            return None;
        }
        if change.paths.is_empty() {
            return Some(Reach::Broad);
        }
        let reached = change.paths.iter().filter_map(is_meant);
        reached.fold(None, |best, reach| match (best, reach) {
            (Some(Reach::Exact), _) | (_, Reach::Exact) => Some(Reach::Exact),
            (Some(Reach::Directory), _) | (_, Reach::Directory) => Some(Reach::Directory),
            _ => Some(Reach::Broad),
        })
    }
}

/// Whether a file stays in a sparse checkout of directories: it lies in one of them, or right in a directory above
/// one, or at the top.
fn stays_in_cone(directories: &[String], place: &TreePlace, path: &Path) -> bool {
    let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return true };
    let from = place.directory.strip_prefix(&place.top).unwrap_or(Path::new(""));
    directories.iter().any(|directory| {
        let directory = from.join(directory.trim_matches('/'));
        is_within(path, &directory) || is_within(&directory, parent)
    })
}

impl Index {
    /// An index that cannot be read has the form of none.
    fn read(place: &TreePlace) -> Self {
        let bytes = files::read(&place.own.join("index"), LARGEST_INDEX);
        let settings = files::read(&place.shared.join("config"), LARGEST_SETTINGS).ok().flatten();
        let is_long =
            settings.is_some_and(|text| text.to_ascii_lowercase().windows(6).any(|part| part == b"sha256"));
        Self { bytes: bytes.unwrap_or_else(|_| Some(Vec::new())), hash: if is_long { 32 } else { 20 } }
    }
}

fn reach_of(spec: &Pathspec, place: &TreePlace, file: &Path, workspace: &Workspace) -> Option<Reach> {
    let base = if spec.from_top { &place.top } else { &place.directory };
    let is_sign = |part: &Component| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let pattern = Path::new(&spec.pattern);
    let parts: Vec<Component> = pattern.components().collect();
    let signs = if spec.is_literal { None } else { parts.iter().position(is_sign) };
    let front: PathBuf = parts[..signs.unwrap_or(parts.len())].iter().collect();
    let front = workspace.resolve_parent(&base.join(front));
    let fold = |text: &Path| {
        let text = text.to_string_lossy();
        if spec.ignores_case { text.to_lowercase() } else { text.into_owned() }
    };
    let (front_text, file_text) = (PathBuf::from(fold(&front)), PathBuf::from(fold(file)));
    let Some(first) = signs else {
        return match () {
            () if front_text == file_text => Some(Reach::Exact),
            () if !is_within(&file_text, &front_text) => None,
            () if is_within(&place.top, &front) => Some(Reach::Broad),
            () => Some(Reach::Directory),
        };
    };
    let rest = file_text.strip_prefix(&front_text).ok()?;
    let pattern: PathBuf = parts[first..].iter().collect();
    // Git's star also stands for a slash, and for a dot at the start.
    let pattern = format!("/{}", fold(&pattern).replace("**/", "*"));
    let fits = |path: &Path| is_like(&pattern, &format!("/{}", path.to_string_lossy()));
    rest.ancestors().filter(|path| !path.as_os_str().is_empty()).any(fits).then_some(Reach::Broad)
}
