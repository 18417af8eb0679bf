//! `OpenCode`. Provost's module (`opencode_module.js`) turns its events into the form of Claude Code's.

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::CommandOutcome;
use super::own_text::{HookText, text_installation};
use super::place::{ANY_TIME, HookPlace};
use super::{PATCH, Words, client, tool};
use crate::{Client, ClientTraits, NeededEntry};

static TRAITS: ClientTraits = ClientTraits {
    title: "OpenCode",
    files: [HOOKS.place.in_project, Some(HOOKS.place.in_home)],
    has_prompts: true,
    limits: &[
        "`opencode run` exits before a turn could be held; the terminal and `opencode serve` can be held.",
        "It has no tool that leaves plan mode, so the plan gate has nothing to hold.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("opencode", WORDS, TRAITS, Some(text_installation!(HOOKS)));

static HOOKS: HookText = HookText {
    place: HookPlace {
        in_project: Some(".opencode/plugins/provost.js"),
        in_home: ".config/opencode/plugins/provost.js",
        events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "Stop"],
        names: &[],
        longest_seconds: ANY_TIME,
    },
    client: "opencode",
    begin: "// This file is Provost's: `provost init` writes it, and `provost uninstall` deletes it.",
    end: "// End of Provost's module.",
    write: write_module,
    find_obstacle: |text| (!text.trim().is_empty()).then_some("it has a module that is not Provost's"),
};

const MODULE: &str = include_str!("opencode_module.js");

/// The module with this program and these arguments in the places of its own.
fn write_module(program: &str, arguments: &[String], _: &[NeededEntry]) -> String {
    let arguments = serde_json::Value::from(arguments.to_vec());
    let module = MODULE.replacen("\"provost\"", &serde_json::Value::from(program).to_string(), 1);
    module.replacen(r#"["hook","--client","opencode"]"#, &arguments.to_string(), 1)
}

pub(super) static WORDS: Words = Words {
    events: &[],
    fields: &[("sessionID", "session_id"), ("callID", "tool_use_id")],
    tools: &[
        tool("Bash", "Bash", &[]),
        tool("bash", "Bash", &[]),
        tool("Write", "Write", &[("filePath", "file_path")]),
        tool("write", "Write", &[("filePath", "file_path")]),
        tool("Edit", "Edit", EDIT),
        tool("edit", "Edit", EDIT),
        tool("multiedit", "MultiEdit", EDIT),
        tool("apply_patch", PATCH, &[("patchText", "command")]),
        tool("patch", PATCH, &[("patchText", "command")]),
        tool("Read", "Read", &[("filePath", "file_path")]),
        tool("read", "Read", &[("filePath", "file_path")]),
        tool("grep", "Grep", &[]),
        tool("glob", "Glob", &[]),
        tool("list", "LS", &[]),
        tool("Task", "Agent", &[]),
        tool("task", "Agent", &[]),
        tool("skill", "Skill", &[("name", "skill")]),
    ],
    inert_tools: &["question", "todoread", "todowrite", "webfetch", "websearch"],
    reshape: |_| {},
    // The module adds the exit code as a field of its own.
    find_outcome: |_| CommandOutcome::Kept,
    answer: AnswerWords {
        hold: Hold::Json,
        context: Context::Specific,
        can_ask: false,
        longest_reason: None,
        takes_message: true,
    },
};

const EDIT: &[(&str, &str)] =
    &[("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string")];
