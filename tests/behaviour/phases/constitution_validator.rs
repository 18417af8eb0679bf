//! `constitution-validator`.

use serde_json::json;

use super::gate_blocker::{
    run_guard, set_phase_record, test_and_article_requirements, workflow_with_requirements,
};
use super::started_workflow;
use crate::support::assert_shown;

const GUARD: &str = "constitution-validator";
const PHASE: &str = "06-implementation";

#[test]
fn a_phase_is_complete_only_after_the_check() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let event = flow.delegation("sdlc-orchestrator", "The phase is complete");
    let reason = flow.find_denial(GUARD, &event).unwrap();
    assert_shown!("phases-constitution-validator", reason);
    let state = flow.read_state();
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
fn the_denial_says_how_far_the_check_is() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    for (record, status) in [
        (json!({"completed": false, "status": "pending", "iterations_used": 2}), "Status: in_progress"),
        (json!({"completed": true, "status": "escalated"}), "Status: escalated_pending"),
        (json!({"completed": true, "status": "violations"}), "Status: unknown"),
        (json!({"completed": true, "status": "compliant"}), ""),
        (json!({"status": "escalated", "escalation_approved": true}), ""),
        (json!("done"), "Status: not_started"),
    ] {
        set_phase_record(&flow, PHASE, &json!({"constitutional_validation": record}));
        let reason = flow.find_denial(GUARD, &flow.delegation("sdlc-orchestrator", "phase 06 complete"));
        assert_eq!(reason.is_some(), !status.is_empty(), "{record}");
        assert!(reason.is_none_or(|reason| reason.contains(status)), "{record}");
        let now = &flow.read_state()["phases"][PHASE]["constitutional_validation"];
        assert_eq!(*now, record, "what is there stays");
    }
}

#[test]
fn only_words_that_complete_a_phase_are_denied() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
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
        let reason = flow.find_denial(GUARD, &flow.delegation(agent, prompt));
        assert_eq!(reason.is_some(), held, "{agent}: {prompt}: {reason:?}");
    }
    assert!(flow.find_denial(GUARD, &flow.prompt_without_agent("phase complete")).is_some());
}

#[test]
fn the_phase_of_the_workflow_wins_over_that_of_the_state() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let event = flow.delegation("sdlc-orchestrator", "phase complete");
    let mut state = started_workflow("08-code-review");
    state["current_phase"] = json!(PHASE);
    flow.write_state(&state);
    assert_eq!(flow.find_denial(GUARD, &event), None);
    let mut state = started_workflow(PHASE);
    state["current_phase"] = json!("08-code-review");
    flow.write_state(&state);
    assert!(flow.find_denial(GUARD, &event).is_some());
    state["iteration_enforcement"] = json!({"enabled": false});
    flow.write_state(&state);
    assert_eq!(flow.find_denial(GUARD, &event), None, "switched off");
    for odd in ["null", "nonsense", "{\"active_workflow\": [], \"phases\": 5}"] {
        flow.project.write_file(".isdlc/state.json", odd);
        assert_eq!(flow.find_denial(GUARD, &event), None, "{odd}");
    }
}

/// 004 ADR-004: it sets up tracking for the phase that gets work.
#[test]
fn an_ordinary_delegation_begins_the_record() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let record = || flow.read_state()["phases"][PHASE]["constitutional_validation"].clone();
    for event in [
        flow.delegation("general-purpose", "look for the parser"),
        flow.delegation("qa-engineer", "review it"),
        flow.delegation("discover-orchestrator", "look"),
        flow.call("PreToolUse.Bash", &json!({"command": "ls"})),
    ] {
        assert!(run_guard(&flow, GUARD, &event).is_silent());
        assert!(record().is_null(), "{event}");
    }
    assert!(run_guard(&flow, GUARD, &flow.delegation("software-developer", "write it")).is_silent());
    let begun_record = record();
    assert_eq!((&begun_record["status"], &begun_record["iterations_used"]), (&json!("pending"), &json!(0)));
    assert_eq!(begun_record["articles_required"], json!(["I", "II"]));
    let mut state = flow.read_state();
    state["phases"][PHASE]["constitutional_validation"] = json!({"completed": true, "mine": 1});
    flow.write_state(&state);
    run_guard(&flow, GUARD, &flow.delegation("software-developer", "write it"));
    assert_eq!(flow.read_state(), state, "what is there stays");
    flow.write_state(&started_workflow("01-requirements"));
    run_guard(&flow, GUARD, &flow.delegation("requirements-analyst", "ask"));
    assert_eq!(flow.read_state(), started_workflow("01-requirements"), "a phase without such a demand");
}

/// The phase is found without a manifest, without a workflow and without the name of an agent.
#[test]
fn a_delegation_that_names_less_begins_the_record_too() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let began = |event: &serde_json::Value, state: &serde_json::Value| {
        flow.write_state(state);
        assert!(run_guard(&flow, GUARD, event).is_silent(), "{event}");
        flow.read_state()["phases"][PHASE]["constitutional_validation"]["status"] == "pending"
    };
    assert!(began(&flow.prompt_without_agent("write the login form"), &started_workflow(PHASE)), "no agent");
    assert!(!began(&flow.prompt_without_agent("configure the project"), &started_workflow(PHASE)), "set up");
    let alone = json!({"current_phase": PHASE, "phases": {}});
    assert!(began(&flow.delegation("software-developer", "write it"), &alone), "no workflow");
    assert!(!began(&flow.delegation("sdlc-orchestrator", "lead"), &started_workflow(PHASE)), "whoever leads");
    flow.without_manifest();
    assert!(
        began(&flow.delegation("software-developer", "write it"), &started_workflow(PHASE)),
        "no manifest"
    );
    for agent in ["general-purpose", "discover-orchestrator", "sdlc-orchestrator"] {
        assert!(!began(&flow.delegation(agent, "write it"), &started_workflow(PHASE)), "{agent}");
    }
}
