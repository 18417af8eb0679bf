//! The kinds of input, one file each.
//!
//! A target has seeds as people and clients write them, the words that its reader has to look at twice,
//! and a check. A check takes any bytes and says what is wrong with what the reader made of them; it gives
//! its answers to [`Seen`], so that a second run can be compared. Found cases lie in `corpus/TARGET`, and
//! are seeds, too.

mod event;
mod names;
mod plan;
mod settings;
mod shell;
mod stage;
mod state;
mod tasks;
mod transcript;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::trial::Seen;

#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    /// What must hold for any input, for the table. That it answers, in time and the same twice, holds for all.
    pub promise: &'static str,
    /// What was found and mended.
    pub findings: &'static [&'static str],
    /// What 100 KB, and any input at least, may take.
    pub patience: Duration,
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// What its reader has to look at twice.
    pub tokens: &'static [&'static str],
    /// What can be put around a part of it, any number of times.
    pub brackets: &'static [(&'static str, &'static str)],
    /// Whether it is JSON, or has JSON in it.
    pub is_json: bool,
    pub check: fn(&[u8], &mut Seen) -> Result<(), String>,
}

pub static ALL: &[Target] = &[
    event::TARGET,
    plan::TARGET,
    state::TARGET,
    tasks::TARGET,
    names::TARGET,
    shell::TARGET,
    settings::TARGET,
    transcript::TARGET,
];

pub fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

impl Target {
    /// The cases that were found, by their files.
    pub fn kept(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name);
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        files.into_iter().filter_map(|file| std::fs::read(&file).ok().map(|bytes| (file, bytes))).collect()
    }

    pub fn all_seeds(&self) -> Vec<Vec<u8>> {
        let kept = self.kept().into_iter().map(|(_, bytes)| bytes);
        (self.seeds)().into_iter().chain(kept).collect()
    }
}

/// Files of the repository as seeds.
fn files(directory: &str, extension: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(directory);
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    files.into_iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

fn texts(seeds: &[&str]) -> Vec<Vec<u8>> {
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

/// An error unless something holds.
fn holds(condition: bool, what: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}

/// The same with what was expected and what was found.
fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T, what: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let shown = |value: &T| {
        let text = format!("{value:?}");
        text.chars().take(600).collect::<String>()
    };
    Err(format!("{what}: {} instead of {}", shown(found), shown(expected)))
}
