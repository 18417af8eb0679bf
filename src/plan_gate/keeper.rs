//! After every write to a plan, its record is brought up to date.
//!
//! It does not matter which tool wrote: every file that a call could have changed is looked at. A
//! failure here is silent for the agent, because the gate notices a stale record.

use std::path::PathBuf;

use super::dossier::Policy;
use super::place::{self, Session};
use super::store;
use crate::decision::{Fault, Opinion};
use crate::effect::Effect;
use crate::event::{Event, Mode};
use crate::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(session) = event.session.as_deref().and_then(Session::new) else {
        return Ok(Opinion::silence());
    };
    if event.mode != Mode::Plan {
        return Ok(Opinion::silence());
    }
    let mut evidence = Vec::new();
    let mut written: Vec<_> =
        changed(event).iter().filter_map(|path| place::written(path, event, workspace)).collect();
    written.dedup();
    if written.is_empty() {
        return Ok(Opinion::silence());
    }
    let policy = Policy::of(workspace)?;
    for written in written {
        store::of(workspace).keep(&written, &session, &policy, workspace)?;
        evidence.push(format!("kept {written:?}"));
    }
    Ok(Opinion { evidence, ..Opinion::default() })
}

/// The files that a call may have changed.
fn changed(event: &Event) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for effect in event.effects() {
        match effect {
            Effect::Write { path, .. } | Effect::Touch { path } => files.push(path.clone()),
            Effect::Place { names, to, .. } => {
                files.push(to.clone());
                files.extend(names.iter().map(|name| to.join(name)));
            }
            _ => {}
        }
    }
    if files.is_empty()
        && let Some(file) = event.call().and_then(|call| call.outcome.file.as_ref())
    {
        files.push(event.absolute(file));
    }
    files
}
