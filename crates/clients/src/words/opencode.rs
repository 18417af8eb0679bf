//! OpenCode. Provost's module in `plugins/opencode` turns its events into the form of Claude Code's.

use super::answer::{AnswerWords, Context, Hold};
use super::outcome::CommandOutcome;
use super::{PATCH, Words, client, tool};
use crate::Client;

pub(crate) static CLIENT: Client = client!("opencode", WORDS);

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
