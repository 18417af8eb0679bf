//! What each step of a call adds to the start of an empty program.
//!
//! No build stops in the middle: the same program is given calls that need less and less of it, all in
//! one interleaved run, and a step is the difference of two medians. Whether there is a journal is a
//! setting, and reading the file in which it stands costs something too; so both calls that show the
//! journal have such a file, and what it costs is taken off again.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;

use provost::workspace::CHILD_MARK;
use serde_json::{Value, json};

use crate::cases::{EMPTY, Stage};
use crate::measure;
use crate::statistics::median;

/// The calls, from the one that needs least.
const EMPTY_PROGRAM: &str = "empty program";
const UNCONCERNED: &str = "no guard concerned";
const SHELL_CALL: &str = "shell call";

pub struct Steps {
    rounds: usize,
    /// What is done, and the median of the microseconds that it adds.
    added: Vec<(&'static str, f64)>,
}

pub fn measure(rounds: usize) -> io::Result<Steps> {
    let mut stage = Stage::set()?;
    let configured = |name: &str, text: &str| -> io::Result<PathBuf> {
        let directory = stage.scene.root().join(name);
        fs::create_dir_all(directory.join("provost"))?;
        fs::write(directory.join("provost/provost.toml"), text)?;
        Ok(directory)
    };
    let kept = configured("kept", "[journal]\nenabled = true\n")?;
    let unkept = configured("unkept", "[journal]\nenabled = false\n")?;
    let named = |name: &str| {
        let case = stage.cases.iter().find(|case| case.name == name).cloned();
        case.ok_or_else(|| io::Error::other(format!("there is no case `{name}`")))
    };
    let call = named(SHELL_CALL)?;
    stage.cases = vec![
        named(EMPTY_PROGRAM)?,
        call.clone().with(CHILD_MARK, "1"),
        named(UNCONCERNED)?,
        call.clone().with("XDG_CONFIG_HOME", unkept),
        call.clone().with("XDG_CONFIG_HOME", kept),
        call,
    ];
    eprintln!("measuring {rounds} rounds of {} processes …", stage.cases.len());
    let samples = measure::samples(&stage, rounds)?;
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
        let one = |(what, micros): &(&str, f64)| json!({ "what": what, "micros": micros, "times_empty": self.times_empty(*micros) });
        json!({ "rounds": self.rounds, "steps": self.added.iter().map(one).collect::<Vec<_>>() })
    }
}
