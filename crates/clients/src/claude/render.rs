//! The answer to an event, in the form that Claude Code obeys.
//!
//! A denial reaches the model as a reason, and the user as a short message. `docs/protocol.md` says what Claude Code shows
//! of each. Silence allows.

use serde_json::{Map, Value, json};

use super::reserved_tags::defuse_tags;
use crate::{BLOCK_EXIT_CODE, HookAnswer};
use provost_core::decision::{Decision, Ruling};
use provost_core::event::{Event, EventKind};
use provost_core::text::{make_printable, truncate_utf16};
use provost_core::tool::Tool;

/// Claude Code writes a context of 10,000 characters or more to a file, and shows the model only a part.
const MOST_CONTEXT: usize = 9_900;
/// Reasons pass whole up to at least 30,000 characters.
pub(super) const MOST_REASON: usize = 20_000;

pub(super) fn render(decision: &Decision, event: &Event) -> HookAnswer {
    match (&decision.ruling, &event.kind) {
        // Claude Code sends the model a reason in JSON twice, and one on standard error once.
        (Ruling::Deny(reason) | Ruling::Ask(reason), EventKind::Stop(_)) => {
            let without_ruling = Decision { to_user: decision.to_user.clone(), ..Decision::default() };
            let HookAnswer { mut stdout, .. } = render_json(&without_ruling, event);
            // Without any output, Claude Code ignores a block whose reason mentions a missing file.
            if stdout.is_empty() {
                stdout = "{}".into();
            }
            HookAnswer { stdout, stderr: reason_text(reason), code: BLOCK_EXIT_CODE }
        }
        // The terminal shows the start of a denied call's reason, and nothing of it if several calls are denied at once.
        // It shows the whole reason of a blocked stop.
        (Ruling::Deny(_), EventKind::BeforeTool(_)) => {
            render_with(decision.user_notice(&event.subject()), decision, event)
        }
        _ => render_json(decision, event),
    }
}

/// The answer as one JSON object, for stops too, and without a notice to the user.
pub(crate) fn render_json(decision: &Decision, event: &Event) -> HookAnswer {
    render_with(None, decision, event)
}

fn render_with(notice: Option<String>, decision: &Decision, event: &Event) -> HookAnswer {
    if let Ruling::FaultDenial(reason) = &decision.ruling {
        return HookAnswer { stderr: reason_text(reason), code: BLOCK_EXIT_CODE, ..HookAnswer::default() };
    }
    let mut answer = Map::new();
    let mut specific = Map::new();
    match (&decision.ruling, &event.kind) {
        (Ruling::Ask(reason), EventKind::BeforeTool(_)) => {
            specific.insert("permissionDecision".into(), "ask".into());
            // Without a terminal, Claude Code denies the call and gives the model this reason.
            let reason = format!("{reason} If nobody could be asked, it was denied.");
            specific.insert("permissionDecisionReason".into(), reason_text(&reason).into());
        }
        // Both spellings of a denial, because other clients that read these settings obey only one of them.
        (Ruling::Deny(reason), EventKind::BeforeTool(_)) => {
            let reason = reason_text(reason);
            answer.insert("decision".into(), "block".into());
            answer.insert("reason".into(), reason.clone().into());
            specific.insert("permissionDecision".into(), "deny".into());
            specific.insert("permissionDecisionReason".into(), reason.into());
        }
        (Ruling::Deny(reason) | Ruling::Ask(reason), EventKind::Permission(_)) => {
            specific.insert("decision".into(), json!({"behavior": "deny", "message": reason_text(reason)}));
        }
        // Claude Code cannot ask here, so the question is a denial.
        (Ruling::Deny(reason) | Ruling::Ask(reason), _) => {
            answer.insert("decision".into(), "block".into());
            answer.insert("reason".into(), reason_text(reason).into());
        }
        (Ruling::Silence | Ruling::FaultDenial(_), _) => {}
    }
    if let (Ruling::Silence, Some(brief), Some(Tool::Delegate { native_input, .. })) =
        (&decision.ruling, &decision.agent_prompt, event.call().map(|call| &call.tool))
    {
        // Claude Code takes this as the whole input. The judged agent must not choose which model judges, how hard it
        // thinks or where it works.
        let mut input = native_input.clone();
        input.retain(|name, _| ["description", "subagent_type"].contains(&name.as_str()));
        input.insert("prompt".into(), brief.clone().into());
        // Without a terminal, the caller can wait for the answer. With a terminal, Claude Code ignores this.
        input.insert("run_in_background".into(), false.into());
        specific.insert("updatedInput".into(), input.into());
    }
    let mut to_user: Vec<String> = notice.into_iter().chain(decision.to_user.iter().cloned()).collect();
    if !decision.to_model.is_empty() {
        let context = decision.to_model.join("\n\n");
        if takes_context(&event.kind) {
            specific.insert(
                "additionalContext".into(),
                truncate_utf16(&defuse_tags(&make_printable(&context)), MOST_CONTEXT).into(),
            );
        } else {
            to_user.push(context);
        }
    }
    if !to_user.is_empty() {
        answer.insert(
            "systemMessage".into(),
            truncate_utf16(&make_printable(&to_user.join("\n")), MOST_CONTEXT).into(),
        );
    }
    if !specific.is_empty() {
        specific.shift_insert(0, "hookEventName".into(), event.native_name.clone().into());
        answer.insert("hookSpecificOutput".into(), specific.into());
    }
    let stdout = if answer.is_empty() { String::new() } else { Value::Object(answer).to_string() };
    HookAnswer { stdout, ..HookAnswer::default() }
}

pub(crate) fn reason_text(reason: &str) -> String {
    truncate_utf16(&defuse_tags(&make_printable(reason)), MOST_REASON).into_owned()
}

/// Whether a note can reach the model. At a stop it could, but would continue the turn.
fn takes_context(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::BeforeTool(_)
            | EventKind::AfterTool(_)
            | EventKind::ToolFailed(_)
            | EventKind::Prompt { .. }
            | EventKind::SessionStart { .. }
            | EventKind::SubagentStart
    )
}
