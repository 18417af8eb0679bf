//! `review-reminder`: a commit in a team whose reviews are switched off is remarked.

use serde_json::Value;

use super::ground::Ground;
use crate::decision::{Fault, Opinion};
use crate::effect::Effect;
use crate::event::{Event, Kind, Tool};
use crate::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(remarked(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn remarked(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    // A commit that failed needs no review.
    let Kind::AfterTool(call) = &event.kind else { return None };
    if !matches!(call.tool, Tool::Shell { .. }) || call.outcome.exit_code.is_some_and(|code| code != 0) {
        return None;
    }
    let ground = Ground::of(event, workspace)?;
    if !event.effects().iter().any(|effect| matches!(effect, Effect::Commit { dry_run: false, .. })) {
        return None;
    }
    let state = ground.state(workspace)?;
    let team = state.value(&["code_review", "team_size"]).as_ref().and_then(Value::as_f64).unwrap_or(1.0);
    if state.is(&["code_review", "enabled"], true) || team <= 1.0 {
        return None;
    }
    let text = format!(
        "[review-reminder] WARNING: this commit was not reviewed: the team has {team} members, and \
         `code_review.enabled` is not true in the workflow's state"
    );
    Some(super::remark(text, workspace))
}
