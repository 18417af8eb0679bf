//! Faults on purpose, to test what a guard's failure does to a real client.
//!
//! The switches exist in builds with debug assertions only, so that no one can make a guard of a release build fail, or
//! move its managed configuration.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Makes the named guard fail if `PROVOST_FAULT` says `GUARD=panic|error|hang|kill`.
pub fn inject_fault(guard: &'static str) -> Result<(), String> {
    if cfg!(debug_assertions) {
        GUARD.set(guard);
    }
    let Some(fault) = switch("PROVOST_FAULT") else { return Ok(()) };
    match fault.to_string_lossy().split_once('=') {
        Some((name, how)) if name == guard => match how {
            "panic" => panic!("panic on request"),
            "error" => Err("error on request".into()),
            "kill" => kill_self(),
            "hang" => loop {
                std::thread::sleep(Duration::from_hours(1));
            },
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Notes in the file that `PROVOST_READS` names that `path` is about to be read. Deletes `path` first if `PROVOST_VANISH`
/// names it.
pub fn before_reading(path: &Path) {
    if switch("PROVOST_VANISH").is_some_and(|vanishing| path == vanishing) {
        let _ = std::fs::remove_file(path);
    }
    let Some(list) = switch("PROVOST_READS") else { return };
    append_line(&list, &path.display().to_string());
}

/// Announces a step that changes the disk. If `PROVOST_STOP_AT` is the number of this step, the process ends here like
/// with `kill -9`. The file that `PROVOST_STEPS` names lists all steps with their guards. Does nothing in a release build.
#[inline]
pub fn announce_step(name: &str, path: &Path) {
    if cfg!(debug_assertions) {
        count_step(name, path);
    }
}

/// Multiplies a time limit by `PROVOST_PATIENCE`. A debug build on a busy machine is many times slower than a release
/// build, so tests that are not about limits raise them.
pub fn extend_limit(limit: Duration) -> Duration {
    let factor = switch("PROVOST_PATIENCE").and_then(|factor| factor.to_str()?.parse().ok());
    limit.saturating_mul(factor.unwrap_or(1))
}

/// Whether a test stops this process at a step or lists its steps.
pub fn is_counting_steps() -> bool {
    switch("PROVOST_STOP_AT").is_some() || switch("PROVOST_STEPS").is_some()
}

/// Notes the new content of a file in the list of steps.
pub fn note_content(path: &Path, bytes: &[u8]) {
    if let Some(list) = switch("PROVOST_STEPS") {
        append_line(&list, &format!("becomes\t{}\t{:?}", path.display(), String::from_utf8_lossy(bytes)));
    }
}

/// The number of steps so far.
static STEPS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The guard that judges in this thread.
    static GUARD: Cell<&'static str> = const { Cell::new("-") };
}

fn count_step(name: &str, path: &Path) {
    let number = STEPS.fetch_add(1, Ordering::SeqCst) + 1;
    if let Some(list) = switch("PROVOST_STEPS") {
        append_line(&list, &format!("step\t{}\t{name}\t{}", GUARD.get(), path.display()));
    }
    let stop = switch("PROVOST_STOP_AT");
    if stop.and_then(|stop| stop.to_str()?.parse().ok()) == Some(number) {
        kill_self();
    }
}

/// Ends this process like `kill -9`.
fn kill_self() -> ! {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

fn append_line(list: &OsStr, line: &str) {
    if let Ok(mut list) = File::options().append(true).create(true).open(list) {
        let _ = writeln!(list, "{line}");
    }
}

/// The value of a test-only variable; always `None` in a release build.
pub fn switch(name: &str) -> Option<OsString> {
    if cfg!(debug_assertions) { std::env::var_os(name) } else { None }
}
