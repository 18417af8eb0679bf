//! What a session has shown to the user, and blocked the agent for, so that neither happens twice.

use crate::prelude::*;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::plan::Plan;
use provost_core::event::Event;
use provost_core::places::fnv1a;
use provost_core::workspace::Workspace;

/// The newest notices of a session that are kept.
const MOST: usize = 200;
const LARGEST: u64 = 64 << 10;

/// The notices of one session about one plan.
pub struct SessionNotices<'a> {
    event: &'a Event,
    plan: &'a Plan,
    workspace: &'a Workspace,
    /// Read on first use: most stops have nothing to say.
    file: Option<NoticeFile>,
}

struct NoticeFile {
    /// `None`: nothing can be recorded, because the session has no id or Provost no directory.
    path: Option<PathBuf>,
    shown: Vec<String>,
    /// What the agent was blocked for in this turn.
    blocked_for: Vec<String>,
}

impl<'a> SessionNotices<'a> {
    pub fn new(event: &'a Event, plan: &'a Plan, workspace: &'a Workspace) -> Self {
        Self { event, plan, workspace, file: None }
    }

    /// Records that the user reads this message now. Returns `false` if the user has read it before.
    pub fn record(&mut self, text: &str) -> bool {
        let key = self.make_key(text);
        let shown = &mut self.open_file().shown;
        if shown.contains(&key) {
            return false;
        }
        shown.push(key);
        let excess = shown.len().saturating_sub(MOST);
        shown.drain(..excess);
        self.write_file();
        true
    }

    /// Whether the agent may be blocked for this, which is recorded: never twice in a turn. `again`: it was blocked
    /// in this turn before, for any reason.
    pub fn may_block(&mut self, text: &str, again: bool) -> bool {
        let key = self.make_key(text);
        let blocked_for = &mut self.open_file().blocked_for;
        if !again {
            blocked_for.clear();
        } else if blocked_for.contains(&key) {
            return false;
        }
        blocked_for.push(key);
        // Without a record, the agent would be blocked forever.
        self.write_file() || !again
    }

    /// Identifies a text about this plan; equal texts about two plans have different keys.
    fn make_key(&self, text: &str) -> String {
        let plan = self.plan.path.as_os_str().as_encoded_bytes();
        format!("{:016x}", fnv1a(&[plan, b"\0", text.as_bytes()].concat()))
    }

    fn open_file(&mut self) -> &mut NoticeFile {
        self.file.get_or_insert_with(|| NoticeFile::read(self.event, self.workspace))
    }

    fn write_file(&self) -> bool {
        let Some(NoticeFile { path: Some(path), shown, blocked_for }) = &self.file else { return false };
        let value = json!({"told": shown, "turn": self.event.turn, "held": blocked_for});
        self.workspace.write_state_file(path, value.to_string().as_bytes()).is_ok()
    }
}

impl NoticeFile {
    fn read(event: &Event, workspace: &Workspace) -> Self {
        let name = event.session.as_deref().map(|session| format!("{:016x}.json", fnv1a(session.as_bytes())));
        let path = name.and_then(|name| workspace.state_file("review-loop", &name).ok());
        let bytes = path.as_ref().and_then(|path| workspace.read_bytes(path, LARGEST).ok().flatten());
        let value: Value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let list = |field: &str| -> Vec<String> {
            let items = value[field].as_array().into_iter().flatten();
            items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let is_same_turn = value["turn"].as_str() == event.turn.as_deref();
        Self { path, shown: list("told"), blocked_for: if is_same_turn { list("held") } else { Vec::new() } }
    }
}
