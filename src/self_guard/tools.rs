//! No tool changes what switches Provost on.
//!
//! Judged are effects, so the file tools, Bash and unknown tools are one channel. A settings file
//! may be edited as long as nothing is taken away from Provost; for that, the edit is applied in memory
//! and both versions are compared. What cannot be known beforehand is denied.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::LARGEST_SETTINGS;
use super::commands::{self, Started};
use super::instructions;
use super::patches;
use super::protected::{Meaning, Protected};
use super::refusal::{self, Refusal, Thing};
use super::seal_key::SealKey;
use super::starts;
use super::unfolded::{self, Reached};
use super::work_tree;
use crate::decision::{Fault, Opinion};
use crate::effect::{self, Content, Effect, Proposed};
use crate::event::Event;
use crate::shell;
use crate::workspace::work_tree::WorkTrees;
use crate::workspace::{Workspace, is_within};

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    if let Some(refusal) = event.call().and_then(|call| commands::spoken(&call.tool)) {
        return Ok(refusal.opinion());
    }
    // Most calls touch nothing, and then nothing is looked up.
    let protected = LazyCell::new(|| Protected::of(workspace));
    let patched = event.call().map(|call| patches::given_to(&call.tool, event)).unwrap_or_default();
    for path in patched {
        if let Some(refusal) = touched(&path, event, workspace, &protected)? {
            return Ok(refusal.opinion());
        }
    }
    let refusal = refuse(event.effects(), event, workspace, &protected)?;
    Ok(refusal.map_or_else(Opinion::silence, Refusal::opinion))
}

/// Why one of the effects is denied: the first for which no prompt helps, or else the first of all.
fn refuse<'a>(
    effects: &[Effect],
    event: &Event,
    workspace: &'a Workspace,
    protected: &LazyCell<Protected<'a>, impl FnOnce() -> Protected<'a>>,
) -> Result<Option<Refusal>, Fault> {
    let key = LazyCell::new(|| SealKey::of(workspace));
    let mut trees = WorkTrees::new(workspace);
    let copies = LazyCell::new(|| commands::copied(effects, workspace));
    let mut seen_patches = HashSet::new();
    let mut first = None;
    for effect in effects {
        let refused = match effect {
            Effect::Write { path, content } => written(path, content, event, workspace, protected)?,
            Effect::Place { names, to, tree } => match &*copies {
                None => placed((names, to, *tree), effects, event, workspace, protected)?,
                refusal => refusal.clone(),
            },
            Effect::Delete { path } => deleted(path, workspace, protected)?,
            Effect::ChangeTree(change) => work_tree::refuse_change(change, &mut trees, workspace, protected)?,
            Effect::ApplyPatch(command) if !seen_patches.insert(command) => None,
            Effect::ApplyPatch(command) => match patches::changed_by(command, effects, event, workspace) {
                Ok(paths) => {
                    let mut refusal = None;
                    for path in paths {
                        refusal = written(&path, &Content::Unknown, event, workspace, protected)?;
                        if refusal.is_some() {
                            break;
                        }
                    }
                    refusal
                }
                Err(refusal) => Some(*refusal),
            },
            Effect::Touch { path } => touched(path, event, workspace, protected)?,
            Effect::Read { path, recursive } => {
                key.as_ref().and_then(|key| key.read_by(path, *recursive, workspace))
            }
            Effect::SetVariable { name, value } => commands::variable(name, value.as_deref(), workspace),
            Effect::Run { program, arguments, unknown_from, directory } => {
                let call = Started { program, arguments, unknown_from: *unknown_from };
                let directory = directory.as_deref().unwrap_or(&event.cwd);
                match commands::run(&call, directory, workspace)
                    .or_else(|| starts::refused(program, arguments, workspace))
                {
                    None if starts::makes_links(program, arguments) => {
                        starts::linked(arguments, directory, workspace, protected)?
                    }
                    refusal => refusal,
                }
            }
            Effect::Somewhere { target, places, deed } => {
                match unfolded::reached((target, places, *deed), protected, workspace)? {
                    Some(Reached::Path(path, thing)) => {
                        Some(refusal::own("changed", &path, thing, workspace))
                    }
                    Some(Reached::TooMany) => {
                        Some(refusal::too_large("a word with so many alternatives in braces"))
                    }
                    None => instructions::refuse_somewhere(target, event, workspace),
                }
            }
            Effect::TooLarge { what } => Some(refusal::too_large(what)),
            _ => None,
        };
        match refused {
            Some(refusal) if refusal.is_final => return Ok(Some(refusal)),
            refused => first = first.or(refused),
        }
    }
    Ok(first)
}

fn written<'a>(
    path: &Path,
    content: &Content,
    event: &Event,
    workspace: &'a Workspace,
    protected: &LazyCell<Protected<'a>, impl FnOnce() -> Protected<'a>>,
) -> Result<Option<Refusal>, Fault> {
    let real = workspace.resolve(path);
    match protected.meaning(path, &real)? {
        Meaning::Own(thing) => Ok(Some(refusal::own("written", &real, thing, workspace))),
        Meaning::Settings => {
            let before = workspace.read_text(&real, LARGEST_SETTINGS)?;
            let after = match (content, event.call()) {
                (Content::InCall, Some(call)) => effect::proposed(&call.tool, before.as_deref()),
                _ => Proposed::Unknown,
            };
            let Proposed::Text(after) = after else {
                return Ok(Some(refusal::unknown_content(&real, workspace)));
            };
            let found = altered(before.as_deref(), Some(&after), workspace);
            match refusal::settings(&real, found, workspace) {
                None => refuse_hooks(&real, (before.as_deref(), &after), event, workspace, protected),
                refusal => Ok(refusal),
            }
        }
        Meaning::Nothing
            if instructions::names(path, &real, workspace)
                || instructions::is_linked(&real, content, event, workspace) =>
        {
            instructions::refuse(&real, content, event, workspace)
        }
        // What is made where a directory with protected files could be decides on those files.
        Meaning::Nothing if workspace.exists(&real) => Ok(None),
        Meaning::Nothing => Ok(holder_refusal(&real, workspace, protected)),
    }
}

/// A hook that an edit adds is judged like a command line of the agent, because it runs unasked.
fn refuse_hooks<'a>(
    file: &Path,
    (before, after): (Option<&str>, &str),
    event: &Event,
    workspace: &'a Workspace,
    protected: &LazyCell<Protected<'a>, impl FnOnce() -> Protected<'a>>,
) -> Result<Option<Refusal>, Fault> {
    let read = workspace.client.settings.read;
    let (Ok(before), Ok(after)) = (read(before), read(Some(after))) else { return Ok(None) };
    for line in before.added_commands(&after) {
        let effects = shell::effects(line, &workspace.start, event.home.as_deref());
        if let Some(refusal) = refuse(&effects, event, workspace, protected)? {
            return Ok(Some(refusal.of_hook(file, workspace)));
        }
    }
    Ok(None)
}

/// Files copied or moved to a place: into it, if it is a directory.
fn placed<'a>(
    (names, to, tree): (&[PathBuf], &Path, bool),
    effects: &[Effect],
    event: &Event,
    workspace: &'a Workspace,
    protected: &LazyCell<Protected<'a>, impl FnOnce() -> Protected<'a>>,
) -> Result<Option<Refusal>, Fault> {
    let into = workspace.is_directory(to);
    let landings = if into { names.iter().map(|name| to.join(name)).collect() } else { vec![to.to_owned()] };
    for landing in &landings {
        if let Some(refusal) = written(landing, &Content::Unknown, event, workspace, protected)? {
            return Ok(Some(refusal));
        }
        if tree && let Some(refusal) = laid_over(&workspace.resolve(landing), workspace, protected) {
            return Ok(Some(refusal));
        }
    }
    instructions::refuse_place(names, to, effects, workspace)
}

/// A tree that is laid over an existing one may bring anything along. Over the project or the home,
/// that is everyday work, and a limit of this guard.
fn laid_over(real: &Path, workspace: &Workspace, protected: &Protected) -> Option<Refusal> {
    let everyday = real == workspace.project || Some(real) == workspace.places.home.as_deref();
    if everyday { None } else { holder_refusal(real, workspace, protected) }
}

fn deleted(path: &Path, workspace: &Workspace, protected: &Protected) -> Result<Option<Refusal>, Fault> {
    let real = workspace.resolve(path);
    let named = workspace.resolve_parent(path);
    if let Meaning::Own(thing) = protected.meaning(&named, &real)? {
        return Ok(Some(refusal::own("deleted or moved", &named, thing, workspace)));
    }
    let gone = |path: &Path| is_within(path, &real) || is_within(path, &named);
    if protected.goes_with(gone) {
        return Ok(Some(refusal::own("deleted or moved", &real, Thing::OwnDirectory, workspace)));
    }
    let named_so =
        [real.as_path(), named.as_path()].into_iter().filter(|path| (workspace.client.settings.names)(path));
    let named_so = named_so.map(|path| (path, real.as_path()));
    for (file, target) in protected.settings().chain(named_so) {
        // A settings file may itself be a link: then both the link and its target are at stake.
        if gone(target) || gone(&workspace.resolve_parent(file)) {
            let before = workspace.read_text(target, LARGEST_SETTINGS)?;
            let found = altered(before.as_deref(), None, workspace);
            if let Some(refusal) = refusal::settings(file, found, workspace) {
                return Ok(Some(refusal));
            }
        }
    }
    Ok(None)
}

fn touched(
    path: &Path,
    event: &Event,
    workspace: &Workspace,
    protected: &Protected,
) -> Result<Option<Refusal>, Fault> {
    let refuse_instructions = |path: &Path, real: &Path| {
        if !instructions::names(path, real, workspace) {
            return Ok(None);
        }
        instructions::refuse(real, &Content::Unknown, event, workspace)
    };
    // Most strings that an unknown tool is given are no paths at all.
    if !protected.could_mean(path) && workspace.leads_nowhere(path) {
        return refuse_instructions(path, path);
    }
    let real = workspace.resolve(path);
    match protected.meaning(path, &real)? {
        Meaning::Nothing => refuse_instructions(path, &real),
        Meaning::Own(thing) => Ok(Some(refusal::own("given to an unknown tool", &real, thing, workspace))),
        Meaning::Settings => Ok(Some(refusal::unknown_content(&real, workspace))),
    }
}

/// What a change of a settings file would take away from Provost.
pub(super) fn altered(before: Option<&str>, after: Option<&str>, workspace: &Workspace) -> Vec<String> {
    let read = workspace.client.settings.read;
    match (read(before), read(after)) {
        (Ok(before), Ok(after)) => before.altered_by(&after),
        (_, Err(why)) => vec![why],
        (Err(_), _) => {
            vec!["it is broken now, so the effect on its hooks cannot be known".into()]
        }
    }
}

fn holder_refusal(real: &Path, workspace: &Workspace, protected: &Protected) -> Option<Refusal> {
    let held = protected.held_by(real)?;
    Some(refusal::place_of(real, held, workspace))
}
