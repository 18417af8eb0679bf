//! No tool changes what switches Provost on.
//!
//! Judged are effects, so the file tools, Bash and unknown tools are one channel. A settings file
//! may be edited as long as its hooks stay as they are; for that, the edit is applied in memory
//! and both versions are compared. What cannot be foretold is denied.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use super::LARGEST_SETTINGS;
use super::protected::{Meaning, Protected};
use super::starts;
use super::unfolded::{self, Reached};
use super::work_tree;
use crate::decision::{Denial, Fault, Opinion};
use crate::effect::{self, Content, Effect, Proposed};
use crate::event::{Event, Tool};
use crate::files::Identity;
use crate::overrides::Request;
use crate::text;
use crate::workspace::work_tree::WorkTrees;
use crate::workspace::{Workspace, is_provost, is_within};

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    // Most calls touch nothing, and then nothing is looked up.
    let protected = LazyCell::new(|| Protected::of(workspace));
    let key = LazyCell::new(|| SealKey::of(workspace));
    let mut trees = WorkTrees::new(workspace);
    let copies = LazyCell::new(|| starts::copied(event, workspace));
    if let Some((denial, evidence)) = event.call().and_then(|call| spoken(&call.tool)) {
        return Ok(Opinion::deny(denial, evidence));
    }
    for effect in event.effects() {
        let refused = match effect {
            Effect::Write { path, content } => written(path, content, event, workspace, &protected)?,
            Effect::Place { names, to, tree } => match &*copies {
                None => placed(names, to, *tree, event, workspace, &protected)?,
                refusal => refusal.clone(),
            },
            Effect::Delete { path } => deleted(path, workspace, &protected)?,
            Effect::ChangeTree(change) => {
                work_tree::refuse_change(change, &mut trees, workspace, &protected)?
            }
            Effect::Touch { path } => touched(path, workspace, &protected)?,
            Effect::Read { path, recursive } => {
                key.as_ref().and_then(|key| key.read_by(path, *recursive, workspace))
            }
            Effect::SetVariable { name, value } => variable(name, value.as_deref(), workspace),
            Effect::Run { program, arguments, unknown_from, directory } => {
                let call = Started { program, arguments, unknown_from: *unknown_from };
                let directory = directory.as_deref().unwrap_or(&event.cwd);
                match run(&call, directory, workspace)
                    .or_else(|| starts::refused(program, arguments, workspace))
                {
                    None if starts::makes_links(program, arguments) => {
                        starts::linked(arguments, directory, workspace, &protected)?
                    }
                    refusal => refusal,
                }
            }
            Effect::Somewhere { target, places, deed } => {
                match unfolded::reached((target, places, *deed), &protected, workspace)? {
                    Some(Reached::Path(path, thing)) => own_refusal("a tool may not change", &path, thing),
                    Some(Reached::TooMany) => too_large("a word with so many alternatives in braces"),
                    None => None,
                }
            }
            Effect::TooLarge { what } => too_large(what),
            _ => None,
        };
        if let Some((denial, evidence)) = refused {
            return Ok(Opinion::deny(denial, evidence));
        }
    }
    Ok(Opinion::silence())
}

pub(super) const NOT_FROM_INSIDE: &str = "no guard may be switched off from inside a session";

pub(super) type Refusal = Option<(Denial, Vec<String>)>;

fn written(
    path: &Path,
    content: &Content,
    event: &Event,
    workspace: &Workspace,
    protected: &Protected,
) -> Result<Refusal, Fault> {
    let real = workspace.resolve(path);
    match protected.meaning(path, &real)? {
        Meaning::Own(thing) => Ok(own_refusal("a tool may not write", &real, thing)),
        Meaning::Settings => {
            let before = workspace.read_text(&real, LARGEST_SETTINGS)?;
            let after = match (content, event.call()) {
                (Content::InCall, Some(call)) => effect::proposed(&call.tool, before.as_deref()),
                _ => Proposed::Unknown,
            };
            let found = match &after {
                Proposed::Text(text) => altered(before.as_deref(), Some(text), workspace),
                Proposed::Unknown => vec!["what would be written cannot be told beforehand".into()],
            };
            Ok(settings_refusal(&real, found, workspace))
        }
        // What is made where a directory with protected files could be decides on those files.
        Meaning::Nothing if workspace.exists(&real) => Ok(None),
        Meaning::Nothing => Ok(holder_refusal(&real, protected)),
    }
}

/// Files copied or moved to a place: into it, if it is a directory.
fn placed(
    names: &[PathBuf],
    to: &Path,
    tree: bool,
    event: &Event,
    workspace: &Workspace,
    protected: &Protected,
) -> Result<Refusal, Fault> {
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
    Ok(None)
}

/// A tree that is laid over an existing one may bring anything along. Over the project or the home,
/// that is everyday work, and a limit of this guard.
fn laid_over(real: &Path, workspace: &Workspace, protected: &Protected) -> Refusal {
    let everyday = real == workspace.project || Some(real) == workspace.places.home.as_deref();
    if everyday { None } else { holder_refusal(real, protected) }
}

fn deleted(path: &Path, workspace: &Workspace, protected: &Protected) -> Result<Refusal, Fault> {
    let real = workspace.resolve(path);
    let named = workspace.resolve_parent(path);
    if let Meaning::Own(thing) = protected.meaning(&named, &real)? {
        return Ok(own_refusal("a tool may not delete or move", &named, thing));
    }
    let gone = |path: &Path| is_within(path, &real) || is_within(path, &named);
    if protected.goes_with(gone) {
        return Ok(own_refusal(
            "a tool may not delete or move",
            &real,
            "a directory that holds Provost's own files",
        ));
    }
    let named_so =
        [real.as_path(), named.as_path()].into_iter().filter(|path| (workspace.client.settings.names)(path));
    let named_so = named_so.map(|path| (path, real.as_path()));
    for (file, target) in protected.settings().chain(named_so) {
        // A settings file may itself be a link: then both the link and its target are at stake.
        if gone(target) || gone(&workspace.resolve_parent(file)) {
            let before = workspace.read_text(target, LARGEST_SETTINGS)?;
            let found = altered(before.as_deref(), None, workspace);
            if let Some(refusal) = settings_refusal(file, found, workspace) {
                return Ok(Some(refusal));
            }
        }
    }
    Ok(None)
}

fn touched(path: &Path, workspace: &Workspace, protected: &Protected) -> Result<Refusal, Fault> {
    // Most strings that an unknown tool is given are no paths at all.
    if !protected.could_mean(path) && workspace.leads_nowhere(path) {
        return Ok(None);
    }
    let real = workspace.resolve(path);
    Ok(match protected.meaning(path, &real)? {
        Meaning::Nothing => None,
        Meaning::Own(thing) => own_refusal("an unknown tool may not be given", &real, thing),
        Meaning::Settings => {
            let found = vec!["the tool is unknown, so what it does to the file cannot be told".into()];
            settings_refusal(&real, found, workspace)
        }
    })
}

/// The key that seals what was witnessed, once there is one.
struct SealKey {
    place: PathBuf,
    identity: Identity,
}

impl SealKey {
    fn of(workspace: &Workspace) -> Option<Self> {
        let place = workspace.places.seal_key()?;
        Some(Self { identity: workspace.identity(&place)?, place: workspace.resolve(&place) })
    }

    fn read_by(&self, path: &Path, recursive: bool, workspace: &Workspace) -> Refusal {
        let reads = workspace.identity(path) == Some(self.identity)
            || (recursive && is_within(&self.place, &workspace.resolve(path)));
        if !reads {
            return None;
        }
        let place = self.place.display();
        let denial = Denial {
            what: "a tool may not read the seal key".into(),
            why: format!(
                "{place} proves that a verdict was witnessed, and whoever can read it can forge one"
            ),
            fix: "leave the key alone; for a search, name a directory that does not hold it".into(),
        };
        Some((denial, vec![format!("reads {place}")]))
    }
}

/// Provost's own variables silence it in the clients that it starts itself.
fn variable(name: &str, value: Option<&str>, workspace: &Workspace) -> Refusal {
    if workspace.client.settings.disarming.contains(&name) && !matches!(value, Some("" | "0")) {
        return starts::without_hooks(name);
    }
    if !name.starts_with("PROVOST_") {
        return None;
    }
    let denial = Denial {
        what: format!("a tool may not set {}", text::quoted(name)),
        why: format!("the variable is Provost's own, and {NOT_FROM_INSIDE}"),
        fix: "run the command without it".into(),
    };
    Some((denial, vec![format!("the command sets {name}")]))
}

/// A tool may put a prompt into the session later, as a schedule does, and not every client tells
/// such a prompt from one that the person has typed.
fn spoken(tool: &Tool) -> Refusal {
    let Tool::Other { paths: texts, .. } = tool else { return None };
    texts.iter().filter_map(|text| text.to_str()).find_map(override_refusal)
}

fn override_refusal(text: &str) -> Refusal {
    let guard = Request::read(text)?.overridable()?.name;
    let denial = Denial {
        what: format!("a tool may not be given the text `provost override {guard} …`"),
        why: "only the person lets a guard pass, and the text could become a prompt".into(),
        fix: "go on without it, or ask the person to write the prompt".into(),
    };
    Some((denial, vec![format!("the call asks to override {guard}")]))
}

/// A program as a command line starts it.
struct Started<'a> {
    program: &'a str,
    arguments: &'a [String],
    /// In front of which argument a word is missing that cannot be known.
    unknown_from: Option<usize>,
}

impl<'a> Started<'a> {
    /// The call of Provost that this is: by its name, under another name of the same file, or through
    /// the script of a plugin.
    fn of_provost(&self, directory: &Path, workspace: &Workspace) -> Option<Started<'a>> {
        const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "ksh", "zsh", "source", "."];
        let name = |program: &'a str| program.rsplit('/').next().unwrap_or(program);
        let is_script = |program: &'a str| name(program) == "provost.sh";
        // Most programs are named without a path, and then nothing is looked up.
        let is_own = |program: &str| {
            let own = || workspace.program().and_then(|own| workspace.identity(&own));
            program.contains('/')
                && own().is_some_and(|own| workspace.identity(&directory.join(program)) == Some(own))
        };
        if is_provost(self.program) || is_script(self.program) || is_own(self.program) {
            return Some(Started { ..*self });
        }
        let (script, arguments) = self.arguments.split_first()?;
        let unknown_from = self.unknown_from.map(|at| at.saturating_sub(1));
        (SHELLS.contains(&name(self.program)) && is_script(script)).then_some(Started {
            program: script,
            arguments,
            unknown_from,
        })
    }

    /// Whether these may be its first words.
    fn may_begin_with(&self, call: &[&str]) -> bool {
        let certain = &self.arguments[..self.unknown_from.unwrap_or(self.arguments.len())];
        let agree = certain.iter().zip(call).all(|(word, called)| word == called);
        agree && (certain.len() >= call.len() || self.unknown_from.is_some())
    }
}

/// A forged event could make Provost forget what was registered; a forged prompt, to another client
/// of this session, could let a guard pass.
fn run(started: &Started<'_>, directory: &Path, workspace: &Workspace) -> Refusal {
    if let Some(refusal) = started.arguments.iter().find_map(|argument| override_refusal(argument)) {
        return Some(refusal);
    }
    let (call, why) = forbidden(&started.of_provost(directory, workspace)?)?;
    let denial = Denial {
        what: format!("a tool may not call `provost {call}`"),
        why: why.into(),
        fix: "use `provost explain`, `provost journal` or `provost gate status` to see what was decided, or ask the \
              person to run it"
            .into(),
    };
    Some((denial, vec![format!("the command calls provost {call}")]))
}

/// The commands of Provost that are not for tools, and why.
fn forbidden(started: &Started<'_>) -> Option<(&'static str, &'static str)> {
    const EVENT: &str =
        "only the client tells Provost what happens, and a made-up event could switch a guard off";
    const RECORD: &str = "only the client tells Provost what happens, and a made-up event could rewrite the record \
                          of a plan";
    const REVIEWER: &str = "a verdict counts because the reviewer is the person's choice, and what a tool starts has \
                            the environment that the tool gives it";
    const ENTRIES: &str = "it changes hook entries, and no guard may be switched off from inside a session";
    const COMMANDS: &[(&str, &[&str], &str)] = &[
        ("hook", &["hook"], EVENT),
        ("gate assess", &["gate", "assess"], REVIEWER),
        ("compat post_tool_use", &["compat", "post_tool_use"], RECORD),
        ("compat pre_tool_use", &["compat", "pre_tool_use"], RECORD),
        ("review run", &["review", "run"], REVIEWER),
        ("phases migrate", &["phases", "migrate"], ENTRIES),
        ("init", &["init"], ENTRIES),
        ("uninstall", &["uninstall"], ENTRIES),
        ("compat stop-hook", &["compat", "stop-hook"], REVIEWER),
    ];
    COMMANDS.iter().find(|(_, words, _)| started.may_begin_with(words)).map(|(call, _, why)| (*call, *why))
}

fn too_large(what: &str) -> Refusal {
    let denial = Denial {
        what: format!("a tool may not be given {what}"),
        why: "it is too large to be looked at, and what cannot be looked at could switch a guard off".into(),
        fix: "write the data to a file with the file tools, or split the call".into(),
    };
    Some((denial, vec![what.to_owned()]))
}

/// What would change in the hooks of a settings file.
pub(super) fn altered(before: Option<&str>, after: Option<&str>, workspace: &Workspace) -> Vec<String> {
    let read = workspace.client.settings.read;
    match (read(before), read(after)) {
        (Ok(before), Ok(after)) => before.altered_by(&after),
        (_, Err(why)) => vec![format!("the client would drop the file with all its hooks: {why}")],
        (Err(_), _) => {
            vec!["the file is broken now, so what the change does to its hooks cannot be told".into()]
        }
    }
}

/// For a path at which a directory with protected files is, or may be.
fn holder_refusal(real: &Path, protected: &Protected) -> Refusal {
    let held = protected.held_by(real)?;
    let denial = Denial {
        what: format!("a tool may not put something in the place of {}", shown(real)),
        why: format!("{} is looked for below it, and {NOT_FROM_INSIDE}", shown(held)),
        fix: "write the files one by one, or ask the person to do it".into(),
    };
    Some((denial, vec![format!("{} lies below {}", held.display(), real.display())]))
}

fn own_refusal(what: &str, path: &Path, thing: &str) -> Refusal {
    let denial = Denial {
        what: format!("{what} {}", shown(path)),
        why: format!("it is {thing}, and {NOT_FROM_INSIDE}"),
        fix: "go on without changing it; if it has to change, ask the person to do it in an editor".into(),
    };
    Some((denial, vec![format!("{} is {thing}", path.display())]))
}

pub(super) fn shown(path: &Path) -> String {
    text::quoted(&path.to_string_lossy())
}

fn settings_refusal(path: &Path, found: Vec<String>, workspace: &Workspace) -> Refusal {
    let first = found.first()?;
    let denial = Denial {
        what: format!("this change to {} is not allowed", shown(path)),
        why: format!("{}, and {NOT_FROM_INSIDE}", text::repeated(first)),
        fix: format!(
            "{}, or ask the person to make this change in an editor",
            workspace.client.settings.how_to_edit
        ),
    };
    Some((denial, found))
}
