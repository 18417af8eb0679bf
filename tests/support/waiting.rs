//! Waits for a condition, or for the end of a process, and measures CPU time.
//!
//! No test compares elapsed time, because everything takes longer on a busy machine. A test of speed compares the CPU time of
//! a process. [`HANG`] only makes a test fail that would never end.

use std::fs;
use std::io::Read;
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Far longer than anything takes on a busy machine.
pub const HANG: Duration = Duration::from_mins(10);

/// Calls `ask` until it returns a value.
#[track_caller]
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + HANG;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < end, "still waiting for {what} after {HANG:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a condition is true.
#[track_caller]
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    wait_for(what, || is_true().then_some(()));
}

/// Whether a process has a handler for SIGTERM, as Linux shows it.
pub fn catches_sigterm(child: &Child) -> bool {
    const SIGTERM: u32 = 1 << 14;
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|set| {
        let low = &set.trim()[set.trim().len().saturating_sub(8)..];
        u32::from_str_radix(low, 16).is_ok_and(|set| set & SIGTERM != 0)
    })
}

/// Whether a process has ended, even if its parent has not collected it yet.
pub fn has_ended(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).map_or(true, |stat| stat.contains(") Z "))
}

/// The minimum CPU time of a command in seconds, out of several runs, because caches may be cold.
pub fn least_cpu_seconds(mut start: impl FnMut() -> Child) -> f64 {
    const RUNS: usize = 21;
    (0..RUNS).map(|_| wait_for_process(start()).expect("it hangs").cpu_seconds).fold(f64::MAX, f64::min)
}

/// The output and the end of a process, and the CPU time of it and of the children that it waited for.
pub struct ProcessResult {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
    pub cpu_seconds: f64,
}

/// Waits for the end of a process. `None`: it hangs, and was killed.
pub fn wait_for_process(mut child: Child) -> Option<ProcessResult> {
    let stdout = read_in_thread(child.stdout.take());
    let stderr = read_in_thread(child.stderr.take());
    let id = child.id();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        let cpu_seconds = cpu_seconds_at_end(&child);
        let status = child.wait().unwrap();
        let _ = send.send(ProcessResult { stdout, stderr, status, cpu_seconds });
    });
    let ended = receive.recv_timeout(HANG).ok();
    if ended.is_none() {
        let _ = std::process::Command::new("kill").args(["-9", &id.to_string()]).status();
    }
    ended
}

fn read_in_thread(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Waits for the end of a process and reads its CPU time before its entry is gone.
#[cfg(target_os = "linux")]
fn cpu_seconds_at_end(child: &Child) -> f64 {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    // Linux always reports CPU time in hundredths of a second.
    const TICKS_PER_SECOND: f64 = 100.0;
    let ended = WaitId::Pid(Pid::from_child(child));
    while waitid(ended.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).is_err() {}
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    // The name of the program, in parentheses, may contain blanks.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(11).take(4).map(|field| field.parse::<u32>().unwrap());
    let whole = f64::from(ticks.sum::<u32>()) / TICKS_PER_SECOND;
    // The time of the first thread, in nanoseconds, is exact for short runs.
    let exact = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap_or_default();
    let exact = exact.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    whole.max(exact.unwrap_or_default() / 1e9)
}

/// Other systems do not report the CPU time of one child, so no limit is checked there.
#[cfg(not(target_os = "linux"))]
fn cpu_seconds_at_end(_: &Child) -> f64 {
    0.0
}
