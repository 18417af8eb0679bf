//! The plugin `isdlc`: its hooks, its command, and its script on a machine with and without the program.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{Machine, RULE_TIME, asks, frontmatter, isdlc, one_command_for_each_event, text};

const PHASES: &[&str] = &["hook", "--pack", "phases"];

#[test]
fn the_hooks_of_the_phases_are_one_command_for_each_event() {
    let work = asks(&["rules", "workflow", "phases"]);
    let own = asks(&["self", "rules", "workflow"]);
    let expected = [
        ("PreToolUse", json!("*"), asks(&["self", "rules", "workflow", "phases"])),
        ("PostToolUse", json!("*"), work.clone()),
        ("PostToolUseFailure", json!("Bash"), work.clone()),
        ("SubagentStop", Value::Null, work.clone()),
        ("Stop", Value::Null, work),
        ("UserPromptSubmit", Value::Null, own.clone()),
        ("SessionStart", Value::Null, own),
        ("ConfigChange", Value::Null, asks(&["self"])),
    ];
    one_command_for_each_event(&isdlc(), &expected, |event, entry| {
        let is_short = ["UserPromptSubmit", "SessionStart", "ConfigChange"].contains(&event);
        assert_eq!(entry["timeout"], if is_short { 10 } else { RULE_TIME }, "{event}");
    });
}

#[test]
fn without_the_program_a_user_with_a_workflow_is_warned() {
    let machine = Machine::without_provost().of(isdlc());
    machine.project.write_file(".isdlc/state.json", "{}");
    for name in ["Stop.active_false", "Stop.active_true", "SessionStart.startup"] {
        let answer = machine.run("provost.sh", PHASES, &machine.project.recorded_event(name));
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
        let told = answer.json();
        assert_eq!(told.len(), 1, "nothing is held: {told:?}");
        let told = told["systemMessage"].as_str().unwrap();
        assert!(told.contains("no program `provost`") && told.contains("To fix: "), "{told}");
        assert!(told.contains("disable the plugin"), "no way out: {told}");
    }
    let mut events: Vec<Value> =
        ["PreToolUse.Bash", "PreToolUse.Agent", "PreToolUse.Write", "UserPromptSubmit", "ConfigChange"]
            .map(|name| machine.project.recorded_event(name))
            .into();
    events.push(machine.project.bash(r#"echo '{"hook_event_name":"Stop"}'"#));
    for event in events {
        let answer = machine.run("provost.sh", PHASES, &event);
        assert!(answer.is_silent(), "{event}: {answer:?}");
    }
    fs::remove_dir_all(machine.project.path.join(".isdlc")).unwrap();
    let answer = machine.run("provost.sh", PHASES, &machine.project.recorded_event("Stop.active_false"));
    assert!(answer.is_silent(), "without a workflow: {answer:?}");
}

#[test]
fn the_script_of_the_phases_asks_the_program_and_passes_everything_on() {
    for place in ["programs/provost", ".cargo/bin/provost", ".local/bin/provost"] {
        let machine = Machine::without_provost().of(isdlc()).install_echo(place);
        let answer = machine.run_on("provost.sh", PHASES, "{\"any\": 1}\n\n");
        assert_eq!(answer.stdout, "hook --pack phases\n{\"any\": 1}\n\n");
        assert_eq!(answer.code, Some(2));
    }
}

/// If the command failed, the client would drop the whole prompt.
#[test]
fn the_prompt_contains_the_state_of_the_workflow() {
    let page = isdlc().join("commands/status.md");
    assert_eq!(frontmatter(&page)["allowed-tools"], "Bash(provost phases status:*)");
    let text = text(page);
    let injections: Vec<&str> = text.lines().filter(|line| line.contains("!`")).collect();
    assert_eq!(injections.len(), 1, "{injections:?}");
    let line = injections[0].strip_prefix("!`").and_then(|line| line.strip_suffix('`')).unwrap();
    assert!(
        line.starts_with("provost phases status || echo \"") && !line.contains(['`', '$', '\'']),
        "{line}"
    );
    let run = |machine: &Machine| {
        let output = Command::new("/bin/bash")
            .args(["-c", line])
            .env_clear()
            .env("PATH", &machine.programs)
            .env("HOME", &machine.project.home)
            .current_dir(&machine.project.path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let machine = Machine::without_provost().of(isdlc());
    let otherwise = "(No status from Provost: ";
    assert!(run(&machine).starts_with(otherwise));
    let machine = machine.install("programs/provost");
    assert!(run(&machine).contains(otherwise), "there is no workflow");
    machine
        .project
        .write_file(".isdlc/state.json", r#"{"active_workflow": {"current_phase": "07-testing"}}"#);
    let told = run(&machine);
    assert!(told.contains("> 07-testing  not begun\n") && !told.contains(otherwise), "{told}");
}
