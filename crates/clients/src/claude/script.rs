//! The dialects of the hook scripts that `provost compat` replaces.
//!
//! A script is registered for one event and never looks at the event's name. It takes what it finds in the input, and
//! treats what is missing, or an input that is not JSON, as empty. It blocks with exit code 2 and the reason on standard
//! error, and is silent otherwise.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::events::{build_event, parse_stop};
use super::expand_home;
use super::render::{reason_text, render_json};
use super::tools::parse_call;
use crate::json::Fields;
use crate::{BLOCK_EXIT_CODE, Dialect, HookAnswer, HookInput, Unreadable};
use provost_core::decision::Decision;
use provost_core::event::{Event, EventKind};
use provost_core::tool::{Tool, ToolCall, ToolOutcome};

/// What the plan gate says if an event names no session.
pub(crate) const NO_SESSION: &str = "Internal error: the event names no session";

/// For a script that is registered for shell calls.
pub static SHELL: Dialect = Dialect { parse: parse_shell_call, render, refuse: None };
/// For a script that is registered for stops.
pub static STOP: Dialect = Dialect { parse: parse_any_stop, render, refuse: None };
/// For a script that is registered for finished writes.
pub static WRITE: Dialect = Dialect { parse: parse_write, render, refuse: None };
/// For a script that is registered for leaving plan mode.
pub static EXIT: Dialect = Dialect { parse: parse_exit, render: render_exit, refuse: Some(refuse_exit) };
/// For the script of the review loop, which is registered for stops and answers with JSON.
pub static REVIEW_LOOP: Dialect =
    Dialect { parse: parse_review_stop, render: render_review, refuse: Some(refuse_review) };
/// For scripts before a call that allow what they cannot read.
pub static BEFORE: Dialect = open_dialect(parse_before, render_before);
/// For scripts after a call that allow what they cannot read, and answer with JSON.
pub static AFTER: Dialect = open_dialect(|input| parse_after(input, ""), render_json);
/// For a script after an agent's answer.
pub static AGENT_ANSWER: Dialect = open_dialect(|input| parse_after(input, "Agent"), render_json);
/// For a script after a shell call.
pub static AFTER_SHELL: Dialect = open_dialect(|input| parse_after(input, "Bash"), render_json);
/// For scripts after a call that warn on standard error.
pub static WARNING: Dialect = open_dialect(|input| parse_after(input, ""), render_warning);
/// For a script at the end of a turn that allows what it cannot read.
pub static END: Dialect = open_dialect(parse_end, render_before);

/// A script that allows what it cannot read.
const fn open_dialect(
    parse: fn(HookInput) -> Result<Event, Unreadable>,
    render: fn(&Decision, &Event) -> HookAnswer,
) -> Dialect {
    Dialect { parse, render, refuse: Some(|_| HookAnswer::default()) }
}

/// A shell call. A script reads the command of any tool that it is registered for.
fn parse_shell_call(input: HookInput) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input).unwrap_or_default();
    let command = match fields.0.remove("tool_input") {
        Some(Value::Object(input)) => Fields(input).take_text("command"),
        _ => None,
    };
    let tool = Tool::Shell { command: command.unwrap_or_default() };
    let native_tool = fields.take_text("tool_name").unwrap_or_else(|| "Bash".into());
    let call = ToolCall {
        native_tool,
        other_name: None,
        id: fields.take_text("tool_use_id"),
        tool,
        outcome: ToolOutcome::default(),
    };
    Ok(build_event("PreToolUse".into(), EventKind::BeforeTool(call), fields))
}

fn parse_before(input: HookInput) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input)?;
    let call = parse_call(&mut fields);
    Ok(build_event("PreToolUse".into(), EventKind::BeforeTool(call), fields))
}

/// A finished call. A script never looks at the tool's name, so an input without one is a call of `tool`.
fn parse_after(input: HookInput, tool: &str) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input)?;
    if fields.text("tool_name").is_none() {
        fields.0.insert("tool_name".into(), tool.into());
    }
    let call = parse_call(&mut fields);
    if fields.text("hook_event_name") == Some("PostToolUseFailure") {
        return Ok(build_event("PostToolUseFailure".into(), EventKind::ToolFailed(call), fields));
    }
    Ok(build_event("PostToolUse".into(), EventKind::AfterTool(call), fields))
}

fn parse_end(input: HookInput) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input)?;
    let stop = EventKind::Stop(parse_stop(&mut fields));
    Ok(build_event("Stop".into(), stop, fields))
}

/// A stop. This script treats an input that it cannot read as empty.
fn parse_any_stop(input: HookInput) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input).unwrap_or_default();
    // A script compares the printed value.
    let was_held = fields.text("stop_hook_active") == Some("true");
    let mut stop = parse_stop(&mut fields);
    stop.has_been_blocked |= was_held;
    let name = fields.take_text("hook_event_name").unwrap_or_else(|| "Stop".into());
    Ok(build_event(name, EventKind::Stop(stop), fields))
}

/// A finished write. A script takes the file from the input, or else from the tool's response.
fn parse_write(input: HookInput) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input).unwrap_or_default();
    let file = fields.0.get("tool_input").and_then(|input| input["file_path"].as_str());
    let file = file.map(|file| expand_home(file.to_owned()));
    let mut call = parse_call(&mut fields);
    if !matches!(call.tool, Tool::Write { .. } | Tool::Edit { .. } | Tool::Shell { .. })
        && let Some(path) = file.or_else(|| call.outcome.file.clone())
    {
        call.tool = Tool::Write { path, content: None };
    }
    Ok(build_event("PostToolUse".into(), EventKind::AfterTool(call), fields))
}

fn parse_exit(input: HookInput) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input)?;
    let mut call = parse_call(&mut fields);
    if !matches!(call.tool, Tool::LeavePlanMode { .. }) {
        call.tool = Tool::LeavePlanMode { plan: None, path: None };
    }
    Ok(build_event("PreToolUse".into(), EventKind::BeforeTool(call), fields))
}

/// A stop, for the script of the review loop: it must be JSON, in a directory that exists.
fn parse_review_stop(input: HookInput) -> Result<Event, Unreadable> {
    let mut fields = Fields::parse_whole(input)?;
    let name = fields.take_text("hook_event_name").unwrap_or_else(|| "Stop".into());
    let cwd = fields.text("cwd").map(PathBuf::from);
    if let Some(cwd) = cwd.filter(|cwd| !cwd.is_dir()) {
        return Err(Unreadable::NoDirectory(cwd));
    }
    let stop = EventKind::Stop(parse_stop(&mut fields));
    Ok(build_event(name, stop, fields))
}

/// Denies with JSON.
fn render_before(decision: &Decision, event: &Event) -> HookAnswer {
    render_json(&decision.with_document_wording(), event)
}

/// Warns on standard error, and says nothing else.
fn render_warning(decision: &Decision, _event: &Event) -> HookAnswer {
    HookAnswer { stderr: reason_text(&decision.to_user.join("\n")), ..HookAnswer::default() }
}

/// The review loop's answer to an input that it cannot read.
fn refuse_review(why: &str) -> HookAnswer {
    let words = match why.strip_prefix("there is no directory ") {
        Some(directory) => format!("Cannot change to directory: {directory}"),
        None => format!("Invalid JSON input: {why}"),
    };
    HookAnswer {
        stderr: format!("Error: {}", reason_text(&words)),
        code: BLOCK_EXIT_CODE,
        ..HookAnswer::default()
    }
}

/// The review loop always answers with JSON, and warns on standard error.
fn render_review(decision: &Decision, _event: &Event) -> HookAnswer {
    let without_prefix = |text: &str| text.strip_prefix("[provost] ").unwrap_or(text).to_owned();
    let lines = decision.to_user.iter().flat_map(|text| text.lines()).map(without_prefix);
    let (warnings, messages): (Vec<String>, Vec<String>) =
        lines.partition(|line| line.starts_with("Warning: "));
    let mut answer = Map::new();
    if let Some(reason) = decision.stop_reason() {
        answer.insert("decision".into(), "block".into());
        answer.insert("reason".into(), reason_text(&without_prefix(reason)).into());
    } else {
        if !messages.is_empty() {
            answer.insert("systemMessage".into(), reason_text(&messages.join("\n")).into());
        }
        answer.insert("suppressOutput".into(), true.into());
    }
    HookAnswer {
        stdout: Value::Object(answer).to_string(),
        stderr: reason_text(&warnings.join("\n")),
        code: 0,
    }
}

/// Blocks with exit code 2 and the reason on standard error.
fn render(decision: &Decision, _event: &Event) -> HookAnswer {
    match decision.with_document_wording().stop_reason() {
        Some(reason) => {
            let reason = reason.strip_prefix("[provost] ").unwrap_or(reason);
            HookAnswer { stderr: reason_text(reason), code: BLOCK_EXIT_CODE, ..HookAnswer::default() }
        }
        None => HookAnswer::default(),
    }
}

/// The plan gate's answer to an input that it cannot read.
fn refuse_exit(_why: &str) -> HookAnswer {
    const WORDS: &str = "[RODIN] Internal error: malformed JSON input. Hook may need update for new schema.";
    HookAnswer { stderr: WORDS.into(), code: BLOCK_EXIT_CODE, ..HookAnswer::default() }
}

/// The plan gate's answer in the words of its documents: it names no override and gives no reason for a pending
/// assessment, and puts a failed one on two lines.
fn render_exit(decision: &Decision, event: &Event) -> HookAnswer {
    let answer = render(decision, event);
    let own = answer.stderr.split("\n[provost] ").next().unwrap_or_default();
    let stderr = match own.rsplit_once(". To fix: ") {
        Some((what, fix)) if what.starts_with("[RODIN] Assessment pending") => {
            format!("[RODIN] Assessment pending. To fix: {fix}")
        }
        Some((what, _)) if what.ends_with(NO_SESSION) => "[RODIN] Internal error: session_id not found in \
             hook input. Schema may have changed - hook update needed."
            .to_owned(),
        Some((what, fix)) if what.starts_with("[RODIN] Assessment failed: ") => {
            format!("{what}\nTo fix: {fix}")
        }
        _ => own.to_owned(),
    };
    HookAnswer { stderr, ..answer }
}
