//! What guards want to be written down, written once.
//!
//! A guard notes a change while it judges; this guard is asked last and makes all of them in one step:
//! under the file's lock, in the state as it is then, so that nothing is lost when two processes write
//! at once, and in a new file that takes the old one's place.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::ground::{Ground, LARGEST};
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

/// Adds an entry to a list of which only the last ones are kept. What is there and is no list stays.
pub fn push(state: &mut JsonObject, path: &[&str], entry: Value, most: usize) {
    let mut list = match state.get_at(path) {
        Some(Value::Array(list)) => list,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return,
    };
    list.push(entry);
    list.drain(..list.len().saturating_sub(most));
    state.set_at(path, &Value::Array(list));
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
