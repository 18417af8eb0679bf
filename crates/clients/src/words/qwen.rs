//! Qwen Code. Its hooks are like Claude Code's, with the names that Gemini CLI gives to tools.

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::{CommandOutcome, code_or_unknown, find_last_code};
use super::place::HookPlace;
use super::registration::{HookFile, json_installation};
use super::{Words, client, tool};
use crate::claude::entries::EntryForm;
use crate::json::Fields;
use crate::{Client, ClientTraits};

static TRAITS: ClientTraits = ClientTraits {
    title: "Qwen Code",
    files: [HOOK_FILE.place.in_project, Some(HOOK_FILE.place.in_home)],
    has_prompts: true,
    limits: &[
        "It ends if a hook takes 60 seconds, so no review or check may take longer than that when a turn ends.",
        "Hooks of a project run only in a folder that you have trusted.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("qwen", WORDS, TRAITS, Some(json_installation!(HOOK_FILE)));

static HOOK_FILE: HookFile = HookFile {
    place: HookPlace {
        in_project: Some(".qwen/settings.json"),
        in_home: ".qwen/settings.json",
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
        // The client dies if a hook takes 60 seconds, whatever its time limit says.
        longest_seconds: 50,
    },
    new: "{}\n",
    form: EntryForm { client: Some("qwen"), units_per_second: 1 },
};

pub(super) static WORDS: Words = Words {
    events: &[],
    fields: &[],
    tools: &[
        tool("run_shell_command", "Bash", &[]),
        tool("write_file", "Write", &[]),
        tool("edit", "Edit", &[]),
        tool("replace", "Edit", &[]),
        tool("read_file", "Read", &[("absolute_path", "file_path")]),
        tool("grep_search", "Grep", &[]),
        tool("search_file_content", "Grep", &[]),
        tool("glob", "Glob", &[]),
        tool("list_directory", "LS", &[]),
        tool("agent", "Agent", &[]),
        tool("task", "Agent", &[]),
        tool("skill", "Skill", &[("name", "skill")]),
        tool("exit_plan_mode", "ExitPlanMode", &[]),
    ],
    inert_tools: &["ask_user_question", "enter_plan_mode", "todo_write", "web_fetch", "web_search"],
    reshape: name_agent,
    find_outcome,
    answer: AnswerWords {
        hold: Hold::Json,
        context: Context::Specific,
        can_ask: true,
        longest_reason: None,
        takes_message: true,
    },
};

/// The type of the agent is in its id: `general-purpose-call_1_0`. Only the events at its start and end have it as a field.
fn name_agent(fields: &mut Fields) {
    if fields.text("agent_type").is_some() {
        return;
    }
    let kind =
        fields.text("agent_id").and_then(|id| id.rsplit_once("-call_")).map(|(kind, _)| kind.to_owned());
    if let Some(kind) = kind.filter(|kind| !kind.is_empty()) {
        fields.0.insert("agent_type".into(), kind.into());
    }
}

/// The end of the text is Qwen's own. A command in the background has no exit code.
fn find_outcome(text: &str) -> CommandOutcome {
    code_or_unknown(find_last_code(text, "\nExit Code: "))
}
