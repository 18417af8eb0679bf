//! What `provost doctor` needs to know about a client in order to try its hooks.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{HookSource, RegisteredHook, SettingsScope};
use provost_core::places::Places;

/// How a client starts hooks and reads their answers.
pub struct Health {
    /// The first version that can start hooks as Provost registers them.
    pub oldest_version: [u32; 3],
    /// The version in the client's output of `--version`.
    pub parse_version: fn(stdout: &str) -> Option<[u32; 3]>,
    /// Events to try a hook with, in a temporary project and home.
    pub list_samples: fn(&RegisteredHook, project: &Path, home: &Path) -> Vec<SampleEvent>,
    /// The command with which the client starts a hook.
    pub build_command: fn(&RegisteredHook, &SettingsScope, project: &Path, &Places) -> Command,
    /// The variables that settings files set for hooks, the ones with the highest precedence last.
    pub list_variables: fn(&[HookSource]) -> Vec<(String, String)>,
    /// How the client reads an answer.
    pub parse_answer: fn(event: &str, code: Option<i32>, stdout: &str, stderr: &str) -> HookReply,
    /// Whether the client runs a hook for a tool; `None` if that is unknown.
    pub matches_tool: fn(&RegisteredHook, tool: &str) -> Option<bool>,
    /// The tools whose calls a pack's guards judge at an event. The second list has tools that agents rarely use to get
    /// around a guard.
    pub list_judged_tools: fn(event: &str, pack: &str) -> (ToolNames, ToolNames),
    /// The time limit of a hook that has none of its own.
    pub default_timeout: fn(event: &str) -> f64,
    /// Whether the client knows the event.
    pub is_event: fn(event: &str) -> bool,
    /// The event of a prompt, with which the user overrides a guard.
    pub prompt_event: &'static str,
    /// The key of an entry that makes the client block the call if the hook cannot be run.
    pub block_on_failure: &'static str,
    /// The first version that knows this key. Older ones ignore it.
    pub blocks_since: [u32; 3],
    /// Why a hook cannot block everything that it should, and how to fix that.
    pub find_weakness: fn(&RegisteredHook) -> Option<(&'static str, &'static str)>,
    /// What in a settings file, or in the environment, changes what Provost does.
    pub find_steering: fn(&HookSource) -> Vec<SteeringValue>,
    pub find_steering_variables: fn() -> Vec<SteeringValue>,
    /// The program of Provost that a hook runs; `None` if that is unknown.
    pub find_program: fn(&RegisteredHook, &SettingsScope, project: &Path, &Places) -> Option<HookProgram>,
    /// The files that would define an agent of this name.
    pub list_agent_files: fn(name: &str, project: &Path, &Places) -> Vec<PathBuf>,
}

impl Health {
    /// Any version and any event will do, and nothing can be tried.
    pub(crate) const NONE: Self = Self {
        oldest_version: [0; 3],
        parse_version: |_| None,
        list_samples: |_, _, _| Vec::new(),
        build_command: |hook, _, _, _| Command::new(&hook.command),
        list_variables: |_| Vec::new(),
        parse_answer: |_, _, _, _| HookReply::default(),
        matches_tool: |_, _| None,
        list_judged_tools: |_, _| (&[], &[]),
        default_timeout: |_| f64::INFINITY,
        is_event: |_| true,
        prompt_event: "",
        block_on_failure: "",
        blocks_since: [0; 3],
        find_weakness: |_| None,
        find_steering: |_| Vec::new(),
        find_steering_variables: Vec::new,
        find_program: |_, _, _, _| None,
        list_agent_files: |_, _, _| Vec::new(),
    };
}

/// The names of tools.
pub type ToolNames = &'static [&'static str];

/// An event to try a hook with.
pub struct SampleEvent {
    /// Its name in reports.
    pub name: &'static str,
    pub event: String,
    /// The guard that must deny it; `None` if all must allow it.
    pub denied_by: Option<&'static str>,
    /// Whether a message to the user is expected.
    pub may_have_message: bool,
}

/// What a hook's output and exit code mean to the client.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookReply {
    pub denied: Option<String>,
    pub asks: bool,
    pub allows: bool,
    pub rewrites: bool,
    pub message: Option<String>,
    /// Why the client ignores the answer.
    pub ignored_because: Option<String>,
    /// The hook ended with an exit code that the client treats as a failure.
    pub failed: Option<i32>,
}

/// Something that changes what Provost does.
pub struct SteeringValue {
    pub name: String,
    /// It silences every hook.
    pub silences: bool,
}

/// The program that a hook runs.
pub enum HookProgram {
    Found(PathBuf),
    Missing(String),
}
