//! Finds files by the time of their last change, and by the text at their end.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow::Continue;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use memchr::memmem;

use super::directories::{EntryKind, MOST, walk};
use super::open_nonblocking;

/// The most recently changed file with this extension below a directory. Links to directories are not followed, and of a
/// tree with too many entries a part is searched.
pub fn find_newest_below(directory: &Path, extension: &str) -> Option<(PathBuf, SystemTime)> {
    let with_time = |path: PathBuf| {
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((path, metadata.modified().ok()?))
    };
    // Of two files with the same time, the first counts.
    let newer = |newest: (PathBuf, SystemTime), next: (PathBuf, SystemTime)| {
        if next.1 > newest.1 { next } else { newest }
    };
    walk_extension(directory, extension).into_iter().filter_map(with_time).reduce(newer)
}

/// The files with this extension below a directory, or the path itself if it is not a directory.
pub fn list_files_below(path: &Path, extension: &str) -> Vec<PathBuf> {
    if path.is_dir() { walk_extension(path, extension) } else { vec![path.to_owned()] }
}

fn walk_extension(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(VecDeque::from([(directory.to_owned(), 0)]), MOST, |directory, name, kind| {
        let is_wanted =
            Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
        found.extend((is_wanted && kind != EntryKind::Directory).then(|| directory.join(name)));
        Continue(())
    });
    found
}

/// Reads the last bytes of a file, as many as the buffer takes.
fn read_end<'b>(path: &Path, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    let mut file = open_nonblocking(path)?;
    // In a shorter file this fails, and it is read from the start.
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

/// The files of a directory with this extension, the most recently changed first.
pub fn list_newest_first(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = entries(directory, extension).map(|entry| entry.path()).collect();
    let changed = |path: &PathBuf| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    files.sort_by_cached_key(|path| std::cmp::Reverse(changed(path)));
    files
}

/// The most recently changed file of a directory that has this extension, has `text` near its end, and that `accept`
/// accepts. It reads only the ends of files, the latest files first: a little of each, and more if no file matches.
pub fn find_latest_ending_with(
    directory: &Path,
    extension: &str,
    text: &[u8],
    accept: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    const ENDS: [usize; 2] = [4 << 10, 96 << 10];
    /// The wanted file is mostly one of the latest.
    const FIRST: usize = 64;
    let entries: Vec<fs::DirEntry> = entries(directory, extension).collect();
    let mut files = run_in_threads(&entries, |entries| {
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
            if let Some(path) = run_in_threads(part, search).into_iter().find(|path| accept(path)) {
                return Some(path);
            }
        }
    }
    None
}

/// Splits the work on a long list between threads. The results are in the order of the list.
fn run_in_threads<'l, T: Sync, R: Send>(list: &'l [T], work: impl Fn(&'l [T]) -> Vec<R> + Sync) -> Vec<R> {
    /// How many items are worth another thread.
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

fn entries(directory: &Path, extension: &str) -> impl Iterator<Item = fs::DirEntry> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(move |entry| {
        Path::new(&entry.file_name()).extension().is_some_and(|found| found == extension)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::Duration;

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
        assert!(find_newest_below(dir.path(), "md").is_none());
        assert!(find_newest_below(&dir.path().join("missing"), "md").is_none());
        at("z.md", 10);
        let newest = at("a/b/c.md", 30);
        at("a/later.txt", 40);
        std::os::unix::fs::symlink("..", dir.path().join("a/loop")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("device.md")).unwrap();
        assert_eq!(find_newest_below(dir.path(), "md").unwrap().0, newest);
    }
}
