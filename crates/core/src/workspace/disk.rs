//! What guards ask of the disk, and the few things that they change on it.

use std::fs::{self, Permissions};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::Workspace;
use crate::glob::matches_glob;
use crate::opinion::Fault;
use crate::rules::path_pattern::matches_name;
use provost_files::{self as files, EntryKind, FileIdentity, Listing};

impl Workspace {
    pub fn exists(&self, path: &Path) -> bool {
        self.ask_path(path).unwrap_or_else(|| path.exists())
    }

    pub fn is_directory(&self, path: &Path) -> bool {
        // The record of an event tells about files only.
        let is_file = self.read_known_file(path).is_some();
        !is_file && self.ask_existence().unwrap_or_else(|| path.is_dir())
    }

    /// Whether there is a regular file that is not empty.
    pub fn has_content(&self, path: &Path) -> bool {
        let has = || fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        self.ask_existence().unwrap_or_else(has)
    }

    /// Whether neither the path nor its directory exists, so that no program can write there.
    pub fn is_unreachable(&self, path: &Path) -> bool {
        if let Some(exists) = self.ask_existence() {
            return !exists;
        }
        let is_missing = |path: &Path| fs::symlink_metadata(path).is_err();
        is_missing(path) && path.parent().is_none_or(is_missing)
    }

    /// The files that match a path with wildcards in its last part. A path without wildcards is returned as it is.
    pub fn expand_wildcards(&self, path: &Path) -> Vec<PathBuf> {
        const MOST: usize = 1000;
        let pattern = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if !pattern.contains(['*', '?', '[']) || self.exists(path) {
            return vec![path.to_owned()];
        }
        if self.ask_existence().is_some() {
            return Vec::new();
        }
        let entries = path.parent().and_then(|directory| fs::read_dir(directory).ok());
        let entries = entries.into_iter().flatten().take(MOST).filter_map(Result::ok);
        let matching = entries.filter(|entry| matches_glob(&pattern, &entry.file_name().to_string_lossy()));
        matching.map(|entry| entry.path()).collect()
    }

    /// The files that a path with wildcards in any part means to a shell. `**` stands for any number of directories.
    pub fn expand_path_pattern(&self, path: &Path) -> Vec<PathBuf> {
        const MOST: usize = 1000;
        if self.ask_existence().is_some() {
            return Vec::new();
        }
        let mut found = vec![PathBuf::new()];
        for part in path.components() {
            let part = part.as_os_str();
            let pattern = part.to_string_lossy();
            if !pattern.contains(['*', '?', '[']) {
                for path in &mut found {
                    path.push(part);
                }
                continue;
            }
            let list = |directory: &PathBuf| fs::read_dir(directory).into_iter().flatten().flatten();
            let mut next = Vec::new();
            let mut open = std::mem::take(&mut found);
            if pattern == "**" {
                next.clone_from(&open);
            }
            while let Some(directory) = open.pop() {
                for entry in list(&directory) {
                    let name = entry.file_name();
                    let name = name.to_string_lossy();
                    let is_hidden = name.starts_with('.') && !pattern.starts_with('.');
                    if next.len() >= MOST || is_hidden || !matches_name(&pattern, &name) {
                        continue;
                    }
                    if pattern == "**" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        open.push(entry.path());
                    }
                    next.push(entry.path());
                }
            }
            found = next;
        }
        found.retain(|path| fs::symlink_metadata(path).is_ok());
        found
    }

    /// The files below a directory; `None` if there are too many.
    pub fn list_files_below(&self, directory: &Path) -> Option<Vec<PathBuf>> {
        const MOST: usize = 5000;
        if self.ask_existence().is_some() {
            return Some(Vec::new());
        }
        let (mut open, mut found) = (vec![directory.to_owned()], Vec::new());
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let list = if is_directory { &mut open } else { &mut found };
                list.push(entry.path());
                if found.len() + open.len() > MOST {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Identifies a file independently of its name; `None` if it does not exist.
    pub fn find_identity(&self, path: &Path) -> Option<FileIdentity> {
        if self.ask_existence().is_some() { None } else { files::file_identity(path) }
    }

    /// Whether two paths lead to the same file, by any names and links.
    pub fn is_same_file(&self, a: &Path, b: &Path) -> bool {
        if self.ask_existence().is_some() { a == b } else { files::is_same_file(a, b) }
    }

    /// Whether a file with several names has one of them below a directory.
    pub fn has_link_below(&self, file: FileIdentity, directory: &Path) -> Result<bool, Fault> {
        if self.ask_existence().is_some() {
            return Ok(false);
        }
        files::has_link_below(file, directory).map_err(|error| Fault::Error(error.to_string()))
    }

    /// The bytes of a file of at most `limit` bytes; `None` if it does not exist.
    pub fn read_bytes(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        if let Some(known) = self.read_known_file(path) {
            return Ok(known.map(String::into_bytes));
        }
        if self.ask_content() {
            return Ok(None);
        }
        files::read_file(path, limit).map_err(|error| Fault::Error(error.to_string()))
    }

    /// Like [`Workspace::read_bytes`], but records a read error as this guard's fault and returns `None`.
    pub fn read_or_report(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.read_bytes(path, limit).unwrap_or_else(|fault| {
            self.report_unreadable(fault);
            None
        })
    }

    /// The text of a file of at most `limit` bytes; `None` if it does not exist.
    pub fn read_text(&self, path: &Path, limit: u64) -> Result<Option<String>, Fault> {
        let bytes = self.read_bytes(path, limit)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The start of a file's text, at most `limit` bytes, and whether that is the whole file.
    pub fn read_start(&self, path: &Path, limit: u64) -> Result<(String, bool), Fault> {
        if self.ask_content() {
            return Ok((String::new(), true));
        }
        let (bytes, is_whole) = files::read_start(path, limit).map_err(fault_at(path))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), is_whole))
    }

    /// Calls `visit` with the lines of a file, the last one first, until it returns a value.
    pub fn find_line_backwards<T>(
        &self,
        path: &Path,
        limit: u64,
        visit: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        // A record that is written line by line has more by now.
        if self.is_past() {
            self.ask_content();
            return Ok(None);
        }
        files::find_line_backwards(path, limit, visit).map_err(fault_at(path))
    }

    /// Looks for something in a file that another program is about to write: reads it again until `find` returns a
    /// value or `patience` is over.
    pub fn wait_for_text<T>(
        &self,
        path: &Path,
        limit: u64,
        patience: Duration,
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let mut found = None;
        self.wait_until(patience, || {
            found = self.read_text(path, limit)?.and_then(|text| find(&text));
            Ok(found.is_some())
        })?;
        Ok(found)
    }

    /// Waits until `is_so` holds or `patience` is over.
    pub fn wait_until(
        &self,
        patience: Duration,
        mut is_so: impl FnMut() -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        const PAUSE: Duration = Duration::from_millis(20);
        let patience = if self.is_past() { Duration::ZERO } else { patience };
        let began = Instant::now();
        while !is_so()? && began.elapsed() < patience {
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Replaces the bytes `before` of a file by `after`. Returns `false` if the file holds something else by now.
    // INVARIANT: the caller holds the file's lock.
    pub fn replace_unless_changed(
        &self,
        path: &Path,
        before: Option<&[u8]>,
        after: &[u8],
    ) -> Result<bool, Fault> {
        self.permit_change()?;
        files::replace_unless_changed(path, before, after).map_err(fault_at(path))
    }

    /// Creates a file with this mode. Returns `false` if it exists by now.
    // INVARIANT: the caller holds the file's lock.
    pub fn create_file(&self, path: &Path, bytes: &[u8], mode: Option<&Permissions>) -> Result<bool, Fault> {
        self.permit_change()?;
        files::create_if_missing(path, bytes, mode).map_err(fault_at(path))
    }

    /// Removes a file, if it exists.
    pub fn remove_file(&self, path: &Path) -> Result<(), Fault> {
        self.permit_change()?;
        match files::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fault_at(path)(error)),
            _ => Ok(()),
        }
    }

    /// Moves a file, even to another file system.
    pub fn move_file(&self, from: &Path, to: &Path) -> Result<(), Fault> {
        self.permit_change()?;
        files::move_file(from, to).map_err(fault_at(from))
    }

    pub fn make_directory(&self, path: &Path) -> Result<(), Fault> {
        self.permit_change()?;
        files::make_directory(path).map_err(fault_at(path))
    }

    /// Whether a killed process has left a temporary file beside a file.
    pub fn has_unfinished(&self, path: &Path) -> bool {
        !self.ask_content() && files::has_unfinished(path)
    }

    /// The entries of a directory, and whether files with this extension are below it.
    pub fn list_directory(&self, directory: &Path, nested_extension: &str) -> Result<Listing, Fault> {
        if self.ask_content() {
            return Ok(Listing::default());
        }
        files::list_directory(directory, nested_extension).map_err(fault_at(directory))
    }

    /// The files of a directory with this extension, the most recently changed first.
    pub fn list_newest_first(&self, directory: &Path, extension: &str) -> Vec<PathBuf> {
        if self.ask_content() { Vec::new() } else { files::list_newest_first(directory, extension) }
    }

    /// The Markdown files of a directory, the most recently changed first.
    pub fn list_markdown(&self, directory: &Path) -> Vec<PathBuf> {
        self.list_newest_first(directory, "md")
    }

    /// The Markdown files below a directory, or the path itself if it is not a directory.
    pub fn list_markdown_below(&self, path: &Path) -> Vec<PathBuf> {
        if self.ask_content() { Vec::new() } else { files::list_files_below(path, "md") }
    }

    /// The most recently changed Markdown file of a directory that has `text` near its end and that `accept` accepts.
    pub fn find_latest_ending_with(
        &self,
        directory: &Path,
        text: &[u8],
        accept: impl Fn(&Path) -> bool,
    ) -> Option<PathBuf> {
        if self.ask_content() {
            return None;
        }
        files::find_latest_ending_with(directory, "md", text, accept)
    }

    /// The most recently changed file with this extension below a directory, and its age.
    pub fn find_newest_below(&self, directory: &Path, extension: &str) -> Option<(PathBuf, Duration)> {
        if self.ask_content() {
            return None;
        }
        let (path, changed) = files::find_newest_below(directory, extension)?;
        // A time in the future comes from another machine's clock, and counts as now.
        Some((path, changed.elapsed().unwrap_or_default()))
    }

    /// The time of the last change of those files of a directory whose names `accept` accepts.
    pub fn find_last_change(&self, directory: &Path, accept: impl Fn(&str) -> bool) -> Option<SystemTime> {
        if self.ask_content() {
            return None;
        }
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let accepted = entries.filter(|entry| entry.file_name().to_str().is_some_and(&accept));
        accepted.filter_map(|entry| fs::metadata(entry.path()).ok()?.modified().ok()).max()
    }

    /// Whether a path below a directory is accepted. Directories of git are left out, and a directory with very many
    /// entries is only searched in part. `may_contain` says whether a directory has to be searched.
    pub fn has_path_below(
        &self,
        directory: &Path,
        may_contain: impl Fn(&Path) -> bool,
        accept: impl Fn(&Path) -> bool,
    ) -> bool {
        const MOST_ENTRIES: usize = 200_000;
        if let Some(exists) = self.ask_existence() {
            return exists;
        }
        let mut open = vec![directory.to_owned()];
        let mut seen = 0;
        while let Some(directory) = open.pop() {
            if !may_contain(&directory) {
                continue;
            }
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                seen += 1;
                let path = entry.path();
                if accept(&path) {
                    return true;
                }
                if seen > MOST_ENTRIES {
                    return false;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git" {
                    open.push(path);
                }
            }
        }
        false
    }

    /// The links in a directory.
    pub fn list_links(&self, directory: &Path) -> Vec<PathBuf> {
        let mut links = Vec::new();
        if self.ask_existence().is_some() {
            return links;
        }
        let _ = files::for_each_entry(directory, |name, kind| {
            links.extend((kind == EntryKind::Link).then(|| directory.join(name)));
            ControlFlow::Continue(())
        });
        links
    }

    /// The names in a directory, and whether each is a directory or a link to one; empty if it does not exist. A name that
    /// is not UTF-8 is left out.
    pub fn list_names(&self, directory: &Path) -> Result<Vec<(String, bool)>, Fault> {
        let mut names = Vec::new();
        if self.ask_existence().is_some() {
            return Ok(names);
        }
        let listed = files::for_each_entry(directory, |name, kind| {
            let is_directory =
                kind == EntryKind::Directory || (kind == EntryKind::Link && directory.join(name).is_dir());
            names.extend(name.to_str().map(|name| (name.to_owned(), is_directory)));
            ControlFlow::Continue(())
        });
        match listed {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Vec::new())
            }
            listed => listed.map(|()| names).map_err(fault_at(directory)),
        }
    }

    /// The names of the directories in a directory, and whether each is a link to a directory.
    pub fn list_directories(&self, directory: &Path) -> Vec<(String, bool)> {
        let mut directories = Vec::new();
        if self.ask_existence().is_some() {
            return directories;
        }
        let _ = files::for_each_entry(directory, |name, kind| {
            let is_link = kind == EntryKind::Link;
            if kind == EntryKind::Directory || (is_link && directory.join(name).is_dir()) {
                directories.extend(name.to_str().map(|name| (name.to_owned(), is_link)));
            }
            ControlFlow::Continue(())
        });
        directories
    }
}

/// Turns an error about a path into a fault that names the path.
pub(super) fn fault_at(path: &Path) -> impl Fn(io::Error) -> Fault {
    move |error| Fault::Error(format!("{}: {error}", path.display()))
}
