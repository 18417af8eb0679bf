//! `phase-records`: what guards note is written once, and nothing is lost.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;

use serde_json::{Value, json};

use crate::gate::{demanding, demands_of, tests_and_articles};
use crate::{Flow, begun};

fn start(flow: &Flow, event: &Value) -> Child {
    let mut child = flow.project.command(&["--pack", "phases"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    child
}

fn all_end_well(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

/// An agent of the phase has worked, and shown the menu.
fn answered(flow: &Flow) -> Value {
    let mut event = flow.project.event("PostToolUse.Agent.completed");
    event["tool_input"]["subagent_type"] = json!("requirements-analyst");
    event["tool_response"]["content"] =
        json!([{"type": "text", "text": "[A] Adjust\n[C] Continue\nYour choice:"}]);
    event
}

fn tested(flow: &Flow) -> Value {
    let mut event = flow.call("PostToolUseFailure.Bash", &json!({"command": "npm test"}));
    event["error"] = json!("Exit code 1\nError: x");
    event
}

/// A workflow in the requirements phase, whose tests may fail as often as they like.
fn busy() -> Flow {
    let flow = Flow::new();
    let tests = json!({"test_iteration": {"enabled": true, "max_iterations": 9999, "circuit_breaker_threshold": 9999}});
    demands_of(&flow, &json!({"phase_requirements": {"01-requirements": tests}}));
    let text = "{\n  \"zeta\": 12345678901234567890.10,\n  \"odd\" : {\"b\":1.0,  \"a\":[ 1,2 ]},\n  \
        \"active_workflow\": {\"type\": \"feature\", \"current_phase\": \"01-requirements\"},\n  \"phases\": \
        {\"02-tracing\": {\"x\":  1.50}},\n  \"last\": \"\\u00e9\"\n}\n";
    fs::write(flow.state_file(), text).unwrap();
    flow
}

fn counts(flow: &Flow) -> (usize, u64, u64) {
    let state = flow.state_now();
    let of_phase = &state["phases"]["01-requirements"]["iteration_requirements"];
    (
        state["skill_usage_log"].as_array().map_or(0, Vec::len),
        of_phase["interactive_elicitation"]["menu_interactions"].as_u64().unwrap_or(0),
        of_phase["test_iteration"]["current_iteration"].as_u64().unwrap_or(0),
    )
}

/// Nine of forty lost an update once.
#[test]
fn processes_that_write_at_once_lose_nothing() {
    let flow = busy();
    let (agent, tests) = (answered(&flow), tested(&flow));
    for _ in 0..40 {
        all_end_well(vec![start(&flow, &agent), start(&flow, &tests)]);
    }
    assert_eq!(counts(&flow), (40, 40, 40));
    let sixteen = (0..16).map(|number| start(&flow, if number % 2 == 0 { &agent } else { &tests }));
    all_end_well(sixteen.collect());
    assert_eq!(counts(&flow), (48, 48, 48));
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
    let flow = busy();
    let answer = flow.project.hook_with(&["--pack", "phases"], &answered(&flow));
    assert_eq!(answer.code, Some(0));
    assert_eq!(counts(&flow), (1, 1, 0));
    let written = flow.project.journal_text().matches("kept in the state").count();
    assert_eq!(written, 1);
}

#[test]
fn in_a_repository_of_several_the_project_that_is_meant_is_written() {
    let flow = busy();
    let root = fs::read_to_string(flow.state_file()).unwrap();
    flow.project.file(".isdlc/monorepo.json", "{\"default_project\": \"web\", \"projects\": {}}");
    let web = flow.project.file(".isdlc/projects/web/state.json", &root);
    flow.project.hook_with(&["--pack", "phases"], &answered(&flow));
    assert_eq!(fs::read_to_string(flow.state_file()).unwrap(), root);
    let state: Value = serde_json::from_str(&fs::read_to_string(web).unwrap()).unwrap();
    assert_eq!(state["skill_usage_log"][0]["agent"], "requirements-analyst");
}

#[test]
fn what_is_no_state_is_left_untouched() {
    let flow = busy();
    let event = answered(&flow);
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
    let flow = busy();
    let text = fs::read_to_string(flow.state_file()).unwrap();
    fs::remove_file(flow.state_file()).unwrap();
    let mine = flow.project.home_file("mine.json", &text);
    std::os::unix::fs::symlink(&mine, flow.state_file()).unwrap();
    let answer = flow.project.hook_with(&["--pack", "phases"], &answered(&flow));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), text, "a file of the person's own");
    assert!(flow.project.journal_text().contains("is no state of a workflow"));
    // Two working trees may share one.
    fs::remove_file(flow.state_file()).unwrap();
    let shared = flow.project.home_file("tree/.isdlc/state.json", &text);
    std::os::unix::fs::symlink(&shared, flow.state_file()).unwrap();
    flow.project.hook_with(&["--pack", "phases"], &answered(&flow));
    assert_eq!(counts(&flow), (1, 1, 0));
    assert!(flow.state_file().is_symlink() && shared.is_file());
}

#[test]
fn what_cannot_be_written_holds_nobody() {
    let flow = demanding("06-implementation", &tests_and_articles());
    let folder = flow.project.path.join(".isdlc");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let is_refused = fs::write(folder.join("x"), "").is_err();
    let before = fs::read_to_string(flow.state_file()).unwrap();
    let mut event = answered(&flow);
    event["tool_input"]["subagent_type"] = json!("software-developer");
    let answer = flow.project.hook_with(&["--pack", "phases"], &event);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(answer.code, Some(0), "{answer:?}");
    // Root may write everywhere.
    if is_refused {
        assert_eq!(fs::read_to_string(flow.state_file()).unwrap(), before);
        assert!(flow.project.journal_text().contains("phase-records"), "the journal keeps the fault");
    }
}

/// The same where not even a lock can be had, which holds for root too.
#[test]
fn what_cannot_be_locked_holds_nobody() {
    let flow = busy();
    let before = fs::read_to_string(flow.state_file()).unwrap();
    flow.project.home_file(".local/state/provost/locks", "in the way");
    let answer = flow.project.hook_with(&["--pack", "phases"], &answered(&flow));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(fs::read_to_string(flow.state_file()).unwrap(), before);
    let journal = flow.project.journal();
    assert!(journal.iter().any(|entry| entry.to_string().contains("phase-records")), "{journal:?}");
}

/// A gate that is held again and again is one matter for a person, and so are the last twenty of them.
#[test]
fn escalations_are_neither_a_flood_nor_lost() {
    let flow = demanding("06-implementation", &tests_and_articles());
    let event = flow.delegating("sdlc-orchestrator", "advance");
    for _ in 0..3 {
        assert!(flow.judged("gate-blocker", &event).is_some());
    }
    assert_eq!(flow.state_now()["pending_escalations"].as_array().unwrap().len(), 1);
    let mut state = begun("06-implementation");
    let mut old = flow.state_now()["pending_escalations"][0].clone();
    old["timestamp"] = json!("2026-01-01T00:00:00Z");
    state["pending_escalations"] = json!(vec![old; 30]);
    flow.state(&state);
    flow.judged("gate-blocker", &event);
    let now = flow.state_now();
    let list = now["pending_escalations"].as_array().unwrap();
    assert_eq!(list.len(), 20);
    assert_ne!(list[19]["timestamp"], "2026-01-01T00:00:00Z", "the same of another day is another");
    state["pending_escalations"] = json!("mine");
    flow.state(&state);
    assert!(flow.judged("gate-blocker", &event).is_some());
    assert_eq!(flow.state_now()["pending_escalations"], "mine");
}
