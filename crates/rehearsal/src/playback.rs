//! The record of a run, which expectations are checked against.
//!
//! The run's directories exist as long as the playback, so that a test can read files itself.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::hooks::{HookRecord, Recorder};
use crate::model::{Request, new_text};
use crate::run_directory::RunDirectory;
use crate::terminal::{Frame, Stall};
use crate::variables::Variables;

#[derive(Debug)]
pub struct Playback {
    /// The client's exit code; `None` if it had to be ended.
    pub exit: Option<i32>,
    /// Every request to the model, in order of arrival.
    pub requests: Vec<Request>,
    /// Every recorded hook, in the order of their starts.
    pub hooks: Vec<HookRecord>,
    /// The tools that the host was asked about, in order, and whether it allowed them.
    pub asked: Vec<(String, bool)>,
    /// The client's last result.
    pub result: Option<Value>,
    pub stdout: String,
    pub stderr: String,
    pub project: PathBuf,
    pub home: PathBuf,
    /// The client's complete environment.
    pub environment: Vec<(String, String)>,
    pub seconds: f64,
    /// Parts of the scenario that could not be played as written.
    pub problems: Vec<String>,
    /// The screen after each step of the user, and at the end.
    pub screens: Vec<Frame>,
    /// Every screen that was shown.
    pub frames: Vec<Frame>,
    /// The wait of the user that did not end.
    pub stall: Option<Stall>,
    pub(crate) variables: Variables,
    pub(crate) recorder: Recorder,
    pub(crate) directory: RunDirectory,
}

impl Playback {
    /// The new text in request `n` (from 1) of a route: results, reminders and prompts, without the model's own messages.
    /// Empty if there is no such request.
    pub fn new_text_in_request(&self, route: &str, n: usize) -> String {
        let requests: Vec<&Request> = self.requests_of_route(route).collect();
        let Some(request) = n.checked_sub(1).and_then(|index| requests.get(index)) else {
            return String::new();
        };
        let before = n.checked_sub(2).and_then(|index| requests.get(index));
        let text = new_text(&request.body, before.map(|request| &request.body));
        self.recorder.unmask(&text)
    }

    /// The requests that a route answered.
    pub fn requests_of_route<'a>(&'a self, route: &'a str) -> impl Iterator<Item = &'a Request> {
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

    /// The run's directory, if it is kept.
    pub fn kept_directory(&self) -> Option<&Path> {
        self.directory.is_kept().then_some(self.directory.root.as_path())
    }
}
