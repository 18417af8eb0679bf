//! Grok. It writes each field in two spellings, and cuts a reason at 256 characters.

use serde_json::Value;

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::CommandOutcome;
use super::place::{ANY_TIME, HookPlace};
use super::registration::{HookFile, json_installation};
use super::{Words, client, tool};
use crate::claude::entries::EntryForm;
use crate::json::Fields;
use crate::{Client, ClientTraits};

static TRAITS: ClientTraits = ClientTraits {
    title: "Grok",
    files: [HOOK_FILE.place.in_project, Some(HOOK_FILE.place.in_home)],
    has_prompts: true,
    limits: &[
        "It shows the model 256 characters of a reason, so Provost sends what was denied and the fix.",
        "Hooks of a project run only with `--trust`.",
        "It takes no notes at a prompt, so the model does not learn of an override.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("grok", WORDS, TRAITS, Some(json_installation!(HOOK_FILE)));

static HOOK_FILE: HookFile = HookFile {
    place: HookPlace {
        in_project: Some(".grok/hooks/provost.json"),
        in_home: ".grok/hooks/provost.json",
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
        longest_seconds: ANY_TIME,
    },
    new: "{}\n",
    form: EntryForm { client: Some("grok"), units_per_second: 1 },
};

pub(super) static WORDS: Words = Words {
    events: &[],
    fields: &[
        ("sessionId", "session_id"),
        ("promptId", "prompt_id"),
        ("transcriptPath", "transcript_path"),
        ("permissionMode", "permission_mode"),
        ("toolName", "tool_name"),
        ("toolUseId", "tool_use_id"),
        ("toolInput", "tool_input"),
        ("toolResult", "tool_response"),
        ("subagentId", "agent_id"),
        ("subagentType", "agent_type"),
        ("stopHookActive", "stop_hook_active"),
        ("lastAssistantMessage", "last_assistant_message"),
    ],
    tools: &[
        tool("run_terminal_command", "Bash", &[]),
        tool("write", "Write", &[("contents", "content")]),
        tool("search_replace", "Edit", &[]),
        tool("read_file", "Read", &[("target_file", "file_path")]),
        tool("grep", "Grep", &[]),
        tool("list_dir", "LS", &[("target_directory", "path")]),
        tool("spawn_subagent", "Agent", &[]),
        tool("exit_plan_mode", "ExitPlanMode", &[]),
    ],
    inert_tools: &[
        "ask_user_question",
        "enter_plan_mode",
        "session_title",
        "todo_write",
        "web_fetch",
        "web_search",
    ],
    reshape: mark_subagent,
    // The exit code is a field of its own, and has been read.
    find_outcome: |_| CommandOutcome::Kept,
    answer: AnswerWords {
        hold: Hold::Json,
        context: Context::None,
        can_ask: false,
        longest_reason: Some(256),
        takes_message: true,
    },
};

/// Gives a subagent's events an id: its own session's. Without it, its prompt would look like the user's.
fn mark_subagent(fields: &mut Fields) {
    let is_own_session = fields.0.contains_key("subagentType") && !fields.0.contains_key("subagentId");
    if is_own_session && let Some(session) = fields.text("session_id").or(fields.text("sessionId")) {
        let session = session.to_owned();
        fields.0.insert("agent_id".into(), session.into());
    }
    // A stop for another reason than the end of a turn comes when the client ends.
    let is_shutdown = fields.text("reason").is_some_and(|reason| reason != "end_turn");
    if fields.text("hook_event_name") == Some("Stop") && is_shutdown {
        fields.0.insert("hook_event_name".into(), "Stop (shutdown)".into());
    }
    let response = ["tool_response", "toolResult"].into_iter().find(|name| fields.0.contains_key(*name));
    let is_backgrounded = fields.flag("isBackgrounded").unwrap_or(false);
    if let Some(Value::Object(response)) = response.and_then(|name| fields.0.get_mut(name)) {
        // The bytes of the output come as numbers, and again as text.
        let text = response.remove("output_for_prompt");
        response.remove("output");
        response.extend(text.map(|text| ("output".to_owned(), text)));
        if is_backgrounded || response.get("timed_out").is_some_and(|timed_out| *timed_out == true) {
            response.insert("interrupted".into(), true.into());
        }
    }
}
