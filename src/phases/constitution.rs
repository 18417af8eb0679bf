//! `constitution-validator`: a phase is called complete only after its articles were checked.
//!
//! It begins the record of the check when work of the phase is handed out, so that there is something to fill in.

use serde_json::json;

use super::advance::{Attempt, Told};
use super::delegation::Assignment;
use super::ground::Ground;
use super::requirements::{self, CONSTITUTION, Constitution, Demands, Escalation, Progress};
use super::{Refused, named, plan_surfacer, records, table};
use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let held = held(event, workspace);
    if held.is_none() {
        prepare(event, workspace);
    }
    Ok(held.unwrap_or_else(Opinion::unconcerned))
}

/// Begins the record of the phase when work of it is handed out.
fn prepare(event: &Event, workspace: &Workspace) -> Option<()> {
    if !Assignment::is_possible(event, workspace) {
        return None;
    }
    let ground = Ground::of(event, workspace)?;
    let state = ground.state(workspace)?;
    let phase = state.current_phase()?;
    if requirements::are_off(state) || Progress::of(&phase, state).constitution.is_some() {
        return None;
    }
    let is_of_phase = match ground.delegations(event, workspace).first() {
        Some(delegation) => delegation.may_be_of(&phase),
        // An agent that leads the workflow delegates the work, and the record begins with that.
        None => ground.assignments(event, workspace).iter().any(|work| {
            work.agent.as_deref().is_none_or(table::is_worker)
                && plan_surfacer::is_work(work, ground, workspace)
        }),
    };
    if !is_of_phase {
        return None;
    }
    let demand = Demands::of(&phase, state, ground, workspace)?.constitution?;
    begin(&phase, &demand, ground, workspace);
    Some(())
}

fn held(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let Attempt { ground, state, phase, said } = Attempt::of(event, workspace, Told::completes)?;
    let demand = Demands::of(&phase, state, ground, workspace)?.constitution?;
    let progress = Progress::of(&phase, state).constitution;
    let (status, used) = match &progress {
        Some(checks) if checks.is_enough() => return Some(Opinion::silence()),
        None => ("not_started", 0),
        Some(checks) if checks.escalation == Escalation::Pending => ("escalated_pending", checks.used),
        // The record that is made below is no check yet.
        Some(checks) if !checks.is_completed && checks.used == 0 => ("not_started", 0),
        Some(checks) if !checks.is_completed => ("in_progress", checks.used),
        Some(checks) => ("unknown", checks.used),
    };
    if progress.is_none() {
        begin(&phase, &demand, ground, workspace);
    }
    let escalation = records::Escalation {
        kind: "constitution_blocked",
        hook: "constitution-validator",
        phase: phase.clone(),
        detail: format!("constitutional validation is {status}"),
    };
    escalation.note(ground, workspace);
    let articles = requirements::articles(&demand.articles);
    let refused = Refused {
        heading: "PHASE COMPLETION BLOCKED: Constitutional validation required.".to_owned()
            + &format!(" Phase: {phase}. Status: {status}"),
        why: format!("the constitution check of {} is {}", named(&phase), status.replace('_', " ")),
        fix: format!(
            "check the artifacts first: against Articles {articles}, with the result in \
             `phases.{phase}.constitutional_validation`; remaining tries: {}. The call says `{said}`",
            demand.tries.saturating_sub(used)
        ),
    };
    Some(super::deny(event, refused, vec![format!("the call says `{said}`"), format!("status: {status}")]))
}

fn begin(phase: &str, demand: &Constitution, ground: &Ground, workspace: &Workspace) {
    let phase = phase.to_owned();
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
        "started_at": workspace.now(),
    });
    ground.notes.add(move |state| {
        requirements::change(state, &phase, CONSTITUTION, |known| {
            // Somebody may have begun it in the meantime.
            if let (true, Some(record)) = (known.is_empty(), record.as_object()) {
                known.clone_from(record);
            }
        });
    });
}
