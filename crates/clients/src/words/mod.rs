//! Clients whose hooks work like Claude Code's, with other words: a table for each client, and one reader for all.
//!
//! A table says what the client calls its events, fields and tools. The reader renames them and then reads the event as
//! one of Claude Code's. What renaming cannot do is a function of the table: to flatten nested fields, or to find the
//! exit code in an output. Everything in the tables was measured on the real clients.

mod answer;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod droid;
pub(crate) mod gemini;
pub(crate) mod grok;
pub(crate) mod hook_files;
pub(crate) mod kimi;
pub(crate) mod opencode;
mod outcome;
mod own_text;
mod place;
pub(crate) mod qwen;
mod recognition;
mod registration;

use serde_json::{Map, Value};

use crate::claude::events as claude_events;
use crate::claude::tools::find_other_name;
use crate::json::Fields;
use crate::long_text::HookInput;
use crate::{Client, DEFAULT_CLIENT, Unreadable};
use answer::AnswerWords;
use outcome::CommandOutcome;
use provost_core::client::ClientFacts;
use provost_core::event::{Event, EventKind};
use provost_core::tool::{Tool, ToolCall};

/// A name of this client, and Claude Code's name for the same thing.
type Name = (&'static str, &'static str);

/// The words of a client.
struct Words {
    /// Its events. One that is missing here has the name that Claude Code gives it.
    events: &'static [Name],
    /// Its fields. One that is missing here has the name that Claude Code gives it.
    fields: &'static [Name],
    tools: &'static [ToolWords],
    /// Its tools that neither name files nor run anything.
    inert_tools: &'static [&'static str],
    /// Changes what renaming cannot, before anything is renamed.
    reshape: fn(&mut Fields),
    /// What the text that a finished command has left says about its success.
    find_outcome: fn(&str) -> CommandOutcome,
    answer: AnswerWords,
}

/// A tool of a client.
struct ToolWords {
    name: &'static str,
    /// What Claude Code calls the same tool, or [`PATCH`].
    meaning: &'static str,
    /// The fields of its input.
    input: &'static [Name],
}

/// The meaning of a tool that applies a patch of several files. Claude Code has no such tool.
const PATCH: &str = "apply_patch";
/// A tool of Claude Code that is inert.
const INERT: &str = "TodoWrite";

const fn tool(name: &'static str, meaning: &'static str, input: &'static [Name]) -> ToolWords {
    ToolWords { name, meaning, input }
}

/// Reads an event of a client with these words.
fn parse(words: &Words, fields: Fields) -> Result<Event, Unreadable> {
    let mut fields = fields;
    (words.reshape)(&mut fields);
    rename(&mut fields.0, words.fields);
    outcome::flatten(&mut fields);
    let native_event = fields.text("hook_event_name").ok_or(Unreadable::NoEvent)?.to_owned();
    if let Some((_, event)) = words.events.iter().find(|(name, _)| *name == native_event) {
        fields.0.insert("hook_event_name".into(), (*event).into());
    }
    let native_tool = fields.text("tool_name").map(str::to_owned);
    let known = native_tool.as_deref().and_then(|name| words.tools.iter().find(|tool| tool.name == name));
    let is_inert = native_tool.as_deref().is_some_and(|name| words.inert_tools.contains(&name));
    let meaning = known.map(|tool| tool.meaning).or(is_inert.then_some(INERT));
    let mut patch = None;
    if let (Some(tool), Some(Value::Object(input))) = (known, fields.0.get_mut("tool_input")) {
        rename(input, tool.input);
        if tool.meaning == PATCH {
            patch = input.get("command").and_then(Value::as_str).map(str::to_owned);
        }
    }
    if let Some(meaning) = meaning {
        fields.0.insert("tool_name".into(), meaning.into());
    }
    let is_continued = matches!(fields.text("source"), Some("clear" | "compact"));
    let mut event = claude_events::parse_fields(fields)?;
    event.native_name = native_event;
    match &mut event.kind {
        EventKind::BeforeTool(call)
        | EventKind::AfterTool(call)
        | EventKind::ToolFailed(call)
        | EventKind::Permission(call) => {
            if let Some(text) = patch {
                call.tool = Tool::Patch { text };
            }
            restore_names(call, native_tool, meaning);
            outcome::read(call, words.find_outcome);
        }
        EventKind::SessionStart { is_fresh } => *is_fresh = !is_continued,
        EventKind::Prompt { text, is_by_user, .. } => {
            *is_by_user &= text.as_deref().is_some_and(is_written_by_user);
        }
        _ => {}
    }
    Ok(event)
}

/// Gives a call the client's own name of the tool. The meaning stays as its other name, so that rules about tools hold
/// for every client.
fn restore_names(call: &mut ToolCall, native_tool: Option<String>, meaning: Option<&'static str>) {
    if let Some(mut native) = native_tool {
        // A table distinguishes uses of one tool by a remark behind its name.
        if let Some(remark) = native.find(" (") {
            native.truncate(remark);
        }
        let meaning = meaning.filter(|meaning| *meaning != INERT && *meaning != native);
        call.other_name = meaning.or_else(|| find_other_name(&native));
        call.native_tool = native;
    }
}

/// Whether a prompt can be the user's. After a hook has kept a turn from ending, some clients report the hook's reason as
/// a prompt, and some report an empty one after each tool call.
fn is_written_by_user(prompt: &str) -> bool {
    /// Clients put a few words in front of the reason.
    const LONGEST_INTRODUCTION: usize = 200;
    let start: String = prompt.chars().take(LONGEST_INTRODUCTION).collect();
    !prompt.trim().is_empty() && !start.contains("[provost]") && !start.contains("[RODIN]")
}

/// Renames fields. A field that has the wanted name already stays.
fn rename(fields: &mut Map<String, Value>, names: &[Name]) {
    for (from, to) in names {
        if let Some(value) = fields.remove(*from) {
            fields.entry(*to).or_insert(value);
        }
    }
}

/// What guards can learn about each of these clients: which files register hooks, its own and those of all others.
const FACTS: ClientFacts = ClientFacts { settings: crate::claude::SETTINGS, ..ClientFacts::NONE };

/// Reads an event of whichever client has sent it.
pub(crate) fn parse_from_any(input: HookInput) -> (&'static Client, Result<Event, Unreadable>) {
    let (mut fields, long) = match Fields::parse_and_lift(input) {
        Ok(parsed) => parsed,
        Err(error) => return (DEFAULT_CLIENT, Err(error)),
    };
    match recognition::recognize(&fields.0) {
        Some((client, words)) => {
            fields.restore_long_text(long);
            (client, parse(words, fields))
        }
        None => (DEFAULT_CLIENT, claude_events::parse_lifted(fields, long)),
    }
}

/// Reads an event of a client with these words from a hook's input.
fn parse_input(words: &Words, input: HookInput) -> Result<Event, Unreadable> {
    parse(words, Fields::parse_whole(input)?)
}

/// The dialect of a client with these words, and its name.
macro_rules! client {
    ($name:literal, $words:expr, $traits:expr, $installation:expr) => {
        crate::Client {
            traits: crate::ClientTraits {
                can_hold: !matches!($words.answer.hold, crate::words::answer::Hold::Never),
                can_ask: $words.answer.can_ask,
                ..$traits
            },
            facts: crate::words::FACTS,
            installation: $installation,
            ..crate::Client::new(
                $name,
                crate::Dialect {
                    parse: |input| crate::words::parse_input(&$words, input),
                    render: |decision, event| crate::words::answer::render(&$words.answer, decision, event),
                    refuse: None,
                },
            )
        }
    };
}
use client;

#[cfg(test)]
mod tests;
