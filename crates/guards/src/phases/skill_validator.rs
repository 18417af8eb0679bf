//! `skill-validator`: if a workflow requires a manifest of agents, no agent starts without it.

use super::prelude::*;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    if !matches!(event.call()?.tool, Tool::Delegate { .. }) {
        return None;
    }
    let context = WorkflowContext::find(event, workspace)?;
    let state = context.state(workspace)?;
    state.workflow()?;
    let is_required = state.read_value(&["skill_enforcement", "fail_behavior"]) == Some(Value::from("block"));
    let is_off = state.has_flag(&["skill_enforcement", "enabled"], false);
    if !is_required || is_off || context.manifest(workspace).is_some() {
        return None;
    }
    let denial = PhaseDenial {
        heading: "SKILL ENFORCEMENT: the skills manifest cannot be read".into(),
        why: "the skills manifest is missing or broken".into(),
        fix: "add or repair it: `.isdlc/config/skills-manifest.json`. While `skill_enforcement.fail_behavior` is \
              `block`, no agent starts without it"
            .into(),
    };
    Some(denial.deny(event, vec!["no manifest".into()]))
}
