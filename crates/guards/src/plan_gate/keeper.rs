//! Updates the record of a plan after every write to it.
//!
//! It checks every file that a call could have changed, whichever tool wrote it. The agent does not see
//! a failure here, because the gate notices a stale record.

use crate::prelude::*;
use std::path::PathBuf;

use super::plan_files::{self, Session, WrittenFile};
use super::store;
use provost_core::effect::Effect;
use provost_core::event::{Event, PermissionMode};
use provost_core::opinion::{Fault, Opinion};
use provost_core::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(session) = event.session.as_deref().and_then(Session::new) else {
        return Ok(Opinion::silent());
    };
    if event.mode != PermissionMode::Plan {
        return Ok(Opinion::silent());
    }
    let changed = list_changed_files(event);
    let mut written: Vec<_> =
        changed.iter().filter_map(|path| plan_files::classify_written(path, event, workspace)).collect();
    written.dedup();
    if written.is_empty() {
        return Ok(Opinion::silent());
    }
    let mut evidence = Vec::new();
    for written in written {
        store::configured_store(workspace).update(&written, &session, workspace)?;
        let (WrittenFile::Plan(file) | WrittenFile::Gaps(file, _)) = written;
        evidence.push(format!("updated the record after a write to {}", file.display()));
    }
    Ok(Opinion { evidence, ..Opinion::default() })
}

fn list_changed_files(event: &Event) -> Vec<PathBuf> {
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
        files.push(event.make_absolute(file));
    }
    files
}
