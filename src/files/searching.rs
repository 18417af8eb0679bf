//! Finding files: by the time of their last change, and by what stands at their end.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use memchr::memmem;

use super::open_regular;

/// The file with this extension that was changed last, at any depth that a person would use. Links
/// to directories are not followed, and a tree beyond measure is looked at in part.
pub fn newest_below(directory: &Path, extension: &str) -> Option<(PathBuf, SystemTime)> {
    let mut newest: Option<(PathBuf, SystemTime)> = None;
    for_each_below(directory, extension, |path| {
        if let Ok(metadata) = fs::metadata(&path)
            && metadata.is_file()
            && let Ok(changed) = metadata.modified()
            && newest.as_ref().is_none_or(|(_, latest)| changed > *latest)
        {
            newest = Some((path, changed));
        }
    });
    newest
}

/// The files with this extension at any depth that a person would use, or the path itself if it is no directory.
pub fn files_below(path: &Path, extension: &str) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    for_each_below(path, extension, |path| found.push(path));
    found
}

fn for_each_below(directory: &Path, extension: &str, mut visit: impl FnMut(PathBuf)) {
    const DEEPEST: usize = 16;
    const MOST: usize = 20_000;
    let mut open = VecDeque::from([(directory.to_owned(), 0)]);
    let mut looked_at = 0;
    while let Some((directory, depth)) = open.pop_front() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > MOST {
                return;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth < DEEPEST {
                    open.push_back((path, depth + 1));
                }
            } else if path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension)) {
                visit(path);
            }
        }
    }
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
        assert!(newest_below(dir.path(), "md").is_none());
        assert!(newest_below(&dir.path().join("missing"), "md").is_none());
        at("z.md", 10);
        let newest = at("a/b/c.md", 30);
        at("a/later.txt", 40);
        std::os::unix::fs::symlink("..", dir.path().join("a/loop")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("device.md")).unwrap();
        assert_eq!(newest_below(dir.path(), "md").unwrap().0, newest);
    }
}
