//! The steps by which the disk changes. Nothing outside of `files` changes it.
//!
//! Each step says its name to [`faults::step`] before it is done. A debug build can be ended at any of
//! them as by `kill -9`, and a test does that to every writer at every step (`tests/crash`). In a release
//! build the names are gone, and what is left is one call of the system each.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use crate::faults;

/// Writes all bytes. A process can be ended when a part of them is on the disk, so there is a step between.
pub(super) fn write(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    faults::step("write", path);
    if cfg!(debug_assertions) {
        let (first, rest) = bytes.split_at(if faults::counts_steps() { bytes.len() / 2 } else { 0 });
        file.write_all(first)?;
        if !first.is_empty() {
            faults::step("write the rest", path);
        }
        return file.write_all(rest);
    }
    file.write_all(bytes)
}

pub(super) fn sync(file: &File, path: &Path) -> io::Result<()> {
    faults::step("sync", path);
    file.sync_all()
}

pub(super) fn truncate(file: &File, path: &Path, length: u64) -> io::Result<()> {
    faults::step("truncate", path);
    file.set_len(length)
}

pub(super) fn set_mode_of_open(file: &File, path: &Path, mode: Permissions) -> io::Result<()> {
    faults::step("set the mode", path);
    file.set_permissions(mode)
}

pub fn set_mode(path: &Path, mode: Permissions) -> io::Result<()> {
    faults::step("set the mode", path);
    fs::set_permissions(path, mode)
}

/// Gives a file another name; an error if there is something of that name.
pub(super) fn rename_if_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        faults::step("rename", to);
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // This file system cannot do it.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            renamed => return Ok(renamed?),
        }
    }
    faults::step("link", to);
    fs::hard_link(from, to)?;
    remove(from)
}

/// Gives a file another name; what had that name is gone.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::step("rename", to);
    fs::rename(from, to)
}

/// Takes a file away. One that is not there is an error, as the system has it.
pub fn remove(path: &Path) -> io::Result<()> {
    if cfg!(debug_assertions) && path.symlink_metadata().is_ok() {
        faults::step("remove", path);
    }
    fs::remove_file(path)
}

/// Takes a directory away if it is empty.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    faults::step("remove the directory", path);
    fs::remove_dir(path)
}

/// Makes a directory, with its parents.
pub fn make_directory(path: &Path) -> io::Result<()> {
    make_directories(path, &fs::DirBuilder::new())
}

/// Makes a directory, with its parents, that only its owner can look into.
pub fn private_directory(path: &Path) -> io::Result<()> {
    #[allow(unused_mut)]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    make_directories(path, &builder)
}

fn make_directories(path: &Path, builder: &fs::DirBuilder) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    match make_one(path, builder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(parent) = path.parent() else { return Err(error) };
            make_directories(parent, builder)?;
            // Once only: in `/proc`, or in a directory that is deleted, nothing can be made although the
            // parent is there.
            make_one(path, builder)
        }
        made => made,
    }
}

fn make_one(path: &Path, builder: &fs::DirBuilder) -> io::Result<()> {
    if cfg!(debug_assertions) && !path.is_dir() && path.parent().is_none_or(Path::is_dir) {
        faults::step("make the directory", path);
    }
    match builder.create(path) {
        // Somebody else may have made it by now.
        Err(_) if path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_made_with_their_parents() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        private_directory(&deep).unwrap();
        private_directory(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(dir.path().join("f"), "").unwrap();
        assert!(make_directory(&dir.path().join("f")).is_err());
        assert!(make_directory(&dir.path().join("f/below")).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_nothing_can_be_made_that_is_an_error() {
        assert!(private_directory(Path::new("/proc/provost/state")).is_err());
    }
}
