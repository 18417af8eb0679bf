//! Where a review is watched: one file for each of its streams.
//!
//! They are there to be looked at, so what cannot be made is done without.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// The files that a reviewer's two streams go to while it speaks. They are made anew.
pub struct Logs {
    pub out: PathBuf,
    pub err: PathBuf,
}

/// A file of its own that a program may append to and that can be read from the start afterwards.
pub(super) fn make(path: &Path) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        files::private_directory(parent)?;
    }
    // An older file may be open to others, and a link may lead anywhere.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    files::private().read(true).append(true).create_new(true).open(path)
}
