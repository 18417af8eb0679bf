//! The state that the main thread and the watchdog share: how far the main thread is, until when, and who answers.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::hook_call::HookCall;

pub(super) struct Deadline {
    progress: Mutex<CallProgress>,
    /// Wakes the watchdog when the deadline becomes earlier.
    is_earlier: Condvar,
}

/// How far the main thread is.
pub(super) struct CallProgress {
    pub(super) deadline: Instant,
    /// When the watchdog wakes up, once it sleeps.
    wakes_at: Option<Instant>,
    pub(super) is_input_read: bool,
    pub(super) call: Option<&'static HookCall>,
    /// Set once a thread has claimed the answer: the exit code, should the process have to end now.
    pub(super) exit_code: Option<u8>,
}

impl Deadline {
    pub(super) fn new(deadline: Instant) -> Self {
        let progress =
            CallProgress { deadline, wakes_at: None, is_input_read: false, call: None, exit_code: None };
        Self { progress: Mutex::new(progress), is_earlier: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, CallProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn move_to(&self, deadline: Instant) {
        let mut progress = self.lock();
        progress.deadline = deadline;
        // Waking a thread costs more than most guards do.
        if progress.wakes_at.is_some_and(|wakes_at| deadline < wakes_at) {
            self.is_earlier.notify_one();
        }
    }

    /// Sleeps until `time`, or until the deadline becomes earlier than that.
    fn sleep<'p>(
        &self,
        mut progress: MutexGuard<'p, CallProgress>,
        time: Instant,
    ) -> MutexGuard<'p, CallProgress> {
        progress.wakes_at = Some(time);
        let left = time.saturating_duration_since(Instant::now());
        self.is_earlier.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Sleeps until the deadline has passed, even if it moves in the meantime.
    pub(super) fn wait_until_passed(&self) -> MutexGuard<'_, CallProgress> {
        let mut progress = self.lock();
        while progress.deadline > Instant::now() {
            let deadline = progress.deadline;
            progress = self.sleep(progress, deadline);
        }
        progress
    }

    /// Sleeps for `time`, and returns whether there is still neither an answer nor a passed deadline.
    pub(super) fn is_open_after(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut progress = self.lock();
        loop {
            let now = Instant::now();
            if now >= until || now >= progress.deadline {
                return progress.exit_code.is_none() && now < progress.deadline;
            }
            let until = until.min(progress.deadline);
            progress = self.sleep(progress, until);
        }
    }

    /// Claims the answer for the calling thread, and returns whether the other thread has not claimed it before.
    /// `code` is the exit code until the answer is printed, so that a denial stays a denial.
    pub(super) fn claim_answer(&self, code: u8) -> bool {
        let mut progress = self.lock();
        let is_free = progress.exit_code.is_none();
        progress.exit_code.get_or_insert(code);
        is_free
    }

    pub(super) fn exit_code(&self) -> Option<u8> {
        self.lock().exit_code
    }
}
