//! `delegation-gate`.

use std::process::Command;

use serde_json::{Value, json};

use crate::gate::{heard, skill};
use crate::{Flow, begun, denied};

const GUARD: &str = "delegation-gate";

/// A time as records tell it, so many minutes ago.
pub fn ago(minutes: u32) -> String {
    let when = format!("-{minutes} minutes");
    let output = Command::new("date").args(["-u", "-d", &when, "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn marked(flow: &Flow, marker: &Value, log: &Value) -> Value {
    let mut state = begun("06-implementation");
    state["pending_delegation"] = marker.clone();
    state["skill_usage_log"] = log.clone();
    flow.state(&state);
    state
}

fn marker(minutes: u32, session: &Value) -> Value {
    json!({"skill": "sdlc", "required_agent": "sdlc-orchestrator", "invoked_at": ago(minutes), "args": "",
        "session": session})
}

#[test]
fn a_turn_does_not_end_before_the_agent_worked() {
    let flow = Flow::in_phase("06-implementation");
    let used = skill(&flow, "PostToolUse.Read", "sdlc", "feature x");
    heard(&flow, "skill-delegation-enforcer", &used);
    let mut stop = flow.project.event("Stop.active_false");
    stop["session_id"] = used["session_id"].clone();
    let before = flow.state_now();
    // The script asks the configuration too, and the calls above left another guard on.
    let judged = || {
        flow.only(GUARD);
        flow.judged(GUARD, &stop)
    };
    let reason = judged().unwrap();
    assert!(reason.contains("DELEGATION REQUIRED") && reason.contains("`sdlc-orchestrator`"), "{reason}");
    assert_eq!(flow.state_now(), before);
    // Another agent, and one whose name only contains the other's, are not it.
    let work = |agent: &str| {
        let input = json!({"subagent_type": agent, "prompt": "p"});
        heard(&flow, "log-skill-usage", &flow.call("PostToolUse.Agent.async_launched", &input));
    };
    work("qa-engineer");
    work("my-sdlc-orchestrator-2");
    assert!(judged().is_some());
    work("isdlc:SDLC_Orchestrator");
    assert_eq!(judged(), None);
    assert_eq!(flow.state_now()["pending_delegation"], json!(null), "the marker is gone");
}

/// Held for ever, by another session, and by what was forgotten: each happened.
#[test]
fn a_turn_is_held_once_and_by_its_own_session() {
    let flow = Flow::in_phase("06-implementation");
    let stop = flow.project.event("Stop.active_false");
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
        let before = marked(&flow, &marker(minutes, &session), &json!([]));
        assert_eq!(flow.judged(GUARD, &stop).is_some(), held, "{minutes} {session}");
        assert_eq!(flow.state_now(), before, "what does not count is left alone");
    }
    marked(&flow, &marker(0, &own), &json!([]));
    let mut again = flow.project.event("Stop.active_true");
    again["session_id"] = own.clone();
    assert_eq!(flow.judged(GUARD, &again), None, "it was held already");
    let mut waiting = stop.clone();
    waiting["background_tasks"] = json!([{"id": "a", "type": "subagent", "status": "running"}]);
    assert_eq!(flow.judged(GUARD, &waiting), None, "an agent is at work");
    assert!(flow.judged(GUARD, &stop).is_some());
}

#[test]
fn work_before_the_skill_does_not_count() {
    let flow = Flow::in_phase("06-implementation");
    let stop = flow.project.event("Stop.active_false");
    let log = |minutes: u32| json!([null, 5, {"agent": 1}, {"agent": "sdlc-orchestrator", "timestamp": ago(minutes)}]);
    marked(&flow, &marker(5, &stop["session_id"]), &log(6));
    assert!(flow.judged(GUARD, &stop).is_some());
    marked(&flow, &marker(5, &stop["session_id"]), &log(4));
    assert_eq!(flow.judged(GUARD, &stop), None);
}

#[test]
fn markers_of_wrong_types_hold_nobody() {
    let flow = Flow::in_phase("06-implementation");
    let stop = flow.project.event("Stop.active_false");
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
        let before = marked(&flow, &odd, &json!("x"));
        assert_eq!(flow.judged(GUARD, &stop), None, "{odd}");
        assert_eq!(flow.state_now(), before);
    }
    marked(&flow, &change("skill", json!(5)), &json!({"a": 1}));
    assert!(flow.judged(GUARD, &stop).is_some(), "the neighbour is held");
    // A subagent's end is no end of the turn.
    let mut end = flow.project.event("SubagentStop.validator");
    end["session_id"] = stop["session_id"].clone();
    assert_eq!(denied(&heard(&flow, GUARD, &end)), None);
}
