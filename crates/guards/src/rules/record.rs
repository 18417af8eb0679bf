//! Records what a session does, for the rules that ask for evidence. Without such a rule nothing is recorded.

use crate::prelude::*;

use super::changes::{LineStep, list_steps};
use super::scene::Scene;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::Fault;
use provost_core::rules::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};
use provost_core::rules::{Rule, is_skip_reviews_prompt};
use provost_core::tool::{Tool, ToolCall};
use provost_core::workspace::Workspace;

/// The command patterns that rules ask for; `None` if no rule asks for changes or runs.
fn list_needed_patterns(rules: &[Rule]) -> Option<Vec<&str>> {
    let mut patterns: Vec<&str> = rules.iter().filter_map(Rule::needed_pattern).collect();
    patterns.sort_unstable();
    patterns.dedup();
    let needs_changes = |rule: &Rule| !rule.subject.changed.is_empty() || rule.needed_reviews().is_some();
    let is_needed = !patterns.is_empty() || rules.iter().any(needs_changes);
    is_needed.then_some(patterns)
}

/// Remembers where a session began, if a rule needs reviews of what it changes.
fn remember_session_commit(event: &Event, workspace: &Workspace) -> Result<(), Fault> {
    let needs_reviews = workspace.config.rules.rules.iter().any(|rule| rule.needed_reviews().is_some());
    if needs_reviews && !workspace.is_past() {
        return workspace.remember_session_commit(session(event));
    }
    Ok(())
}

/// The name of the session's record.
pub(super) fn session(event: &Event) -> &str {
    event.session.as_deref().unwrap_or_default()
}

/// Records that a call with a needed run is about to start.
pub(super) fn record_start(scene: &Scene<'_>) -> Result<(), Fault> {
    let patterns = list_needed_patterns(&scene.workspace.config.rules.rules).unwrap_or_default();
    let Some(ToolCall { tool: Tool::Shell { .. }, id: Some(id), .. }) = scene.event.call() else {
        return Ok(());
    };
    let is_run = |(_, step): &(usize, LineStep)| matches!(step, LineStep::Run(_));
    if patterns.is_empty() || !list_steps(scene, &patterns).iter().any(is_run) {
        return Ok(());
    }
    let started = EvidenceRecord::Started { call: id.clone() };
    scene.workspace.append_evidence(session(scene.event), &[started])
}

/// Records what a finished call has changed and run.
pub(super) fn record_call(call: &ToolCall, event: &Event, workspace: &Workspace) -> Result<(), Fault> {
    let Some(patterns) = list_needed_patterns(&workspace.config.rules.rules) else { return Ok(()) };
    if let Some(ended) = &call.outcome.ended_task {
        return record_task(&ended.id, ended.has_succeeded, session(event), workspace);
    }
    let has_failed = matches!(event.kind, EventKind::ToolFailed(_));
    if matches!(call.tool, Tool::Read { .. }) || has_failed && call.tool.is_file_tool() {
        return Ok(());
    }
    let scene = Scene::new(event, workspace);
    let patterns = if matches!(call.tool, Tool::Shell { .. }) { patterns } else { Vec::new() };
    let mut records = build_records(call, &list_steps(&scene, &patterns), has_failed);
    records.dedup();
    workspace.append_evidence(session(event), &records)?;
    remember_session_commit(event, workspace)
}

/// What a finished call has changed and run.
pub(crate) fn build_records(
    call: &ToolCall,
    steps: &[(usize, LineStep)],
    has_failed: bool,
) -> Vec<EvidenceRecord> {
    let id = call.id.clone().unwrap_or_default();
    let outcome = &call.outcome;
    let has_succeeded =
        !has_failed && !outcome.is_unfinished && outcome.exit_code.is_none_or(|code| code == 0);
    let mut records = Vec::new();
    let mut background = Vec::new();
    for (_, step) in steps {
        match step {
            LineStep::Change(change) => {
                // A run that goes on before a change does not cover it, and it is not known which comes first.
                background.clear();
                records.push(EvidenceRecord::Changed { change: change.clone(), call: id.clone() });
            }
            LineStep::Run(pattern) if outcome.background_task.is_some() => background.push(pattern.clone()),
            LineStep::Run(pattern) => {
                let pattern = pattern.clone();
                records.push(EvidenceRecord::Ran { pattern, has_succeeded, call: id.clone() });
            }
        }
    }
    let is_relevant = !(background.is_empty() && records.is_empty());
    if let Some(task) = outcome.background_task.clone().filter(|_| is_relevant) {
        records.push(EvidenceRecord::Background { task, patterns: background, call: id });
    }
    records
}

/// Records the user's prompt, and the end of a background task that a prompt announces.
pub(super) fn record_prompt(event: &Event, workspace: &Workspace) -> Result<(), Fault> {
    let EventKind::Prompt { is_by_user, finished_task, has_task_succeeded, .. } = &event.kind else {
        return Ok(());
    };
    if list_needed_patterns(&workspace.config.rules.rules).is_none()
        && !workspace.config.rules.rules.iter().any(|rule| rule.subject.stops)
    {
        return Ok(());
    }
    if let Some(task) = finished_task {
        return record_task(task, *has_task_succeeded, session(event), workspace);
    }
    let session = session(event);
    let is_of_user = *is_by_user && event.agent.as_ref().is_none_or(|agent| agent.id.is_none());
    remember_session_commit(event, workspace)?;
    if asks_to_skip_reviews(event) {
        return workspace.append_evidence(session, &[EvidenceRecord::SkipReviews]);
    }
    if is_of_user && workspace.has_evidence(session) && workspace.read_evidence(session)?.has_rounds() {
        workspace.append_evidence(session, &[EvidenceRecord::Prompt])?;
    }
    Ok(())
}

/// Whether this is the user's prompt that ends the reviews of the turn.
pub(super) fn asks_to_skip_reviews(event: &Event) -> bool {
    let EventKind::Prompt { text: Some(text), is_by_user: true, .. } = &event.kind else { return false };
    event.agent.as_ref().is_none_or(|agent| agent.id.is_none()) && is_skip_reviews_prompt(text)
}

/// Records the background tasks whose end the transcript announces, where no hook has seen the prompt about it.
pub(crate) fn record_ended_tasks(
    evidence: &SessionEvidence,
    log: &str,
    event: &Event,
    workspace: &Workspace,
) -> Result<bool, Fault> {
    /// The part of the transcript that is searched.
    const MOST: u64 = 8 << 20;
    let Some(transcript) = &event.transcript else { return Ok(false) };
    let mut has_ended = false;
    for task in evidence.list_running_tasks() {
        let find_end = |line: &[u8]| (workspace.client.transcripts().find_task_end)(line, task);
        // Without a transcript, the end is not witnessed.
        let end = workspace.find_line_backwards(transcript, MOST, find_end).unwrap_or_default();
        if let Some(has_succeeded) = end {
            record_task(task, has_succeeded, log, workspace)?;
            has_ended = true;
        }
    }
    Ok(has_ended)
}

/// Records the end of a background task in a log.
pub(crate) fn record_task(
    task: &str,
    has_succeeded: bool,
    log: &str,
    workspace: &Workspace,
) -> Result<(), Fault> {
    if !workspace.has_evidence(log) {
        return Ok(());
    }
    let evidence = workspace.read_evidence(log)?;
    // The end may be announced several times.
    let running = evidence.list_running_tasks().into_iter().find(|running| *running == task);
    let Some((call, patterns)) = running.and_then(|task| evidence.find_background(task)) else {
        return Ok(());
    };
    // It may have changed the files at any time until now.
    let changed =
        |change: &ChangedPath| EvidenceRecord::Changed { change: change.clone(), call: call.to_owned() };
    let ran = |pattern: &String| EvidenceRecord::Ran {
        pattern: pattern.clone(),
        has_succeeded,
        call: call.to_owned(),
    };
    let mut records: Vec<_> = evidence.list_changes_by(call).map(changed).collect();
    records.extend(patterns.iter().map(ran));
    workspace.append_evidence(log, &records)
}
