//! The guard `workflow-approval`: records the user's prompt `provost approve NAME`.
//!
//! Only the user's own prompt counts: not that of a subagent, of a notification or of any other program, and nothing that
//! a model wrote into a file. It covers the texts as they are at that moment.

use crate::prelude::*;
use std::path::Path;
use std::rc::Rc;

use super::places::describe_root;
use super::places::{find_record_place, list_roots_below};
use super::record::{Approval, WorkflowRecord, digest_meaning, store_named};
use provost_core::config::settings;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::text::{clip_line, make_one_line, quote_for_model, shorten_line, suggest_word};
use provost_core::workflow::instance::{ArtefactProblem, WorkflowInstance};
use provost_core::workflow::project::{InstancePlace, WorkflowRoot};
use provost_core::workflow::{PromptRequest, WorkflowSystem, WorkflowTable};
use provost_core::workspace::Workspace;

/// How many files or names an answer lists.
const MOST_NAMED: usize = 6;
const LONGEST_PROMPT: usize = 300;

/// An instance that a prompt may mean.
struct Candidate<'t> {
    root: Rc<WorkflowRoot<'t>>,
    place: InstancePlace,
    /// The session works in its project.
    is_near: bool,
}

struct FoundInstance<'t> {
    root: Rc<WorkflowRoot<'t>>,
    instance: WorkflowInstance,
}

/// Why nothing was approved, and how to fix it.
type Rejected = (String, String);

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::Prompt { text: Some(text), is_by_user, .. } = &event.kind else {
        return Ok(Opinion::unconcerned());
    };
    let tables = workspace.config.list_workflows();
    let Some(request) = PromptRequest::parse(text, &tables) else { return Ok(Opinion::unconcerned()) };
    let in_subagent = event.agent.as_ref().is_some_and(|agent| agent.id.is_some());
    let is_of_user = *is_by_user && !in_subagent;
    match request {
        PromptRequest::Approve(_) if !is_of_user => {
            Ok(reject(("the prompt is not the user's own".into(), "let the user type it".into())))
        }
        PromptRequest::Approve(name) => {
            let approved = choose_named(name, &tables, event, workspace)
                .and_then(|found| approve(&found, text, event, workspace));
            Ok(approved.unwrap_or_else(reject))
        }
        PromptRequest::Command { .. } if !is_of_user => Ok(Opinion::unconcerned()),
        PromptRequest::Command { workflow, name } => {
            let tables: Vec<WorkflowTable> =
                tables.iter().filter(|table| table.name == workflow).cloned().collect();
            let is_approval =
                workspace.config.words(settings::WORKFLOW_APPROVE_BY).iter().any(|by| by == "command");
            let found = choose_for_command(name, &tables, event, workspace);
            match found {
                Ok(found) if is_approval => {
                    Ok(approve(&found, text, event, workspace).unwrap_or_else(reject))
                }
                Ok(found) => note_named(&found, workspace),
                Err(why) if is_approval => Ok(reject(why)),
                // The command itself asks which one is meant.
                Err(_) => Ok(Opinion::unconcerned()),
            }
        }
    }
}

/// Remembers which instance the user works on.
fn note_named(found: &FoundInstance<'_>, workspace: &Workspace) -> Result<Opinion, Fault> {
    let place = find_record_place(&found.root.directory, workspace);
    let (workflow, name) = (&found.root.table.name, &found.instance.place.name);
    if WorkflowRecord::read(&place, workspace)?.find_named(workflow) != Some(name.as_str()) {
        store_named(&place, workflow, name, workspace)?;
    }
    Ok(Opinion::unconcerned())
}

/// The instances of all projects that a session can mean.
fn list_candidates<'t>(
    tables: &'t [WorkflowTable],
    event: &Event,
    workspace: &Workspace,
) -> Result<Vec<Candidate<'t>>, Rejected> {
    let start = workspace.resolve(&event.cwd);
    let mut candidates = Vec::new();
    let mut has_root = false;
    for root in tables.iter().flat_map(|table| list_roots_below(table, &start, workspace)).map(Rc::new) {
        has_root = true;
        let places = root.list_instances(workspace).map_err(|fault| {
            (
                make_one_line(&fault.to_string()),
                "make it readable, or restore it from the last commit".to_owned(),
            )
        })?;
        let is_near = start.starts_with(&root.directory);
        candidates.extend(places.into_iter().map(|place| Candidate { root: root.clone(), place, is_near }));
    }
    if !has_root {
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        let why = format!("there is no project of {} here", names.join(", "));
        return Err((why, "start the session in the project".into()));
    }
    Ok(candidates)
}

/// The one instance with a name.
fn choose_named<'t>(
    name: &str,
    tables: &'t [WorkflowTable],
    event: &Event,
    workspace: &Workspace,
) -> Result<FoundInstance<'t>, Rejected> {
    let candidates = list_candidates(tables, event, workspace)?;
    let mut called: Vec<&Candidate<'_>> = candidates
        .iter()
        .filter(|candidate| !name.is_empty() && candidate.root.is_called(&candidate.place, name))
        .collect();
    // The nearest project is meant, and what is not finished yet.
    for is_meant in [&|it: &Candidate<'_>| it.is_near, &|it: &Candidate<'_>| it.is_open(workspace)]
        as [&dyn Fn(&Candidate<'_>) -> bool; 2]
    {
        if called.len() > 1 && called.iter().any(|candidate| is_meant(candidate)) {
            called.retain(|candidate| is_meant(candidate));
        }
    }
    match called.as_slice() {
        [one] => one.read(workspace).ok_or_else(|| reject_unknown(name, &candidates, workspace)),
        [] => Err(reject_unknown(name, &candidates, workspace)),
        several => {
            let paths = several.iter().take(MOST_NAMED).map(|candidate| {
                let path =
                    candidate.place.path.strip_prefix(&workspace.project).unwrap_or(&candidate.place.path);
                format!("`provost approve {}`", make_one_line(&path.to_string_lossy()))
            });
            let why = format!("there are {} of that name", several.len());
            Err((why, format!("type one of {}", paths.collect::<Vec<_>>().join(", "))))
        }
    }
}

/// The instance that a command of the tool is about: the one that it names, the one that the tool's pointer leads to, or the
/// only one that is open.
fn choose_for_command<'t>(
    name: Option<&str>,
    tables: &'t [WorkflowTable],
    event: &Event,
    workspace: &Workspace,
) -> Result<FoundInstance<'t>, Rejected> {
    let candidates = list_candidates(tables, event, workspace)?;
    if let Some(name) = name {
        let is_known = candidates.iter().any(|candidate| candidate.root.is_called(&candidate.place, name));
        // A tool with a pointer takes any text, and the others a name.
        if is_known || tables.iter().all(|table| table.pointer.is_none()) {
            return choose_named(name, tables, event, workspace);
        }
    }
    let near = || candidates.iter().filter(|candidate| candidate.is_near);
    let pointed = near().find(|candidate| {
        candidate
            .root
            .read_pointer(workspace)
            .is_some_and(|name| candidate.root.is_called(&candidate.place, &name))
    });
    let open = || {
        let mut open = near().filter(|candidate| candidate.is_open(workspace));
        open.next().filter(|_| open.next().is_none())
    };
    let chosen = pointed.or_else(open).and_then(|candidate| candidate.read(workspace));
    chosen.ok_or_else(|| reject_unknown("", &candidates, workspace))
}

impl<'t> Candidate<'t> {
    fn read(&self, workspace: &Workspace) -> Option<FoundInstance<'t>> {
        let instance = self.root.read_instance(&self.place, workspace)?;
        Some(FoundInstance { root: self.root.clone(), instance })
    }

    fn is_open(&self, workspace: &Workspace) -> bool {
        self.root.read_instance(&self.place, workspace).is_some_and(|instance| instance.is_open())
    }
}

/// Records the approval, unless something is missing.
fn approve(
    found: &FoundInstance<'_>,
    prompt: &str,
    event: &Event,
    workspace: &Workspace,
) -> Result<Opinion, Rejected> {
    let FoundInstance { root, instance } = found;
    let named = root.table.describe_instance(&instance.place.name);
    if let Some((artefact, problem)) = instance.first_problem() {
        let path = quote_for_model(&artefact.expected);
        let (why, fix) = match problem {
            ArtefactProblem::Missing => (format!("{path} is missing"), "have it written"),
            ArtefactProblem::Empty => (format!("{path} is empty"), "have it written"),
            ArtefactProblem::Unfilled(mark) => {
                (format!("{path} is still a template ({})", quote_for_model(mark)), "have it filled in")
            }
            ArtefactProblem::NoTask => (format!("{path} has no task (`- [ ] …`)"), "have the tasks written"),
            ArtefactProblem::Unreadable(why) => (make_one_line(why), "make it readable"),
        };
        return Err((format!("of {named}, {why}"), format!("{fix}, and approve it then")));
    }
    if !instance.is_open() {
        return Err((format!("{named} is finished: no task is open"), "name another one".into()));
    }
    let relative =
        |path: &Path, base: &Path| path.strip_prefix(base).unwrap_or(path).to_string_lossy().into_owned();
    let place = find_record_place(&root.directory, workspace);
    let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| workspace.environment_variable(name));
    let approval = Approval {
        workflow: root.table.name.clone(),
        instance: instance.place.name.clone(),
        place: relative(&instance.place.path, &root.directory),
        root: describe_root(&root.directory, workspace),
        files: instance.list_files().map(|file| (file.path.clone(), digest_meaning(file))).collect(),
        time: workspace.format_now(),
        session: event.session.clone().unwrap_or_default(),
        user: user.unwrap_or_default(),
        prompt: shorten_line(prompt, LONGEST_PROMPT),
    };
    approval.store(&place, workspace).map_err(|fault| {
        (
            make_one_line(&fault.to_string()),
            "make Provost's state directory writable, and type it again".to_owned(),
        )
    })?;
    let text = describe_approval(root, instance);
    Ok(Opinion {
        evidence: vec![format!("the user approves {} {}", root.table.name, instance.place.name)],
        to_model: Some(format!("[provost] the user has approved {text}")),
        to_user: Some(format!("[provost] approved: {text}")),
        ..Opinion::default()
    })
}

fn describe_approval(root: &WorkflowRoot<'_>, instance: &WorkflowInstance) -> String {
    let place = format!("{}/", root.shorten(&instance.place.path));
    let mut names: Vec<String> = instance
        .list_files()
        .take(MOST_NAMED)
        .map(|file| make_one_line(file.path.strip_prefix(&place).unwrap_or(&file.path)))
        .collect();
    let count = instance.list_files().count();
    if count > MOST_NAMED {
        names.push(format!("{} more files", count - MOST_NAMED));
    }
    let tasks = match instance.count_tasks() {
        (_, 0) => String::new(),
        (_, 1) => ", 1 task".into(),
        (_, all) => format!(", {all} tasks"),
    };
    let unwritten: Vec<&str> = instance
        .artefacts
        .iter()
        .filter(|artefact| artefact.problem == Some(ArtefactProblem::Missing) && artefact.id != "design")
        .map(|artefact| artefact.id.as_str())
        .collect();
    let gap = if root.table.system != WorkflowSystem::OpenSpec || unwritten.is_empty() {
        String::new()
    } else {
        format!(" Not written: {}.", unwritten.join(", "))
    };
    format!(
        "{} ({}{tasks}). Work may begin; a changed requirement has to be approved again.{gap}",
        root.table.describe_instance(&instance.place.name),
        names.join(", "),
    )
}

fn reject_unknown(name: &str, candidates: &[Candidate<'_>], workspace: &Workspace) -> Rejected {
    let open: Vec<&str> = candidates
        .iter()
        .filter(|candidate| candidate.is_open(workspace))
        .map(|candidate| candidate.place.name.as_str())
        .collect();
    let why = if name.is_empty() {
        "it names no instance".to_owned()
    } else {
        let all = candidates.iter().map(|candidate| candidate.place.name.clone());
        format!("there is no {} here{}", quote_for_model(&clip_line(name, 60)), suggest_word(name, all))
    };
    if open.is_empty() {
        return (why, "begin one first: nothing is open, so no work waits".into());
    }
    let mut names: Vec<String> = open
        .iter()
        .take(MOST_NAMED)
        .map(|name| format!("`provost approve {}`", make_one_line(name)))
        .collect();
    names.dedup();
    if open.len() > MOST_NAMED {
        names.push(format!("… ({} are open; `provost workflow status` lists them)", open.len()));
    }
    (why, format!("type {}", names.join(" or ")))
}

fn reject((why, fix): Rejected) -> Opinion {
    let what = "nothing was approved".into();
    let text = Denial { what, why: why.clone(), fix, document_wording: None }.to_string();
    Opinion {
        to_model: Some(text.clone()),
        evidence: vec![format!("not approved: {why}")],
        to_user: Some(text),
        ..Opinion::default()
    }
}
