//! `phase-loop-controller`: work is delegated to a phase only after the phase is marked as begun.
//!
//! The workflow leaves this mark when it follows its own loop, so a missing mark means that it left the loop.
//! Only the agent that leads a phase begins it; its helpers may start at any time.

use super::prelude::*;
use provost_core::text::{make_one_line, truncate_utf16};

/// No status of a workflow is longer.
const LONGEST: usize = 40;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let ActiveWorkflow { context, state, phase, .. } = ActiveWorkflow::find(event, workspace)?;
    let delegation = context.delegations(event, workspace).first()?;
    let (name, entry) = state.find_phase_record(phase).unwrap_or((phase, &Value::Null));
    let status = entry["status"].as_str();
    if matches!(status, Some("in_progress" | "completed")) {
        return Some(Opinion::silent());
    }
    if let (Some(agent), Some(manifest)) = (&delegation.agent, context.manifest(workspace)) {
        let mut helpers = manifest.agents_in(phase).skip(1);
        if helpers.any(|helper| phase_names::is_same_agent(helper, agent)) {
            return Some(Opinion::silent());
        }
    }
    let target = make_one_line(&delegation.phase);
    let status = status.map_or_else(|| "not set".to_owned(), |status| format!("`{}`", make_one_line(status)));
    let status = truncate_utf16(&status, LONGEST);
    let file = context.state_file();
    let file = file.strip_prefix(context.root()).unwrap_or(&file);
    let denial = PhaseDenial {
        heading: "PHASE DELEGATION WITHOUT PROGRESS TRACKING".into(),
        why: format!("the status of {} is {status}", quote_name(phase)),
        fix: format!(
            "do its TaskUpdate step: set `phases.{name}.status` to `in_progress` in {}, then delegate \
             the work of `{target}` again",
            make_one_line(&file.display().to_string())
        ),
    };
    Some(denial.deny(event, vec![format!("`{phase}` is {status}, work for `{target}`")]))
}
