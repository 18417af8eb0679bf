//! Putting a new file in the place of an old one, whole or not at all, and taking turns.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::{private, private_directory, read};

/// Puts `after` in the place of a file that others write to as well, with its mode. Nothing happens
/// if it does not hold `before` any more (`None`: there is no file): then the answer is `false`.
// INVARIANT: the caller holds the lock of this file, so the name beside it is ours alone. What a
// killed process has left under that name goes with the next one.
pub fn replace_unless_changed(path: &Path, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".provost.tmp");
    let temporary = path.with_file_name(name);
    let _ = fs::remove_file(&temporary);
    let written = (|| {
        let (mut file, is_named) = new_beside(&temporary)?;
        fill(&mut file, after, path)?;
        // Writing took its time, and until here nobody has seen anything of the new file.
        let is_as_before = match before {
            Some(before) => holds(path, before),
            None => !path.exists(),
        };
        if !is_as_before {
            return Ok(false);
        }
        if !is_named && give_name(&file, &temporary).is_err() {
            // The system's own directory of open files is not there.
            fill(&mut named_beside(&temporary)?.0, after, path)?;
        }
        match before {
            Some(before) => swap_in(&temporary, path, before),
            None => fs::rename(&temporary, path).map(|()| true),
        }
    })();
    let _ = fs::remove_file(&temporary);
    written
}

/// Writes all of a new file, with the mode of the one whose place it takes.
fn fill(file: &mut File, bytes: &[u8], old: &Path) -> io::Result<()> {
    if let Ok(metadata) = fs::metadata(old) {
        file.set_permissions(metadata.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// A new file for this place, and whether it has the name already. Where the file system can do it, it
/// has none until it is complete, so that a process that is killed while it writes leaves nothing.
#[cfg(target_os = "linux")]
fn new_beside(place: &Path) -> io::Result<(File, bool)> {
    use rustix::fs::{Mode, OFlags, open};
    let directory = place.parent().unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match open(directory, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok((File::from(file), false)),
        Err(_) => named_beside(place),
    }
}

#[cfg(not(target_os = "linux"))]
fn new_beside(place: &Path) -> io::Result<(File, bool)> {
    named_beside(place)
}

fn named_beside(place: &Path) -> io::Result<(File, bool)> {
    private().write(true).create_new(true).open(place).map(|file| (file, true))
}

#[cfg(target_os = "linux")]
fn give_name(file: &File, place: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, unnamed, CWD, place, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Puts a new file in the place of one that holds `before`. Between looking and moving, somebody may
/// have opened the old file to write, and what he writes would go with it: so the two files change
/// places, and back again if the old one is not what it was.
#[cfg(target_os = "linux")]
fn swap_in(new: &Path, path: &Path, before: &[u8]) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let exchange = || renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE);
    match exchange() {
        Ok(()) if holds(new, before) => Ok(true),
        Ok(()) => exchange().map(|()| false).map_err(io::Error::from),
        // This file system cannot do it.
        Err(_) => fs::rename(new, path).map(|()| true),
    }
}

#[cfg(not(target_os = "linux"))]
fn swap_in(new: &Path, path: &Path, _: &[u8]) -> io::Result<bool> {
    fs::rename(new, path).map(|()| true)
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    read(path, bytes.len() as u64).is_ok_and(|found| found.as_deref() == Some(bytes))
}

/// Makes a file with these bytes unless there is one: whoever is first decides, and nobody sees a
/// part of it.
pub fn create_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    private_directory(path.parent().unwrap_or(Path::new(".")))?;
    let temporary = beside(path);
    let made = (|| {
        let mut file = private().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    })();
    let _ = fs::remove_file(&temporary);
    made
}

/// Keeps others out while it lives. The system ends it with the process.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] File);

/// The lock of this name; `None`: another process holds it.
pub fn try_lock(place: &Path) -> io::Result<Option<Lock>> {
    let file = lock_file(place)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether another process holds the lock of this name. Any number of lookers may ask at once, and none
/// takes another for the holder.
pub fn is_locked(place: &Path) -> bool {
    let asked = File::open(place).map(|file| file.try_lock_shared());
    matches!(asked, Ok(Err(TryLockError::WouldBlock)))
}

fn lock_file(place: &Path) -> io::Result<File> {
    private_directory(place.parent().unwrap_or(Path::new(".")))?;
    private().write(true).create(true).truncate(false).open(place)
}

/// Waits for the lock of this name, but not for ever.
pub fn lock(place: &Path, patience: Duration) -> io::Result<Lock> {
    let file = lock_file(place)?;
    let began = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock(file)),
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other(format!("another process holds {}", place.display())));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Puts `bytes` in the place of the file: readers see the old or the new, never a part.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    private_directory(directory)?;
    let temporary = beside(path);
    let written = (|| {
        let mut file = private().write(true).create_new(true).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_its_place_only_if_the_old_one_is_still_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let count = || fs::read_dir(dir.path()).unwrap().count();
        assert!(replace_unless_changed(&path, None, b"one").unwrap());
        assert!(!replace_unless_changed(&path, None, b"two").unwrap());
        assert!(!replace_unless_changed(&path, Some(b"other"), b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        // What a killed process has left.
        fs::write(dir.path().join(".f.provost.tmp"), "half").unwrap();
        assert!(replace_unless_changed(&path, Some(b"one"), b"two").unwrap());
        assert_eq!((fs::read(&path).unwrap(), count()), (b"two".to_vec(), 1));
        assert!(replace_unless_changed(&dir.path().join("no/f"), None, b"x").is_err());
    }

    /// As on file systems that cannot hold a file without a name.
    #[test]
    fn a_file_may_have_its_name_from_the_start() {
        let dir = tempfile::tempdir().unwrap();
        let (_, is_named) = named_beside(&dir.path().join("f")).unwrap();
        assert!(is_named && dir.path().join("f").exists());
        #[cfg(target_os = "linux")]
        {
            let (file, is_named) = new_beside(&dir.path().join("g")).unwrap();
            assert!(!is_named && !dir.path().join("g").exists());
            give_name(&file, &dir.path().join("g")).unwrap();
            assert!(dir.path().join("g").exists());
        }
    }

    #[test]
    fn lookers_are_not_taken_for_the_holder_of_a_lock() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("x.lock");
        assert!(!is_locked(&place) && !place.exists());
        let held = try_lock(&place).unwrap();
        assert!(is_locked(&place));
        drop(held);
        let looker = File::open(&place).unwrap();
        looker.try_lock_shared().unwrap();
        assert!(!is_locked(&place));
    }

    #[test]
    fn replacing_leaves_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/f");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        fs::create_dir(dir.path().join("d")).unwrap();
        assert!(replace(&dir.path().join("d"), b"x").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
