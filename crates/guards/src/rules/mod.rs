//! The guard `rules`: judges every rule of `provost.toml` over the effects of an event.
//!
//! Each rule that matches gives an opinion of its own, so that answers, journal and overrides name it. A rule is looked
//! at only as far as the event can concern it: patterns are parsed and regular expressions compiled last.

mod added_lines;
mod answer;
mod call;
pub(crate) mod changes;
mod check;
mod commits;
mod find_deletion;
mod find_expression;
mod find_reading;
mod hidden_writes;
pub(crate) mod idle_runs;
pub(crate) mod need;
pub(crate) mod paths;
mod placed_paths;
mod pushes;
pub(crate) mod record;
mod review;
mod run;
mod runs;
mod saved;
pub(crate) mod scene;
mod stop;
mod stop_example;
#[cfg(test)]
mod tests;
mod trust;
pub(crate) mod used_paths;

use crate::prelude::*;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Fault, Opinion};
use provost_core::rules::{Rule, RuleAction};
use provost_core::text::sanitize_for_model;
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;

pub use check::find_time_limit;
pub use scene::{ExampleFacts, Scene};
pub use stop_example::matches_stop_example;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    workspace.keep_good_rules();
    if let Some(answer) = trust::answer_prompt(event, workspace) {
        return Ok(answer);
    }
    if workspace.config.rules.rules.is_empty() {
        return Ok(Opinion::unconcerned());
    }
    let scene = Scene::new(event, workspace);
    match &event.kind {
        EventKind::BeforeTool(_) => {
            record::record_start(&scene)?;
            judge_call(&scene)
        }
        EventKind::AfterTool(call) | EventKind::ToolFailed(call) => {
            record::record_call(call, event, workspace)?;
            // A failed command line may have written files before; a failed file tool has not.
            let has_written =
                matches!(event.kind, EventKind::AfterTool(_)) || matches!(call.tool, Tool::Shell { .. });
            let is_over = call.outcome.background_task.is_none();
            let by_rule = if has_written && is_over { run::run_after_call(&scene)? } else { Vec::new() };
            Ok(Opinion { is_unconcerned: by_rule.is_empty(), by_rule, ..Opinion::default() })
        }
        EventKind::Prompt { .. } => Ok(match record::record_prompt(event, workspace) {
            Ok(()) => review::answer_skip_prompt(event, workspace),
            Err(fault) => warn_about_fault("the prompt could not be recorded", &fault),
        }),
        EventKind::SessionStart { is_fresh: true } => Ok(trust::announce_waiting(workspace)),
        EventKind::Stop(turn) | EventKind::SubagentStop(turn) => match stop::judge_stop(turn, &scene) {
            // A fault that lasts must not stop the turn forever.
            Err(fault) if turn.has_been_blocked => {
                Ok(warn_about_fault("the turn ends without being checked", &fault))
            }
            judged => judged,
        },
        _ => Ok(Opinion::unconcerned()),
    }
}

fn warn_about_fault(what: &str, fault: &Fault) -> Opinion {
    let why = sanitize_for_model(&fault.to_string());
    Opinion {
        to_user: Some(format!("[provost] `rules`: {what}: {why}")),
        evidence: vec![why],
        ..Opinion::default()
    }
}

/// Judges a tool call by every rule about calls.
pub fn judge_call(scene: &Scene<'_>) -> Result<Opinion, Fault> {
    let mut by_rule = Vec::new();
    for rule in &scene.workspace.config.rules.rules {
        if !rule.subject.concerns_calls() || matches!(rule.action, RuleAction::Run { .. }) {
            continue;
        }
        scene.workspace.take_disk_use();
        if let Some(found) = call::match_call(rule, scene)? {
            let mut answer = answer::answer_call(rule, &found, scene)?;
            if let Some(answer) = &mut answer {
                answer.opinion.disk_use = scene.workspace.take_disk_use();
            }
            by_rule.extend(answer);
        }
    }
    if by_rule.is_empty() {
        return Ok(Opinion::silent());
    }
    Ok(Opinion { by_rule, ..Opinion::default() })
}

/// Whether a rule matches the call of an example.
pub fn matches_call_example(rule: &Rule, scene: &Scene<'_>) -> Result<bool, Fault> {
    if !rule.subject.concerns_calls() {
        return Ok(false);
    }
    Ok(call::match_call(rule, scene)?.is_some())
}
