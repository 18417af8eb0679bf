//! Measures what each step of a call adds to the start of an empty program.
//!
//! Interleaved calls need more and more of one program, and a step is the difference of two medians. The
//! journal is switched off by a settings file, and reading that file has a cost too; so both calls that show the cost of the
//! journal have such a file, and its cost is subtracted.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;

use provost::places::CHILD_MARK;
use serde_json::{Value, json};

use crate::cases::{EMPTY, Stage};
use crate::measure;
use crate::statistics::median;

/// The names of the calls.
const EMPTY_PROGRAM: &str = "empty program";
const UNCONCERNED: &str = "no guard concerned";
const SHELL_CALL: &str = "shell call";

pub struct Steps {
    rounds: usize,
    /// What is done, and the median of the microseconds that it adds.
    added: Vec<(&'static str, f64)>,
}

pub fn measure(rounds: usize) -> io::Result<Steps> {
    let mut stage = Stage::with_cases(None, &[])?;
    let write_config = |name: &str, text: &str| -> io::Result<PathBuf> {
        let directory = stage.scene.root().join(name);
        fs::create_dir_all(directory.join("provost"))?;
        fs::write(directory.join("provost/provost.toml"), text)?;
        Ok(directory)
    };
    let kept = write_config("kept", "[journal]\nenabled = true\n")?;
    let unkept = write_config("unkept", "[journal]\nenabled = false\n")?;
    let find_case = |name: &str| {
        let case = stage.cases.iter().find(|case| case.name == name).cloned();
        case.ok_or_else(|| io::Error::other(format!("there is no case `{name}`")))
    };
    let call = find_case(SHELL_CALL)?;
    stage.cases = vec![
        find_case(EMPTY_PROGRAM)?,
        call.clone().with(CHILD_MARK, "1"),
        find_case(UNCONCERNED)?,
        call.clone().with("XDG_CONFIG_HOME", unkept),
        call.clone().with("XDG_CONFIG_HOME", kept),
        call,
    ];
    eprintln!("measuring {rounds} rounds of {} processes …", stage.cases.len());
    let samples = measure::take_samples(&stage, rounds)?;
    let medians: Vec<f64> = samples
        .iter()
        .map(|samples| median(&samples.iter().map(|sample| sample.wall).collect::<Vec<_>>()))
        .collect();
    let [empty, started, unconcerned, unkept, kept, call] = medians[..] else { unreachable!("six cases") };
    let settings = kept - call;
    let added = vec![
        ("an empty program starts and ends", medians[EMPTY]),
        ("it is this program, with its code and tables", started - empty),
        ("a watchdog is started, the event is read and parsed", unconcerned - started),
        ("project and settings are looked for, guards are asked", unkept - settings - unconcerned),
        ("the journal is written, without credentials", kept - unkept),
        ("there is a file of settings", settings),
    ];
    Ok(Steps { rounds, added })
}

impl Steps {
    fn times_empty(&self, micros: f64) -> f64 {
        micros / self.added[EMPTY].1
    }

    pub fn table(&self) -> String {
        let mut text = format!(
            "Steps of a shell call: what each adds, microseconds (differences of medians, {} interleaved rounds)\n\n",
            self.rounds
        );
        for (what, micros) in &self.added {
            let _ = writeln!(text, "{micros:>8.0}{:>8.2} × empty   {what}", self.times_empty(*micros));
        }
        text
    }

    pub fn json(&self) -> Value {
        let to_json = |(what, micros): &(&str, f64)| json!({ "what": what, "micros": micros, "times_empty": self.times_empty(*micros) });
        json!({ "rounds": self.rounds, "steps": self.added.iter().map(to_json).collect::<Vec<_>>() })
    }
}
