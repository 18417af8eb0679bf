//! The rules about the end of a turn.
//!
//! A turn whose evidence is missing is stopped a few times in a row. Then it ends, and the user reads what was missing:
//! an agent that cannot get the evidence must not work forever.

use crate::prelude::*;

use super::call::is_in_agent;
use super::changes::find_counted;
use super::check;
use super::need::{self, MissingEvidence};
use super::record;
use super::review;
use super::scene::Scene;
use provost_core::disk_use::DiskUse;
use provost_core::event::{Event, EventKind, PermissionMode, TurnEnd};
use provost_core::opinion::{Denial, Fault, Opinion, RuleOpinion, Verdict};
use provost_core::places::fnv1a;
use provost_core::rules::evidence::{EvidenceRecord, SessionEvidence};
use provost_core::rules::{Need, NeedEvidence, Rule, RuleAction};

/// Judges the end of a turn by every rule about it.
pub(super) fn judge_stop(turn: &TurnEnd, scene: &Scene<'_>) -> Result<Opinion, Fault> {
    let event = scene.event;
    let rules = || scene.workspace.config.rules.rules.iter().filter(|rule| concerns_stop(rule, event));
    // The session continues by itself when its agent has finished. In plan mode the agent can run nothing.
    let is_early = turn.is_subagent_running && matches!(event.kind, EventKind::Stop(_));
    if rules().next().is_none() || is_early || event.mode == PermissionMode::Plan {
        return Ok(Opinion::unconcerned());
    }
    let mut evidence = need::read_evidence(scene)?;
    let mut by_rule = Vec::new();
    for rule in rules() {
        let opinions = match &rule.action {
            RuleAction::Need(Need { evidence: NeedEvidence::Review(need), .. }) => {
                review::judge_reviews(rule, need, &evidence, scene)?
            }
            RuleAction::Need(need) => judge_need(rule, need, &mut evidence, scene)?.into_iter().collect(),
            RuleAction::Warn(reason) => warn(rule, reason, &evidence, scene)?.into_iter().collect(),
            _ => Vec::new(),
        };
        by_rule.extend(opinions.into_iter().map(|mut opinion| {
            opinion.evidence.insert(0, format!("the rule is in {}", rule.place()));
            opinion.disk_use = DiskUse::CONTENT;
            RuleOpinion { name: rule.full_name().into(), is_watched: rule.is_watched, opinion }
        }));
    }
    Ok(Opinion { by_rule, ..Opinion::default() })
}

/// Whether a rule is about the end of this turn. Without `in_agent`, only the main conversation counts.
pub(super) fn concerns_stop(rule: &Rule, event: &Event) -> bool {
    let is_agent = matches!(event.kind, EventKind::SubagentStop(_));
    rule.subject.stops
        && is_in_agent(&rule.subject, event)
        && !(is_agent && rule.subject.in_agent.is_empty())
        && !rule.has_broken_pattern()
}

fn judge_need(
    rule: &Rule,
    need: &Need,
    evidence: &mut SessionEvidence,
    scene: &Scene<'_>,
) -> Result<Option<Opinion>, Fault> {
    let missing = match &need.evidence {
        NeedEvidence::Passed(pattern) => need::find_missing_run(rule, &pattern.text, evidence, &[], scene),
        NeedEvidence::Check { command, seconds } => {
            check::find_failure(rule, (command, *seconds), evidence, scene)?
        }
        NeedEvidence::Review(_) => None,
    };
    let agent = agent_id(scene.event);
    let count_rounds = |evidence: &SessionEvidence| {
        let run = match &need.evidence {
            NeedEvidence::Passed(pattern) => need::find_last_evidence(rule, &pattern.text, evidence, scene),
            NeedEvidence::Check { .. } | NeedEvidence::Review(_) => None,
        };
        evidence.count_rounds(&rule.name, agent, run)
    };
    let Some(missing) = missing else {
        if count_rounds(evidence) > 0 {
            settle(rule, scene)?;
        }
        return Ok(None);
    };
    if rule.is_watched {
        return Ok(Some(stop_turn(rule, missing, scene)));
    }
    // Several hook entries may answer one event.
    let held = EvidenceRecord::Held {
        rule: rule.name.clone(),
        agent: agent.to_owned(),
        occasion: fnv1a(scene.event.shared_id().unwrap_or_default().as_bytes()),
        entry: scene.workspace.identify_hook_entry(),
    };
    evidence.push(held.clone());
    let rounds = count_rounds(evidence);
    if rounds > need.rounds {
        return Ok(Some(end_turn(rule, &missing, need.rounds)));
    }
    scene.workspace.append_evidence(record::session(scene.event), &[held])?;
    let mut opinion = stop_turn(rule, missing, scene);
    opinion.evidence.push(format!("round {rounds} of {}", need.rounds));
    Ok(Some(opinion))
}

fn agent_id(event: &Event) -> &str {
    event.agent.as_ref().and_then(|agent| agent.id.as_deref()).unwrap_or_default()
}

fn settle(rule: &Rule, scene: &Scene<'_>) -> Result<(), Fault> {
    let settled = EvidenceRecord::Settled { rule: rule.name.clone() };
    scene.workspace.append_evidence(record::session(scene.event), &[settled])
}

fn stop_turn(rule: &Rule, missing: MissingEvidence, scene: &Scene<'_>) -> Opinion {
    let what = match scene.event.kind {
        EventKind::SubagentStop(_) => "the agent cannot end yet",
        _ => "the turn cannot end yet",
    };
    let denial = Denial {
        what: format!("{what} ({})", rule.full_name()),
        why: missing.why,
        fix: missing.fix,
        document_wording: None,
    };
    Opinion { verdict: Verdict::Deny(denial), ..Opinion::default() }
}

/// Lets the turn end without its evidence, and tells the user.
fn end_turn(rule: &Rule, missing: &MissingEvidence, rounds: u64) -> Opinion {
    let times = if rounds == 1 { "once".into() } else { format!("{rounds} times") };
    let text = format!(
        "[provost] the turn ended without the evidence that {} needs: {}. The agent was stopped {times}.",
        rule.full_name(),
        missing.why
    );
    Opinion {
        to_user: Some(text),
        evidence: vec![format!("ended after {rounds} rounds")],
        ..Opinion::default()
    }
}

/// Warns the user, with `changed` once for the same changes.
fn warn(
    rule: &Rule,
    reason: &str,
    evidence: &SessionEvidence,
    scene: &Scene<'_>,
) -> Result<Option<Opinion>, Fault> {
    let mut facts = Vec::new();
    if !rule.subject.changed.is_empty() {
        let changes = evidence.list_changes_since_settled(&rule.name);
        let Some(change) = find_counted(&rule.subject.changed, changes, scene) else { return Ok(None) };
        facts.push(format!("{} changed", need::describe_change(change, scene)));
        settle(rule, scene)?;
    }
    let fix = rule.fix.as_ref().map(|fix| format!(". To fix: {fix}.")).unwrap_or_default();
    let text = format!("[provost] {reason} ({}){fix}", rule.full_name());
    Ok(Some(Opinion { to_user: Some(text), evidence: facts, ..Opinion::default() }))
}
