//! What `provost doctor` has to know of a client to try its hooks.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Hook, Scope, Source};
use crate::workspace::Places;

/// How a client starts hooks, and what it makes of their answers.
pub struct Health {
    /// The first version that starts hooks as Provost registers them.
    pub oldest: [u32; 3],
    /// The version in what the client prints when it is asked for it.
    pub version: fn(stdout: &str) -> Option<[u32; 3]>,
    /// Events that a hook would be given, in a project and a home of nobody.
    pub samples: fn(&Hook, project: &Path, home: &Path) -> Vec<Sample>,
    /// How the client starts a hook.
    pub command: fn(&Hook, &Scope, project: &Path, &Places) -> Command,
    /// The variables that settings files set for hooks, the strongest last.
    pub variables: fn(&[Source]) -> Vec<(String, String)>,
    /// What the client makes of an answer.
    pub heard: fn(event: &str, code: Option<i32>, stdout: &str, stderr: &str) -> Heard,
    /// Whether a hook is run for a tool; `None`: that cannot be told.
    pub lets_through: fn(&Hook, tool: &str) -> Option<bool>,
    /// The tools that an event must be reported for, so that a pack's guards see all that they judge. The
    /// second list is for what agents seldom use to get around them.
    pub tools: fn(event: &str, pack: &str) -> (Tools, Tools),
    /// What the client allows a hook without a limit of its own.
    pub seconds: fn(event: &str) -> f64,
    /// Whether the client knows the event.
    pub knows: fn(event: &str) -> bool,
    /// The event of a prompt, by which a person lets a guard of any pack pass.
    pub prompt: &'static str,
    /// The key of an entry with which the client holds the call where the hook cannot be run.
    pub block_on_failure: &'static str,
    /// The first version that knows this key; an older one steps over it.
    pub blocks_since: [u32; 3],
    /// What keeps a hook from holding back all that it should, and how to mend it.
    pub weakness: fn(&Hook) -> Option<(&'static str, &'static str)>,
    /// What in a settings file or in the environment changes what Provost does.
    pub steering: fn(&Source) -> Vec<Steering>,
    pub steering_here: fn() -> Vec<Steering>,
    /// The program of Provost that a hook runs, as far as it can be told.
    pub program: fn(&Hook, &Scope, project: &Path, &Places) -> Option<Program>,
    /// Where a person's agents of this name would be described.
    pub agent_files: fn(name: &str, project: &Path, &Places) -> Vec<PathBuf>,
}

/// The names of tools.
pub type Tools = &'static [&'static str];

/// An event to try a hook with.
pub struct Sample {
    /// What a person would call it.
    pub name: &'static str,
    pub event: String,
    /// The guard that must deny it; `None`: all must let it go on.
    pub denied_by: Option<&'static str>,
    /// Whether a remark to the person is in order.
    pub may_remark: bool,
}

/// What the client makes of what a hook printed and how it ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    pub denied: Option<String>,
    pub asks: bool,
    pub allows: bool,
    pub rewrites: bool,
    pub remark: Option<String>,
    /// Why nothing of it counts.
    pub unreadable: Option<String>,
    /// It ended with a code that means nothing to the client.
    pub failed: Option<i32>,
}

/// Something that changes what Provost does.
pub struct Steering {
    pub name: String,
    /// No hook says anything because of it.
    pub silences: bool,
}

/// The program that a hook runs.
pub enum Program {
    Found(PathBuf),
    Missing(String),
}
