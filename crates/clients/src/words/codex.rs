//! Codex, by `OpenAI`. Its file tool takes a patch of several files, and its answers must have known fields only.

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::CommandOutcome;
use super::place::{ANY_TIME, HookPlace};
use super::registration::{HookFile, json_installation};
use super::{PATCH, Words, client, tool};
use crate::claude::entries::EntryForm;
use crate::{Client, ClientTraits};

static TRAITS: ClientTraits = ClientTraits {
    title: "Codex",
    files: [HOOK_FILE.place.in_project, Some(HOOK_FILE.place.in_home)],
    has_prompts: true,
    limits: &[
        "It runs a hook only after you have trusted it with `/hooks` in Codex, and skips it silently until then, also in `codex exec`.",
        "It does not report how a command ended, so `need = { passed = … }` is never fulfilled; use `check` instead.",
        "It has no tool that leaves plan mode, so the plan gate has nothing to hold.",
    ],
    ..ClientTraits::NONE
};

pub(crate) static CLIENT: Client = client!("codex", WORDS, TRAITS, Some(json_installation!(HOOK_FILE)));

static HOOK_FILE: HookFile = HookFile {
    place: HookPlace {
        in_project: Some(".codex/hooks.json"),
        in_home: ".codex/hooks.json",
        events: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "Stop"],
        names: &[],
        longest_seconds: ANY_TIME,
    },
    new: "{}\n",
    form: EntryForm { client: Some("codex"), units_per_second: 1 },
};

pub(super) static WORDS: Words = Words {
    events: &[],
    fields: &[("turn_id", "prompt_id")],
    tools: &[
        tool("apply_patch", PATCH, &[("input", "command"), ("patch", "command")]),
        tool("exec_command", "Bash", &[("cmd", "command")]),
        tool("shell_command", "Bash", &[]),
        tool("spawn_agent", "Agent", &[("agent_type", "subagent_type"), ("message", "prompt")]),
        tool("send_input", "SendMessage", &[("id", "to")]),
    ],
    inert_tools: &["update_plan", "wait", "wait_agent", "close_agent", "web_search", "request_user_input"],
    reshape: |_| {},
    // Failed commands are reported like successful ones, without an exit code.
    find_outcome: |_| CommandOutcome::Unknown,
    answer: AnswerWords {
        hold: Hold::Json,
        context: Context::Specific,
        can_ask: false,
        longest_reason: None,
        takes_message: true,
    },
};
