//! The person's prompt that lets a guard pass once.
//!
//! It records a permission and says so to the person and to the model, which has seen the prompt
//! too. What uses the permission up stands in [`crate::overrides`]. A prompt counts as the person's
//! unless the client says that a subagent or some machinery wrote it.

use crate::decision::{Denial, Fault, Opinion};
use crate::event::{Event, Kind};
use crate::overrides::{self, Request, VALID};
use crate::registry::Guard;
use crate::text::{bounded, one_line};
use crate::workspace::Workspace;

const LONGEST_NAME: usize = 100;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Kind::Prompt { text: Some(text), by_person, .. } = &event.kind else { return Ok(Opinion::silence()) };
    let Some(request) = Request::read(text) else { return Ok(Opinion::silence()) };
    let in_subagent = event.agent.as_ref().is_some_and(|agent| agent.id.is_some());
    if in_subagent || !by_person {
        return Ok(refused("the prompt is not the user's own", &overrides::form()));
    }
    let Some(guard) = request.overridable() else {
        return Ok(refused(&why_not(request.guard), &overrides::form()));
    };
    if request.reason.is_empty() {
        return Ok(refused("it gives no reason", &overrides::form()));
    }
    let Some(session) = event.session.as_deref().filter(|session| !session.is_empty()) else {
        return Ok(refused("the client names no session", "use a client that does"));
    };
    if let Err(fault) = workspace.permit(session, guard, &request.reason) {
        return Ok(refused(&fault.to_string(), "make the directory writable, and send the prompt again"));
    }
    Ok(permitted(guard, &request.reason))
}

fn permitted(guard: &Guard, reason: &str) -> Opinion {
    let (name, minutes) = (guard.name, VALID.as_secs() / 60);
    Opinion {
        evidence: vec![format!("the user allows the next denial by {name}, once: {reason}")],
        to_model: Some(format!("[provost] the user allows the next denial by `{name}`, once: {reason}")),
        to_person: Some(format!(
            "[provost] override recorded: the next denial by `{name}` in this session, within {minutes} minutes, is \
             allowed once ({reason})"
        )),
        ..Opinion::default()
    }
}

fn why_not(name: &str) -> String {
    let shown = one_line(&bounded(name, LONGEST_NAME));
    match Guard::find(name) {
        Some(_) => format!("`{shown}` cannot be overridden"),
        None if name.is_empty() => "it names no guard".into(),
        None => format!("there is no guard `{shown}`{}", overrides::suggestion(name)),
    }
}

fn refused(why: &str, fix: &str) -> Opinion {
    let denial = Denial {
        what: "the override was not recorded".into(),
        why: why.into(),
        fix: fix.into(),
        heading: None,
    };
    let text = denial.to_string();
    Opinion {
        evidence: vec![format!("not recorded: {why}")],
        to_model: Some(text.clone()),
        to_person: Some(text),
        ..Opinion::default()
    }
}
