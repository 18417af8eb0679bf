//! What belongs to Provost itself: its locks, its key, what guards remember, what they set aside.
//!
//! All of it lies in one directory of the person, in private files whose names are made here and never
//! taken from outside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Workspace, fnv1a};
use crate::clock;
use crate::decision::Fault;
use crate::faults;
use crate::files::{self, Lock};
use crate::overrides;
use crate::registry::Guard;

const LARGEST_MEMORY: u64 = 4 << 20;
/// A session that lives longer falls back to the rules for sessions without a memory.
const MEMORY_KEPT: Duration = Duration::from_hours(30 * 24);

impl Workspace {
    /// Waits until no other process of ours works on this file. A few locks serve all files. What a process has
    /// left beside it that was killed goes.
    pub fn lock(&self, path: &Path) -> Result<Lock, Fault> {
        const LOCKS: u64 = 64;
        const PATIENCE: Duration = Duration::from_secs(3);
        // Whether two files share a lock depends on their paths; a test that counts steps needs the same count always.
        let locks = if faults::switch("PROVOST_SEPARATE_LOCKS").is_some() { u64::MAX } else { LOCKS };
        let number = fnv1a(path.to_string_lossy().as_bytes()) % locks;
        let place = self.own_file("locks", &format!("{number:02}.lock"))?;
        let patience = faults::extend_limit(PATIENCE);
        let lock = files::lock(&place, patience).map_err(|error| Fault::Error(error.to_string()))?;
        files::take_away_unfinished(path);
        Ok(lock)
    }

    /// Takes away what a killed process has left beside a file, where nothing else is to be done to it.
    pub fn tidy(&self, path: &Path) {
        if files::has_unfinished(path) {
            let _ = self.lock(path);
        }
    }

    /// The same for a lock that covers all files of a directory.
    pub fn lock_all(&self, directory: &Path) -> Result<Lock, Fault> {
        let lock = self.lock(directory)?;
        files::take_away_all_unfinished(directory);
        Ok(lock)
    }

    /// The key of the seals, if there is one. Others must not be able to read it.
    pub fn seal_key(&self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(place) = self.places.seal_key() else { return Ok(None) };
        files::read_private(&place, 4096).map_err(|error| {
            Fault::Error(format!("no seal counts, because of the seal key {}: {error}", place.display()))
        })
    }

    /// Keeps a new key, unless there is one by now.
    pub fn keep_seal_key(&self, key: &[u8]) -> Result<(), Fault> {
        let place = self.places.seal_key().ok_or_else(no_state)?;
        files::create_once(&place, key).map_err(|error| Fault::Error(format!("{}: {error}", place.display())))
    }

    /// A private file of Provost's own, for what belongs to a subject.
    pub fn own_file(&self, folder: &str, name: &str) -> Result<PathBuf, Fault> {
        self.places.state.as_ref().map(|state| state.join(folder).join(name)).ok_or_else(no_state)
    }

    /// Writes such a file, and forgets what lies beside it for long.
    pub fn replace_own(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let written = files::replace(path, bytes);
        if let Some(directory) = path.parent() {
            files::remove_older(directory, MEMORY_KEPT);
        }
        written.map_err(|error| Fault::Error(format!("{}: {error}", path.display())))
    }

    /// What a guard has remembered of a session. A memory that cannot be read is not the same as
    /// none.
    pub fn recall(&self, session: &str) -> Result<Option<Value>, Fault> {
        let Some(place) = self.memory(session) else { return Ok(None) };
        let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
        match self.read_bytes(&place, LARGEST_MEMORY)?.map(read) {
            None => Ok(None),
            Some(Some(value)) => Ok(Some(value)),
            Some(None) => Err(Fault::Error(format!("{}: what was remembered is damaged", place.display()))),
        }
    }

    /// Remembers something of a session, and forgets what sessions of long ago left.
    pub fn remember(&self, session: &str, value: &Value) -> Result<(), Fault> {
        let Some(place) = self.memory(session) else { return Ok(()) };
        self.replace_own(&place, value.to_string().as_bytes())
    }

    /// Records that the person lets a guard pass once in a session.
    pub fn permit(&self, session: &str, guard: &Guard, reason: &str) -> Result<(), Fault> {
        let Some(directory) = self.places.overrides() else {
            return Err(Fault::Error("there is no home directory to keep it in".into()));
        };
        overrides::permit(&directory, session, guard, reason)
            .map_err(|error| Fault::Error(format!("{}: {error}", directory.display())))
    }

    /// One small file per session, whatever project it is in. Its name is made from the session's
    /// id and never is the id itself: that comes from outside.
    fn memory(&self, session: &str) -> Option<PathBuf> {
        self.own_file("sessions", &format!("{:016x}.json", fnv1a(session.as_bytes()))).ok()
    }

    /// The lock of a thing that one process at a time may do; `None`: another one does it.
    pub fn try_lock(&self, folder: &str, path: &Path) -> Result<Option<Lock>, Fault> {
        const TRIES: u32 = 100;
        const PAUSE: Duration = Duration::from_millis(10);
        let place = self.own_file(folder, &lock_name(path))?;
        for _ in 1..TRIES {
            match files::try_lock(&place) {
                // Whoever only looks whether it is held holds it for a moment.
                Ok(None) => thread::sleep(PAUSE),
                tried => return tried.map_err(|error| at(&place, &error)),
            }
        }
        files::try_lock(&place).map_err(|error| at(&place, &error))
    }

    /// Whether another process does that thing right now. Nothing is made for the question.
    pub fn is_locked(&self, folder: &str, path: &Path) -> bool {
        let place = self.own_file(folder, &lock_name(path));
        place.is_ok_and(|place| files::is_locked(&place))
    }

    /// The files with this extension that belong to a path, the one that was changed last first.
    pub fn own_files(&self, folder: &str, path: &Path, extension: &str) -> Vec<PathBuf> {
        let directory = self.own_file(folder, &subject(path));
        directory.map(|directory| self.newest_first(&directory, extension)).unwrap_or_default()
    }

    /// A place for a new file that belongs to a path, by a name that no other has. What lies there for
    /// long is forgotten.
    pub fn new_own_file(&self, folder: &str, path: &Path, name: &str) -> Result<PathBuf, Fault> {
        let directory = self.own_file(folder, &subject(path))?;
        files::private_directory(&directory)
            .map_err(|error| Fault::Error(format!("{}: {error}", directory.display())))?;
        let now = clock::since_1970();
        forget(&directory, now.saturating_sub(MEMORY_KEPT));
        files::sweep(&directory);
        Ok(directory.join(format!("{}-{}-{name}", now.as_millis(), std::process::id())))
    }
}

/// Takes away what was put into a directory before a time. That is in the names: what was set aside may
/// have been written long before.
fn forget(directory: &Path, before: Duration) {
    let is_old = |name: &str| {
        let since = name.split('-').next().and_then(|time| time.parse().ok());
        since.is_some_and(|since| Duration::from_millis(since) < before)
    };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_old) {
            let _ = files::remove(&entry.path());
        }
    }
}

/// The name under which a path's own things are kept.
fn subject(path: &Path) -> String {
    format!("{:016x}", fnv1a(path.as_os_str().as_encoded_bytes()))
}

fn lock_name(path: &Path) -> String {
    format!("{}.lock", subject(path))
}

fn at(path: &Path, error: &io::Error) -> Fault {
    Fault::Error(format!("{}: {error}", path.display()))
}

fn no_state() -> Fault {
    Fault::Error("there is no state directory".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_known_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["999-1-old.md", "1000-1-new.md", "odd.md", "x-1-odd.md"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        forget(dir.path(), Duration::from_secs(1));
        assert!(!dir.path().join("999-1-old.md").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }
}
