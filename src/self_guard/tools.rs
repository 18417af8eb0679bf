//! No tool changes what switches Provost on.
//!
//! Judged are effects, so the file tools, Bash and unknown tools are one channel. A settings file
//! may be edited as long as its hooks stay as they are; for that, the edit is applied in memory
//! and both versions are compared. What cannot be foretold is denied.

use std::path::{Path, PathBuf};

use super::LARGEST_SETTINGS;
use crate::decision::{Denial, Fault, Opinion};
use crate::effect::{self, Content, Effect, Proposed};
use crate::event::Event;
use crate::files;
use crate::workspace::{CONFIG_FILE, Workspace};

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    for effect in event.effects() {
        let refused = match effect {
            Effect::Write { path, content } => written(path, content, event, workspace)?,
            Effect::Delete { path } => deleted(path, workspace)?,
            Effect::Touch { path } => touched(path, workspace),
            Effect::Read { path, recursive } => read(path, *recursive, workspace),
            Effect::SetVariable { name } => variable(name),
            _ => None,
        };
        if let Some((denial, evidence)) = refused {
            return Ok(Opinion::deny(denial, evidence));
        }
    }
    Ok(Opinion::silence())
}

type Refusal = Option<(Denial, Vec<String>)>;

/// What a path means to this guard.
enum Meaning {
    Nothing,
    /// Provost's configuration, state, key or program: closed to every tool.
    Own(&'static str),
    /// A settings file of the client: its hooks are closed, the rest is open.
    Settings,
}

fn written(path: &Path, content: &Content, event: &Event, workspace: &Workspace) -> Result<Refusal, Fault> {
    let real = workspace.resolve(path);
    match meaning(path, &real, workspace) {
        Meaning::Nothing => Ok(None),
        Meaning::Own(thing) => Ok(own_refusal("a tool may not write", &real, thing)),
        Meaning::Settings => {
            let before = settings_text(&real)?;
            let after = match (content, event.call()) {
                (Content::InCall, Some(call)) => effect::proposed(&call.tool, before.as_deref()),
                _ => Proposed::Unknown,
            };
            let found = match &after {
                Proposed::Text(text) => (workspace.client.settings.weakened)(before.as_deref(), Some(text)),
                Proposed::Unknown => vec!["what would be written cannot be told beforehand".into()],
            };
            Ok(settings_refusal(&real, found))
        }
    }
}

fn deleted(path: &Path, workspace: &Workspace) -> Result<Refusal, Fault> {
    let real = workspace.resolve(path);
    let as_named = as_named_by(path, workspace);
    if let Meaning::Own(thing) = meaning(&as_named, &real, workspace) {
        return Ok(own_refusal("a tool may not delete or move", &as_named, thing));
    }
    for own in own_files(workspace) {
        let own = workspace.resolve(&own);
        if (own.starts_with(&real) || own.starts_with(&as_named)) && own.exists() {
            return Ok(own_refusal(
                "a tool may not delete or move",
                &real,
                "a directory that holds Provost's own files",
            ));
        }
    }
    let known = (workspace.client.settings.files)(&workspace.places, &workspace.project);
    let named =
        [&real, &as_named].into_iter().filter(|path| (workspace.client.settings.names)(path)).cloned();
    for file in known.into_iter().chain(named) {
        // A settings file may itself be a link: then both the link and its target are at stake.
        let target = workspace.resolve(&file);
        let link = as_named_by(&file, workspace);
        let gone = |path: &Path| path.starts_with(&real) || path.starts_with(&as_named);
        if gone(&target) || gone(&link) {
            let before = settings_text(&target)?;
            let found = (workspace.client.settings.weakened)(before.as_deref(), None);
            if let Some(refusal) = settings_refusal(&file, found) {
                return Ok(Some(refusal));
            }
        }
    }
    Ok(None)
}

/// The path with its directory resolved, but its last part as it is named: what a deletion takes
/// away is a link, not what the link leads to.
fn as_named_by(path: &Path, workspace: &Workspace) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => workspace.resolve(parent).join(name),
        _ => workspace.resolve(path),
    }
}

fn touched(path: &Path, workspace: &Workspace) -> Refusal {
    let real = workspace.resolve(path);
    match meaning(path, &real, workspace) {
        Meaning::Nothing => None,
        Meaning::Own(thing) => own_refusal("an unknown tool may not be given", &real, thing),
        Meaning::Settings => settings_refusal(
            &real,
            vec!["the tool is unknown, so what it does to the file cannot be told".into()],
        ),
    }
}

fn read(path: &Path, recursive: bool, workspace: &Workspace) -> Refusal {
    let key = workspace.resolve(&workspace.places.seal_key()?);
    let real = workspace.resolve(path);
    let reads =
        real == key || files::same(&real, &key) || (recursive && key.starts_with(&real) && key.exists());
    if !reads {
        return None;
    }
    let denial = Denial {
        what: "a tool may not read the seal key".into(),
        why: format!(
            "{} proves that a verdict was witnessed, and whoever can read it can forge one",
            key.display()
        ),
        fix: "leave the key alone; for a search, name a directory that does not hold it".into(),
    };
    Some((denial, vec![format!("read {}", real.display())]))
}

/// Provost's own variables silence it in the clients that it starts itself.
fn variable(name: &str) -> Refusal {
    if !name.starts_with("PROVOST_") {
        return None;
    }
    let denial = Denial {
        what: format!("a tool may not set `{name}`"),
        why: "the variable is Provost's own, and no guard may be switched off from inside a session".into(),
        fix: "run the command without it".into(),
    };
    Some((denial, vec![format!("the command sets {name}")]))
}

/// What a file is, by the name it is given, by its real place, and by its identity: hard links and
/// names that the file system takes for equal lead to the same file.
fn meaning(named: &Path, real: &Path, workspace: &Workspace) -> Meaning {
    let is_config = |path: &Path| path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(CONFIG_FILE));
    if is_config(named) || is_config(real) {
        return Meaning::Own("Provost's configuration");
    }
    let state = workspace.places.state.as_ref().map(|state| workspace.resolve(state));
    if state.as_ref().is_some_and(|state| real.starts_with(state)) {
        return Meaning::Own("Provost's own state");
    }
    if (workspace.client.settings.names)(named) || (workspace.client.settings.names)(real) {
        return Meaning::Settings;
    }
    let is = |file: &PathBuf| workspace.resolve(file) == real || files::same(file, real);
    if own_files(workspace).iter().any(is) || state.is_some_and(|state| files::linked_below(real, &state)) {
        return Meaning::Own("one of Provost's own files");
    }
    if (workspace.client.settings.files)(&workspace.places, &workspace.project).iter().any(is) {
        return Meaning::Settings;
    }
    Meaning::Nothing
}

/// The files and directories that are Provost's own, by name.
fn own_files(workspace: &Workspace) -> Vec<PathBuf> {
    let places = &workspace.places;
    let configs = [places.managed.as_ref(), Some(&workspace.project), places.config.as_ref()];
    let configs = configs.into_iter().flatten().map(|directory| directory.join(CONFIG_FILE));
    let rest = [places.seal_key(), places.state.clone(), std::env::current_exe().ok()];
    configs.chain(rest.into_iter().flatten()).collect()
}

fn own_refusal(what: &str, path: &Path, thing: &str) -> Refusal {
    let denial = Denial {
        what: format!("{what} `{}`", path.display()),
        why: format!("it is {thing}, and no guard may be switched off from inside a session"),
        fix: "go on without changing it; if it has to change, ask the person to do it in an editor".into(),
    };
    Some((denial, vec![format!("{} is {thing}", path.display())]))
}

fn settings_refusal(path: &Path, found: Vec<String>) -> Refusal {
    let first = found.first()?;
    let denial = Denial {
        what: format!("this change to `{}` is not allowed", path.display()),
        why: format!("{first}, and no guard may be switched off from inside a session"),
        fix: "change other parts of the file with the Edit tool and leave `hooks`, its switches \
              and plugins as they are, or ask the person to make this change in an editor"
            .into(),
    };
    Some((denial, found))
}

fn settings_text(path: &Path) -> Result<Option<String>, Fault> {
    let bytes = files::read(path, LARGEST_SETTINGS).map_err(|error| Fault::Error(error.to_string()))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
