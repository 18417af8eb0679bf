//! Replaces a file by a new one, as a whole or not at all.
//!
//! Where the file system allows it, a new file has no name until it is complete. A killed process can leave one whole
//! file under a name of our own, `.NAME.provost.tmp`; the next process that changes the same file removes it.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::steps::{self, make_directory, make_private_directory, remove_file, rename_file};
use super::{entry_age, private, read_file};
use crate::faults;

/// Replaces a file that others write to as well, and keeps its mode. Returns `false` and does nothing if the file does
/// not hold `before` any more (`None`: it does not exist).
// INVARIANT: the caller holds the lock of this file, so no other process uses the temporary name.
pub fn replace_unless_changed(path: &Path, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    let Some(before) = before else { return create_if_missing(path, after, None) };
    let temporary = unfinished(path);
    let _ = remove_file(&temporary);
    let replaced = (|| {
        let mode = fs::metadata(path).ok().map(|metadata| metadata.permissions());
        let fresh = Fresh::write(&temporary, after, PRIVATE, mode.as_ref())?;
        // Writing took a while, and no other process has seen the new file yet.
        if !holds(path, before) {
            return Ok(false);
        }
        fresh.ensure_name(&temporary, after, mode.as_ref())?;
        faults::note_content(path, after);
        swap_in(&temporary, path, before)
    })();
    let _ = remove_file(&temporary);
    replaced
}

/// Creates a file that others may create as well, private unless `mode` is given. Returns `false` if it exists already.
// INVARIANT: the caller holds the lock of this file.
pub fn create_if_missing(path: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<bool> {
    let temporary = unfinished(path);
    let _ = remove_file(&temporary);
    let created = create_if_free(path, &temporary, bytes, mode);
    created.map(|()| true).or_else(|error| if is_taken(&error) { Ok(false) } else { Err(error) })
}

/// Creates a private file unless it exists: the first process decides, and no reader sees a part of it. Needs no lock.
pub fn create_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_private_directory(parent(path))?;
    if open_unnamed(path, PRIVATE).is_none() {
        remove_old_unfinished(parent(path));
    }
    let created = create_if_free(path, &own_temporary(path), bytes, None);
    created.or_else(|error| if is_taken(&error) { Ok(()) } else { Err(error) })
}

/// Replaces a private file: readers see the old or the new one, never a part. Needs no lock: of several processes at
/// once, the last one wins.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_private_directory(parent(path))?;
    put(path, bytes, PRIVATE, None)
}

/// Keeps a private copy of what a file holds. If the copy has the file's time and size, nothing is written.
pub fn keep_copy(file: &Path, content: &[u8], copy: &Path) -> io::Result<()> {
    /// A file that was changed this lately may change again without getting another time.
    const SETTLED: Duration = Duration::from_secs(2);
    let changed = fs::metadata(file)?.modified()?;
    let is_same = |copy: &fs::Metadata| {
        copy.len() == content.len() as u64 && copy.modified().is_ok_and(|time| time == changed)
    };
    if fs::metadata(copy).is_ok_and(|copy| is_same(&copy)) {
        return Ok(());
    }
    if read_file(copy, content.len() as u64).ok().flatten().as_deref() != Some(content) {
        replace_private(copy, content)?;
    }
    if changed.elapsed().is_ok_and(|age| age > SETTLED) {
        fs::File::options().write(true).open(copy)?.set_modified(changed)?;
    }
    Ok(())
}

/// Replaces a file that everybody may read, as far as the user's umask allows. Readers see the old or the new one.
pub fn replace_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_directory(parent(path))?;
    put(path, bytes, SHARED, None)
}

/// Moves a file, even to another file system, and replaces what is there.
pub fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    let is_far = faults::switch(PLAIN_DISK).is_some();
    match if is_far { Err(io::ErrorKind::CrossesDevices.into()) } else { rename_file(from, to) } {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            // A reviewer's text is never as large.
            let bytes = read_file(from, 64 << 20)?.ok_or(io::ErrorKind::NotFound)?;
            put(to, &bytes, PRIVATE, Some(&fs::metadata(from)?.permissions()))?;
            remove_file(from)
        }
        moved => moved,
    }
}

/// Removes what a killed process has left beside a file.
// INVARIANT: the caller holds the lock of this file.
pub fn remove_unfinished(path: &Path) {
    let _ = remove_file(&unfinished(path));
}

/// Whether a killed process has left something beside a file.
pub fn has_unfinished(path: &Path) -> bool {
    unfinished(path).symlink_metadata().is_ok()
}

/// Removes what killed processes have left in a directory.
// INVARIANT: the caller holds a lock for all files of the directory.
pub fn remove_all_unfinished(directory: &Path) {
    sweep_older(directory, Duration::ZERO);
}

/// Removes what killed processes have left in a directory. No process writes one file for a minute.
pub fn remove_old_unfinished(directory: &Path) {
    const LONG: Duration = Duration::from_mins(1);
    sweep_older(directory, if faults::switch(PLAIN_DISK).is_some() { Duration::ZERO } else { LONG });
}

fn sweep_older(directory: &Path, long: Duration) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_old = || long.is_zero() || entry_age(&entry).is_some_and(|age| age >= long);
        if name.starts_with(b".") && name.ends_with(b".provost.tmp") && is_old() {
            let _ = remove_file(&entry.path());
        }
    }
}

const PRIVATE: u32 = 0o600;
const SHARED: u32 = 0o666;
/// For tests: a file system on which every file has a name and no exchange is possible, and every other path is on
/// another one.
const PLAIN_DISK: &str = "PROVOST_PLAIN_DISK";

/// The directory of a file. That of a bare name is `.`; as `""`, it could not be listed.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name of a new file before it replaces the old one.
fn unfinished(path: &Path) -> PathBuf {
    name_beside(path, "provost.tmp")
}

/// A temporary name for a process that holds no lock, where a new file must have a name from the start. Removes what an
/// earlier process with the same id has left, as happens in containers.
fn own_temporary(path: &Path) -> PathBuf {
    let temporary = name_beside(path, &format!("{}.provost.tmp", std::process::id()));
    let _ = remove_file(&temporary);
    temporary
}

fn name_beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

/// A complete new file. Where the file system allows it, it has no name, so that a process that is killed while it
/// writes leaves nothing.
struct Fresh {
    file: File,
    has_name: bool,
}

impl Fresh {
    fn write(temporary: &Path, bytes: &[u8], rights: u32, mode: Option<&Permissions>) -> io::Result<Self> {
        match open_unnamed(temporary, rights) {
            Some(file) => Self { file, has_name: false }.fill(temporary, bytes, mode),
            None => Self::write_named(temporary, bytes, rights, mode),
        }
    }

    /// Writes a file that has its temporary name from the start.
    fn write_named(
        temporary: &Path,
        bytes: &[u8],
        rights: u32,
        mode: Option<&Permissions>,
    ) -> io::Result<Self> {
        let mut options = if rights == PRIVATE { private() } else { File::options() };
        faults::announce_step("create", temporary);
        let file = options.write(true).create_new(true).open(temporary)?;
        Self { file, has_name: true }.fill(temporary, bytes, mode)
    }

    fn fill(mut self, temporary: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<Self> {
        if let Some(mode) = mode {
            steps::set_mode_of_open(&self.file, temporary, mode.clone())?;
        }
        steps::write(&mut self.file, temporary, bytes)?;
        steps::sync(&self.file, temporary)?;
        Ok(self)
    }

    /// Gives the file its temporary name, if it has none yet.
    fn ensure_name(self, temporary: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<()> {
        match self.give_name(temporary) {
            // There is no `/proc`.
            Err(error) if !is_taken(&error) => Self::write_named(temporary, bytes, PRIVATE, mode).map(drop),
            given => given,
        }
    }

    #[cfg(target_os = "linux")]
    fn give_name(&self, name: &Path) -> io::Result<()> {
        use rustix::fs::{AtFlags, CWD, linkat};
        use std::os::fd::AsRawFd;
        if self.has_name {
            return Ok(());
        }
        let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        faults::announce_step("give the name", name);
        Ok(linkat(CWD, unnamed, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn give_name(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a file without a name in the directory of `path`, if the file system can do that.
#[cfg(target_os = "linux")]
fn open_unnamed(path: &Path, rights: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    if faults::switch(PLAIN_DISK).is_some() {
        return None;
    }
    let directory = parent(path);
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    open(directory, flags, Mode::from_raw_mode(rights)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn open_unnamed(_: &Path, _: u32) -> Option<File> {
    None
}

/// Creates a file; an error if the path exists.
fn create_if_free(path: &Path, temporary: &Path, bytes: &[u8], mode: Option<&Permissions>) -> io::Result<()> {
    let created = (|| {
        let fresh = Fresh::write(temporary, bytes, PRIVATE, mode)?;
        faults::note_content(path, bytes);
        if !fresh.has_name {
            match fresh.give_name(path) {
                Err(error) if !is_taken(&error) => {}
                given => return given,
            }
        }
        fresh.ensure_name(temporary, bytes, mode)?;
        steps::rename_if_free(temporary, path)
    })();
    remove_on_error(created, temporary)
}

/// Puts a file at a path, and replaces what is there.
fn put(path: &Path, bytes: &[u8], rights: u32, mode: Option<&Permissions>) -> io::Result<()> {
    const TRIES: u32 = 50;
    let temporary = unfinished(path);
    for _ in 0..TRIES {
        let Some(file) = open_unnamed(&temporary, rights) else { break };
        let fresh = Fresh { file, has_name: false }.fill(&temporary, bytes, mode)?;
        match fresh.give_name(&temporary) {
            Ok(()) => {}
            // Another process is between this step and the next, or was killed there. The file with this name is
            // complete, so renaming it does no harm, and a process that misses its file begins again.
            Err(error) if is_taken(&error) => {
                let _ = remove_file(&temporary);
                continue;
            }
            Err(_) => break,
        }
        faults::note_content(path, bytes);
        match rename_file(&temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => return remove_on_error(renamed, &temporary),
        }
    }
    put_named(path, bytes, rights, mode)
}

/// Puts a file at a path where a new file must have a name from the start: one of this process alone.
fn put_named(path: &Path, bytes: &[u8], rights: u32, mode: Option<&Permissions>) -> io::Result<()> {
    remove_old_unfinished(parent(path));
    let temporary = own_temporary(path);
    let written = Fresh::write_named(&temporary, bytes, rights, mode).and_then(|_| {
        faults::note_content(path, bytes);
        rename_file(&temporary, path)
    });
    remove_on_error(written, &temporary)
}

fn remove_on_error(result: io::Result<()>, temporary: &Path) -> io::Result<()> {
    if result.is_err() {
        let _ = remove_file(temporary);
    }
    result
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// Replaces a file that holds `before`. Between the check and the rename, another program may have opened the old file to
/// write, and its text would be lost. So the two files are exchanged, and exchanged back if the old one has changed.
#[cfg(target_os = "linux")]
fn swap_in(new: &Path, path: &Path, before: &[u8]) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    if faults::switch(PLAIN_DISK).is_some() {
        return rename_file(new, path).map(|()| true);
    }
    let exchange = || {
        faults::announce_step("exchange", path);
        renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE)
    };
    match exchange() {
        Ok(()) if holds(new, before) => Ok(true),
        Ok(()) => exchange().map(|()| false).map_err(io::Error::from),
        // This file system cannot exchange files.
        Err(_) => rename_file(new, path).map(|()| true),
    }
}

#[cfg(not(target_os = "linux"))]
fn swap_in(new: &Path, path: &Path, _: &[u8]) -> io::Result<bool> {
    rename_file(new, path).map(|()| true)
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    read_file(path, bytes.len() as u64).is_ok_and(|found| found.as_deref() == Some(bytes))
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
        // A killed process has left this.
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
        let fresh = Fresh::write(&path, b"all", PRIVATE, None).unwrap();
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
                        replace_private(path, &[writer; 5000]).unwrap();
                        let found = fs::read(path).unwrap();
                        assert!(found.len() == 5000 && found.iter().all(|byte| *byte == found[0]));
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn old_files_of_other_killed_processes_are_removed() {
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
    fn a_file_of_a_killed_process_with_the_same_id_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let left = dir.path().join(format!(".f.{}.provost.tmp", std::process::id()));
        fs::write(&left, "half").unwrap();
        put_named(&path, b"x", PRIVATE, None).unwrap();
        assert!(!left.exists() && fs::read(&path).unwrap() == b"x");
    }

    #[test]
    fn under_the_lock_all_unfinished_files_are_removed_whatever_the_clock_says() {
        let dir = tempfile::tempdir().unwrap();
        let left = File::create(dir.path().join(".f.provost.tmp")).unwrap();
        left.set_modified(std::time::SystemTime::now() + Duration::from_hours(24)).unwrap();
        remove_all_unfinished(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn replacing_leaves_no_other_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/f");
        replace_private(&path, b"one").unwrap();
        replace_private(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        fs::create_dir(dir.path().join("d")).unwrap();
        assert!(replace_private(&dir.path().join("d"), b"x").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
