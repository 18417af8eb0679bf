//! Tool calls and session events, made from recorded ones.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, TestProject};

impl TestProject {
    /// The event before a call of any tool.
    pub fn call(&self, tool: &str, input: Value) -> Value {
        let mut event = self.recorded_event("PreToolUse.Bash");
        event["tool_name"] = tool.into();
        event["tool_input"] = input;
        event
    }

    pub fn bash(&self, command: &str) -> Value {
        self.call("Bash", json!({"command": command, "description": "x"}))
    }

    pub fn write(&self, path: impl AsRef<Path>, content: &str) -> Value {
        self.call("Write", json!({"file_path": path.as_ref(), "content": content}))
    }

    pub fn edit(&self, path: impl AsRef<Path>, old: &str, new: &str) -> Value {
        let path = path.as_ref();
        self.call(
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": false}),
        )
    }

    pub fn multi_edit(&self, path: impl AsRef<Path>, edits: &[(&str, &str)]) -> Value {
        let edits: Vec<Value> =
            edits.iter().map(|(old, new)| json!({"old_string": old, "new_string": new})).collect();
        self.call("MultiEdit", json!({"file_path": path.as_ref(), "edits": edits}))
    }

    pub fn notebook(&self, path: impl AsRef<Path>) -> Value {
        self.call("NotebookEdit", json!({"notebook_path": path.as_ref(), "new_source": "x"}))
    }

    pub fn read(&self, path: impl AsRef<Path>) -> Value {
        self.call("Read", json!({"file_path": path.as_ref()}))
    }

    pub fn grep(&self, path: impl AsRef<Path>) -> Value {
        self.call("Grep", json!({"pattern": ".", "path": path.as_ref(), "output_mode": "content"}))
    }

    /// A call of an MCP tool.
    pub fn mcp(&self, input: Value) -> Value {
        self.call("mcp__files__do", input)
    }

    /// Starts a session, in which Provost checks its registration.
    pub fn start_session(&self, session: &str) -> Answer {
        let mut event = self.recorded_event("SessionStart.startup");
        event["session_id"] = session.into();
        self.hook(&event)
    }

    /// Reports a changed settings file.
    pub fn report_settings_change(&self, session: &str, file: impl AsRef<Path>) -> Answer {
        let mut event = self.recorded_event("ConfigChange");
        event["session_id"] = session.into();
        event["file_path"] = json!(file.as_ref());
        self.hook(&event)
    }

    /// Fails with a list of all cases that are not denied.
    #[track_caller]
    pub fn assert_denied(&self, cases: &[(&str, Value)]) {
        self.check(cases, |answer| answer.find_denial().err());
    }

    /// Fails with a list of all cases that are not allowed silently.
    #[track_caller]
    pub fn assert_allowed(&self, cases: &[(&str, Value)]) {
        self.check(cases, |answer| (!answer.is_silent()).then(|| "not silent".into()));
    }

    /// Fails with a list of all command lines that are not denied.
    #[track_caller]
    pub fn assert_lines_denied(&self, lines: &[&str]) {
        let cases: Vec<_> = lines.iter().map(|line| (*line, self.bash(line))).collect();
        self.assert_denied(&cases);
    }

    /// Fails with a list of all command lines that are not allowed silently.
    #[track_caller]
    pub fn assert_lines_allowed(&self, lines: &[&str]) {
        let cases: Vec<_> = lines.iter().map(|line| (*line, self.bash(line))).collect();
        self.assert_allowed(&cases);
    }

    #[track_caller]
    fn check(&self, cases: &[(&str, Value)], find_fault: impl Fn(&Answer) -> Option<String>) {
        let mut faults = String::new();
        for (name, event) in cases {
            let answer = self.hook(event);
            if let Some(why) = find_fault(&answer) {
                faults +=
                    &format!("\n  {name}: {why}: code {:?} {} {}", answer.code, answer.stdout, answer.stderr);
            }
        }
        assert!(faults.is_empty(), "{}", self.shorten_paths(&faults));
    }
}
