//! `menu-tracker`.

use serde_json::{Value, json};

use crate::gate::{context, heard};
use crate::{Flow, begun};

const GUARD: &str = "menu-tracker";
const MENU: &str = "Draft:\n[A] Adjust\n[R] Refine\n[C] Continue\nYour choice:";

fn flow() -> Flow {
    Flow::in_phase("01-requirements")
}

/// An agent of the phase answered.
fn answered(flow: &Flow, text: &str) -> Value {
    let mut event = flow.project.event("PostToolUse.Agent.completed");
    event["tool_input"]["subagent_type"] = json!("requirements-analyst");
    event["tool_response"]["content"] = json!([{"type": "text", "text": text}]);
    event
}

/// What is kept of the talk.
fn kept(flow: &Flow) -> Value {
    flow.state_now()["phases"]["01-requirements"]["iteration_requirements"]["interactive_elicitation"].clone()
}

#[test]
fn menus_and_choices_are_counted() {
    let flow = flow();
    assert!(heard(&flow, GUARD, &answered(&flow, MENU)).is_silent());
    heard(&flow, GUARD, &answered(&flow, "User selected: [R] Refine\nStep 2 is complete"));
    heard(&flow, GUARD, &answered(&flow, MENU));
    let record = kept(&flow);
    assert_eq!((&record["menu_interactions"], &record["completed"]), (&json!(2), &json!(false)));
    assert_eq!(
        (&record["last_selection"], &record["steps_completed"]),
        (&json!("refine"), &json!(["step-2"]))
    );
    assert_eq!(record["selections"].as_array().unwrap().len(), 1);
    let answer = heard(&flow, GUARD, &answered(&flow, "The user chose Continue."));
    assert!(context(&answer).unwrap().contains("Continue"), "{answer:?}");
    assert_eq!(kept(&flow)["completed"], false);
    let answer = heard(&flow, GUARD, &answered(&flow, "The user selected S (Save)."));
    assert!(context(&answer).unwrap().contains("ELICITATION COMPLETE"), "{answer:?}");
    let record = kept(&flow);
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
        flow.state(&begun("01-requirements"));
        heard(&flow, GUARD, &answered(&flow, text));
        assert_eq!(kept(&flow)["last_selection"], name, "{text}");
    }
    for text in
        ["I selected a", "She selected c code", "selected a to adjust it", "we chose r for statistics"]
    {
        flow.state(&begun("01-requirements"));
        heard(&flow, GUARD, &answered(&flow, text));
        assert_eq!(flow.state_now(), begun("01-requirements"), "{text}");
    }
}

/// Each of these was a choice once.
#[test]
fn a_talk_about_something_else_is_no_choice() {
    let flow = flow();
    for text in
        ["I selected a database", "the selection criteria", "selected save locations", "[A] Adjust", ""]
    {
        heard(&flow, GUARD, &answered(&flow, text));
        assert_eq!(flow.state_now(), begun("01-requirements"), "{text}");
    }
    let mut told = answered(&flow, "Done.");
    told["tool_input"]["prompt"] = json!(MENU);
    heard(&flow, GUARD, &told);
    assert_eq!(flow.state_now(), begun("01-requirements"), "a prompt shows nobody a menu");
}

#[test]
fn every_way_of_an_answer_counts_once() {
    let flow = flow();
    let count = |event: &Value| {
        flow.state(&begun("01-requirements"));
        heard(&flow, GUARD, event);
        kept(&flow)["menu_interactions"].as_u64().unwrap_or(0)
    };
    let mut old = answered(&flow, "");
    old["tool_name"] = json!("Task");
    old["tool_result"] = json!(MENU);
    old.as_object_mut().unwrap().remove("tool_response");
    assert_eq!(count(&old), 1, "as it was called once");
    assert_eq!(count(&flow.project.event("PostToolUse.Agent.async_launched")), 0);
    let mut background = flow.project.event("SubagentStop.general-purpose");
    background["last_assistant_message"] = json!(MENU);
    assert_eq!(count(&background), 1, "in the background");
    let mut foreground = flow.project.event("SubagentStop.validator");
    foreground["last_assistant_message"] = json!(MENU);
    assert_eq!(count(&foreground), 0, "its answer comes with the call");
    background["agent_type"] = json!("qa-engineer");
    assert_eq!(count(&background), 0, "an agent of another phase");
    background["last_assistant_message"] = json!(5);
    assert_eq!(count(&background), 0);
    let mut other = answered(&flow, MENU);
    other["tool_input"]["subagent_type"] = json!("software-developer");
    assert_eq!(count(&other), 0, "an agent of another phase");
    other["tool_response"] = json!(null);
    assert_eq!(count(&other), 0);
}

#[test]
fn only_the_requirements_of_a_workflow_are_watched() {
    let flow = flow();
    let mut off = begun("01-requirements");
    off["iteration_enforcement"] = json!({"enabled": false});
    for state in [off, begun("06-implementation"), json!({"current_phase": "01-requirements"})] {
        flow.state(&state);
        heard(&flow, GUARD, &answered(&flow, MENU));
        assert_eq!(flow.state_now(), state);
    }
}

#[test]
fn records_are_bounded_and_of_other_types_left_alone() {
    let flow = flow();
    let with = |record: Value| {
        let mut state = begun("01-requirements");
        state["phases"]["01-requirements"]["iteration_requirements"] =
            json!({"interactive_elicitation": record});
        flow.state(&state);
        heard(&flow, GUARD, &answered(&flow, "User selected: A"));
        kept(&flow)
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

/// A step is known by its name, or by its number where it has none.
#[test]
fn steps_are_kept_by_their_names() {
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
        flow.state(&begun("01-requirements"));
        heard(&flow, GUARD, &answered(&flow, text));
        let record = kept(&flow);
        assert_eq!(
            (&record["steps_completed"], &record["last_step_completed"]),
            (&json!([step]), &json!(step)),
            "{text}"
        );
    }
    for text in ["Step 2: User Personas - not complete", "the user stories are not done", "personas: to do"] {
        flow.state(&begun("01-requirements"));
        heard(&flow, GUARD, &answered(&flow, text));
        assert_eq!(flow.state_now(), begun("01-requirements"), "{text}");
    }
    // What others have written stays, and nothing is there twice.
    let mut state = begun("01-requirements");
    state["phases"]["01-requirements"]["iteration_requirements"] =
        json!({"interactive_elicitation": {"steps_completed": ["their own", 1, "step-3"]}});
    flow.state(&state);
    heard(&flow, GUARD, &answered(&flow, "Step 3 complete"));
    heard(&flow, GUARD, &answered(&flow, "Step 4 complete\nStep 5: Edge Cases done"));
    let record = kept(&flow);
    assert_eq!(record["steps_completed"], json!(["their own", 1, "step-3", "step-4", "edge-cases"]));
    assert_eq!(record["last_step_completed"], "edge-cases");
}
