//! Messages to the user from the end of a background agent.
//!
//! Claude Code's terminal does not show a hook's message to the user when a background agent stops. So the message is
//! stored, and shown with the prompt in which the client announces that the agent has finished. A message that cannot
//! be stored is only in the journal.

use std::path::PathBuf;

use super::hook_call::HookCall;
use crate::decision::Decision;
use crate::event::EventKind;
use crate::places::fnv1a;
use provost_files as files;

const FOLDER: &str = "messages";
const LARGEST: u64 = 64 << 10;

/// Stores the messages that the client would not show.
pub(super) fn store(call: &HookCall, decision: &Decision) {
    let EventKind::SubagentStop(stopping) = &call.event.kind else { return };
    if !stopping.is_in_background || decision.to_user.is_empty() {
        return;
    }
    let agent = call.event.agent.as_ref().and_then(|agent| agent.id.as_deref());
    let Some(file) = agent.and_then(|agent| message_file(agent, call)) else { return };
    // Entries of several plugins may have a message.
    let stored = call.workspace.read_text(&file, LARGEST).ok().flatten();
    let lines: Vec<&str> =
        stored.as_deref().into_iter().chain(decision.to_user.iter().map(String::as_str)).collect();
    let _ = call.workspace.write_state_file(&file, lines.join("\n").as_bytes());
}

/// Takes the stored messages of the agent whose end this prompt announces. Of several processes, one gets them.
pub(super) fn take(call: &HookCall) -> Option<String> {
    let EventKind::Prompt { finished_task: Some(agent), .. } = &call.event.kind else { return None };
    let file = message_file(agent, call)?;
    let text = call.workspace.read_text(&file, LARGEST).ok().flatten()?;
    files::remove_file(&file).is_ok().then_some(text)
}

/// The file of an agent's messages. Its name is a digest, because ids come from outside.
fn message_file(agent: &str, call: &HookCall) -> Option<PathBuf> {
    let session = call.event.session.as_deref()?;
    let name = format!("{:016x}.txt", fnv1a(format!("{session}\n{agent}").as_bytes()));
    call.workspace.state_file(FOLDER, &name).ok()
}
