//! Agents, skills and commands may not bring hooks that undo a judgement.
//!
//! Where the new content is in the call, it is read as the client would read it. Where a shell puts the file
//! together, its pieces are looked at: the command line itself, the files that it reads or moves, and what the
//! file holds now.

use std::path::{Path, PathBuf};

use super::LARGEST_SETTINGS;
use super::refusal::{self, Refusal};
use crate::decision::Fault;
use crate::effect::{self, Content, Effect, Proposed};
use crate::event::{Event, Tool};
use crate::workspace::{Workspace, is_within};

/// So many files that a command reads are looked at.
const MOST_SOURCES: usize = 100;

pub(super) fn names(path: &Path, real: &Path, workspace: &Workspace) -> bool {
    let names = workspace.client.settings.instructions.names;
    names(path) || names(real)
}

/// Whether the client reads a file as such a one by a link, and the call gives it such hooks. Where a file
/// without hooks is written, no link is looked for.
pub(super) fn is_linked(real: &Path, content: &Content, event: &Event, workspace: &Workspace) -> bool {
    let instructions = &workspace.client.settings.instructions;
    let Some(call) = event.call().filter(|_| *content == Content::InCall) else { return false };
    let before = || workspace.read_text(real, LARGEST_SETTINGS).ok().flatten();
    let has_hooks = match &call.tool {
        Tool::Write { content: Some(text), .. } => (instructions.hooks)(text).is_some(),
        tool @ Tool::Edit { .. } if texts(tool).iter().any(|text| text.contains("hooks")) => {
            match effect::proposed(tool, before().as_deref()) {
                Proposed::Text(text) => (instructions.hooks)(&text).is_some(),
                Proposed::Unknown => false,
            }
        }
        _ => false,
    };
    has_hooks && leads_to(real, workspace)
}

/// Whether one of the client's directories of such files, or a link in it, leads to this file.
fn leads_to(real: &Path, workspace: &Workspace) -> bool {
    let mut above: Vec<PathBuf> =
        workspace.settings_files().iter().filter_map(|file| Some(file.parent()?.to_owned())).collect();
    above.dedup();
    let folders = above.iter().flat_map(|above| {
        workspace.client.settings.instructions.folders.iter().map(|folder| above.join(folder))
    });
    folders.into_iter().any(|folder| {
        let links = workspace.links(&folder).into_iter().map(|link| workspace.resolve(&link));
        std::iter::once(workspace.resolve(&folder)).chain(links).any(|place| is_within(real, &place))
    })
}

/// Refuses a write that gives such a file hooks which it does not have now.
pub(super) fn refuse(
    path: &Path,
    content: &Content,
    event: &Event,
    workspace: &Workspace,
) -> Result<Option<Refusal>, Fault> {
    let instructions = &workspace.client.settings.instructions;
    let Some(call) = event.call() else { return Ok(None) };
    let before = workspace.read_text(path, LARGEST_SETTINGS)?;
    let after = match content {
        Content::InCall => effect::proposed(&call.tool, before.as_deref()),
        Content::Unknown => Proposed::Unknown,
    };
    let hooks_before = before.as_deref().and_then(instructions.hooks);
    match &after {
        Proposed::Text(after) => {
            let has_more = (instructions.hooks)(after).is_some_and(|hooks| hooks_before != Some(hooks));
            Ok(has_more.then(|| refusal::hooked_instructions(path, workspace)))
        }
        Proposed::Unknown => {
            let texts = texts(&call.tool);
            let may_have_more = (instructions.may_add_hooks)(&texts, before.as_deref())
                || sources(event.effects()).any(|file| has_hooks(file, workspace));
            Ok(may_have_more.then(|| refusal::unknown_instructions(path, workspace)))
        }
    }
}

/// Refuses a file or a directory that brings such hooks to where the client reads them.
pub(super) fn refuse_place(
    placed: &[PathBuf],
    to: &Path,
    effects: &[Effect],
    workspace: &Workspace,
) -> Result<Option<Refusal>, Fault> {
    for source in sources(effects) {
        let Some(name) = source.file_name().filter(|name| placed.iter().any(|placed| placed == name)) else {
            continue;
        };
        let into = to.join(name);
        let landings = match (workspace.is_directory(to), workspace.exists(to)) {
            (true, _) => vec![into],
            (false, true) => vec![to.to_owned()],
            // The line may make the directory first.
            (false, false) => vec![to.to_owned(), into],
        };
        for landing in landings {
            if let Some(refusal) = refuse_landing(source, &landing, workspace) {
                return Ok(Some(refusal));
            }
        }
    }
    Ok(None)
}

fn refuse_landing(source: &Path, landing: &Path, workspace: &Workspace) -> Option<Refusal> {
    if !(workspace.client.settings.instructions.may_lie_below)(landing) {
        return None;
    }
    let is_hooked = |file: &Path, landing: &Path| {
        names(landing, &workspace.resolve(landing), workspace) && has_hooks(file, workspace)
    };
    let hooked = if workspace.is_directory(source) {
        workspace.markdown_below(source).into_iter().find_map(|file| {
            let landing = landing.join(file.strip_prefix(source).ok()?);
            is_hooked(&file, &landing).then_some(landing)
        })
    } else {
        is_hooked(source, landing).then(|| landing.to_owned())
    };
    hooked.map(|landing| refusal::hooked_instructions(&landing, workspace))
}

/// Refuses a write to a file whose name only the shell knows, if the command line holds such hooks.
pub(super) fn refuse_somewhere(target: &str, event: &Event, workspace: &Workspace) -> Option<Refusal> {
    let instructions = &workspace.client.settings.instructions;
    let plain: String =
        target.chars().filter(|c| !matches!(c, '"' | '\'' | '\\' | '`' | '{' | '}')).collect();
    let path = PathBuf::from(plain);
    let is_meant =
        (instructions.names)(&path) && (instructions.may_add_hooks)(&texts(&event.call()?.tool), None);
    is_meant.then(|| refusal::unknown_instructions(&path, workspace))
}

/// The texts of a call that may become the content of a file.
pub(super) fn texts(tool: &Tool) -> Vec<&str> {
    match tool {
        Tool::Shell { command } => vec![command],
        Tool::Other { paths, .. } => paths.iter().filter_map(|text| text.to_str()).collect(),
        Tool::Edit { replacements, .. } => replacements.iter().map(|edit| edit.new.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The files that a command line reads or moves away.
pub(super) fn sources(effects: &[Effect]) -> impl Iterator<Item = &Path> {
    let sources = effects.iter().filter_map(|effect| match effect {
        Effect::Read { path, .. } | Effect::Delete { path } => Some(path.as_path()),
        _ => None,
    });
    sources.take(MOST_SOURCES)
}

/// Whether a file has such hooks. What cannot be read cannot be copied either.
fn has_hooks(file: &Path, workspace: &Workspace) -> bool {
    let text = workspace.read_text(file, LARGEST_SETTINGS).ok().flatten();
    text.is_some_and(|text| (workspace.client.settings.instructions.hooks)(&text).is_some())
}
