//! Whether a git command would discard work that git has nowhere else.
//!
//! Changes count that are not committed, and files that are not tracked. A file counts as changed if its size or time is
//! not what git saw last; its content is not compared. `None` means that the disk does not tell.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::git_index::IndexEntries;
use super::git_objects::{ObjectStore, TreeFile};
use super::work_tree::{Index, TreePlace, WorkTrees};
use crate::effect::git::{TreeChange, TreeChangeKind};

/// How many files are looked at for one answer.
const MOST_FILES: usize = 50_000;

impl WorkTrees<'_> {
    /// Whether a command discards changes that are not committed, or files that are not tracked. `with_staged`: it also
    /// discards what is staged.
    pub fn discards_work(&self, change: &TreeChange, with_staged: bool) -> Option<bool> {
        let place = self.locate(change)?;
        if change.is_index_changed {
            return None;
        }
        let index = Index::read(&place);
        let bytes = index.bytes.as_deref().unwrap_or_default();
        if bytes.is_empty() {
            // Nothing is tracked: the repository has just begun, or its index is gone.
            return match change.kind {
                TreeChangeKind::Clean { .. } => self.has_untracked(&place, change, &HashSet::new()),
                _ => None,
            };
        }
        let mut entries = IndexEntries::new(bytes, index.hash)?;
        let (mut tracked, mut is_named) = (HashSet::new(), change.paths.is_empty());
        let mut staged = HashSet::new();
        while let Some(entry) = entries.next_entry()? {
            if tracked.len() > MOST_FILES {
                return None;
            }
            let path = to_path(&entries.name);
            if !matches!(change.kind, TreeChangeKind::Clean { .. }) {
                let file = place.top.join(&path);
                if change.paths.is_empty() && change.excluded.is_empty()
                    || self.reach(&place, change, &file).is_some()
                {
                    is_named = true;
                    let current = fs::symlink_metadata(&file).ok();
                    // Restoring a file that is deleted loses nothing.
                    if current.is_some() && !entry.is_unchanged(current.as_ref()) {
                        return Some(true);
                    }
                    let hash = entries.content_hash(&entry)?.to_vec();
                    staged.insert(TreeFile { path: entries.name.clone(), hash });
                }
            }
            tracked.insert(path);
        }
        match change.kind {
            TreeChangeKind::Clean { .. } => self.has_untracked(&place, change, &tracked),
            _ if !is_named => None,
            _ if with_staged => self.has_staged(&place, change, &staged, index.hash),
            _ => Some(false),
        }
    }

    /// Whether the index differs from the current commit.
    fn has_staged(
        &self,
        place: &TreePlace,
        change: &TreeChange,
        staged: &HashSet<TreeFile>,
        hash: usize,
    ) -> Option<bool> {
        let repository = self.workspace.find_repository(&place.own)?;
        let mut store = ObjectStore::new(&place.shared, hash);
        let Some(head) = repository.read_head_commit() else { return Some(!staged.is_empty()) };
        let tree = store.read_commit(&head)?.tree;
        let committed = store.list_files(&tree)?;
        let is_reached = |file: &TreeFile| {
            let path = place.top.join(to_path(&file.path));
            change.paths.is_empty() && change.excluded.is_empty()
                || self.reach(place, change, &path).is_some()
        };
        let committed: HashSet<TreeFile> = committed.into_iter().filter(is_reached).collect();
        // A staged deletion is restored, and that loses nothing.
        Some(staged.iter().any(|file| !committed.contains(file)))
    }

    /// Whether there is a file that the command deletes because it is not tracked.
    fn has_untracked(
        &self,
        place: &TreePlace,
        change: &TreeChange,
        tracked: &HashSet<PathBuf>,
    ) -> Option<bool> {
        let TreeChangeKind::Clean { untracked, ignored, kept } = &change.kind else { return None };
        let is_ignored = |path: &Path| self.workspace.is_ignored(&place.top, &place.shared, path, kept);
        // Without paths, `git clean` looks below the directory in which it runs.
        let start = if change.paths.is_empty() { &place.directory } else { &place.top };
        let mut open = vec![start.strip_prefix(&place.top).unwrap_or(Path::new("")).to_owned()];
        let mut seen = 0;
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(place.top.join(&directory)).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST_FILES {
                    return None;
                }
                let path = directory.join(entry.file_name());
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if path == Path::new(".git") || is_directory && place.top.join(&path).join(".git").exists() {
                    continue;
                }
                if is_directory {
                    // Whether a directory is ignored shows in a file of it.
                    if *ignored || !is_ignored(&path.join("x")) {
                        open.push(path);
                    }
                    continue;
                }
                if tracked.contains(&path) || self.reach(place, change, &place.top.join(&path)).is_none() {
                    continue;
                }
                let is_deleted = match (untracked, ignored) {
                    (true, true) => true,
                    (true, false) => !is_ignored(&path),
                    (false, _) => is_ignored(&path),
                };
                if is_deleted {
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}

/// The path that git stores as these bytes.
#[cfg(unix)]
fn to_path(name: &[u8]) -> PathBuf {
    PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name))
}

#[cfg(not(unix))]
fn to_path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
