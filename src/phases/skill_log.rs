//! `log-skill-usage`: which agent worked in which phase is kept. The gate and the end of a turn look for
//! it there, so the last entries must outlive many small agents.

use serde_json::{Value, json};

use super::ground::Ground;
use super::{records, table};
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind, Tool};
use crate::text::bounded;
use crate::workspace::Workspace;

pub const LOG: &[&str] = &["skill_usage_log"];
const MOST: usize = 200;
const DESCRIPTION: usize = 200;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(noted(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn noted(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    // An agent in the background has begun, and that is what counts here.
    let Kind::AfterTool(call) = &event.kind else { return None };
    let Tool::Delegate { agent, description, .. } = &call.tool else { return None };
    let agent = agent.as_deref().map(table::agent).filter(|agent| !agent.is_empty())?;
    let ground = Ground::of(event, workspace)?;
    let state = ground.state(workspace)?;
    if state.is(&["skill_enforcement", "enabled"], false) {
        return None;
    }
    let own = ground.manifest(workspace).and_then(|manifest| manifest.phase_of(&agent)).map(str::to_owned);
    // The original took the first phase where none was known.
    let current = state.current_phase();
    let mode = state.value(&["skill_enforcement", "mode"]);
    let mode = mode.as_ref().and_then(Value::as_str).unwrap_or("strict");
    let (status, reason) = match (own.as_deref(), current.as_deref()) {
        (None, _) => ("executed", "allowed"),
        (Some("all"), _) => ("executed", "authorized-orchestrator"),
        (Some(own), Some(current)) if table::is_same(own, current) => ("executed", "authorized-phase-match"),
        _ => match mode {
            "warn" => ("warned", "cross-phase-usage"),
            "audit" => ("audited", "cross-phase-usage"),
            _ => ("observed", "cross-phase-usage"),
        },
    };
    let entry = json!({
        "timestamp": workspace.now(),
        "agent": agent,
        "agent_phase": own,
        "current_phase": current,
        "description": bounded(description.as_deref().unwrap_or("N/A"), DESCRIPTION),
        "status": status,
        "reason": reason,
        "enforcement_mode": mode,
    });
    ground.notes.add(move |state| records::push(state, LOG, entry.clone(), MOST));
    Some(Opinion { evidence: vec![format!("{agent}: {status}, {reason}")], ..Opinion::default() })
}
