//! Which client has sent an event, if the hook entry does not say it.
//!
//! Several clients run the hook entries of others. Only the fields of an event count: an agent that was started in
//! another client's shell inherits that client's variables.

use serde_json::{Map, Value};

use super::{Words, cline, codex, copilot, droid, gemini, grok, kimi, opencode, qwen};
use crate::Client;

/// The client that sends events with these fields; `None`: Claude Code, or one that is not known.
pub(super) fn recognize(fields: &Map<String, Value>) -> Option<(&'static Client, &'static Words)> {
    let has = |name: &str| fields.contains_key(name);
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let event = text("hook_event_name");
    if has("hookName") && has("taskId") {
        return Some((&cline::CLIENT, &cline::WORDS));
    }
    if text("client_type") == Some("kimi_code_cli") {
        return Some((&kimi::CLIENT, &kimi::WORDS));
    }
    if has("hookEventName") && has("workspaceRoot") {
        return Some((&grok::CLIENT, &grok::WORDS));
    }
    if matches!(
        event,
        Some(
            "BeforeTool"
                | "AfterTool"
                | "BeforeAgent"
                | "AfterAgent"
                | "BeforeModel"
                | "AfterModel"
                | "BeforeToolSelection"
                | "PreCompress"
        )
    ) {
        return Some((&gemini::CLIENT, &gemini::WORDS));
    }
    let transcript_has = |part: &str| text("transcript_path").is_some_and(|path| path.contains(part));
    if !has("prompt_id") && (has("turn_id") && has("model") || transcript_has("/rollout-")) {
        return Some((&codex::CLIENT, &codex::WORDS));
    }
    // Claude Code's own events have none of these.
    if has("sessionId") && !has("session_id") {
        return Some((&copilot::CLIENT, &copilot::WORDS));
    }
    if has("native_tool") || text("session_id").is_some_and(|id| id.starts_with("ses_")) {
        return Some((&opencode::CLIENT, &opencode::WORDS));
    }
    let is_claude = has("prompt_id") && !has("timestamp");
    if is_claude {
        return None;
    }
    // Qwen, Gemini CLI and Copilot date their events.
    if has("timestamp") {
        return match (has("permission_mode"), has("transcript_path")) {
            (true, _) => Some((&qwen::CLIENT, &qwen::WORDS)),
            (false, true) if !has("stop_reason") && !has("agent_id") => {
                Some((&gemini::CLIENT, &gemini::WORDS))
            }
            _ => Some((&copilot::CLIENT, &copilot::WORDS)),
        };
    }
    let mode = text("permission_mode").unwrap_or_default();
    if transcript_has("/.factory/") || matches!(mode, "off" | "spec") || mode.starts_with("auto-") {
        return Some((&droid::CLIENT, &droid::WORDS));
    }
    None
}
