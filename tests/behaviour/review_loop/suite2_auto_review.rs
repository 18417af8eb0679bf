//! Suite 2 of the document: when a review is made, and what follows from it.

use super::*;

#[track_caller]
fn due(changes: Value, verdict: &str) -> Outcome {
    both(move || ReviewProject::with_state(changes.clone()).with_verdict(verdict))
}

#[test]
fn case_01_trigger_code_review() {
    due(json!({}), "FAIL").blocked("task-1-review-1.md").reviewed(1);
}

#[test]
fn case_02_trigger_plan_review() {
    let state = json!({"phase": "new-plan", "next_phase": "plan-review", "current_task": null});
    due(state, "FAIL").blocked("plan-review-1.md").reviewed(1);
}

#[test]
fn case_03_trigger_tasks_review() {
    let state = json!({"phase": "create-tasks", "next_phase": "tasks-review", "current_task": null});
    due(state, "FAIL").blocked("tasks-review-1.md").reviewed(1);
}

#[test]
fn case_04_next_phase_is_null() {
    due(json!({"next_phase": null}), "FAIL").validated().unwarned().reviewed(0);
}

#[test]
fn case_05_next_phase_is_post_code_review() {
    let changes = json!({"phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1});
    let outcome = due(changes.clone(), "FAIL");
    outcome.validated().reviewed(0).now(&state(changes), &json!({}));
}

#[test]
fn case_06_max_reviews_reached() {
    let changes = json!({"phase": "post-code-review", "phase_iteration": 8});
    let outcome = due(changes.clone(), "PASS");
    outcome.validated().told("has had all its 8 reviews").reviewed(0).now(&state(changes), &json!({}));
}

#[test]
fn case_07_max_reviews_with_custom_limit() {
    let changes = json!({"phase": "post-code-review", "phase_iteration": 3, "max_reviews": 3});
    let outcome = due(changes.clone(), "PASS");
    outcome.validated().told("the agent waits for you").reviewed(0).now(&state(changes), &json!({}));
    // One more is within the limit.
    due(json!({"phase_iteration": 2, "max_reviews": 3}), "FAIL").blocked("task-1-review-3.md");
}

#[test]
fn case_08_state_json_missing() {
    both(ReviewProject::new).validated().unwarned().reviewed(0);
}

#[test]
fn case_09_state_json_malformed() {
    let outcome = both(|| {
        let planned = ReviewProject::new();
        planned.write_file("state.json", "\"not json\"");
        planned
    });
    outcome.validated().warned("state.json contains invalid JSON").reviewed(0);
}

#[test]
fn case_10_next_phase_is_complete_task() {
    let state = json!({"phase": "post-code-review", "next_phase": "complete-task"});
    due(state, "FAIL").validated().unwarned().reviewed(0);
}

#[test]
fn case_11_next_phase_is_create_tasks() {
    let state = json!({"phase": "post-plan-review", "next_phase": "create-tasks"});
    due(state, "FAIL").validated().unwarned().reviewed(0);
}

#[test]
fn case_12_trigger_all_code_review() {
    let state = json!({"phase": "post-code-review", "next_phase": "all-code-review"});
    due(state, "FAIL").blocked("all-code-review-1.md").reviewed(1);
}

#[test]
fn case_13_one_clean_review_is_not_enough() {
    let outcome = due(json!({}), "PASS");
    outcome.blocked(&format!(
        "perform the post-code-review action: address all issues, update the code, then create \
         .taskie/plans/{PLAN_ID}/task-1-post-review-1.md"
    ));
    assert_eq!(outcome.state()["consecutive_clean"], 1);
}

#[test]
fn case_14_two_clean_reviews_advance() {
    let outcome = due(json!({"consecutive_clean": 1, "phase_iteration": 1}), "PASS");
    outcome.approved().unwarned().told("clean 2 times in a row").reviewed(1);
    assert_eq!(outcome.state()["next_phase"], "complete-task");
    assert_eq!(outcome.state()["consecutive_clean"], 2);
}

#[test]
fn case_15_a_dirty_review_resets_the_count() {
    let outcome = due(json!({"consecutive_clean": 1, "phase_iteration": 1}), "FAIL");
    outcome.blocked("perform the post-code-review action");
    assert_eq!(outcome.state()["consecutive_clean"], 0);
    assert_eq!(outcome.state()["next_phase"], "post-code-review");
}
