//! `delegation-gate`: a turn that used a skill that requires an agent does not end before that agent has
//! worked.
//!
//! It blocks the end of a turn once, not for ever. The marker of another session or an old one blocks
//! nothing, and neither does a turn that was blocked before or waits for an agent.

use super::log_skill_usage::LOG;
use super::phase_records::seconds_between;
use super::prelude::*;
use super::skill_delegation_enforcer::{PENDING_DELEGATION, SESSION_FIELD};

/// For how many seconds a marker counts.
const LIFE: i64 = 60 * 60;

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let EventKind::Stop(stopping) = &event.kind else { return None };
    let context = WorkflowContext::find(event, workspace)?;
    let state = context.state(workspace)?;
    let marker = state.read_value(&[PENDING_DELEGATION])?;
    let required = phase_names::canonical_agent_name(marker["required_agent"].as_str()?);
    let since = marker["invoked_at"].as_str();
    // A marker without a session was written by the original script.
    let session = marker[SESSION_FIELD].as_str();
    if required.is_empty() || session.is_some_and(|session| event.session.as_deref() != Some(session)) {
        return None;
    }
    if seconds_between(since, &workspace.format_now()).is_none_or(|age| age.abs() > LIFE) {
        return None;
    }
    let has_worked = |entry: &Value| {
        entry["agent"].as_str().map(phase_names::canonical_agent_name).as_deref() == Some(&*required)
            && seconds_between(since, entry["timestamp"].as_str().unwrap_or_default())
                .is_some_and(|age| age >= 0)
    };
    if state.read_list(LOG).iter().any(has_worked) {
        context.changes.add(move |state| {
            // If another skill was used since then, its marker stays.
            if state.get(PENDING_DELEGATION).as_ref() == Some(&marker) {
                state.set(PENDING_DELEGATION, &Value::Null);
            }
        });
        return Some(Opinion { evidence: vec![format!("{required} has worked")], ..Opinion::default() });
    }
    if stopping.has_been_blocked || stopping.is_subagent_running {
        return None;
    }
    let skill = marker["skill"].as_str().unwrap_or("a skill");
    let denial = PhaseDenial {
        heading: "DELEGATION REQUIRED".into(),
        why: format!("`/{skill}` was used, and `{required}`, which does its work, has not worked yet"),
        fix: format!("delegate the work to the agent `{required}`"),
    };
    Some(denial.deny(event, vec![format!("/{skill} stands for {required}")]))
}
