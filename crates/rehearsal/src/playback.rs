//! What a rehearsal left behind: everything an expectation can be held against.
//!
//! The run's directories live as long as the playback, so that a test may look at files itself.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::hooks::{HookRecord, Recorder};
use crate::model::{Request, new_text};
use crate::scenery::Scenery;
use crate::terminal::{Frame, Stall};
use crate::variables::Variables;

#[derive(Debug)]
pub struct Playback {
    /// The client's exit code; `None` if it had to be ended.
    pub exit: Option<i32>,
    /// Every request to the model, in order of arrival.
    pub requests: Vec<Request>,
    /// Every recorded hook, in order of their start.
    pub hooks: Vec<HookRecord>,
    /// The tools the host was asked about, in order, and whether they were allowed.
    pub asked: Vec<(String, bool)>,
    /// The client's last result.
    pub result: Option<Value>,
    pub stdout: String,
    pub stderr: String,
    pub project: PathBuf,
    pub home: PathBuf,
    pub seconds: f64,
    /// What in the scenario could not be played as written.
    pub problems: Vec<String>,
    /// The screen of a terminal after each step, and at last.
    pub screens: Vec<Frame>,
    /// Everything that the screen has shown.
    pub frames: Vec<Frame>,
    /// Where the user at the terminal waited in vain.
    pub stall: Option<Stall>,
    pub(crate) variables: Variables,
    pub(crate) recorder: Recorder,
    pub(crate) scenery: Scenery,
}

impl Playback {
    /// The text of what is new in request `n` (from 1) of a route: results, reminders, prompts, but
    /// not what the model said itself. Empty if there is no such request.
    pub fn new_in(&self, route: &str, n: usize) -> String {
        let of_route: Vec<&Request> = self.of_route(route).collect();
        let Some(request) = n.checked_sub(1).and_then(|index| of_route.get(index)) else {
            return String::new();
        };
        let before = n.checked_sub(2).and_then(|index| of_route.get(index));
        let text = new_text(&request.body, before.map(|request| &request.body));
        self.recorder.unmask(&text)
    }

    /// The requests that a route answered.
    pub fn of_route<'a>(&'a self, route: &'a str) -> impl Iterator<Item = &'a Request> {
        self.requests.iter().filter(move |request| request.route.as_deref() == Some(route))
    }

    /// The records of an event.
    pub fn hooks_of<'a>(&'a self, event: &'a str) -> impl Iterator<Item = &'a HookRecord> {
        self.hooks.iter().filter(move |hook| hook.event == event)
    }

    /// The first record of an event.
    pub fn hook(&self, event: &str) -> Option<&HookRecord> {
        self.hooks.iter().find(|hook| hook.event == event)
    }

    /// Where the run's directories are, if they stay.
    pub fn kept(&self) -> Option<&Path> {
        self.scenery.is_kept().then_some(self.scenery.root.as_path())
    }
}
