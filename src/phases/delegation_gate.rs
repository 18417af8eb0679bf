//! `delegation-gate`: a turn that used a skill which stands for an agent does not end before that agent
//! has worked.
//!
//! It holds a turn once, not for ever: what another session left behind, or what is old, holds nobody,
//! and neither does a turn that was held already or waits for an agent.

use serde_json::Value;

use super::Refused;
use super::ground::Ground;
use super::skill_delegation::{MARKER, SESSION};
use super::skill_log::LOG;
use super::{records, table};
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind};
use crate::workspace::Workspace;

/// A marker counts for so many seconds.
const LIFE: i64 = 60 * 60;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(held(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn held(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let Kind::Stop(stopping) = &event.kind else { return None };
    let ground = Ground::of(event, workspace)?;
    let state = ground.state(workspace)?;
    let marker = state.value(&[MARKER])?;
    let required = table::agent(marker["required_agent"].as_str()?);
    let since = marker["invoked_at"].as_str()?.to_owned();
    // One that names no session was written by a script that knows none.
    let session = marker[SESSION].as_str();
    if required.is_empty() || session.is_some_and(|session| event.session.as_deref() != Some(session)) {
        return None;
    }
    if records::age(Some(&since), &workspace.now()).is_none_or(|age| age.abs() > LIFE) {
        return None;
    }
    let log = state.value(LOG);
    let has_worked = |entry: &Value| {
        entry["agent"].as_str().map(table::agent).as_deref() == Some(&*required)
            && records::age(Some(&since), entry["timestamp"].as_str().unwrap_or_default())
                .is_some_and(|age| age >= 0)
    };
    if log.iter().filter_map(Value::as_array).flatten().any(has_worked) {
        ground.notes.add(move |state| {
            // A skill that was used since then has a marker of its own.
            if state.get(MARKER).as_ref() == Some(&marker) {
                state.set(MARKER, &Value::Null);
            }
        });
        return Some(Opinion { evidence: vec![format!("{required} has worked")], ..Opinion::default() });
    }
    if stopping.held_before || stopping.subagent_running {
        return None;
    }
    let skill = marker["skill"].as_str().unwrap_or("a skill");
    let refused = Refused {
        heading: "DELEGATION REQUIRED".into(),
        why: format!("`/{skill}` was used, and `{required}`, which does its work, has not worked yet"),
        fix: format!("delegate the work to the agent `{required}`"),
    };
    Some(super::deny(event, refused, vec![format!("/{skill} stands for {required}")]))
}
