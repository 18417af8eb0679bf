//! The figures as tables for people and as one JSON object for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::GOAL;
use crate::cases::{ALLOWED, DELEGATING, EMPTY, ENDING, ENDING_LARGE, LEAVING};
use crate::measure::{Measured, Sample};
use crate::statistics::{median, quantile, ratio_interval};

/// How many microseconds the end of a turn may take where the plan has 5,000 files.
const LARGE_GOAL: f64 = 30_000.0;

/// What costs at most the goal.
const GOALS: [(usize, &str); 4] = [
    (ALLOWED, "an allowed PreToolUse"),
    (LEAVING, "an allowed way out of plan mode"),
    (ENDING, "the end of a turn with a plan of 43 files"),
    (DELEGATING, "the start of an agent in a workflow"),
];

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
}

impl Report<'_> {
    pub fn goal_holds(&self) -> bool {
        let ratio = |case: usize| self.figures(&self.results[case]).ratio;
        let large = of(&self.results[ENDING_LARGE], |sample| sample.wall);
        GOALS.iter().all(|(case, _)| ratio(*case) <= GOAL) && median(&large) <= LARGE_GOAL
    }

    fn figures<'a>(&self, case: &'a Measured) -> Figures<'a> {
        let empty = &self.results[EMPTY];
        let wall = of(case, |sample| sample.wall);
        let base = of(empty, |sample| sample.wall);
        let cpu = median(&of(case, |sample| sample.cpu));
        Figures {
            ratio: median(&wall) / median(&base),
            interval: ratio_interval(&wall, &base),
            cpu,
            cpu_ratio: cpu / median(&of(empty, |sample| sample.cpu)),
            page_faults: median(&of(case, |sample| sample.page_faults)),
            instruction_ratio: case.instructions.zip(empty.instructions).map(|(own, base)| ratio(own, base)),
            wall,
            case,
        }
    }

    pub fn table(&self) -> String {
        let figures: Vec<_> = self.results.iter().map(|case| self.figures(case)).collect();
        let mut text = format!(
            "Wall time of whole processes in microseconds, {} interleaved rounds\n\n{:24}{:>8}{:>9}{:>16}{:>10}{:>15}\n",
            self.rounds, "", "min", "median", "quartiles", "× empty", "95 % of it"
        );
        for case in &figures {
            let quartiles = format!("{:.0} – {:.0}", quantile(&case.wall, 0.25), quantile(&case.wall, 0.75));
            let interval = format!("{:.2} – {:.2}", case.interval.0, case.interval.1);
            let _ = writeln!(
                text,
                "{:24}{:>8.0}{:>9.0}{quartiles:>16}{:>10.2}{interval:>15}",
                case.case.name,
                quantile(&case.wall, 0.0),
                median(&case.wall),
                case.ratio,
            );
        }
        let _ = write!(
            text,
            "\nWhat each takes of the machine (medians of the same run; instructions: one run by callgrind)\n\n\
             {:24}{:>8}{:>9}{:>8}{:>15}{:>9}{:>11}{:>10}\n",
            "", "cpu µs", "× empty", "faults", "instructions", "× empty", "peak KiB", "file KiB"
        );
        for case in &figures {
            let _ = writeln!(
                text,
                "{:24}{:>8.0}{:>9.2}{:>8.0}{:>15}{:>9}{:>11}{:>10}",
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
        let _ = writeln!(text, "\nGoal: each of these costs at most {GOAL} × the empty program.\n");
        for (case, what) in GOALS {
            let ratio = figures[case].ratio;
            let word = if ratio <= GOAL { "holds" } else { "does not hold" };
            let _ = writeln!(text, "    {ratio:.2}   {word:14} {what}");
        }
        let large = median(&figures[ENDING_LARGE].wall) / 1000.0;
        let goal = LARGE_GOAL / 1000.0;
        let _ = writeln!(
            text,
            "\nThe end of a turn with a plan of 5,000 files: {large:.1} ms of at most {goal:.0}."
        );
        text
    }

    pub fn json(&self) -> Value {
        let cases: Vec<_> = self.results.iter().map(|case| self.figures(case).json()).collect();
        json!({ "rounds": self.rounds, "goal": GOAL, "goal_holds": self.goal_holds(), "cases": cases })
    }
}

impl Figures<'_> {
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

fn of(case: &Measured, figure: impl Fn(&Sample) -> f64) -> Vec<f64> {
    case.samples.iter().map(figure).collect()
}

#[allow(clippy::cast_precision_loss)]
fn ratio(own: u64, base: u64) -> f64 {
    own as f64 / base as f64
}
