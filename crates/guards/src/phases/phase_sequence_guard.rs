//! `phase-sequence-guard`: work is delegated only to agents of the workflow's current phase.
//!
//! Names of phases are compared by their meaning, because workflows and manifests number them differently. A
//! phase that is not in the table cannot be out of order. The rule holds for the main conversation and for
//! subagents. An agent that belongs to no phase may be started by the conversation and by agents of the
//! phase, but not by another agent without a phase: the phase of its work would be unknown.

use super::delegation::Delegation;
use super::phase_names::{ORCHESTRATOR, PhaseSet};
use super::prelude::*;
use provost_core::text::{make_one_line, truncate_utf16};

const OUT_OF_ORDER: &str = "OUT-OF-ORDER PHASE DELEGATION";

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let active = ActiveWorkflow::find(event, workspace)?;
    let delegations = active.context.delegations(event, workspace);
    let is_other = |delegation: &&Delegation| {
        PhaseSet::from_name(&delegation.phase).is_some() && !delegation.may_belong_to(active.phase)
    };
    let other = delegations.iter().find(is_other);
    other
        .and_then(|delegation| deny_other_phase(event, delegation, &active, workspace))
        .or_else(|| deny_nested_helper(event, &active, workspace))
        .or_else(|| delegations.first().map(|_| Opinion::silent()))
}

fn deny_other_phase(
    event: &Event,
    delegation: &Delegation,
    active: &ActiveWorkflow,
    workspace: &Workspace,
) -> Option<Opinion> {
    let phase = active.phase;
    let own = match active.context.manifest(workspace) {
        // A phase without its own agents is done by agents of other phases.
        Some(manifest) => format!("delegate to `{}`", shorten_name(manifest.agents_in(phase).next()?)),
        None => format!("delegate work of `{phase}`"),
    };
    let (gate, target) = (phase_names::gate_name(phase), quote_name(&delegation.phase));
    let names_agent = matches!(event.call().map(|call| &call.tool), Some(Tool::Delegate { .. }));
    let why = match &delegation.agent {
        // The message about a skill or a command line does not show the agent, so name it here.
        Some(agent) if !names_agent => {
            format!("{} is for {target}, not {}", quote_name(agent), quote_name(phase))
        }
        _ => format!("it is for {target}, the workflow is in {}", quote_name(phase)),
    };
    let denial =
        PhaseDenial { heading: OUT_OF_ORDER.into(), why, fix: format!("pass {gate} first, or {own}") };
    Some(denial.deny(event, vec![format!("work for {target} in `{phase}`")]))
}

/// Denies that a subagent of another phase, or of none, starts an agent that belongs to no phase.
fn deny_nested_helper(event: &Event, active: &ActiveWorkflow, workspace: &Workspace) -> Option<Opinion> {
    let ActiveWorkflow { context, phase, .. } = active;
    let caller = event.agent.as_ref().filter(|agent| agent.id.is_some())?;
    let caller = phase_names::canonical_agent_name(caller.kind.as_deref().unwrap_or_default());
    let manifest = context.manifest(workspace)?;
    let lead = manifest.agents_in(phase).next()?;
    let is_entitled = |own: &str| own == "all" || own == "setup" || phase_names::is_same_phase(own, phase);
    if caller == ORCHESTRATOR || manifest.find_agent_phase(&caller).is_some_and(is_entitled) {
        return None;
    }
    let has_no_phase =
        |agent: Option<&str>| agent.and_then(|agent| manifest.find_agent_phase(agent)).is_none();
    let mut started = context.assignments(event, workspace).iter().filter(|work| !work.is_message);
    let helper = started.find(|work| has_no_phase(work.agent.as_deref()))?;
    let helper = shorten_name(helper.agent.as_deref().unwrap_or("an unnamed agent"));
    let caller = if caller.is_empty() { "a subagent" } else { &caller };
    let denial = PhaseDenial {
        heading: OUT_OF_ORDER.into(),
        why: format!("{} is not of {}, so it starts no agents", quote_name(caller), quote_name(phase)),
        fix: format!(
            "do this work yourself, or report back and let `{}` start `{helper}`",
            shorten_name(lead)
        ),
    };
    Some(denial.deny(event, vec![format!("`{}` starts `{helper}` in `{phase}`", shorten_name(caller))]))
}

/// A name from a file or a call, short enough for a message.
fn shorten_name(name: &str) -> String {
    const LONGEST: usize = 40;
    truncate_utf16(&make_one_line(name.trim()), LONGEST).into_owned()
}
