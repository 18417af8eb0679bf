//! `phase-records`: the changes of all guards are written once, and nothing is lost.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;

use serde_json::{Value, json};

use super::gate_blocker::{test_and_article_requirements, workflow_with_requirements, write_requirements};
use super::{WorkflowProject, started_workflow};

fn start(flow: &WorkflowProject, event: &Value) -> Child {
    let mut child = flow.project.command(&["--pack", "phases"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    child
}

fn assert_all_succeed(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

/// An event for an agent of the phase that has worked and shown the menu.
fn menu_reply(flow: &WorkflowProject) -> Value {
    let mut event = flow.project.recorded_event("PostToolUse.Agent.completed");
    event["tool_input"]["subagent_type"] = json!("requirements-analyst");
    event["tool_response"]["content"] =
        json!([{"type": "text", "text": "[A] Adjust\n[C] Continue\nYour choice:"}]);
    event
}

fn failed_test_run(flow: &WorkflowProject) -> Value {
    let mut event = flow.call("PostToolUseFailure.Bash", &json!({"command": "npm test"}));
    event["error"] = json!("Exit code 1\nError: x");
    event
}

/// A workflow in the requirements phase, whose tests may fail without limit.
fn workflow_with_tests() -> WorkflowProject {
    let flow = WorkflowProject::new();
    let tests = json!({"test_iteration": {"enabled": true, "max_iterations": 9999, "circuit_breaker_threshold": 9999}});
    write_requirements(&flow, &json!({"phase_requirements": {"01-requirements": tests}}));
    let text = "{\n  \"zeta\": 12345678901234567890.10,\n  \"odd\" : {\"b\":1.0,  \"a\":[ 1,2 ]},\n  \
        \"active_workflow\": {\"type\": \"feature\", \"current_phase\": \"01-requirements\"},\n  \"phases\": \
        {\"02-tracing\": {\"x\":  1.50}},\n  \"last\": \"\\u00e9\"\n}\n";
    fs::write(flow.state_file(), text).unwrap();
    flow
}

fn read_counts(flow: &WorkflowProject) -> (usize, u64, u64) {
    let state = flow.read_state();
    let of_phase = &state["phases"]["01-requirements"]["iteration_requirements"];
    (
        state["skill_usage_log"].as_array().map_or(0, Vec::len),
        of_phase["interactive_elicitation"]["menu_interactions"].as_u64().unwrap_or(0),
        of_phase["test_iteration"]["current_iteration"].as_u64().unwrap_or(0),
    )
}

/// Nine of forty processes lost an update once.
#[test]
fn processes_that_write_at_once_lose_nothing() {
    let flow = workflow_with_tests();
    let (agent, tests) = (menu_reply(&flow), failed_test_run(&flow));
    for _ in 0..40 {
        assert_all_succeed(vec![start(&flow, &agent), start(&flow, &tests)]);
    }
    assert_eq!(read_counts(&flow), (40, 40, 40));
    let sixteen = (0..16).map(|number| start(&flow, if number % 2 == 0 { &agent } else { &tests }));
    assert_all_succeed(sixteen.collect());
    assert_eq!(read_counts(&flow), (48, 48, 48));
    let files: Vec<_> = fs::read_dir(flow.state_file().parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(files, ["state.json"], "nothing else is left");
    let text = fs::read_to_string(flow.state_file()).unwrap();
    for untouched in [
        "\n  \"zeta\": 12345678901234567890.10,",
        "{\"b\":1.0,  \"a\":[ 1,2 ]}",
        "{\"x\":  1.50}",
        "\"last\": \"\\u00e9\"",
        "{\"type\": \"feature\", \"current_phase\": \"01-requirements\"}",
    ] {
        assert!(text.contains(untouched), "{untouched} in {text}");
    }
}

#[test]
fn two_guards_write_once() {
    let flow = workflow_with_tests();
    let answer = flow.project.hook_with(&["--pack", "phases"], &menu_reply(&flow));
    assert_eq!(answer.code, Some(0));
    assert_eq!(read_counts(&flow), (1, 1, 0));
    let written = flow.project.read_journal_text().matches("kept in the state").count();
    assert_eq!(written, 1);
}

#[test]
fn in_a_repository_of_several_projects_the_right_state_is_written() {
    let flow = workflow_with_tests();
    let root = fs::read_to_string(flow.state_file()).unwrap();
    flow.project.write_file(".isdlc/monorepo.json", "{\"default_project\": \"web\", \"projects\": {}}");
    let web = flow.project.write_file(".isdlc/projects/web/state.json", &root);
    flow.project.hook_with(&["--pack", "phases"], &menu_reply(&flow));
    assert_eq!(fs::read_to_string(flow.state_file()).unwrap(), root);
    let state: Value = serde_json::from_str(&fs::read_to_string(web).unwrap()).unwrap();
    assert_eq!(state["skill_usage_log"][0]["agent"], "requirements-analyst");
}

#[test]
fn a_file_that_is_not_a_state_stays_as_it_is() {
    let flow = workflow_with_tests();
    let event = menu_reply(&flow);
    for text in ["", "nonsense", "{\"active_workflow\": {", "[1]", "null", "{} {}"] {
        fs::write(flow.state_file(), text).unwrap();
        let answer = flow.project.hook_with(&["--pack", "phases"], &event);
        assert!(answer.is_silent(), "{text}: {answer:?}");
        assert_eq!(fs::read_to_string(flow.state_file()).unwrap(), text);
    }
    fs::remove_file(flow.state_file()).unwrap();
    assert!(flow.project.hook_with(&["--pack", "phases"], &event).is_silent());
    assert!(!flow.state_file().exists(), "no state is made");
}

#[test]
fn a_link_leads_only_to_another_state() {
    let flow = workflow_with_tests();
    let text = fs::read_to_string(flow.state_file()).unwrap();
    fs::remove_file(flow.state_file()).unwrap();
    let mine = flow.project.write_home_file("mine.json", &text);
    std::os::unix::fs::symlink(&mine, flow.state_file()).unwrap();
    let answer = flow.project.hook_with(&["--pack", "phases"], &menu_reply(&flow));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), text, "a file of the person's own");
    assert!(flow.project.read_journal_text().contains("is not the state of a workflow"));
    // Two working trees may share one.
    fs::remove_file(flow.state_file()).unwrap();
    let shared = flow.project.write_home_file("tree/.isdlc/state.json", &text);
    std::os::unix::fs::symlink(&shared, flow.state_file()).unwrap();
    flow.project.hook_with(&["--pack", "phases"], &menu_reply(&flow));
    assert_eq!(read_counts(&flow), (1, 1, 0));
    assert!(flow.state_file().is_symlink() && shared.is_file());
}

#[test]
fn a_state_that_cannot_be_written_blocks_nothing() {
    let flow = workflow_with_requirements("06-implementation", &test_and_article_requirements());
    let folder = flow.project.path.join(".isdlc");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let is_refused = fs::write(folder.join("x"), "").is_err();
    let before = fs::read_to_string(flow.state_file()).unwrap();
    let mut event = menu_reply(&flow);
    event["tool_input"]["subagent_type"] = json!("software-developer");
    let answer = flow.project.hook_with(&["--pack", "phases"], &event);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    // Root can write everywhere.
    if is_refused {
        assert_eq!(fs::read_to_string(flow.state_file()).unwrap(), before);
        assert!(flow.project.read_journal_text().contains("phase-records"), "the journal keeps the fault");
    }
}

/// Without a lock nothing is written, not even by root.
#[test]
fn a_state_that_cannot_be_locked_blocks_nothing() {
    let flow = workflow_with_tests();
    let before = fs::read_to_string(flow.state_file()).unwrap();
    flow.project.write_home_file(".local/state/provost/locks", "in the way");
    let answer = flow.project.hook_with(&["--pack", "phases"], &menu_reply(&flow));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(fs::read_to_string(flow.state_file()).unwrap(), before);
    let journal = flow.project.read_journal();
    assert!(journal.iter().any(|entry| entry.to_string().contains("phase-records")), "{journal:?}");
}

/// A gate that is blocked again and again is one entry, and the list has at most twenty.
#[test]
fn escalations_are_neither_a_flood_nor_lost() {
    let flow = workflow_with_requirements("06-implementation", &test_and_article_requirements());
    let event = flow.delegation("sdlc-orchestrator", "advance");
    for _ in 0..3 {
        assert!(flow.find_denial("gate-blocker", &event).is_some());
    }
    assert_eq!(flow.read_state()["pending_escalations"].as_array().unwrap().len(), 1);
    let mut state = started_workflow("06-implementation");
    let mut old = flow.read_state()["pending_escalations"][0].clone();
    old["timestamp"] = json!("2026-01-01T00:00:00Z");
    state["pending_escalations"] = json!(vec![old; 30]);
    flow.write_state(&state);
    flow.find_denial("gate-blocker", &event);
    let now = flow.read_state();
    let list = now["pending_escalations"].as_array().unwrap();
    assert_eq!(list.len(), 20);
    assert_ne!(list[19]["timestamp"], "2026-01-01T00:00:00Z", "the same of another day is another");
    state["pending_escalations"] = json!("mine");
    flow.write_state(&state);
    assert!(flow.find_denial("gate-blocker", &event).is_some());
    assert_eq!(flow.read_state()["pending_escalations"], "mine");
}
