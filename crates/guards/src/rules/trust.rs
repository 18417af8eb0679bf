//! Tells the user that a project's commands wait, and records the user's agreement.

use crate::prelude::*;

use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Opinion};
use provost_core::rules::is_trust_prompt;
use provost_core::text::{clip_line, quote_for_model};
use provost_core::workspace::Workspace;

/// How many commands a message names.
const MOST_NAMED: usize = 3;

/// At the start of a session: the commands that wait.
pub(super) fn announce_waiting(workspace: &Workspace) -> Opinion {
    let waiting = workspace.list_untrusted_commands();
    if waiting.is_empty() {
        return Opinion::unconcerned();
    }
    let (verb, pronoun) = if waiting.len() == 1 { ("does", "it") } else { ("do", "them") };
    Opinion {
        to_user: Some(format!(
            "[provost] {} of this project's provost.toml {verb} not run before you trust {pronoun}: {}. To fix: type \
             the prompt `provost trust rules`, or run `provost rules trust` in a terminal.",
            count(waiting.len()),
            list(&waiting)
        )),
        evidence: vec![format!("{} wait for trust", count(waiting.len()))],
        ..Opinion::default()
    }
}

/// The answer to the prompt `provost trust rules`; `None` for other prompts.
pub(super) fn answer_prompt(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let EventKind::Prompt { text: Some(text), is_by_user, .. } = &event.kind else { return None };
    if !is_trust_prompt(text) {
        return None;
    }
    let in_subagent = event.agent.as_ref().is_some_and(|agent| agent.id.is_some());
    if in_subagent || !is_by_user {
        return Some(reject("the prompt is not the user's own", "let the user type it"));
    }
    let added = match workspace.trust_commands() {
        Ok(added) => added,
        Err(fault) => {
            return Some(reject(&fault.to_string(), "make the directory writable, and type it again"));
        }
    };
    // Another hook entry has just recorded and said it.
    let is_said = !workspace.claim_event(event).unwrap_or(true);
    if added.is_empty() && is_said {
        return Some(Opinion::unconcerned());
    }
    let text = if added.is_empty() {
        "[provost] no command of this project's rules waits for trust".to_owned()
    } else {
        format!("[provost] the user trusts {} of this project's rules: {}", count(added.len()), list(&added))
    };
    Some(Opinion {
        to_model: Some(text.clone()),
        evidence: vec![format!("trusts {}", count(added.len()))],
        to_user: Some(text),
        ..Opinion::default()
    })
}

fn count(commands: usize) -> String {
    if commands == 1 { "1 command".into() } else { format!("{commands} commands") }
}

fn list(commands: &[impl AsRef<str>]) -> String {
    let named = commands.iter().take(MOST_NAMED);
    let mut named: Vec<String> =
        named.map(|command| quote_for_model(&clip_line(command.as_ref(), 60))).collect();
    if commands.len() > MOST_NAMED {
        named.push(format!("and {} more", commands.len() - MOST_NAMED));
    }
    named.join(", ")
}

fn reject(why: &str, fix: &str) -> Opinion {
    let what = "no command was trusted".into();
    let text = Denial { what, why: why.into(), fix: fix.into(), document_wording: None }.to_string();
    Opinion {
        to_model: Some(text.clone()),
        evidence: vec![format!("not trusted: {why}")],
        to_user: Some(text),
        ..Opinion::default()
    }
}
