//! Suite 6 of the document: edges, and several stops in a row.

use super::*;

type Entry = fn(&ReviewProject, bool) -> Option<String>;

/// Why a stop is blocked, for each of the entries.
const ENTRIES: [Entry; 2] = [
    |planned, again| {
        let answer = planned.script(again);
        let json: Value = serde_json::from_str(&answer.stdout).unwrap();
        json["reason"].as_str().map(str::to_owned)
    },
    |planned, again| {
        planned.record_work();
        block_reason(&planned.hook(&planned.stop_event(again)))
    },
];

/// Another plan in the same project, changed an hour before or after.
fn another(planned: &ReviewProject, later: bool) {
    let directory = planned.plan.with_file_name("other");
    fs::create_dir_all(&directory).unwrap();
    let hour = Duration::from_hours(1);
    let time = if later { SystemTime::now() + hour } else { SystemTime::now() - hour };
    let path = directory.join("odd.md");
    fs::write(&path, "x").unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn case_01_multiple_plan_directories() {
    let outcome = both(|| {
        let planned = ReviewProject::with_state(json!({}));
        another(&planned, false);
        planned
    });
    outcome.blocked("task-1-review-1.md");
    // The other plan is newer. That counts for `compat`; for the hook, the session's own plan counts.
    let planned = ReviewProject::with_state(json!({}));
    another(&planned, true);
    let answer = planned.script(false);
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert!(json["reason"].as_str().unwrap().starts_with("Plan 'other': "), "{answer:?}");
    planned.record_work();
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-1.md"));
    // The time of the state counts, as the document requires.
    let planned = ReviewProject::new();
    for file in planned.list_files() {
        let file = fs::File::options().write(true).open(planned.plan.join(file)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(2)).unwrap();
    }
    another(&planned, false);
    planned.set_state(&state(json!({})));
    assert!(planned.script(false).stdout.contains("task-1-review-1.md"));
}

#[test]
fn case_02_unknown_fields_stay() {
    let odd = json!({"custom_field": 42, "deep": {"a": [1.50, null]}});
    let outcome = both(|| ReviewProject::with_state(odd.clone()));
    outcome.blocked("task-1-review-1.md");
    assert_eq!(outcome.state()["custom_field"], 42);
    assert_eq!(outcome.state()["deep"], odd["deep"]);
}

#[test]
fn case_03_phase_iteration_is_null() {
    let changes = json!({"phase_iteration": null, "next_phase": null});
    let outcome = both(|| ReviewProject::with_state(changes.clone()));
    outcome.validated().unwarned().reviewed(0).now(&state(changes), &json!({}));
}

#[test]
fn case_04_unexpected_model() {
    let planned = ReviewProject::with_state(json!({"review_model": "haiku"}));
    let answer = planned.script(false);
    assert_shown!("review-loop-compat-unknown-model", planned.project.whole(&answer));
    assert_eq!(planned.reviewer_calls()[0].model(), "haiku");
    assert_eq!(planned.read_state()["review_model"], "opus");
}

#[test]
fn case_05_a_state_before_the_plan() {
    for next in [json!("plan-review"), Value::Null] {
        let outcome = both(|| {
            let planned = ReviewProject::empty();
            planned.set_state(&state(json!({"phase": "new-plan", "next_phase": next})));
            planned
        });
        outcome.blocked("Missing required file: plan.md").reviewed(0);
    }
}

#[test]
fn case_06_a_review_comes_before_the_ground_rules() {
    let make = |next: Value| {
        let planned = ReviewProject::with_state(json!({"next_phase": next}));
        planned.write_file("nested/extra.md", "x");
        planned
    };
    let outcome = both(|| make(json!("code-review")));
    outcome.blocked("").reviewed(1);
    assert_shown!("review-loop-review-before-rules", outcome.hook_answer());
    both(|| make(Value::Null)).blocked("Files found in nested directories");
}

#[test]
fn case_07_no_plan_in_the_plans_directory() {
    let outcome = both(|| {
        let planned = ReviewProject::without_plans();
        fs::create_dir_all(planned.plan.parent().unwrap()).unwrap();
        planned
    });
    assert_eq!(Value::Object(outcome.json.clone()), json!({"suppressOutput": true}));
    // A directory without any file of a plan does not count either.
    assert_eq!(ReviewProject::empty().script(false).stdout, r#"{"suppressOutput":true}"#);
}

#[test]
fn case_08_max_reviews_is_zero() {
    let outcome = both(|| ReviewProject::with_state(json!({"max_reviews": 0})).with_verdict("PASS"));
    outcome.approved().told("max_reviews is 0").reviewed(0);
    let before = state(json!({"max_reviews": 0}));
    outcome.now(&before, &json!({"phase": "code-review", "next_phase": "complete-task"}));
}

#[test]
fn case_09_a_plan_without_state() {
    let outcome = both(|| {
        let planned = ReviewProject::empty();
        planned.write_file("plan.md", "# Plan\n").write_file("tasks.md", TASKS);
        planned
    });
    outcome.validated().unwarned().reviewed(0);
    assert!(!outcome.script.has_file("state.json"));
}

#[test]
fn case_10_models_alternate_over_four_rounds() {
    for stop in ENTRIES {
        let planned = ReviewProject::with_state(json!({}));
        for (round, model) in ["opus", "sonnet", "opus", "sonnet"].into_iter().enumerate() {
            assert_eq!(planned.read_state()["review_model"], model);
            let file = format!("task-1-review-{}.md", round + 1);
            assert!(stop(&planned, round > 0).unwrap().contains(&file));
            assert_eq!(planned.reviewer_calls().last().unwrap().model(), model);
            planned.write_file(&format!("task-1-post-review-{}.md", round + 1), "Mended.\n");
            planned.change_state(&json!({"phase": "post-code-review", "next_phase": "code-review"}));
        }
        let models: Vec<String> =
            planned.reviewer_calls().iter().map(|call| call.model().to_owned()).collect();
        assert_eq!(models, ["opus", "sonnet", "opus", "sonnet"]);
    }
}

#[test]
fn case_11_two_clean_reviews_in_a_row() {
    for stop in ENTRIES {
        let planned = ReviewProject::with_state(json!({})).with_verdict("PASS");
        assert!(stop(&planned, false).is_some());
        assert_eq!(planned.read_state()["consecutive_clean"], 1);
        planned.change_state(&json!({"phase": "post-code-review", "next_phase": "code-review"}));
        assert_eq!(stop(&planned, true), None);
        assert_eq!(planned.read_state()["consecutive_clean"], 2);
        assert_eq!(planned.read_state()["next_phase"], "complete-task");
    }
}

#[test]
fn case_12_no_temporary_files_are_left() {
    let before = ReviewProject::with_state(json!({})).list_files();
    let outcome = both(|| ReviewProject::with_state(json!({})));
    let mut expected = [before, vec!["task-1-review-1.md".into()]].concat();
    expected.sort();
    assert_eq!(outcome.script.list_files(), expected);
}
