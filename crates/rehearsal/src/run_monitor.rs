//! Collects what happens while the client runs.
//!
//! The model and the host report over a channel, and hooks over their log. One thread reads all of it, so that observers are
//! called in order and need no lock.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::hooks::{HookLog, HookRecord};
use crate::model::{Report, Request};
use crate::observer::{Observer, RunEvent};

pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(15);

pub(crate) struct RunMonitor<'a> {
    observer: &'a mut dyn Observer,
    notes: Receiver<Report>,
    log: HookLog,
    run: RunLog,
}

#[derive(Default)]
pub(crate) struct RunLog {
    pub(crate) requests: Vec<Request>,
    pub(crate) asked: Vec<(String, bool)>,
    pub(crate) problems: Vec<String>,
}

impl<'a> RunMonitor<'a> {
    pub(crate) fn new(hook_log: &Path, notes: Receiver<Report>, observer: &'a mut dyn Observer) -> Self {
        Self { observer, notes, log: HookLog::open(hook_log), run: RunLog::default() }
    }

    /// Waits for the client's exit code. `None`: the deadline has passed, or the observer stopped the run.
    pub(crate) fn wait_for_exit(&mut self, client: &mut Client, deadline: Instant) -> Option<i32> {
        loop {
            self.poll();
            if let Some(exit) = client.exit_code() {
                return Some(exit);
            }
            if Instant::now() >= deadline || self.has_seen_enough() {
                return None;
            }
        }
    }

    /// Waits a moment for reports, and records them.
    pub(crate) fn poll(&mut self) {
        match self.notes.recv_timeout(POLL_INTERVAL) {
            Ok(note) => self.record(note),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        self.report_hooks();
    }

    pub(crate) fn has_seen_enough(&self) -> bool {
        self.observer.wants_to_stop()
    }

    /// The requests that have reached the model so far.
    pub(crate) fn requests(&self) -> &[Request] {
        &self.run.requests
    }

    /// How many recorded hooks of an event have ended so far.
    pub(crate) fn ended_hooks(&self, event: &str) -> usize {
        self.log.records().iter().filter(|hook| hook.event == event && hook.end.is_some()).count()
    }

    pub(crate) fn report(&mut self, moment: RunEvent) {
        self.record(Report::Moment(moment));
    }

    /// Everything that was recorded, including the last reports.
    pub(crate) fn finish(mut self) -> (RunLog, Vec<HookRecord>) {
        while let Ok(note) = self.notes.try_recv() {
            self.record(note);
        }
        self.report_hooks();
        (self.run, self.log.records().to_vec())
    }

    fn report_hooks(&mut self) {
        let ended: Vec<HookRecord> = self.log.read_new();
        for hook in ended {
            self.observer.observe(&RunEvent::Hook(Box::new(hook)));
        }
    }

    fn record(&mut self, note: Report) {
        // A hook that ended before a request is reported before it.
        self.report_hooks();
        match note {
            Report::Request(request) => self.run.requests.push(request),
            Report::Problem(problem) => self.run.problems.push(problem),
            Report::Moment(moment) => {
                if let RunEvent::Asked { tool, allowed } = &moment {
                    self.run.asked.push((tool.clone(), *allowed));
                }
                self.observer.observe(&moment);
            }
        }
    }
}
