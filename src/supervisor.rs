//! Runs the command of a rule in a process of its own. If the command is interrupted, nothing that it has started stays.
//!
//! A process that leaves the group of its command (`setsid`) gets no signal of the group. On Linux, such a process
//! becomes a child of this one as soon as its own parent has ended, so this process can find and end it. If the hook is
//! killed, the system tells this process, which then ends the command. After a normal end, only the group ends: a build
//! tool may have left its daemon. Other systems have no such means; there the hook starts the command itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait,
};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code of a program that SIGTERM has ended.
const INTERRUPTED: u8 = 128 + 15;
/// How long processes may take to end after SIGTERM. The hook waits for a second.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long to look for processes that SIGKILL has not ended yet.
const LAST_LOOKS: Duration = Duration::from_millis(300);

/// `provost supervise PARENT LINE`: the exit code is that of the line, or 128 and the number of the signal that ended it.
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(parent), Some(line)) = (arguments.next(), arguments.next()) else { return ExitCode::from(2) };
    let is_asked_to_end = Arc::<AtomicBool>::default();
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        // The signal may come several times: the system sends one for each thread of a hook that is killed.
        let _ = flag::register(signal, Arc::clone(&is_asked_to_end));
    }
    // Without these two, the group of the command still ends with it.
    let _ = set_child_subreaper(Some(getpid()));
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let is_parent = |pid: Pid| parent.to_str() == Some(&*pid.as_raw_nonzero().to_string());
    if !getppid().is_some_and(is_parent) {
        return ExitCode::from(2);
    }
    // It stays in the group of this process, so that the hook can end both.
    let started = Command::new("sh").arg("-c").arg(line).stdin(Stdio::null()).spawn();
    let Ok(command) = started else { return ExitCode::from(127) };
    let code = wait_for_command(command.id(), &is_asked_to_end);
    // A signal for the group may have ended the command first.
    if is_asked_to_end.load(Ordering::SeqCst) {
        end_descendants();
    }
    ExitCode::from(code.unwrap_or(INTERRUPTED))
}

/// The exit code of the command; `None` if this process was asked to end before.
fn wait_for_command(command: u32, is_asked_to_end: &AtomicBool) -> Option<u8> {
    const SHORT: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_millis(5);
    let start = Instant::now();
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if u32::try_from(pid.as_raw_nonzero().get()) == Ok(command) {
                let by_signal = || status.terminating_signal().map(|signal| 128 + signal);
                let code = status.exit_status().or_else(by_signal).unwrap_or(1);
                return Some(u8::try_from(code).unwrap_or(1));
            }
        }
        if is_asked_to_end.load(Ordering::SeqCst) {
            return None;
        }
        thread::sleep(if start.elapsed() < Duration::from_millis(100) { SHORT } else { LONG });
    }
}

/// Ends all processes below this one.
fn end_descendants() {
    signal_descendants(Signal::TERM);
    wait_while_children(FAREWELL);
    let end = Instant::now() + LAST_LOOKS;
    // Killing a process makes its children ours.
    while has_children() && Instant::now() < end {
        signal_descendants(Signal::KILL);
        wait_while_children(Duration::from_millis(10));
    }
}

fn wait_while_children(limit: Duration) {
    let end = Instant::now() + limit;
    while has_children() && Instant::now() < end {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a child is still running. Those that have ended are reaped.
fn has_children() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn signal_descendants(signal: Signal) {
    for pid in list_descendants() {
        let _ = kill_process(pid, signal);
    }
}

/// The processes below this one, by the parents that `/proc` names.
fn list_descendants() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: BTreeMap<i32, i32> = entries
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            // `PID (NAME) STATE PARENT …`; the name may hold anything.
            let stat = fs::read(entry.path().join("stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            let parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?;
            Some((pid, parent.parse().ok()?))
        })
        .collect();
    let mut found = BTreeSet::from([getpid().as_raw_nonzero().get()]);
    loop {
        let before = found.len();
        found.extend(
            parents
                .iter()
                .filter(|(_, parent)| found.contains(parent))
                .map(|(pid, _)| *pid)
                .collect::<Vec<_>>(),
        );
        if found.len() == before {
            break;
        }
    }
    found.remove(&getpid().as_raw_nonzero().get());
    found.into_iter().filter_map(Pid::from_raw).collect()
}
