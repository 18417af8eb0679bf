//! Reading and replacing files so that nothing hangs, grows without bound or is half-written.
//!
//! Reads are bounded and refuse anything that is not a regular file: a pipe in the place of a
//! settings file would otherwise hold the hook until the client gives up on it and goes on.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use memchr::memmem;

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

/// The first bytes of a file, at most `limit`, and whether that was all of it.
pub fn read_start(path: &Path, limit: u64) -> io::Result<(Vec<u8>, bool)> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= limit;
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok((bytes, whole))
}

/// The file with this extension that was changed last, at any depth that a person would use. Links
/// to directories are not followed, and a tree beyond measure is looked at in part.
pub fn newest_below(directory: &Path, extension: &str) -> Option<(PathBuf, SystemTime)> {
    const DEEPEST: usize = 16;
    const MOST: usize = 20_000;
    let mut newest: Option<(PathBuf, SystemTime)> = None;
    let mut open = VecDeque::from([(directory.to_owned(), 0)]);
    let mut looked_at = 0;
    while let Some((directory, depth)) = open.pop_front() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > MOST {
                return newest;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth < DEEPEST {
                    open.push_back((path, depth + 1));
                }
            } else if path.extension().is_some_and(|found| found == extension)
                && let Ok(metadata) = fs::metadata(&path)
                && metadata.is_file()
                && let Ok(changed) = metadata.modified()
                && newest.as_ref().is_none_or(|(_, latest)| changed > *latest)
            {
                newest = Some((path, changed));
            }
        }
    }
    newest
}

/// The last bytes of a file, as many as the buffer takes.
fn read_end<'b>(path: &Path, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    let mut file = open_regular(path)?;
    // A shorter file cannot be wound back so far, and is read from its start.
    let _ = file.seek(SeekFrom::End(-i64::try_from(buffer.len()).unwrap_or(i64::MAX)));
    let mut read = 0;
    while read < buffer.len() {
        match file.read(&mut buffer[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(&buffer[..read])
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

/// The files of a directory with this extension, the one that was changed last first.
pub fn newest_first(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = with_extension(directory, extension).collect();
    files.sort_by_cached_key(|path| std::cmp::Reverse(changed(path)));
    files
}

/// When a file was changed last.
pub fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Of the files of a directory with this extension that have this text near their end, the one that
/// was changed last and is accepted. Only the ends are read, those of the latest files first: a little
/// of each, and more only if that was not enough for any.
pub fn latest_ending_with(
    directory: &Path,
    extension: &str,
    text: &[u8],
    accept: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    const ENDS: [usize; 2] = [4 << 10, 96 << 10];
    /// What is looked for was mostly written just now.
    const FIRST: usize = 64;
    let entries: Vec<fs::DirEntry> = entries(directory, extension).collect();
    let mut files = shared_out(&entries, |entries| {
        let changed = |entry: &fs::DirEntry| entry.metadata().and_then(|found| found.modified()).ok();
        entries.iter().filter_map(|entry| Some((changed(entry)?, entry))).collect()
    });
    files.sort_unstable_by_key(|(changed, _)| std::cmp::Reverse(*changed));
    let files: Vec<&fs::DirEntry> = files.into_iter().map(|(_, entry)| entry).collect();
    for end in ENDS {
        let search = |files: &[&fs::DirEntry]| -> Vec<PathBuf> {
            let finder = memmem::Finder::new(text);
            let mut buffer = vec![0; end];
            let mut has_it =
                |path: &Path| read_end(path, &mut buffer).is_ok_and(|bytes| finder.find(bytes).is_some());
            files.iter().map(|entry| entry.path()).filter(|path| has_it(path)).collect()
        };
        let (first, rest) = files.split_at(files.len().min(FIRST));
        for part in [first, rest] {
            if let Some(path) = shared_out(part, search).into_iter().find(|path| accept(path)) {
                return Some(path);
            }
        }
    }
    None
}

/// The work on a long list, done by several threads; what they find comes in the order of the list.
fn shared_out<'l, T: Sync, R: Send>(list: &'l [T], work: impl Fn(&'l [T]) -> Vec<R> + Sync) -> Vec<R> {
    /// A shorter list is not worth another thread.
    const FEW: usize = 256;
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    let mut shares = list.chunks(list.len().div_ceil(threads).max(FEW));
    let own = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = shares.map(|share| scope.spawn(|| work(share))).collect();
        let mut found = work(own);
        found.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_default()));
        found
    })
}

fn with_extension(directory: &Path, extension: &str) -> impl Iterator<Item = PathBuf> {
    entries(directory, extension).map(|entry| entry.path())
}

fn entries(directory: &Path, extension: &str) -> impl Iterator<Item = fs::DirEntry> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(move |entry| {
        Path::new(&entry.file_name()).extension().is_some_and(|found| found == extension)
    })
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
        let mut file = private().write(true).create_new(true).open(&temporary)?;
        if let Ok(metadata) = fs::metadata(path) {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(after)?;
        file.sync_all()?;
        match before {
            Some(before) => swap_in(&temporary, path, before),
            None if path.exists() => Ok(false),
            None => fs::rename(&temporary, path).map(|()| true),
        }
    })();
    let _ = fs::remove_file(&temporary);
    written
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
        Err(_) => move_in(new, path, before),
    }
}

#[cfg(not(target_os = "linux"))]
use move_in as swap_in;

fn move_in(new: &Path, path: &Path, before: &[u8]) -> io::Result<bool> {
    if holds(path, before) { fs::rename(new, path).map(|()| true) } else { Ok(false) }
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

/// Waits for the lock of this name, but not for ever.
pub fn lock(place: &Path, patience: Duration) -> io::Result<Lock> {
    private_directory(place.parent().unwrap_or(Path::new(".")))?;
    let file = private().write(true).create(true).truncate(false).open(place)?;
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
            let _ = fs::remove_file(entry.path());
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

    #[cfg(unix)]
    #[test]
    fn the_newest_file_is_found_by_its_time_and_no_loop_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str, seconds: u64| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = File::create(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
            path
        };
        assert!(newest_below(dir.path(), "md").is_none());
        assert!(newest_below(&dir.path().join("missing"), "md").is_none());
        at("z.md", 10);
        let newest = at("a/b/c.md", 30);
        at("a/later.txt", 40);
        std::os::unix::fs::symlink("..", dir.path().join("a/loop")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("device.md")).unwrap();
        assert_eq!(newest_below(dir.path(), "md").unwrap().0, newest);
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
