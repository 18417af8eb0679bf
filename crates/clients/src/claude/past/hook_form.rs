//! Gives a past event the form in which a hook got it, so that the parser of the hook reads it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::claude::events::parse_fields;
use crate::json::Fields;
use crate::past::{PastCall, PastEvent, PastEventKind, PastResult};
use provost_core::event::Event;

/// The event that a hook would have got. Of a call that never reached a hook it is the same as of another.
pub(super) fn build_event(past: &PastEvent) -> Option<Event> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| _ = fields.insert(name.to_owned(), value);
    let text = |text: &Option<Arc<str>>| text.as_deref().map_or(Value::Null, Value::from);
    set("session_id", text(&past.session));
    set("cwd", text(&past.cwd));
    set("permission_mode", text(&past.mode));
    set("prompt_id", text(&past.turn));
    if let Some(agent) = &past.agent {
        set("agent_id", (&*agent.id).into());
        set("agent_type", text(&agent.kind));
    } else if past.main_agent.is_some() {
        set("agent_type", text(&past.main_agent));
    }
    let name = match &past.kind {
        PastEventKind::Call(call, _) => {
            set_call(call, past, &mut set)?;
            "PreToolUse"
        }
        PastEventKind::Finished(call, result) => {
            set_call(call, past, &mut set)?;
            set_result(result, &mut set)
        }
        PastEventKind::Prompt(words) | PastEventKind::TaskEnd { text: words, .. } => {
            set("prompt", words.as_str().into());
            "UserPromptSubmit"
        }
        PastEventKind::Stop { last_message, has_been_blocked } => {
            set("stop_hook_active", (*has_been_blocked).into());
            set("last_assistant_message", last_message.as_deref().into());
            if past.agent.is_some() { "SubagentStop" } else { "Stop" }
        }
        PastEventKind::Interruption => return None,
    };
    set("hook_event_name", name.into());
    let mut event = parse_fields(Fields(fields)).ok()?;
    if past.cwd.as_deref().is_none_or(|cwd| !Path::new(cwd).is_absolute()) {
        // The parser takes the directory of this process instead.
        event.cwd = PathBuf::from("/");
    }
    Some(event)
}

fn set_call(call: &PastCall, past: &PastEvent, set: &mut impl FnMut(&str, Value)) -> Option<()> {
    set("tool_name", call.tool.as_str().into());
    set("tool_use_id", past.id.as_deref().into());
    let mut input = parse_value(&call.input)?;
    let path_field = match &*call.tool {
        "NotebookEdit" => "notebook_path",
        _ => "file_path",
    };
    // Claude Code has corrected the name of the field. The result has the path.
    if let (Value::Object(fields), Some(file)) = (&mut input, &call.file)
        && !fields.contains_key(path_field)
    {
        fields.insert(path_field.to_owned(), file.as_str().into());
    }
    set("tool_input", input);
    Some(())
}

fn set_result(result: &PastResult, set: &mut impl FnMut(&str, Value)) -> &'static str {
    let response = parse_value(&result.response).unwrap_or_default();
    if result.has_failed {
        let error = response.as_str().map(|text| text.strip_prefix("Error: ").unwrap_or(text).to_owned());
        set("error", error.map_or(response, Value::String));
        return "PostToolUseFailure";
    }
    set("tool_response", response);
    "PostToolUse"
}

/// A value of a record, read with the limits and repairs of the hook.
fn parse_value(json: &[u8]) -> Option<Value> {
    let object = [b"{\"value\":", json, b"}"].concat();
    Fields::parse(&object).ok()?.0.remove("value")
}
