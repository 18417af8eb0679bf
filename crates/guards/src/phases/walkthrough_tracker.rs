//! `walkthrough-tracker`: warns if a discovery ends without a walk through the constitution.

use super::delegation::AgentReply;
use super::prelude::*;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    AgentReply::from_event(event).filter(AgentReply::is_from_discovery)?;
    let state = WorkflowContext::find(event, workspace)?.state(workspace)?;
    let Value::Object(discovery) = state.read_value(&["discovery_context"])? else { return None };
    if discovery.get("walkthrough_completed") == Some(&Value::Bool(true)) {
        return Some(Opinion::silent());
    }
    let text = "[walkthrough-tracker] WARNING: Discovery completed without constitution walkthrough.\n  \
                `discovery_context.walkthrough_completed` is not true in the workflow's state: nobody has \
                gone through the constitution with the person.";
    Some(super::warn(text.into(), workspace))
}
