//! Counts the instructions of a call in user mode, and compares them with stored counts.
//!
//! Times differ from run to run. Instructions hardly differ, so a test can check them. Callgrind counts them for a fixed
//! processor. `instructions.txt` stores the counts of the Linux release, whose C library comes with the compiler, so that
//! they are the same on every system.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::cases::{Case, Stage};
use crate::scene::Scene;

/// The allowed increase over the stored count, in per cent.
const TOLERANCE: f64 = 5.0;
/// Runs differ a little, by the random keys of hash tables and the timing of the watchdog. The median counts.
const RUNS: usize = 3;
const HEAD: &str = "\
# Instructions outside the kernel of each case of `scripts/bench`, counted by callgrind. `scripts/bench --instructions`
# shows how they differ from now, `--instructions --write` makes this file anew.
";

/// A count and the stored count.
pub struct Count {
    name: String,
    now: i64,
    /// The stored count.
    expected: Option<i64>,
}

/// Counts every call of the hook.
pub fn count_all() -> io::Result<Vec<Count>> {
    let stage = Stage::with_cases(None, &[])?;
    let stored = parse_counts(&fs::read_to_string(counts_file())?);
    let mut counts = Vec::new();
    for case in stage.cases.iter().filter(|case| case.is_hook()) {
        let mut runs = (0..RUNS).map(|_| count(&stage.scene, case)).collect::<io::Result<Vec<i64>>>()?;
        runs.sort_unstable();
        counts.push(compare(&case.name, runs[RUNS / 2], &stored));
    }
    Ok(counts)
}

fn compare(name: &str, now: i64, stored: &BTreeMap<String, i64>) -> Count {
    Count { name: name.to_owned(), now, expected: stored.get(name).copied() }
}

/// Counts one run of a case.
pub fn count(scene: &Scene, case: &Case) -> io::Result<i64> {
    let mut command = Command::new("valgrind");
    case.environment(scene, &mut command);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(&case.program).args(&case.arguments).stdin(case.input(scene)?);
    let output = command.output().map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("valgrind, which counts instructions, cannot be started: {error}"),
        )
    })?;
    case.check(output.status.success(), &String::from_utf8_lossy(&output.stdout))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("Collected")).and_then(|line| line.split_once(" : "));
    line.and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| io::Error::other(format!("callgrind printed no count: {text}")))
}

pub fn table(counts: &[Count]) -> String {
    let mut text = format!(
        "Instructions outside the kernel, the middle one of {RUNS} runs\n\n{:30}{:>12}{:>12}\n",
        "", "now", "expected"
    );
    for count in counts {
        let expected = count.expected.map_or("–".into(), |expected| expected.to_string());
        let difference = count.difference().map_or("not kept".into(), |percent| format!("{percent:+.1} %"));
        let word = if count.is_within_tolerance() { "" } else { "   too many" };
        let _ = writeln!(text, "{:30}{:>12}{expected:>12}{difference:>12}{word}", count.name, count.now);
    }
    if !goals_hold(counts) {
        let _ = writeln!(
            text,
            "\nMore than {TOLERANCE} % above what was kept, or not kept. If that is meant: `scripts/bench --instructions --write`."
        );
    }
    text
}

pub fn json(counts: &[Count]) -> Value {
    let to_json =
        |count: &Count| json!({ "name": count.name, "instructions": count.now, "expected": count.expected });
    counts.iter().map(to_json).collect()
}

pub fn goals_hold(counts: &[Count]) -> bool {
    counts.iter().all(Count::is_within_tolerance)
}

pub fn write(counts: &[Count]) -> io::Result<()> {
    let mut text = HEAD.to_owned();
    for count in counts {
        let _ = writeln!(text, "{:>12}  {}", count.now, count.name);
    }
    fs::write(counts_file(), text)
}

fn counts_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
}

fn parse_counts(text: &str) -> BTreeMap<String, i64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| line.trim().split_once("  "));
    fields.filter_map(|(count, name)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

impl Count {
    /// The increase over the stored count, in per cent.
    #[allow(clippy::cast_precision_loss)]
    fn difference(&self) -> Option<f64> {
        self.expected.map(|expected| (self.now as f64 / expected as f64 - 1.0) * 100.0)
    }

    fn is_within_tolerance(&self) -> bool {
        self.difference().is_some_and(|percent| percent <= TOLERANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_per_cent_more_than_the_stored_count_is_allowed() {
        let stored = parse_counts(&format!("{HEAD}      200000  turn ended, 43 files\n"));
        let counted = |now: i64| vec![compare("turn ended, 43 files", now, &stored)];
        assert!(goals_hold(&counted(209_000)) && goals_hold(&counted(100_000)));
        assert!(!goals_hold(&counted(211_000)));
        assert!(table(&counted(211_000)).contains("too many"));
        assert!(!goals_hold(&[compare("new", 1, &stored)]));
    }
}
