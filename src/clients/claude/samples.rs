//! The events that `provost doctor` gives to a hook: recorded ones, with the paths of a stage put in.
//!
//! For a call there is one that every guard must let go on and, where the hook sees such calls, one that
//! must be denied. None of them has a guard do lasting work: nothing that they name exists.

use std::path::Path;

use serde_json::{Value, json};

use super::{EXIT, matcher};
use crate::clients::{Hook, Sample};
use crate::workspace::CONFIG_FILE;

/// A session that nobody has.
pub(super) const SESSION: &str = "00000000-0000-4000-8000-000000000000";

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../../tests/events/", $name, ".json"))
    };
}

pub(super) fn of(hook: &Hook, project: &Path, home: &Path) -> Vec<Sample> {
    let made = |name, recorded: &str, denied_by, change: &dyn Fn(&mut Value)| {
        let mut event: Value = serde_json::from_str(recorded).unwrap_or_default();
        move_paths(&mut event, &project.to_string_lossy(), &home.to_string_lossy());
        event["session_id"] = SESSION.into();
        change(&mut event);
        Sample { name, event: event.to_string(), denied_by, may_remark: hook.event == "SessionStart" }
    };
    let plain = |name, recorded: &str| vec![made(name, recorded, None, &|_| {})];
    let is_let = |tool: &str| matcher::lets_through(hook.matcher.as_deref(), tool) != Some(false);
    let config = project.join(CONFIG_FILE);
    match hook.event.as_str() {
        "PreToolUse" => {
            let mut all = Vec::new();
            let (bash, write) = (recorded!("PreToolUse.Bash"), recorded!("PreToolUse.Write"));
            if is_let("Bash") {
                all.push(made("Bash: ls", bash, None, &|event| {
                    event["tool_input"]["command"] = "ls".into();
                }));
                all.push(made("Bash: a write to provost.toml", bash, Some("self-guard"), &|event| {
                    event["tool_input"]["command"] = format!("echo > {CONFIG_FILE}").into();
                }));
            } else if is_let("Write") {
                all.extend(plain("Write: a file", write));
                all.push(made("Write: provost.toml", write, Some("self-guard"), &|event| {
                    event["tool_input"] = json!({"file_path": config, "content": ""});
                }));
            } else if is_let("Edit") {
                all.push(made(
                    "Edit: provost.toml",
                    recorded!("PreToolUse.Edit"),
                    Some("self-guard"),
                    &|event| {
                        event["tool_input"] =
                            json!({"file_path": config, "old_string": "a", "new_string": "b"});
                    },
                ));
            } else if is_let("Agent") {
                all.extend(plain("Agent: an errand", recorded!("PreToolUse.Agent")));
            } else if is_let("Read") {
                all.extend(plain("Read: a file", recorded!("PreToolUse.Read")));
            }
            if is_let(EXIT) {
                let gate = Some("plan-gate");
                all.push(made(
                    "a plan that nobody assessed",
                    recorded!("PreToolUse.ExitPlanMode"),
                    gate,
                    &|_| {},
                ));
            }
            all
        }
        "PostToolUse" if is_let("Bash") => plain("Bash: done", recorded!("PostToolUse.Bash")),
        "PostToolUse" if is_let("Write") => plain("Write: done", recorded!("PostToolUse.Write")),
        "PostToolUse" if is_let("Edit") => plain("Edit: done", recorded!("PostToolUse.Edit")),
        "PostToolUse" if is_let("Agent") => plain("Agent: done", recorded!("PostToolUse.Agent.completed")),
        "PostToolUseFailure" if is_let("Bash") => plain("Bash: failed", recorded!("PostToolUseFailure.Bash")),
        "PermissionRequest" if is_let("Bash") => {
            plain("Bash: a question", recorded!("PermissionRequest.Bash"))
        }
        "UserPromptSubmit" => plain("a prompt", recorded!("UserPromptSubmit")),
        "SessionStart" => plain("a session starts", recorded!("SessionStart.startup")),
        "SessionEnd" => plain("a session ends", recorded!("SessionEnd.other")),
        "Stop" => plain("a stop", recorded!("Stop.active_false")),
        "SubagentStart" => plain("an agent starts", recorded!("SubagentStart")),
        "SubagentStop" => plain("an agent stops", recorded!("SubagentStop.general-purpose")),
        "PreCompact" => plain("a compaction", recorded!("PreCompact")),
        "Notification" => plain("a notification", recorded!("Notification")),
        // Of a settings file, what there was when the session started decides.
        "ConfigChange" => vec![made("a skill changes", recorded!("ConfigChange"), None, &|event| {
            event["file_path"] = json!(project.join(".claude/skills/one/SKILL.md"));
            event["source"] = "skills".into();
        })],
        _ => Vec::new(),
    }
}

/// Puts other directories in the place of the recorded ones, whatever letters their names have.
fn move_paths(value: &mut Value, project: &str, home: &str) {
    match value {
        Value::String(text) => {
            *text = text.replace("/home/dev/project", project).replace("/home/dev", home);
        }
        Value::Array(list) => list.iter_mut().for_each(|value| move_paths(value, project, home)),
        Value::Object(map) => map.values_mut().for_each(|value| move_paths(value, project, home)),
        _ => {}
    }
}
