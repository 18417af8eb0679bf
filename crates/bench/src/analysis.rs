//! Measures the analysis of command lines inside this process.
//!
//! It is a small part of a call, but its cost depends on what the agent writes. So a typical line and a very long one have
//! goals of their own.

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use provost_shell as shell;
use serde_json::{Value, json};

use crate::statistics::median;

/// Lines as agents write them.
const TYPICAL: &[&str] = &[
    "ls -la",
    "git log --oneline -20 2>/dev/null | head",
    "rg -n \"foo|bar\" lib --glob '*.dart' | head -50",
    "for f in lib/*.dart; do echo \"== $f\"; head -5 \"$f\"; done",
    "cd lib && echo \"$(git branch --show-current): $(find . -name '*.dart' | wc -l)\" > ../planning/x.md",
];
/// The goals in microseconds for a typical line, and for a line of 100 KB.
const GOALS: (f64, f64) = (50.0, 50_000.0);
const BATCHES: usize = 50;

pub struct Analysis {
    pub line: String,
    /// The median in microseconds.
    pub micros: f64,
    goal: f64,
}

pub fn measure_all() -> Vec<Analysis> {
    let typical = TYPICAL.iter().map(|line| measure_line((*line).to_owned(), line, GOALS.0, 200));
    let unit = "echo \"$(cat 'a b' | grep -c x)\" && ls -la lib > /dev/null 2>&1; ";
    let long = unit.repeat(100_000 / unit.len());
    typical.chain([measure_line("a line of 100 KB".into(), &long, GOALS.1, 1)]).collect()
}

fn measure_line(name: String, line: &str, goal: f64, repetitions: u32) -> Analysis {
    let batches: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let began = Instant::now();
            for _ in 0..repetitions {
                black_box(shell::effects(black_box(line), Path::new("/work/project"), None));
            }
            began.elapsed().as_secs_f64() * 1e6 / f64::from(repetitions)
        })
        .collect();
    Analysis { line: name, micros: median(&batches), goal }
}

pub fn goals_hold(results: &[Analysis]) -> bool {
    results.iter().all(|result| result.micros <= result.goal)
}

pub fn table(results: &[Analysis]) -> String {
    let mut text = String::from("\nAnalysis of a command line inside one process, microseconds (median)\n\n");
    for result in results {
        let line: String = result.line.chars().take(60).collect();
        let _ = writeln!(text, "{:>10.1}  of {:>6.0}   {line}", result.micros, result.goal);
    }
    let _ = writeln!(
        text,
        "\nThe goals of the analysis {}.",
        if goals_hold(results) { "hold" } else { "do not hold" }
    );
    text
}

pub fn json(results: &[Analysis]) -> Value {
    let to_json =
        |result: &Analysis| json!({ "line": result.line, "micros": result.micros, "goal": result.goal });
    results.iter().map(to_json).collect()
}
