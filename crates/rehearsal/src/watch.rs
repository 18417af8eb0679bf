//! Sees and remembers what happens while the client runs.
//!
//! The model and the host report over a channel, hooks over their log. Everything is read in one thread, so an observer is told in
//! order and needs no lock.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::hooks::{HookLog, HookRecord};
use crate::model::{Note, Request};
use crate::observer::{Moment, Observer};

pub(crate) const GLANCE: Duration = Duration::from_millis(15);

pub(crate) struct Watch<'a> {
    observer: &'a mut dyn Observer,
    notes: Receiver<Note>,
    log: HookLog,
    seen: Seen,
}

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: Vec<Request>,
    pub(crate) asked: Vec<(String, bool)>,
    pub(crate) problems: Vec<String>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(hook_log: &Path, notes: Receiver<Note>, observer: &'a mut dyn Observer) -> Self {
        Self { observer, notes, log: HookLog::open(hook_log), seen: Seen::default() }
    }

    /// The client's exit code, or `None` at the deadline or when the observer has seen enough.
    pub(crate) fn until_end(&mut self, client: &mut Client, deadline: Instant) -> Option<i32> {
        loop {
            self.glance();
            if let Some(exit) = client.ended() {
                return Some(exit);
            }
            if Instant::now() >= deadline || self.has_seen_enough() {
                return None;
            }
        }
    }

    /// Waits a moment for news, and takes them in.
    pub(crate) fn glance(&mut self) {
        match self.notes.recv_timeout(GLANCE) {
            Ok(note) => self.take(note),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        self.read_hooks();
    }

    pub(crate) fn has_seen_enough(&self) -> bool {
        self.observer.has_seen_enough()
    }

    /// The requests that have reached the model so far.
    pub(crate) fn requests(&self) -> &[Request] {
        &self.seen.requests
    }

    /// How many recorded hooks of an event have ended so far.
    pub(crate) fn ended_hooks(&self, event: &str) -> usize {
        self.log.records().iter().filter(|hook| hook.event == event && hook.end.is_some()).count()
    }

    pub(crate) fn tell(&mut self, moment: Moment) {
        self.take(Note::Moment(moment));
    }

    /// Everything that was seen, after the last news were taken in.
    pub(crate) fn finish(mut self) -> (Seen, Vec<HookRecord>) {
        while let Ok(note) = self.notes.try_recv() {
            self.take(note);
        }
        self.read_hooks();
        (self.seen, self.log.records().to_vec())
    }

    fn read_hooks(&mut self) {
        let ended: Vec<HookRecord> = self.log.read_on();
        for hook in ended {
            self.observer.see(&Moment::Hook(Box::new(hook)));
        }
    }

    fn take(&mut self, note: Note) {
        // A hook that ended before the model was asked again is told before it.
        self.read_hooks();
        match note {
            Note::Request(request) => self.seen.requests.push(request),
            Note::Problem(problem) => self.seen.problems.push(problem),
            Note::Moment(moment) => {
                if let Moment::Asked { tool, allowed } = &moment {
                    self.seen.asked.push((tool.clone(), *allowed));
                }
                self.observer.see(&moment);
            }
        }
    }
}
