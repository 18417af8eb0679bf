//! What is on the disk after ten thousand kills, and while sixty-four processes run at once.
//!
//! Everything is real: the program as it is built, its processes, signals and the file system. Nothing here
//! reaches into the program. What it has written is read as anybody would read it.

pub mod kills;
pub mod stage;
pub mod together;

use std::fs;
use std::path::{Path, PathBuf};

/// Every file below a directory.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                _ => found.push(entry.path()),
            }
        }
    }
    found
}

/// Files that somebody was about to put in place.
pub fn litter(home: &Path) -> Vec<PathBuf> {
    let is_litter = |path: &PathBuf| path.extension().is_some_and(|end| end == "tmp");
    files_below(home).into_iter().filter(is_litter).collect()
}

/// The middle one of some numbers.
pub fn median(numbers: &mut [u64]) -> u64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
