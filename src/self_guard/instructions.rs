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
use crate::workspace::Workspace;

/// So many files that a command reads are looked at.
const MOST_SOURCES: usize = 100;

pub(super) fn names(path: &Path, real: &Path, workspace: &Workspace) -> bool {
    let names = workspace.client.settings.instructions.names;
    names(path) || names(real)
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
    if !names(path, path, workspace) {
        return Ok(None);
    }
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
    let into = workspace.is_directory(to);
    for source in sources(effects) {
        let Some(name) = source.file_name().filter(|name| placed.iter().any(|placed| placed == name)) else {
            continue;
        };
        let landing = if into { to.join(name) } else { to.to_owned() };
        if !(workspace.client.settings.instructions.may_lie_below)(&landing) {
            continue;
        }
        for file in workspace.markdown_below(source) {
            let below = file.strip_prefix(source).unwrap_or(Path::new(""));
            let landing = if below.as_os_str().is_empty() { landing.clone() } else { landing.join(below) };
            if names(&landing, &landing, workspace) && has_hooks(&file, workspace) {
                return Ok(Some(refusal::hooked_instructions(&landing, workspace)));
            }
        }
    }
    Ok(None)
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
