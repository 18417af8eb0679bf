//! `test-watcher`.

use serde_json::{Value, json};

use crate::gate::{context, demanding, heard, tests_and_articles};
use crate::{Flow, begun, told};

const GUARD: &str = "test-watcher";
const PHASE: &str = "06-implementation";

fn flow() -> Flow {
    demanding(PHASE, &tests_and_articles())
}

/// A command that ended well and printed this.
fn ended(flow: &Flow, command: &str, printed: &str) -> Value {
    let mut event = flow.call("PostToolUse.Bash", &json!({"command": command}));
    event["tool_response"]["stdout"] = json!(printed);
    event
}

fn failed(flow: &Flow, command: &str, error: &str) -> Value {
    let mut event = flow.call("PostToolUseFailure.Bash", &json!({"command": command}));
    event["error"] = json!(error);
    event
}

fn kept(flow: &Flow) -> Value {
    flow.state_now()["phases"][PHASE]["iteration_requirements"]["test_iteration"].clone()
}

/// How the tests of this event ended, by what is kept of them.
fn result(flow: &Flow, event: &Value) -> Option<String> {
    flow.state(&begun(PHASE));
    heard(flow, GUARD, event);
    kept(flow)["last_test_result"].as_str().map(str::to_owned)
}

#[test]
fn a_pass_ends_the_tries_and_names_the_articles() {
    let flow = flow();
    let answer = heard(&flow, GUARD, &ended(&flow, "npm test", "5 passed"));
    let text = context(&answer).unwrap();
    assert!(text.starts_with("TESTS PASSED") && text.contains("Articles [I, II]"), "{text}");
    assert!(!text.contains("ATDD") && told(&answer).is_none());
    let record = kept(&flow);
    assert_eq!((&record["completed"], &record["status"]), (&json!(true), &json!("success")));
    assert_eq!((&record["current_iteration"], &record["max_iterations"]), (&json!(1), &json!(10)));
    let mut state = begun(PHASE);
    state["active_workflow"]["atdd_mode"] = json!(true);
    flow.state(&state);
    assert!(context(&heard(&flow, GUARD, &ended(&flow, "npm test", "ok"))).unwrap().contains("ATDD"));
}

#[test]
fn failures_are_counted_until_a_person_has_to_decide() {
    let flow = flow();
    let fail =
        |error: &str| heard(&flow, GUARD, &failed(&flow, "npm test", &format!("Exit code 1\n{error}")));
    let text = context(&fail("Error: a")).unwrap();
    assert!(
        text.contains("TESTS FAILED (iteration 1/10)") && text.contains("Remaining iterations: 9"),
        "{text}"
    );
    let answer = fail("Error: b");
    assert!(context(&answer).unwrap().contains("(iteration 2/10)") && told(&answer).is_none());
    fail("Error: b");
    let answer = fail("Error: b");
    assert!(told(&answer).unwrap().contains("CIRCUIT BREAKER"), "{answer:?}");
    let record = kept(&flow);
    assert_eq!(
        (&record["status"], &record["escalation_reason"]),
        (&json!("escalated"), &json!("circuit_breaker"))
    );
    assert_eq!((&record["failures_count"], &record["last_error"]), (&json!(4), &json!("Error: b")));
    assert_eq!(record["history"].as_array().unwrap().len(), 4);
    assert!(told(&fail("Error: c")).is_none(), "the person knows");
    heard(&flow, GUARD, &ended(&flow, "npm test", "5 passed"));
    assert_eq!(kept(&flow)["status"], "success");
}

#[test]
fn a_person_sets_the_number_of_tries() {
    let flow = flow();
    let mut state = begun(PHASE);
    state["iteration_config"] = json!({"testing_max": 1, "configured_at": "2026-01-01T00:00:00Z"});
    flow.state(&state);
    let answer = heard(&flow, GUARD, &failed(&flow, "cargo test", "Exit code 101\nerror"));
    assert!(told(&answer).unwrap().contains("MAX ITERATIONS"), "{answer:?}");
    assert_eq!(kept(&flow)["escalation_reason"], "max_iterations");
    state["iteration_config"] = json!({"testing_max": 1});
    flow.state(&state);
    assert!(told(&heard(&flow, GUARD, &failed(&flow, "cargo test", "Exit code 101\nerror"))).is_none());
}

#[test]
fn how_a_command_ended_decides() {
    let flow = flow();
    for (event, wanted) in [
        // What the tests print about failures of others is no failure of theirs.
        (ended(&flow, "npm test", "3 failed logins are refused"), Some("passed")),
        (ended(&flow, "cd web && npm test", "ok"), Some("passed")),
        (failed(&flow, "npm test", "Exit code 1\n5 passed"), Some("failed")),
        // The end of a pipe says nothing about its beginning.
        (ended(&flow, "npm test | tail -5", "Tests: 1 failed, 4 passed"), Some("failed")),
        (ended(&flow, "npm test 2>&1 | tee log", "FAIL src/a.test.js"), Some("failed")),
        (ended(&flow, "npm test || true", "3 failed"), Some("failed")),
        (ended(&flow, "npm test | tail -5", "5 passed, 0 failed"), Some("passed")),
        (failed(&flow, "npm test && ./deploy", "Exit code 2\n5 passed, 0 failed\nno server"), Some("passed")),
        (failed(&flow, "npm test && ./deploy", "Exit code 2\n1 failed"), Some("failed")),
        (ended(&flow, "npm run test:a; npm run test:b", "1 failed\n2 passed"), Some("failed")),
        (ended(&flow, "npm run test:a && npm run test:b", "fine"), Some("passed")),
        // Nobody can tell.
        (ended(&flow, "npm test || true", "hm"), None),
        (ended(&flow, "npm test; echo $?", "1"), None),
        (failed(&flow, "npm test && ./deploy", "Exit code 2\nno server"), None),
        (failed(&flow, "npm test", "The user interrupted it"), None),
        (ended(&flow, "npm test", ""), None),
    ] {
        assert_eq!(result(&flow, &event).as_deref(), wanted, "{event}");
    }
}

/// `tool_response` was not read once, so that every pass was a failure.
#[test]
fn both_names_and_all_forms_of_an_outcome_are_read() {
    let flow = flow();
    let with = |name: &str, outcome: Value| {
        let mut event = ended(&flow, "npm test", "");
        event.as_object_mut().unwrap().remove("tool_response");
        event[name] = outcome;
        result(&flow, &event)
    };
    // What was cut off, or goes on in the background, is no result.
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
fn only_what_runs_tests_counts() {
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
        assert_eq!(result(&flow, &ended(&flow, command, "1 ran")).is_some(), counts, "{command}");
    }
}

#[test]
fn only_phases_that_demand_tests_are_watched() {
    let flow = flow();
    let event = ended(&flow, "npm test", "ok");
    let mut off = begun(PHASE);
    off["iteration_enforcement"] = json!({"enabled": false});
    for state in
        [off, begun("08-code-review"), json!({"current_phase": PHASE}), json!({"active_workflow": 1})]
    {
        flow.state(&state);
        assert!(heard(&flow, GUARD, &event).is_silent());
        assert_eq!(flow.state_now(), state);
    }
    // Under another number it is the same phase.
    flow.state(&begun("05-implementation"));
    heard(&flow, GUARD, &event);
    let state = flow.state_now();
    let record = &state["phases"]["05-implementation"]["iteration_requirements"]["test_iteration"];
    assert_eq!(record["last_test_result"], "passed", "{state}");
    let mut odd = begun(PHASE);
    odd["phases"][PHASE] = json!({"iteration_requirements": {"test_iteration": "mine"}});
    flow.state(&odd);
    heard(&flow, GUARD, &event);
    assert_eq!(flow.state_now(), odd, "what is no record stays");
}

#[test]
fn the_history_is_bounded() {
    let flow = flow();
    let mut state = begun(PHASE);
    state["phases"][PHASE]["iteration_requirements"] = json!({"test_iteration": {"history": vec![1; 70]}});
    flow.state(&state);
    heard(&flow, GUARD, &ended(&flow, "npm test", "ok"));
    assert_eq!(kept(&flow)["history"].as_array().unwrap().len(), 50);
}

#[test]
fn the_workflow_sets_how_often_the_same_error_may_come() {
    let flow = flow();
    for config in [
        json!({"circuit_breaker_threshold": 2}),
        json!({"circuit_breaker_threshold": 2, "testing_max": 7, "configured_at": "2026-01-01T00:00:00Z"}),
    ] {
        let mut state = begun(PHASE);
        state["iteration_config"] = config;
        flow.state(&state);
        let fail = || heard(&flow, GUARD, &failed(&flow, "npm test", "Exit code 1\nError: a"));
        assert!(told(&fail()).is_none());
        assert!(told(&fail()).unwrap().contains("CIRCUIT BREAKER"));
        assert_eq!(kept(&flow)["escalation_reason"], "circuit_breaker");
    }
    for odd in [json!("2"), json!(0), json!(-1), json!(null), json!([2])] {
        let mut state = begun(PHASE);
        state["iteration_config"] = json!({"circuit_breaker_threshold": odd});
        flow.state(&state);
        heard(&flow, GUARD, &failed(&flow, "npm test", "Exit code 1\nError: a"));
        assert!(told(&heard(&flow, GUARD, &failed(&flow, "npm test", "Exit code 1\nError: a"))).is_none());
    }
}

#[test]
fn the_number_of_tries_that_a_record_has_stays() {
    let flow = flow();
    let mut state = begun(PHASE);
    state["phases"][PHASE]["iteration_requirements"] =
        json!({"test_iteration": {"current_iteration": 1, "max_iterations": 2}});
    flow.state(&state);
    let answer = heard(&flow, GUARD, &failed(&flow, "npm test", "Exit code 1\nError: a"));
    assert!(told(&answer).unwrap().contains("MAX ITERATIONS"), "{answer:?}");
    assert_eq!(kept(&flow)["max_iterations"], 2);
}

#[test]
fn a_record_says_when_it_began_and_what_was_run() {
    let flow = flow();
    heard(&flow, GUARD, &failed(&flow, "npm test", "Exit code 1\nError: a"));
    let first = kept(&flow);
    let began = first["started_at"].clone();
    assert!(began.is_string(), "{first}");
    assert_eq!(
        (&first["history"][0]["result"], &first["last_test_result"]),
        (&json!("FAILED"), &json!("failed"))
    );
    assert_eq!(first["history"][0]["command"], "npm test");
    heard(&flow, GUARD, &ended(&flow, "npm test", "5 passed"));
    let second = kept(&flow);
    assert_eq!((&second["started_at"], &second["history"][1]["result"]), (&began, &json!("PASSED")));
}
