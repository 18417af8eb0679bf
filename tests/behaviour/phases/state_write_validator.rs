//! `state-write-validator` after a change.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{WorkflowProject, read_denial, read_user_message};
use crate::support::assert_shown;

pub(super) const GUARD: &str = "state-write-validator";

/// A state with this record of a phase.
fn state_with(phase: &Value) -> Value {
    json!({"phases": {"01-requirements": phase}})
}

pub(super) fn validation_after(count: u32) -> Value {
    state_with(&json!({"constitutional_validation": {"completed": true, "iterations_used": count}}))
}

fn elicitation_after(count: u32) -> Value {
    let part = json!({"completed": true, "menu_interactions": count});
    state_with(&json!({"iteration_requirements": {"interactive_elicitation": part}}))
}

fn tests_after(count: u32) -> Value {
    let part = json!({"completed": true, "current_iteration": count});
    state_with(&json!({"iteration_requirements": {"test_iteration": part}}))
}

/// The event after a call.
pub(super) fn after_call(mut event: Value) -> Value {
    event["hook_event_name"] = "PostToolUse".into();
    event["tool_response"] = json!({});
    event
}

/// The warning after a write of this state.
fn find_warning(state: &Value) -> Option<String> {
    let flow = WorkflowProject::new();
    flow.write_state(state);
    let text = flow.find_warning(GUARD, &after_call(flow.project.write(flow.state_file(), "")));
    text.map(|text| flow.project.shorten_paths(&text))
}

/// Lines that only read the state. Some were denied once.
pub(super) const READING: &[&str] = &[
    "cat .isdlc/state.json",
    "cat .isdlc/state.json 2>/dev/null",
    "jq .phases .isdlc/state.json | head",
    "node -e \"console.log(JSON.parse(require('fs').readFileSync('.isdlc/state.json')).phases)\"",
    "grep -c completed .isdlc/state.json > /dev/null",
    "cp .isdlc/state.json /tmp/kept.json",
    "cat .isdlc/state.json > copy.json",
    "echo \"write .isdlc/state.json > x\"",
    "git diff .isdlc/state.json",
    "ls .isdlc",
];

#[test]
fn t01_a_write_to_the_state_is_recognized() {
    assert!(find_warning(&validation_after(0)).is_some());
}

#[test]
fn t02_a_write_to_the_state_of_one_of_several_projects_is_recognized() {
    let flow = WorkflowProject::new();
    let file = flow.project.write_file(".isdlc/projects/api/state.json", &validation_after(0).to_string());
    let text = flow.find_warning(GUARD, &after_call(flow.project.write(&file, ""))).unwrap();
    assert!(text.contains(".isdlc/projects/api/state.json"), "{text}");
}

#[test]
fn t03_a_faked_validation_causes_a_warning() {
    assert_shown!("phases-state-write-validator", find_warning(&validation_after(0)).unwrap());
    let missing = state_with(&json!({"constitutional_validation": {"completed": true}}));
    assert!(find_warning(&missing).unwrap().contains("iterations_used is undefined"));
    let null =
        state_with(&json!({"constitutional_validation": {"completed": true, "iterations_used": null}}));
    assert!(find_warning(&null).unwrap().contains("iterations_used is null"));
}

#[test]
fn t04_a_faked_elicitation_causes_a_warning() {
    let text = find_warning(&elicitation_after(0)).unwrap();
    assert!(text.contains("interactive_elicitation.completed is true but menu_interactions is 0"), "{text}");
}

#[test]
fn t05_a_faked_test_causes_a_warning() {
    let text = find_warning(&tests_after(0)).unwrap();
    assert!(text.contains("test_iteration.completed is true but current_iteration is 0"), "{text}");
}

#[test]
fn t06_a_real_validation_causes_no_warning() {
    assert_eq!(find_warning(&validation_after(1)), None);
}

#[test]
fn t07_a_real_elicitation_causes_no_warning() {
    assert_eq!(find_warning(&elicitation_after(3)), None);
}

#[test]
fn t08_a_real_test_causes_no_warning() {
    assert_eq!(find_warning(&tests_after(2)), None);
}

/// `Flow::warned` checks that the script prints nothing; only the user reads the hook's warning.
#[test]
fn t09_nothing_is_denied() {
    let flow = WorkflowProject::new();
    flow.write_state(&validation_after(0));
    let event = after_call(flow.project.write(flow.state_file(), ""));
    let answer = flow.enable_only(GUARD).hook_with(&["--pack", "phases"], &event);
    assert_eq!((read_denial(&answer), answer.code), (None, Some(0)));
    assert!(
        read_user_message(&answer).is_some() && !answer.stdout.contains("additionalContext"),
        "{answer:?}"
    );
}

#[test]
fn t10_other_files_cause_no_warning() {
    let flow = WorkflowProject::new();
    for name in
        ["state.json", "src/a.rs", ".isdlc/state.json.bak", ".isdlc/x/state.json", ".isdlc/other.json"]
    {
        let file = flow.project.write_file(name, &validation_after(0).to_string());
        assert_eq!(flow.find_warning(GUARD, &after_call(flow.project.write(&file, ""))), None, "{name}");
    }
}

#[test]
fn t11_a_state_that_cannot_be_read_claims_nothing() {
    let flow = WorkflowProject::new();
    let event = after_call(flow.project.write(flow.state_file(), ""));
    assert_eq!(flow.find_warning(GUARD, &event), None, "it vanished in between");
    for text in ["", "{", "null", "[]", "5", "{\"phases\": 5}", "\u{0}"] {
        flow.project.write_file(".isdlc/state.json", text);
        assert_eq!(flow.find_warning(GUARD, &event), None, "{text}");
    }
    fs::remove_file(flow.state_file()).unwrap();
    fs::create_dir(flow.state_file()).unwrap();
    assert_eq!(flow.find_warning(GUARD, &event), None);
}

#[test]
fn t12_input_that_is_not_an_event_is_allowed() {
    let flow = WorkflowProject::new();
    flow.write_state(&validation_after(0));
    for input in ["", "null", "[]", "{", "{\"tool_name\": 5}", "\u{0}"] {
        let answer = flow.project.run_compat(&[GUARD], input.as_bytes());
        assert_eq!((answer.code, &*answer.stdout, &*answer.stderr), (Some(0), "", ""), "{input}");
    }
}

#[test]
fn t13_both_kinds_of_slashes_are_accepted() {
    let flow = WorkflowProject::new();
    flow.write_state(&validation_after(0));
    flow.project.write_file(".isdlc/projects/api/state.json", &validation_after(0).to_string());
    let here = flow.project.path.display();
    for path in [format!("{here}/.isdlc\\state.json"), format!("{here}\\.isdlc\\projects\\api\\state.json")] {
        assert!(flow.find_warning(GUARD, &after_call(flow.project.write(&path, ""))).is_some(), "{path}");
    }
    assert_eq!(
        flow.find_warning(GUARD, &after_call(flow.project.write("C:\\x\\.isdlc\\state.json", ""))),
        None
    );
}

/// The test project checks the exit code of every call; a call before the write does not concern this script.
#[test]
fn t14_the_exit_code_is_0() {
    let flow = WorkflowProject::new();
    flow.write_settings("[phases]\nvalidate = \"before\"\n").write_state(&validation_after(0));
    for event in [
        flow.project.write(flow.state_file(), "x"),
        flow.project.bash("rm -rf .isdlc"),
        after_call(flow.project.bash("ls")),
    ] {
        let answer = flow.project.run_compat(&[GUARD], event.to_string().as_bytes());
        assert_eq!((answer.code, &*answer.stdout), (Some(0), ""), "{event}");
    }
}

#[test]
fn every_way_to_write_the_state_is_recognized() {
    let flow = WorkflowProject::new();
    flow.write_state(&validation_after(0));
    let file = flow.state_file();
    let project = &flow.project;
    project.write_file("tmp/state.json", "{}");
    let mut events = vec![
        project.write(&file, "{}"),
        project.write(".isdlc/../.isdlc/state.json", "{}"),
        project.edit(&file, "a", "b"),
        project.multi_edit(&file, &[("a", "b")]),
        project.notebook(&file),
        project.mcp(json!({"path": file})),
    ];
    for line in [
        "echo '{}' > .isdlc/state.json",
        "jq . x >> .isdlc/state.json",
        "echo '{}' | tee .isdlc/state.json",
        "cp x .isdlc/state.json",
        "mv tmp/state.json .isdlc/",
        "cp -t .isdlc tmp/state.json",
        "sed -i s/a/b/ .isdlc/state.json",
        "jq .x .isdlc/state.json > t && mv t .isdlc/state.json",
        "cd .isdlc && echo x > state.json",
        "sh -c 'echo x > .isdlc/state.json'",
        "dd if=x of=.isdlc/state.json",
        "cp -r x .isdlc",
    ] {
        events.push(project.bash(line));
    }
    for event in events {
        let text = flow.find_warning(GUARD, &after_call(event.clone()));
        let blocks = text.as_ref().map(|text| text.matches("WARNING").count());
        // A tree that is copied into a directory is beside the state.
        let wanted = if event["tool_input"]["command"] == "cp -r x .isdlc" { None } else { Some(1) };
        assert_eq!(blocks, wanted, "{event}");
    }
}

#[test]
fn reading_the_state_is_not_a_write() {
    let flow = WorkflowProject::new();
    flow.write_state(&validation_after(0));
    for line in READING {
        assert_eq!(flow.find_warning(GUARD, &after_call(flow.project.bash(line))), None, "{line}");
    }
}

#[test]
fn the_same_file_is_the_same_file() {
    let flow = WorkflowProject::new();
    flow.write_state(&validation_after(0));
    let (hard, soft) = (flow.project.path.join("hard"), flow.project.path.join("soft"));
    fs::hard_link(flow.state_file(), &hard).unwrap();
    symlink(flow.state_file(), &soft).unwrap();
    for path in [&hard, &soft] {
        assert!(flow.find_warning(GUARD, &after_call(flow.project.write(path, ""))).is_some(), "{path:?}");
    }
    fs::rename(flow.project.path.join(".isdlc"), flow.project.home.join("kept")).unwrap();
    symlink(flow.project.home.join("kept"), flow.project.path.join(".isdlc")).unwrap();
    let outside = flow.project.home.join("kept/state.json");
    for path in [&outside, &flow.state_file()] {
        assert!(flow.find_warning(GUARD, &after_call(flow.project.write(path, ""))).is_some(), "{path:?}");
    }
}

#[test]
fn many_findings_are_counted() {
    let fake = json!({"completed": true});
    let phases: serde_json::Map<String, Value> = (0..30)
        .map(|number| {
            (format!("{number:02}\n\u{1b}[2J{}", "x".repeat(500)), json!({"constitutional_validation": fake}))
        })
        .collect();
    let text = find_warning(&json!({"phases": phases})).unwrap();
    assert_eq!(text.matches("WARNING").count(), 10);
    assert!(text.ends_with("and 20 more") && text.lines().count() == 41, "{text}");
    assert!(text.len() < 5_000 && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn the_model_reads_the_warning_if_the_settings_say_so() {
    let flow = WorkflowProject::new();
    flow.write_settings("[phases]\nnotify = \"model\"\n").write_state(&validation_after(0));
    let event = after_call(flow.project.write(flow.state_file(), ""));
    let answer = flow.enable_only(GUARD).hook_with(&["--pack", "phases"], &event);
    assert!(answer.stdout.contains("additionalContext"), "{answer:?}");
}

#[test]
fn a_large_state_is_read() {
    let mut state = validation_after(0);
    state["log"] = json!("x".repeat(5 << 20));
    assert!(find_warning(&state).is_some());
}
