//! Checks the files on disk after ten thousand kills, and while sixty-four processes run at once.
//!
//! Everything is real: the program, its processes, signals and the file system. The tests use no code of the program.

pub mod kills;
pub mod stage;
pub mod together;

use std::fs;
use std::path::{Path, PathBuf};

/// Every file below a directory.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                _ => found.push(entry.path()),
            }
        }
    }
    found
}

/// Temporary files, which a process would have renamed to their final names.
pub fn find_temporary_files(home: &Path) -> Vec<PathBuf> {
    let is_temporary = |path: &PathBuf| path.extension().is_some_and(|end| end == "tmp");
    files_below(home).into_iter().filter(is_temporary).collect()
}

/// Sorts numbers and returns the median.
pub fn median(numbers: &mut [u64]) -> u64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
