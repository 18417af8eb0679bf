//! Suite 1 of the document: the ground rules, and invalid input.

use super::*;

fn script_on(planned: &ReviewProject, input: &str) -> Answer {
    planned.run(&["compat", "stop-hook"], input.as_bytes())
}

/// The hook of this pack has only a guard that fails open: input that it cannot read passes.
fn passes_hook(planned: &ReviewProject, input: &str) {
    let answer = planned.run(&["hook", "--pack", "review-loop"], input.as_bytes());
    assert_eq!(block_reason(&answer), None, "{answer:?}");
}

/// A plan with `plan.md` and these files.
fn plan_with(files: &[(&str, &str)]) -> ReviewProject {
    let planned = ReviewProject::empty();
    planned.write_file("plan.md", "# Plan\n");
    for (name, text) in files {
        planned.write_file(name, text);
    }
    planned
}

/// Provost needs no `jq`, and no other program.
#[test]
fn case_01_no_jq_is_needed() {
    let outcome = both(|| plan_with(&[("tasks.md", TASKS)]).with("PATH", "/nonexistent/directory"));
    outcome.validated().unwarned();
}

#[test]
fn case_02_invalid_json_input() {
    for input in ["invalid json", "\"invalid json\"", "", "[]", "{\"cwd\": \"/"] {
        let planned = ReviewProject::new();
        let answer = script_on(&planned, input);
        assert_eq!(answer.code, Some(2), "{input}: {answer:?}");
        assert_eq!(answer.stdout, "", "{input}");
        assert!(answer.stderr.contains("Invalid JSON"), "{input}: {answer:?}");
        passes_hook(&planned, input);
    }
}

#[test]
fn case_03_invalid_directory() {
    let planned = ReviewProject::new();
    let answer = script_on(&planned, r#"{"cwd": "/nonexistent/directory"}"#);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    assert!(answer.stderr.contains("Cannot change to directory: /nonexistent/directory"), "{answer:?}");
    let mut event = planned.stop_event(false);
    event["cwd"] = "/nonexistent/directory".into();
    passes_hook(&planned, &event.to_string());
}

/// The document approves every stop with this flag. Here it is only a hint: if nothing is due, as in this test, the
/// answer is the same. `loops` tests it in a loop.
#[test]
fn case_04_stop_hook_active() {
    let planned = ReviewProject::without_plans();
    let answer = script_on(&planned, r#"{"stop_hook_active": true}"#);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert_eq!(answer.stdout, r#"{"suppressOutput":true}"#);
    both_at(true, ReviewProject::without_plans).approved().reviewed(0);
    // The ground rules block no turn if Provost cannot record that.
    let planned = plan_with(&[("odd.md", "")]);
    assert_eq!(script_on(&planned, r#"{"stop_hook_active": true}"#).stdout, r#"{"suppressOutput":true}"#);
}

#[test]
fn case_05_no_taskie_directory() {
    let outcome = both(ReviewProject::without_plans);
    assert_eq!(Value::Object(outcome.json.clone()), json!({"suppressOutput": true}));
    assert!(outcome.hook.stop().is_silent());
}

#[test]
fn case_06_valid_plan_structure() {
    let outcome = both(|| plan_with(&[("tasks.md", TASKS)]));
    outcome.validated().unwarned();
    assert_eq!(
        Value::Object(outcome.json.clone()),
        json!({
            "systemMessage": format!("Plan '{PLAN_ID}' structure validated successfully"),
            "suppressOutput": true,
        })
    );
    assert!(outcome.hook.stop().is_silent(), "the hook does not tell that all is well");
}

#[test]
fn case_07_missing_plan_and_invalid_filename() {
    let outcome = both(|| {
        let planned = ReviewProject::empty();
        planned.write_file("invalid-file.md", "x");
        planned
    });
    outcome.blocked("");
    let all = format!("Plan '{PLAN_ID}': Missing required file: plan.md; Invalid filename: invalid-file.md");
    assert_eq!(outcome.json["reason"], all);
}

#[test]
fn case_08_nested_directories() {
    both(|| plan_with(&[("nested/extra.md", "x")])).blocked("Files found in nested directories");
}

#[test]
fn case_09_review_without_base_file() {
    both(|| plan_with(&[("design-review-1.md", "x")])).blocked("design-review-1.md requires design.md");
}

#[test]
fn case_10_post_review_without_review() {
    both(|| plan_with(&[("plan-post-review-1.md", "x")]))
        .blocked("plan-post-review-1.md requires plan-review-1.md");
}

#[test]
fn case_11_task_files_without_tasks_md() {
    both(|| plan_with(&[("task-1.md", "x")])).blocked("Task files exist but tasks.md is missing");
}

#[test]
fn case_12_non_table_tasks_md() {
    both(|| plan_with(&[("tasks.md", "First the form, then the check.\n")]))
        .blocked("tasks.md contains non-table content");
}

#[test]
fn case_13_empty_tasks_md() {
    both(|| plan_with(&[("tasks.md", "")])).blocked("tasks.md has no table rows");
}

#[test]
fn case_14_state_json_is_not_rejected_by_filename_validation() {
    both(|| plan_with(&[("state.json", &state(json!({"next_phase": null})).to_string())])).validated();
}

#[test]
fn case_15_invalid_state_json_produces_warning() {
    for text in ["\"not valid json\"", "not valid json", "{\"phase\": ", ""] {
        let outcome = both(|| plan_with(&[("state.json", text)]));
        outcome.validated().warned("state.json contains invalid JSON");
        assert_eq!(outcome.script.read_file("state.json"), text, "a damaged state stays as it is");
    }
}

#[test]
fn case_16_state_json_missing_required_fields() {
    let outcome = both(|| plan_with(&[("state.json", r#"{"phase": "new-plan"}"#)]));
    outcome.validated().warned(
        "state.json missing required fields: next_phase, review_model, max_reviews, consecutive_clean, tdd",
    );
}

#[test]
fn case_17_valid_state_json_passes_schema_validation() {
    let text = state(json!({"next_phase": null, "phase_iteration": null})).to_string();
    both(|| plan_with(&[("state.json", &text)])).validated().unwarned();
}
