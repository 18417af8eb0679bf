//! `constitution-validator`: a phase is called complete only after its articles were checked.
//!
//! The guard also creates the record of the check when work of the phase is delegated, so that there is
//! something to fill in.

use super::delegation::Assignment;
use super::phase_change::{DelegationText, find_phase_change};
use super::plan_surfacer;
use super::prelude::*;
use super::requirements::{CONSTITUTION_RECORD, ConstitutionRequirement, EscalationStatus, list_articles};

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let opinion = judge_completion(event, workspace);
    if opinion.is_none() {
        prepare_record(event, workspace);
    }
    opinion
}

/// Creates the phase's record when work of the phase is delegated.
fn prepare_record(event: &Event, workspace: &Workspace) -> Option<()> {
    if !Assignment::is_possible(event, workspace) {
        return None;
    }
    let context = WorkflowContext::find(event, workspace)?;
    let phase = CurrentPhase::find(context, workspace)?;
    if phase.progress().constitution.is_some() {
        return None;
    }
    let is_for_phase = match context.delegations(event, workspace).first() {
        Some(delegation) => delegation.may_belong_to(&phase.name),
        // The agent that leads the workflow delegates the work, and the record begins then.
        None => context.assignments(event, workspace).iter().any(|work| {
            work.agent.as_deref().is_none_or(phase_names::is_phase_agent)
                && plan_surfacer::needs_plan(work, context, workspace)
        }),
    };
    if is_for_phase {
        create_record(&phase, &phase.demands()?.constitution?);
    }
    Some(())
}

fn judge_completion(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let (phase, words) = find_phase_change(event, workspace, DelegationText::find_completion)?;
    let demand = phase.demands()?.constitution?;
    let progress = phase.progress().constitution;
    let (status, used) = match &progress {
        Some(checks) if checks.is_enough() => return Some(Opinion::silent()),
        None => ("not_started", 0),
        Some(checks) if checks.escalation == EscalationStatus::Pending => {
            ("escalated_pending", checks.tries_used)
        }
        // The record that this guard creates is not a check.
        Some(checks) if !checks.is_completed && checks.tries_used == 0 => ("not_started", 0),
        Some(checks) if !checks.is_completed => ("in_progress", checks.tries_used),
        Some(checks) => ("unknown", checks.tries_used),
    };
    if progress.is_none() {
        create_record(&phase, &demand);
    }
    let detail = format!("constitutional validation is {status}");
    phase.record_escalation("constitution_blocked", "constitution-validator", &detail);
    let name = &phase.name;
    let denial = PhaseDenial {
        heading: format!(
            "PHASE COMPLETION BLOCKED: Constitutional validation required. Phase: {name}. Status: {status}"
        ),
        why: format!("the constitution check of {} is {}", quote_name(name), status.replace('_', " ")),
        fix: format!(
            "check the artifacts first: against Articles {}, with the result in \
             `phases.{name}.constitutional_validation`; remaining tries: {}. The call says `{words}`",
            list_articles(&demand.articles),
            demand.tries.saturating_sub(used)
        ),
    };
    Some(denial.deny(event, vec![format!("the call says `{words}`"), format!("status: {status}")]))
}

fn create_record(phase: &CurrentPhase, demand: &ConstitutionRequirement) {
    let record = json!({
        "required": true,
        "completed": false,
        "status": "pending",
        "iterations_used": 0,
        "max_iterations": demand.tries,
        "articles_required": demand.articles,
        "articles_checked": [],
        "violations_found": [],
        "history": [],
        "started_at": phase.workspace.format_now(),
    });
    phase.change_record(CONSTITUTION_RECORD, move |known| {
        // Another process may have created it in the meantime.
        if let (true, Some(record)) = (known.is_empty(), record.as_object()) {
            known.clone_from(record);
        }
    });
}
