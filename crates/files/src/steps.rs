//! The single steps that change the disk. No code outside this crate changes it.
//!
//! Each step is announced to the tests first. A debug build can be killed at any step, and a test does that to every writer
//! (`tests/behaviour/crash`). In a release build, each step is one system call.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use crate::faults;

/// Writes all bytes. A process can be killed when half of them are written, so there is a step between.
pub(super) fn write(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    faults::announce_step("write", path);
    if cfg!(debug_assertions) {
        let (first, rest) = bytes.split_at(if faults::is_counting_steps() { bytes.len() / 2 } else { 0 });
        file.write_all(first)?;
        if !first.is_empty() {
            faults::announce_step("write the rest", path);
        }
        return file.write_all(rest);
    }
    file.write_all(bytes)
}

pub(super) fn sync(file: &File, path: &Path) -> io::Result<()> {
    faults::announce_step("sync", path);
    file.sync_all()
}

pub(super) fn truncate(file: &File, path: &Path, length: u64) -> io::Result<()> {
    faults::announce_step("truncate", path);
    file.set_len(length)
}

pub(super) fn set_mode_of_open(file: &File, path: &Path, mode: Permissions) -> io::Result<()> {
    faults::announce_step("set the mode", path);
    file.set_permissions(mode)
}

pub fn set_mode(path: &Path, mode: Permissions) -> io::Result<()> {
    faults::announce_step("set the mode", path);
    fs::set_permissions(path, mode)
}

/// Renames a file; an error if `to` exists.
pub(super) fn rename_if_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        faults::announce_step("rename", to);
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // This file system cannot do that.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            renamed => return Ok(renamed?),
        }
    }
    faults::announce_step("link", to);
    fs::hard_link(from, to)?;
    remove_file(from)
}

/// Renames a file, and replaces `to`.
pub fn rename_file(from: &Path, to: &Path) -> io::Result<()> {
    faults::announce_step("rename", to);
    fs::rename(from, to)
}

/// Removes a file; an error if it does not exist.
pub fn remove_file(path: &Path) -> io::Result<()> {
    if cfg!(debug_assertions) && path.symlink_metadata().is_ok() {
        faults::announce_step("remove", path);
    }
    fs::remove_file(path)
}

/// Removes a directory; an error if it is not empty.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    faults::announce_step("remove the directory", path);
    fs::remove_dir(path)
}

/// Creates a directory and its parents.
pub fn make_directory(path: &Path) -> io::Result<()> {
    create_with_parents(path, &fs::DirBuilder::new())
}

/// Creates a directory and its parents, for the owner only.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    #[allow(unused_mut)]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    create_with_parents(path, &builder)
}

fn create_with_parents(path: &Path, builder: &fs::DirBuilder) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    match create_one(path, builder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(parent) = path.parent() else { return Err(error) };
            create_with_parents(parent, builder)?;
            // Once only: in `/proc` or in a deleted directory, this fails although the parent exists.
            create_one(path, builder)
        }
        made => made,
    }
}

fn create_one(path: &Path, builder: &fs::DirBuilder) -> io::Result<()> {
    if cfg!(debug_assertions) && !path.is_dir() && path.parent().is_none_or(Path::is_dir) {
        faults::announce_step("make the directory", path);
    }
    match builder.create(path) {
        // Another process may have created it.
        Err(_) if path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_created_with_their_parents() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        make_private_directory(&deep).unwrap();
        make_private_directory(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(dir.path().join("f"), "").unwrap();
        assert!(make_directory(&dir.path().join("f")).is_err());
        assert!(make_directory(&dir.path().join("f/below")).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_directory_that_cannot_be_created_is_an_error() {
        assert!(make_private_directory(Path::new("/proc/provost/state")).is_err());
    }
}
