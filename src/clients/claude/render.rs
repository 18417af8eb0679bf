//! The answer to an event, in the form that Claude Code obeys.
//!
//! A denial reaches the model as a reason and the user as a short message of its own; `docs/protocol.md` says
//! what the client shows of each. To allow is to say nothing.

use serde_json::{Map, Value, json};

use super::voice::without_tags;
use crate::clients::{Answer, BLOCK};
use crate::decision::{Decision, Ruling};
use crate::event::{Event, Kind, Tool};
use crate::text::{bounded, printable};

/// The client writes a context of 10,000 characters or more to a file and shows the model a part.
const MOST_CONTEXT: usize = 9_900;
/// Reasons pass whole up to at least 30,000 characters.
pub(super) const MOST_REASON: usize = 20_000;

pub(super) fn render(decision: &Decision, event: &Event) -> Answer {
    match (&decision.ruling, &event.kind) {
        // The client sends a reason in JSON to the model twice, and one on standard error once.
        (Ruling::Deny(reason) | Ruling::Ask(reason), Kind::Stop(_)) => {
            let told = Decision { to_person: decision.to_person.clone(), ..Decision::default() };
            let Answer { mut stdout, .. } = render_json(&told, event);
            // Without any output, the client drops a block whose reason mentions a missing file.
            if stdout.is_empty() {
                stdout = "{}".into();
            }
            Answer { stdout, stderr: reason_text(reason), code: BLOCK }
        }
        // Of a denied call the terminal shows the start of the reason, and nothing where several calls are
        // denied at once. A held stop is shown whole.
        (Ruling::Deny(_), Kind::BeforeTool(_)) => {
            render_with(decision.notice(&event.subject()), decision, event)
        }
        _ => render_json(decision, event),
    }
}

/// The answer as one JSON object, also where a turn is blocked from ending, and without a notice to the user.
pub(super) fn render_json(decision: &Decision, event: &Event) -> Answer {
    render_with(None, decision, event)
}

fn render_with(notice: Option<String>, decision: &Decision, event: &Event) -> Answer {
    if let Ruling::Broken(reason) = &decision.ruling {
        return Answer { stderr: reason_text(reason), code: BLOCK, ..Answer::default() };
    }
    let mut answer = Map::new();
    let mut specific = Map::new();
    match (&decision.ruling, &event.kind) {
        (Ruling::Ask(reason), Kind::BeforeTool(_)) => {
            specific.insert("permissionDecision".into(), "ask".into());
            specific.insert("permissionDecisionReason".into(), reason_text(reason).into());
        }
        // Both spellings of one denial: together they are obeyed by every client that reads these
        // settings, not only by this one.
        (Ruling::Deny(reason), Kind::BeforeTool(_)) => {
            let reason = reason_text(reason);
            answer.insert("decision".into(), "block".into());
            answer.insert("reason".into(), reason.clone().into());
            specific.insert("permissionDecision".into(), "deny".into());
            specific.insert("permissionDecisionReason".into(), reason.into());
        }
        (Ruling::Deny(reason) | Ruling::Ask(reason), Kind::Permission(_)) => {
            specific.insert("decision".into(), json!({"behavior": "deny", "message": reason_text(reason)}));
        }
        // Where a question cannot be asked, it is a denial.
        (Ruling::Deny(reason) | Ruling::Ask(reason), _) => {
            answer.insert("decision".into(), "block".into());
            answer.insert("reason".into(), reason_text(reason).into());
        }
        (Ruling::Silence | Ruling::Broken(_), _) => {}
    }
    if let (Ruling::Silence, Some(brief), Some(Tool::Delegate { native_input, .. })) =
        (&decision.ruling, &decision.brief, event.call().map(|call| &call.tool))
    {
        // The client takes this for the whole input. Which model judges, how hard it thinks and where it
        // works is not for the judged to say.
        let mut input = native_input.clone();
        input.retain(|name, _| ["description", "subagent_type"].contains(&name.as_str()));
        input.insert("prompt".into(), brief.clone().into());
        // Headless, whoever asks can wait for the answer. A client with a terminal ignores it.
        input.insert("run_in_background".into(), false.into());
        specific.insert("updatedInput".into(), input.into());
    }
    let mut to_person: Vec<String> = notice.into_iter().chain(decision.to_person.iter().cloned()).collect();
    if !decision.to_model.is_empty() {
        let context = decision.to_model.join("\n\n");
        if takes_context(&event.kind) {
            specific.insert(
                "additionalContext".into(),
                bounded(&without_tags(&printable(&context)), MOST_CONTEXT).into(),
            );
        } else {
            to_person.push(context);
        }
    }
    if !to_person.is_empty() {
        answer
            .insert("systemMessage".into(), bounded(&printable(&to_person.join("\n")), MOST_CONTEXT).into());
    }
    if !specific.is_empty() {
        specific.shift_insert(0, "hookEventName".into(), event.native_name.clone().into());
        answer.insert("hookSpecificOutput".into(), specific.into());
    }
    let stdout = if answer.is_empty() { String::new() } else { Value::Object(answer).to_string() };
    Answer { stdout, ..Answer::default() }
}

pub(super) fn reason_text(reason: &str) -> String {
    bounded(&without_tags(&printable(reason)), MOST_REASON).into_owned()
}

/// Whether a note can reach the model here. At a stop it could, but would keep the turn going.
fn takes_context(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::BeforeTool(_)
            | Kind::AfterTool(_)
            | Kind::ToolFailed(_)
            | Kind::Prompt { .. }
            | Kind::SessionStart { .. }
            | Kind::SubagentStart
    )
}
