//! The entries of a directory, as they come from the system.
//!
//! The standard library asks the system twice more for each directory and takes memory for each entry,
//! which is a part of what the end of a turn costs.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// What an entry is by itself; a link is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
    Other,
}

/// Calls `visit` with the name and the kind of each entry, in no order, until it has enough.
#[cfg(target_os = "linux")]
pub fn for_each_entry(
    directory: &Path,
    mut visit: impl FnMut(&OsStr, EntryKind) -> ControlFlow<()>,
) -> io::Result<()> {
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{FileType, Mode, OFlags, RawDir, open};

    /// As much as a hundred short names take. It lies on the stack, and each of its pages costs a page fault.
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
            // Some file systems do not say.
            FileType::Unknown => match std::fs::symlink_metadata(directory.join(name)) {
                Ok(metadata) => kind_of(metadata.file_type()),
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
        if visit(&entry.file_name(), kind_of(entry.file_type()?)).is_break() {
            break;
        }
    }
    Ok(())
}

fn kind_of(kind: std::fs::FileType) -> EntryKind {
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
