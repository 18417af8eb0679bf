//! Reading and replacing files so that nothing hangs, grows without bound or is half-written.
//!
//! Reads are bounded and refuse anything that is not a regular file: a pipe in the place of a
//! settings file would otherwise hold the hook until the client gives up on it and goes on.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Reads a file of at most `limit` bytes; `None` if there is none.
pub fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
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
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0));
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("larger than {limit} bytes")));
    }
    Ok(bytes)
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

/// Makes a directory, with its parents, that only its owner can look into.
pub fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Options for a file that only its owner can read.
pub fn private() -> OpenOptions {
    #[allow(unused_mut)]
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Whether two paths lead to one file, by whatever names and links.
pub fn same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        match (fs::metadata(a), fs::metadata(b)) {
            (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
    }
}

/// Whether a file has another name below a directory. Only a file with several names is looked for.
pub fn linked_below(path: &Path, directory: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        const MOST: usize = 10_000;
        let Ok(file) = fs::metadata(path).map(|file| (file.nlink(), file.dev(), file.ino())) else {
            return false;
        };
        if file.0 < 2 || path.is_dir() {
            return false;
        }
        let mut open = vec![directory.to_owned()];
        let mut looked_at = 0;
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten().take(MOST - looked_at) {
                looked_at += 1;
                match entry.metadata() {
                    Ok(found) if found.is_dir() => open.push(entry.path()),
                    Ok(found) if (found.dev(), found.ino()) == (file.1, file.2) => return true,
                    _ => {}
                }
            }
        }
        false
    }
    #[cfg(not(unix))]
    {
        let _ = (path, directory);
        false
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
    }

    #[test]
    fn a_directory_or_device_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path(), 10).unwrap_err().to_string().contains("not a regular file"));
        assert!(read(Path::new("/dev/zero"), 10).is_err());
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
