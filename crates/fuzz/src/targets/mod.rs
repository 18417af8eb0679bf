//! The fuzz targets, one file each.
//!
//! A target has realistic seeds, the words that its parser treats specially, and a check. A check takes any bytes and returns
//! what is wrong; it adds its answers to [`AnswerDigest`], so that two runs can be compared. `corpus/TARGET` has inputs that
//! libFuzzer found: those that once broke a promise, named after the defect, and those that reach the most code.

mod event;
mod names;
mod plan;
mod sandbox;
mod settings;
mod shell;
mod state;
mod tasks;
mod transcript;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::double_check::AnswerDigest;

#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    /// What must be true for any input, in the words of `docs/reliability.md`. All targets must also answer in time, and give
    /// the same answer twice.
    pub promise: &'static str,
    /// The most processor time for each 100 KB of input.
    pub patience: Duration,
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that the parser treats specially; libFuzzer's dictionary.
    pub tokens: &'static [&'static str],
    /// Pairs that can be nested.
    pub brackets: &'static [(&'static str, &'static str)],
    /// Whether the input is JSON, or contains JSON.
    pub is_json: bool,
    pub check: fn(&[u8], &mut AnswerDigest) -> Result<(), String>,
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

/// JSON values of unexpected types and sizes, for the dictionaries of targets that read JSON.
const ODD_VALUES: &[&str] = &[
    "null",
    "true",
    "-1",
    "1.5",
    "1e999",
    "18446744073709551616",
    "123456789012345678901234567890.10",
    "\"\"",
    "\"\\ud83d\"",
    "\"\\u0000\"",
    "\"\\u001b[2J\"",
    "\"../../etc\"",
    "\"2\"",
    "[]",
    "{}",
    "[null]",
    "{\"\":{}}",
    "[1,\"x\",{}]",
];
/// The depth of nested inputs.
const DEEPEST: usize = 12_000;
/// The length of inputs that repeat one word.
const LONG: usize = 8_000;

/// One input, with a name for the report of a failure.
pub struct Input {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Target {
    /// The seeds and the corpus, from which libFuzzer starts.
    pub fn recorded_inputs(&self) -> Vec<Input> {
        let seeds = (self.seeds)().into_iter().enumerate();
        let mut inputs: Vec<Input> =
            seeds.map(|(number, bytes)| Input { name: format!("seed-{number}"), bytes }).collect();
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name);
        inputs.extend(read_files(&corpus).into_iter().map(|(file, bytes)| Input {
            name: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            bytes,
        }));
        inputs
    }

    /// Inputs with extreme nesting and repetition, which libFuzzer does not reach by small changes.
    pub fn extreme_inputs(&self) -> Vec<Input> {
        let seed = (self.seeds)().swap_remove(0);
        let mut inputs = Vec::new();
        for (open, close) in self.brackets {
            let opened = [open.repeat(DEEPEST).as_bytes(), &seed].concat();
            let closed = [&opened, close.repeat(DEEPEST).as_bytes()].concat();
            inputs.push(Input { name: format!("unclosed {open:?}"), bytes: opened });
            inputs.push(Input { name: format!("nested {open:?} {close:?}"), bytes: closed });
        }
        for token in self.tokens {
            let bytes = [&seed, token.repeat(LONG / token.len()).as_bytes()].concat();
            inputs.push(Input { name: format!("repeated {token:?}"), bytes });
        }
        inputs
    }

    /// The tokens in the form of libFuzzer's option `-dict`.
    pub fn dictionary(&self) -> String {
        let odd_values = if self.is_json { ODD_VALUES } else { &[] };
        let mut text = String::new();
        for token in self.tokens.iter().chain(odd_values) {
            text.push('"');
            for byte in token.bytes() {
                text += &format!("\\x{byte:02x}");
            }
            text += "\"\n";
        }
        text
    }
}

/// The files of a directory with their bytes, in the order of their names.
fn read_files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.into_iter().filter_map(|file| std::fs::read(&file).ok().map(|bytes| (file, bytes))).collect()
}

/// Reads files of the repository as seeds.
fn file_seeds(directory: &str, extension: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(directory);
    let files = read_files(&directory).into_iter();
    files
        .filter(|(file, _)| file.extension().is_some_and(|found| found == extension))
        .map(|(_, bytes)| bytes)
        .collect()
}

fn text_seeds(seeds: &[&str]) -> Vec<Vec<u8>> {
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

/// An error unless the condition is true.
fn ensure(condition: bool, what: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}

/// An error with both values unless they are equal.
fn ensure_equal<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T, what: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let shown = |value: &T| {
        let text = format!("{value:?}");
        text.chars().take(600).collect::<String>()
    };
    Err(format!("{what}: {} instead of {}", shown(found), shown(expected)))
}
