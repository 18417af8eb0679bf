//! Locks between processes.
//!
//! The system frees a lock when its process ends, so a killed process blocks no other.

use std::cell::RefCell;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::{make_private_directory, not_regular, private, steps};
use crate::faults;

/// A held lock. Dropping it frees it.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] Arc<File>);

thread_local! {
    /// The locks that this thread holds. Several files share a lock, so a thread can need one that it holds already, and
    /// must not wait for itself.
    static HELD: RefCell<Vec<(PathBuf, Weak<File>)>> = const { RefCell::new(Vec::new()) };
}

/// Takes a lock; `None` if another process holds it.
pub fn try_lock(place: &Path) -> io::Result<Option<Lock>> {
    let file = lock_file(place)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(Arc::new(file)))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether another process holds a lock. Processes that check at the same time do not take each other for the holder.
pub fn is_locked(place: &Path) -> bool {
    let attempt = File::open(place).map(|file| file.try_lock_shared());
    matches!(attempt, Ok(Err(TryLockError::WouldBlock)))
}

/// Keeps others from taking a lock, together with other readers; waits at most for `patience`. `None` if nobody has ever
/// taken the lock, or if the wait was in vain: creates nothing.
pub fn share_lock(place: &Path, patience: Duration) -> Option<Lock> {
    let file = File::open(place).ok()?;
    wait_until(patience, || file.try_lock_shared()).ok()?;
    Some(Lock(Arc::new(file)))
}

fn lock_file(place: &Path) -> io::Result<File> {
    make_private_directory(place.parent().unwrap_or(Path::new(".")))?;
    if cfg!(debug_assertions) && !place.exists() {
        faults::announce_step("create the lock", place);
    }
    private().read(true).write(true).create(true).truncate(false).open(place)
}

/// Waits for a lock, at most for `patience`. A thread that holds it already gets it again at once.
pub fn lock(place: &Path, patience: Duration) -> io::Result<Lock> {
    let find = |(known, file): &(PathBuf, Weak<File>)| (known == place).then(|| file.upgrade()).flatten();
    if let Some(file) = HELD.with_borrow(|held| held.iter().find_map(find)) {
        return Ok(Lock(file));
    }
    let file = lock_file(place)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", place.display())))?;
    wait_for_lock(&file, place, patience)?;
    let file = Arc::new(file);
    HELD.with_borrow_mut(|held| {
        held.retain(|(_, file)| file.strong_count() > 0);
        held.push((place.to_owned(), Arc::downgrade(&file)));
    });
    Ok(Lock(file))
}

/// A small file, locked for reading and writing.
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    path: PathBuf,
    content: Vec<u8>,
    length: u64,
}

/// Waits for the lock of a small file, and reads at most `limit` bytes of it.
pub fn lock_and_read_file(path: &Path, limit: u64, patience: Duration) -> io::Result<LockedFile> {
    let file = lock_file(path)?;
    wait_for_lock(&file, path, patience)?;
    let metadata = file.metadata()?;
    // Reading a pipe would never end.
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let mut content = Vec::new();
    (&file).take(limit).read_to_end(&mut content)?;
    Ok(LockedFile { file, path: path.to_owned(), content, length: metadata.len() })
}

impl LockedFile {
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// Overwrites the file in place and frees the lock. If the process is killed meanwhile, the file can hold the start of
    /// the new content and the rest of the old.
    pub fn overwrite(mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.content.is_empty() {
            self.file.rewind()?;
        }
        steps::write(&mut self.file, &self.path, bytes)?;
        let length = bytes.len() as u64;
        if length < self.length {
            steps::truncate(&self.file, &self.path, length)?;
        }
        Ok(())
    }
}

fn wait_for_lock(file: &File, place: &Path, patience: Duration) -> io::Result<()> {
    wait_until(patience, || file.try_lock()).map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other(format!("another process holds {}", place.display())),
        TryLockError::Error(error) => error,
    })
}

fn wait_until(
    patience: Duration,
    attempt: impl Fn() -> Result<(), TryLockError>,
) -> Result<(), TryLockError> {
    let began = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match attempt() {
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
            ended => return ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_cannot_be_created_names_its_path() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), "").unwrap();
        let place = dir.path().join("f/x.lock");
        let error = lock(&place, Duration::ZERO).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", place.display())), "{error}");
    }

    #[test]
    fn a_thread_does_not_wait_for_itself_and_others_wait_until_both_locks_are_free() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("x.lock");
        let other =
            || thread::scope(|scope| scope.spawn(|| lock(&place, Duration::ZERO).is_ok()).join().unwrap());
        let first = lock(&place, Duration::ZERO).unwrap();
        let second = lock(&place, Duration::ZERO).unwrap();
        assert!(!other());
        drop(first);
        assert!(!other());
        drop(second);
        assert!(other());
        lock(&place, Duration::ZERO).unwrap();
    }

    #[test]
    fn readers_share_a_lock_and_keep_writers_out() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("x.lock");
        assert!(share_lock(&place, Duration::ZERO).is_none() && !place.exists());
        drop(try_lock(&place).unwrap());
        let (first, second) = (share_lock(&place, Duration::ZERO), share_lock(&place, Duration::ZERO));
        assert!(first.is_some() && second.is_some() && try_lock(&place).unwrap().is_none());
        drop((first, second));
        let held = try_lock(&place).unwrap();
        assert!(held.is_some() && share_lock(&place, Duration::from_millis(2)).is_none());
    }

    #[test]
    fn a_process_that_checks_is_not_taken_for_the_holder() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("x.lock");
        assert!(!is_locked(&place) && !place.exists());
        let held = try_lock(&place).unwrap();
        assert!(is_locked(&place));
        drop(held);
        let checker = File::open(&place).unwrap();
        checker.try_lock_shared().unwrap();
        assert!(!is_locked(&place));
    }
}
