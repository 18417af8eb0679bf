//! The command line: plays files one after the other, or several at once, and sums up; or shows what several
//! versions of the client made of them.

mod options;
mod progress;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rehearsal::{Error, Results, Scenario, Stage, Versions};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

pub(crate) use options::{HELP, Invocation, Options};
use progress::{Paint, Screen};

pub(crate) const USAGE: u8 = 64;
const INTERRUPTED: u8 = 130;

pub(crate) fn play(options: &Options) -> ExitCode {
    let stage = match stage(options) {
        Ok(stage) => stage,
        Err(fault) => {
            eprintln!("rehearse: {fault}");
            return ExitCode::from(USAGE);
        }
    };
    let interrupted = match listen_for_interrupts() {
        Ok(interrupted) => interrupted,
        Err(error) => {
            eprintln!("rehearse: cannot listen for interrupts: {error}");
            return ExitCode::FAILURE;
        }
    };
    let before = options.results.as_ref().map(|path| Results::continued(&stage.client, path, &options.files));
    let results = match before.transpose() {
        Ok(results) => Mutex::new(results),
        Err(error) => return fail(&error),
    };
    let queue: Mutex<VecDeque<&PathBuf>> = Mutex::new(options.files.iter().collect());
    let failed = Mutex::new(0_usize);
    let perform_next = |live: bool| {
        let next = locked(&queue).pop_front();
        let Some(file) = next else { return false };
        let mut has_failed = false;
        // What held is not played again: it is what failed that one doubts.
        for _ in 0..=options.again {
            if interrupted.load(Ordering::SeqCst) {
                return false;
            }
            let mut screen = Screen::new(Paint::of_stdout(), options.quiet, live, Arc::clone(&interrupted));
            let held = perform(&stage, file, &mut screen, &results);
            screen.finish();
            has_failed |= !held;
            if !has_failed {
                break;
            }
        }
        *locked(&failed) += usize::from(has_failed);
        true
    };
    if options.jobs == 1 {
        while perform_next(true) {}
    } else {
        // Several at once are told one after the other, each when it is over.
        thread::scope(|scope| {
            for _ in 0..options.jobs.min(options.files.len()) {
                scope.spawn(|| while perform_next(false) {});
            }
        });
    }
    if interrupted.load(Ordering::SeqCst) {
        return ExitCode::from(INTERRUPTED);
    }
    let failed = *locked(&failed);
    // Half of the results would look like all of them, so an interrupted run writes none.
    if let (Some(path), Some(results)) = (&options.results, &*locked(&results))
        && let Err(error) = results.save(path)
    {
        return fail(&error);
    }
    progress::tell(&format!("{} passed, {failed} failed\n", options.files.len() - failed));
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Shows the results of several versions of the client.
pub(crate) fn compare(directory: &Path) -> ExitCode {
    match Versions::load(directory) {
        Ok(versions) => {
            progress::tell(&versions.markdown());
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}

fn fail(error: &Error) -> ExitCode {
    eprintln!("rehearse: {error}");
    ExitCode::FAILURE
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The client has a process group of its own, so whoever interrupts us does not reach it: the run
/// must be ended from here. A second interrupt ends us at once.
fn listen_for_interrupts() -> std::io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(
            signal,
            INTERRUPTED.into(),
            Arc::clone(&interrupted),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

/// Plays one file, and says whether it turned out as expected.
fn perform(stage: &Stage, file: &Path, screen: &mut Screen, results: &Mutex<Option<Results>>) -> bool {
    let scenario = match Scenario::load(file) {
        Ok(scenario) => scenario,
        Err(error) => {
            screen.title(&file.display().to_string());
            screen.cannot_play(&error);
            if let Some(results) = &mut *locked(results) {
                results.add_unplayed(file, "", &error);
            }
            return false;
        }
    };
    screen.title(&scenario.title);
    match stage.play(&scenario, screen) {
        Ok(playback) => {
            let verdict = scenario.judge(&playback);
            screen.verdict(file, &verdict, playback.seconds);
            if let Some(root) = playback.kept() {
                screen.kept(root);
            }
            if let Some(results) = &mut *locked(results) {
                results.add(file, &scenario.title, &verdict.mismatches, &playback);
            }
            verdict.mismatches.is_empty()
        }
        Err(error) => {
            screen.cannot_play(&error);
            if let Some(results) = &mut *locked(results) {
                results.add_unplayed(file, &scenario.title, &error);
            }
            false
        }
    }
}

fn stage(options: &Options) -> Result<Stage, String> {
    let here = std::env::current_dir().unwrap_or_default();
    let client = options.client.clone().or_else(|| Stage::find_client(here));
    let client = client.ok_or(
        "there is no client. To fix: name its program with `--client PATH` or in the environment as `REHEARSAL_CLIENT`",
    )?;
    if !client.is_file() {
        return Err(format!("there is no client at `{}`", client.display()));
    }
    let recorder = std::env::current_exe()
        .map_err(|error| format!("cannot find its own program, which records hooks: {error}"))?;
    Ok(Stage { client, variables: options.variables.clone(), recorder, keep: options.keep })
}
