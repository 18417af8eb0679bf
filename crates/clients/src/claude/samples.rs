//! The events with which `provost doctor` tries a hook: recorded ones, with the paths of a temporary project.
//!
//! For a call there is one event that every guard must allow and, if the hook sees calls of that kind, one that a guard
//! must deny. No event has a lasting effect, because the files that it names do not exist.

use std::path::Path;

use serde_json::{Value, json};

use super::recorded::{load_event, recorded};
use super::{EXIT, matcher};
use crate::{RegisteredHook, SampleEvent};
use provost_core::places::CONFIG_FILE;

/// The id of a session that does not exist.
pub(super) const SESSION: &str = "00000000-0000-4000-8000-000000000000";

/// Events that every guard must allow: the event, the tool that the hook must match, the sample's name, the recording.
/// The first one that fits is used.
const ALLOWED: &[(&str, &str, &str, &str)] = &[
    ("PostToolUse", "Bash", "Bash: done", recorded!("PostToolUse.Bash")),
    ("PostToolUse", "Write", "Write: done", recorded!("PostToolUse.Write")),
    ("PostToolUse", "Edit", "Edit: done", recorded!("PostToolUse.Edit")),
    ("PostToolUse", "Agent", "Agent: done", recorded!("PostToolUse.Agent.completed")),
    ("PostToolUseFailure", "Bash", "Bash: failed", recorded!("PostToolUseFailure.Bash")),
    ("PermissionRequest", "Bash", "Bash: a question", recorded!("PermissionRequest.Bash")),
    ("UserPromptSubmit", "", "a prompt", recorded!("UserPromptSubmit")),
    ("SessionStart", "", "a session starts", recorded!("SessionStart.startup")),
    ("SessionEnd", "", "a session ends", recorded!("SessionEnd.other")),
    ("Stop", "", "a stop", recorded!("Stop.active_false")),
    ("SubagentStart", "", "an agent starts", recorded!("SubagentStart")),
    ("SubagentStop", "", "an agent stops", recorded!("SubagentStop.general-purpose")),
    ("PreCompact", "", "a compaction", recorded!("PreCompact")),
    ("Notification", "", "a notification", recorded!("Notification")),
    ("ConfigChange", "", "a skill changes", recorded!("ConfigChange")),
];

pub(super) fn list_samples(hook: &RegisteredHook, project: &Path, home: &Path) -> Vec<SampleEvent> {
    let make = |name, recorded: &str, denied_by, change: &dyn Fn(&mut Value)| {
        let mut event = load_event(recorded, project, home);
        event["session_id"] = SESSION.into();
        change(&mut event);
        SampleEvent {
            name,
            event: event.to_string(),
            denied_by,
            may_have_message: hook.event == "SessionStart",
        }
    };
    let is_matched = |tool: &str| matcher::matches_name(hook.matcher.as_deref(), tool) != Some(false);
    if hook.event != "PreToolUse" {
        let fits = |(event, tool, ..): &&(&str, &str, &str, &str)| {
            hook.event == *event && (tool.is_empty() || is_matched(tool))
        };
        let sample = ALLOWED.iter().find(fits).map(|(event, _, name, recorded)| {
            make(name, recorded, None, &|sample| {
                // A changed settings file would be compared with its content at the start of the session.
                if *event == "ConfigChange" {
                    sample["file_path"] = json!(project.join(".claude/skills/one/SKILL.md"));
                    sample["source"] = "skills".into();
                }
            })
        });
        return sample.into_iter().collect();
    }
    let guard = Some("self-guard");
    let config = project.join(CONFIG_FILE);
    let (bash, write, edit) =
        (recorded!("PreToolUse.Bash"), recorded!("PreToolUse.Write"), recorded!("PreToolUse.Edit"));
    let mut samples = Vec::new();
    if is_matched("Bash") {
        samples.push(make("Bash: ls", bash, None, &|event| event["tool_input"]["command"] = "ls".into()));
        samples.push(make("Bash: a write to provost.toml", bash, guard, &|event| {
            event["tool_input"]["command"] = format!("echo > {CONFIG_FILE}").into();
        }));
    } else if is_matched("Write") {
        samples.push(make("Write: a file", write, None, &|_| {}));
        samples.push(make("Write: provost.toml", write, guard, &|event| {
            event["tool_input"] = json!({"file_path": config, "content": ""});
        }));
    } else if is_matched("Edit") {
        samples.push(make("Edit: provost.toml", edit, guard, &|event| {
            event["tool_input"] = json!({"file_path": config, "old_string": "a", "new_string": "b"});
        }));
    } else if is_matched("Agent") {
        samples.push(make("Agent: an errand", recorded!("PreToolUse.Agent"), None, &|_| {}));
    } else if is_matched("Read") {
        samples.push(make("Read: a file", recorded!("PreToolUse.Read"), None, &|_| {}));
    }
    if is_matched(EXIT) {
        let plan_exit = recorded!("PreToolUse.ExitPlanMode");
        samples.push(make("a plan that nobody assessed", plan_exit, Some("plan-gate"), &|_| {}));
    }
    samples
}
