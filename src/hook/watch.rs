//! What the main thread and the watchdog share: how far it has come, until when, who answers.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::case::Case;
use crate::decision::Finding;

pub(super) struct Watch {
    progress: Mutex<Progress>,
    /// Wakes the watchdog when the deadline comes nearer.
    nearer: Condvar,
}

/// How far the main thread has come.
pub(super) struct Progress {
    pub(super) deadline: Instant,
    /// Until when the watchdog sleeps, once it does.
    wakes_at: Option<Instant>,
    /// The input has been read to its end.
    pub(super) read: bool,
    pub(super) case: Option<&'static Case>,
    pub(super) findings: Vec<Finding>,
    /// Once a thread has taken it upon itself to answer: the exit code, should the process have
    /// to end now.
    answered: Option<u8>,
}

impl Watch {
    pub(super) fn until(deadline: Instant) -> Self {
        let progress = Progress {
            deadline,
            wakes_at: None,
            read: false,
            case: None,
            findings: Vec::new(),
            answered: None,
        };
        Self { progress: Mutex::new(progress), nearer: Condvar::new() }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn move_deadline(&self, deadline: Instant) {
        let mut progress = self.progress();
        progress.deadline = deadline;
        // Waking a thread costs more than most guards do.
        if progress.wakes_at.is_some_and(|wakes_at| deadline < wakes_at) {
            self.nearer.notify_one();
        }
    }

    /// Lets the watchdog sleep until then, or until the deadline comes nearer than that.
    fn sleep<'w>(&self, mut progress: MutexGuard<'w, Progress>, until: Instant) -> MutexGuard<'w, Progress> {
        progress.wakes_at = Some(until);
        let left = until.saturating_duration_since(Instant::now());
        self.nearer.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Sleeps until the deadline has passed, wherever it moves in the meantime.
    pub(super) fn wait_for_deadline(&self) -> MutexGuard<'_, Progress> {
        let mut progress = self.progress();
        loop {
            let deadline = progress.deadline;
            if deadline <= Instant::now() {
                return progress;
            }
            progress = self.sleep(progress, deadline);
        }
    }

    /// Waits so long, and tells whether the answer and the deadline are still to come.
    pub(super) fn is_open_after(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut progress = self.progress();
        loop {
            let now = Instant::now();
            if now >= until || now >= progress.deadline {
                return progress.answered.is_none() && now < progress.deadline;
            }
            let until = until.min(progress.deadline);
            progress = self.sleep(progress, until);
        }
    }

    /// Takes the answer upon the calling thread; `false` if the other one has it already. Until it
    /// is printed, a denial is one by its exit code.
    pub(super) fn claim(&self, code: u8) -> bool {
        let mut progress = self.progress();
        let free = progress.answered.is_none();
        if free {
            progress.answered = Some(code);
        }
        free
    }

    pub(super) fn answered(&self) -> Option<u8> {
        self.progress().answered
    }

    pub(super) fn printed(&self, code: u8) {
        self.progress().answered = Some(code);
    }
}

impl Progress {
    pub(super) fn answered(&self) -> Option<u8> {
        self.answered
    }
}
