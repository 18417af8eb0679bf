//! The CPU time of a piece of work, for tests of a bound: a busy machine does not lengthen it.

use std::time::Duration;

/// Runs `work` and returns its result with the CPU time that this thread spent on it.
#[cfg(unix)]
pub fn cpu_time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    use rustix::time::{ClockId, clock_gettime};
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let began = now();
    let result = work();
    (result, now().saturating_sub(began))
}

/// Other systems have no thread clock, so their bounds are not checked.
#[cfg(not(unix))]
pub fn cpu_time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    (work(), Duration::ZERO)
}
