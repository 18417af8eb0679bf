//! Kills processes at random moments, one after the other.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::Value;

use crate::stage::{Project, Stage, gate_fault, plan_fault, plan_text};
use crate::{files_below, find_temporary_files, median};

/// The result of all kills.
#[derive(Debug, Default)]
pub struct Report {
    /// Killed before anything was written.
    pub before: u64,
    /// Killed when something was written.
    pub during: u64,
    /// Ended before the kill; not counted as a kill.
    pub too_late: u64,
    /// Files that were incomplete or had a wrong content.
    pub torn: Vec<String>,
    /// Files that were gone.
    pub lost: Vec<String>,
    /// Journal lines that a kill cut off. The next line can still be read.
    pub cut_lines: u64,
    /// Temporary files that a kill left until the next run.
    pub left_for_a_while: u64,
    /// Temporary files at the end.
    pub litter: Vec<PathBuf>,
    pub seconds: f64,
}

impl Report {
    /// The number of killed processes.
    pub fn kills(&self) -> u64 {
        self.before + self.during
    }

    pub fn is_fine(&self) -> bool {
        self.torn.is_empty() && self.lost.is_empty() && self.litter.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kills            {}", self.kills())?;
        writeln!(f, "  before writing {}", self.before)?;
        writeln!(f, "  while writing  {}", self.during)?;
        writeln!(f, "too late         {} (had ended; not counted)", self.too_late)?;
        writeln!(f, "torn files       {}", self.torn.len())?;
        writeln!(f, "lost files       {}", self.lost.len())?;
        writeln!(f, "cut lines        {} (of journals; what follows is read)", self.cut_lines)?;
        writeln!(f, "left for a while {} (until the next run)", self.left_for_a_while)?;
        writeln!(f, "left at the end  {}", self.litter.len())?;
        write!(f, "duration         {:.0} s", self.seconds)?;
        for wrong in self.torn.iter().chain(&self.lost).take(20) {
            write!(f, "\n! {wrong}")?;
        }
        Ok(())
    }
}

/// What a process writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Job {
    Plan,
    Sidecar,
    Workflow,
    State,
    Journal,
}

const JOBS: [Job; 5] = [Job::Plan, Job::Sidecar, Job::Workflow, Job::State, Job::Journal];

struct Run<'s> {
    stage: &'s Stage,
    /// Counts the versions of all files.
    number: u64,
    /// The last text of each plan.
    plans: BTreeMap<Job, String>,
    report: Report,
}

/// The number of home directories in which processes are killed in parallel.
const HOMES: u64 = 4;

/// Kills this many processes of a program.
pub fn run(program: &Path, kills: u64, seed: u64) -> io::Result<Report> {
    let began = Instant::now();
    let share = |home: u64| kills / HOMES + u64::from(home < kills % HOMES);
    let reports = thread::scope(|scope| {
        let homes =
            (0..HOMES).map(|home| scope.spawn(move || kill_in_one_home(program, share(home), seed + home)));
        let homes: Vec<_> = homes.collect();
        homes
            .into_iter()
            .map(|home| home.join().map_err(|_| io::Error::other("a panic"))?)
            .collect::<Vec<_>>()
    });
    let mut all = Report::default();
    for report in reports {
        let report = report?;
        all.before += report.before;
        all.during += report.during;
        all.too_late += report.too_late;
        all.torn.extend(report.torn);
        all.lost.extend(report.lost);
        all.cut_lines += report.cut_lines;
        all.left_for_a_while += report.left_for_a_while;
        all.litter.extend(report.litter);
    }
    all.seconds = began.elapsed().as_secs_f64();
    Ok(all)
}

fn kill_in_one_home(program: &Path, kills: u64, seed: u64) -> io::Result<Report> {
    let stage = Stage::new(program)?;
    let mut random = Rng::with_seed(seed);
    let mut run = Run { stage: &stage, number: 1, plans: BTreeMap::new(), report: Report::default() };
    let durations = run.measure_durations()?;
    while run.report.kills() < kills {
        let job = JOBS[random.usize(..JOBS.len())];
        let delay = Duration::from_micros(random.u64(..=durations[&job]));
        run.kill(job, delay)?;
    }
    for job in JOBS {
        // Twice, because the first run may only finish what a killed one began.
        for _ in 0..2 {
            run.prepare(job)?;
            let output = run.start(job)?.wait_with_output()?;
            if !output.status.success() {
                run.report.torn.push(format!("{job:?} no longer works: {output:?}"));
            }
        }
    }
    run.check_files(true);
    run.report.litter = find_temporary_files(&stage.home());
    Ok(run.report)
}

impl Run<'_> {
    /// Measures how long each job takes, in microseconds.
    fn measure_durations(&mut self) -> io::Result<BTreeMap<Job, u64>> {
        const RUNS: usize = 15;
        let mut durations = BTreeMap::new();
        for job in JOBS {
            let mut times = Vec::new();
            for _ in 0..RUNS {
                self.prepare(job)?;
                let child = self.start(job)?;
                let began = Instant::now();
                let output = child.wait_with_output()?;
                times.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
                assert!(output.status.success(), "{job:?}: {output:?}");
            }
            durations.insert(job, median(&mut times));
        }
        Ok(durations)
    }

    /// Makes sure that the next process has something to write.
    fn prepare(&mut self, job: Job) -> io::Result<()> {
        self.number += 1;
        // Every other plan is larger than a page.
        let bytes = if self.number.is_multiple_of(2) { 300 } else { 30_000 };
        let project = match job {
            Job::Plan => Project::Large,
            Job::Sidecar => Project::Small,
            Job::Workflow | Job::State | Job::Journal => return Ok(()),
        };
        let text = plan_text(self.number, bytes);
        let written = fs::write(self.stage.plan(project), &text);
        self.plans.insert(job, text);
        written
    }

    fn start(&self, job: Job) -> io::Result<Child> {
        match job {
            Job::Plan => self.stage.report_written_plan(Project::Large),
            Job::Sidecar => self.stage.report_written_plan(Project::Small),
            Job::Workflow => self.stage.report_failed_tests(),
            Job::State => self.stage.set_field(0, self.number),
            Job::Journal => self.stage.list_files(Project::Small),
        }
    }

    fn kill(&mut self, job: Job, delay: Duration) -> io::Result<()> {
        let (counted, field) = (self.stage.failed_test_count(), self.stage.field(0));
        self.prepare(job)?;
        let before = self.file_states();
        let mut child = self.start(job)?;
        thread::sleep(delay);
        child.kill()?;
        let output: Output = child.wait_with_output()?;
        match output.status.signal() {
            Some(9) if self.file_states() == before => self.report.before += 1,
            Some(9) => self.report.during += 1,
            _ => self.report.too_late += 1,
        }
        self.check_files(false);
        let now = (self.stage.failed_test_count(), self.stage.field(0));
        let expected = [counted, counted.map(|count| count + u64::from(job == Job::Workflow))];
        if !expected.contains(&now.0) {
            self.report.torn.push(format!("the count of the workflow went from {counted:?} to {:?}", now.0));
        }
        if now.1 != field && !(job == Job::State && now.1 == Some(self.number)) {
            self.report.torn.push(format!("state.json went from {field:?} to {:?}", now.1));
        }
        self.report.left_for_a_while += find_temporary_files(&self.stage.home()).len() as u64;
        Ok(())
    }

    /// The sizes and times of all files.
    fn file_states(&self) -> Vec<(PathBuf, u64, Option<std::time::SystemTime>)> {
        let states = files_below(&self.stage.home()).into_iter().filter_map(|path| {
            let metadata = path.symlink_metadata().ok()?;
            Some((path, metadata.len(), metadata.modified().ok()))
        });
        let mut states: Vec<_> = states.collect();
        states.sort();
        states
    }

    /// Checks every file. Journals grow, so they are checked only at the end.
    fn check_files(&mut self, with_journals: bool) {
        for (job, project) in [(Job::Plan, Project::Large), (Job::Sidecar, Project::Small)] {
            let Some(text) = self.plans.get(&job) else { continue };
            match fs::read_to_string(self.stage.plan(project)) {
                Ok(found) => self.report.torn.extend(plan_fault(&found, text)),
                Err(error) => self.report.lost.push(format!("{job:?}: {error}")),
            }
        }
        match fs::read_to_string(self.stage.gate_file()) {
            Ok(found) => self.report.torn.extend(gate_fault(&found)),
            Err(error) => self.report.lost.push(format!("gate.yml: {error}")),
        }
        if self.stage.failed_test_count().is_none() {
            self.report.torn.push("the state of the workflow is incomplete".into());
        }
        if self.stage.field(0).is_none() {
            self.report.torn.push("the state of the reviews is incomplete".into());
        }
        if with_journals {
            self.check_journals();
        }
    }

    fn check_journals(&mut self) {
        for project in [Project::Large, Project::Small] {
            let journals = self.stage.journals(project);
            if journals.is_empty() {
                self.report.lost.push(format!("the journal of {project:?}"));
            }
            for line in journals.iter().flat_map(|path| read_lines(path)) {
                if serde_json::from_slice::<Value>(&line).is_ok() {
                    continue;
                }
                // A kill cut it off; the line that follows it must be complete.
                self.report.cut_lines += 1;
                let start = b"{\"id\":\"";
                let at = line.windows(start.len()).rposition(|part| part == start).unwrap_or(0);
                let is_last = at == 0;
                if !is_last && serde_json::from_slice::<Value>(&line[at..]).is_err() {
                    self.report
                        .torn
                        .push(format!("a line of a journal: {:?}", String::from_utf8_lossy(&line)));
                }
            }
        }
    }
}

fn read_lines(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}
