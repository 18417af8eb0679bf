//! What `provost demo` plays for a client.

use std::path::{Path, PathBuf};

pub struct ClientDemo {
    /// The variable in which a hook finds the project.
    pub variable: &'static str,
    /// The act of a pack, in a home that contains the project.
    pub find_act: fn(pack: &str, home: &Path, project: &Path) -> Option<DemoAct>,
    /// What an answer means.
    pub parse_answer: fn(stdout: &str) -> DemoAnswer,
}

impl ClientDemo {
    /// Plays nothing.
    pub(crate) const NONE: Self =
        Self { variable: "", find_act: |_, _, _| None, parse_answer: |_| DemoAnswer::Nothing };
}

/// What an agent experiences with one pack, in a project of its own.
pub struct DemoAct {
    pub title: &'static str,
    /// Whether a script plays the reviewer that the project's configuration names.
    pub asks_reviewer: bool,
    /// Files that exist at the start.
    pub files: Vec<(PathBuf, String)>,
    pub scenes: Vec<DemoScene>,
}

pub struct DemoScene {
    pub story: &'static str,
    /// What happens, in words for the user.
    pub attempt: String,
    /// Files that are written before.
    pub files: Vec<(PathBuf, String)>,
    pub action: SceneAction,
}

/// What happens in a scene.
pub enum SceneAction {
    /// The agent calls a tool, or the client reports something else.
    Call(EventSource),
    /// The agent tries to end its turn.
    Stop(EventSource),
    /// The user runs Provost with these arguments.
    Command(&'static [&'static str]),
}

/// Makes an event when its scene is played, because some events contain the text of a file.
pub type EventSource = Box<dyn Fn() -> String>;

/// The meaning of an answer.
pub enum DemoAnswer {
    Nothing,
    Noted(String),
    Denied(String),
}
