//! `phase-loop-controller`: work is delegated to a phase only after the phase is marked as begun.

use serde_json::{Value, json};

use super::delegation_detection::{EMPTY, MALFORMED, assert_silent};
use super::{WorkflowProject, started_workflow};
use crate::support::assert_shown;

const GUARD: &str = "phase-loop-controller";
const HEADLINE: &str = "PHASE DELEGATION WITHOUT PROGRESS TRACKING";

/// A workflow in this phase, with this status.
fn with_status(phase: &str, status: &Value) -> WorkflowProject {
    let flow = WorkflowProject::new();
    let mut state = started_workflow(phase);
    state["phases"] = json!({phase: {"status": status}});
    flow.write_state(&state);
    flow
}

fn pending() -> WorkflowProject {
    with_status("06-implementation", &json!("pending"))
}

fn is_denied(flow: &WorkflowProject, event: &Value) -> bool {
    let reason = flow.find_denial(GUARD, event);
    assert!(reason.as_ref().is_none_or(|reason| reason.contains(HEADLINE)), "{reason:?}");
    reason.is_some()
}

#[test]
fn t01_work_of_a_pending_phase_is_denied() {
    let flow = pending();
    let reason = flow.find_denial(GUARD, &flow.delegation("software-developer", "implement it")).unwrap();
    assert_shown!("phases-phase-loop-controller", flow.project.shorten_paths(&reason));
    for status in
        [json!("blocked"), json!("IN_PROGRESS"), json!(""), json!(null), json!(1), json!(true), json!({})]
    {
        let flow = with_status("06-implementation", &status);
        assert!(is_denied(&flow, &flow.delegation("software-developer", "go")), "{status}");
    }
}

#[test]
fn t02_work_of_a_phase_without_a_status_is_denied() {
    for phases in
        [json!({}), json!(null), json!([]), json!("x"), json!({"01-requirements": {"status": "in_progress"}})]
    {
        let flow = WorkflowProject::new();
        let mut state = started_workflow("06-implementation");
        state["phases"] = phases.clone();
        flow.write_state(&state);
        let reason = flow.find_denial(GUARD, &flow.delegation("software-developer", "go")).unwrap();
        assert_shown!("phases-phase-loop-controller-no-status", flow.project.shorten_paths(&reason));
    }
}

#[test]
fn t03_work_of_a_phase_in_progress_is_allowed() {
    for (status, held) in [("in_progress", false), ("completed", false), ("pending", true)] {
        let flow = with_status("06-implementation", &json!(status));
        assert_eq!(is_denied(&flow, &flow.delegation("software-developer", "go")), held, "{status}");
    }
}

#[test]
fn t04_other_work_is_allowed() {
    let flow = pending();
    for event in [
        flow.delegation("general-purpose", "find the parser for 06-implementation"),
        flow.delegation("Explore", "what does the software-developer do?"),
        flow.delegation("sdlc-orchestrator", "go on with 06-implementation"),
        flow.prompt_without_agent("look for the parser"),
        flow.call("PreToolUse.Bash", &json!({"command": "echo 06-implementation"})),
    ] {
        assert!(!is_denied(&flow, &event), "{event}");
    }
    assert!(is_denied(&flow, &flow.prompt_without_agent("go on with 06-implementation")));
}

#[test]
fn t05_without_a_workflow_nothing_is_denied() {
    let flow = pending();
    let event = flow.delegation("software-developer", "go");
    assert!(is_denied(&flow, &event));
    for workflow in
        [json!(null), json!([]), json!("feature"), json!(true), json!({}), json!({"current_phase": 6})]
    {
        let mut state = started_workflow("06-implementation");
        state["active_workflow"] = workflow.clone();
        state["phases"] = json!({});
        // The phase outside the workflow does not count.
        state["current_phase"] = json!("06-implementation");
        flow.write_state(&state);
        assert!(!is_denied(&flow, &event), "{workflow}");
    }
}

#[test]
fn t06_without_a_state_nothing_is_denied() {
    let flow = WorkflowProject::new();
    let event = flow.delegation("software-developer", "go");
    assert!(!is_denied(&flow, &event));
    let mut state = started_workflow("06-implementation");
    state["phases"] = json!({});
    assert!(is_denied(flow.write_state(&state), &event));
}

#[test]
fn t07_with_a_state_that_is_not_json_nothing_is_denied() {
    let flow = pending();
    let event = flow.delegation("software-developer", "go");
    let whole = flow.read_state().to_string();
    for text in ["", "{", "null", "[]", "5", &whole[..whole.len() - 1]] {
        flow.project.write_file(".isdlc/state.json", text);
        assert!(!is_denied(&flow, &event), "{text}");
    }
    flow.project.write_file(".isdlc/state.json", &format!("\u{feff}{whole}\n"));
    assert!(is_denied(&flow, &event));
}

#[test]
fn t08_empty_input_is_allowed() {
    assert_silent(GUARD, EMPTY);
}

#[test]
fn t09_setup_is_allowed() {
    let flow = pending();
    for event in [
        flow.delegation("discover-orchestrator", "begin with 06-implementation"),
        flow.prompt_without_agent("discover what 06-implementation needs"),
        flow.prompt_without_agent("configure the new project for 06-implementation"),
    ] {
        assert!(!is_denied(&flow, &event), "{event}");
    }
    assert!(is_denied(&flow, &flow.prompt_without_agent("see what 06-implementation needs")));
}

#[test]
fn t10_an_agent_is_recognized_by_all_its_names() {
    let flow = pending();
    for (name, held) in [
        ("software-developer", true),
        ("developer", true),
        ("05-software-developer", true),
        ("Software_Developer", true),
        (" software-developer ", true),
        ("isdlc:software-developer", true),
        ("softwaredeveloper", true),
        ("software-developers", false),
        ("my-software-developer", false),
    ] {
        assert_eq!(is_denied(&flow, &flow.delegation(name, "go")), held, "{name}");
    }
}

#[test]
fn t11_without_a_manifest_no_agent_is_known() {
    let flow = pending();
    let event = flow.delegation("software-developer", "go");
    assert!(is_denied(&flow, &event));
    flow.without_manifest();
    assert!(!is_denied(&flow, &event));
    // A phase can be named without a manifest.
    assert!(is_denied(&flow, &flow.prompt_without_agent("go on with 06-implementation")));
}

/// `Flow::judged` checks it for every other answer.
#[test]
fn t12_the_exit_code_is_always_0() {
    let flow = pending();
    let event = flow.delegation("software-developer", "go").to_string();
    let answer = flow.project.run_compat(&[GUARD], event.as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.contains(HEADLINE), "{answer:?}");
    assert_silent(GUARD, MALFORMED);
}

#[test]
fn a_subagent_begins_no_phase_either() {
    let flow = pending();
    let mut inner = flow.project.recorded_event("PreToolUse.Agent.in_subagent");
    inner["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "go", "description": "d"});
    assert!(is_denied(&flow, &inner));
    // The main conversation can run as an agent; it has no id.
    inner.as_object_mut().unwrap().remove("agent_id");
    assert!(is_denied(&flow, &inner));
}

/// L6: only the agent that leads a phase begins it.
#[test]
fn helpers_of_the_phase_may_start_before_its_lead() {
    let flow = with_status("02-tracing", &json!("pending"));
    assert!(!is_denied(&flow, &flow.delegation("symptom-analyzer", "go")));
    assert!(!is_denied(&flow, &flow.prompt_without_agent("let the symptom-analyzer begin")));
    assert!(is_denied(&flow, &flow.delegation("tracing-orchestrator", "go")));
    let flow = pending();
    assert!(is_denied(&flow, &flow.delegation("symptom-analyzer", "go")), "a helper of another phase");
}

/// L11: the same phase has several numbers.
#[test]
fn the_status_is_found_under_each_number_of_the_phase() {
    for (status, held) in [("in_progress", false), ("pending", true)] {
        let flow = WorkflowProject::new();
        let mut state = started_workflow("06-implementation");
        state["phases"] = json!({"05-implementation": {"status": status}});
        flow.write_state(&state);
        let event = flow.delegation("software-developer", "go");
        let reason = flow.find_denial(GUARD, &event);
        assert_eq!(reason.is_some(), held, "{status}");
        assert!(reason.is_none_or(|reason| reason.contains("`phases.05-implementation.status`")));
    }
}

#[test]
fn work_of_an_unknown_phase_is_never_denied() {
    for (phase, held) in [("06-implementation", true), ("17-of-tomorrow", false), ("implementation", false)] {
        let flow = with_status(phase, &json!("pending"));
        assert_eq!(is_denied(&flow, &flow.delegation("software-developer", "go")), held, "{phase}");
    }
}

/// L10: the phase of the workflow counts, not the one outside it.
#[test]
fn the_phase_of_the_workflow_counts() {
    for (of_workflow, beside, held) in [("pending", "in_progress", true), ("in_progress", "pending", false)] {
        let flow = WorkflowProject::new();
        let mut state = started_workflow("06-implementation");
        state["current_phase"] = json!("01-requirements");
        state["phases"] =
            json!({"06-implementation": {"status": of_workflow}, "01-requirements": {"status": beside}});
        flow.write_state(&state);
        assert_eq!(is_denied(&flow, &flow.delegation("software-developer", "go")), held, "{of_workflow}");
    }
}

/// The agent can write to the state: its text must not control a terminal or fill it.
#[test]
fn a_status_is_shown_short_and_harmless() {
    let flow = with_status("06-implementation", &json!(format!("\u{1b}[2J\n{}", "x".repeat(10_000))));
    let reason = flow.find_denial(GUARD, &flow.delegation("software-developer", "go")).unwrap();
    assert!(reason.len() < 1000 && !reason.contains('\u{1b}'), "{reason}");
}
