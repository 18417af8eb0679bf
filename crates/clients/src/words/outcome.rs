//! What a finished call returned, from the forms in which clients report it.
//!
//! Evidence depends on the success of a command, so an outcome that is not certain counts as unfinished. A command can
//! print whatever it likes, so only the last line that a client adds itself counts.

use serde_json::Value;

use crate::json::Fields;
use provost_core::tool::{Tool, ToolCall};

/// What a client says about the success of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandOutcome {
    ExitCode(i64),
    /// What was read from the fields of the result stands.
    Kept,
    /// The event itself says it: it comes for commands that succeeded only.
    ByEvent,
    Unknown,
}

/// The field that holds a tool's result as text, in the objects that clients send.
const TEXTS: &[&str] = &["llmContent", "text_result_for_llm", "textResultForLlm", "message"];

/// Replaces objects around a result by the text in them.
pub(super) fn flatten(fields: &mut Fields) {
    for name in ["tool_response", "tool_result", "tool_output", "error"] {
        let Some(Value::Object(object)) = fields.0.get(name) else { continue };
        if let Some(text) = TEXTS.iter().find_map(|text| object.get(*text)?.as_str()) {
            let text = text.to_owned();
            fields.0.insert(name.into(), text.into());
        }
    }
    if let Some(output) = fields.0.remove("tool_output") {
        fields.0.entry("tool_response").or_insert(output);
    }
}

/// Replaces what was read from the result of a command by what this client says about its success.
pub(super) fn read(call: &mut ToolCall, find_outcome: fn(&str) -> CommandOutcome) {
    let (Tool::Shell { .. }, Some(text)) = (&call.tool, &call.outcome.text) else { return };
    match find_outcome(text) {
        CommandOutcome::Kept => {}
        CommandOutcome::ExitCode(code) => call.outcome.exit_code = Some(code),
        CommandOutcome::ByEvent => call.outcome.exit_code = None,
        CommandOutcome::Unknown => {
            call.outcome.exit_code = None;
            call.outcome.is_unfinished = true;
        }
    }
}

/// The number behind the last of these words.
pub(super) fn find_last_code(text: &str, words: &str) -> Option<i64> {
    let (_, rest) = text.rsplit_once(words)?;
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit() && c != '-').next()?;
    digits.parse().ok()
}

pub(super) fn code_or_unknown(code: Option<i64>) -> CommandOutcome {
    code.map_or(CommandOutcome::Unknown, CommandOutcome::ExitCode)
}
