//! The scenes of `provost demo`: recorded events of this client, with the demo's paths put in.

use std::path::Path;

use serde_json::{Value, json};

use crate::clients::{Scene, Told};

const BASH: &str = include_str!("../../../tests/events/PreToolUse.Bash.json");
const EDIT: &str = include_str!("../../../tests/events/PreToolUse.Edit.json");
const START: &str = include_str!("../../../tests/events/SessionStart.startup.json");
const CONFIG: &str = include_str!("../../../tests/events/ConfigChange.json");
const SETTINGS: &str = ".claude/settings.json";

pub(super) fn scenes(project: &Path, home: &Path) -> Vec<Scene> {
    let event = |recorded: &str, change: &dyn Fn(&mut Value)| {
        let text = recorded
            .replace("/home/dev/project", &project.to_string_lossy())
            .replace("/home/dev", &home.to_string_lossy());
        let mut event: Value = serde_json::from_str(&text).unwrap_or_default();
        change(&mut event);
        // The recorded events come from several sessions; here they are one.
        event["session_id"] = "demo".into();
        event.to_string()
    };
    let bash = |story, command: &str| Scene {
        story,
        attempt: format!("Bash: {command}"),
        event: event(BASH, &|event| event["tool_input"]["command"] = command.into()),
        files: Vec::new(),
    };
    let edit = |story, old: &str, new: &str| Scene {
        story,
        attempt: format!("Edit {SETTINGS}: {old} → {new}"),
        event: event(EDIT, &|event| {
            let file = project.join(SETTINGS);
            event["tool_input"] = json!({"file_path": file, "old_string": old, "new_string": new});
        }),
        files: Vec::new(),
    };
    let hook = json!({"type": "command", "command": "provost", "args": ["hook"], "timeout": 10});
    let settings = json!({"model": "opus", "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
    vec![
        Scene {
            story: "The session starts. Provost remembers which hooks are registered.",
            attempt: "SessionStart".into(),
            event: event(START, &|_| {}),
            files: vec![(SETTINGS, format!("{settings:#}\n"))],
        },
        bash("Ordinary work goes on without a word.", "cargo test 2>&1 | tail -5"),
        bash(
            "A guard is in the way, so the agent writes a configuration without it.",
            "printf '[guards]\\nself-guard = \"off\"\\n' > provost.toml",
        ),
        bash("Another spelling of the same idea.", "cd .claude && bash -c 'rm \"settings.json\"'"),
        edit("Then by the file tool: all hooks off.", "\"model\": \"opus\"", "\"disableAllHooks\": true"),
        edit("Another part of the same file is nobody's business.", "\"opus\"", "\"sonnet\""),
        Scene {
            story: "Somebody empties the settings file behind Provost's back. The session keeps its hooks.",
            attempt: format!("ConfigChange {SETTINGS}"),
            event: event(CONFIG, &|_| {}),
            files: vec![(SETTINGS, "{}\n".into())],
        },
    ]
}

pub(super) fn told(stdout: &str) -> Told {
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else { return Told::Nothing };
    let text = answer["reason"].as_str().or(answer["systemMessage"].as_str()).unwrap_or_default().to_owned();
    if answer["decision"].is_string() { Told::Denied(text) } else { Told::Noted(text) }
}
