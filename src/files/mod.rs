//! Reading and replacing files so that nothing hangs, grows without bound or is half-written.
//!
//! Reads are bounded and refuse anything that is not a regular file: a pipe in the place of a
//! settings file would otherwise hold the hook until the client gives up on it and goes on.

mod backwards;
mod directory;
mod listing;
mod locking;
mod replacing;
mod searching;
mod steps;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

pub use backwards::find_line_backwards;
pub use directory::{EntryKind, for_each_entry};
pub use listing::{Listing, list};
pub use locking::{Lock, LockedFile, is_locked, lock, lock_and_read, try_lock};
pub use replacing::{
    create, create_once, has_unfinished, move_file, replace, replace_shared, replace_unless_changed, sweep,
    take_away_all_unfinished, take_away_unfinished,
};
pub use searching::{files_below, latest_ending_with, newest_below, newest_first};
pub use steps::{make_directory, private_directory, remove, remove_directory, rename, set_mode};

use crate::faults;

/// Reads a file of at most `limit` bytes; `None` if there is none.
pub fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    faults::before_reading(path);
    match read_existing(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        // A file in the place of a directory of the path is no file either.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

fn read_existing(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let size = usize::try_from(metadata.len().min(limit)).unwrap_or(0);
    let mut bytes = vec![0; size + 1];
    let came = file.read(&mut bytes)?;
    bytes.truncate(came);
    // One byte more than the file has was asked for. If it did not come, there is no need to ask again.
    if came != size {
        file.take((limit + 1).saturating_sub(came as u64)).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// The first bytes of a file, at most `limit`, and whether that was all of it.
pub fn read_start(path: &Path, limit: u64) -> io::Result<(Vec<u8>, bool)> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    faults::before_reading(path);
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= limit;
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok((bytes, whole))
}

/// Opens a file for reading without waiting for anybody at its other end.
fn open_regular(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // O_NONBLOCK: a pipe in the place of a file does not hold us.
        File::options().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed()).open(path)
    }
    #[cfg(not(unix))]
    {
        File::open(path)
    }
}

/// Reads a small file that only its owner may read; `None` if there is none.
pub fn read_private(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return Err(io::Error::other("others can read it; take it away and assess again"));
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Options for a file that only its owner can read.
fn private() -> OpenOptions {
    #[allow(unused_mut)]
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a private file to append to, and makes it if there is none; also tells how long it is. It opens
/// regular files only: a pipe would hold us for ever, and a link would lead us into somebody else's file.
pub fn append(path: &Path) -> io::Result<(File, u64)> {
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
        return Err(io::Error::other("not a regular file"));
    }
    if cfg!(debug_assertions) && !path.exists() && path.parent().is_some_and(Path::is_dir) {
        faults::step("create", path);
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((file, metadata.len()))
}

/// Writes to the end of a file that was opened with [`append`].
pub fn append_to(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    steps::write(file, path, bytes)
}

/// Makes a private file anew, for a program that appends to it and for us to read from the start. An older
/// one may be open to others, and a link may lead anywhere.
pub fn make_log(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        private_directory(parent)?;
    }
    match remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    faults::step("create", path);
    private().read(true).append(true).create_new(true).open(path)
}

/// What makes a file this one and no other, whatever it is called.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    #[cfg(unix)]
    place: (u64, u64),
    /// How many names it has.
    names: u64,
}

impl PartialEq for Identity {
    #[cfg(unix)]
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }

    // Without a way to tell files apart, only their paths count.
    #[cfg(not(unix))]
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

/// The identity of the file that a path leads to; `None` if there is none.
pub fn identity(path: &Path) -> Option<Identity> {
    let metadata = fs::metadata(path).ok()?;
    Some(identity_of(&metadata))
}

/// The identity of an open file.
pub fn identity_of_open(file: &File) -> Option<Identity> {
    file.metadata().ok().map(|metadata| identity_of(&metadata))
}

#[cfg(unix)]
fn identity_of(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    let names = if metadata.is_dir() { 1 } else { metadata.nlink() };
    Identity { place: (metadata.dev(), metadata.ino()), names }
}

#[cfg(not(unix))]
fn identity_of(_: &fs::Metadata) -> Identity {
    Identity { names: 1 }
}

/// Whether two paths lead to one file, by whatever names and links.
pub fn same(a: &Path, b: &Path) -> bool {
    matches!((identity(a), identity(b)), (Some(a), Some(b)) if a == b)
}

/// Whether a file has a name below a directory. Only a file with several names is looked for.
pub fn linked_below(file: Identity, directory: &Path) -> io::Result<bool> {
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
                Ok(found) if identity_of(&found) == file => return Ok(true),
                _ => {}
            }
        }
    }
    Ok(false)
}

/// Takes away the files of a directory that have not been written for this long.
pub fn remove_older(directory: &Path, age: Duration) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        if written.and_then(|at| at.elapsed().ok()).is_some_and(|elapsed| elapsed > age) {
            let _ = remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_none_and_a_large_one_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(read(&path, 10).unwrap().is_none());
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap().unwrap(), b"12345");
        assert!(read(&path, 4).unwrap_err().to_string().contains("larger than 4"));
        assert!(read(&path.join("below"), 4).unwrap().is_none());
        fs::write(&path, b"").unwrap();
        assert_eq!(read(&path, 0).unwrap().unwrap(), b"");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_longer_than_the_system_says_is_read_to_its_end() {
        // The system says that it is empty.
        let path = Path::new("/proc/self/status");
        assert!(read(path, 1 << 20).unwrap().unwrap().len() > 100);
        assert!(read(path, 100).unwrap_err().to_string().contains("larger than 100"));
    }

    #[test]
    fn a_directory_or_device_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path(), 10).unwrap_err().to_string().contains("not a regular file"));
        assert!(read(Path::new("/dev/zero"), 10).is_err());
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
