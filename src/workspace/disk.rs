//! What guards ask of the disk, and the few things that they change on it.

use std::fs::{self, Permissions};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::Workspace;
use crate::decision::Fault;
use crate::files::{self, EntryKind, Identity, Listing};
use crate::glob::is_like;

impl Workspace {
    pub fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    /// Whether neither the path nor the directory it lies in is there, so that nothing could be
    /// written by it.
    pub fn leads_nowhere(&self, path: &Path) -> bool {
        let missing = |path: &Path| fs::symlink_metadata(path).is_err();
        missing(path) && path.parent().is_none_or(missing)
    }

    /// The files that a name with wildcards in its last part fits; one without is itself.
    pub fn fitting(&self, path: &Path) -> Vec<PathBuf> {
        const MOST: usize = 1000;
        let pattern = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if !pattern.contains(['*', '?', '[']) || self.exists(path) {
            return vec![path.to_owned()];
        }
        let entries = path.parent().and_then(|directory| fs::read_dir(directory).ok());
        let found = entries.into_iter().flatten().take(MOST).filter_map(Result::ok);
        found
            .filter(|entry| is_like(&pattern, &entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .collect()
    }

    /// Whether a path is a directory.
    pub fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    /// What makes a file this one and no other; `None` if there is none.
    pub fn identity(&self, path: &Path) -> Option<Identity> {
        files::identity(path)
    }

    /// Whether two paths lead to one file, by whatever names and links.
    pub fn is_same_file(&self, a: &Path, b: &Path) -> bool {
        files::same(a, b)
    }

    /// Whether a file has a name below a directory, besides the one it was found by.
    pub fn has_name_below(&self, file: Identity, directory: &Path) -> Result<bool, Fault> {
        files::linked_below(file, directory).map_err(|error| Fault::Error(error.to_string()))
    }

    /// The bytes of a file of at most `limit` bytes; `None` if there is none.
    pub fn read_bytes(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        files::read(path, limit).map_err(|error| Fault::Error(error.to_string()))
    }

    /// The same for a guard to which a file that cannot be read is none ([`Workspace::miss`]).
    pub fn read_or_miss(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.read_bytes(path, limit).unwrap_or_else(|fault| {
            self.miss(fault);
            None
        })
    }

    /// Puts bytes in the place of a file that holds what it held before; `false`: it does not.
    // INVARIANT: only under the file's lock.
    pub fn replace_unless_changed(
        &self,
        path: &Path,
        before: Option<&[u8]>,
        after: &[u8],
    ) -> Result<bool, Fault> {
        files::replace_unless_changed(path, before, after)
            .map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    /// Makes a file, with this mode, unless there is one by now; then the answer is `false`.
    // INVARIANT: only under the file's lock.
    pub fn create(&self, path: &Path, bytes: &[u8], mode: Option<&Permissions>) -> Result<bool, Fault> {
        files::create(path, bytes, mode).map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    pub fn remove(&self, path: &Path) -> Result<(), Fault> {
        match files::remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Fault::Error(format!("{}: {error}", path.display())))
            }
            _ => Ok(()),
        }
    }

    /// Whether a killed process has left something beside a file.
    pub fn has_unfinished(&self, path: &Path) -> bool {
        files::has_unfinished(path)
    }

    pub fn make_directory(&self, path: &Path) -> Result<(), Fault> {
        files::make_directory(path).map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    /// The files of a directory with this extension, the one that was changed last first.
    pub fn newest_first(&self, directory: &Path, extension: &str) -> Vec<PathBuf> {
        files::newest_first(directory, extension)
    }

    /// Of the Markdown files of a directory that have this text near their end, the one that was
    /// changed last and is accepted.
    pub fn latest_ending_with(
        &self,
        directory: &Path,
        text: &[u8],
        accept: impl Fn(&Path) -> bool,
    ) -> Option<PathBuf> {
        files::latest_ending_with(directory, "md", text, accept)
    }

    /// The text of a file of at most `limit` bytes; `None` if there is none.
    pub fn read_text(&self, path: &Path, limit: u64) -> Result<Option<String>, Fault> {
        let bytes = self.read_bytes(path, limit)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// What is looked for in a file's text. Somebody is about to write it: as long as it is not there
    /// and there is patience left, the file is read again.
    pub fn await_text<T>(
        &self,
        path: &Path,
        limit: u64,
        patience: Duration,
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let mut found = None;
        self.await_that(patience, || {
            found = self.read_text(path, limit)?.and_then(|text| find(&text));
            Ok(found.is_some())
        })?;
        Ok(found)
    }

    /// Asks again and again whether something is so, until it is or there is no patience left.
    pub fn await_that(
        &self,
        patience: Duration,
        mut is_so: impl FnMut() -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        const PAUSE: Duration = Duration::from_millis(20);
        let began = Instant::now();
        while !is_so()? && began.elapsed() < patience {
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The start of a file's text, at most `limit` bytes, and whether that was all of it.
    pub fn read_start(&self, path: &Path, limit: u64) -> Result<(String, bool), Fault> {
        let (bytes, whole) = files::read_start(path, limit)
            .map_err(|error| Fault::Error(format!("{}: {error}", path.display())))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), whole))
    }

    /// The file below a directory with this extension that was changed last, and how long ago.
    pub fn newest_below(&self, directory: &Path, extension: &str) -> Option<(PathBuf, Duration)> {
        let (path, changed) = files::newest_below(directory, extension)?;
        // A time to come (another machine's clock) is now.
        Some((path, changed.elapsed().unwrap_or_default()))
    }

    /// The Markdown files below a directory, or the path itself if it is no directory.
    pub fn markdown_below(&self, path: &Path) -> Vec<PathBuf> {
        files::files_below(path, "md")
    }

    /// Calls `visit` with the lines of a file, the last one first, until it has found something.
    pub fn find_line_backwards<T>(
        &self,
        path: &Path,
        limit: u64,
        visit: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        files::find_line_backwards(path, limit, visit)
            .map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    /// The links in a directory.
    pub fn links(&self, directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let _ = files::for_each_entry(directory, |name, kind| {
            if kind == EntryKind::Link {
                found.push(directory.join(name));
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// The directories in a directory by name, links to directories among them, and whether each is a link.
    pub fn directories(&self, directory: &Path) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        let _ = files::for_each_entry(directory, |name, kind| {
            let is_link = kind == EntryKind::Link;
            if kind == EntryKind::Directory || (is_link && directory.join(name).is_dir()) {
                found.extend(name.to_str().map(|name| (name.to_owned(), is_link)));
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// When the files of a directory that are accepted by their names were changed last.
    pub fn last_change(&self, directory: &Path, accept: impl Fn(&str) -> bool) -> Option<SystemTime> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let accepted = entries.filter(|entry| entry.file_name().to_str().is_some_and(&accept));
        accepted.filter_map(|entry| fs::metadata(entry.path()).ok()?.modified().ok()).max()
    }

    /// What lies in a directory, and whether files with this extension lie deeper.
    pub fn list(&self, directory: &Path, nested_extension: &str) -> Result<Listing, Fault> {
        files::list(directory, nested_extension)
            .map_err(|error| Fault::Error(format!("{}: {error}", directory.display())))
    }

    /// Whether there is a file with something in it.
    pub fn has_content(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
    }

    /// Moves a file, also to another file system.
    pub fn move_file(&self, from: &Path, to: &Path) -> Result<(), Fault> {
        files::move_file(from, to).map_err(|error| Fault::Error(format!("{}: {error}", from.display())))
    }
}
