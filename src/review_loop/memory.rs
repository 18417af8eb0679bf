//! What a session has been told and held for, so that neither happens twice.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::event::Event;
use crate::workspace::{Workspace, fnv1a};

/// No session is told more things than this.
const MOST: usize = 200;
const LARGEST: u64 = 64 << 10;

pub struct Memory<'a> {
    workspace: &'a Workspace,
    /// `None`: nothing can be remembered, because the session has no name or there is no place.
    place: Option<PathBuf>,
    told: Vec<String>,
    /// What the agent was held for in `turn`.
    held: Vec<String>,
    turn: Option<String>,
}

impl<'a> Memory<'a> {
    pub fn of(event: &Event, workspace: &'a Workspace) -> Self {
        let name = event.session.as_deref().map(|session| format!("{:016x}.json", fnv1a(session.as_bytes())));
        let place = name.and_then(|name| workspace.own_file("review-loop", &name).ok());
        let bytes = place.as_ref().and_then(|place| workspace.read_bytes(place, LARGEST).ok().flatten());
        let kept: Value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let list = |field: &str| -> Vec<String> {
            let items = kept[field].as_array().into_iter().flatten();
            items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let same_turn = kept["turn"].as_str() == event.turn.as_deref();
        let held = if same_turn { list("held") } else { Vec::new() };
        Self { workspace, place, told: list("told"), held, turn: event.turn.clone() }
    }

    /// Whether this is new to the person. From now on it is not.
    pub fn is_news(&mut self, text: &str) -> bool {
        let key = key(text);
        let new = !self.told.contains(&key);
        if new {
            self.told.push(key);
            let excess = self.told.len().saturating_sub(MOST);
            self.told.drain(..excess);
            self.keep();
        }
        new
    }

    /// Whether the agent may be held for this: never twice in a turn. `again`: it was held in this turn
    /// for whatever reason.
    pub fn may_hold(&mut self, text: &str, again: bool) -> bool {
        let key = key(text);
        if !again {
            self.held.clear();
        } else if self.place.is_none() || self.held.contains(&key) {
            return false;
        }
        self.held.push(key);
        // What cannot be remembered would be held for ever.
        self.keep() || !again
    }

    fn keep(&self) -> bool {
        let value = json!({"told": self.told, "turn": self.turn, "held": self.held});
        let kept =
            self.place.as_ref().map(|place| self.workspace.replace_own(place, value.to_string().as_bytes()));
        matches!(kept, Some(Ok(())))
    }
}

fn key(text: &str) -> String {
    format!("{:016x}", fnv1a(text.as_bytes()))
}
