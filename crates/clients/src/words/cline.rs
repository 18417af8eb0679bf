//! Cline. It has a form of its own: a call is nested, a command tool runs several lines, and a denied call is rewritten.

use serde_json::{Map, Value};

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::{CommandOutcome, find_last_code};
use super::{Words, client, tool};
use crate::json::Fields;
use crate::{Client, ClientTraits};

static TRAITS: ClientTraits = ClientTraits {
    title: "Cline",
    files: [None, None],
    has_prompts: false,
    limits: &[
        "`provost init` does not write its hooks yet: put an executable file for each event, such as `PreToolUse`, into `.clinerules/hooks`, with the line `exec provost hook --client cline`.",
        "A denied call is replaced by one that fails with the reason, because Cline's own denial ends the task.",
        "The end of a turn cannot be held, and subagents and prompts are not reported.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("cline", WORDS, TRAITS, None);

pub(super) static WORDS: Words = Words {
    events: &[
        ("tool_call", "PreToolUse"),
        ("tool_result", "PostToolUse"),
        ("agent_start", "SessionStart"),
        ("prompt_submit", "UserPromptSubmit"),
        ("session_shutdown", "SessionEnd"),
    ],
    fields: &[("taskId", "session_id")],
    tools: &[
        tool("run_commands", "Bash", &[]),
        tool("editor", "Write", &[("path", "file_path"), ("file_text", "content")]),
        tool(EDITS, "Edit", &[("path", "file_path"), ("old_text", "old_string"), ("new_text", "new_string")]),
        tool("read_files", "Read", &[("path", "file_path")]),
    ],
    inert_tools: &["ask_question", "fetch_web_content", "submit_and_exit"],
    reshape: flatten_call,
    find_outcome: |text| {
        find_last_code(text, "Command exited with code ")
            .map_or(CommandOutcome::ByEvent, CommandOutcome::ExitCode)
    },
    answer: AnswerWords {
        hold: Hold::Never,
        context: Context::None,
        can_ask: false,
        longest_reason: None,
        takes_message: false,
    },
};

/// What the reader calls the editor when it replaces text.
const EDITS: &str = "editor (replaces)";
/// What it calls a reading of several files, which is like one by an unknown tool.
const SEVERAL: &str = "read_files (several)";

/// Puts the fields of a call where Claude Code has them.
fn flatten_call(fields: &mut Fields) {
    if let Some(name) = fields.take_text("hookName") {
        fields.0.insert("hook_event_name".into(), name.into());
    }
    let root = fields.take_list("workspaceRoots").into_iter().next();
    fields.0.extend(root.map(|root| ("cwd".to_owned(), root)));
    if fields.0.get("parent_agent_id").is_none_or(Value::is_null) {
        fields.0.remove("agent_id");
    }
    let call = ["tool_call", "tool_result"].into_iter().find_map(|name| fields.0.remove(name));
    let Some(Value::Object(mut call)) = call else { return };
    let Some(Value::String(name)) = call.remove("name") else { return };
    let mut input = call.remove("input").unwrap_or_default();
    let mut name = name;
    if let Value::Object(input) = &mut input {
        reshape_input(&mut name, input);
    }
    fields.0.insert("tool_name".into(), name.into());
    fields.0.insert("tool_input".into(), input);
    fields.0.extend(call.remove("id").map(|id| ("tool_use_id".to_owned(), id)));
    if let Some(Value::Array(results)) = call.remove("output") {
        let texts =
            results.iter().filter_map(|result| result["error"].as_str().or(result["result"].as_str()));
        let text = texts.collect::<Vec<_>>().join("\n");
        fields.0.insert("tool_response".into(), text.into());
    }
}

fn reshape_input(name: &mut String, input: &mut Map<String, Value>) {
    match name.as_str() {
        "run_commands" => {
            // A line can be a text, or an object with the text in it.
            let lines = input.get("commands").and_then(Value::as_array).into_iter().flatten();
            let lines = lines.filter_map(|line| line.as_str().or(line["command"].as_str()));
            let command = lines.collect::<Vec<_>>().join("\n");
            input.insert("command".into(), command.into());
        }
        "editor" if ["old_text", "old_str"].iter().any(|field| input.contains_key(*field)) => {
            EDITS.clone_into(name);
        }
        "editor" => {
            if let (false, Some(text)) = (input.contains_key("file_text"), input.get("new_text")) {
                let text = text.clone();
                input.insert("file_text".into(), text);
            }
        }
        "read_files" => match input.get("files").and_then(Value::as_array).map(Vec::as_slice) {
            Some([file]) if file["path"].is_string() => {
                let path = file["path"].clone();
                input.insert("path".into(), path);
            }
            _ => SEVERAL.clone_into(name),
        },
        _ => {}
    }
}
