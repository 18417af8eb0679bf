//! The guard `override`: records the user's prompt that allows one denial.
//!
//! It confirms the permission to the user and to the model, which sees the prompt too. [`provost_core::overrides`]
//! uses the permission up. A prompt counts as the user's unless the client says that a subagent or a program wrote
//! it.

use crate::prelude::*;
use crate::registry::{describe_override, find_guard, find_overridable, suggest_overridable};
use provost_core::event::{Event, EventKind};
use provost_core::guard::Guard;
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::overrides::{self, OverrideRequest, PERMISSION_LIFETIME};
use provost_core::text::{make_one_line, truncate_utf16};
use provost_core::workspace::Workspace;

const LONGEST_NAME: usize = 100;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::Prompt { text: Some(text), is_by_user, .. } = &event.kind else {
        return Ok(Opinion::silent());
    };
    let Some(request) = OverrideRequest::parse(text) else { return Ok(Opinion::silent()) };
    let in_subagent = event.agent.as_ref().is_some_and(|agent| agent.id.is_some());
    if in_subagent || !is_by_user {
        return Ok(reject("the prompt is not the user's own", &describe_override()));
    }
    let Some(guard) = find_overridable(request.guard) else {
        return Ok(reject(&explain_unknown(request.guard), &describe_override()));
    };
    if request.reason.is_empty() {
        return Ok(reject("it gives no reason", &describe_override()));
    }
    let Some(session) = event.session.as_deref().filter(|session| !session.is_empty()) else {
        return Ok(reject("the client names no session", "use a client that does"));
    };
    if let Err(fault) = overrides::store_permission(workspace, session, guard.name, &request.reason) {
        return Ok(reject(&fault.to_string(), "make the directory writable, and send the prompt again"));
    }
    Ok(confirm(guard, &request.reason))
}

fn confirm(guard: &Guard, reason: &str) -> Opinion {
    let (name, minutes) = (guard.name, PERMISSION_LIFETIME.as_secs() / 60);
    Opinion {
        evidence: vec![format!("the user allows the next denial by {name}, once: {reason}")],
        to_model: Some(format!("[provost] the user allows the next denial by `{name}`, once: {reason}")),
        to_user: Some(format!(
            "[provost] override recorded: the next denial by `{name}` in this session, within {minutes} minutes, is \
             allowed once ({reason})"
        )),
        ..Opinion::default()
    }
}

fn explain_unknown(name: &str) -> String {
    let shown = make_one_line(&truncate_utf16(name, LONGEST_NAME));
    match find_guard(name) {
        Some(_) => format!("`{shown}` cannot be overridden"),
        None if name.is_empty() => "it names no guard".into(),
        None => format!("there is no guard `{shown}`{}", suggest_overridable(name)),
    }
}

fn reject(why: &str, fix: &str) -> Opinion {
    let what = "the override was not recorded".into();
    let text = Denial { what, why: why.into(), fix: fix.into(), document_wording: None }.to_string();
    Opinion {
        evidence: vec![format!("not recorded: {why}")],
        to_model: Some(text.clone()),
        to_user: Some(text),
        ..Opinion::default()
    }
}
