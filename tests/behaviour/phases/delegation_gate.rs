//! `delegation-gate`.

use std::process::Command;

use serde_json::{Value, json};

use super::gate_blocker::{run_guard, skill_event};
use super::{WorkflowProject, read_denial, started_workflow};
use crate::support::assert_shown;

const GUARD: &str = "delegation-gate";

/// The time so many minutes ago, in the form of the state.
pub fn minutes_ago(minutes: u32) -> String {
    let when = format!("-{minutes} minutes");
    let output = Command::new("date").args(["-u", "-d", &when, "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn write_marker(flow: &WorkflowProject, marker: &Value, log: &Value) -> Value {
    let mut state = started_workflow("06-implementation");
    state["pending_delegation"] = marker.clone();
    state["skill_usage_log"] = log.clone();
    flow.write_state(&state);
    state
}

fn marker(minutes: u32, session: &Value) -> Value {
    json!({"skill": "sdlc", "required_agent": "sdlc-orchestrator", "invoked_at": minutes_ago(minutes), "args": "",
        "session": session})
}

#[test]
fn a_turn_does_not_end_before_the_agent_has_worked() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let used = skill_event(&flow, "PostToolUse.Read", "sdlc", "feature x");
    run_guard(&flow, "skill-delegation-enforcer", &used);
    let mut stop = flow.project.recorded_event("Stop.active_false");
    stop["session_id"] = used["session_id"].clone();
    let before = flow.read_state();
    // The script reads the configuration too, and the calls above left another guard on.
    let judged = || {
        flow.enable_only(GUARD);
        flow.find_denial(GUARD, &stop)
    };
    let reason = judged().unwrap();
    assert_shown!("phases-delegation-gate", reason);
    assert_eq!(flow.read_state(), before);
    // Another agent does not count, nor does one whose name only contains the required one's.
    let work = |agent: &str| {
        let input = json!({"subagent_type": agent, "prompt": "p"});
        run_guard(&flow, "log-skill-usage", &flow.call("PostToolUse.Agent.async_launched", &input));
    };
    work("qa-engineer");
    work("my-sdlc-orchestrator-2");
    assert!(judged().is_some());
    work("isdlc:SDLC_Orchestrator");
    assert_eq!(judged(), None);
    assert_eq!(flow.read_state()["pending_delegation"], json!(null), "the marker is gone");
}

/// Turns were blocked for ever, by other sessions and by old markers: each happened.
#[test]
fn a_turn_is_blocked_once_and_only_in_its_own_session() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let stop = flow.project.recorded_event("Stop.active_false");
    let own = stop["session_id"].clone();
    for (minutes, session, held) in [
        (0, own.clone(), true),
        (59, own.clone(), true),
        (62, own.clone(), false),
        (60 * 24 * 9, own.clone(), false),
        (0, json!("another"), false),
        (0, json!(null), true),
        (62, json!(null), false),
    ] {
        let before = write_marker(&flow, &marker(minutes, &session), &json!([]));
        assert_eq!(flow.find_denial(GUARD, &stop).is_some(), held, "{minutes} {session}");
        assert_eq!(flow.read_state(), before, "what does not count is left alone");
    }
    write_marker(&flow, &marker(0, &own), &json!([]));
    let mut again = flow.project.recorded_event("Stop.active_true");
    again["session_id"] = own.clone();
    assert_eq!(flow.find_denial(GUARD, &again), None, "it was held already");
    let mut waiting = stop.clone();
    waiting["background_tasks"] = json!([{"id": "a", "type": "subagent", "status": "running"}]);
    assert_eq!(flow.find_denial(GUARD, &waiting), None, "an agent is at work");
    assert!(flow.find_denial(GUARD, &stop).is_some());
}

#[test]
fn work_before_the_skill_does_not_count() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let stop = flow.project.recorded_event("Stop.active_false");
    let log = |minutes: u32| json!([null, 5, {"agent": 1}, {"agent": "sdlc-orchestrator", "timestamp": minutes_ago(minutes)}]);
    write_marker(&flow, &marker(5, &stop["session_id"]), &log(6));
    assert!(flow.find_denial(GUARD, &stop).is_some());
    write_marker(&flow, &marker(5, &stop["session_id"]), &log(4));
    assert_eq!(flow.find_denial(GUARD, &stop), None);
}

#[test]
fn markers_of_wrong_types_block_nothing() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let stop = flow.project.recorded_event("Stop.active_false");
    let good = marker(0, &stop["session_id"]);
    let change = |name: &str, value: Value| {
        let mut marker = good.clone();
        marker[name] = value;
        marker
    };
    for odd in [
        json!(null),
        json!("x"),
        json!([]),
        json!({}),
        change("required_agent", json!(5)),
        change("required_agent", json!("")),
        change("invoked_at", json!("yesterday")),
        change("invoked_at", json!(5)),
    ] {
        let before = write_marker(&flow, &odd, &json!("x"));
        assert_eq!(flow.find_denial(GUARD, &stop), None, "{odd}");
        assert_eq!(flow.read_state(), before);
    }
    write_marker(&flow, &change("skill", json!(5)), &json!({"a": 1}));
    assert!(flow.find_denial(GUARD, &stop).is_some(), "the neighbour is held");
    // The end of a subagent is not the end of the turn.
    let mut end = flow.project.recorded_event("SubagentStop.validator");
    end["session_id"] = stop["session_id"].clone();
    assert_eq!(read_denial(&run_guard(&flow, GUARD, &end)), None);
}
