//! `iteration-corridor`.

use serde_json::{Value, json};

use super::WorkflowProject;
use super::gate_blocker::{
    set_phase_record, skill_event, test_and_article_requirements, workflow_with_requirements,
};
use crate::support::assert_shown;

const GUARD: &str = "iteration-corridor";
const PHASE: &str = "06-implementation";

fn with_failing_tests() -> WorkflowProject {
    with_test_record(&json!({"completed": false, "last_test_result": "failed", "current_iteration": 2}))
}

fn with_test_record(record: &Value) -> WorkflowProject {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    set_phase_record(&flow, PHASE, &json!({"iteration_requirements": {"test_iteration": record}}));
    flow
}

#[test]
fn while_tests_fail_the_work_stays_in_its_phase() {
    let flow = with_failing_tests();
    let reason = flow.find_denial(GUARD, &flow.delegation("sdlc-orchestrator", "Advance")).unwrap();
    assert_shown!("phases-iteration-corridor", reason);
    let escalations = flow.read_state()["pending_escalations"].clone();
    assert_eq!(escalations.as_array().unwrap().len(), 1, "{escalations}");
    let record = &escalations[0];
    assert_eq!(
        (&record["type"], &record["hook"], &record["phase"]),
        (&json!("corridor_blocked"), &json!(GUARD), &json!(PHASE))
    );
    assert!(record["detail"].is_string() && record["timestamp"].is_string());
}

/// Each of the first was denied once; those below still are.
#[test]
fn calls_that_serve_the_work_are_allowed() {
    let flow = with_failing_tests();
    for (agent, prompt, held) in [
        ("general-purpose", "investigate the failing test", false),
        ("general-purpose", "aggregate the errors", false),
        ("general-purpose", "proceed with the fix", false),
        ("general-purpose", "delegate the search", false),
        ("general-purpose", "Delegate the sorting to the database", false),
        ("general-purpose", "do not delegate to anybody", false),
        ("general-purpose", "fix the delegate pattern in src/a.ts", false),
        ("general-purpose", "Fix the delegate", false),
        ("general-purpose", "Explain how the next phase of the compiler works", false),
        ("general-purpose", "begin the next phase of the workflow", true),
        ("general-purpose", "make the app delegate to return null", false),
        ("general-purpose", "why is the proxy delegating", false),
        ("general-purpose", "after the fix delegate to qa-engineer", true),
        ("software-developer", "delegate to qa-engineer", false),
        ("general-purpose", "delegate to qa-engineer", true),
        ("general-purpose", "Delegate to the next agent.", true),
        ("general-purpose", "delegate this to the QA Engineer", true),
        ("general-purpose", "Now delegate the work to integration-tester", true),
        ("general-purpose", "delegate all remaining tasks to the tester", true),
        ("general-purpose", "delegate testing to the qa-engineer", true),
        ("general-purpose", "delegate to 07-testing", true),
        ("sdlc-orchestrator", "delegating to qa-engineer now", true),
        ("sdlc-orchestrator", "hand it over to qa", true),
        ("general-purpose", "delegate the rest of the work to the tester", true),
        ("general-purpose", "Delegate the work.", true),
        ("general-purpose", "Delegate.", true),
        ("general-purpose", "hand it off to qa", true),
        ("general-purpose", "Hand over to the tester", true),
        ("general-purpose", "hand the buffer over to the parser", false),
        ("general-purpose", "hand over the buffer to the caller", false),
        ("general-purpose", "Proceed.", true),
        ("sdlc-orchestrator", "the fix is in, please proceed now", true),
        ("general-purpose", "proceed to testing", true),
        ("general-purpose", "Then move on to the implementation", true),
        ("general-purpose", "proceed to testing the parser", false),
        ("general-purpose", "see how events proceed to validation", false),
        ("general-purpose", "wait for the lock and proceed", false),
        ("general-purpose", "Fix the parser test. Once it passes, you can proceed.", false),
        ("general-purpose", "if the file exists, proceed", false),
        ("general-purpose", "report your progress to me", false),
        ("software-developer", "fix it, then we pass the gate and advance", false),
        ("developer", "then hand off", false),
        ("discover-orchestrator", "advance", false),
        ("general-purpose", "configure the quality gate", false),
        ("general-purpose", "advance", true),
        ("general-purpose", "proceed to the next phase", true),
        ("general-purpose", "proceed to 07-testing", true),
        ("qa-engineer", "hand off the work", true),
        ("qa-engineer", "Handoff", true),
        ("general-purpose", "declare complete", true),
        ("general-purpose", "phase complete", true),
        ("general-purpose", "the initial status: move to phase 07", true),
    ] {
        let reason = flow.find_denial(GUARD, &flow.delegation(agent, prompt));
        assert_eq!(reason.is_some(), held, "{agent}: {prompt}: {reason:?}");
    }
    // An agent that only the prompt names does not count: it could be named to get past the guard.
    let event = flow.prompt_without_agent("software-developer is done, proceed to the next phase");
    assert!(flow.find_denial(GUARD, &event).is_some());
    let mut old = flow.delegation("general-purpose", "advance");
    old["tool_name"] = json!("Task");
    assert!(flow.find_denial(GUARD, &old).is_some());
}

#[test]
fn only_the_verb_of_a_skill_counts() {
    let flow = with_failing_tests();
    for (arguments, held) in [
        ("feature investigate login", false),
        ("feature advance booking", false),
        ("advance", true),
        ("gate", true),
    ] {
        let event = skill_event(&flow, "PreToolUse.Agent", "sdlc", arguments);
        assert_eq!(flow.find_denial(GUARD, &event).is_some(), held, "{arguments}");
    }
}

#[test]
fn without_a_failure_that_counts_nothing_is_denied() {
    for record in [
        json!({"completed": true, "last_test_result": "failed", "status": "escalated"}),
        json!({"completed": false, "last_test_result": "passed"}),
        json!({"completed": false}),
        json!({"completed": false, "status": "escalated", "last_test_result": "failed"}),
        json!({"completed": false, "last_test_result": ["failed"]}),
        json!([]),
        json!("failed"),
    ] {
        let flow = with_test_record(&record);
        assert_eq!(flow.find_denial(GUARD, &flow.delegation("x", "advance")), None, "{record}");
    }
    let flow = with_failing_tests();
    let mut state = flow.read_state();
    state["iteration_enforcement"] = json!({"enabled": false});
    flow.write_state(&state);
    assert_eq!(flow.find_denial(GUARD, &flow.delegation("x", "advance")), None, "switched off");
}

#[test]
fn after_the_tests_the_constitution_is_checked_first() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let passed = json!({"test_iteration": {"completed": true, "status": "success"}});
    let given_up = json!({"test_iteration": {"completed": true, "status": "escalated"}});
    let approved =
        json!({"test_iteration": {"completed": true, "status": "escalated", "escalation_approved": true}});
    for (tests, checks, held) in [
        (&passed, json!(null), true),
        (&passed, json!({"completed": false, "status": "pending"}), true),
        (&passed, json!({"completed": true, "status": "compliant"}), false),
        (&passed, json!({"completed": false, "status": "escalated"}), false),
        (&given_up, json!(null), false),
        (&approved, json!(null), true),
        (&approved, json!({"completed": true}), false),
    ] {
        set_phase_record(
            &flow,
            PHASE,
            &json!({"iteration_requirements": tests, "constitutional_validation": checks}),
        );
        let reason = flow.find_denial(GUARD, &flow.delegation("x", "advance"));
        assert_eq!(reason.is_some(), held, "{tests} {checks} {reason:?}");
        let what = "ITERATION CORRIDOR: Constitutional validation in progress for Articles [I, II]";
        assert!(reason.is_none_or(|reason| reason.contains(what)));
    }
}

/// The workflow is in a phase that the requirements have under another number.
#[test]
fn requirements_and_records_are_found_in_each_numbering() {
    let flow = workflow_with_requirements("05-implementation", &test_and_article_requirements());
    let mut state = super::started_workflow("06-implementation");
    let record = json!({"completed": false, "last_test_result": "failed", "current_iteration": 1, "max_iterations": 7});
    state["phases"] = json!({"05-implementation": {"iteration_requirements": {"test_iteration": record}}});
    flow.write_state(&state);
    let reason = flow.find_denial(GUARD, &flow.delegation("x", "advance")).unwrap();
    assert!(reason.contains("(iteration 1/7)"), "{reason}");
}
