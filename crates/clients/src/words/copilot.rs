//! GitHub Copilot CLI. It reports events in two spellings: one like Claude Code's, and one with small letters.

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::{code_or_unknown, find_last_code};
use super::place::{ANY_TIME, HookPlace};
use super::registration::{HookFile, json_installation};
use super::{Words, client, tool};
use crate::claude::entries::EntryForm;
use crate::json::Fields;
use crate::{Client, ClientTraits};

static TRAITS: ClientTraits = ClientTraits {
    title: "Copilot CLI",
    files: [HOOK_FILE.place.in_project, Some(HOOK_FILE.place.in_home)],
    has_prompts: true,
    limits: &[
        "Hooks of a project run only in a folder that you have trusted.",
        "If Provost is missing, it blocks every tool call.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("copilot", WORDS, TRAITS, Some(json_installation!(HOOK_FILE)));

static HOOK_FILE: HookFile = HookFile {
    place: HookPlace {
        in_project: Some(".github/hooks/provost.json"),
        in_home: ".copilot/hooks/provost.json",
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
    new: "{\n  \"version\": 1\n}\n",
    form: EntryForm { client: Some("copilot"), units_per_second: 1 },
};

pub(super) static WORDS: Words = Words {
    events: &[
        ("sessionStart", "SessionStart"),
        ("sessionEnd", "SessionEnd"),
        ("userPromptSubmitted", "UserPromptSubmit"),
        ("preToolUse", "PreToolUse"),
        ("permissionRequest", "PermissionRequest"),
        ("postToolUse", "PostToolUse"),
        ("postToolUseFailure", "PostToolUseFailure"),
        ("agentStop", "Stop"),
        ("subagentStart", "SubagentStart"),
        ("subagentStop", "SubagentStop"),
    ],
    fields: &[
        ("sessionId", "session_id"),
        ("transcriptPath", "transcript_path"),
        ("toolName", "tool_name"),
        ("toolArgs", "tool_input"),
        ("toolInput", "tool_input"),
        ("toolResult", "tool_result"),
        ("agentName", "agent_type"),
        ("agentId", "agent_id"),
    ],
    tools: &[
        tool("bash", "Bash", &[]),
        tool("Write", "Write", WRITE),
        tool("create", "Write", WRITE),
        tool("Edit", "Edit", EDIT),
        tool("edit", "Edit", EDIT),
        tool("str_replace_editor", "Edit", EDIT),
        tool("Read", "Read", &[("path", "file_path")]),
        tool("view", "Read", &[("path", "file_path")]),
        tool("grep", "Grep", &[]),
        tool("glob", "Glob", &[]),
        tool("Agent", "Agent", &[("agent_type", "subagent_type")]),
        tool("task", "Agent", &[("agent_type", "subagent_type")]),
        tool("skill", "Skill", &[("name", "skill")]),
        tool("exit_plan_mode", "ExitPlanMode", &[("summary", "plan")]),
    ],
    inert_tools: &[
        "report_intent",
        "ask_user",
        "update_todo",
        "read_bash",
        "stop_bash",
        "list_bash",
        "web_fetch",
    ],
    reshape: name_event,
    find_outcome: |text| code_or_unknown(find_last_code(text, "completed with exit code ")),
    answer: AnswerWords {
        hold: Hold::Json,
        context: Context::Flat,
        can_ask: true,
        longest_reason: None,
        takes_message: true,
    },
};

/// The name that a `Stop` in a subagent gets. No guard judges it.
const SUBAGENT_TURN: &str = "Stop (subagent)";
const WRITE: &[(&str, &str)] = &[("path", "file_path"), ("file_text", "content")];
const EDIT: &[(&str, &str)] = &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")];

/// Names an event whose input does not: the other fields tell it.
fn name_event(fields: &mut Fields) {
    match fields.text("hook_event_name") {
        // `SubagentStop` follows, so this stop is not the end of a turn of the conversation.
        Some("Stop") if fields.text("agent_id").is_some() => {
            fields.0.insert("hook_event_name".into(), SUBAGENT_TURN.into());
            return;
        }
        Some(_) => return,
        None => {}
    }
    let has = |name: &str| fields.0.contains_key(name);
    let name = match fields.text("hookName") {
        Some(name) => name.to_owned(),
        None if has("toolResult") => "postToolUse".into(),
        None if has("toolName") && has("error") => "postToolUseFailure".into(),
        None if has("toolName") => "preToolUse".into(),
        None if has("agentName") && has("lastAssistantMessage") => "subagentStop".into(),
        None if has("agentName") => "subagentStart".into(),
        None if has("stopReason") => "agentStop".into(),
        None if has("initialPrompt") || has("source") => "sessionStart".into(),
        None if has("transformedPrompt") => "userPromptTransformed".into(),
        None if has("prompt") => "userPromptSubmitted".into(),
        None if has("reason") => "sessionEnd".into(),
        None => return,
    };
    fields.0.insert("hook_event_name".into(), name.into());
}
