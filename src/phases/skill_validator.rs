//! `skill-validator`: where a workflow demands a manifest of agents, none starts without it.

use serde_json::Value;

use super::Refused;
use super::ground::Ground;
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Tool};
use crate::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(held(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn held(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    if !matches!(event.call()?.tool, Tool::Delegate { .. }) {
        return None;
    }
    let ground = Ground::of(event, workspace)?;
    let state = ground.state(workspace)?;
    state.workflow()?;
    let demands = state.value(&["skill_enforcement", "fail_behavior"]) == Some(Value::from("block"));
    let is_off = state.is(&["skill_enforcement", "enabled"], false);
    if !demands || is_off || ground.manifest(workspace).is_some() {
        return None;
    }
    let refused = Refused {
        heading: "SKILL ENFORCEMENT: the skills manifest cannot be read".into(),
        why: "the skills manifest is missing or broken".into(),
        fix: "add or repair it: `.isdlc/config/skills-manifest.json`. While `skill_enforcement.fail_behavior` is \
              `block`, no agent starts without it"
            .into(),
    };
    Some(super::deny(event, refused, vec!["no manifest".into()]))
}
