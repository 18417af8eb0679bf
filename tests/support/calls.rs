//! Tool calls and session events, each made from a recorded one.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, TestProject};

impl TestProject {
    /// A call of any tool, before it runs.
    pub fn call(&self, tool: &str, input: Value) -> Value {
        let mut event = self.event("PreToolUse.Bash");
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

    /// A tool that only its server knows.
    pub fn mcp(&self, input: Value) -> Value {
        self.call("mcp__files__do", input)
    }

    /// The start of a session, in which Provost looks at its registration.
    pub fn start(&self, session: &str) -> Answer {
        let mut event = self.event("SessionStart.startup");
        event["session_id"] = session.into();
        self.hook(&event)
    }

    /// The client's report that a settings file has changed.
    pub fn changed(&self, session: &str, file: impl AsRef<Path>) -> Answer {
        let mut event = self.event("ConfigChange");
        event["session_id"] = session.into();
        event["file_path"] = json!(file.as_ref());
        self.hook(&event)
    }

    /// Fails with the list of all cases that are not denied as they must be.
    #[track_caller]
    pub fn denies(&self, cases: &[(&str, Value)]) {
        self.check(cases, |answer| answer.denied().err());
    }

    /// Fails with the list of all cases that are not let through in silence.
    #[track_caller]
    pub fn passes(&self, cases: &[(&str, Value)]) {
        self.check(cases, |answer| (!answer.is_silent()).then(|| "not silent".into()));
    }

    /// Bash lines that must be denied.
    #[track_caller]
    pub fn denies_lines(&self, lines: &[&str]) {
        let cases: Vec<_> = lines.iter().map(|line| (*line, self.bash(line))).collect();
        self.denies(&cases);
    }

    #[track_caller]
    pub fn passes_lines(&self, lines: &[&str]) {
        let cases: Vec<_> = lines.iter().map(|line| (*line, self.bash(line))).collect();
        self.passes(&cases);
    }

    #[track_caller]
    fn check(&self, cases: &[(&str, Value)], wrong: impl Fn(&Answer) -> Option<String>) {
        let mut found = String::new();
        for (name, event) in cases {
            let answer = self.hook(event);
            if let Some(why) = wrong(&answer) {
                found +=
                    &format!("\n  {name}: {why}: code {:?} {} {}", answer.code, answer.stdout, answer.stderr);
            }
        }
        assert!(found.is_empty(), "{}", self.shown(&found));
    }
}
