//! Many processes at once, on one plan, one state of each kind and one journal.
//!
//! Each worker does one thing again and again, and knows what it was told. In the end everything that was
//! acknowledged must be there: every count, every field, every line. One more worker is the agent's own
//! editor, which writes the plan as any program does: its last word must be in the file.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::stage::{FIELDS, Project, Stage, plan_fault, plan_text};
use crate::{litter, median};

/// The client's limit for a hook, as `provost init` writes it. A guard that waits longer than its own deadline
/// (5 s) is a fault, and there must be none.
pub const BOUND: Duration = Duration::from_secs(10);

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    pub processes: usize,
    pub runs: u64,
    /// What was acknowledged, and what of it is there: counts, fields, lines.
    pub counts: (u64, u64),
    pub fields: (u64, u64),
    pub lines: (u64, u64),
    /// How often the editor wrote the plan.
    pub edits: u64,
    /// Guards that could not judge in time, and said so in the journal.
    pub faults: u64,
    pub torn: Vec<String>,
    pub litter: Vec<PathBuf>,
    pub median_micros: u64,
    pub longest_micros: u64,
    pub seconds: f64,
}

impl Report {
    pub fn is_fine(&self) -> bool {
        let nothing_lost = [self.counts, self.fields, self.lines].iter().all(|(said, there)| said == there);
        nothing_lost && self.faults == 0 && self.torn.is_empty() && self.litter.is_empty()
    }

    /// Whether no call took longer than the client waits. Nobody can promise that on a machine with other work.
    pub fn is_bounded(&self) -> bool {
        u128::from(self.longest_micros) <= BOUND.as_micros()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |(said, there): (u64, u64)| format!("{there} of {said} that were acknowledged");
        writeln!(f, "processes     {} at once, {} in all", self.processes, self.runs)?;
        writeln!(f, "counts        {}", of(self.counts))?;
        writeln!(f, "fields        {}", of(self.fields))?;
        writeln!(f, "journal lines {}", of(self.lines))?;
        writeln!(f, "edits         {} of the plan, the last one is in it", self.edits)?;
        writeln!(f, "faults        {}", self.faults)?;
        writeln!(f, "torn          {}", self.torn.len())?;
        writeln!(f, "left behind   {}", self.litter.len())?;
        writeln!(
            f,
            "wait          median {} ms, longest {} ms, bound {} ms",
            self.median_micros / 1000,
            self.longest_micros / 1000,
            BOUND.as_millis()
        )?;
        write!(f, "duration      {:.0} s", self.seconds)?;
        for wrong in self.torn.iter().take(20) {
            write!(f, "\n! {wrong}")?;
        }
        Ok(())
    }
}

/// What one worker did.
#[derive(Default)]
struct Work {
    micros: Vec<u64>,
    /// Hooks in the project whose journal keeps everything.
    lines: u64,
    /// The value that its field was set to last, and how often it was.
    field: Option<(usize, u64)>,
    wrong: Vec<String>,
}

/// Lets so many processes run at once for so long.
pub fn run(program: &Path, processes: usize, seconds: u64) -> io::Result<Report> {
    let began = Instant::now();
    let stage = Stage::new(program)?;
    let end = began + Duration::from_secs(seconds);
    let edited = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    fs::write(stage.plan(Project::Large), plan_text(0, 2000))?;
    fs::write(stage.plan(Project::Small), plan_text(0, 2000))?;
    let (mut work, editor) = thread::scope(|scope| {
        let (stage, edited, is_over) = (&stage, &edited, &is_over);
        let workers: Vec<_> =
            (0..processes).map(|number| scope.spawn(move || worked(stage, number, end))).collect();
        let editor = scope.spawn(move || edit(stage, edited, is_over));
        let work: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect();
        is_over.store(true, Ordering::SeqCst);
        (work, editor.join().unwrap_or_default())
    });
    let mut report = Report { processes, seconds: began.elapsed().as_secs_f64(), ..Report::default() };
    let mut micros: Vec<u64> = work.iter_mut().flat_map(|work| std::mem::take(&mut work.micros)).collect();
    report.runs = micros.len() as u64;
    report.median_micros = median(&mut micros);
    report.longest_micros = micros.last().copied().unwrap_or(0);
    report.torn = work.iter_mut().flat_map(|work| std::mem::take(&mut work.wrong)).chain(editor).collect();
    report.edits = edited.load(Ordering::SeqCst);
    for (field, value) in work.iter().filter_map(|work| work.field) {
        report.fields.0 += value;
        report.fields.1 += stage.field(field).unwrap_or(0);
    }
    // What is left to be done to the plan is done when nobody else is there.
    for project in [Project::Large, Project::Small] {
        ended(stage.plan_written(project)?).map_err(io::Error::other)?;
    }
    let lines: u64 = work.iter().map(|work| work.lines).sum();
    report.look(&stage, lines + 1);
    Ok(report)
}

impl Report {
    /// Holds what is on the disk against what was said.
    fn look(&mut self, stage: &Stage, lines: u64) {
        self.lines.0 = lines;
        for project in [Project::Large, Project::Small] {
            for path in stage.journals(project) {
                let text = fs::read_to_string(&path).unwrap_or_default();
                for line in text.lines() {
                    let Ok(record) = serde_json::from_str::<Value>(line) else {
                        self.torn.push(format!("a line of a journal: {line:?}"));
                        continue;
                    };
                    let said = |word: &str| record["guards"].to_string().contains(word);
                    self.faults += u64::from(said("\"opinion\":\"fault\""));
                    if project == Project::Large {
                        self.lines.1 += 1;
                        self.counts.0 += u64::from(said("kept in the state"));
                    }
                }
            }
        }
        self.counts.1 = stage.counted().unwrap_or(0);
        let text = plan_text(self.edits, 2000);
        let found = fs::read_to_string(stage.plan(Project::Large)).unwrap_or_default();
        self.torn.extend(plan_fault(&found, &text));
        if !found.contains("rodin:validation=") {
            self.torn.push("the plan has no record".into());
        }
        self.litter = litter(&stage.home());
    }
}

/// One worker: the same again and again.
fn worked(stage: &Stage, number: usize, end: Instant) -> Work {
    let mut work = Work::default();
    let mut value = 0;
    loop {
        let began = Instant::now();
        let child = match number % 5 {
            0 => stage.tests_failed(),
            1 => stage.set(number % FIELDS, value + 1),
            2 => stage.plan_written(Project::Large),
            3 => stage.plan_written(Project::Small),
            _ => stage.listed(if is_even(value) { Project::Large } else { Project::Small }),
        };
        let outcome = child.map_err(|error| error.to_string()).and_then(ended);
        work.micros.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        if let Err(why) = outcome {
            work.wrong.push(why);
            return work;
        }
        let is_large = matches!(number % 5, 0 | 2) || (number % 5 == 4 && is_even(value));
        work.lines += u64::from(is_large);
        value += 1;
        if number % 5 == 1 {
            work.field = Some((number % FIELDS, value));
        }
        if Instant::now() >= end {
            return work;
        }
    }
}

/// The agent writes its plan, again and again, as any program writes a file.
fn edit(stage: &Stage, edited: &AtomicU64, is_over: &AtomicBool) -> Vec<String> {
    const PAUSE: Duration = Duration::from_millis(25);
    let mut wrong = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let number = edited.load(Ordering::SeqCst) + 1;
        let text = plan_text(number, 2000);
        if let Err(error) = fs::write(stage.plan(Project::Large), &text) {
            wrong.push(format!("the plan cannot be written: {error}"));
        }
        edited.store(number, Ordering::SeqCst);
        thread::sleep(PAUSE);
        let found = fs::read_to_string(stage.plan(Project::Large)).unwrap_or_default();
        wrong.extend(plan_fault(&found, &text));
    }
    wrong
}

fn is_even(number: u64) -> bool {
    number.is_multiple_of(2)
}

/// Waits for a process. One that does not end is a deadlock.
fn ended(mut child: Child) -> Result<(), String> {
    const PATIENCE: Duration = Duration::from_mins(10);
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => {
                let output = child.wait_with_output().map_err(|error| error.to_string())?;
                return Err(format!("{output:?}"));
            }
            Ok(None) if began.elapsed() < PATIENCE => thread::sleep(Duration::from_micros(500)),
            Ok(None) => {
                let _ = child.kill();
                return Err(format!("it did not end within {PATIENCE:?}"));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}
