//! How many instructions a call runs outside the kernel, held against what was kept.
//!
//! Times tell what a person waits for and differ from run to run; instructions tell what the program
//! does and hardly differ, so a test can hold them. Callgrind counts them, as of a processor that is
//! always the same. What they were is kept in `instructions.txt`, for the released program.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::cases::{Case, Stage};
use crate::scene::Scene;

/// So much more than was kept is a regression; in per cent.
const TOLERANCE: f64 = 5.0;
/// Random keys of hash tables and the moment at which the watchdog gets its turn make runs differ a little.
const RUNS: usize = 3;
const HEAD: &str = "\
# Instructions outside the kernel of each case of `scripts/bench`, counted by callgrind. `scripts/bench --instructions`
# shows how they differ from now, `--instructions --write` makes this file anew.
";

/// What was counted, beside what was kept.
pub struct Count {
    name: String,
    now: u64,
    kept: Option<u64>,
}

/// Counts every call of the hook, and the empty program.
pub fn all() -> io::Result<Vec<Count>> {
    let stage = Stage::set(&[])?;
    let kept = read(&fs::read_to_string(file())?);
    let counted = stage.cases.iter().enumerate().filter(|(number, case)| *number == 0 || case.is_hook());
    let count = |(_, case): (usize, &Case)| {
        let mut runs = (0..RUNS).map(|_| of(&stage.scene, case)).collect::<io::Result<Vec<u64>>>()?;
        runs.sort_unstable();
        let now = runs[RUNS / 2];
        Ok(Count { name: case.name.clone(), now, kept: kept.get(&case.name).copied() })
    };
    counted.map(count).collect()
}

/// Counts one run of a case.
pub fn of(scene: &Scene, case: &Case) -> io::Result<u64> {
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
        .ok_or_else(|| io::Error::other(format!("callgrind told no count: {text}")))
}

pub fn table(counts: &[Count]) -> String {
    let mut text = format!(
        "Instructions outside the kernel, the middle one of {RUNS} runs\n\n{:26}{:>12}{:>12}\n",
        "", "now", "kept"
    );
    for count in counts {
        let kept = count.kept.map_or("–".into(), |kept| kept.to_string());
        let difference = count.difference().map_or("not kept".into(), |percent| format!("{percent:+.1} %"));
        let word = if count.holds() { "" } else { "   too many" };
        let _ = writeln!(text, "{:26}{:>12}{kept:>12}{difference:>12}{word}", count.name, count.now);
    }
    if !hold(counts) {
        let _ = writeln!(
            text,
            "\nMore than {TOLERANCE} % above what was kept, or not kept. If that is meant: `scripts/bench --instructions --write`."
        );
    }
    text
}

pub fn json(counts: &[Count]) -> Value {
    let one = |count: &Count| json!({ "name": count.name, "instructions": count.now, "kept": count.kept });
    counts.iter().map(one).collect()
}

pub fn hold(counts: &[Count]) -> bool {
    counts.iter().all(Count::holds)
}

pub fn write(counts: &[Count]) -> io::Result<()> {
    let mut text = HEAD.to_owned();
    for count in counts {
        let _ = writeln!(text, "{:>12}  {}", count.now, count.name);
    }
    fs::write(file(), text)
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("instructions.txt")
}

fn read(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| line.trim().split_once("  "));
    fields.filter_map(|(count, name)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

impl Count {
    /// How much more it is than what was kept, in per cent.
    #[allow(clippy::cast_precision_loss)]
    fn difference(&self) -> Option<f64> {
        self.kept.map(|kept| (self.now as f64 / kept as f64 - 1.0) * 100.0)
    }

    fn holds(&self) -> bool {
        self.difference().is_some_and(|percent| percent <= TOLERANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_and_five_per_cent_more_are_borne() {
        let kept = read(&format!("{HEAD}      200000  turn ended, 43 files\n"));
        assert_eq!(kept.len(), 1);
        let count = |now| Count { name: "x".into(), now, kept: kept.get("turn ended, 43 files").copied() };
        assert!(count(209_000).holds() && count(100_000).holds());
        assert!(!count(211_000).holds());
        assert!(table(&[count(211_000)]).contains("too many"));
        assert!(!Count { kept: None, ..count(1) }.holds());
    }
}
