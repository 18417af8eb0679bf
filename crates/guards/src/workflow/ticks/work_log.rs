//! The record of work in a project: what has changed, which tests passed, and when tasks were ticked.
//!
//! It has the form of the log that rules ask for evidence, but belongs to the project: the work of subagents and of other
//! sessions counts. A tick uses up the work before it. Later ticks of the same session still count as belonging to it,
//! until the user's next prompt or a run that fails, because agents tick the tasks of one piece of work one by one.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::runs::name_run;
use crate::rules::changes::{LineStep, list_commands_before, list_steps_with};
use crate::rules::record::{build_records, record_ended_tasks, record_task};
use crate::rules::scene::{CommandEffects, Scene};
use provost_core::effect::{Effect, WriteContent};
use provost_core::event::{Event, EventKind};
use provost_core::opinion::Fault;
use provost_core::places::is_within;
use provost_core::rules::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};
use provost_core::tool::{Tool, ToolCall};
use provost_core::workflow::project::{WorkflowRoot, find_workflow_root};
use provost_core::workspace::Workspace;

/// Which changes are work, and which command `workflow.finish` asks for.
pub(crate) struct WorkRules<'a> {
    pub(crate) is_work: &'a dyn Fn(&ChangedPath) -> bool,
    pub(crate) finish: Option<&'a str>,
}

/// The name of the project's record.
fn name_log(workspace: &Workspace) -> String {
    format!("workflow {}", workspace.project.display())
}

/// What has been done in the project so far.
pub(crate) fn read_log(event: &Event, workspace: &Workspace) -> Result<SessionEvidence, Fault> {
    let log = name_log(workspace);
    if !workspace.has_evidence(&log) {
        return Ok(SessionEvidence::default());
    }
    let evidence = workspace.read_evidence(&log)?;
    if record_ended_tasks(&evidence, &log, event, workspace)? {
        return workspace.read_evidence(&log);
    }
    Ok(evidence)
}

/// Whether a tick below this root may follow: there was work since the last one, or the last one belongs to the same
/// work.
pub(crate) fn has_work_since_tick(
    evidence: &SessionEvidence,
    root: &WorkflowRoot<'_>,
    session: &str,
    workspace: &Workspace,
) -> bool {
    let name = root.directory.to_string_lossy();
    // What lies below a nearer root is the work of that one.
    let is_own = |change: &ChangedPath| {
        let nearest = change.path().and_then(|path| find_workflow_root(root.table, path, workspace));
        is_change_below(change, &root.directory)
            && nearest.is_none_or(|nearest| nearest.directory == root.directory)
    };
    let records = evidence.records();
    let ticked_in = |record: &EvidenceRecord| match record {
        EvidenceRecord::Ticked { root, session } if *root == name => Some(session.clone()),
        _ => None,
    };
    let last = records.iter().rposition(|record| ticked_in(record).is_some());
    let after = &records[last.map_or(0, |at| at + 1)..];
    let is_work = |record: &EvidenceRecord| match record {
        EvidenceRecord::Changed { change, .. } => is_own(change),
        EvidenceRecord::Ran { has_succeeded, .. } => *has_succeeded,
        _ => false,
    };
    let ends_work = |record: &EvidenceRecord| {
        matches!(record, EvidenceRecord::Prompt | EvidenceRecord::Ran { has_succeeded: false, .. })
    };
    let is_same_work = || {
        let ticker = last.and_then(|at| ticked_in(&records[at]));
        ticker.is_some_and(|ticker| ticker == session) && !after.iter().any(ends_work)
    };
    after.iter().any(is_work) || is_same_work()
}

/// Whether a change may be one of files below a directory.
pub(crate) fn is_change_below(change: &ChangedPath, root: &Path) -> bool {
    match change {
        ChangedPath::Any => true,
        ChangedPath::File(path) => is_within(path, root),
        ChangedPath::Tree(path) => is_within(path, root) || is_within(root, path),
    }
}

/// What the line of a call does before one of its commands: the changes that are work, and the runs that have then
/// passed.
pub(crate) fn list_steps_before(command: u32, rules: &WorkRules<'_>, scene: &Scene<'_>) -> Vec<LineStep> {
    let line = scene.event.line();
    let before = list_commands_before(command as usize, line);
    // Otherwise the command may run although the one before has failed.
    let decides = line.commands.get(command as usize).is_some_and(|command| command.decides_status);
    let steps = list_work(rules, scene).into_iter().filter(|(number, _)| before.contains(number));
    steps.map(|(_, step)| step).filter(|step| decides || matches!(step, LineStep::Change(_))).collect()
}

/// The runs and the changes of a call that are work, with the numbers of their commands.
fn list_work(rules: &WorkRules<'_>, scene: &Scene<'_>) -> Vec<(usize, LineStep)> {
    let mut steps = list_steps_with(scene, |run| name_run(run, rules.finish));
    // A file that the line itself removes again was only on its way to another one.
    let passing: Vec<PathBuf> =
        scene.event.effects().iter().filter_map(|effect| find_deleted(effect, scene)).collect();
    let is_passing = |path: &PathBuf| {
        let writes = |effect: &Effect| matches!(effect, Effect::Write { path: written, .. } if scene.resolve(written) == *path);
        passing.contains(path) && scene.event.effects().iter().any(writes)
    };
    steps.retain(|(number, step)| match step {
        LineStep::Run(_) => true,
        LineStep::Change(change) => {
            let is_passing = change.path().is_some_and(|path| is_passing(&path.to_owned()));
            let command = &scene.commands()[*number];
            let is_certain =
                change.path().is_some() || command.effects.iter().any(|effect| certainly_changes(effect));
            (rules.is_work)(change) && is_certain && !is_passing && changes_content(command)
        }
    });
    steps
}

fn find_deleted(effect: &Effect, scene: &Scene<'_>) -> Option<PathBuf> {
    match effect {
        Effect::Delete { path } => Some(scene.resolve_deleted(path)),
        _ => None,
    }
}

/// Whether an effect changes a file for certain, although nobody knows which.
fn certainly_changes(effect: &Effect) -> bool {
    matches!(effect, Effect::UnknownTarget { .. } | Effect::ApplyPatch(_))
}

/// Whether a command may change what files hold. To switch a branch or to stash is no work.
fn changes_content(command: &CommandEffects<'_>) -> bool {
    const KEEPING: &[&str] = &["mkdir", "touch", "chmod", "chown", "chgrp"];
    const GIT: &[&str] = &["apply", "am", "merge", "pull", "cherry-pick", "revert", "mv", "rm"];
    let keeps = |(program, words): (&str, &[String])| match program {
        "git" => !words.iter().any(|word| GIT.contains(&word.as_str())),
        program => KEEPING.contains(&program),
    };
    let is_redirected = command.effects.iter().any(|effect| match effect {
        Effect::Write { content, .. } => !matches!(content, WriteContent::Unknown),
        _ => false,
    });
    command.programs().next().is_none() || is_redirected || !command.programs().all(keeps)
}

/// Records that a call is about to tick tasks below these roots.
pub(crate) fn record_ticking(roots: &[&Path], event: &Event, workspace: &Workspace) -> Result<(), Fault> {
    let session = event.session.clone().unwrap_or_default();
    let call = event.call().and_then(|call| call.id.clone());
    let records: Vec<_> = roots
        .iter()
        .map(|root| {
            let (root, session) = (root.to_string_lossy().into_owned(), session.clone());
            match &call {
                Some(call) => EvidenceRecord::Ticking { root, session, call: call.clone() },
                // The end of a call without an id cannot be recognized.
                None => EvidenceRecord::Ticked { root, session },
            }
        })
        .collect();
    workspace.append_evidence(&name_log(workspace), &records)
}

/// Records what a finished call has changed, run and ticked.
pub(crate) fn record_call(
    call: &ToolCall,
    event: &Event,
    rules: &WorkRules<'_>,
    workspace: &Workspace,
) -> Result<(), Fault> {
    let log = name_log(workspace);
    if let Some(ended) = &call.outcome.ended_task {
        return record_task(&ended.id, ended.has_succeeded, &log, workspace);
    }
    let has_failed = matches!(event.kind, EventKind::ToolFailed(_));
    if matches!(call.tool, Tool::Read { .. }) || call.is_reader() || has_failed && call.tool.is_file_tool() {
        return Ok(());
    }
    let scene = Scene::new(event, workspace);
    let mut steps = list_work(rules, &scene);
    steps.retain(|(_, step)| matches!(step, LineStep::Change(_)) || matches!(call.tool, Tool::Shell { .. }));
    let mut records = build_records(call, &steps, has_failed);
    records.dedup();
    let known = if workspace.has_evidence(&log) {
        workspace.read_evidence(&log)?
    } else {
        SessionEvidence::default()
    };
    drop_known_changes(&mut records, known.records());
    for record in known.records() {
        if let EvidenceRecord::Ticking { root, session, call: ticking } = record
            && call.id.as_ref() == Some(ticking)
        {
            records.push(EvidenceRecord::Ticked { root: root.clone(), session: session.clone() });
        }
    }
    workspace.append_evidence(&log, &records)
}

/// Leaves out the changes that the end of the record has already, so that it stays short.
fn drop_known_changes(records: &mut Vec<EvidenceRecord>, known: &[EvidenceRecord]) {
    // What a background task changes is recorded under its own call.
    if records.iter().any(|record| matches!(record, EvidenceRecord::Background { .. })) {
        return;
    }
    let is_change = |record: &&EvidenceRecord| matches!(record, EvidenceRecord::Changed { .. });
    let end: Vec<&EvidenceRecord> = known.iter().rev().take_while(is_change).collect();
    records.retain(|record| match record {
        EvidenceRecord::Changed { change, .. } => {
            let is_same = |known: &&EvidenceRecord| matches!(known, EvidenceRecord::Changed { change: other, .. } if other == change);
            !end.iter().any(is_same)
        }
        _ => true,
    });
}

/// Records that the run which `workflow.finish` asks for is about to start, because files may change while it runs.
pub(crate) fn record_start(rules: &WorkRules<'_>, scene: &Scene<'_>) -> Result<(), Fault> {
    let Some(ToolCall { tool: Tool::Shell { .. }, id: Some(id), .. }) = scene.event.call() else {
        return Ok(());
    };
    let Some(wanted) = rules.finish else { return Ok(()) };
    let is_wanted = |(_, step): &(usize, LineStep)| matches!(step, LineStep::Run(name) if name == wanted);
    if !list_steps_with(scene, |run| name_run(run, rules.finish)).iter().any(is_wanted) {
        return Ok(());
    }
    let started = EvidenceRecord::Started { call: id.clone() };
    scene.workspace.append_evidence(&name_log(scene.workspace), &[started])
}

/// Records the user's prompt, if tasks were ticked since the last one, and the end of a background task that a prompt
/// announces.
pub(crate) fn record_prompt(event: &Event, workspace: &Workspace) -> Result<(), Fault> {
    let EventKind::Prompt { is_by_user, finished_task, has_task_succeeded, .. } = &event.kind else {
        return Ok(());
    };
    let log = name_log(workspace);
    if let Some(task) = finished_task {
        return record_task(task, *has_task_succeeded, &log, workspace);
    }
    let is_of_agent = event.agent.as_ref().is_some_and(|agent| agent.id.is_some());
    if !is_by_user || is_of_agent || !workspace.has_evidence(&log) {
        return Ok(());
    }
    let evidence = workspace.read_evidence(&log)?;
    let is_last_tick = evidence.records().iter().rev().find_map(|record| match record {
        EvidenceRecord::Ticked { .. } => Some(true),
        EvidenceRecord::Prompt => Some(false),
        _ => None,
    });
    if is_last_tick == Some(true) {
        workspace.append_evidence(&log, &[EvidenceRecord::Prompt])?;
    }
    Ok(())
}
