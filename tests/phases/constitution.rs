//! `constitution-validator`.

use serde_json::json;

use crate::begun;
use crate::gate::{demanding, heard, tests_and_articles, with_phase};

const GUARD: &str = "constitution-validator";
const PHASE: &str = "06-implementation";

#[test]
fn a_phase_is_complete_only_after_the_check() {
    let flow = demanding(PHASE, &tests_and_articles());
    let event = flow.delegating("sdlc-orchestrator", "The phase is complete");
    let reason = flow.judged(GUARD, &event).unwrap();
    let what = "[provost] agent `sdlc-orchestrator` denied: the constitution check of `06-implementation` is not started.";
    assert!(reason.starts_with(what), "{reason}");
    assert!(reason.contains("(PHASE COMPLETION BLOCKED: Constitutional validation required."), "{reason}");
    for part in ["Articles [I, II]", "remaining tries: 5", PHASE] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    let state = flow.state_now();
    let record = &state["phases"][PHASE]["constitutional_validation"];
    assert_eq!(
        (&record["completed"], &record["status"], &record["iterations_used"], &record["max_iterations"]),
        (&json!(false), &json!("pending"), &json!(0), &json!(5))
    );
    assert_eq!(record["articles_required"], json!(["I", "II"]));
    assert_eq!(state["phases"][PHASE]["status"], "in_progress");
    assert_eq!(state["pending_escalations"][0]["hook"], GUARD);
}

#[test]
fn how_far_the_check_is_is_told() {
    let flow = demanding(PHASE, &tests_and_articles());
    for (record, status) in [
        (json!({"completed": false, "status": "pending", "iterations_used": 2}), "Status: in_progress"),
        (json!({"completed": true, "status": "escalated"}), "Status: escalated_pending"),
        (json!({"completed": true, "status": "violations"}), "Status: unknown"),
        (json!({"completed": true, "status": "compliant"}), ""),
        (json!({"status": "escalated", "escalation_approved": true}), ""),
        (json!("done"), "Status: not_started"),
    ] {
        with_phase(&flow, PHASE, &json!({"constitutional_validation": record}));
        let reason = flow.judged(GUARD, &flow.delegating("sdlc-orchestrator", "phase 06 complete"));
        assert_eq!(reason.is_some(), !status.is_empty(), "{record}");
        assert!(reason.is_none_or(|reason| reason.contains(status)), "{record}");
        let now = &flow.state_now()["phases"][PHASE]["constitutional_validation"];
        assert_eq!(*now, record, "what is there stays");
    }
}

#[test]
fn only_words_that_complete_a_phase_are_held() {
    let flow = demanding(PHASE, &tests_and_articles());
    for (agent, prompt, held) in [
        ("sdlc-orchestrator", "complete the login page", false),
        ("sdlc-orchestrator", "The phase has been completed", true),
        ("sdlc-orchestrator", "phase 06 is now complete", true),
        ("sdlc-orchestrator", "The implementation is now fully complete", true),
        ("sdlc-orchestrator", "The phase has not been completed", false),
        ("sdlc-orchestrator", "discover what is done", false),
        ("sdlc-orchestrator", "set up and install, mark as complete", false),
        ("software-developer", "implementation complete, submit for review", false),
        ("discover-orchestrator", "phase complete", false),
        ("sdlc-orchestrator", "mark as complete", true),
        ("qa-engineer", "implementation is complete", true),
        ("sdlc-orchestrator", "ready for the gate", true),
        ("sdlc-orchestrator", "finalize artifacts", true),
        // The word "constitution" once switched the guard off.
        ("sdlc-orchestrator", "the constitution is fine, phase complete", true),
        ("sdlc-orchestrator", "initial status: phase 06 is done", true),
    ] {
        let reason = flow.judged(GUARD, &flow.delegating(agent, prompt));
        assert_eq!(reason.is_some(), held, "{agent}: {prompt}: {reason:?}");
    }
    assert!(flow.judged(GUARD, &flow.telling("phase complete")).is_some());
}

#[test]
fn the_workflow_knows_its_phase_best() {
    let flow = demanding(PHASE, &tests_and_articles());
    let event = flow.delegating("sdlc-orchestrator", "phase complete");
    let mut state = begun("08-code-review");
    state["current_phase"] = json!(PHASE);
    flow.state(&state);
    assert_eq!(flow.judged(GUARD, &event), None);
    let mut state = begun(PHASE);
    state["current_phase"] = json!("08-code-review");
    flow.state(&state);
    assert!(flow.judged(GUARD, &event).is_some());
    state["iteration_enforcement"] = json!({"enabled": false});
    flow.state(&state);
    assert_eq!(flow.judged(GUARD, &event), None, "switched off");
    for odd in ["null", "nonsense", "{\"active_workflow\": [], \"phases\": 5}"] {
        flow.project.file(".isdlc/state.json", odd);
        assert_eq!(flow.judged(GUARD, &event), None, "{odd}");
    }
}

/// 004 ADR-004: it sets up tracking for the phase that work is handed to.
#[test]
fn an_ordinary_delegation_begins_the_record() {
    let flow = demanding(PHASE, &tests_and_articles());
    let record = || flow.state_now()["phases"][PHASE]["constitutional_validation"].clone();
    for event in [
        flow.delegating("general-purpose", "look for the parser"),
        flow.delegating("qa-engineer", "review it"),
        flow.delegating("discover-orchestrator", "look"),
        flow.call("PreToolUse.Bash", &json!({"command": "ls"})),
    ] {
        assert!(heard(&flow, GUARD, &event).is_silent());
        assert!(record().is_null(), "{event}");
    }
    assert!(heard(&flow, GUARD, &flow.delegating("software-developer", "write it")).is_silent());
    let begun_record = record();
    assert_eq!((&begun_record["status"], &begun_record["iterations_used"]), (&json!("pending"), &json!(0)));
    assert_eq!(begun_record["articles_required"], json!(["I", "II"]));
    let mut state = flow.state_now();
    state["phases"][PHASE]["constitutional_validation"] = json!({"completed": true, "mine": 1});
    flow.state(&state);
    heard(&flow, GUARD, &flow.delegating("software-developer", "write it"));
    assert_eq!(flow.state_now(), state, "what is there stays");
    flow.state(&begun("01-requirements"));
    heard(&flow, GUARD, &flow.delegating("requirements-analyst", "ask"));
    assert_eq!(flow.state_now(), begun("01-requirements"), "a phase without such a demand");
}

/// The phase of the work is known without a manifest, without a workflow and without the name of an agent.
#[test]
fn a_delegation_that_names_less_begins_the_record_too() {
    let flow = demanding(PHASE, &tests_and_articles());
    let began = |event: &serde_json::Value, state: &serde_json::Value| {
        flow.state(state);
        assert!(heard(&flow, GUARD, event).is_silent(), "{event}");
        flow.state_now()["phases"][PHASE]["constitutional_validation"]["status"] == "pending"
    };
    assert!(began(&flow.telling("write the login form"), &begun(PHASE)), "no agent");
    assert!(!began(&flow.telling("configure the project"), &begun(PHASE)), "set up");
    let alone = json!({"current_phase": PHASE, "phases": {}});
    assert!(began(&flow.delegating("software-developer", "write it"), &alone), "no workflow");
    assert!(!began(&flow.delegating("sdlc-orchestrator", "lead"), &begun(PHASE)), "whoever leads");
    flow.without_manifest();
    assert!(began(&flow.delegating("software-developer", "write it"), &begun(PHASE)), "no manifest");
    for agent in ["general-purpose", "discover-orchestrator", "sdlc-orchestrator"] {
        assert!(!began(&flow.delegating(agent, "write it"), &begun(PHASE)), "{agent}");
    }
}
