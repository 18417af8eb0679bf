//! Runs many processes at once, on one plan, one state of each kind and one journal.
//!
//! Each worker repeats one action and counts what was acknowledged. At the end everything that was acknowledged must be in the
//! files: every count, every field, every line. Another worker writes the plan like an editor: its last text must be in the
//! file.

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
use crate::{find_temporary_files, median};

/// The client's time limit for a hook, as `provost init` writes it. A guard that waits longer than its own deadline (5 s)
/// reports a fault, and there must be none.
pub const BOUND: Duration = Duration::from_secs(10);

/// The result of all processes.
#[derive(Debug, Default)]
pub struct Report {
    pub processes: usize,
    pub runs: u64,
    /// How much was acknowledged, and how much of it is in the files: counts, fields, lines.
    pub counts: (u64, u64),
    pub fields: (u64, u64),
    pub lines: (u64, u64),
    /// How often the editor wrote the plan.
    pub edits: u64,
    /// Guards that could not judge in time, by the journal.
    pub faults: u64,
    pub torn: Vec<String>,
    pub litter: Vec<PathBuf>,
    pub median_micros: u64,
    pub longest_micros: u64,
    pub seconds: f64,
}

impl Report {
    pub fn is_fine(&self) -> bool {
        let nothing_lost =
            [self.counts, self.fields, self.lines].iter().all(|(acknowledged, found)| acknowledged == found);
        nothing_lost && self.faults == 0 && self.torn.is_empty() && self.litter.is_empty()
    }

    /// Whether no call took longer than the client waits. This depends on other work on the machine.
    pub fn is_bounded(&self) -> bool {
        u128::from(self.longest_micros) <= BOUND.as_micros()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |(acknowledged, found): (u64, u64)| format!("{found} of {acknowledged} acknowledged");
        writeln!(f, "processes     {} at once, {} in all", self.processes, self.runs)?;
        writeln!(f, "counts        {}", share(self.counts))?;
        writeln!(f, "fields        {}", share(self.fields))?;
        writeln!(f, "journal lines {}", share(self.lines))?;
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

/// The work of one worker.
#[derive(Default)]
struct Work {
    micros: Vec<u64>,
    /// The number of hooks in the project whose journal has no limit.
    lines: u64,
    /// Its field, and the field's last value, which is also the number of changes.
    field: Option<(usize, u64)>,
    wrong: Vec<String>,
}

/// Runs this many processes at once, for this many seconds.
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
            (0..processes).map(|number| scope.spawn(move || run_worker(stage, number, end))).collect();
        let editor = scope.spawn(move || edit_plan(stage, edited, is_over));
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
    // A last run, without others, finishes what is left to do on the plans.
    for project in [Project::Large, Project::Small] {
        wait_for(stage.report_written_plan(project)?).map_err(io::Error::other)?;
    }
    let lines: u64 = work.iter().map(|work| work.lines).sum();
    report.check_files(&stage, lines + 1);
    Ok(report)
}

impl Report {
    /// Compares the files with what was acknowledged.
    fn check_files(&mut self, stage: &Stage, lines: u64) {
        self.lines.0 = lines;
        for project in [Project::Large, Project::Small] {
            for path in stage.journals(project) {
                let text = fs::read_to_string(&path).unwrap_or_default();
                for line in text.lines() {
                    let Ok(record) = serde_json::from_str::<Value>(line) else {
                        self.torn.push(format!("a line of a journal: {line:?}"));
                        continue;
                    };
                    let mentions = |word: &str| record["guards"].to_string().contains(word);
                    self.faults += u64::from(mentions("\"opinion\":\"fault\""));
                    if project == Project::Large {
                        self.lines.1 += 1;
                        self.counts.0 += u64::from(mentions("kept in the state"));
                    }
                }
            }
        }
        self.counts.1 = stage.failed_test_count().unwrap_or(0);
        let text = plan_text(self.edits, 2000);
        let found = fs::read_to_string(stage.plan(Project::Large)).unwrap_or_default();
        self.torn.extend(plan_fault(&found, &text));
        if !found.contains("rodin:validation=") {
            self.torn.push("the plan has no record".into());
        }
        self.litter = find_temporary_files(&stage.home());
    }
}

/// Repeats one action until the end.
fn run_worker(stage: &Stage, number: usize, end: Instant) -> Work {
    let mut work = Work::default();
    let mut value = 0;
    loop {
        let began = Instant::now();
        let child = match number % 5 {
            0 => stage.report_failed_tests(),
            1 => stage.set_field(number % FIELDS, value + 1),
            2 => stage.report_written_plan(Project::Large),
            3 => stage.report_written_plan(Project::Small),
            _ => stage.list_files(if is_even(value) { Project::Large } else { Project::Small }),
        };
        let outcome = child.map_err(|error| error.to_string()).and_then(wait_for);
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

/// Writes the plan again and again, as an editor would.
fn edit_plan(stage: &Stage, edited: &AtomicU64, is_over: &AtomicBool) -> Vec<String> {
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

/// Waits for a process. A process that does not end is in a deadlock.
fn wait_for(mut child: Child) -> Result<(), String> {
    const TIMEOUT: Duration = Duration::from_mins(10);
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => {
                let output = child.wait_with_output().map_err(|error| error.to_string())?;
                return Err(format!("{output:?}"));
            }
            Ok(None) if began.elapsed() < TIMEOUT => thread::sleep(Duration::from_micros(500)),
            Ok(None) => {
                let _ = child.kill();
                return Err(format!("it did not end within {TIMEOUT:?}"));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}
