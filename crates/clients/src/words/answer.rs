//! The answer to an event, in the form that a client obeys.
//!
//! All clients but one take Claude Code's denial. They differ in how a turn is kept from ending, where a text for the
//! model goes, and how long a reason may be. What a client cannot be asked or told becomes a denial or a message.

use serde_json::{Map, Value, json};

use crate::claude::render;
use crate::{BLOCK_EXIT_CODE, HookAnswer};
use provost_core::decision::{Decision, Ruling};
use provost_core::event::{Event, EventKind};
use provost_core::opinion::Denial;
use provost_core::text::make_printable;

/// How a client is answered.
pub(super) struct AnswerWords {
    pub(super) hold: Hold,
    pub(super) context: Context,
    /// It asks the user where a hook wants that. Elsewhere such a call would run, so it is denied.
    pub(super) can_ask: bool,
    /// It cuts a reason behind this many characters.
    pub(super) longest_reason: Option<usize>,
    /// It shows the user a message.
    pub(super) takes_message: bool,
}

/// How a turn is kept from ending.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// By a decision in JSON.
    Json,
    /// By the exit code, with the reason on standard error.
    ExitCode,
    /// It cannot be kept from ending. Calls are denied by replacing their input.
    Never,
}

/// Where a text for the model goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Where Claude Code has it.
    Specific,
    /// At the top of the answer.
    Flat,
    /// The answer is that text.
    PlainText,
    /// The model cannot be told anything.
    None,
}

pub(super) fn render(words: &AnswerWords, decision: &Decision, event: &Event) -> HookAnswer {
    let decision = &fit(words, decision, event);
    if words.hold == Hold::Never {
        return replace_call(decision, event);
    }
    let is_turn_end =
        matches!(event.kind, EventKind::Stop(_) | EventKind::SubagentStop(_) | EventKind::Prompt { .. });
    if let (Hold::ExitCode, true, Ruling::Deny(reason)) = (words.hold, is_turn_end, &decision.ruling) {
        return HookAnswer {
            stderr: render::reason_text(reason),
            code: BLOCK_EXIT_CODE,
            ..HookAnswer::default()
        };
    }
    let HookAnswer { stdout, stderr, code } = render::render_json(decision, event);
    let Ok(Value::Object(mut answer)) = serde_json::from_str(&stdout) else {
        return HookAnswer { stdout, stderr, code };
    };
    if !words.takes_message {
        answer.remove("systemMessage");
    }
    match words.context {
        Context::Specific => {}
        Context::Flat => {
            let context = take_context(&mut answer);
            answer.extend(context.map(|context| ("additionalContext".to_owned(), context)));
        }
        Context::PlainText => {
            if let Some(Value::String(context)) = take_context(&mut answer)
                && answer.is_empty()
            {
                return HookAnswer { stdout: context, ..HookAnswer::default() };
            }
        }
        Context::None => drop(take_context(&mut answer)),
    }
    let stdout = if answer.is_empty() { String::new() } else { Value::Object(answer).to_string() };
    HookAnswer { stdout, stderr, code }
}

/// Takes the text for the model out of an answer, and what only stood around it.
fn take_context(answer: &mut Map<String, Value>) -> Option<Value> {
    let specific = answer.get_mut("hookSpecificOutput")?.as_object_mut()?;
    let context = specific.remove("additionalContext");
    if specific.keys().all(|name| name == "hookEventName") {
        answer.remove("hookSpecificOutput");
    }
    context
}

/// The decision with what this client cannot be told replaced by what it can.
fn fit(words: &AnswerWords, decision: &Decision, event: &Event) -> Decision {
    let mut fitted = decision.clone();
    // Only Claude Code's form of an agent's input is known well enough to replace it.
    fitted.agent_prompt = None;
    if let (Ruling::Ask(reason), false) = (&fitted.ruling, words.can_ask) {
        let way_out = "This client cannot ask the user here, so it is denied.";
        fitted.ruling = Ruling::Deny(format!("{reason} {way_out}"));
    }
    if let Some(most) = words.longest_reason
        && let Ruling::Deny(reason) | Ruling::Ask(reason) = &mut fitted.ruling
    {
        *reason = shorten(reason, decision.denials.first().map(|(_, denial)| denial), most);
    }
    // The model of a client that takes no context at all learns nothing from it, so the user reads it.
    if words.context == Context::None && words.takes_message && !matches!(event.kind, EventKind::Stop(_)) {
        fitted.to_user.append(&mut fitted.to_model);
    }
    fitted
}

/// A reason of at most this many characters, with the fix in it: what happened, the fix, and as much of the rest as fits.
fn shorten(reason: &str, denial: Option<&Denial>, most: usize) -> String {
    let reason = make_printable(reason);
    let Some(denial) = denial.filter(|_| reason.chars().count() > most) else { return clip(&reason, most) };
    let whole = format!("[provost] {}: {}. To fix: {}", denial.what, denial.why, denial.fix);
    if whole.chars().count() <= most {
        return whole;
    }
    let what = clip(&format!("[provost] {}", denial.what), most / 2);
    clip(&format!("{what}. To fix: {}", denial.fix), most)
}

fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut clipped: String = text.chars().take(most.saturating_sub(1)).collect();
    clipped.push('…');
    clipped
}

/// Cline's own denial ends the whole task, so the call is replaced by one that fails with the reason.
fn replace_call(decision: &Decision, event: &Event) -> HookAnswer {
    let (Ruling::Deny(reason) | Ruling::FaultDenial(reason), EventKind::BeforeTool(_)) =
        (&decision.ruling, &event.kind)
    else {
        return HookAnswer::default();
    };
    let reason = render::reason_text(reason);
    let quoted = reason.replace('\'', r"'\''");
    let answer = json!({
        "overrideInput": {"commands": [format!("printf '%s\\n' '{quoted}' >&2; exit 1")]},
        "contextModification": reason,
    });
    HookAnswer { stdout: answer.to_string(), ..HookAnswer::default() }
}
