//! The way of hook scripts: registered for one event, they never look at its name.
//!
//! A script takes what it finds in the input and treats what is missing, or an input that is no JSON
//! at all, as empty. It blocks by exit code 2 with the reason on standard error, and is silent
//! otherwise.

use std::path::PathBuf;

use serde_json::Map;

use super::{Call, Fields, Kind, Outcome, Tool, Unreadable, Value, reason_text, render_json, stopping};
use crate::clients::{Answer, BLOCK, Input};
use crate::decision::Decision;
use crate::event::Event;
use crate::plan_gate::gate;

/// A call of the shell. A script reads the command of whatever tool it is registered for.
pub(super) fn parse_shell_call(input: Input) -> Result<Event, Unreadable> {
    let mut fields = Fields::take_whole(input).unwrap_or_default();
    let command = match fields.0.remove("tool_input") {
        Some(Value::Object(input)) => Fields(input).take_text("command"),
        _ => None,
    };
    let tool = Tool::Shell { command: command.unwrap_or_default() };
    let native_tool = fields.take_text("tool_name").unwrap_or_else(|| "Bash".into());
    let call = Call { native_tool, id: fields.take_text("tool_use_id"), tool, outcome: Outcome::default() };
    Ok(super::event("PreToolUse".into(), Kind::BeforeTool(call), fields))
}

/// A call that is about to be made, of whatever tool the script is registered for.
pub(super) fn parse_before(input: Input) -> Result<Event, Unreadable> {
    let mut fields = Fields::take_whole(input)?;
    let call = super::call(&mut fields);
    Ok(super::event("PreToolUse".into(), Kind::BeforeTool(call), fields))
}

/// A call that has been made.
pub(super) fn parse_after(input: Input) -> Result<Event, Unreadable> {
    Ok(after(Fields::take_whole(input)?))
}

/// An agent's answer, for a script that never looked at the tool's name.
pub(super) fn parse_answer(input: Input) -> Result<Event, Unreadable> {
    Ok(after(named(Fields::take_whole(input)?, "Agent")))
}

/// A command line that has run, for a script that never looked at the tool's name.
pub(super) fn parse_after_shell(input: Input) -> Result<Event, Unreadable> {
    Ok(after(named(Fields::take_whole(input)?, "Bash")))
}

fn after(mut fields: Fields) -> Event {
    let call = super::call(&mut fields);
    if fields.text("hook_event_name") == Some("PostToolUseFailure") {
        return super::event("PostToolUseFailure".into(), Kind::ToolFailed(call), fields);
    }
    super::event("PostToolUse".into(), Kind::AfterTool(call), fields)
}

/// Adds the tool that a script is registered for where the input names none.
fn named(mut fields: Fields, tool: &str) -> Fields {
    if fields.text("tool_name").is_none() {
        fields.0.insert("tool_name".into(), tool.into());
    }
    fields
}

/// The end of a turn, for a script that lets go on what it cannot read.
pub(super) fn parse_end(input: Input) -> Result<Event, Unreadable> {
    let mut fields = Fields::take_whole(input)?;
    let stopping = stopping(&mut fields);
    Ok(super::event("Stop".into(), Kind::Stop(stopping), fields))
}

/// The answer of a script that denies by JSON.
pub(super) fn render_before(decision: &Decision, event: &Event) -> Answer {
    render_json(&decision.in_document_words(), event)
}

/// Such a script warns on standard error, and says nothing else.
pub(super) fn render_remark(decision: &Decision, _event: &Event) -> Answer {
    Answer { stderr: reason_text(&decision.to_person.join("\n")), ..Answer::default() }
}

pub(super) fn parse_stop(input: Input) -> Result<Event, Unreadable> {
    let mut fields = Fields::take_whole(input).unwrap_or_default();
    // A script compares the printed value.
    let says_so = fields.text("stop_hook_active") == Some("true");
    let mut stopping = stopping(&mut fields);
    stopping.held_before |= says_so;
    let name = fields.take_text("hook_event_name").unwrap_or_else(|| "Stop".into());
    Ok(super::event(name, Kind::Stop(stopping), fields))
}

/// A write that is done. A script takes the file from the input, or else from what came back.
pub(super) fn parse_write(input: Input) -> Result<Event, Unreadable> {
    let mut fields = Fields::take_whole(input).unwrap_or_default();
    let file = fields.0.get("tool_input").and_then(|input| input["file_path"].as_str());
    let file = file.map(|file| super::path_of(file.to_owned()));
    let mut call = super::call(&mut fields);
    if !matches!(call.tool, Tool::Write { .. } | Tool::Edit { .. } | Tool::Shell { .. })
        && let Some(path) = file.or_else(|| call.outcome.file.clone())
    {
        call.tool = Tool::Write { path, content: None };
    }
    Ok(super::event("PostToolUse".into(), Kind::AfterTool(call), fields))
}

/// The way out of plan mode.
pub(super) fn parse_exit(input: Input) -> Result<Event, Unreadable> {
    let mut fields = Fields::take_whole(input)?;
    let mut call = super::call(&mut fields);
    if !matches!(call.tool, Tool::LeavePlanMode { .. }) {
        call.tool = Tool::LeavePlanMode { plan: None, path: None };
    }
    Ok(super::event("PreToolUse".into(), Kind::BeforeTool(call), fields))
}

/// The end of a turn, for a script that wants it whole: JSON, in a directory that is there.
pub(super) fn parse_turn(input: Input) -> Result<Event, Unreadable> {
    let mut fields = Fields::take_whole(input)?;
    let name = fields.take_text("hook_event_name").unwrap_or_else(|| "Stop".into());
    let cwd = fields.text("cwd").map(PathBuf::from);
    if let Some(cwd) = cwd.filter(|cwd| !cwd.is_dir()) {
        return Err(Unreadable::NoDirectory(cwd));
    }
    let stopping = stopping(&mut fields);
    Ok(super::event(name, Kind::Stop(stopping), fields))
}

/// What that script says where it cannot read its input.
pub(super) fn refuse(why: &str) -> Answer {
    let words = match why.strip_prefix("there is no directory ") {
        Some(directory) => format!("Cannot change to directory: {directory}"),
        None => format!("Invalid JSON input: {why}"),
    };
    Answer { stderr: format!("Error: {}", reason_text(&words)), code: BLOCK, ..Answer::default() }
}

/// That script always answers with JSON, and warns on standard error.
pub(super) fn render_turn(decision: &Decision, _event: &Event) -> Answer {
    let own = |text: &'_ str| text.strip_prefix("[provost] ").unwrap_or(text).to_owned();
    let words = decision.to_person.iter().flat_map(|text| text.lines()).map(own);
    let (warnings, messages): (Vec<String>, Vec<String>) =
        words.partition(|line| line.starts_with("Warning: "));
    let mut answer = Map::new();
    if let Some(reason) = decision.reason() {
        answer.insert("decision".into(), "block".into());
        answer.insert("reason".into(), reason_text(&own(reason)).into());
    } else {
        if !messages.is_empty() {
            answer.insert("systemMessage".into(), reason_text(&messages.join("\n")).into());
        }
        answer.insert("suppressOutput".into(), true.into());
    }
    Answer { stdout: Value::Object(answer).to_string(), stderr: reason_text(&warnings.join("\n")), code: 0 }
}

pub(super) fn render(decision: &Decision, _event: &Event) -> Answer {
    match decision.in_document_words().reason() {
        Some(reason) => {
            let reason = reason.strip_prefix("[provost] ").unwrap_or(reason);
            Answer { stderr: reason_text(reason), code: BLOCK, ..Answer::default() }
        }
        None => Answer::default(),
    }
}

/// What the script for the way out of plan mode says where it cannot read its input.
pub(super) fn refuse_exit(_why: &str) -> Answer {
    const WORDS: &str = "[RODIN] Internal error: malformed JSON input. Hook may need update for new schema.";
    Answer { stderr: WORDS.into(), code: BLOCK, ..Answer::default() }
}

/// The way out of plan mode in the words of its documents: no way past it, no reason for an assessment that
/// is pending, and a failed one on two lines.
pub(super) fn render_exit(decision: &Decision, event: &Event) -> Answer {
    let answer = render(decision, event);
    let own = answer.stderr.split("\n[provost] ").next().unwrap_or_default();
    let stderr = match own.rsplit_once(". To fix: ") {
        Some((what, fix)) if what.starts_with("[RODIN] Assessment pending") => {
            format!("[RODIN] Assessment pending. To fix: {fix}")
        }
        Some((what, _)) if what.ends_with(gate::NO_SESSION) => {
            "[RODIN] Internal error: session_id not found in \
             hook input. Schema may have changed - hook update needed."
                .to_owned()
        }
        Some((what, fix)) if what.starts_with("[RODIN] Assessment failed: ") => {
            format!("{what}\nTo fix: {fix}")
        }
        _ => own.to_owned(),
    };
    Answer { stderr, ..answer }
}
