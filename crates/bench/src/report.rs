//! The results as tables, or as one JSON object.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::cases::{EMPTY, Goal};
use crate::measure::{Measured, Sample};
use crate::statistics::{median, quantile, ratio_interval};

/// The goals for the memory of a call and the size of the program, in KiB.
const MEMORY_GOAL: u64 = 10_000_000 / 1024;
const FILE_GOAL: u64 = 10_000_000 / 1024;

pub struct Report<'a> {
    pub rounds: usize,
    pub results: &'a [Measured],
}

/// The figures of one case.
struct Figures<'a> {
    case: &'a Measured,
    wall: Vec<f64>,
    cpu: f64,
    page_faults: f64,
    ratio: f64,
    interval: (f64, f64),
    cpu_ratio: f64,
    instruction_ratio: Option<f64>,
    /// How many milliseconds more it takes than the case that its goal names.
    more: Option<f64>,
}

impl Report<'_> {
    pub fn goal_holds(&self) -> bool {
        self.results.iter().all(|case| self.figures(case).is_within_goal() != Some(false)) && self.is_small()
    }

    /// Whether every call of the hook meets the goals for memory and size.
    fn is_small(&self) -> bool {
        let (memory, file) = self.largest();
        memory <= MEMORY_GOAL && file <= FILE_GOAL
    }

    /// The largest peak memory and the largest program of all calls of the hook, in KiB.
    fn largest(&self) -> (u64, u64) {
        let hooks = || self.results.iter().filter(|case| case.is_hook);
        let memory = hooks().filter_map(|case| case.peak_kib).max().unwrap_or(u64::MAX);
        (memory, hooks().map(|case| case.size / 1024).max().unwrap_or(u64::MAX))
    }

    fn figures<'a>(&self, case: &'a Measured) -> Figures<'a> {
        let empty = &self.results[EMPTY];
        let wall = collect(case, |sample| sample.wall);
        let base = collect(empty, |sample| sample.wall);
        let cpu = median(&collect(case, |sample| sample.cpu));
        let more = match case.goal {
            Some(Goal::MillisecondsMore(_, than)) => {
                let other = self.results.iter().find(|other| other.name == than);
                other.map(|other| (median(&wall) - median(&collect(other, |sample| sample.wall))) / 1000.0)
            }
            _ => None,
        };
        Figures {
            more,
            ratio: median(&wall) / median(&base),
            interval: ratio_interval(&wall, &base),
            cpu,
            cpu_ratio: cpu / median(&collect(empty, |sample| sample.cpu)),
            page_faults: median(&collect(case, |sample| sample.page_faults)),
            instruction_ratio: case.instructions.zip(empty.instructions).map(|(own, base)| ratio(own, base)),
            wall,
            case,
        }
    }

    pub fn table(&self) -> String {
        let figures: Vec<_> = self.results.iter().map(|case| self.figures(case)).collect();
        let mut text = format!(
            "Wall time of whole processes in microseconds, {} interleaved rounds\n\n{:30}{:>8}{:>9}{:>16}{:>10}{:>15}\n",
            self.rounds, "", "min", "median", "quartiles", "× empty", "95 % of it"
        );
        for case in &figures {
            let quartiles = format!("{:.0} – {:.0}", quantile(&case.wall, 0.25), quantile(&case.wall, 0.75));
            let interval = format!("{:.2} – {:.2}", case.interval.0, case.interval.1);
            let _ = writeln!(
                text,
                "{:30}{:>8.0}{:>9.0}{quartiles:>16}{:>10.2}{interval:>15}",
                case.case.name,
                quantile(&case.wall, 0.0),
                median(&case.wall),
                case.ratio,
            );
        }
        let _ = write!(
            text,
            "\nWhat each takes of the machine (medians of the same run; instructions: one run by callgrind)\n\n\
             {:30}{:>8}{:>9}{:>8}{:>15}{:>9}{:>11}{:>10}\n",
            "", "cpu µs", "× empty", "faults", "instructions", "× empty", "peak KiB", "file KiB"
        );
        for case in &figures {
            let _ = writeln!(
                text,
                "{:30}{:>8.0}{:>9.2}{:>8.0}{:>15}{:>9}{:>11}{:>10}",
                case.case.name,
                case.cpu,
                case.cpu_ratio,
                case.page_faults,
                case.case.instructions.map_or("–".into(), |count| count.to_string()),
                case.instruction_ratio.map_or("–".into(), |ratio| format!("{ratio:.2}")),
                case.case.peak_kib.map_or("–".into(), |peak| peak.to_string()),
                case.case.size / 1024,
            );
        }
        if self.results[EMPTY].instructions.is_none() {
            text += "\nInstructions are not counted: there is no valgrind here.\n";
        }
        let _ = writeln!(text, "\nGoals\n");
        for case in &figures {
            let Some((is, most, unit)) = case.compare_with_goal() else { continue };
            let word = if is <= most { "holds" } else { "does not hold" };
            let _ = writeln!(text, "{:30}{is:>8.2} of {most:>4} {unit:12} {word}", case.case.name);
        }
        let (memory, file) = self.largest();
        for (what, is, most) in [("memory", memory, MEMORY_GOAL), ("program", file, FILE_GOAL)] {
            let word = if is <= most { "holds" } else { "does not hold" };
            let _ = writeln!(text, "{what:30}{is:>8} of {most:>4} KiB          {word}");
        }
        text
    }

    pub fn json(&self) -> Value {
        let cases: Vec<_> = self.results.iter().map(|case| self.figures(case).json()).collect();
        json!({ "rounds": self.rounds, "goal_holds": self.goal_holds(), "cases": cases })
    }
}

impl Figures<'_> {
    fn is_within_goal(&self) -> Option<bool> {
        self.compare_with_goal().map(|(is, most, _)| is <= most)
    }

    /// The measured value, the goal, and their unit.
    fn compare_with_goal(&self) -> Option<(f64, f64, &'static str)> {
        Some(match self.case.goal? {
            Goal::Times(most) => (self.ratio, most, "× empty"),
            Goal::Milliseconds(most) => (median(&self.wall) / 1000.0, most, "ms"),
            Goal::MillisecondsMore(most, _) => (self.more?, most, "ms for rules"),
        })
    }

    fn json(&self) -> Value {
        json!({
            "name": self.case.name,
            "wall_micros": {
                "min": quantile(&self.wall, 0.0),
                "lower_quartile": quantile(&self.wall, 0.25),
                "median": median(&self.wall),
                "upper_quartile": quantile(&self.wall, 0.75),
            },
            "ratio": self.ratio,
            "is_within_goal": self.is_within_goal(),
            "ratio_interval": [self.interval.0, self.interval.1],
            "cpu_micros": self.cpu,
            "cpu_ratio": self.cpu_ratio,
            "page_faults": self.page_faults,
            "instructions": self.case.instructions,
            "instruction_ratio": self.instruction_ratio,
            "peak_kib": self.case.peak_kib,
            "file_bytes": self.case.size,
        })
    }
}

fn collect(case: &Measured, figure: impl Fn(&Sample) -> f64) -> Vec<f64> {
    case.samples.iter().map(figure).collect()
}

#[allow(clippy::cast_precision_loss)]
fn ratio(own: i64, base: i64) -> f64 {
    own as f64 / base as f64
}
