//! Reads and replaces files so that nothing hangs, grows without bound or is half-written.
//!
//! Reads are bounded and accept regular files only: a pipe in the place of a settings file would otherwise block the hook
//! until the client times out and allows the call.

mod atomic_replace;
mod backward_lines;
pub mod byte_search;
mod directories;
pub mod faults;
mod file_search;
mod listing;
mod locks;
mod long_lines;
mod steps;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

pub use atomic_replace::{
    create_if_missing, create_once, has_unfinished, keep_copy, move_file, remove_all_unfinished,
    remove_old_unfinished, remove_unfinished, replace_private, replace_shared, replace_unless_changed,
};
pub use backward_lines::find_line_backwards;
pub use directories::{EntryKind, for_each_entry};
pub use file_search::{find_latest_ending_with, find_newest_below, list_files_below, list_newest_first};
pub use listing::{Listing, list_directory};
pub use locks::{Lock, LockedFile, is_locked, lock, lock_and_read_file, share_lock, try_lock};
pub use long_lines::for_each_line;
pub use steps::{
    make_directory, make_private_directory, remove_directory, remove_file, rename_file, set_mode,
};

/// Reads a file of at most `limit` bytes; `None` if it does not exist.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    faults::before_reading(path);
    match read_existing(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        // If a directory of the path is a file, there is no file either.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

fn read_existing(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (mut file, metadata) = open_regular(path)?;
    let size = usize::try_from(metadata.len().min(limit)).unwrap_or(0);
    let mut bytes = vec![0; size + 1];
    let count = file.read(&mut bytes)?;
    bytes.truncate(count);
    // The buffer is one byte longer than the file. If that byte stays empty, the file is read to its end.
    if count != size {
        file.take((limit + 1).saturating_sub(count as u64)).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// The first bytes of a file, at most `limit`, and whether that is the whole file.
pub fn read_start(path: &Path, limit: u64) -> io::Result<(Vec<u8>, bool)> {
    faults::before_reading(path);
    let (file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() as u64 <= limit;
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok((bytes, is_whole))
}

/// Reads a small file that only its owner may read; `None` if it does not exist.
pub fn read_private(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    #[cfg_attr(not(unix), allow(unused_variables))]
    let (file, metadata) = match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return Err(io::Error::other("others can read it; take it away and assess again"));
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Opens a file for reading. Anything but a regular file is an error.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let file = open_nonblocking(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::other("not a regular file")
}

/// Opens a file for reading. A pipe does not block it.
fn open_nonblocking(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    options.read(true).open(path)
}

/// Options for a file that only its owner can read.
fn private() -> OpenOptions {
    #[allow(unused_mut)]
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a private file for appending, and returns its length. Creates it if it does not exist. It opens regular files
/// only: a pipe would block for ever, and a link could lead to another user's file.
pub fn append_open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = private();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(not_regular());
    }
    if cfg!(debug_assertions) && !path.exists() && path.parent().is_some_and(Path::is_dir) {
        faults::announce_step("create", path);
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    Ok((file, metadata.len()))
}

/// Writes to a file that was opened for appending.
pub fn append_bytes(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    steps::write(file, path, bytes)
}

/// Creates a private file to which a program appends and which we read. An existing file is removed first, because others
/// may be able to read it, or it may be a link.
pub fn make_log_file(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        make_private_directory(parent)?;
    }
    match remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    faults::announce_step("create", path);
    private().read(true).append(true).create_new(true).open(path)
}

/// Identifies a file by its device and inode, independent of its name.
#[derive(Debug, Clone, Copy)]
pub struct FileIdentity {
    #[cfg(unix)]
    place: (u64, u64),
    /// How many names it has.
    names: u64,
}

impl PartialEq for FileIdentity {
    #[cfg(unix)]
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }

    // On this system, only paths distinguish files.
    #[cfg(not(unix))]
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

/// The identity of the file that a path leads to; `None` if it does not exist.
pub fn file_identity(path: &Path) -> Option<FileIdentity> {
    fs::metadata(path).ok().map(|metadata| identify(&metadata))
}

/// What shows that a file is unchanged: its size, its place and its times, which no program can set back. `None` if it
/// changed so lately that the next change may have the same time.
#[cfg(unix)]
pub fn find_stamp(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    use std::time::{SystemTime, UNIX_EPOCH};
    const LATELY: i64 = 2;
    let metadata = fs::metadata(path).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let is_old = i64::try_from(now).is_ok_and(|now| metadata.ctime() < now - LATELY);
    let (size, inode) = (metadata.size(), metadata.ino());
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    is_old.then(|| format!("{size:x}.{inode:x}.{:x}.{:x}", changed.0, changed.1))
}

#[cfg(not(unix))]
pub fn find_stamp(_: &Path) -> Option<String> {
    None
}

/// The identity of an open file.
pub fn open_file_identity(file: &File) -> Option<FileIdentity> {
    file.metadata().ok().map(|metadata| identify(&metadata))
}

#[cfg(unix)]
fn identify(metadata: &fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    let names = if metadata.is_dir() { 1 } else { metadata.nlink() };
    FileIdentity { place: (metadata.dev(), metadata.ino()), names }
}

#[cfg(not(unix))]
fn identify(_: &fs::Metadata) -> FileIdentity {
    FileIdentity { names: 1 }
}

/// Whether two paths lead to the same file, by any names and links.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((file_identity(a), file_identity(b)), (Some(a), Some(b)) if a == b)
}

/// Whether a file with several names has one of them below a directory.
pub fn has_link_below(file: FileIdentity, directory: &Path) -> io::Result<bool> {
    const MOST: usize = 10_000;
    if file.names < 2 {
        return Ok(false);
    }
    let mut open = vec![directory.to_owned()];
    let mut looked_at = 0;
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > MOST {
                return Err(io::Error::other("too many files to look for a second name"));
            }
            match entry.metadata() {
                Ok(found) if found.is_dir() => open.push(entry.path()),
                Ok(found) if identify(&found) == file => return Ok(true),
                _ => {}
            }
        }
    }
    Ok(false)
}

/// Removes the files of a directory that are older than `age`.
pub fn remove_older_files(directory: &Path, age: Duration) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry_age(&entry).is_some_and(|found| found > age) {
            let _ = remove_file(&entry.path());
        }
    }
}

/// How long ago an entry was written; `None` if that time is in the future.
fn entry_age(entry: &fs::DirEntry) -> Option<Duration> {
    entry.metadata().ok()?.modified().ok()?.elapsed().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_none_and_a_large_one_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(read_file(&path, 10).unwrap().is_none());
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read_file(&path, 5).unwrap().unwrap(), b"12345");
        assert!(read_file(&path, 4).unwrap_err().to_string().contains("larger than 4"));
        assert!(read_file(&path.join("below"), 4).unwrap().is_none());
        fs::write(&path, b"").unwrap();
        assert_eq!(read_file(&path, 0).unwrap().unwrap(), b"");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_longer_than_the_system_says_is_read_to_its_end() {
        // The system says that it is empty.
        let path = Path::new("/proc/self/status");
        assert!(read_file(path, 1 << 20).unwrap().unwrap().len() > 100);
        assert!(read_file(path, 100).unwrap_err().to_string().contains("larger than 100"));
    }

    #[test]
    fn a_directory_or_device_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_file(dir.path(), 10).unwrap_err().to_string().contains("not a regular file"));
        assert!(read_file(Path::new("/dev/zero"), 10).is_err());
    }

    #[test]
    fn the_start_of_a_file_says_whether_it_is_the_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read_start(&path, 5).unwrap(), (b"12345".to_vec(), true));
        assert_eq!(read_start(&path, 4).unwrap(), (b"1234".to_vec(), false));
        assert!(read_start(dir.path(), 4).is_err());
    }
}
