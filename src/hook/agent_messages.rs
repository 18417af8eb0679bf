//! Messages to the user from the end of a background agent.
//!
//! Claude Code's terminal does not show what a hook says to the user when a background agent stops. So the message
//! is kept, and shown with the prompt by which the client announces that the agent has ended. A message that cannot
//! be kept is only in the journal.

use std::path::PathBuf;

use super::case::Case;
use crate::decision::Decision;
use crate::event::Kind;
use crate::files;
use crate::workspace::fnv1a;

const FOLDER: &str = "messages";
/// No message is longer.
const LONGEST: u64 = 64 << 10;

/// Keeps what the user would not see.
pub(super) fn keep(case: &Case, decision: &Decision) {
    let Kind::SubagentStop(stopping) = &case.event.kind else { return };
    if !stopping.in_background || decision.to_person.is_empty() {
        return;
    }
    let agent = case.event.agent.as_ref().and_then(|agent| agent.id.as_deref());
    let Some(place) = agent.and_then(|agent| place(agent, case)) else { return };
    // Entries of several plugins may have something to say.
    let known = case.workspace.read_text(&place, LONGEST).ok().flatten();
    let lines: Vec<&str> =
        known.as_deref().into_iter().chain(decision.to_person.iter().map(String::as_str)).collect();
    let _ = case.workspace.replace_own(&place, lines.join("\n").as_bytes());
}

/// What was kept of the agent whose end this prompt announces. Of several processes, one gets it.
pub(super) fn take(case: &Case) -> Option<String> {
    let Kind::Prompt { finished_task: Some(agent), .. } = &case.event.kind else { return None };
    let place = place(agent, case)?;
    let text = case.workspace.read_text(&place, LONGEST).ok().flatten()?;
    files::remove(&place).is_ok().then_some(text)
}

/// The file of an agent. Nothing of its name comes from outside as it is.
fn place(agent: &str, case: &Case) -> Option<PathBuf> {
    let session = case.event.session.as_deref()?;
    let name = format!("{:016x}.txt", fnv1a(format!("{session}\n{agent}").as_bytes()));
    case.workspace.own_file(FOLDER, &name).ok()
}
