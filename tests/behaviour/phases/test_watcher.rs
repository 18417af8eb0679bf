//! `test-watcher`.

use serde_json::{Value, json};

use super::gate_blocker::{
    find_context, run_guard, test_and_article_requirements, workflow_with_requirements,
};
use super::{WorkflowProject, read_user_message, started_workflow};
use crate::support::assert_shown;

const GUARD: &str = "test-watcher";
const PHASE: &str = "06-implementation";

fn flow() -> WorkflowProject {
    workflow_with_requirements(PHASE, &test_and_article_requirements())
}

/// An event for a command that succeeded and printed this.
fn successful_run(flow: &WorkflowProject, command: &str, printed: &str) -> Value {
    let mut event = flow.call("PostToolUse.Bash", &json!({"command": command}));
    event["tool_response"]["stdout"] = json!(printed);
    event
}

fn failed_run(flow: &WorkflowProject, command: &str, error: &str) -> Value {
    let mut event = flow.call("PostToolUseFailure.Bash", &json!({"command": command}));
    event["error"] = json!(error);
    event
}

fn read_record(flow: &WorkflowProject) -> Value {
    flow.read_state()["phases"][PHASE]["iteration_requirements"]["test_iteration"].clone()
}

/// The result of this event's tests in the record.
fn read_result(flow: &WorkflowProject, event: &Value) -> Option<String> {
    flow.write_state(&started_workflow(PHASE));
    run_guard(flow, GUARD, event);
    read_record(flow)["last_test_result"].as_str().map(str::to_owned)
}

#[test]
fn a_pass_ends_the_tries_and_names_the_articles() {
    let flow = flow();
    let answer = run_guard(&flow, GUARD, &successful_run(&flow, "npm test", "5 passed"));
    assert_shown!("phases-test-watcher-passed", flow.project.whole(&answer));
    let record = read_record(&flow);
    assert_eq!((&record["completed"], &record["status"]), (&json!(true), &json!("success")));
    assert_eq!((&record["current_iteration"], &record["max_iterations"]), (&json!(1), &json!(10)));
    let mut state = started_workflow(PHASE);
    state["active_workflow"]["atdd_mode"] = json!(true);
    flow.write_state(&state);
    assert!(
        find_context(&run_guard(&flow, GUARD, &successful_run(&flow, "npm test", "ok")))
            .unwrap()
            .contains("ATDD")
    );
}

#[test]
fn failures_are_counted_until_the_user_has_to_decide() {
    let flow = flow();
    let fail = |error: &str| {
        run_guard(&flow, GUARD, &failed_run(&flow, "npm test", &format!("Exit code 1\n{error}")))
    };
    assert_shown!("phases-test-watcher-failed", flow.project.whole(&fail("Error: a")));
    let answer = fail("Error: b");
    assert!(
        find_context(&answer).unwrap().contains("(iteration 2/10)") && read_user_message(&answer).is_none()
    );
    fail("Error: b");
    let answer = fail("Error: b");
    assert_shown!("phases-test-watcher-circuit-breaker", flow.project.whole(&answer));
    let record = read_record(&flow);
    assert_eq!(
        (&record["status"], &record["escalation_reason"]),
        (&json!("escalated"), &json!("circuit_breaker"))
    );
    assert_eq!((&record["failures_count"], &record["last_error"]), (&json!(4), &json!("Error: b")));
    assert_eq!(record["history"].as_array().unwrap().len(), 4);
    assert!(read_user_message(&fail("Error: c")).is_none(), "the user knows");
    run_guard(&flow, GUARD, &successful_run(&flow, "npm test", "5 passed"));
    assert_eq!(read_record(&flow)["status"], "success");
}

#[test]
fn the_user_can_set_the_number_of_tries() {
    let flow = flow();
    let mut state = started_workflow(PHASE);
    state["iteration_config"] = json!({"testing_max": 1, "configured_at": "2026-01-01T00:00:00Z"});
    flow.write_state(&state);
    let answer = run_guard(&flow, GUARD, &failed_run(&flow, "cargo test", "Exit code 101\nerror"));
    assert_shown!("phases-test-watcher-no-tries-left", flow.project.whole(&answer));
    assert_eq!(read_record(&flow)["escalation_reason"], "max_iterations");
    state["iteration_config"] = json!({"testing_max": 1});
    flow.write_state(&state);
    assert!(
        read_user_message(&run_guard(&flow, GUARD, &failed_run(&flow, "cargo test", "Exit code 101\nerror")))
            .is_none()
    );
}

#[test]
fn the_exit_code_decides() {
    let flow = flow();
    for (event, wanted) in [
        // Output about other failures is not a failed test.
        (successful_run(&flow, "npm test", "3 failed logins are refused"), Some("passed")),
        (successful_run(&flow, "cd web && npm test", "ok"), Some("passed")),
        (failed_run(&flow, "npm test", "Exit code 1\n5 passed"), Some("failed")),
        // The exit code of a pipe says nothing about its first command.
        (successful_run(&flow, "npm test | tail -5", "Tests: 1 failed, 4 passed"), Some("failed")),
        (successful_run(&flow, "npm test 2>&1 | tee log", "FAIL src/a.test.js"), Some("failed")),
        (successful_run(&flow, "npm test || true", "3 failed"), Some("failed")),
        (successful_run(&flow, "npm test | tail -5", "5 passed, 0 failed"), Some("passed")),
        (
            failed_run(&flow, "npm test && ./deploy", "Exit code 2\n5 passed, 0 failed\nno server"),
            Some("passed"),
        ),
        (failed_run(&flow, "npm test && ./deploy", "Exit code 2\n1 failed"), Some("failed")),
        (successful_run(&flow, "npm run test:a; npm run test:b", "1 failed\n2 passed"), Some("failed")),
        (successful_run(&flow, "npm run test:a && npm run test:b", "fine"), Some("passed")),
        // The result is not known.
        (successful_run(&flow, "npm test || true", "hm"), None),
        (successful_run(&flow, "npm test; echo $?", "1"), None),
        (failed_run(&flow, "npm test && ./deploy", "Exit code 2\nno server"), None),
        (failed_run(&flow, "npm test", "The user interrupted it"), None),
        (successful_run(&flow, "npm test", ""), None),
    ] {
        assert_eq!(read_result(&flow, &event).as_deref(), wanted, "{event}");
    }
}

/// `tool_response` was once not read, so that every pass was a failure.
#[test]
fn both_names_and_all_forms_of_an_outcome_are_read() {
    let flow = flow();
    let with = |name: &str, outcome: Value| {
        let mut event = successful_run(&flow, "npm test", "");
        event.as_object_mut().unwrap().remove("tool_response");
        event[name] = outcome;
        read_result(&flow, &event)
    };
    // A run that was cut off or continues in the background has no result.
    for outcome in [
        json!({"stdout": "1 passed", "interrupted": true}),
        json!({"stdout": "1 passed", "backgroundTaskId": "b"}),
    ] {
        assert_eq!(with("tool_response", outcome), None);
    }
    for name in ["tool_response", "tool_result"] {
        assert_eq!(with(name, json!({"exit_code": 0, "stdout": ""})).as_deref(), Some("passed"), "{name}");
        assert_eq!(with(name, json!({"exitCode": 1, "stdout": "x"})).as_deref(), Some("failed"), "{name}");
        assert_eq!(with(name, json!("Exit code 1\nno")).as_deref(), Some("failed"), "{name}");
        assert_eq!(with(name, json!(null)), None, "{name}");
    }
    assert_eq!(with("nothing", json!(1)), None);
}

#[test]
fn only_commands_that_run_tests_count() {
    let flow = flow();
    for (command, counts) in [
        ("cat jest.config.js", false),
        ("echo npm test", false),
        ("npm test --help", false),
        ("grep -r 'npm test' .", false),
        ("npm install mocha", false),
        ("node --test", true),
        ("make test", true),
        ("cargo nextest run", true),
        ("npx vitest run", true),
        ("CI=1 timeout 60 npm test", true),
        ("bash -c 'pytest -q'", true),
        ("python3 -m pytest", true),
    ] {
        assert_eq!(
            read_result(&flow, &successful_run(&flow, command, "1 ran")).is_some(),
            counts,
            "{command}"
        );
    }
}

#[test]
fn only_phases_that_require_tests_are_recorded() {
    let flow = flow();
    let event = successful_run(&flow, "npm test", "ok");
    let mut off = started_workflow(PHASE);
    off["iteration_enforcement"] = json!({"enabled": false});
    for state in [
        off,
        started_workflow("08-code-review"),
        json!({"current_phase": PHASE}),
        json!({"active_workflow": 1}),
    ] {
        flow.write_state(&state);
        assert!(run_guard(&flow, GUARD, &event).is_silent());
        assert_eq!(flow.read_state(), state);
    }
    // Under another number it is the same phase.
    flow.write_state(&started_workflow("05-implementation"));
    run_guard(&flow, GUARD, &event);
    let state = flow.read_state();
    let record = &state["phases"]["05-implementation"]["iteration_requirements"]["test_iteration"];
    assert_eq!(record["last_test_result"], "passed", "{state}");
    let mut odd = started_workflow(PHASE);
    odd["phases"][PHASE] = json!({"iteration_requirements": {"test_iteration": "mine"}});
    flow.write_state(&odd);
    run_guard(&flow, GUARD, &event);
    assert_eq!(flow.read_state(), odd, "what is no record stays");
}

#[test]
fn the_history_is_bounded() {
    let flow = flow();
    let mut state = started_workflow(PHASE);
    state["phases"][PHASE]["iteration_requirements"] = json!({"test_iteration": {"history": vec![1; 70]}});
    flow.write_state(&state);
    run_guard(&flow, GUARD, &successful_run(&flow, "npm test", "ok"));
    assert_eq!(read_record(&flow)["history"].as_array().unwrap().len(), 50);
}

#[test]
fn the_workflow_sets_how_often_the_same_error_may_repeat() {
    let flow = flow();
    for config in [
        json!({"circuit_breaker_threshold": 2}),
        json!({"circuit_breaker_threshold": 2, "testing_max": 7, "configured_at": "2026-01-01T00:00:00Z"}),
    ] {
        let mut state = started_workflow(PHASE);
        state["iteration_config"] = config;
        flow.write_state(&state);
        let fail = || run_guard(&flow, GUARD, &failed_run(&flow, "npm test", "Exit code 1\nError: a"));
        assert!(read_user_message(&fail()).is_none());
        assert!(read_user_message(&fail()).unwrap().contains("CIRCUIT BREAKER"));
        assert_eq!(read_record(&flow)["escalation_reason"], "circuit_breaker");
    }
    for odd in [json!("2"), json!(0), json!(-1), json!(null), json!([2])] {
        let mut state = started_workflow(PHASE);
        state["iteration_config"] = json!({"circuit_breaker_threshold": odd});
        flow.write_state(&state);
        run_guard(&flow, GUARD, &failed_run(&flow, "npm test", "Exit code 1\nError: a"));
        assert!(
            read_user_message(&run_guard(
                &flow,
                GUARD,
                &failed_run(&flow, "npm test", "Exit code 1\nError: a")
            ))
            .is_none()
        );
    }
}

#[test]
fn a_record_keeps_its_number_of_tries() {
    let flow = flow();
    let mut state = started_workflow(PHASE);
    state["phases"][PHASE]["iteration_requirements"] =
        json!({"test_iteration": {"current_iteration": 1, "max_iterations": 2}});
    flow.write_state(&state);
    let answer = run_guard(&flow, GUARD, &failed_run(&flow, "npm test", "Exit code 1\nError: a"));
    assert!(read_user_message(&answer).unwrap().contains("MAX ITERATIONS"), "{answer:?}");
    assert_eq!(read_record(&flow)["max_iterations"], 2);
}

#[test]
fn a_record_says_when_it_began_and_what_was_run() {
    let flow = flow();
    run_guard(&flow, GUARD, &failed_run(&flow, "npm test", "Exit code 1\nError: a"));
    let first = read_record(&flow);
    let began = first["started_at"].clone();
    assert!(began.is_string(), "{first}");
    assert_eq!(
        (&first["history"][0]["result"], &first["last_test_result"]),
        (&json!("FAILED"), &json!("failed"))
    );
    assert_eq!(first["history"][0]["command"], "npm test");
    run_guard(&flow, GUARD, &successful_run(&flow, "npm test", "5 passed"));
    let second = read_record(&flow);
    assert_eq!((&second["started_at"], &second["history"][1]["result"]), (&began, &json!("PASSED")));
}
