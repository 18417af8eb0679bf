//! Droid, by Factory. A command that fails has no event after it.

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::{code_or_unknown, find_last_code};
use super::place::{ANY_TIME, HookPlace};
use super::registration::{HookFile, json_installation};
use super::{PATCH, Words, client, tool};
use crate::claude::entries::EntryForm;
use crate::json::Fields;
use crate::{Client, ClientTraits};

static TRAITS: ClientTraits = ClientTraits {
    title: "Droid",
    files: [HOOK_FILE.place.in_project, Some(HOOK_FILE.place.in_home)],
    has_prompts: false,
    limits: &[
        "`droid exec` reports no prompts, so a denial cannot be overridden there.",
        "It reports nothing after a command that has failed.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("droid", WORDS, TRAITS, Some(json_installation!(HOOK_FILE)));

static HOOK_FILE: HookFile = HookFile {
    place: HookPlace {
        in_project: Some(".factory/settings.json"),
        in_home: ".factory/settings.json",
        events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "Stop"],
        names: &[],
        longest_seconds: ANY_TIME,
    },
    new: "{}\n",
    form: EntryForm { client: Some("droid"), units_per_second: 1 },
};

pub(super) static WORDS: Words = Words {
    events: &[],
    fields: &[],
    tools: &[
        tool("Execute", "Bash", &[]),
        tool("Create", "Write", &[]),
        tool("Edit", "Edit", &[("old_str", "old_string"), ("new_str", "new_string")]),
        tool("MultiEdit", "MultiEdit", &[]),
        tool("ApplyPatch", PATCH, &[("input", "command"), ("patch", "command")]),
        tool("Read", "Read", &[]),
        tool("Grep", "Grep", &[]),
        tool("Glob", "Glob", &[]),
        tool("LS", "LS", &[("directory_path", "path")]),
        tool("Task", "Agent", &[]),
        tool("Skill", "Skill", &[]),
        tool("ExitSpecMode", "ExitPlanMode", &[]),
    ],
    inert_tools: &["TodoWrite", "WebSearch", "FetchUrl", "AskUser"],
    reshape: name_plan_mode,
    find_outcome: |text| code_or_unknown(find_last_code(text, "[Process exited with code ")),
    answer: AnswerWords {
        hold: Hold::Json,
        context: Context::Specific,
        can_ask: false,
        longest_reason: None,
        takes_message: true,
    },
};

/// Droid calls plan mode `spec`.
fn name_plan_mode(fields: &mut Fields) {
    if fields.text("permission_mode") == Some("spec") {
        fields.0.insert("permission_mode".into(), "plan".into());
    }
}
