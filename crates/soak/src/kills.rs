//! Processes that are killed at a random moment, one after the other.

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
use crate::{files_below, litter, median};

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// Killed before anything was written.
    pub before: u64,
    /// Killed when something was written.
    pub during: u64,
    /// It had ended by itself, so nothing was killed.
    pub too_late: u64,
    /// Files that were not whole, or not what they had to be.
    pub torn: Vec<String>,
    /// Files that were not there any more.
    pub lost: Vec<String>,
    /// Lines of journals that were cut off by a kill. The next line is read all the same.
    pub cut_lines: u64,
    /// New files on their way that a kill has left, until the next run.
    pub left_for_a_while: u64,
    /// What lay there at the end.
    pub litter: Vec<PathBuf>,
    pub seconds: f64,
}

impl Report {
    /// Processes that were really killed.
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

/// What is started.
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
    /// The number of the next version of anything.
    number: u64,
    /// What each plan was given last.
    plans: BTreeMap<Job, String>,
    report: Report,
}

/// How many homes there are in which processes are killed at the same time.
const HOMES: u64 = 4;

/// Kills so many processes of this program.
pub fn run(program: &Path, kills: u64, seed: u64) -> io::Result<Report> {
    let began = Instant::now();
    let share = |home: u64| kills / HOMES + u64::from(home < kills % HOMES);
    let reports = thread::scope(|scope| {
        let homes =
            (0..HOMES).map(|home| scope.spawn(move || in_one_home(program, share(home), seed + home)));
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

fn in_one_home(program: &Path, kills: u64, seed: u64) -> io::Result<Report> {
    let stage = Stage::new(program)?;
    let mut random = Rng::with_seed(seed);
    let mut run = Run { stage: &stage, number: 1, plans: BTreeMap::new(), report: Report::default() };
    let typical = run.typical()?;
    while run.report.kills() < kills {
        let job = JOBS[random.usize(..JOBS.len())];
        let delay = Duration::from_micros(random.u64(..=typical[&job]));
        run.kill(job, delay)?;
    }
    for job in JOBS {
        // Twice, because what the first finds done already is done.
        for _ in 0..2 {
            run.prepare(job)?;
            let output = run.start(job)?.wait_with_output()?;
            if !output.status.success() {
                run.report.torn.push(format!("{job:?} does not work any more: {output:?}"));
            }
        }
    }
    run.look(true);
    run.report.litter = litter(&stage.home());
    Ok(run.report)
}

impl Run<'_> {
    /// How long each job takes, in microseconds.
    fn typical(&mut self) -> io::Result<BTreeMap<Job, u64>> {
        const RUNS: usize = 15;
        let mut typical = BTreeMap::new();
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
            typical.insert(job, median(&mut times));
        }
        Ok(typical)
    }

    /// Sees to it that there is something to write.
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
            Job::Plan => self.stage.plan_written(Project::Large),
            Job::Sidecar => self.stage.plan_written(Project::Small),
            Job::Workflow => self.stage.tests_failed(),
            Job::State => self.stage.set(0, self.number),
            Job::Journal => self.stage.listed(Project::Small),
        }
    }

    fn kill(&mut self, job: Job, delay: Duration) -> io::Result<()> {
        let (counted, field) = (self.stage.counted(), self.stage.field(0));
        self.prepare(job)?;
        let was = self.written();
        let mut child = self.start(job)?;
        thread::sleep(delay);
        child.kill()?;
        let output: Output = child.wait_with_output()?;
        match output.status.signal() {
            Some(9) if self.written() == was => self.report.before += 1,
            Some(9) => self.report.during += 1,
            _ => self.report.too_late += 1,
        }
        self.look(false);
        let now = (self.stage.counted(), self.stage.field(0));
        let expected = [counted, counted.map(|count| count + u64::from(job == Job::Workflow))];
        if !expected.contains(&now.0) {
            self.report.torn.push(format!("the count of the workflow went from {counted:?} to {:?}", now.0));
        }
        if now.1 != field && !(job == Job::State && now.1 == Some(self.number)) {
            self.report.torn.push(format!("state.json went from {field:?} to {:?}", now.1));
        }
        self.report.left_for_a_while += litter(&self.stage.home()).len() as u64;
        Ok(())
    }

    /// What is on the disk, as far as it changes: sizes and times of all files.
    fn written(&self) -> Vec<(PathBuf, u64, Option<std::time::SystemTime>)> {
        let looked = files_below(&self.stage.home()).into_iter().filter_map(|path| {
            let metadata = path.symlink_metadata().ok()?;
            Some((path, metadata.len(), metadata.modified().ok()))
        });
        let mut looked: Vec<_> = looked.collect();
        looked.sort();
        looked
    }

    /// Looks at every file. Journals grow, so only their ends are looked at until all is over.
    fn look(&mut self, at_all: bool) {
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
        if self.stage.counted().is_none() {
            self.report.torn.push("the state of the workflow is not whole".into());
        }
        if self.stage.field(0).is_none() {
            self.report.torn.push("the state of the reviews is not whole".into());
        }
        if at_all {
            self.look_at_journals();
        }
    }

    fn look_at_journals(&mut self) {
        for project in [Project::Large, Project::Small] {
            let journals = self.stage.journals(project);
            if journals.is_empty() {
                self.report.lost.push(format!("the journal of {project:?}"));
            }
            for line in journals.iter().flat_map(|path| lines(path)) {
                if serde_json::from_slice::<Value>(&line).is_ok() {
                    continue;
                }
                // Cut off by a kill: what stands behind it must be whole.
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

fn lines(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}
