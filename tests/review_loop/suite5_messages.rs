//! Suite 5 of the document: what the agent is told, in the words of the templates.

use super::*;

/// The document's template, up to where Provost's own command is offered.
fn template(kind: &str, name: &str, work: &str, iteration: u64) -> String {
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
         file then mv to prevent corruption"
    )
}

#[track_caller]
fn told(changes: Value, template: &str, end: &str) {
    let outcome = both(move || Planned::at(changes.clone()));
    let way_out = "(To stop the review loop, set next_phase to null in state.json.)";
    outcome.blocked(&[way_out]);
    let reason = outcome.json["reason"].as_str().unwrap();
    assert!(reason.starts_with(template), "\n{reason}\n{template}");
    assert!(reason.ends_with(&format!("{end} to remote. {way_out}")), "{reason}");
}

#[test]
fn case_01_code_review() {
    let changes = json!({"current_task": "2", "phase_iteration": 2});
    let text = template("code", "task-2", "address all issues, update the code", 3);
    for part in ["task-2-review-3.md", "post-code-review", "state.json"] {
        assert!(text.contains(part));
    }
    told(changes, &text, "Update tasks.md and push");
}

#[test]
fn case_02_plan_review() {
    let text = template("plan", "plan", "address all issues in plan.md", 1);
    told(json!({"next_phase": "plan-review"}), &text, "Push");
}

#[test]
fn case_03_tasks_review() {
    let text = template("tasks", "tasks", "address all issues in tasks.md and task files", 2);
    told(json!({"next_phase": "tasks-review", "phase_iteration": 1}), &text, "Push");
}

#[test]
fn case_04_all_code_review() {
    let text = template("all-code", "all-code", "address all issues across all tasks", 1);
    told(json!({"next_phase": "all-code-review"}), &text, "Update tasks.md and push");
}

#[test]
fn case_05_the_plans_directory_is_named() {
    let outcome = both(|| {
        let planned = Planned::named("another one").filled();
        planned.set_state(&state(json!({})));
        planned
    });
    outcome.blocked(&[".taskie/plans/another one/task-1-review-1.md"]);
    assert!(!outcome.json["reason"].as_str().unwrap().contains("${"));
}

/// Whatever the plan is called.
#[test]
fn case_06_the_answer_is_valid_json() {
    for id in ["plain", "with \"quotes\"", "back\\slash", "ünïcode 計画", "a'b;$(c)"] {
        let outcome = both(|| {
            let planned = Planned::named(id).filled();
            planned.set_state(&state(json!({})));
            planned
        });
        outcome.blocked(&["by an independent reviewer", id]);
    }
}
