//! The guard `registration-guard`: a changed settings file does not silence Provost in a running session.
//!
//! When a session starts, the guard records for each settings file what switches Provost on. When the client reports
//! a changed file, all of that must still be there. Otherwise the guard denies the change, and the client keeps its
//! current configuration. The file itself stays as it is: an edit of the user takes effect in the next session.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::LARGEST_SETTINGS;
use super::protected::Protected;
use super::refusal::display_path;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::reviewer;
use provost_core::switches::Switches;
use provost_core::text;
use provost_core::workspace::Workspace;

const UNREAD: &str = "it could not be read when the session started, so what the change does cannot be known";

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    match &event.kind {
        EventKind::SessionStart { is_fresh: fresh } => {
            // The agent of a fresh session has not run anything yet, so the reviewer is still the user's choice.
            if *fresh {
                reviewer::remember_reviewer(workspace, &workspace.start, false);
            }
            Ok(record_switches(*fresh, event, workspace))
        }
        EventKind::ConfigChange { file } => {
            let file = file.as_ref().map(|file| event.make_absolute(file));
            judge_change(file.as_deref(), event, workspace)
        }
        _ => Ok(Opinion::silent()),
    }
}

/// Records what is registered now. If the session is not fresh (after a compaction, or a cleared conversation with a
/// new id), the agent may have changed the files already: an older record stays, and files that do not call Provost
/// are not recorded.
fn record_switches(fresh: bool, event: &Event, workspace: &Workspace) -> Opinion {
    let Some(session) = &event.session else { return Opinion::silent() };
    if !fresh && !matches!(workspace.recall_session(session), Ok(None)) {
        return Opinion::silent();
    }
    let mut memory = Map::new();
    let mut count = 0;
    for file in workspace.list_settings_files() {
        // `null`: Provost cannot read the file now, but the client may.
        let switches = read_switches(&file, workspace).ok();
        count += switches.as_ref().map_or(0, |switches| switches.required.len());
        let value = switches.map_or(Value::Null, |switches| switches.to_json());
        memory.insert(file.to_string_lossy().into_owned(), value);
    }
    if !fresh && count == 0 {
        return Opinion::silent();
    }
    // A session start cannot be denied. If the disk is full or read-only, warn, and use the weaker check for sessions
    // without a record.
    let to_person = workspace.remember_session(session, &Value::Object(memory)).err().map(|fault| {
        format!(
            "[provost] the registered hooks could not be recorded: {fault}. To fix: make the \
             directory writable; until then only the loss of all of Provost's hooks is noticed."
        )
    });
    Opinion {
        evidence: vec![format!("{count} registrations recorded")],
        to_user: to_person,
        ..Opinion::default()
    }
}

fn judge_change(file: Option<&Path>, event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    // Without a name, any settings file may have changed. The client also reports other files, such as skills, which
    // register none of Provost's hooks.
    let files = match file {
        Some(file) if !is_settings(file, workspace) => return Ok(Opinion::silent()),
        Some(file) => vec![file.to_owned()],
        None => workspace.list_settings_files(),
    };
    let memory = match &event.session {
        Some(session) => workspace.recall_session(session)?,
        None => None,
    };
    let mut evidence = Vec::new();
    for file in &files {
        let before = match memory.as_ref().map(|memory| recall_switches(memory, file, workspace)) {
            Some(None) => return Ok(deny_change(file, UNREAD, workspace)),
            Some(before) => before,
            None => None,
        };
        match (read_switches(file, workspace), &before) {
            // A file without Provost's hooks may be malformed.
            (Err(why), Some(before)) if before.required.is_empty() => evidence.push(why),
            (Err(why), _) => return Ok(deny_change(file, &why, workspace)),
            (Ok(after), Some(before)) => {
                if let Some(why) = before.find_silenced(&after).first() {
                    return Ok(deny_change(file, why, workspace));
                }
            }
            (Ok(after), None) => {
                if let Some(switch) = after.disabling_switches.first() {
                    return Ok(deny_change(
                        file,
                        &format!("{switch} would keep hooks from running"),
                        workspace,
                    ));
                }
            }
        }
    }
    // Without a record (the session started before Provost was registered), at least one settings file must still
    // call Provost, unless a plugin does.
    if memory.is_none() && (workspace.client.settings.find_plugin)().is_none() {
        let calls = |file: &PathBuf| {
            read_switches(file, workspace).is_ok_and(|switches| !switches.required.is_empty())
        };
        if !workspace.list_settings_files().iter().any(calls) {
            let file = files.first().cloned().unwrap_or_default();
            return Ok(deny_change(&file, "no settings file would call Provost any more", workspace));
        }
    }
    Ok(Opinion { evidence, ..Opinion::default() })
}

fn is_settings(file: &Path, workspace: &Workspace) -> bool {
    Protected::find(workspace).is_settings(file, &workspace.resolve(file), workspace.find_identity(file))
}

fn deny_change(file: &Path, why: &str, workspace: &Workspace) -> Opinion {
    let denial = Denial {
        what: format!("the change to {} has no effect in this session", display_path(file, workspace)),
        why: text::sanitize_for_model(why),
        fix: "nothing, if the user made it; the next session uses it".into(),
        document_wording: None,
    };
    let to_person = Some(denial.to_string());
    Opinion { to_user: to_person, ..Opinion::deny(denial, vec![why.to_owned()]) }
}

fn read_switches(file: &Path, workspace: &Workspace) -> Result<Switches, String> {
    let text = workspace.read_text(file, LARGEST_SETTINGS).map_err(|fault| fault.to_string())?;
    (workspace.client.settings.parse_switches)(text.as_deref())
}

/// What this file registered when the session started: nothing, if the file is new; `None`, if it was unreadable.
fn recall_switches(memory: &Value, file: &Path, workspace: &Workspace) -> Option<Switches> {
    let mut entries = memory.as_object().into_iter().flatten();
    let is_file = |known: &str| {
        let known = Path::new(known);
        workspace.resolve_parent(known) == workspace.resolve_parent(file)
            || workspace.is_same_file(known, file)
    };
    match entries.find(|(known, _)| is_file(known)) {
        Some((_, Value::Null)) => None,
        found => Some(found.map(|(_, switches)| Switches::from_json(switches)).unwrap_or_default()),
    }
}
