//! `phase-sequence-guard`: work is handed only to agents of the phase that the workflow is in.
//!
//! Names of phases are compared by what they mean, because workflows and manifests number them
//! differently. What is in no table cannot be out of order.

use super::ground::UnderWay;
use super::table::{self, Phases};
use crate::decision::{Denial, Fault, Opinion};
use crate::event::Event;
use crate::text::one_line;
use crate::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(UnderWay { ground, phase, .. }) = UnderWay::of(event, workspace) else {
        return Ok(Opinion::unconcerned());
    };
    let Some(delegation) = ground.delegation(event, workspace) else { return Ok(Opinion::unconcerned()) };
    if Phases::named(&delegation.phase).is_none() || delegation.may_be_of(phase) {
        return Ok(Opinion::silence());
    }
    // Some phases have no agent of their own: their work is done by those of others.
    let Some(lead) = ground.manifest(workspace).and_then(|manifest| manifest.agents_in(phase).next()) else {
        return Ok(Opinion::silence());
    };
    let gate = table::gate(phase);
    let target = delegation.phase.trim();
    let agent = delegation.agent.as_deref().map(|agent| format!(" ({})", one_line(agent)));
    let agent = agent.unwrap_or_default();
    let denial = Denial {
        what: "OUT-OF-ORDER PHASE DELEGATION".into(),
        why: format!(
            "this call hands work to `{target}`{agent}, and the workflow is in `{phase}`, which ends at {gate}"
        ),
        fix: format!(
            "hand work of `{phase}` to its own agents ({}), or pass {gate} and move the workflow on before \
             delegating to `{target}`",
            one_line(lead)
        ),
    };
    Ok(super::deny(denial, vec![format!("work for `{target}` in `{phase}`")]))
}
