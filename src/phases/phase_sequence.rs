//! `phase-sequence-guard`: work is handed only to agents of the phase that the workflow is in.
//!
//! Names of phases are compared by what they mean, because workflows and manifests number them differently.
//! What is in no table cannot be out of order. It does not matter who hands out the work; but agents that
//! belong to no phase are started by the conversation and by agents of the phase, not by each other: else
//! nobody knows any more whose work is done.

use super::delegation::Delegation;
use super::ground::UnderWay;
use super::table::{self, ORCHESTRATOR, Phases};
use super::{Refused, named};
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Tool};
use crate::text::{bounded, one_line};
use crate::workspace::Workspace;

const OUT_OF_ORDER: &str = "OUT-OF-ORDER PHASE DELEGATION";

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(under_way) = UnderWay::of(event, workspace) else { return Ok(Opinion::unconcerned()) };
    let UnderWay { ground, phase, .. } = under_way;
    let delegations = ground.delegations(event, workspace);
    let is_other =
        |delegation: &&Delegation| Phases::named(&delegation.phase).is_some() && !delegation.may_be_of(phase);
    if let Some(delegation) = delegations.iter().find(is_other)
        && let Some(opinion) = out_of_order(event, delegation, &under_way, workspace)
    {
        return Ok(opinion);
    }
    if let Some(opinion) = helper_of_helper(event, &under_way, workspace) {
        return Ok(opinion);
    }
    Ok(if delegations.is_empty() { Opinion::unconcerned() } else { Opinion::silence() })
}

fn out_of_order(
    event: &Event,
    delegation: &Delegation,
    under_way: &UnderWay,
    workspace: &Workspace,
) -> Option<Opinion> {
    let UnderWay { ground, phase, .. } = under_way;
    let own = match ground.manifest(workspace) {
        // Some phases have no agent of their own: their work is done by those of others.
        Some(manifest) => format!("delegate to `{}`", short(manifest.agents_in(phase).next()?)),
        None => format!("delegate work of `{phase}`"),
    };
    let (gate, target) = (table::gate(phase), named(&delegation.phase));
    let agent = delegation.agent.as_deref().filter(|_| !is_start(event));
    let why = match agent {
        // A skill or a command line does not say whose work it is.
        Some(agent) => format!("{} is for {target}, not {}", named(agent), named(phase)),
        None => format!("it is for {target}, the workflow is in {}", named(phase)),
    };
    let refused = Refused { heading: OUT_OF_ORDER.into(), why, fix: format!("pass {gate} first, or {own}") };
    Some(super::deny(event, refused, vec![format!("work for {target} in `{phase}`")]))
}

/// Whether the call itself names the agent.
fn is_start(event: &Event) -> bool {
    matches!(event.call().map(|call| &call.tool), Some(Tool::Delegate { .. }))
}

/// A subagent that is not of the phase starts another one that belongs to no phase.
fn helper_of_helper(event: &Event, under_way: &UnderWay, workspace: &Workspace) -> Option<Opinion> {
    let UnderWay { ground, phase, .. } = under_way;
    let caller = event.agent.as_ref().filter(|agent| agent.id.is_some())?;
    let caller = table::agent(caller.kind.as_deref().unwrap_or_default());
    let manifest = ground.manifest(workspace)?;
    let lead = manifest.agents_in(phase).next()?;
    let is_entitled = |own: &str| own == "all" || own == "setup" || table::is_same(own, phase);
    if caller == ORCHESTRATOR || manifest.phase_of(&caller).is_some_and(is_entitled) {
        return None;
    }
    let is_of_no_phase = |agent: Option<&str>| agent.and_then(|agent| manifest.phase_of(agent)).is_none();
    let mut started = ground.assignments(event, workspace).iter().filter(|work| !work.is_message);
    let helper = started.find(|work| is_of_no_phase(work.agent.as_deref()))?;
    let helper = short(helper.agent.as_deref().unwrap_or("an unnamed agent"));
    let caller = if caller.is_empty() { "a subagent" } else { &caller };
    let refused = Refused {
        heading: OUT_OF_ORDER.into(),
        why: format!("{} is not of {}, so it starts no agents", named(caller), named(phase)),
        fix: format!("do this work yourself, or report back and let `{}` start `{helper}`", short(lead)),
    };
    Some(super::deny(event, refused, vec![format!("`{}` starts `{helper}` in `{phase}`", short(caller))]))
}

/// A name of somebody else's, short enough for a message.
fn short(name: &str) -> String {
    const LONGEST: usize = 40;
    bounded(&one_line(name.trim()), LONGEST).into_owned()
}
