//! The guard `override`: records the user's prompt that allows one denial of a guard or a rule.
//!
//! It confirms the permission to the user and to the model, which sees the prompt too. [`provost_core::overrides`]
//! uses the permission up. A prompt counts as the user's unless the client says that a subagent or a program wrote
//! it.

use crate::prelude::*;
use crate::registry::{OverrideTarget, describe_override};
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::overrides::{self, OverrideRequest, PERMISSION_LIFETIME};
use provost_core::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::Prompt { text: Some(text), is_by_user, .. } = &event.kind else {
        return Ok(Opinion::silent());
    };
    let Some(request) = OverrideRequest::parse(text) else { return Ok(Opinion::silent()) };
    let in_subagent = event.agent.as_ref().is_some_and(|agent| agent.id.is_some());
    if in_subagent || !is_by_user {
        return Ok(reject("the prompt is not the user's own", &describe_override()));
    }
    if request.guard.is_empty() {
        return Ok(reject("it names no guard", &describe_override()));
    }
    let name = match OverrideTarget::find(request.guard, &workspace.config.rules) {
        OverrideTarget::Known(name) => name,
        OverrideTarget::Fixed(guard) => {
            return Ok(reject(&format!("`{}` cannot be overridden", guard.name), &describe_override()));
        }
        OverrideTarget::Unknown(why) => return Ok(reject(&why, &describe_override())),
    };
    if request.reason.is_empty() {
        return Ok(reject("it gives no reason", &describe_override()));
    }
    let Some(session) = event.session.as_deref().filter(|session| !session.is_empty()) else {
        return Ok(reject("the client names no session", "use a client that does"));
    };
    if let Err(fault) = overrides::store_permission(workspace, session, &name, &request.reason) {
        return Ok(reject(&fault.to_string(), "make the directory writable, and send the prompt again"));
    }
    Ok(confirm(&name, &request.reason))
}

fn confirm(name: &str, reason: &str) -> Opinion {
    let minutes = PERMISSION_LIFETIME.as_secs() / 60;
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
