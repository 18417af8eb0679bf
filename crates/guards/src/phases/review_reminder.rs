//! `review-reminder`: warns about a commit in a team whose reviews are switched off.

use super::prelude::*;
use provost_core::effect::Effect;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let EventKind::AfterTool(call) = &event.kind else { return None };
    let has_failed = call.outcome.exit_code.is_some_and(|code| code != 0);
    if !matches!(call.tool, Tool::Shell { .. }) || has_failed {
        return None;
    }
    let context = WorkflowContext::find(event, workspace)?;
    if !event.effects().iter().any(|effect| matches!(effect, Effect::Commit { dry_run: false, .. })) {
        return None;
    }
    let state = context.state(workspace)?;
    let team =
        state.read_value(&["code_review", "team_size"]).as_ref().and_then(Value::as_f64).unwrap_or(1.0);
    if state.has_flag(&["code_review", "enabled"], true) || team <= 1.0 {
        return None;
    }
    let text = format!(
        "[review-reminder] WARNING: this commit was not reviewed: the team has {team} members, and \
         `code_review.enabled` is not true in the workflow's state"
    );
    Some(super::warn(text, workspace))
}
