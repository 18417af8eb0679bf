//! A changed settings file does not silence Provost in a running session.
//!
//! When a session starts, the hook entries that call Provost are remembered per settings file.
//! When the client reports a changed file, each remembered entry must still be there as it was;
//! otherwise the change is denied, and the client keeps the configuration it has. The file itself
//! is not touched: a person's edit counts from the next session on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::LARGEST_SETTINGS;
use crate::clients::Registrations;
use crate::decision::{Denial, Fault, Opinion};
use crate::event::{Event, Kind};
use crate::files;
use crate::workspace::{Workspace, fnv1a};

/// Per settings file, the entries that call Provost.
type Memory = BTreeMap<String, Vec<String>>;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    match &event.kind {
        Kind::SessionStart { fresh } => remember(*fresh, event, workspace),
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
fn remember(fresh: bool, event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(place) = place(event, workspace) else { return Ok(Opinion::silence()) };
    if !fresh && place.exists() {
        return Ok(Opinion::silence());
    }
    let mut memory = Memory::new();
    for file in settings_files(workspace) {
        if let Ok(found) = read(&file, workspace) {
            memory.insert(file.to_string_lossy().into_owned(), found.entries);
        }
    }
    let count = memory.values().flatten().count();
    if !fresh && count == 0 {
        return Ok(Opinion::silence());
    }
    let evidence = vec![format!("{count} entries remembered")];
    let text = serde_json::json!(memory).to_string();
    // A session cannot be held back, so a full or read-only disk is told, and the weaker rule for
    // sessions without a memory holds.
    let to_person = files::replace(&place, text.as_bytes()).err().map(|error| {
        format!(
            "[provost] the registered hooks could not be remembered: {}: {error}. To fix: make \
             the directory writable; until then only the loss of all of Provost's hooks is noticed.",
            place.display()
        )
    });
    forget_old(&place);
    Ok(Opinion { evidence, to_person, ..Opinion::default() })
}

fn changed(file: Option<&Path>, event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    // The client names one file; without a name, any of them may have changed. It also reports
    // other files than settings (skills, for one), which register no hooks of ours.
    let files = match file {
        Some(file) if !(workspace.client.settings.names)(file) => {
            return Ok(Opinion::silence());
        }
        Some(file) => vec![file.to_owned()],
        None => settings_files(workspace),
    };
    let memory = recall(event, workspace);
    let mut evidence = Vec::new();
    for file in &files {
        let found = match read(file, workspace) {
            Ok(found) => found,
            Err(why) if memory.as_ref().is_some_and(|memory| remembered(memory, file).is_empty()) => {
                evidence.push(why);
                continue;
            }
            Err(why) => return Ok(refused(file, &why)),
        };
        if let Some(switch) = found.switched_off_by {
            return Ok(refused(file, &format!("`{switch}` would keep all hooks from running")));
        }
        if let Some(memory) = &memory {
            let lost = remembered(memory, file).iter().find(|entry| !found.entries.contains(entry));
            if let Some(lost) = lost {
                return Ok(refused(file, &format!("the entry {lost} would be gone")));
            }
        }
    }
    // Nothing is remembered (the session started before Provost was registered): at least one
    // settings file must still call Provost, unless a plugin does.
    if memory.is_none() && !(workspace.client.settings.by_plugin)() {
        let registered = settings_files(workspace)
            .iter()
            .any(|file| read(file, workspace).is_ok_and(|found| !found.entries.is_empty()));
        if !registered {
            let file = files.first().cloned().unwrap_or_default();
            return Ok(refused(&file, "no settings file would call Provost any more"));
        }
    }
    Ok(Opinion { evidence, ..Opinion::default() })
}

fn refused(file: &Path, why: &str) -> Opinion {
    let denial = Denial {
        what: format!("the change to `{}` does not take effect in this session", file.display()),
        why: format!("{why}, and a running session keeps its guards"),
        fix: "nothing, if a person made the change: the next session starts with it".into(),
    };
    let to_person = Some(denial.to_string());
    Opinion { to_person, ..Opinion::deny(denial, vec![why.to_owned()]) }
}

fn settings_files(workspace: &Workspace) -> Vec<PathBuf> {
    (workspace.client.settings.files)(&workspace.places, &workspace.project)
}

fn read(file: &Path, workspace: &Workspace) -> Result<Registrations, String> {
    let bytes = files::read(file, LARGEST_SETTINGS).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    (workspace.client.settings.registrations)(&text)
        .map_err(|error| format!("the file cannot be read as settings: {error}"))
}

fn remembered<'a>(memory: &'a Memory, file: &Path) -> &'a [String] {
    memory
        .iter()
        .find(|(known, _)| Path::new(known) == file || files::same(Path::new(known), file))
        .map_or(&[], |(_, entries)| entries)
}

fn recall(event: &Event, workspace: &Workspace) -> Option<Memory> {
    let bytes = files::read(&place(event, workspace)?, LARGEST_SETTINGS).ok()??;
    let Ok(Value::Object(map)) = serde_json::from_slice(&bytes) else { return None };
    let entries = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Some(map.iter().map(|(file, list)| (file.clone(), entries(list))).collect())
}

/// One small file per session. The name is made from the id, never the id itself: it comes from
/// outside.
fn place(event: &Event, workspace: &Workspace) -> Option<PathBuf> {
    let session = event.session.as_ref()?;
    let directory = workspace.places.project_state(&workspace.project)?;
    Some(directory.join("sessions").join(format!("{:016x}.json", fnv1a(session.as_bytes()))))
}

/// Takes away what sessions of long ago left; a session that lives longer falls back to the rule
/// for sessions without a memory.
fn forget_old(place: &Path) {
    const KEPT: std::time::Duration = std::time::Duration::from_hours(30 * 24);
    let Some(entries) = place.parent().and_then(|directory| directory.read_dir().ok()) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
