//! Provost's own files: locks, the seal key, what guards remember and what they set aside.
//!
//! They are in the user's state directory and are private. Their names are made here and never taken from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Workspace;
use super::disk::fault_at;
use crate::clock;
use crate::opinion::Fault;
use crate::places::fnv1a;
use provost_files::faults;
use provost_files::{self as files, Lock};

const LARGEST_MEMORY: u64 = 4 << 20;
/// Older files are removed. A session that lives longer loses its memory.
const MEMORY_KEPT: Duration = Duration::from_hours(30 * 24);

impl Workspace {
    /// Waits until no other process of Provost works on this file, and removes what a killed process has left beside
    /// it. A few locks serve all files.
    pub fn lock(&self, path: &Path) -> Result<Lock, Fault> {
        const LOCKS: u64 = 64;
        const PATIENCE: Duration = Duration::from_secs(3);
        // Whether two files share a lock depends on their paths. A test that counts steps needs the same count always.
        self.permit_change()?;
        let locks = if faults::switch("PROVOST_SEPARATE_LOCKS").is_some() { u64::MAX } else { LOCKS };
        let number = fnv1a(path.to_string_lossy().as_bytes()) % locks;
        let lock_file = self.state_file("locks", &format!("{number:02}.lock"))?;
        let lock = files::lock(&lock_file, faults::extend_limit(PATIENCE));
        let lock = lock.map_err(|error| Fault::Error(error.to_string()))?;
        files::remove_unfinished(path);
        Ok(lock)
    }

    /// Removes what a killed process has left beside a file.
    pub fn remove_leftovers(&self, path: &Path) {
        if files::has_unfinished(path) {
            let _ = self.lock(path);
        }
    }

    /// Locks all files of a directory at once, and removes what killed processes have left in it.
    pub fn lock_directory(&self, directory: &Path) -> Result<Lock, Fault> {
        let lock = self.lock(directory)?;
        self.permit_change()?;
        files::remove_all_unfinished(directory);
        Ok(lock)
    }

    pub fn fill_random(&self, key: &mut [u8]) -> Result<(), Fault> {
        getrandom::fill(key).map_err(|error| Fault::Error(format!("no random numbers: {error}")))
    }

    /// The key of the seals, if it exists. Other users must not be able to read it.
    pub fn read_seal_key(&self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(file) = self.places.seal_key_file() else { return Ok(None) };
        if self.ask_content() {
            return Ok(None);
        }
        files::read_private(&file, 4096).map_err(|error| {
            Fault::Error(format!("no seal counts, because of the seal key {}: {error}", file.display()))
        })
    }

    /// Saves a new key, unless a key exists by now.
    pub fn save_seal_key(&self, key: &[u8]) -> Result<(), Fault> {
        self.permit_change()?;
        let file = self.places.seal_key_file().ok_or_else(no_state)?;
        files::create_once(&file, key).map_err(fault_at(&file))
    }

    /// The path of a private file in a folder of the state directory.
    pub fn state_file(&self, folder: &str, name: &str) -> Result<PathBuf, Fault> {
        self.places.state.as_ref().map(|state| state.join(folder).join(name)).ok_or_else(no_state)
    }

    /// Writes a private file, and removes old files beside it.
    pub fn write_state_file(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        self.permit_change()?;
        let written = files::replace_private(path, bytes);
        if let Some(directory) = path.parent() {
            files::remove_older_files(directory, MEMORY_KEPT);
        }
        written.map_err(fault_at(path))
    }

    /// What a guard has remembered of a session. A memory that cannot be read is an error.
    pub fn recall_session(&self, session: &str) -> Result<Option<Value>, Fault> {
        let Some(file) = self.memory(session) else { return Ok(None) };
        let Some(bytes) = self.read_bytes(&file, LARGEST_MEMORY)? else { return Ok(None) };
        let damaged = |_| Fault::Error(format!("{}: what was remembered is damaged", file.display()));
        serde_json::from_slice(&bytes).map(Some).map_err(damaged)
    }

    /// Remembers something of a session, and removes the memory of old sessions.
    pub fn remember_session(&self, session: &str, value: &Value) -> Result<(), Fault> {
        let Some(file) = self.memory(session) else { return Ok(()) };
        self.write_state_file(&file, value.to_string().as_bytes())
    }

    /// The file of a session's memory. Its name is a digest of the session's id, which comes from outside.
    fn memory(&self, session: &str) -> Option<PathBuf> {
        self.state_file("sessions", &format!("{:016x}.json", fnv1a(session.as_bytes()))).ok()
    }

    /// The lock of a task that one process at a time may do; `None` if another process does it.
    pub fn try_lock(&self, folder: &str, path: &Path) -> Result<Option<Lock>, Fault> {
        const TRIES: u32 = 100;
        const PAUSE: Duration = Duration::from_millis(10);
        self.permit_change()?;
        let lock_file = self.state_file(folder, &lock_name(path))?;
        let mut lock = files::try_lock(&lock_file);
        for _ in 1..TRIES {
            if !matches!(lock, Ok(None)) {
                break;
            }
            // A process that only checks whether the lock is held holds it for a moment.
            thread::sleep(PAUSE);
            lock = files::try_lock(&lock_file);
        }
        lock.map_err(fault_at(&lock_file))
    }

    /// The lock of a task that processes do one after the other; `None` if another process does it for longer than
    /// `patience`.
    pub fn wait_for_lock(
        &self,
        folder: &str,
        path: &Path,
        patience: Duration,
    ) -> Result<Option<Lock>, Fault> {
        const PAUSE: Duration = Duration::from_millis(50);
        let end = Instant::now() + patience;
        loop {
            let lock = self.try_lock(folder, path)?;
            if lock.is_some() || Instant::now() >= end || (self.interruption.is_requested)() {
                return Ok(lock);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether another process holds the lock of a task ([`Self::try_lock`]). Creates no file.
    pub fn is_locked(&self, folder: &str, path: &Path) -> bool {
        !self.ask_content()
            && self.state_file(folder, &lock_name(path)).is_ok_and(|lock_file| files::is_locked(&lock_file))
    }

    /// The private files with this extension that belong to a path, the most recently changed first.
    pub fn list_state_files(&self, folder: &str, path: &Path, extension: &str) -> Vec<PathBuf> {
        let directory = self.state_file(folder, &subject(path));
        directory.map(|directory| self.list_newest_first(&directory, extension)).unwrap_or_default()
    }

    /// The path of a new private file that belongs to `path`, under a unique name. Removes old files beside it.
    pub fn new_state_file(&self, folder: &str, path: &Path, name: &str) -> Result<PathBuf, Fault> {
        self.permit_change()?;
        let directory = self.state_file(folder, &subject(path))?;
        files::make_private_directory(&directory).map_err(fault_at(&directory))?;
        let now = clock::time_since_epoch();
        remove_before(&directory, now.saturating_sub(MEMORY_KEPT));
        files::remove_old_unfinished(&directory);
        Ok(directory.join(format!("{}-{}-{name}", now.as_millis(), std::process::id())))
    }
}

/// Removes the files that were put into a directory before a time. Their names show when that was: the file itself may
/// have been written long before.
fn remove_before(directory: &Path, time: Duration) {
    let is_old = |name: &str| {
        let since = name.split('-').next().and_then(|since| since.parse().ok());
        since.is_some_and(|since| Duration::from_millis(since) < time)
    };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_old) {
            let _ = files::remove_file(&entry.path());
        }
    }
}

/// The name of a path's own directory: a digest.
fn subject(path: &Path) -> String {
    format!("{:016x}", fnv1a(path.as_os_str().as_encoded_bytes()))
}

fn lock_name(path: &Path) -> String {
    format!("{}.lock", subject(path))
}

fn no_state() -> Fault {
    Fault::Error("there is no state directory".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_are_recognised_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["999-1-old.md", "1000-1-new.md", "odd.md", "x-1-odd.md"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        remove_before(dir.path(), Duration::from_secs(1));
        assert!(!dir.path().join("999-1-old.md").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }
}
