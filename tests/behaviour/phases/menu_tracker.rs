//! `menu-tracker`.

use serde_json::{Value, json};

use super::gate_blocker::run_guard;
use super::{WorkflowProject, started_workflow};
use crate::support::assert_shown;

const GUARD: &str = "menu-tracker";
const MENU: &str = "Draft:\n[A] Adjust\n[R] Refine\n[C] Continue\nYour choice:";

fn flow() -> WorkflowProject {
    WorkflowProject::in_phase("01-requirements")
}

/// An event for the answer of an agent of the phase.
fn reply(flow: &WorkflowProject, text: &str) -> Value {
    let mut event = flow.project.recorded_event("PostToolUse.Agent.completed");
    event["tool_input"]["subagent_type"] = json!("requirements-analyst");
    event["tool_response"]["content"] = json!([{"type": "text", "text": text}]);
    event
}

/// The record of the conversation.
fn read_record(flow: &WorkflowProject) -> Value {
    flow.read_state()["phases"]["01-requirements"]["iteration_requirements"]["interactive_elicitation"]
        .clone()
}

#[test]
fn menus_and_choices_are_counted() {
    let flow = flow();
    assert!(run_guard(&flow, GUARD, &reply(&flow, MENU)).is_silent());
    run_guard(&flow, GUARD, &reply(&flow, "User selected: [R] Refine\nStep 2 is complete"));
    run_guard(&flow, GUARD, &reply(&flow, MENU));
    let record = read_record(&flow);
    assert_eq!((&record["menu_interactions"], &record["completed"]), (&json!(2), &json!(false)));
    assert_eq!(
        (&record["last_selection"], &record["steps_completed"]),
        (&json!("refine"), &json!(["step-2"]))
    );
    assert_eq!(record["selections"].as_array().unwrap().len(), 1);
    let answer = run_guard(&flow, GUARD, &reply(&flow, "The user chose Continue."));
    assert_shown!("phases-menu-tracker-continue", flow.project.whole(&answer));
    assert_eq!(read_record(&flow)["completed"], false);
    let answer = run_guard(&flow, GUARD, &reply(&flow, "The user selected S (Save)."));
    assert_shown!("phases-menu-tracker-save", flow.project.whole(&answer));
    let record = read_record(&flow);
    assert_eq!((&record["completed"], &record["final_selection"]), (&json!(true), &json!("save")));
}

/// The letter of an option counts in brackets, or with its name behind it, in either case.
#[test]
fn a_choice_may_be_in_lower_case() {
    let flow = flow();
    for (text, name) in [
        ("User selected [s]", "save"),
        ("Selected: c", "continue"),
        ("User selected S to save everything", "save"),
        ("the user chose x, exit", "exit"),
    ] {
        flow.write_state(&started_workflow("01-requirements"));
        run_guard(&flow, GUARD, &reply(&flow, text));
        assert_eq!(read_record(&flow)["last_selection"], name, "{text}");
    }
    for text in
        ["I selected a", "She selected c code", "selected a to adjust it", "we chose r for statistics"]
    {
        flow.write_state(&started_workflow("01-requirements"));
        run_guard(&flow, GUARD, &reply(&flow, text));
        assert_eq!(flow.read_state(), started_workflow("01-requirements"), "{text}");
    }
}

/// Each of these was taken for a choice once.
#[test]
fn an_answer_about_something_else_is_not_a_choice() {
    let flow = flow();
    for text in
        ["I selected a database", "the selection criteria", "selected save locations", "[A] Adjust", ""]
    {
        run_guard(&flow, GUARD, &reply(&flow, text));
        assert_eq!(flow.read_state(), started_workflow("01-requirements"), "{text}");
    }
    let mut launch = reply(&flow, "Done.");
    launch["tool_input"]["prompt"] = json!(MENU);
    run_guard(&flow, GUARD, &launch);
    assert_eq!(flow.read_state(), started_workflow("01-requirements"), "a prompt shows nobody a menu");
}

#[test]
fn every_form_of_an_answer_counts_once() {
    let flow = flow();
    let count = |event: &Value| {
        flow.write_state(&started_workflow("01-requirements"));
        run_guard(&flow, GUARD, event);
        read_record(&flow)["menu_interactions"].as_u64().unwrap_or(0)
    };
    let mut old = reply(&flow, "");
    old["tool_name"] = json!("Task");
    old["tool_result"] = json!(MENU);
    old.as_object_mut().unwrap().remove("tool_response");
    assert_eq!(count(&old), 1, "as it was called once");
    assert_eq!(count(&flow.project.recorded_event("PostToolUse.Agent.async_launched")), 0);
    let mut background = flow.project.recorded_event("SubagentStop.general-purpose");
    background["last_assistant_message"] = json!(MENU);
    assert_eq!(count(&background), 1, "in the background");
    let mut foreground = flow.project.recorded_event("SubagentStop.validator");
    foreground["last_assistant_message"] = json!(MENU);
    assert_eq!(count(&foreground), 0, "its answer comes with the call");
    background["agent_type"] = json!("qa-engineer");
    assert_eq!(count(&background), 0, "an agent of another phase");
    background["last_assistant_message"] = json!(5);
    assert_eq!(count(&background), 0);
    let mut other = reply(&flow, MENU);
    other["tool_input"]["subagent_type"] = json!("software-developer");
    assert_eq!(count(&other), 0, "an agent of another phase");
    other["tool_response"] = json!(null);
    assert_eq!(count(&other), 0);
}

#[test]
fn only_the_requirements_phase_of_a_workflow_is_recorded() {
    let flow = flow();
    let mut off = started_workflow("01-requirements");
    off["iteration_enforcement"] = json!({"enabled": false});
    for state in [off, started_workflow("06-implementation"), json!({"current_phase": "01-requirements"})] {
        flow.write_state(&state);
        run_guard(&flow, GUARD, &reply(&flow, MENU));
        assert_eq!(flow.read_state(), state);
    }
}

#[test]
fn records_are_bounded_and_other_types_stay() {
    let flow = flow();
    let with = |record: Value| {
        let mut state = started_workflow("01-requirements");
        state["phases"]["01-requirements"]["iteration_requirements"] =
            json!({"interactive_elicitation": record});
        flow.write_state(&state);
        run_guard(&flow, GUARD, &reply(&flow, "User selected: A"));
        read_record(&flow)
    };
    assert_eq!(with(json!({"selections": vec![1; 60]}))["selections"].as_array().unwrap().len(), 50);
    assert_eq!(with(json!("mine")), json!("mine"));
    assert_eq!(with(json!([1])), json!([1]));
    let odd = with(json!({"selections": "x", "menu_interactions": "y", "last_selection": 5, "own": 1}));
    assert_eq!(
        (&odd["selections"], &odd["menu_interactions"], &odd["last_selection"]),
        (&json!("x"), &json!("y"), &json!(5))
    );
    assert_eq!(odd["own"], 1);
}

/// A step is recorded by its name, or by its number if it has no name.
#[test]
fn steps_are_recorded_by_their_names() {
    let flow = flow();
    for (text, step) in [
        ("Step 1: Project Discovery - complete", "project-discovery"),
        ("**Step 2 (User Personas)** is done.", "user-personas"),
        ("Step 3 complete", "step-3"),
        ("step 3 completed", "step-3"),
        ("Step 3 of 7 complete", "step-3"),
        ("Step 3/7: done", "step-3"),
        ("Step 2 of 7: User Personas - complete", "user-personas"),
        ("The project discovery step is complete.", "project-discovery"),
        ("User stories complete", "user-stories"),
        ("Non-functional requirements are done", "non-functional-requirements"),
        ("Prioritization complete.", "prioritization"),
    ] {
        flow.write_state(&started_workflow("01-requirements"));
        run_guard(&flow, GUARD, &reply(&flow, text));
        let record = read_record(&flow);
        assert_eq!(
            (&record["steps_completed"], &record["last_step_completed"]),
            (&json!([step]), &json!(step)),
            "{text}"
        );
    }
    for text in ["Step 2: User Personas - not complete", "the user stories are not done", "personas: to do"] {
        flow.write_state(&started_workflow("01-requirements"));
        run_guard(&flow, GUARD, &reply(&flow, text));
        assert_eq!(flow.read_state(), started_workflow("01-requirements"), "{text}");
    }
    // Other entries stay, and no entry is there twice.
    let mut state = started_workflow("01-requirements");
    state["phases"]["01-requirements"]["iteration_requirements"] =
        json!({"interactive_elicitation": {"steps_completed": ["their own", 1, "step-3"]}});
    flow.write_state(&state);
    run_guard(&flow, GUARD, &reply(&flow, "Step 3 complete"));
    run_guard(&flow, GUARD, &reply(&flow, "Step 4 complete\nStep 5: Edge Cases done"));
    let record = read_record(&flow);
    assert_eq!(record["steps_completed"], json!(["their own", 1, "step-3", "step-4", "edge-cases"]));
    assert_eq!(record["last_step_completed"], "edge-cases");
}
