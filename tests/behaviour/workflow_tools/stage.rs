//! A project whose planning files a workflow tool has written, and a session in it.
//!
//! `tests/workflow-fixtures` has the files. The session is told as the client tells it: an event before each call, and
//! another one after a call that was made.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::tools::{Change, Tool};
use crate::phases::branch_guard::git_in;
use crate::support::{Answer, TestProject};

/// The file that stands for all work.
pub(super) const WORK: &str = "src/greet.js";

pub(super) struct ToolProject {
    pub(super) project: TestProject,
    pub(super) tool: &'static Tool,
    session: Cell<&'static str>,
    calls: Cell<u32>,
}

impl ToolProject {
    /// One instance with every artefact and two open tasks, which nobody has approved.
    pub(super) fn planned(tool: &'static Tool) -> Self {
        Self::with_fixture(tool, "planned")
    }

    /// A planned instance that the user has approved.
    pub(super) fn approved(tool: &'static Tool) -> Self {
        let flow = Self::planned(tool);
        flow.approve(tool.instance);
        flow
    }

    /// The files of one state of the tool's fixtures.
    pub(super) fn with_fixture(tool: &'static Tool, state: &str) -> Self {
        let flow = Self::without_files(tool);
        flow.add_fixture(state, "");
        flow
    }

    /// Only the settings that name the tool.
    pub(super) fn without_files(tool: &'static Tool) -> Self {
        let project = TestProject::new();
        fs::remove_dir(project.path.join(".git")).unwrap();
        crate::phases::branch_guard::create_repository(&project.path, "main");
        let flow = Self { project, tool, session: Cell::new("session-1"), calls: Cell::new(0) };
        flow.set_up("");
        flow.put(WORK, "console.log('hello')\n");
        flow
    }

    /// Writes the settings: the tool, and more keys of `[workflow]`.
    pub(super) fn set_up(&self, more: &str) -> &Self {
        self.put("provost.toml", &format!("[workflow]\nuse = [\"{}\"]\n{more}\n", self.tool.name));
        self
    }

    /// Copies a state of the fixtures into a directory of the project.
    pub(super) fn add_fixture(&self, state: &str, directory: &str) -> &Self {
        let from = fixtures().join(self.tool.name).join(state);
        copy(&from, &self.project.path.join(directory));
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.project.path.join(name)
    }

    /// Writes a file without telling anybody, as the user's editor does.
    pub(super) fn put(&self, name: &str, text: &str) -> &Self {
        self.project.write_file(name, text);
        self
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Changes a file without telling anybody.
    #[track_caller]
    pub(super) fn set(&self, change: Change) -> &Self {
        let (file, old, new) = change;
        let text = self.read(file);
        assert!(text.contains(old), "{file} does not contain {old:?}:\n{text}");
        self.put(file, &text.replacen(old, new, 1))
    }

    pub(super) fn remove(&self, name: &str) -> &Self {
        let path = self.path(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        self
    }

    pub(super) fn commit_all(&self) {
        git_in(&self.project.path, &["add", "-A"]);
        git_in(&self.project.path, &["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]);
    }

    /// All later events belong to another session.
    pub(super) fn start_session(&self, name: &'static str) -> &Self {
        self.session.set(name);
        self
    }

    /// An event of this session, with an id of its own if it is about a call.
    pub(super) fn in_session(&self, mut event: Value) -> Value {
        event["session_id"] = self.session.get().into();
        if event.get("tool_use_id").is_some() {
            self.calls.set(self.calls.get() + 1);
            event["tool_use_id"] = format!("toolu_{}_{}", self.session.get(), self.calls.get()).into();
        }
        event
    }

    pub(super) fn prompt_event(&self, text: &str) -> Value {
        let mut event = self.in_session(self.project.recorded_event("UserPromptSubmit"));
        event["prompt"] = text.into();
        event
    }

    pub(super) fn prompt(&self, text: &str) -> Answer {
        self.project.hook(&self.prompt_event(text))
    }

    /// The user approves an instance, and Provost says so.
    #[track_caller]
    pub(super) fn approve(&self, instance: &str) -> &Self {
        let note = self.prompt(&format!("provost approve {instance}")).expect_note();
        assert!(note.contains(instance) && !note.contains("not approved"), "{note}");
        self
    }

    /// The event before the user's slash command, as the client tells it: first the text, then its expansion.
    pub(super) fn type_command(&self, name: &str, arguments: &str) -> &Self {
        let line = format!("/{name} {arguments}");
        self.prompt(line.trim_end());
        let mut event = self.in_session(self.project.recorded_event("UserPromptExpansion"));
        event["command_name"] = name.into();
        event["command_args"] = arguments.into();
        event["command_source"] = "project".into();
        event["prompt"] = line.trim_end().into();
        self.project.hook(&event);
        self
    }

    /// A call in this session.
    pub(super) fn call(&self, event: Value) -> Answer {
        self.project.hook(&self.in_session(event))
    }

    pub(super) fn bash(&self, line: &str) -> Answer {
        self.call(self.project.bash(line))
    }

    /// The answer to an edit of a file, which is not made.
    pub(super) fn edit(&self, (file, old, new): Change) -> Answer {
        self.call(self.project.edit(self.path(file), old, new))
    }

    /// The answer to work, which is not done.
    pub(super) fn work(&self) -> Answer {
        self.call(self.project.write(self.path(WORK), "console.log('hello, world')\n"))
    }

    /// Work is denied, and the denial says what the user types.
    #[track_caller]
    pub(super) fn assert_held(&self) -> String {
        self.work().expect_denial()
    }

    #[track_caller]
    pub(super) fn assert_free(&self) {
        let answer = self.work();
        assert!(answer.is_silent(), "work is not free: {}", self.project.whole(&answer));
    }

    /// Writes a file by the client's tool: judged, done and reported.
    #[track_caller]
    pub(super) fn write(&self, file: &str, text: &str) -> &Self {
        let path = self.path(file);
        let before = self.in_session(self.project.write(&path, text));
        let answer = self.project.hook(&before);
        assert!(answer.find_denial().is_err(), "{file}: {}", self.project.whole(&answer));
        self.put(file, text);
        let mut after = self.project.recorded_event("PostToolUse.Write");
        after["tool_response"]["filePath"] = json!(path);
        self.report(&before, after)
    }

    /// Changes a file by the client's tool: judged, done and reported.
    #[track_caller]
    pub(super) fn change(&self, change: Change) -> &Self {
        let (file, old, new) = change;
        let path = self.path(file);
        let before = self.in_session(self.project.edit(&path, old, new));
        let answer = self.project.hook(&before);
        assert!(answer.find_denial().is_err(), "{file}: {}", self.project.whole(&answer));
        self.set(change);
        let mut after = self.project.recorded_event("PostToolUse.Edit");
        after["tool_response"]["filePath"] = json!(path);
        self.report(&before, after)
    }

    /// Does some work.
    #[track_caller]
    pub(super) fn do_work(&self) -> &Self {
        let text = format!("console.log('hello, {}')\n", self.calls.get());
        self.write(WORK, &text)
    }

    /// Tells of a command line that was allowed and has ended. It is not run.
    #[track_caller]
    pub(super) fn run(&self, line: &str, has_succeeded: bool) -> &Self {
        let before = self.in_session(self.project.bash(line));
        let answer = self.project.hook(&before);
        assert!(answer.find_denial().is_err(), "{line}: {}", self.project.whole(&answer));
        let name = if has_succeeded { "PostToolUse.Bash" } else { "PostToolUseFailure.Bash" };
        self.report(&before, self.project.recorded_event(name))
    }

    /// The event after a call.
    pub(super) fn report(&self, before: &Value, mut after: Value) -> &Self {
        for field in ["session_id", "tool_name", "tool_input", "tool_use_id", "agent_id", "agent_type"] {
            if let Some(value) = before.get(field) {
                after[field] = value.clone();
            }
        }
        self.project.hook(&after);
        self
    }

    /// An event as it is when a subagent causes it.
    pub(super) fn in_subagent(mut event: Value) -> Value {
        event["agent_id"] = "a109d47d15c5167d3".into();
        event["agent_type"] = "general-purpose".into();
        event
    }

    /// Every file below a directory, to see that nothing was rewritten.
    pub(super) fn list_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect_files(&self.project.path, &mut files);
        files.retain(|(path, _)| !path.starts_with(self.path(".git")));
        files.sort();
        files
    }
}

pub(super) fn collect_files(directory: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            collect_files(&path, files);
        } else if let Ok(bytes) = fs::read(&path) {
            files.push((path, bytes));
        }
    }
}

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workflow-fixtures")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else if entry.file_name() != ".gitkeep" {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
