//! `phase-loop-controller`: work is handed to a phase only after the phase is marked as begun.
//!
//! The mark is what the workflow leaves behind when it follows its own loop, so one that is missing
//! means that the loop was left. Only the agent that leads a phase begins it; those who help it may
//! come at any time.

use serde_json::Value;

use super::ground::UnderWay;
use super::table;
use super::{Refused, named};
use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::text::{bounded, one_line};
use crate::workspace::Workspace;

/// No status of a workflow is longer.
const LONGEST: usize = 40;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(UnderWay { ground, state, phase, .. }) = UnderWay::of(event, workspace) else {
        return Ok(Opinion::unconcerned());
    };
    let Some(delegation) = ground.delegations(event, workspace).first() else {
        return Ok(Opinion::unconcerned());
    };
    let (name, entry) = state.phase(phase).unwrap_or((phase, &Value::Null));
    let status = entry["status"].as_str();
    if matches!(status, Some("in_progress" | "completed")) {
        return Ok(Opinion::silence());
    }
    if let (Some(agent), Some(manifest)) = (&delegation.agent, ground.manifest(workspace)) {
        let mut helpers = manifest.agents_in(phase).skip(1);
        if helpers.any(|helper| table::is_same_agent(helper, agent)) {
            return Ok(Opinion::silence());
        }
    }
    let target = one_line(&delegation.phase);
    let status = status.map_or_else(|| "not set".to_owned(), |status| format!("`{}`", one_line(status)));
    let status = bounded(&status, LONGEST);
    let file = ground.state_file();
    let file = file.strip_prefix(ground.root()).unwrap_or(&file);
    let refused = Refused {
        heading: "PHASE DELEGATION WITHOUT PROGRESS TRACKING".into(),
        why: format!("the status of {} is {status}", named(phase)),
        fix: format!(
            "do its TaskUpdate step: set `phases.{name}.status` to `in_progress` in {}, then delegate \
             the work of `{target}` again",
            one_line(&file.display().to_string())
        ),
    };
    Ok(super::deny(event, refused, vec![format!("`{phase}` is {status}, work for `{target}`")]))
}
