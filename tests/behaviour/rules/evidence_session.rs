//! A session that does things one after the other, as recorded events of the client.

use std::cell::Cell;

use serde_json::{Value, json};

use super::project_with_rules;
use crate::support::{Answer, TestProject};

pub(super) struct RuleSession {
    pub(super) project: TestProject,
    pub(super) id: &'static str,
    calls: Cell<u32>,
}

impl RuleSession {
    pub(super) fn new(rules: &str) -> Self {
        Self { project: project_with_rules(rules), id: "session-1", calls: Cell::new(0) }
    }

    /// An event of this session.
    pub(super) fn event(&self, recorded: &str) -> Value {
        let mut event = self.project.recorded_event(recorded);
        event["session_id"] = self.id.into();
        event
    }

    fn next_call(&self) -> String {
        self.calls.set(self.calls.get() + 1);
        format!("toolu_{}_{}", self.id, self.calls.get())
    }

    /// The event before a command line, with a new id.
    pub(super) fn before(&self, line: &str) -> Value {
        let mut event = self.event("PreToolUse.Bash");
        event["tool_input"]["command"] = line.into();
        event["tool_use_id"] = self.next_call().into();
        event
    }

    /// The event after a command line.
    pub(super) fn after(before: &Value, session: &Self, has_succeeded: bool) -> Value {
        let name = if has_succeeded { "PostToolUse.Bash" } else { "PostToolUseFailure.Bash" };
        let mut event = session.event(name);
        event["tool_input"] = before["tool_input"].clone();
        event["tool_use_id"] = before["tool_use_id"].clone();
        event
    }

    /// Runs a command line: what the client reports before and after it.
    #[track_caller]
    pub(super) fn run(&self, line: &str, has_succeeded: bool) {
        let before = self.before(line);
        assert!(self.project.hook(&before).is_silent(), "{line}");
        let answer = self.project.hook(&Self::after(&before, self, has_succeeded));
        assert!(answer.is_silent(), "{line}: {answer:?}");
    }

    /// Writes a file with the client's own tool.
    pub(super) fn write(&self, path: &str) {
        let path = self.project.path.join(path);
        let mut event = self.event("PostToolUse.Write");
        event["tool_input"] = json!({"file_path": path, "content": "x"});
        event["tool_response"]["filePath"] = json!(path);
        event["tool_use_id"] = self.next_call().into();
        let answer = self.project.hook(&event);
        assert!(answer.is_silent(), "{answer:?}");
    }

    pub(super) fn stop(&self) -> Answer {
        self.project.hook(&self.event("Stop.active_false"))
    }

    /// Whether a turn may end without a word.
    pub(super) fn may_stop(&self) -> bool {
        let answer = self.stop();
        assert!(answer.is_silent() || answer.find_denial().is_ok(), "{answer:?}");
        answer.is_silent()
    }

    pub(super) fn prompt(&self, text: &str) -> Answer {
        let mut event = self.event("UserPromptSubmit");
        event["prompt"] = text.into();
        self.project.hook(&event)
    }
}
