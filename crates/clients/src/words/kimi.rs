//! Kimi Code. It cannot be told JSON when a turn ends, and marks nothing that a subagent does.

use serde_json::Value;

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::{CommandOutcome, find_last_code};
use super::{Words, client, tool};
use crate::Client;
use crate::json::Fields;

pub(crate) static CLIENT: Client = client!("kimi", WORDS);

pub(super) static WORDS: Words = Words {
    events: &[],
    fields: &[
        ("agent_name", "agent_type"),
        ("response", "last_assistant_message"),
        ("tool_call_id", "tool_use_id"),
    ],
    tools: &[
        tool("Bash", "Bash", &[]),
        tool("Write", "Write", &[("path", "file_path")]),
        tool("Edit", "Edit", &[("path", "file_path")]),
        tool("Read", "Read", &[("path", "file_path")]),
        tool("Grep", "Grep", &[]),
        tool("Glob", "Glob", &[]),
        tool("Agent", "Agent", &[]),
        tool("ExitPlanMode", "ExitPlanMode", &[]),
    ],
    inert_tools: &["SetTodoList", "Think", "EnterPlanMode", "SearchWeb", "FetchURL", "AskUser"],
    reshape: join_prompt,
    // A command that fails is another event.
    find_outcome: |text| {
        find_last_code(text, "Command failed with exit code: ")
            .map_or(CommandOutcome::ByEvent, CommandOutcome::ExitCode)
    },
    answer: AnswerWords {
        hold: Hold::ExitCode,
        context: Context::PlainText,
        can_ask: false,
        longest_reason: None,
        takes_message: false,
    },
};

/// Joins the parts of a prompt.
fn join_prompt(fields: &mut Fields) {
    if let Some(Value::Array(parts)) = fields.0.get("prompt") {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        let text = texts.join("\n");
        fields.0.insert("prompt".into(), text.into());
    }
}
