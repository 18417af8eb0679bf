//! Starts processes and measures them from outside.
//!
//! In each round every case runs once, in random order, so that no case always profits from the caches of the same other
//! case. The time is the wall-clock time from before the start to after the end, as a client sees it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, pipe};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::cases::{Case, Goal, Stage};
use crate::instructions;
use crate::scene::Scene;

/// One run of one program.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Microseconds on the wall clock.
    pub wall: f64,
    /// Microseconds of processor time of all threads, in user and kernel mode.
    pub cpu: f64,
    pub page_faults: f64,
}

/// The measurements of one case. What could not be measured is `None`.
pub struct Measured {
    pub name: String,
    pub goal: Option<Goal>,
    pub is_hook: bool,
    /// One sample for each round, in order.
    pub samples: Vec<Sample>,
    pub instructions: Option<i64>,
    pub peak_kib: Option<u64>,
    pub size: u64,
}

/// Runs all cases once in each round. The samples of each case are in the order of the rounds.
pub fn take_samples(stage: &Stage, rounds: usize) -> io::Result<Vec<Vec<Sample>>> {
    let warm_up = (rounds / 20).max(10);
    // A fixed seed, so that two runs have the same order.
    let mut random = fastrand::Rng::with_seed(1);
    let mut order: Vec<usize> = (0..stage.cases.len()).collect();
    let mut samples = vec![Vec::with_capacity(rounds); stage.cases.len()];
    for round in 0..warm_up + rounds {
        random.shuffle(&mut order);
        for &case in &order {
            let sample = run_case(&stage.scene, &stage.cases[case])?;
            if round >= warm_up {
                samples[case].push(sample);
            }
        }
    }
    Ok(samples)
}

pub fn measure_all(stage: &Stage, rounds: usize) -> io::Result<Vec<Measured>> {
    let measured = stage.cases.iter().zip(take_samples(stage, rounds)?).map(|(case, samples)| {
        Ok(Measured {
            name: case.name.clone(),
            goal: case.goal,
            is_hook: case.is_hook(),
            samples,
            instructions: instructions::count(&stage.scene, case).ok(),
            peak_kib: measure_peak(&stage.scene, case),
            size: fs::metadata(&case.program)?.len(),
        })
    });
    measured.collect()
}

/// Runs a case once, and checks its answer.
pub fn run_case(scene: &Scene, case: &Case) -> io::Result<Sample> {
    let (mut answer, output) = pipe()?;
    let mut command = case.command(scene);
    command.stdin(case.input(scene)?).stdout(output).stderr(Stdio::inherit());
    let before = children_usage()?;
    let began = Instant::now();
    let status = command.spawn().map_err(|error| case.start_error(&error))?.wait()?;
    let wall = began.elapsed();
    let after = children_usage()?;
    // The command has the writing end of the pipe.
    drop(command);
    let mut text = String::new();
    answer.read_to_string(&mut text)?;
    case.check(status.success(), &text)?;
    let faults = |usage: &Usage| usage.minor_page_faults() + usage.major_page_faults();
    Ok(Sample {
        wall: wall.as_secs_f64() * 1e6,
        cpu: number(cpu_micros(&after) - cpu_micros(&before)),
        page_faults: number(faults(&after) - faults(&before)),
    })
}

/// The resources of all children that have ended. A difference is the usage of the last one.
fn children_usage() -> io::Result<Usage> {
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?)
}

fn cpu_micros(usage: &Usage) -> i64 {
    (usage.user_time() + usage.system_time()).num_microseconds()
}

fn number(count: i64) -> f64 {
    f64::from(i32::try_from(count).unwrap_or(i32::MAX))
}

/// Measures the peak memory in KiB.
///
/// The system reports only the largest peak of all children, and it includes the peak of the process that starts them. So
/// this program starts itself, to have one child and a small parent.
fn measure_peak(scene: &Scene, case: &Case) -> Option<u64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    case.environment(scene, &mut command);
    command.arg("--peak").arg(&case.program).args(&case.arguments).stdin(case.input(scene).ok()?);
    String::from_utf8(command.output().ok()?.stdout).ok()?.trim().parse().ok()
}

pub fn print_peak(command: &[OsString]) -> io::Result<()> {
    let [program, arguments @ ..] = command else { return Err(io::Error::other("`--peak` needs a program")) };
    Command::new(program).args(arguments).stdout(Stdio::null()).spawn()?.wait()?;
    let peak = children_usage()?.max_rss();
    // macOS counts in bytes, Linux in KiB.
    println!("{}", if cfg!(target_os = "macos") { peak / 1024 } else { peak });
    Ok(())
}
