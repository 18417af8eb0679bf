//! Reads an event that Claude Code reports to a hook. Unknown events, fields and values are normal.

use std::env;
use std::path::PathBuf;

use serde_json::Value;

use super::home_directory;
use super::tools::{EXIT, parse_call};
use crate::Unreadable;
use crate::json::Fields;
use crate::long_text::{HookInput, LongText};
use provost_core::event::{Agent, Event, EventKind, PermissionMode, TurnEnd};
use provost_core::tool::{PlanText, Tool};

pub(super) fn parse(input: HookInput) -> Result<Event, Unreadable> {
    let (fields, long) = Fields::parse_and_lift(input)?;
    parse_lifted(fields, long)
}

/// Reads an event whose long text, if any, was lifted out of its fields.
pub(crate) fn parse_lifted(mut fields: Fields, mut long: Option<LongText>) -> Result<Event, Unreadable> {
    // Only the text of a plan that is about to leave may be so long that copying it costs too much.
    if fields.text("tool_name") != Some(EXIT) {
        fields.restore_long_text(long.take());
    }
    let mut event = parse_fields(fields)?;
    if let Some(long) = long {
        restore_plan(long, &mut event);
    }
    Ok(event)
}

/// Makes an event of the fields of a hook's input.
pub(crate) fn parse_fields(mut fields: Fields) -> Result<Event, Unreadable> {
    let name = fields.take_text("hook_event_name").ok_or(Unreadable::NoEvent)?;
    let kind = match name.as_str() {
        "PreToolUse" => EventKind::BeforeTool(parse_call(&mut fields)),
        "PostToolUse" => EventKind::AfterTool(parse_call(&mut fields)),
        "PostToolUseFailure" => EventKind::ToolFailed(parse_call(&mut fields)),
        "PermissionRequest" => EventKind::Permission(parse_call(&mut fields)),
        "UserPromptSubmit" => {
            let text = fields.take_text("prompt");
            let finished_task = text.as_deref().and_then(find_finished_task);
            EventKind::Prompt {
                is_by_user: finished_task.is_none() && is_by_user(&fields),
                has_task_succeeded: !fields.0.contains_key("source")
                    && text.as_deref().is_some_and(announces_success),
                text,
                finished_task,
            }
        }
        "Stop" => EventKind::Stop(parse_stop(&mut fields)),
        "SubagentStart" => EventKind::SubagentStart,
        "SubagentStop" => EventKind::SubagentStop(parse_stop(&mut fields)),
        "SessionStart" => {
            EventKind::SessionStart { is_fresh: matches!(fields.text("source"), Some("startup" | "resume")) }
        }
        "SessionEnd" => EventKind::SessionEnd,
        "ConfigChange" => EventKind::ConfigChange { file: fields.take_text("file_path").map(PathBuf::from) },
        _ => EventKind::Other,
    };
    Ok(build_event(name, kind, fields))
}

/// Replaces the placeholder of a long plan with the plan.
fn restore_plan(long: LongText, event: &mut Event) {
    if let EventKind::BeforeTool(call) = &mut event.kind
        && let Tool::LeavePlanMode { plan: Some(plan), .. } = &mut call.tool
        && plan.as_bytes() == long.placeholder.as_bytes()
    {
        *plan = PlanText::Long(long.text);
    }
}

/// Whether the user typed a prompt, or passed it to a client without a terminal. Schedules, loops and other machinery
/// send prompts too; the versions that name the source at all use other names for them.
fn is_by_user(fields: &Fields) -> bool {
    match fields.0.get("source") {
        None | Some(Value::Null) => true,
        Some(source) => source == "user" || source == "sdk",
    }
}

/// The background task whose end a prompt of the client announces.
pub(super) fn find_finished_task(prompt: &str) -> Option<String> {
    let (_, rest) = prompt.strip_prefix("<task-notification>")?.split_once("<task-id>")?;
    rest.split_once("</task-id>").map(|(id, _)| id.trim().to_owned())
}

/// Whether a prompt of the client announces that a background command has succeeded. The summary repeats words of the
/// agent, so it counts only with the status, which stands before it.
pub(super) fn announces_success(prompt: &str) -> bool {
    let Some((head, rest)) = prompt.split_once("<summary>") else { return false };
    head.contains("<status>completed</status>")
        && rest.split_once("</summary>").is_some_and(|(summary, _)| summary.ends_with("(exit code 0)"))
}

/// An event of this kind, with the fields that all events have.
pub(super) fn build_event(name: String, kind: EventKind, mut fields: Fields) -> Event {
    let cwd = fields.take_text("cwd").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut event = Event::new(name, kind, cwd.or_else(|| env::current_dir().ok()).unwrap_or_default());
    event.home = home_directory();
    event.session = fields.take_text("session_id");
    event.turn = fields.take_text("prompt_id");
    event.transcript = fields.take_text("transcript_path").map(PathBuf::from);
    event.mode = match fields.take_text("permission_mode") {
        None => PermissionMode::Unknown,
        Some(mode) if mode == "plan" => PermissionMode::Plan,
        Some(mode) => PermissionMode::Other(mode),
    };
    event.is_never_asked = matches!(&event.mode, PermissionMode::Other(mode) if mode == "dontAsk");
    // A compaction names an agent with an empty type.
    let mut take_name = |field: &str| fields.take_text(field).filter(|name| !name.is_empty());
    let agent = Agent { id: take_name("agent_id"), kind: take_name("agent_type") };
    event.agent = (agent.id.is_some() || agent.kind.is_some()).then_some(agent);
    event
}

pub(super) fn parse_stop(fields: &mut Fields) -> TurnEnd {
    let tasks = fields.take_list("background_tasks");
    let is_running = |task: &Value| task["type"] == "subagent" && task["status"] == "running";
    let own_id = fields.text("agent_id").map(str::to_owned);
    let is_own = |task: &Value| own_id.is_some() && task["id"].as_str() == own_id.as_deref();
    TurnEnd {
        is_in_background: tasks.iter().any(is_own),
        has_been_blocked: fields.flag("stop_hook_active").unwrap_or(false),
        last_message: fields.take_text("last_assistant_message"),
        is_subagent_running: tasks.iter().any(is_running),
        transcript: fields.take_text("agent_transcript_path").map(PathBuf::from),
    }
}
