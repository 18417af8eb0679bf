//! Ticks need work, and an end needs the ticks: in the five spec-driven workflows, through every channel.

mod channels;
mod finish;
mod systems;
mod ticks;

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::crash::scene::Scene;
use crate::support::{Answer, TestProject};
use systems::System;

/// A session in a project of one of the workflows.
struct WorkflowSession {
    project: TestProject,
    id: &'static str,
    calls: Cell<u32>,
}

impl WorkflowSession {
    /// A project that one workflow is used in.
    fn new(system: &System) -> Self {
        Self::with_settings(system, "")
    }

    /// `settings`: further lines of `[workflow]`.
    fn with_settings(system: &System, settings: &str) -> Self {
        let project = TestProject::new();
        // Another guard asks for approvals.
        let config = format!(
            "[guards]\nworkflow-gate = \"off\"\n\n[workflow]\nuse = [\"{}\"]\n{settings}\n",
            system.name
        );
        project.write_file("provost.toml", &config);
        for (name, text) in system.files {
            project.write_file(name, text);
        }
        project.write_file("src/a.rs", "fn a() {}\n");
        Self { project, id: "session-1", calls: Cell::new(0) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.path.join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The event before a call, with an id of its own.
    fn before(&self, mut event: Value) -> Value {
        self.calls.set(self.calls.get() + 1);
        event["session_id"] = self.id.into();
        event["tool_use_id"] = format!("toolu_{}_{}", self.id, self.calls.get()).into();
        event
    }

    /// The event after a call.
    fn after(&self, before: &Value, has_succeeded: bool) -> Value {
        let tool = before["tool_name"].as_str().unwrap();
        let mut event = match (tool, has_succeeded) {
            ("Bash", true) => self.project.recorded_event("PostToolUse.Bash"),
            (_, false) => self.project.recorded_event("PostToolUseFailure.Bash"),
            ("Write", _) => self.project.recorded_event("PostToolUse.Write"),
            _ => self.project.recorded_event("PostToolUse.Edit"),
        };
        for field in ["session_id", "tool_name", "tool_input", "tool_use_id", "agent_id", "agent_type"] {
            event[field] = before[field].clone();
        }
        for field in ["agent_id", "agent_type"] {
            if event[field].is_null() {
                event.as_object_mut().unwrap().remove(field);
            }
        }
        event
    }

    fn ask(&self, event: Value) -> Answer {
        self.project.hook(&self.before(event))
    }

    /// Does a call: what the client reports before and after it. The call must be allowed.
    #[track_caller]
    fn run(&self, event: Value, has_succeeded: bool) {
        let before = self.before(event);
        let answer = self.project.hook(&before);
        assert!(answer.is_silent(), "{before}: {answer:?}");
        let answer = self.project.hook(&self.after(&before, has_succeeded));
        assert!(answer.is_silent(), "{before}: {answer:?}");
    }

    /// Writes a file with the client's own tool, also on the disk.
    #[track_caller]
    fn write(&self, name: &str, text: &str) {
        self.run(self.project.write(self.path(name), text), true);
        self.project.write_file(name, text);
    }

    /// Reports a change of a file outside of the planning.
    fn work(&self) {
        let before = self.before(self.project.write(self.path("src/a.rs"), "fn b() {}\n"));
        let answer = self.project.hook(&self.after(&before, true));
        assert!(answer.is_silent(), "{answer:?}");
    }

    fn prompt(&self, text: &str) {
        let mut event = self.project.recorded_event("UserPromptSubmit");
        event["session_id"] = self.id.into();
        event["prompt"] = text.into();
        self.project.hook(&event);
    }

    /// The edit that ticks a task of the system.
    fn tick(&self, system: &System, task: usize) -> Value {
        let (open, done) = system.ticks[task];
        self.project.edit(self.path(system.tasks), open, done)
    }

    #[track_caller]
    #[allow(clippy::needless_pass_by_value)] // Each event is made for this call.
    fn assert_denied(&self, event: Value, words: &str) {
        let answer = self.ask(event.clone());
        let reason = answer.find_denial().unwrap_or_else(|why| panic!("{why}: {event} {answer:?}"));
        assert!(reason.contains(words), "{words:?}: {reason}");
    }

    #[track_caller]
    #[allow(clippy::needless_pass_by_value)] // Each event is made for this call.
    fn assert_allowed(&self, event: Value) {
        let answer = self.ask(event.clone());
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
}

/// For the crash tests: a call has changed a file, which is recorded as work.
#[cfg(target_os = "linux")]
pub fn change_recorded() -> Scene {
    let session = WorkflowSession::new(&systems::OPENSPEC);
    let before = session.before(session.project.write(session.path("src/a.rs"), "fn b() {}\n"));
    let event = session.after(&before, true);
    Scene::event(session.project, &event)
}

/// For the crash tests: a task is about to be ticked after work.
#[cfg(target_os = "linux")]
pub fn task_ticked() -> Scene {
    let session = WorkflowSession::new(&systems::OPENSPEC);
    session.work();
    let event = session.before(session.tick(&systems::OPENSPEC, 0));
    Scene::event(session.project, &event)
}

/// For the tests of failures: a call that `workflow-ticks` denies, and one that `workflow-finish` denies.
pub fn denied_calls() -> [(TestProject, Value, PathBuf); 2] {
    let make = |event: fn(&WorkflowSession) -> Value| {
        let session = WorkflowSession::new(&systems::OPENSPEC);
        let event = event(&session);
        let tasks = session.path(systems::OPENSPEC.tasks);
        (session.project, event, tasks)
    };
    [
        make(|session| session.tick(&systems::OPENSPEC, 0)),
        make(|session| session.project.bash("openspec archive add-login --yes")),
    ]
}

/// A call of a tool of an MCP server.
fn call_server(session: &WorkflowSession, tool: &str, input: Value) -> Value {
    session.project.call(tool, input)
}

/// The call with which Task Master's server sets a status.
fn set_status(session: &WorkflowSession, id: &str, status: &str) -> Value {
    let root = session.project.path.to_str().unwrap().to_owned();
    let input = json!({"id": id, "status": status, "projectRoot": root});
    call_server(session, "mcp__task-master-ai__set_task_status", input)
}

/// Fails with all lines whose answer is not the wanted one.
#[track_caller]
fn check_lines(session: &WorkflowSession, lines: &[String], is_denied: bool) {
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let answer = session.ask(session.project.bash(line));
            let is_right = if is_denied { answer.find_denial().is_ok() } else { answer.is_silent() };
            (!is_right).then(|| format!("\n  {line}\n    {} {}", answer.stdout, answer.stderr))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

fn list_lines(system: &System, lines: &[&str]) -> Vec<String> {
    let planning = system.tasks.split('/').next().unwrap();
    lines.iter().map(|line| line.replace("TASKS", system.tasks).replace("PLANNING", planning)).collect()
}
