//! Reads directories and walks through trees.
//!
//! The standard library makes two more system calls for each directory and allocates memory for each entry. That is a
//! noticeable part of the cost at the end of a turn.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow::{self, Break, Continue};
use std::path::{Path, PathBuf};

/// How many levels below a directory are walked through.
pub(super) const DEEPEST: usize = 16;
/// How many entries of a tree are looked at.
pub(super) const MOST: usize = 20_000;

/// The type of an entry. A link is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
    Other,
}

/// Calls `visit` with the name and the kind of each entry, in no particular order, until it breaks.
#[cfg(target_os = "linux")]
pub fn for_each_entry(
    directory: &Path,
    mut visit: impl FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
) -> io::Result<()> {
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{FileType, Mode, OFlags, RawDir, open};

    /// Enough for a hundred short names. It is on the stack, and each of its pages costs a page fault.
    const BUFFER: usize = 4 << 10;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let file = open(directory, flags, Mode::empty())?;
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut entries = RawDir::new(file, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            // Some file systems do not report the type.
            FileType::Unknown => match std::fs::symlink_metadata(directory.join(name)) {
                Ok(metadata) => entry_kind(metadata.file_type()),
                Err(_) => continue,
            },
            _ => EntryKind::Other,
        };
        if visit(name, kind).is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn for_each_entry(
    directory: &Path,
    mut visit: impl FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if visit(&entry.file_name(), entry_kind(entry.file_type()?)).is_break() {
            break;
        }
    }
    Ok(())
}

/// Calls `visit` with the directory, name and kind of each entry of these directories and of all below them, level by
/// level, until it breaks or has seen `most` entries. Each directory comes with its depth. A directory that cannot be
/// read is skipped, and links are not followed.
pub(super) fn walk(
    mut directories: VecDeque<(PathBuf, usize)>,
    most: usize,
    mut visit: impl FnMut(&Path, &OsStr, EntryKind) -> ControlFlow<()>,
) {
    let mut left = most;
    let mut state = Continue(());
    while state.is_continue()
        && let Some((directory, depth)) = directories.pop_front()
    {
        let _ = for_each_entry(&directory, |name, kind| {
            state = if left == 0 { Break(()) } else { visit(&directory, name, kind) };
            left = left.saturating_sub(1);
            if kind == EntryKind::Directory && depth < DEEPEST {
                directories.push_back((directory.join(name), depth + 1));
            }
            state
        });
    }
}

fn entry_kind(kind: std::fs::FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Directory
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Other
    }
}
