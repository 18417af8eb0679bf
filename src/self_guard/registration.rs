//! A changed settings file does not silence Provost in a running session.
//!
//! When a session starts, what switches Provost on is remembered per settings file. When the client
//! reports a changed file, all of it must still be there; otherwise the change is denied, and the
//! client keeps the configuration it has. The file itself is not touched: a person's edit counts
//! from the next session on.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::LARGEST_SETTINGS;
use super::protected::Protected;
use super::refusal;
use crate::clients::Switches;
use crate::decision::{Denial, Fault, Opinion};
use crate::event::{Event, Kind};
use crate::reviewer;
use crate::text;
use crate::workspace::Workspace;

const UNREAD: &str = "it could not be read when the session started, so what the change does cannot be known";

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    match &event.kind {
        Kind::SessionStart { fresh } => {
            // Before the agent of this session has done anything.
            if *fresh {
                reviewer::remember(workspace, &workspace.start, false);
            }
            Ok(remember(*fresh, event, workspace))
        }
        Kind::ConfigChange { file } => {
            let file = file.as_ref().map(|file| event.absolute(file));
            changed(file.as_deref(), event, workspace)
        }
        _ => Ok(Opinion::silence()),
    }
}

/// Remembers what is registered now. In the middle of a conversation (a compaction, a cleared talk
/// that goes on under a new name) the files may have been changed behind the client's back: then
/// an older memory stays, and files that no longer call Provost are not taken for the truth.
fn remember(fresh: bool, event: &Event, workspace: &Workspace) -> Opinion {
    let Some(session) = &event.session else { return Opinion::silence() };
    if !fresh && !matches!(workspace.recall(session), Ok(None)) {
        return Opinion::silence();
    }
    let mut memory = Map::new();
    let mut count = 0;
    for file in workspace.settings_files() {
        // A file that cannot be read now (`null`) may still mean something to the client.
        let switches = read(&file, workspace).ok();
        count += switches.as_ref().map_or(0, |switches| switches.kept.len());
        let value = switches.map_or(Value::Null, |switches| switches.to_json());
        memory.insert(file.to_string_lossy().into_owned(), value);
    }
    if !fresh && count == 0 {
        return Opinion::silence();
    }
    // A session cannot be held back, so a full or read-only disk is told, and the weaker rule for
    // sessions without a memory holds.
    let to_person = workspace.remember(session, &Value::Object(memory)).err().map(|fault| {
        format!(
            "[provost] the registered hooks could not be remembered: {fault}. To fix: make the \
             directory writable; until then only the loss of all of Provost's hooks is noticed."
        )
    });
    Opinion { evidence: vec![format!("{count} registrations remembered")], to_person, ..Opinion::default() }
}

fn changed(file: Option<&Path>, event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    // The client names one file; without a name, any of them may have changed. It also reports
    // other files than settings (skills, for one), which register no hooks of ours.
    let files = match file {
        Some(file) if !is_settings(file, workspace) => return Ok(Opinion::silence()),
        Some(file) => vec![file.to_owned()],
        None => workspace.settings_files(),
    };
    let memory = match &event.session {
        Some(session) => workspace.recall(session)?,
        None => None,
    };
    let mut evidence = Vec::new();
    for file in &files {
        let before = match memory.as_ref().map(|memory| remembered(memory, file, workspace)) {
            Some(None) => return Ok(refused(file, UNREAD, workspace)),
            Some(before) => before,
            None => None,
        };
        match (read(file, workspace), &before) {
            // A file that held nothing of ours may be broken.
            (Err(why), Some(before)) if before.kept.is_empty() => evidence.push(why),
            (Err(why), _) => return Ok(refused(file, &why, workspace)),
            (Ok(after), Some(before)) => {
                if let Some(why) = before.silenced_by(&after).first() {
                    return Ok(refused(file, why, workspace));
                }
            }
            (Ok(after), None) => {
                if let Some(switch) = after.off.first() {
                    return Ok(refused(file, &format!("{switch} would keep hooks from running"), workspace));
                }
            }
        }
    }
    // Nothing is remembered (the session started before Provost was registered): at least one
    // settings file must still call Provost, unless a plugin does.
    if memory.is_none() && (workspace.client.settings.plugin)().is_none() {
        let calls = |file: &PathBuf| read(file, workspace).is_ok_and(|switches| !switches.kept.is_empty());
        if !workspace.settings_files().iter().any(calls) {
            let file = files.first().cloned().unwrap_or_default();
            return Ok(refused(&file, "no settings file would call Provost any more", workspace));
        }
    }
    Ok(Opinion { evidence, ..Opinion::default() })
}

fn is_settings(file: &Path, workspace: &Workspace) -> bool {
    Protected::of(workspace).is_settings(file, &workspace.resolve(file), workspace.identity(file))
}

fn refused(file: &Path, why: &str, workspace: &Workspace) -> Opinion {
    let denial = Denial {
        what: format!("the change to {} has no effect in this session", refusal::shown(file, workspace)),
        why: text::repeated(why),
        fix: "nothing if the user made it: the next session starts with it".into(),
        heading: None,
    };
    let to_person = Some(denial.to_string());
    Opinion { to_person, ..Opinion::deny(denial, vec![why.to_owned()]) }
}

fn read(file: &Path, workspace: &Workspace) -> Result<Switches, String> {
    let text = workspace.read_text(file, LARGEST_SETTINGS).map_err(|fault| fault.to_string())?;
    (workspace.client.settings.read)(text.as_deref())
}

/// What the session started with in this file: nothing, if the file is new; `None`, if it could not
/// be read then.
fn remembered(memory: &Value, file: &Path, workspace: &Workspace) -> Option<Switches> {
    let entries = memory.as_object().into_iter().flatten();
    let is_file = |known: &str| {
        let known = Path::new(known);
        workspace.resolve_parent(known) == workspace.resolve_parent(file)
            || workspace.is_same_file(known, file)
    };
    match entries.filter(|(known, _)| is_file(known)).map(|(_, value)| value).next() {
        Some(Value::Null) => None,
        found => Some(found.map(Switches::from_json).unwrap_or_default()),
    }
}
