//! Gemini CLI. It has names of its own for events and tools, and no events for subagents.

use std::env;
use std::path::{Path, PathBuf};

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::{CommandOutcome, find_last_code};
use super::place::{ANY_TIME, HookPlace};
use super::registration::{HookFile, json_installation};
use super::{Name, Words, client, tool};
use crate::claude::entries::EntryForm;
use crate::json::Fields;
use crate::{Client, ClientTraits};

static TRAITS: ClientTraits = ClientTraits {
    title: "Gemini CLI",
    files: [HOOK_FILE.place.in_project, Some(HOOK_FILE.place.in_home)],
    has_prompts: true,
    limits: &[
        "It does not say which calls are a subagent's, so rules with `in_agent` and the planner do not hold there.",
        "If Provost is missing, it blocks every prompt.",
        "Hooks of a project run only in a folder that you have trusted.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("gemini", WORDS, TRAITS, Some(json_installation!(HOOK_FILE)));

const EVENTS: &[Name] = &[
    ("BeforeTool", "PreToolUse"),
    ("AfterTool", "PostToolUse"),
    ("BeforeAgent", "UserPromptSubmit"),
    ("AfterAgent", "Stop"),
    ("PreCompress", "PreCompact"),
];

static HOOK_FILE: HookFile = HookFile {
    place: HookPlace {
        in_project: Some(".gemini/settings.json"),
        in_home: ".gemini/settings.json",
        events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
        names: EVENTS,
        longest_seconds: ANY_TIME,
    },
    new: "{}\n",
    form: EntryForm { client: Some("gemini"), units_per_second: 1000 },
};

pub(super) static WORDS: Words = Words {
    events: EVENTS,
    fields: &[("prompt_response", "last_assistant_message")],
    tools: &[
        tool("run_shell_command", "Bash", &[]),
        tool("write_file", "Write", &[("path", "file_path")]),
        tool("replace", "Edit", &[("path", "file_path")]),
        tool("read_file", "Read", &[("absolute_path", "file_path"), ("path", "file_path")]),
        tool("search_file_content", "Grep", &[("dir_path", "path")]),
        tool("grep_search", "Grep", &[("dir_path", "path")]),
        tool("glob", "Glob", &[("dir_path", "path")]),
        tool("list_directory", "LS", &[("dir_path", "path")]),
        tool("invoke_agent", "Agent", &[("agent_name", "subagent_type")]),
        tool("activate_skill", "Skill", &[("name", "skill")]),
        tool(
            "exit_plan_mode",
            "ExitPlanMode",
            &[("plan_filename", "planFilePath"), ("plan_path", "planFilePath")],
        ),
    ],
    inert_tools: &[
        "ask_user",
        "enter_plan_mode",
        "google_web_search",
        "web_fetch",
        "write_todos",
        "complete_task",
        "get_internal_docs",
    ],
    reshape: find_plan,
    // The last line names the exit code, but only one that is not 0.
    find_outcome: |text| {
        find_last_code(text, "\nExit Code: ").map_or(CommandOutcome::ByEvent, CommandOutcome::ExitCode)
    },
    answer: AnswerWords {
        hold: Hold::Json,
        context: Context::Specific,
        can_ask: false,
        longest_reason: None,
        takes_message: true,
    },
};

/// Completes the name of the plan that leaves plan mode: it is relative to a directory in a variable.
fn find_plan(fields: &mut Fields) {
    let Some(directory) = env::var_os("GEMINI_PLANS_DIR").map(PathBuf::from) else { return };
    let Some(name) = fields.0.get_mut("tool_input").and_then(|input| input.get_mut("plan_filename")) else {
        return;
    };
    if let Some(path) = name.as_str().map(Path::new).map(|name| directory.join(name)) {
        *name = path.to_string_lossy().into();
    }
}
