//! `walkthrough-tracker`: a discovery that ends without a walk through the constitution is remarked.

use serde_json::Value;

use super::delegation::Answered;
use super::ground::Ground;
use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    if !Answered::of(event).is_some_and(|answered| answered.is_discovery()) {
        return Ok(Opinion::unconcerned());
    }
    let Some(ground) = Ground::of(event, workspace) else { return Ok(Opinion::unconcerned()) };
    let discovery = ground.state(workspace).and_then(|state| state.value(&["discovery_context"]));
    let Some(Value::Object(discovery)) = discovery else { return Ok(Opinion::unconcerned()) };
    if discovery.get("walkthrough_completed") == Some(&Value::Bool(true)) {
        return Ok(Opinion::silence());
    }
    let text = "[walkthrough-tracker] WARNING: Discovery completed without constitution walkthrough.\n  \
                `discovery_context.walkthrough_completed` is not true in the workflow's state: nobody has \
                gone through the constitution with the person.";
    Ok(super::remark(text.into(), workspace))
}
