//! Reads a tool call of Claude Code: what the call would do, and what it returned.

use serde_json::Value;

use super::{expand_home, has_word, unknown_tool};
use crate::json::Fields;
use provost_core::tool::{AgentReport, EndedTask, PlanText, Replacement, Tool, ToolCall, ToolOutcome};

/// The tool that leaves plan mode.
pub(super) const EXIT: &str = "ExitPlanMode";

/// Tools that neither name files nor run anything: they talk to the user, to the model's own lists, to the web, or to
/// what already runs. `ReadMcpResourceTool` is missing, because it fetches something by a name that may be a file.
const INERT: &str = "AskUserQuestion BashOutput CronList EnterPlanMode KillShell ListMcpResources \
    ListMcpResourcesTool StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop \
    TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch";

/// The fields of a shell call besides the command.
const SHELL_OPTIONS: &[&str] = &["dangerouslyDisableSandbox", "description", "run_in_background", "timeout"];

/// The tool that starts agents was renamed.
pub(crate) fn find_other_name(tool: &str) -> Option<&'static str> {
    match tool {
        "Agent" => Some("Task"),
        "Task" => Some("Agent"),
        _ => None,
    }
}

pub(super) fn parse_call(fields: &mut Fields) -> ToolCall {
    let native_tool = fields.take_text("tool_name").unwrap_or_default();
    let id = fields.take_text("tool_use_id");
    let input = fields.0.remove("tool_input").unwrap_or_default();
    let tool = parse_tool(&native_tool, input);
    let response = fields.0.remove("tool_response").or_else(|| fields.0.remove("tool_result"));
    let mut outcome = response.map(|response| parse_outcome(response, &tool)).unwrap_or_default();
    if let Some(error) = fields.take_text("error") {
        outcome.exit_code = error.strip_prefix("Exit code ").and_then(leading_number).or(outcome.exit_code);
        outcome.text = Some(error);
        outcome.is_unfinished |= fields.flag("is_interrupt").unwrap_or(false);
    }
    ToolCall { other_name: find_other_name(&native_tool), native_tool, id, tool, outcome }
}

pub(super) fn parse_tool(name: &str, input: Value) -> Tool {
    let mut input = match input {
        Value::Object(map) => Fields(map),
        Value::Null => Fields::default(),
        // These need no input.
        _ if name == EXIT || has_word(INERT, name) => Fields::default(),
        _ => return unknown_tool::parse(name, &input),
    };
    parse_known_tool(name, &mut input).unwrap_or_else(|| unknown_tool::parse(name, &Value::Object(input.0)))
}

/// `None`: the tool is unknown, or lacks the field that says what it does.
fn parse_known_tool(name: &str, input: &mut Fields) -> Option<Tool> {
    let mut take_path = |field: &str| input.take_text(field).map(expand_home);
    Some(match name {
        "Write" => Tool::Write { path: take_path("file_path")?, content: input.take_text("content") },
        "Edit" | "MultiEdit" => {
            Tool::Edit { path: take_path("file_path")?, replacements: parse_replacements(input) }
        }
        "NotebookEdit" => {
            let path = take_path("notebook_path")?;
            let is_deletion = input.text("edit_mode") == Some("delete");
            Tool::Notebook { path, source: input.take_text("new_source").filter(|_| !is_deletion) }
        }
        "Bash" | "PowerShell" => match input.take_text("command") {
            Some(command) => Tool::Shell { command },
            // No other field could be the command in a later version.
            None if input.0.keys().all(|field| SHELL_OPTIONS.contains(&field.as_str())) => {
                Tool::Shell { command: String::new() }
            }
            None => return None,
        },
        "Read" | "NotebookRead" => Tool::Read {
            path: take_path("file_path").or_else(|| take_path("notebook_path")),
            is_recursive: false,
        },
        // Grep shows the contents of files; the others only their names.
        "LSP" => Tool::Read { path: take_path("filePath"), is_recursive: false },
        "Grep" | "Glob" | "LS" => Tool::Read { path: take_path("path"), is_recursive: name == "Grep" },
        "Task" | "Agent" => Tool::Delegate {
            agent: input.text("subagent_type").map(str::to_owned),
            prompt: input.text("prompt").map(str::to_owned),
            description: input.text("description").map(str::to_owned),
            background: input.flag("run_in_background"),
            is_isolated: input.0.get("isolation").is_some_and(|kind| !kind.is_null() && kind != ""),
            native_input: std::mem::take(&mut input.0),
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
            path: take_path("planFilePath"),
            plan: input.take_text("plan").map(PlanText::Short),
        },
        _ if has_word(INERT, name) => Tool::Inert,
        _ => return None,
    })
}

/// One replacement (`Edit`) or several (`MultiEdit`). A malformed one gets an empty `old`, which only fits a new file. So
/// its effect on an existing file is unknown.
fn parse_replacements(input: &mut Fields) -> Vec<Replacement> {
    let parse = |fields: &mut Fields| Replacement {
        old: fields.take_text("old_string").unwrap_or_default(),
        new: fields.take_text("new_string").unwrap_or_default(),
        replaces_all: fields.flag("replace_all").unwrap_or(false),
    };
    match input.take_list("edits") {
        edits if edits.is_empty() => vec![parse(input)],
        edits => edits
            .into_iter()
            .map(|edit| {
                parse(&mut if let Value::Object(map) = edit { Fields(map) } else { Fields::default() })
            })
            .collect(),
    }
}

/// What a tool returned. An agent in the background has not returned anything yet.
fn parse_outcome(response: Value, tool: &Tool) -> ToolOutcome {
    let mut response = match response {
        Value::Object(response) => Fields(response),
        Value::String(text) => {
            let exit_code = find_exit_code(&text);
            return ToolOutcome { text: Some(text), exit_code, ..ToolOutcome::default() };
        }
        Value::Null => return ToolOutcome::default(),
        other => {
            let text = join_text_blocks(&other).unwrap_or_else(|| other.to_string());
            return ToolOutcome { text: Some(text), ..ToolOutcome::default() };
        }
    };
    let file = response.take_text("filePath").map(expand_home);
    let exit_code = ["exitCode", "exit_code", "code"].iter().find_map(|name| response.0.get(*name)?.as_i64());
    // Claude Code explains an exit code such as that of `grep` without a match, and reports no failure.
    let is_explained = response.text("returnCodeInterpretation").is_some_and(|text| !text.is_empty());
    let exit_code = exit_code.or(is_explained.then_some(1));
    match (tool, response.text("status")) {
        (Tool::Delegate { .. }, Some("completed")) => {
            // Claude Code may put notes of its own before the answer.
            let answer =
                response.take_list("content").pop().and_then(|part| part["text"].as_str().map(str::to_owned));
            let report = AgentReport {
                agent: response.take_text("agentType"),
                id: response.take_text("agentId"),
                prompt: response.take_text("prompt"),
                answer: answer.clone(),
            };
            return ToolOutcome { report: Some(report), text: answer, exit_code, ..ToolOutcome::default() };
        }
        (Tool::Delegate { .. }, Some("async_launched")) => {
            return ToolOutcome { launched_agent: response.take_text("agentId"), ..ToolOutcome::default() };
        }
        // The skill ran as an agent of its own.
        (Tool::Skill { .. }, Some("forked")) => {
            let answer = response.take_text("result");
            let report = Some(AgentReport { answer: answer.clone(), ..AgentReport::default() });
            return ToolOutcome { text: answer, report, ..ToolOutcome::default() };
        }
        _ => {}
    }
    let background_task = response.take_text("backgroundTaskId");
    let is_unfinished = response.flag("interrupted").unwrap_or(false) || background_task.is_some();
    let ended_task = if matches!(tool, Tool::Inert) { find_ended_task(&response) } else { None };
    let text = match tool {
        Tool::Shell { .. } => {
            let content = response.0.get("content").and_then(join_text_blocks);
            let printed = ["stdout", "stderr", "output", "content"].map(|name| response.take_text(name));
            let printed = printed.into_iter().chain([content]).flatten();
            Some(printed.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"))
        }
        // Older versions of Claude Code have other forms of an agent's answer.
        Tool::Delegate { .. } => Some(Value::Object(response.0).to_string()),
        _ => None,
    };
    ToolOutcome {
        file,
        text,
        exit_code,
        is_unfinished,
        background_task,
        ended_task,
        ..ToolOutcome::default()
    }
}

/// The background command that a look at its output (`BashOutput`, `TaskOutput`) found at its end.
fn find_ended_task(response: &Fields) -> Option<EndedTask> {
    let task = response.0.get("task").and_then(Value::as_object).unwrap_or(&response.0);
    let text = |names: &[&str]| names.iter().find_map(|name| task.get(*name)?.as_str());
    let id = text(&["task_id", "taskId", "shellId", "bash_id"])?.to_owned();
    let status = text(&["status"]).filter(|status| *status != "running" && *status != "pending")?;
    let exit_code = ["exitCode", "exit_code"].iter().find_map(|name| task.get(*name)?.as_i64());
    Some(EndedTask { id, has_succeeded: status == "completed" && exit_code == Some(0) })
}

/// The texts of the API's content blocks.
fn join_text_blocks(value: &Value) -> Option<String> {
    let texts: Vec<&str> = value.as_array()?.iter().filter_map(|block| block["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The exit code in a text: "Exit code 1", "exited with code 1", "exit: 1".
fn find_exit_code(text: &str) -> Option<i64> {
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
