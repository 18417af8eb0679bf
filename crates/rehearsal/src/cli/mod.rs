//! The commands of `rehearse`: play scenarios and sum up, or compare the results of several client versions.

mod options;
mod progress;

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rehearsal::{Error, Results, Scenario, ScenarioPlayer, Versions};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

pub(crate) use options::Options;
use progress::Progress;

pub(crate) const USAGE: u8 = 64;
const INTERRUPTED: u8 = 130;

pub(crate) fn play(options: &Options) -> ExitCode {
    let stage = match set_up_stage(options) {
        Ok(stage) => stage,
        Err(error) => {
            eprintln!("rehearse: {error}");
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
    let earlier =
        options.results.as_ref().map(|path| Results::load_or_create(&stage.client, path, &options.files));
    let results = match earlier.transpose() {
        Ok(results) => Mutex::new(results),
        Err(error) => return fail(&error),
    };
    let queue: Mutex<VecDeque<&PathBuf>> = Mutex::new(options.files.iter().collect());
    let failed = Mutex::new(0_usize);
    let play_next = |is_live: bool| {
        let next = lock(&queue).pop_front();
        let Some(file) = next else { return false };
        let mut has_failed = false;
        // Only failures are played again.
        for _ in 0..=options.again.map_or(0, NonZeroUsize::get) {
            if interrupted.load(Ordering::SeqCst) {
                return false;
            }
            let mut progress = Progress::new(options.quiet, is_live, Arc::clone(&interrupted));
            has_failed |= !play_file(&stage, file, &mut progress, &results);
            progress.finish();
            if !has_failed {
                break;
            }
        }
        *lock(&failed) += usize::from(has_failed);
        true
    };
    if options.jobs.get() == 1 {
        while play_next(true) {}
    } else {
        // With several jobs, each scenario is shown when it is over.
        thread::scope(|scope| {
            for _ in 0..options.jobs.get().min(options.files.len()) {
                scope.spawn(|| while play_next(false) {});
            }
        });
    }
    if interrupted.load(Ordering::SeqCst) {
        return ExitCode::from(INTERRUPTED);
    }
    let failed = *lock(&failed);
    // Partial results would look complete, so an interrupted run writes none.
    if let (Some(path), Some(results)) = (&options.results, &*lock(&results))
        && let Err(error) = results.save(path)
    {
        return fail(&error);
    }
    progress::print(&format!("{} passed, {failed} failed\n", options.files.len() - failed));
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a comparison of the results of several client versions.
pub(crate) fn compare(directory: &Path) -> ExitCode {
    match Versions::load(directory) {
        Ok(versions) => {
            progress::print(&versions.to_markdown());
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}

fn fail(error: &Error) -> ExitCode {
    eprintln!("rehearse: {error}");
    ExitCode::FAILURE
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets a flag on a signal. The client has a process group of its own and does not get the signal, so the run has to
/// be ended from here. A second signal ends this process at once.
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

/// Plays one file, and says whether it passed.
fn play_file(
    stage: &ScenarioPlayer,
    file: &Path,
    progress: &mut Progress,
    results: &Mutex<Option<Results>>,
) -> bool {
    let scenario = match Scenario::load(file) {
        Ok(scenario) => scenario,
        Err(error) => {
            progress.show_title(&file.display().to_string());
            progress.show_error(&error);
            if let Some(results) = &mut *lock(results) {
                results.add_unplayed(file, "", &error);
            }
            return false;
        }
    };
    progress.show_title(&scenario.title);
    match stage.play(&scenario, progress) {
        Ok(playback) => {
            let verdict = scenario.check_all(&playback);
            progress.show_verdict(file, &verdict, playback.seconds);
            if let Some(root) = playback.kept_directory() {
                progress.show_kept(root);
            }
            if let Some(results) = &mut *lock(results) {
                results.add(file, &scenario.title, &verdict.mismatches, &playback);
            }
            verdict.mismatches.is_empty()
        }
        Err(error) => {
            progress.show_error(&error);
            if let Some(results) = &mut *lock(results) {
                results.add_unplayed(file, &scenario.title, &error);
            }
            false
        }
    }
}

fn set_up_stage(options: &Options) -> Result<ScenarioPlayer, String> {
    let root = std::env::current_dir().unwrap_or_default();
    let client = options.client.clone().or_else(|| ScenarioPlayer::find_client(root));
    let client = client.ok_or(
        "there is no client. To fix: name its program with `--client PATH` or in the variable `REHEARSAL_CLIENT`",
    )?;
    if !client.is_file() {
        return Err(format!("there is no client at `{}`", client.display()));
    }
    let recorder = std::env::current_exe()
        .map_err(|error| format!("cannot find the program `rehearse`, which records hooks: {error}"))?;
    Ok(ScenarioPlayer {
        client,
        variables: options.variables.iter().cloned().collect(),
        recorder,
        keep: options.keep,
    })
}
