//! Events of other clients, as they sent them: the same rule holds on each, and each gets the answer that it obeys.

mod entries;
mod hook_files;
mod installation;
mod prompts;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{TestProject, assert_shown};

/// Each client, and its recorded event before a shell command.
const BEFORE_SHELL: &[(&str, &str)] = &[
    ("codex", "PreToolUse.Bash"),
    ("copilot", "PreToolUse.Bash"),
    ("copilot", "preToolUse.bash"),
    ("gemini", "BeforeTool.run_shell_command"),
    ("opencode", "PreToolUse.Bash"),
    ("qwen", "PreToolUse.run_shell_command"),
    ("droid", "PreToolUse.Execute"),
    ("grok", "PreToolUse.run_terminal_command"),
    ("kimi", "PreToolUse.Bash"),
    ("cline", "tool_call.run_commands"),
];

/// Each client, and its recorded event before a file is written.
const BEFORE_WRITING: &[(&str, &str)] = &[
    ("codex", "PreToolUse.apply_patch"),
    ("copilot", "PreToolUse.Write"),
    ("gemini", "BeforeTool.replace"),
    ("opencode", "PreToolUse.Write"),
    ("qwen", "PreToolUse.write_file"),
    ("droid", "PreToolUse.Create"),
    ("grok", "PreToolUse.write"),
    ("kimi", "PreToolUse.Write"),
    ("cline", "tool_call.editor"),
];

/// Each client, and its recorded event before a turn ends.
const STOPS: &[(&str, &str)] = &[
    ("codex", "Stop"),
    ("copilot", "Stop"),
    ("gemini", "AfterAgent"),
    ("opencode", "Stop"),
    ("qwen", "Stop"),
    ("droid", "Stop"),
    ("grok", "Stop"),
    ("kimi", "Stop"),
];

const RULES: &str = r#"
[[rule]]
name = "no-tags"
runs = "git tag"
deny = "releases are tagged by the build server"
fix  = "open a pull request"

[[rule]]
name    = "locked"
changes = "locked.txt"
deny    = "the file is generated"
fix     = "change the generator"

[[rule]]
name  = "asked"
runs  = "git stash"
ask   = "work could be lost"

[[rule]]
name   = "tested"
stops  = true
need   = { passed = "cargo test" }
rounds = 1
"#;

fn guarded_project() -> TestProject {
    let project = TestProject::unregistered();
    project.write_file("provost.toml", RULES);
    project
}

fn recorded(project: &TestProject, client: &str, name: &str) -> String {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/client-events/{client}/{name}.json"));
    fs::read_to_string(file).unwrap().replace("/home/dev/project", project.path.to_str().unwrap())
}

/// An event before this shell command.
fn shell_event(project: &TestProject, client: &str, name: &str, command: &str) -> Vec<u8> {
    let event = recorded(project, client, name);
    let changed = ["echo ran > proof.txt", "echo out; echo err >&2; exit 3"]
        .iter()
        .fold(event.clone(), |event, old| {
            event.replace(&format!("\"{old}\""), &Value::from(command).to_string())
        });
    assert_ne!(changed, event, "{client}/{name} has another command");
    changed.into_bytes()
}

#[test]
fn a_rule_about_commands_holds_on_every_client() {
    let project = guarded_project();
    for (client, name) in BEFORE_SHELL {
        let event = shell_event(&project, client, name, "git tag v1");
        let answer = project.hook_bytes(&[], &event);
        assert_shown!(format!("clients-denied-{client}-{name}"), project.whole(&answer));
        let named = project.hook_bytes(&["--client", client], &event);
        assert_eq!(project.whole(&named), project.whole(&answer), "{client}");
        let allowed = project.hook_bytes(&[], &shell_event(&project, client, name, "git log"));
        assert!(allowed.is_silent(), "{client}: {}", allowed.whole());
    }
}

#[test]
fn a_question_is_a_denial_where_the_client_would_run_the_call() {
    let project = guarded_project();
    for (client, name) in BEFORE_SHELL {
        let answer = project.hook_bytes(&[], &shell_event(&project, client, name, "git stash"));
        assert_shown!(format!("clients-asked-{client}-{name}"), project.whole(&answer));
    }
}

#[test]
fn a_rule_about_files_holds_on_every_client() {
    let project = guarded_project();
    project.write_file("locked.txt", "written\nb\n");
    for (client, name) in BEFORE_WRITING {
        let event = recorded(&project, client, name);
        let locked = event.replace("proof.txt", "locked.txt").replace("other.txt", "locked.txt");
        assert_ne!(locked, event, "{client}/{name} has another file");
        let answer = project.hook_bytes(&[], locked.as_bytes());
        assert_shown!(format!("clients-written-{client}-{name}"), project.whole(&answer));
        let other = project.hook_bytes(&[], event.as_bytes());
        assert!(other.is_silent(), "{client}: {}", other.whole());
    }
}

#[test]
fn a_turn_is_kept_from_ending_where_the_client_can() {
    for (client, name) in STOPS {
        let project = guarded_project();
        let event = recorded(&project, client, name);
        let answer = project.hook_bytes(&[], event.as_bytes());
        assert_shown!(format!("clients-held-{client}-{name}"), project.whole(&answer));
    }
}
