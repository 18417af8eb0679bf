//! Kimi Code. It cannot be told JSON when a turn ends, and marks nothing that a subagent does.

use serde_json::Value;

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::{CommandOutcome, find_last_code};
use super::own_text::{HookText, command_line, text_installation};
use super::place::HookPlace;
use super::{Words, client, tool};
use crate::json::Fields;
use crate::{Client, ClientTraits, NeededEntry};

static TRAITS: ClientTraits = ClientTraits {
    title: "Kimi Code",
    files: [HOOKS.place.in_project, Some(HOOKS.place.in_home)],
    has_prompts: true,
    limits: &[
        "It reads hooks from the user's file only, and a hook may take 600 seconds at most.",
        "It does not say which calls are a subagent's, so rules with `in_agent` and the planner do not hold there.",
        "The end of a subagent cannot be held.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("kimi", WORDS, TRAITS, Some(text_installation!(HOOKS)));

static HOOKS: HookText = HookText {
    place: HookPlace {
        // A project's own file is not read.
        in_project: None,
        in_home: ".kimi-code/config.toml",
        events: &[
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "SubagentStop",
            "Stop",
        ],
        names: &[],
        // With a longer time limit in one entry, the client drops all hooks.
        longest_seconds: 600,
    },
    client: "kimi",
    begin: "# Hooks of Provost, written by `provost init --client kimi`. `provost uninstall` removes them.",
    end: "# End of the hooks of Provost.",
    write: write_entries,
    find_obstacle: |text| {
        let is_inline =
            |line: &str| line.strip_prefix("hooks").is_some_and(|rest| rest.trim_start().starts_with('='));
        text.lines()
            .any(is_inline)
            .then_some("its `hooks` is a list in one line: write each hook as `[[hooks]]`")
    },
};

/// The entries in TOML. Tables at the end of a file belong to nothing before them.
fn write_entries(program: &str, arguments: &[String], entries: &[NeededEntry]) -> String {
    let line = serde_json::Value::from(command_line(program, arguments));
    let entry = |entry: &NeededEntry| {
        format!("[[hooks]]\nevent = \"{}\"\ncommand = {line}\ntimeout = {}\n", entry.event, entry.seconds)
    };
    entries.iter().map(entry).collect()
}

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
