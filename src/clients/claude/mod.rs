//! Claude Code: what its hooks are given, and the forms of answer that it obeys.
//!
//! The facts behind every choice here were measured on the real client; `docs/protocol.md` lists
//! them. In short: a denial is one JSON object as the only stdout; a closed failure is exit code 2
//! with stderr, which needs nothing to be parsed; to allow is to say nothing.

mod agents;
mod demo;
mod entries;
mod health;
mod installation;
mod instructions;
mod matcher;
mod migration;
mod plans;
mod registrations;
mod render;
mod reviewer;
mod samples;
mod script;
mod second;
mod settings;
mod shape;
mod shared_entry;
mod status_line;
mod transcript;
mod unknown_tool;
mod voice;

use std::env;
use std::path::PathBuf;

use serde_json::Value;

use super::json::Fields;
use super::long_text::{Input, LongText};
use super::{Answer, Client, Demo, Settings, Unreadable};
use crate::decision::Decision;
use crate::event::{Agent, Call, Event, Kind, Mode, Outcome, Replacement, Report, Stopping, Text, Tool};
use crate::workspace::Places;
use render::{reason_text, render, render_json};

pub(super) static CLIENT: Client = client(parse, render);
/// The same client as scripts know it that are registered for one event each.
pub(super) static SHELL_SCRIPT: Client = client(script::parse_shell_call, script::render);
pub(super) static STOP_SCRIPT: Client = client(script::parse_stop, script::render);
pub(super) static WRITE_SCRIPT: Client = client(script::parse_write, script::render);
pub(super) static EXIT_SCRIPT: Client =
    Client { refuse: Some(script::refuse_exit), ..client(script::parse_exit, script::render_exit) };
pub(super) static BEFORE_SCRIPT: Client = open_script(script::parse_before, script::render_before);
pub(super) static AFTER_SCRIPT: Client = open_script(script::parse_after, render_json);
pub(super) static ANSWER_SCRIPT: Client = open_script(script::parse_answer, render_json);
pub(super) static AFTER_SHELL_SCRIPT: Client = open_script(script::parse_after_shell, render_json);
pub(super) static REMARK_SCRIPT: Client = open_script(script::parse_after, script::render_remark);
pub(super) static END_SCRIPT: Client = open_script(script::parse_end, script::render_before);
pub(super) static LOOP_SCRIPT: Client =
    Client { refuse: Some(script::refuse), ..client(script::parse_turn, script::render_turn) };

/// A script that lets everything go on that it cannot read.
const fn open_script(
    parse: fn(Input) -> Result<Event, Unreadable>,
    render: fn(&Decision, &Event) -> Answer,
) -> Client {
    Client { refuse: Some(|_| Answer::default()), ..client(parse, render) }
}

const fn client(
    parse: fn(Input) -> Result<Event, Unreadable>,
    render: fn(&Decision, &Event) -> Answer,
) -> Client {
    Client {
        name: "claude",
        parse,
        render,
        refuse: None,
        project: || absolute_variable("CLAUDE_PROJECT_DIR"),
        is_inside: || env::var_os("CLAUDECODE").is_some(),
        session: || env::var("CLAUDE_CODE_SESSION_ID").ok(),
        settings: Settings {
            names: settings::is_settings_file,
            files: settings::files,
            read: settings::read,
            plugin: || absolute_variable("CLAUDE_PLUGIN_ROOT"),
            disarms: second::disarms,
            disarming: second::VARIABLES,
            how_to_edit: settings::HOW_TO_EDIT,
            instructions: instructions::INSTRUCTIONS,
        },
        migration: migration::MIGRATION,
        registrations: registrations::all,
        needed: entries::needed,
        installation: installation::INSTALLATION,
        folder: ".claude",
        plans: plans::directory,
        is_transcript: transcript::is_one,
        briefing: transcript::briefing,
        agents: |transcript| transcript.with_extension("").join("subagents"),
        agent_transcript: |id| format!("agent-{id}.jsonl"),
        forked: agents::forked,
        addressee: agents::addressee,
        played: second::played,
        done: transcript::done,
        ends: transcript::ends,
        status_line: status_line::seat,
        status_line_entry: status_line::ENTRY,
        reviewer: reviewer::REVIEWER,
        health: health::HEALTH,
        demo: Demo { variable: "CLAUDE_PROJECT_DIR", act: demo::act, told: demo::told },
        registration: "In a settings file of Claude Code:
  \"PreToolUse\": [{\"matcher\": \"*\", \"hooks\": [
      {\"type\": \"command\", \"command\": \"provost\", \"args\": [\"hook\"],
       \"timeout\": 10, \"onFailure\": \"block\"}]}]",
    }
}

/// Tools that neither name files nor run anything: they talk to the person, to the model's own
/// lists, to the web, or to what already runs. What fetches something by a name that may be a file
/// (`ReadMcpResourceTool`) is not among them.
const INERT: &[&str] = &[
    "AskUserQuestion",
    "BashOutput",
    "CronList",
    "EnterPlanMode",
    "KillShell",
    "ListMcpResources",
    "ListMcpResourcesTool",
    "StructuredOutput",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
];

/// The tool that ends plan mode.
const EXIT: &str = "ExitPlanMode";

/// The fields of a shell call beside the command.
const SHELL_OPTIONS: &[&str] = &["dangerouslyDisableSandbox", "description", "run_in_background", "timeout"];

fn absolute_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// A path of a tool's input. This client's tools take `~` for the home directory.
fn path_of(text: String) -> PathBuf {
    match (text.strip_prefix('~'), home()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => text.into(),
    }
}

/// Where this client keeps a person's settings, plans and transcripts.
fn own_directory(places: &Places) -> Option<PathBuf> {
    absolute_variable("CLAUDE_CONFIG_DIR").or_else(|| places.home.as_ref().map(|home| home.join(".claude")))
}

fn home() -> Option<PathBuf> {
    absolute_variable("HOME")
}

fn parse(input: Input) -> Result<Event, Unreadable> {
    let (mut fields, mut long) = Fields::take(input)?;
    // Only the text of a plan that is about to leave may be so long that it is worth not copying.
    if fields.text("tool_name") != Some(EXIT) {
        fields.put_back(long.take());
    }
    let name = fields.take_text("hook_event_name").ok_or(Unreadable::NoEvent)?;
    let kind = match name.as_str() {
        "PreToolUse" => Kind::BeforeTool(call(&mut fields)),
        "PostToolUse" => Kind::AfterTool(call(&mut fields)),
        "PostToolUseFailure" => Kind::ToolFailed(call(&mut fields)),
        "PermissionRequest" => Kind::Permission(call(&mut fields)),
        "UserPromptSubmit" => {
            let text = fields.take_text("prompt");
            let finished_task = text.as_deref().and_then(finished_task);
            Kind::Prompt { by_person: finished_task.is_none() && is_by_person(&fields), text, finished_task }
        }
        "Stop" => Kind::Stop(stopping(&mut fields)),
        "SubagentStart" => Kind::SubagentStart,
        "SubagentStop" => Kind::SubagentStop(stopping(&mut fields)),
        "SessionStart" => {
            Kind::SessionStart { fresh: matches!(fields.text("source"), Some("startup" | "resume")) }
        }
        "SessionEnd" => Kind::SessionEnd,
        "ConfigChange" => Kind::ConfigChange { file: fields.take_text("file_path").map(PathBuf::from) },
        _ => Kind::Other,
    };
    let mut event = event(name, kind, fields);
    if let Some(long) = long {
        put_back(long, &mut event);
    }
    Ok(event)
}

/// Puts a long text in the place of the plan that it is.
fn put_back(long: LongText, event: &mut Event) {
    if let Kind::BeforeTool(call) = &mut event.kind
        && let Tool::LeavePlanMode { plan: Some(plan), .. } = &mut call.tool
        && plan.as_bytes() == long.sign.as_bytes()
    {
        *plan = Text::Long(long.text);
    }
}

/// Whether a prompt was typed, or given to a client without a terminal. A schedule, a loop and other
/// machinery put prompts in too, and the versions that tell it at all call them by other names.
fn is_by_person(fields: &Fields) -> bool {
    match fields.0.get("source") {
        None | Some(Value::Null) => true,
        Some(source) => source == "user" || source == "sdk",
    }
}

/// The background task whose end a prompt of the client announces.
fn finished_task(prompt: &str) -> Option<String> {
    let (_, rest) = prompt.strip_prefix("<task-notification>")?.split_once("<task-id>")?;
    rest.split_once("</task-id>").map(|(id, _)| id.trim().to_owned())
}

/// An event of a kind with what all events have.
fn event(name: String, kind: Kind, mut fields: Fields) -> Event {
    let cwd = fields.take_text("cwd").map(PathBuf::from).filter(|path| path.is_absolute());
    let mut event = Event::new(name, kind, cwd.or_else(|| env::current_dir().ok()).unwrap_or_default());
    event.home = home();
    event.session = fields.take_text("session_id");
    event.turn = fields.take_text("prompt_id");
    event.transcript = fields.take_text("transcript_path").map(PathBuf::from);
    event.mode = match fields.take_text("permission_mode") {
        None => Mode::Unknown,
        Some(mode) if mode == "plan" => Mode::Plan,
        Some(mode) => Mode::Other(mode),
    };
    // A compaction has an agent of an empty kind.
    let mut name = |field: &str| fields.take_text(field).filter(|name| !name.is_empty());
    let agent = Agent { id: name("agent_id"), kind: name("agent_type") };
    event.agent = (agent.id.is_some() || agent.kind.is_some()).then_some(agent);
    event
}

fn call(fields: &mut Fields) -> Call {
    let native_tool = fields.take_text("tool_name").unwrap_or_default();
    let id = fields.take_text("tool_use_id");
    let input = fields.0.remove("tool_input").unwrap_or_default();
    let tool = tool(&native_tool, input);
    let response = fields.0.remove("tool_response").or_else(|| fields.0.remove("tool_result"));
    let mut outcome = response.map(|response| outcome(response, &tool)).unwrap_or_default();
    if let Some(error) = fields.take_text("error") {
        outcome.exit_code = error.strip_prefix("Exit code ").and_then(leading_number).or(outcome.exit_code);
        outcome.text = Some(error);
        outcome.is_unfinished |= fields.flag("is_interrupt").unwrap_or(false);
    }
    Call { native_tool, id, tool, outcome }
}

/// What a tool gave back. An agent in the background gives nothing back yet.
fn outcome(response: Value, tool: &Tool) -> Outcome {
    let mut response = match response {
        Value::Object(response) => Fields(response),
        Value::String(text) => {
            let exit_code = exit_code(&text);
            return Outcome { text: Some(text), exit_code, ..Outcome::default() };
        }
        Value::Null => return Outcome::default(),
        other => {
            let text = text_blocks(&other).unwrap_or_else(|| other.to_string());
            return Outcome { text: Some(text), ..Outcome::default() };
        }
    };
    let file = response.take_text("filePath").map(path_of);
    let exit_code = ["exitCode", "exit_code", "code"].iter().find_map(|name| response.0.get(*name)?.as_i64());
    if matches!(tool, Tool::Delegate { .. }) && response.text("status") == Some("completed") {
        // The client may put notes of its own before the answer.
        let mut parts = response.take_list("content");
        let answer = parts.pop().and_then(|part| part["text"].as_str().map(str::to_owned));
        let text = answer.clone();
        let report = Report {
            agent: response.take_text("agentType"),
            id: response.take_text("agentId"),
            prompt: response.take_text("prompt"),
            answer,
        };
        return Outcome { report: Some(report), text, exit_code, ..Outcome::default() };
    }
    // A skill that was done by an agent of its own.
    if matches!(tool, Tool::Skill { .. }) && response.text("status") == Some("forked") {
        let answer = response.take_text("result");
        return Outcome {
            text: answer.clone(),
            report: Some(Report { answer, ..Report::default() }),
            ..Outcome::default()
        };
    }
    if matches!(tool, Tool::Delegate { .. }) && response.text("status") == Some("async_launched") {
        return Outcome { launched: response.take_text("agentId"), ..Outcome::default() };
    }
    let is_unfinished =
        response.flag("interrupted").unwrap_or(false) || response.text("backgroundTaskId").is_some();
    let text = match tool {
        Tool::Shell { .. } => {
            let content = response.0.get("content").and_then(text_blocks);
            let printed = ["stdout", "stderr", "output", "content"].map(|name| response.take_text(name));
            let printed = printed.into_iter().chain([content]).flatten();
            Some(printed.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"))
        }
        // An agent's answer in a form of another time.
        Tool::Delegate { .. } => Some(Value::Object(response.0).to_string()),
        _ => None,
    };
    Outcome { file, text, exit_code, is_unfinished, ..Outcome::default() }
}

/// The text of content blocks, as the API has them.
fn text_blocks(value: &Value) -> Option<String> {
    let texts: Vec<&str> = value.as_array()?.iter().filter_map(|block| block["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The exit code that a text tells: "Exit code 1", "exited with code 1", "exit: 1".
fn exit_code(text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    text.match_indices("exit").find_map(|(at, word)| {
        let mut rest = text[at + word.len()..].trim_start_matches("ed").trim_start_matches([' ', ':']);
        for filling in ["with", "status", "code"] {
            rest = rest.strip_prefix(filling).unwrap_or(rest).trim_start_matches([' ', ':']);
        }
        leading_number(rest)
    })
}

fn leading_number(text: &str) -> Option<i64> {
    text.split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse().ok()
}

fn tool(name: &str, input: Value) -> Tool {
    if INERT.contains(&name) {
        return Tool::Inert;
    }
    let mut input = match input {
        Value::Object(map) => Fields(map),
        // Whatever stands in its input, it is the way out.
        _ if name == EXIT => Fields::default(),
        Value::Null => Fields::default(),
        _ => return unknown_tool::read(name, &input),
    };
    match name {
        "Write" => match input.take_text("file_path") {
            Some(path) => Tool::Write { path: path_of(path), content: input.take_text("content") },
            None => unknown_tool::read(name, &Value::Object(input.0)),
        },
        "Edit" | "MultiEdit" => match input.take_text("file_path") {
            Some(path) => Tool::Edit { path: path_of(path), replacements: replacements(input) },
            None => unknown_tool::read(name, &Value::Object(input.0)),
        },
        "NotebookEdit" => match input.take_text("notebook_path") {
            Some(path) => Tool::Notebook { path: path_of(path) },
            None => unknown_tool::read(name, &Value::Object(input.0)),
        },
        "Bash" | "PowerShell" => match input.take_text("command") {
            Some(command) => Tool::Shell { command },
            // Nothing else could be the command under a name of tomorrow.
            None if input.0.keys().all(|field| SHELL_OPTIONS.contains(&field.as_str())) => {
                Tool::Shell { command: String::new() }
            }
            None => unknown_tool::read(name, &Value::Object(input.0)),
        },
        "Read" | "NotebookRead" => Tool::Read {
            path: input.take_text("file_path").or_else(|| input.take_text("notebook_path")).map(path_of),
            recursive: false,
        },
        // Glob and LS show names; Grep shows contents.
        "Grep" | "Glob" | "LS" => {
            Tool::Read { path: input.take_text("path").map(path_of), recursive: name == "Grep" }
        }
        "Task" | "Agent" => Tool::Delegate {
            agent: input.text("subagent_type").map(str::to_owned),
            prompt: input.text("prompt").map(str::to_owned),
            description: input.text("description").map(str::to_owned),
            background: input.flag("run_in_background"),
            is_isolated: input.0.get("isolation").is_some_and(|kind| !kind.is_null() && kind != ""),
            native_input: input.0,
        },
        "Skill" | "SlashCommand" => Tool::Skill {
            name: input.take_text("skill").or_else(|| input.take_text("command")),
            arguments: input.take_text("args"),
        },
        "SendMessage" => Tool::Message {
            to: input.take_text("to").or_else(|| input.take_text("recipient")),
            text: input.take_text("message").or_else(|| input.take_text("content")),
        },
        EXIT => Tool::LeavePlanMode {
            plan: input.take_text("plan").map(Text::Short),
            path: input.take_text("planFilePath").map(path_of),
        },
        _ => unknown_tool::read(name, &Value::Object(input.0)),
    }
}

/// One replacement (`Edit`) or several (`MultiEdit`). A malformed one makes an empty `old`, which
/// can only mean a new file: what it does to an existing file is then unknown, as it should be.
fn replacements(mut input: Fields) -> Vec<Replacement> {
    let one = |mut fields: Fields| Replacement {
        old: fields.take_text("old_string").unwrap_or_default(),
        new: fields.take_text("new_string").unwrap_or_default(),
        all: fields.flag("replace_all").unwrap_or(false),
    };
    match input.take_list("edits") {
        edits if edits.is_empty() => vec![one(input)],
        edits => edits
            .into_iter()
            .map(|edit| one(if let Value::Object(map) = edit { Fields(map) } else { Fields::default() }))
            .collect(),
    }
}

fn stopping(fields: &mut Fields) -> Stopping {
    let tasks = fields.take_list("background_tasks");
    let running = |task: &Value| task["type"] == "subagent" && task["status"] == "running";
    let own = fields.text("agent_id").map(str::to_owned);
    let is_own = |task: &Value| own.is_some() && task["id"].as_str() == own.as_deref();
    Stopping {
        in_background: tasks.iter().any(is_own),
        held_before: fields.flag("stop_hook_active").unwrap_or(false),
        last_message: fields.take_text("last_assistant_message"),
        subagent_running: tasks.iter().any(running),
        transcript: fields.take_text("agent_transcript_path").map(PathBuf::from),
    }
}

#[cfg(test)]
mod tests;
