//! Suite 3 of the document: what `state.json` is after a review.

use super::*;

/// The outcome of one review, and the state that it began with.
#[track_caller]
fn after(verdict: &str, changes: &Value) -> (Outcome, Value) {
    (both(|| ReviewProject::with_state(changes.clone()).with_verdict(verdict)), state(changes.clone()))
}

#[test]
fn case_01_code_review() {
    let (outcome, before) = after("FAIL", &json!({}));
    let changes = json!({
        "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet",
    });
    outcome.now(&before, &changes);
}

#[test]
fn case_02_plan_review() {
    let changes = json!({"phase": "new-plan", "next_phase": "plan-review", "current_task": null});
    let (outcome, before) = after("FAIL", &changes);
    let changes = json!({
        "phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 1, "review_model": "sonnet",
    });
    outcome.now(&before, &changes);
}

#[test]
fn case_03_tasks_review() {
    let (outcome, before) = after("FAIL", &json!({"phase": "create-tasks", "next_phase": "tasks-review"}));
    let changes = json!({
        "phase": "tasks-review", "next_phase": "post-tasks-review", "phase_iteration": 1, "review_model": "sonnet",
    });
    outcome.now(&before, &changes);
}

#[test]
fn case_04_opus_then_sonnet() {
    let (outcome, _) = after("FAIL", &json!({}));
    assert_eq!(outcome.state()["review_model"], "sonnet");
    assert_eq!(outcome.state()["phase_iteration"], 1);
}

#[test]
fn case_05_sonnet_then_opus() {
    let (outcome, _) = after("FAIL", &json!({"review_model": "sonnet", "phase_iteration": 1}));
    assert_eq!(outcome.state()["review_model"], "opus");
    assert_eq!(outcome.state()["phase_iteration"], 2);
}

#[test]
fn case_06_iteration_increment() {
    let (outcome, _) = after("FAIL", &json!({"phase_iteration": 4}));
    assert_eq!(outcome.state()["phase_iteration"], 5);
    assert!(outcome.script.has_file("task-1-review-5.md"));
}

#[test]
fn case_07_max_reviews_preserved() {
    let (outcome, _) = after("FAIL", &json!({"max_reviews": 5}));
    assert_eq!(outcome.state()["max_reviews"], 5);
}

#[test]
fn case_08_current_task_preserved() {
    let (outcome, _) = after("FAIL", &json!({"current_task": "3"}));
    assert_eq!(outcome.state()["current_task"], "3");
}

#[test]
fn case_09_a_clean_review_counts() {
    let (outcome, _) = after("PASS", &json!({}));
    assert_eq!(outcome.state()["consecutive_clean"], 1);
}

#[test]
fn case_10_issues_reset_the_count() {
    let (outcome, _) = after("FAIL", &json!({"consecutive_clean": 1}));
    assert_eq!(outcome.state()["consecutive_clean"], 0);
}

#[test]
fn case_11_two_clean_code_reviews_advance_to_complete_task() {
    for (tdd, next) in [(false, "complete-task"), (true, "complete-task-tdd")] {
        let (outcome, _) = after("PASS", &json!({"consecutive_clean": 1, "tdd": tdd}));
        outcome.approved();
        assert_eq!(outcome.state()["next_phase"], next);
    }
}

#[test]
fn case_12_two_clean_plan_reviews_advance_to_create_tasks() {
    let (outcome, _) = after("PASS", &json!({"consecutive_clean": 1, "next_phase": "plan-review"}));
    outcome.approved();
    assert_eq!(outcome.state()["next_phase"], "create-tasks");
}

#[test]
fn case_13_two_clean_tasks_reviews_advance_to_complete_task() {
    for (tdd, next) in [(false, "complete-task"), (true, "complete-task-tdd")] {
        let changes = json!({"consecutive_clean": 1, "next_phase": "tasks-review", "tdd": tdd});
        let (outcome, _) = after("PASS", &changes);
        outcome.approved();
        assert_eq!(outcome.state()["next_phase"], next);
    }
}

#[test]
fn case_14_two_clean_all_code_reviews_advance_to_complete() {
    let (outcome, _) = after("PASS", &json!({"consecutive_clean": 1, "next_phase": "all-code-review"}));
    outcome.approved();
    assert_eq!(outcome.state()["next_phase"], "complete");
}

#[test]
fn case_15_an_advance_writes_all_fields() {
    let (outcome, before) = after("PASS", &json!({"consecutive_clean": 1, "phase_iteration": 3}));
    let changes = json!({
        "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 4, "review_model": "sonnet",
        "consecutive_clean": 2,
    });
    outcome.now(&before, &changes);
}

#[test]
fn case_16_the_state_is_whole_after_an_update() {
    for verdict in ["PASS", "FAIL"] {
        let (outcome, before) = after(verdict, &json!({}));
        let state = outcome.state();
        let fields: Vec<&String> = state.as_object().unwrap().keys().collect();
        assert_eq!(fields, before.as_object().unwrap().keys().collect::<Vec<_>>(), "in their order");
        assert!(outcome.script.read_file("state.json").ends_with("}\n"));
    }
}
