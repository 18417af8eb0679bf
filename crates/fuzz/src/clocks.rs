//! What a run has used: processor time, so that a busy machine shortens no run and slows no input, and memory.

use std::time::Duration;

/// The processor time of this process.
pub fn of_process() -> Duration {
    used(Clock::Process)
}

/// The processor time of this thread.
pub fn of_thread() -> Duration {
    used(Clock::Thread)
}

#[derive(Clone, Copy)]
enum Clock {
    Process,
    Thread,
}

#[cfg(unix)]
fn used(clock: Clock) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let id = match clock {
        Clock::Process => ClockId::ProcessCPUTime,
        Clock::Thread => ClockId::ThreadCPUTime,
    };
    Duration::try_from(clock_gettime(id)).unwrap_or_default()
}

/// Elsewhere, the time that passes has to do.
#[cfg(not(unix))]
fn used(_: Clock) -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed()
}

/// How much memory this process holds, in bytes; `None`: the system does not tell.
pub fn memory() -> Option<u64> {
    const PAGE: u64 = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE)
}
