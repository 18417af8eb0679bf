//! Putting a new file in the place of an old one, whole or not at all.
//!
//! A new file has no name until it is complete, where the file system can do that. What a process that is
//! killed can leave is one whole file under one name that nobody else uses, `.NAME.provost.tmp`; whoever
//! changes the same file next takes it away.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::steps::{self, make_directory, private_directory, remove, rename};
use super::{private, read};
use crate::faults;

/// Puts `after` in the place of a file that others write to as well, with its mode. Nothing happens
/// if it does not hold `before` any more (`None`: there is no file): then the answer is `false`.
// INVARIANT: the caller holds the lock of this file, so the name beside it is ours alone.
pub fn replace_unless_changed(path: &Path, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    let Some(before) = before else { return create(path, after, None) };
    let temporary = unfinished(path);
    let _ = remove(&temporary);
    let replaced = (|| {
        let mode = fs::metadata(path).ok().map(|metadata| metadata.permissions());
        let fresh = Fresh::written(&temporary, after, PRIVATE, mode.as_ref())?;
        // Writing took its time, and until here nobody has seen anything of the new file.
        if !holds(path, before) {
            return Ok(false);
        }
        fresh.named(&temporary, after, mode.as_ref())?;
        faults::becomes(path, after);
        swap_in(&temporary, path, before)
    })();
    let _ = remove(&temporary);
    replaced
}

/// Makes a file that others may make as well; `false`: there is one already. Without a mode, it is private.
// INVARIANT: as above.
pub fn create(path: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<bool> {
    let temporary = unfinished(path);
    let _ = remove(&temporary);
    let created = make_once(path, &temporary, bytes, mode);
    created.map(|()| true).or_else(|error| if is_taken(&error) { Ok(false) } else { Err(error) })
}

/// Makes a private file with these bytes unless there is one: whoever is first decides, and nobody sees a
/// part of it. No lock is needed.
pub fn create_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    private_directory(path.parent().unwrap_or(Path::new(".")))?;
    if unnamed_beside(path, PRIVATE).is_none() {
        sweep(path.parent().unwrap_or(Path::new(".")));
    }
    let temporary = of_this_process(path);
    let made = make_once(path, &temporary, bytes, None);
    made.or_else(|error| if is_taken(&error) { Ok(()) } else { Err(error) })
}

/// Puts `bytes` in the place of a private file: readers see the old or the new, never a part. No lock is
/// needed: of several at once, one is the last.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    private_directory(path.parent().unwrap_or(Path::new(".")))?;
    put(path, bytes, PRIVATE)
}

/// The same for a file that is for everybody to read, as far as the person's mask lets them.
pub fn replace_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_directory(path.parent().unwrap_or(Path::new(".")))?;
    put(path, bytes, SHARED)
}

/// Moves a file, also to another file system. What lies at the other place is gone then.
pub fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    let is_far = faults::switch(PLAIN_DISK).is_some();
    match if is_far { Err(io::ErrorKind::CrossesDevices.into()) } else { rename(from, to) } {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            // A reviewer's text is never as large.
            let bytes = read(from, 64 << 20)?.ok_or(io::ErrorKind::NotFound)?;
            put_as(to, &bytes, PRIVATE, Some(&fs::metadata(from)?.permissions()))?;
            remove(from)
        }
        moved => moved,
    }
}

/// Takes away what a killed process has left beside a file.
// INVARIANT: the caller holds the lock of this file.
pub fn take_away_unfinished(path: &Path) {
    let _ = remove(&unfinished(path));
}

/// Whether a killed process has left something beside a file.
pub fn has_unfinished(path: &Path) -> bool {
    unfinished(path).symlink_metadata().is_ok()
}

/// What killed processes have left in a directory.
// INVARIANT: the caller holds a lock that covers all files of the directory.
pub fn take_away_all_unfinished(directory: &Path) {
    sweep_older(directory, Duration::ZERO);
}

const PRIVATE: u32 = 0o600;
const SHARED: u32 = 0o666;
/// The disk is one on which every file has a name, nothing changes places, and all else is far away.
const PLAIN_DISK: &str = "PROVOST_PLAIN_DISK";

/// The one name that a new file has before it takes its place.
fn unfinished(path: &Path) -> PathBuf {
    named_beside(path, "provost.tmp")
}

/// Such a name for a process that holds no lock, where a new file must have one from the start. What lies there
/// was left by a process that had the same number, as happens in containers.
fn of_this_process(path: &Path) -> PathBuf {
    let place = named_beside(path, &format!("{}.provost.tmp", std::process::id()));
    let _ = remove(&place);
    place
}

fn named_beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

/// A complete new file. Where the file system can do it, it has no name, so that a process that is killed
/// while it writes leaves nothing.
struct Fresh {
    file: File,
    has_name: bool,
}

impl Fresh {
    fn written(temporary: &Path, bytes: &[u8], rights: u32, mode: Option<&Permissions>) -> io::Result<Self> {
        let fresh = match unnamed_beside(temporary, rights) {
            Some(file) => Self { file, has_name: false },
            None => Self { file: named(temporary, rights)?, has_name: true },
        };
        fresh.filled(temporary, bytes, mode)
    }

    fn filled(mut self, temporary: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<Self> {
        if let Some(mode) = mode {
            steps::set_mode_of_open(&self.file, temporary, mode.clone())?;
        }
        steps::write(&mut self.file, temporary, bytes)?;
        steps::sync(&self.file, temporary)?;
        Ok(self)
    }

    /// Has the name, at the latest now.
    fn named(self, temporary: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<()> {
        match self.give_name(temporary) {
            Err(error) if !is_taken(&error) => {
                // The system's own directory of open files is not there.
                let again = Self { file: named(temporary, PRIVATE)?, has_name: true };
                again.filled(temporary, bytes, mode).map(drop)
            }
            given => given,
        }
    }

    #[cfg(target_os = "linux")]
    fn give_name(&self, place: &Path) -> io::Result<()> {
        use rustix::fs::{AtFlags, CWD, linkat};
        use std::os::fd::AsRawFd;
        if self.has_name {
            return Ok(());
        }
        let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        faults::step("give the name", place);
        Ok(linkat(CWD, unnamed, CWD, place, AtFlags::SYMLINK_FOLLOW)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn give_name(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn unnamed_beside(place: &Path, rights: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    if faults::switch(PLAIN_DISK).is_some() {
        return None;
    }
    let directory = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    open(directory, flags, Mode::from_raw_mode(rights)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed_beside(_: &Path, _: u32) -> Option<File> {
    None
}

fn named(place: &Path, rights: u32) -> io::Result<File> {
    let mut options = if rights == PRIVATE { private() } else { File::options() };
    faults::step("create", place);
    options.write(true).create_new(true).open(place)
}

/// A new file in its place, which must be free.
fn make_once(path: &Path, temporary: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<()> {
    let placed = (|| {
        let fresh = Fresh::written(temporary, bytes, PRIVATE, mode)?;
        faults::becomes(path, bytes);
        if !fresh.has_name {
            match fresh.give_name(path) {
                Err(error) if !is_taken(&error) => {}
                given => return given,
            }
        }
        fresh.named(temporary, bytes, mode)?;
        steps::rename_if_free(temporary, path)
    })();
    if placed.is_err() {
        let _ = remove(temporary);
    }
    placed
}

/// A file in its place, whatever is there.
fn put(path: &Path, bytes: &[u8], rights: u32) -> io::Result<()> {
    put_as(path, bytes, rights, None)
}

fn put_as(path: &Path, bytes: &[u8], rights: u32, mode: Option<&Permissions>) -> io::Result<()> {
    const TRIES: u32 = 50;
    let temporary = unfinished(path);
    for _ in 0..TRIES {
        let Some(file) = unnamed_beside(&temporary, rights) else { break };
        let fresh = Fresh { file, has_name: false }.filled(&temporary, bytes, mode)?;
        match fresh.give_name(&temporary) {
            Ok(()) => {}
            // Another process is between this step and the next, or was ended there. What has the name is
            // whole, so whoever renames it does no harm, and whoever misses it begins again.
            Err(error) if is_taken(&error) => {
                let _ = remove(&temporary);
                continue;
            }
            Err(_) => break,
        }
        faults::becomes(path, bytes);
        match rename(&temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let _ = remove(&temporary);
                return Err(error);
            }
            Ok(()) => return Ok(()),
        }
    }
    put_named(path, bytes, rights, mode)
}

/// The same where a new file must have a name from the start: it is one of this process alone.
fn put_named(path: &Path, bytes: &[u8], rights: u32, mode: Option<&Permissions>) -> io::Result<()> {
    sweep(path.parent().unwrap_or(Path::new(".")));
    let temporary = of_this_process(path);
    let written = (|| {
        Fresh { file: named(&temporary, rights)?, has_name: true }.filled(&temporary, bytes, mode)?;
        faults::becomes(path, bytes);
        rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = remove(&temporary);
    }
    written
}

/// Takes away what killed processes have left in a directory. Nobody writes one file as long as that.
pub fn sweep(directory: &Path) {
    const LONG: Duration = Duration::from_mins(1);
    sweep_older(directory, if faults::switch(PLAIN_DISK).is_some() { Duration::ZERO } else { LONG });
}

fn sweep_older(directory: &Path, long: Duration) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let written = || entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let is_old =
            || long.is_zero() || written().and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= long);
        if name.starts_with(b".") && name.ends_with(b".provost.tmp") && is_old() {
            let _ = remove(&entry.path());
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// Puts a new file in the place of one that holds `before`. Between looking and moving, somebody may
/// have opened the old file to write, and what he writes would go with it: so the two files change
/// places, and back again if the old one is not what it was.
#[cfg(target_os = "linux")]
fn swap_in(new: &Path, path: &Path, before: &[u8]) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    if faults::switch(PLAIN_DISK).is_some() {
        return rename(new, path).map(|()| true);
    }
    let exchange = || {
        faults::step("exchange", path);
        renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE)
    };
    match exchange() {
        Ok(()) if holds(new, before) => Ok(true),
        Ok(()) => exchange().map(|()| false).map_err(io::Error::from),
        // This file system cannot do it.
        Err(_) => rename(new, path).map(|()| true),
    }
}

#[cfg(not(target_os = "linux"))]
fn swap_in(new: &Path, path: &Path, _: &[u8]) -> io::Result<bool> {
    rename(new, path).map(|()| true)
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    read(path, bytes.len() as u64).is_ok_and(|found| found.as_deref() == Some(bytes))
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_has_no_name_until_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let fresh = Fresh::written(&path, b"all", PRIVATE, None).unwrap();
        assert!(!fresh.has_name && !path.exists());
        fresh.give_name(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"all");
    }

    #[test]
    fn many_at_once_put_a_whole_file_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::thread::scope(|scope| {
            for writer in 0..8_u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        replace(path, &[writer; 5000]).unwrap();
                        let found = fs::read(path).unwrap();
                        assert!(found.len() == 5000 && found.iter().all(|byte| *byte == found[0]));
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_others_have_left_under_a_name_of_theirs_goes_when_it_is_old() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let old = File::create(dir.path().join(".f.1.provost.tmp")).unwrap();
        old.set_modified(std::time::SystemTime::now() - Duration::from_mins(2)).unwrap();
        for other in [".f.2.provost.tmp", "f.provost.tmp", "f.tmp"] {
            fs::write(dir.path().join(other), "").unwrap();
        }
        put_named(&path, b"x", PRIVATE, None).unwrap();
        assert!(!dir.path().join(".f.1.provost.tmp").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    }

    #[test]
    fn what_a_process_of_the_same_number_has_left_is_in_nobodys_way() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let left = dir.path().join(format!(".f.{}.provost.tmp", std::process::id()));
        fs::write(&left, "half").unwrap();
        put_named(&path, b"x", PRIVATE, None).unwrap();
        assert!(!left.exists() && fs::read(&path).unwrap() == b"x");
    }

    #[test]
    fn under_the_lock_everything_unfinished_goes_whatever_the_clock_says() {
        let dir = tempfile::tempdir().unwrap();
        let left = File::create(dir.path().join(".f.provost.tmp")).unwrap();
        left.set_modified(std::time::SystemTime::now() + Duration::from_hours(24)).unwrap();
        take_away_all_unfinished(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
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
