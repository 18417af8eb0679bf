//! What a session has been told and held for because of a plan, so that neither happens twice.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::plan::Plan;
use crate::event::Event;
use crate::workspace::{Workspace, fnv1a};

/// No session is told more things than this.
const MOST: usize = 200;
const LARGEST: u64 = 64 << 10;

pub struct Memory<'a> {
    event: &'a Event,
    plan: &'a Plan,
    workspace: &'a Workspace,
    /// Read when it is needed for the first time: at most stops there is nothing to say.
    kept: Option<Kept>,
}

struct Kept {
    /// `None`: nothing can be remembered, because the session has no name or there is no place.
    place: Option<PathBuf>,
    told: Vec<String>,
    /// What the agent was held for in this turn.
    held: Vec<String>,
}

impl<'a> Memory<'a> {
    pub fn of(event: &'a Event, plan: &'a Plan, workspace: &'a Workspace) -> Self {
        Self { event, plan, workspace, kept: None }
    }

    /// Whether this is new to the person. From now on it is not.
    pub fn is_news(&mut self, text: &str) -> bool {
        let key = self.key(text);
        let kept = self.kept();
        if kept.told.contains(&key) {
            return false;
        }
        kept.told.push(key);
        let excess = kept.told.len().saturating_sub(MOST);
        kept.told.drain(..excess);
        self.keep();
        true
    }

    /// Whether the agent may be held for this: never twice in a turn. `again`: it was held in this turn
    /// for whatever reason.
    pub fn may_hold(&mut self, text: &str, again: bool) -> bool {
        let key = self.key(text);
        let kept = self.kept();
        if !again {
            kept.held.clear();
        } else if kept.held.contains(&key) {
            return false;
        }
        kept.held.push(key);
        // What cannot be remembered would be held for ever.
        self.keep() || !again
    }

    /// The same words about another plan are others.
    fn key(&self, text: &str) -> String {
        let plan = self.plan.path.as_os_str().as_encoded_bytes();
        format!("{:016x}", fnv1a(&[plan, b"\0", text.as_bytes()].concat()))
    }

    fn kept(&mut self) -> &mut Kept {
        let Self { event, workspace, kept, .. } = self;
        kept.get_or_insert_with(|| Kept::read(event, workspace))
    }

    fn keep(&self) -> bool {
        let Some(Kept { place: Some(place), told, held }) = &self.kept else { return false };
        let value = json!({"told": told, "turn": self.event.turn, "held": held});
        self.workspace.replace_own(place, value.to_string().as_bytes()).is_ok()
    }
}

impl Kept {
    fn read(event: &Event, workspace: &Workspace) -> Self {
        let name = event.session.as_deref().map(|session| format!("{:016x}.json", fnv1a(session.as_bytes())));
        let place = name.and_then(|name| workspace.own_file("review-loop", &name).ok());
        let bytes = place.as_ref().and_then(|place| workspace.read_bytes(place, LARGEST).ok().flatten());
        let kept: Value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let list = |field: &str| -> Vec<String> {
            let items = kept[field].as_array().into_iter().flatten();
            items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let same_turn = kept["turn"].as_str() == event.turn.as_deref();
        Self { place, told: list("told"), held: if same_turn { list("held") } else { Vec::new() } }
    }
}
