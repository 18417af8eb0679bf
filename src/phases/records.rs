//! What guards want to be written down, written once.
//!
//! A guard notes a change while it judges; this guard is asked last and makes all of them in one step:
//! under the file's lock, in the state as it is then, so that nothing is lost when two processes write
//! at once, and in a new file that takes the old one's place.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::ground::{Ground, LARGEST};
use crate::clock;
use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::json_object::JsonObject;
use crate::workspace::Workspace;

/// A change of the state. It sees the state as it is when it is made, not as the guard saw it.
type Change = Box<dyn Fn(&mut JsonObject) + Send>;

/// Changes that guards of this event want.
#[derive(Default)]
pub struct Notes(Mutex<Vec<Change>>);

impl Notes {
    pub fn add(&self, change: impl Fn(&mut JsonObject) + Send + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(change));
    }

    fn take(&self) -> Vec<Change> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Adds an entry to a list of which only the last ones are kept. What is there and is no list stays, and
/// so does a list that cannot be read.
pub fn push(state: &mut JsonObject, path: &[&str], entry: Value, most: usize) {
    let mut list = match state.get_at(path) {
        Some(Value::Array(list)) => list,
        None if state.is_unreadable(path) => return,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return,
    };
    list.push(entry);
    list.drain(..list.len().saturating_sub(most));
    state.set_at(path, &Value::Array(list));
}

/// What somebody was kept from, for a person to look at.
pub struct Escalation {
    pub kind: &'static str,
    pub hook: &'static str,
    pub phase: String,
    pub detail: String,
}

impl Escalation {
    /// Notes it, unless the very same is known since less than a minute.
    pub fn note(self, ground: &Ground, workspace: &Workspace) {
        const LIST: &[&str] = &["pending_escalations"];
        const MOST: usize = 20;
        const APART: i64 = 60;
        let now = workspace.now();
        ground.notes.add(move |state| {
            let is_same = |entry: &Value| {
                entry["type"] == self.kind
                    && entry["hook"] == self.hook
                    && entry["phase"] == self.phase
                    && entry["detail"] == self.detail
                    && age(entry["timestamp"].as_str(), &now).is_some_and(|age| age.abs() < APART)
            };
            if matches!(state.get_at(LIST), Some(Value::Array(known)) if known.iter().any(is_same)) {
                return;
            }
            let entry = json!({"type": self.kind, "hook": self.hook, "phase": self.phase,
                "detail": self.detail, "timestamp": now});
            push(state, LIST, entry, MOST);
        });
    }
}

/// So many seconds lie between two times of a record.
pub fn age(then: Option<&str>, now: &str) -> Option<i64> {
    Some(clock::seconds(now)? - clock::seconds(then?)?)
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    /// Somebody who is not one of us may write at the same time.
    const TRIES: usize = 5;
    let Some(ground) = Ground::of(event, workspace) else { return Ok(Opinion::unconcerned()) };
    let changes = ground.notes.take();
    if changes.is_empty() {
        return Ok(Opinion::unconcerned());
    }
    let file = workspace.resolve(&ground.state_file());
    // A link may lead elsewhere, as in a second working tree, but only to a state of a workflow: else a
    // repository could have any JSON of this person's written to.
    let is_state = file.file_name().is_some_and(|name| name == "state.json");
    if !is_state || !file.components().any(|part| part.as_os_str() == ".isdlc") {
        return Err(Fault::Error(format!("{} is no state of a workflow", file.display())));
    }
    let _lock = workspace.lock(&file)?;
    for _ in 0..TRIES {
        let Some(before) = workspace.read_bytes(&file, LARGEST)? else { return Ok(Opinion::unconcerned()) };
        let mut state = JsonObject::read(&before).map_err(Fault::Error)?;
        for change in &changes {
            change(&mut state);
        }
        if workspace.replace_unless_changed(&file, Some(&before), state.text().as_bytes())? {
            return Ok(Opinion { evidence: vec!["kept in the state".into()], ..Opinion::default() });
        }
    }
    Err(Fault::Error(format!("{}: somebody else keeps writing it", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_seconds() {
        assert_eq!(age(Some("2026-11-15T20:29:28Z"), "2026-11-15T21:29:29.9Z"), Some(3601));
        assert_eq!((age(None, "2026-11-15T21:29:29Z"), age(Some("x"), "2026-11-15T21:29:29Z")), (None, None));
    }

    #[test]
    fn a_list_is_bounded_and_what_is_no_list_stays() {
        let mut state =
            JsonObject::read(br#"{"text": "x", "list": null, "half": ["\ud83d", 1e999]}"#).unwrap();
        for number in 0..5 {
            push(&mut state, &["half"], json!(number), 3);
            push(&mut state, &["list"], json!(number), 3);
            push(&mut state, &["text"], json!(number), 3);
        }
        assert_eq!((state.get("list"), state.get("text")), (Some(json!([2, 3, 4])), Some(json!("x"))));
        assert!(state.text().contains(r#""half": ["\ud83d", 1e999]"#), "{}", state.text());
    }
}
