//! How many instructions a call runs outside the kernel, held against what was kept.
//!
//! Times tell what a person waits for and differ from run to run; instructions tell what the program
//! does and hardly differ, so a test can hold them. Callgrind counts them, as of a processor that is
//! always the same. What they were is kept in `instructions.txt`, for the released program. What another
//! system adds to every program is seen at the empty one, and is not held against the hook.

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
    now: i64,
    /// What is expected here: what was kept, and what the empty program has more than then.
    expected: Option<i64>,
}

/// Counts every call of the hook, and the empty program.
pub fn all() -> io::Result<Vec<Count>> {
    let stage = Stage::set()?;
    let kept = read(&fs::read_to_string(file())?);
    let counted = stage.cases.iter().enumerate().filter(|(number, case)| *number == 0 || case.is_hook());
    let mut counts = Vec::new();
    for (_, case) in counted {
        let mut runs = (0..RUNS).map(|_| of(&stage.scene, case)).collect::<io::Result<Vec<i64>>>()?;
        runs.sort_unstable();
        counts.push((case.name.clone(), runs[RUNS / 2]));
    }
    Ok(against(counts, &kept))
}

/// Counts beside what was kept; the first is the empty program.
fn against(counts: Vec<(String, i64)>, kept: &BTreeMap<String, i64>) -> Vec<Count> {
    let system = counts.first().map_or(0, |(name, now)| now - kept.get(name).copied().unwrap_or(*now));
    let beside = |(name, now): (String, i64)| {
        let expected = kept.get(&name).map(|kept| kept + system);
        Count { name, now, expected }
    };
    counts.into_iter().map(beside).collect()
}

/// Counts one run of a case.
pub fn of(scene: &Scene, case: &Case) -> io::Result<i64> {
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
        "", "now", "expected"
    );
    for count in counts {
        let expected = count.expected.map_or("–".into(), |expected| expected.to_string());
        let difference = count.difference().map_or("not kept".into(), |percent| format!("{percent:+.1} %"));
        let word = if count.holds() { "" } else { "   too many" };
        let _ = writeln!(text, "{:26}{:>12}{expected:>12}{difference:>12}{word}", count.name, count.now);
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
    let one =
        |count: &Count| json!({ "name": count.name, "instructions": count.now, "expected": count.expected });
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

fn read(text: &str) -> BTreeMap<String, i64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| line.trim().split_once("  "));
    fields.filter_map(|(count, name)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

impl Count {
    /// How much more it is than expected, in per cent.
    #[allow(clippy::cast_precision_loss)]
    fn difference(&self) -> Option<f64> {
        self.expected.map(|expected| (self.now as f64 / expected as f64 - 1.0) * 100.0)
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
        let kept = read(&format!("{HEAD}       60000  empty program\n      200000  turn ended, 43 files\n"));
        let counted = |empty: i64, now: i64| {
            let counts = [("empty program", empty), ("turn ended, 43 files", now)];
            against(counts.map(|(name, count)| (name.to_owned(), count)).to_vec(), &kept)
        };
        assert!(hold(&counted(60_000, 209_000)) && hold(&counted(60_000, 100_000)));
        assert!(!hold(&counted(60_000, 211_000)));
        assert!(table(&counted(60_000, 211_000)).contains("too many"));
        // The system has become 10,000 heavier, or lighter.
        assert!(hold(&counted(70_000, 211_000)) && !hold(&counted(50_000, 209_000)));
        assert!(!hold(&against(vec![("new".into(), 1)], &kept)));
    }
}
