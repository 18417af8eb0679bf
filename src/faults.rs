//! Faults made on purpose, to rehearse what a guard's failure does to a real client.
//!
//! The switches exist in builds with debug assertions only: in a release build they are not there
//! at all, so that nobody can make a guard fail, or move the managed configuration, from outside.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::decision::Fault;

/// Makes the named guard fail if `PROVOST_FAULT` says `GUARD=panic|error|hang|kill`.
pub fn inject(guard: &'static str) -> Result<(), Fault> {
    if cfg!(debug_assertions) {
        GUARD.set(guard);
    }
    let Some(wish) = switch("PROVOST_FAULT") else { return Ok(()) };
    let wish = wish.to_string_lossy().into_owned();
    match wish.split_once('=') {
        Some((name, how)) if name == guard => match how {
            "panic" => panic!("panic on request"),
            "error" => Err(Fault::Error("error on request".into())),
            "kill" => end(),
            "hang" => loop {
                std::thread::sleep(Duration::from_hours(1));
            },
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Notes that a file is about to be read, in the file that `PROVOST_READS` names. If it is the file that
/// `PROVOST_VANISH` names, somebody deletes it now.
pub fn before_reading(path: &Path) {
    if switch("PROVOST_VANISH").is_some_and(|vanishing| path == vanishing) {
        let _ = std::fs::remove_file(path);
    }
    let Some(list) = switch("PROVOST_READS") else { return };
    note(&list, &path.display().to_string());
}

/// A step that is about to change the disk. A process whose `PROVOST_STOP_AT` is the number of this step
/// ends here as by `kill -9`: nothing is cleaned up. The steps are listed in the file that `PROVOST_STEPS` names,
/// each with the guard that it is done for. In a release build nothing of this is there.
#[inline]
pub fn step(name: &str, path: &Path) {
    if cfg!(debug_assertions) {
        pass(name, path);
    }
}

/// Multiplies a time limit by `PROVOST_PATIENCE`. A debug build on a busy machine takes many times as long as
/// the released program, so tests that are not about a limit raise all of them.
pub fn extend_limit(limit: Duration) -> Duration {
    let factor = switch("PROVOST_PATIENCE").and_then(|factor| factor.to_str()?.parse().ok());
    limit.saturating_mul(factor.unwrap_or(1))
}

/// Whether this process was started to be stopped at a step, or to list its steps.
pub fn counts_steps() -> bool {
    switch("PROVOST_STOP_AT").is_some() || switch("PROVOST_STEPS").is_some()
}

/// Notes what a file is going to hold as a whole, in the same list.
pub fn becomes(path: &Path, bytes: &[u8]) {
    if let Some(list) = switch("PROVOST_STEPS") {
        note(&list, &format!("becomes\t{}\t{:?}", path.display(), String::from_utf8_lossy(bytes)));
    }
}

/// How many steps this process has come to.
static STEPS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The guard that judges in this thread.
    static GUARD: Cell<&'static str> = const { Cell::new("-") };
}

fn pass(name: &str, path: &Path) {
    let number = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
    if let Some(list) = switch("PROVOST_STEPS") {
        note(&list, &format!("step\t{}\t{name}\t{}", GUARD.get(), path.display()));
    }
    let stop = switch("PROVOST_STOP_AT");
    if stop.and_then(|stop| stop.to_str()?.parse().ok()) == Some(number) {
        end();
    }
}

/// Ends this process as `kill -9` does.
fn end() -> ! {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

fn note(list: &OsStr, line: &str) {
    if let Ok(mut list) = File::options().append(true).create(true).open(list) {
        let _ = writeln!(list, "{line}");
    }
}

/// The value of a test-only variable; always `None` in a release build.
pub fn switch(name: &str) -> Option<OsString> {
    if cfg!(debug_assertions) { std::env::var_os(name) } else { None }
}
