//! `phase-loop-controller`: work is handed to a phase only after the phase is marked as begun.

use serde_json::{Value, json};

use super::detection::{EMPTY, MALFORMED, lets_go};
use super::{Flow, begun};

const GUARD: &str = "phase-loop-controller";
const HEADLINE: &str = "PHASE DELEGATION WITHOUT PROGRESS TRACKING";

/// A workflow in this phase, which has this status.
fn with_status(phase: &str, status: &Value) -> Flow {
    let flow = Flow::new();
    let mut state = begun(phase);
    state["phases"] = json!({phase: {"status": status}});
    flow.state(&state);
    flow
}

fn pending() -> Flow {
    with_status("06-implementation", &json!("pending"))
}

fn is_held(flow: &Flow, event: &Value) -> bool {
    let reason = flow.judged(GUARD, event);
    assert!(reason.as_ref().is_none_or(|reason| reason.contains(HEADLINE)), "{reason:?}");
    reason.is_some()
}

#[test]
fn t01_a_phase_that_is_pending_is_not_handed_out() {
    let flow = pending();
    let reason = flow.judged(GUARD, &flow.delegating("software-developer", "implement it")).unwrap();
    assert_eq!(
        flow.project.shown(&reason),
        "[provost] agent `software-developer` denied: the status of `06-implementation` is `pending`. To fix: do its \
         TaskUpdate step: set `phases.06-implementation.status` to `in_progress` in \
         .isdlc/state.json, then delegate the work of `06-implementation` again. (PHASE DELEGATION WITHOUT PROGRESS TRACKING)\n\
         [provost] Only the user can allow this once, with the prompt `provost override \
         phase-loop-controller REASON`."
    );
    for status in
        [json!("blocked"), json!("IN_PROGRESS"), json!(""), json!(null), json!(1), json!(true), json!({})]
    {
        let flow = with_status("06-implementation", &status);
        assert!(is_held(&flow, &flow.delegating("software-developer", "go")), "{status}");
    }
}

#[test]
fn t02_nor_one_of_which_nothing_is_known() {
    for phases in
        [json!({}), json!(null), json!([]), json!("x"), json!({"01-requirements": {"status": "in_progress"}})]
    {
        let flow = Flow::new();
        let mut state = begun("06-implementation");
        state["phases"] = phases.clone();
        flow.state(&state);
        let reason = flow.judged(GUARD, &flow.delegating("software-developer", "go")).unwrap();
        assert!(
            reason.contains(HEADLINE) && reason.contains("`06-implementation` is not set"),
            "{phases}: {reason}"
        );
    }
}

#[test]
fn t03_one_that_is_under_way_is() {
    for (status, held) in [("in_progress", false), ("completed", false), ("pending", true)] {
        let flow = with_status("06-implementation", &json!(status));
        assert_eq!(is_held(&flow, &flow.delegating("software-developer", "go")), held, "{status}");
    }
}

#[test]
fn t04_other_work_is_handed_out_freely() {
    let flow = pending();
    for event in [
        flow.delegating("general-purpose", "find the parser for 06-implementation"),
        flow.delegating("Explore", "what does the software-developer do?"),
        flow.delegating("sdlc-orchestrator", "go on with 06-implementation"),
        flow.telling("look for the parser"),
        flow.call("PreToolUse.Bash", &json!({"command": "echo 06-implementation"})),
    ] {
        assert!(!is_held(&flow, &event), "{event}");
    }
    assert!(is_held(&flow, &flow.telling("go on with 06-implementation")));
}

#[test]
fn t05_without_a_workflow_nothing_is_held() {
    let flow = pending();
    let event = flow.delegating("software-developer", "go");
    assert!(is_held(&flow, &event));
    for workflow in
        [json!(null), json!([]), json!("feature"), json!(true), json!({}), json!({"current_phase": 6})]
    {
        let mut state = begun("06-implementation");
        state["active_workflow"] = workflow.clone();
        state["phases"] = json!({});
        // The phase beside the workflow is not the workflow's.
        state["current_phase"] = json!("06-implementation");
        flow.state(&state);
        assert!(!is_held(&flow, &event), "{workflow}");
    }
}

#[test]
fn t06_without_a_state_nothing_is_held() {
    let flow = Flow::new();
    let event = flow.delegating("software-developer", "go");
    assert!(!is_held(&flow, &event));
    let mut state = begun("06-implementation");
    state["phases"] = json!({});
    assert!(is_held(flow.state(&state), &event));
}

#[test]
fn t07_nor_with_one_that_is_no_json() {
    let flow = pending();
    let event = flow.delegating("software-developer", "go");
    let whole = flow.state_now().to_string();
    for text in ["", "{", "null", "[]", "5", &whole[..whole.len() - 1]] {
        flow.project.file(".isdlc/state.json", text);
        assert!(!is_held(&flow, &event), "{text}");
    }
    flow.project.file(".isdlc/state.json", &format!("\u{feff}{whole}\n"));
    assert!(is_held(&flow, &event));
}

#[test]
fn t08_nothing_at_all_goes_on() {
    lets_go(GUARD, EMPTY);
}

#[test]
fn t09_setup_goes_on() {
    let flow = pending();
    for event in [
        flow.delegating("discover-orchestrator", "begin with 06-implementation"),
        flow.telling("discover what 06-implementation needs"),
        flow.telling("configure the new project for 06-implementation"),
    ] {
        assert!(!is_held(&flow, &event), "{event}");
    }
    assert!(is_held(&flow, &flow.telling("see what 06-implementation needs")));
}

#[test]
fn t10_an_agent_is_known_by_all_its_names() {
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
        assert_eq!(is_held(&flow, &flow.delegating(name, "go")), held, "{name}");
    }
}

#[test]
fn t11_without_a_manifest_no_agent_is_known() {
    let flow = pending();
    let event = flow.delegating("software-developer", "go");
    assert!(is_held(&flow, &event));
    flow.without_manifest();
    assert!(!is_held(&flow, &event));
    // A phase needs no manifest to be called by its name.
    assert!(is_held(&flow, &flow.telling("go on with 06-implementation")));
}

/// `Flow::judged` sees to it for every other answer.
#[test]
fn t12_the_exit_code_is_always_0() {
    let flow = pending();
    let event = flow.delegating("software-developer", "go").to_string();
    let answer = flow.project.script(&[GUARD], event.as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.contains(HEADLINE), "{answer:?}");
    lets_go(GUARD, MALFORMED);
}

#[test]
fn a_subagent_begins_no_phase_either() {
    let flow = pending();
    let mut inner = flow.project.event("PreToolUse.Agent.in_subagent");
    inner["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "go", "description": "d"});
    assert!(is_held(&flow, &inner));
    // The main conversation can play an agent; it has no number.
    inner.as_object_mut().unwrap().remove("agent_id");
    assert!(is_held(&flow, &inner));
}

/// L6: only the agent that leads a phase begins it.
#[test]
fn helpers_of_the_phase_may_come_before_its_lead() {
    let flow = with_status("02-tracing", &json!("pending"));
    assert!(!is_held(&flow, &flow.delegating("symptom-analyzer", "go")));
    assert!(!is_held(&flow, &flow.telling("let the symptom-analyzer begin")));
    assert!(is_held(&flow, &flow.delegating("tracing-orchestrator", "go")));
    let flow = pending();
    assert!(is_held(&flow, &flow.delegating("symptom-analyzer", "go")), "a helper of another phase");
}

/// L11: the same phase has several numbers.
#[test]
fn the_status_is_found_under_each_number_of_the_phase() {
    for (status, held) in [("in_progress", false), ("pending", true)] {
        let flow = Flow::new();
        let mut state = begun("06-implementation");
        state["phases"] = json!({"05-implementation": {"status": status}});
        flow.state(&state);
        let event = flow.delegating("software-developer", "go");
        let reason = flow.judged(GUARD, &event);
        assert_eq!(reason.is_some(), held, "{status}");
        assert!(reason.is_none_or(|reason| reason.contains("`phases.05-implementation.status`")));
    }
}

#[test]
fn a_phase_that_is_not_known_is_never_held() {
    for (phase, held) in [("06-implementation", true), ("17-of-tomorrow", false), ("implementation", false)] {
        let flow = with_status(phase, &json!("pending"));
        assert_eq!(is_held(&flow, &flow.delegating("software-developer", "go")), held, "{phase}");
    }
}

/// L10: the phase of the workflow counts, not the one beside it.
#[test]
fn the_phase_of_the_workflow_counts() {
    for (of_workflow, beside, held) in [("pending", "in_progress", true), ("in_progress", "pending", false)] {
        let flow = Flow::new();
        let mut state = begun("06-implementation");
        state["current_phase"] = json!("01-requirements");
        state["phases"] =
            json!({"06-implementation": {"status": of_workflow}, "01-requirements": {"status": beside}});
        flow.state(&state);
        assert_eq!(is_held(&flow, &flow.delegating("software-developer", "go")), held, "{of_workflow}");
    }
}

/// The state belongs to the agent: what it writes there must not repaint a terminal or fill it.
#[test]
fn a_status_is_shown_short_and_harmless() {
    let flow = with_status("06-implementation", &json!(format!("\u{1b}[2J\n{}", "x".repeat(10_000))));
    let reason = flow.judged(GUARD, &flow.delegating("software-developer", "go")).unwrap();
    assert!(reason.len() < 1000 && !reason.contains('\u{1b}'), "{reason}");
}
