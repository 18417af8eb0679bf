//! `log-skill-usage`: records which agent worked in which phase. The gate and the end of a turn look for an
//! agent there, so the log must be long enough for many small agents.

use super::phase_records;
use super::prelude::*;
use provost_core::text::truncate_utf16;

pub const LOG: &[&str] = &["skill_usage_log"];
const MOST_ENTRIES: usize = 200;
const LONGEST_DESCRIPTION: usize = 200;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    // An agent in the background has only begun here, and that is what counts.
    let EventKind::AfterTool(call) = &event.kind else { return None };
    let Tool::Delegate { agent, description, .. } = &call.tool else { return None };
    let agent = agent.as_deref().map(phase_names::canonical_agent_name).filter(|agent| !agent.is_empty())?;
    let context = WorkflowContext::find(event, workspace)?;
    let state = context.state(workspace)?;
    if state.has_flag(&["skill_enforcement", "enabled"], false) {
        return None;
    }
    let own = context.manifest(workspace).and_then(|manifest| manifest.find_agent_phase(&agent));
    let current = state.current_phase();
    let mode = state.read_value(&["skill_enforcement", "mode"]);
    let mode = mode.as_ref().and_then(Value::as_str).unwrap_or("strict");
    let (status, reason) = match (own, current.as_deref()) {
        (None, _) => ("executed", "allowed"),
        (Some("all"), _) => ("executed", "authorized-orchestrator"),
        (Some(own), Some(current)) if phase_names::is_same_phase(own, current) => {
            ("executed", "authorized-phase-match")
        }
        _ => match mode {
            "warn" => ("warned", "cross-phase-usage"),
            "audit" => ("audited", "cross-phase-usage"),
            _ => ("observed", "cross-phase-usage"),
        },
    };
    let entry = json!({
        "timestamp": workspace.format_now(),
        "agent": agent,
        "agent_phase": own,
        "current_phase": current,
        "description": truncate_utf16(description.as_deref().unwrap_or("N/A"), LONGEST_DESCRIPTION),
        "status": status,
        "reason": reason,
        "enforcement_mode": mode,
    });
    context.changes.add(move |state| phase_records::append_to_list(state, LOG, entry.clone(), MOST_ENTRIES));
    Some(Opinion { evidence: vec![format!("{agent}: {status}, {reason}")], ..Opinion::default() })
}
