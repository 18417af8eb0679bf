//! Suite 5 of the document: the messages to the agent, in the words of the templates.

use super::*;

/// The document's template.
fn template(kind: &str, name: &str, work: &str, iteration: u64, also: &str) -> String {
    let article = if kind == "all-code" { "An" } else { "A" };
    let directory = format!(".taskie/plans/{PLAN_ID}");
    format!(
        "{article} {kind} review (iteration {iteration}) has been written to \
         {directory}/{name}-review-{iteration}.md by an independent reviewer. Read this review file and perform \
         the post-{kind}-review action: {work}, then create {directory}/{name}-post-review-{iteration}.md \
         documenting your fixes. AFTER completing all post-review work and writing the post-review file, update \
         state.json atomically (read current file, modify only phase and next_phase, write complete JSON back): \
         set phase to \"post-{kind}-review\", set next_phase to \"{kind}-review\". Keep all other fields \
         (max_reviews, current_task, phase_iteration, review_model, consecutive_clean) unchanged. Write via temp \
         file then mv to prevent corruption. {also} to remote. (To stop the review loop, set next_phase to null \
         in state.json.)"
    )
}

/// `compat` uses the template's words; the hook tells the agent what it needs in at most 60 words.
#[track_caller]
fn told(changes: &Value, template: &str, kind: &str) {
    let answers = ["FAIL", "PASS"].map(|verdict| {
        let outcome = both(|| ReviewProject::with_state(changes.clone()).with_verdict(verdict));
        outcome.blocked("");
        assert_eq!(outcome.reason(), template);
        let held = outcome.hook_reason();
        assert!(held.split_whitespace().count() <= 60, "{held}");
        outcome.hook_answer()
    });
    assert_shown!(format!("review-loop-message-{kind}"), answers.join("\n"));
}

#[test]
fn case_01_code_review() {
    let changes = json!({"current_task": "2", "phase_iteration": 2});
    let text =
        template("code", "task-2", "address all issues, update the code", 3, "Update tasks.md and push");
    told(&changes, &text, "code");
}

#[test]
fn case_02_plan_review() {
    let text = template("plan", "plan", "address all issues in plan.md", 1, "Push");
    told(&json!({"next_phase": "plan-review"}), &text, "plan");
}

#[test]
fn case_03_tasks_review() {
    let text = template("tasks", "tasks", "address all issues in tasks.md and task files", 2, "Push");
    let changes = json!({"next_phase": "tasks-review", "phase_iteration": 1});
    told(&changes, &text, "tasks");
}

#[test]
fn case_04_all_code_review() {
    let work = "address all issues across all tasks";
    let text = template("all-code", "all-code", work, 1, "Update tasks.md and push");
    told(&json!({"next_phase": "all-code-review"}), &text, "all-code");
}

#[test]
fn case_05_the_plans_directory_is_named() {
    let outcome = both(|| {
        let planned = ReviewProject::named("another one").with_plan_files();
        planned.set_state(&state(json!({})));
        planned
    });
    outcome.blocked("");
    assert_shown!("review-loop-compat-directory", outcome.reason());
}

/// For every name of a plan.
#[test]
fn case_06_the_answer_is_valid_json() {
    for id in ["plain", "with \"quotes\"", "back\\slash", "ünïcode 計画", "a'b;$(c)"] {
        let outcome = both(|| {
            let planned = ReviewProject::named(id).with_plan_files();
            planned.set_state(&state(json!({})));
            planned
        });
        outcome.blocked(&format!(".taskie/plans/{id}/task-1-review-1.md by an independent reviewer"));
    }
}
