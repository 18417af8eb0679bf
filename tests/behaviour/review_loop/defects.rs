//! The defects of the document's scripts, each as a test of the right behaviour.

use super::*;

#[track_caller]
fn validated(planned: &ReviewProject) {
    let answer = planned.script(false);
    assert!(answer.stdout.contains("structure validated successfully"), "{answer:?}");
    planned.record_work();
    let answer = planned.stop();
    assert_eq!(block_reason(&answer), None, "{answer:?}");
}

/// Longer ago than Provost keeps its own files.
fn long_ago(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(60 * 24)).unwrap();
}

/// Whether a file in Provost's own directory is a reviewer's log.
fn is_log(name: &str) -> bool {
    [".md.out", ".md.err"].iter().any(|end| name.ends_with(end))
}

/// Defect 1: after the first block every stop of the turn has the flag.
#[test]
fn the_flag_of_the_client_does_not_end_the_loop() {
    let planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    planned.write_file("task-1-post-review-1.md", "Mended.\n");
    assert!(planned.expect_block(&planned.stop_again()).contains("task-1-review-2.md"));
    assert_eq!(planned.read_state()["phase_iteration"], 2);
}

/// Defect 2: the real client's verdict is not where the document looks for it.
#[test]
fn a_verdict_is_found_in_every_form_of_the_clients_answer() {
    for prints in ["result", "blank", "string", "fenced", "object"] {
        let make = |verdict: &str| {
            let planned = started_review(json!({"consecutive_clean": 1})).with_verdict(verdict);
            planned.with("MOCK_CLAUDE_PRINTS", prints).with("MOCK_CLAUDE_WRITES", "bare")
        };
        let planned = make("PASS");
        assert!(user_message(&planned.stop()).contains("Next: complete-task"), "{prints}");
        assert_eq!(planned.read_state()["consecutive_clean"], 2, "{prints}");
        let planned = make("FAIL");
        planned.expect_block(&planned.stop());
        assert_eq!(planned.read_state()["consecutive_clean"], 0, "{prints}");
    }
}

/// Defect 3: the list of files went through a pipe that was closed early.
#[test]
fn a_plan_of_eighty_eight_and_of_five_thousand_files() {
    for count in [88, 5000] {
        let planned = started_review(json!({}));
        for number in 1..=count {
            planned.write_file(&format!("task-4-5-review-{number}.md"), "x");
        }
        for _ in 0..5 {
            planned.set_state(&state(json!({"next_phase": null})));
            let answer = planned.script(false);
            assert_eq!(answer.code, Some(0));
            assert!(answer.stdout.contains("structure validated successfully"), "{answer:?}");
            assert!(planned.stop().is_silent());
        }
        planned.set_state(&state(json!({})));
        assert!(planned.expect_block(&planned.stop()).contains("task-1-review-1.md"), "of {count} files");
    }
}

/// Defect 4: one rule required the post-review of a post-review, and another one forbade it.
#[test]
fn a_post_review_is_not_a_review() {
    let planned = ReviewProject::new();
    for name in ["task-2", "task-2-code", "plan", "tasks", "all-code", "code", "task-4-5", "task-review"] {
        for round in [1, 2, 5] {
            planned.write_file(&format!("{name}-review-{round}.md"), "x");
            planned.write_file(&format!("{name}-post-review-{round}.md"), "x");
        }
    }
    planned.write_file("task-3-review-1.md", "a review that nobody answered");
    validated(&planned);
    planned.remove("task-2-code-review-2.md");
    let reason = planned.expect_block(&planned.stop());
    let demanded = "': task-2-code-post-review-2.md requires task-2-code-review-2.md. To fix";
    assert!(reason.contains(demanded), "{reason}");
}

/// Defect 5: a file of an earlier cycle stood for a review that was never written.
#[test]
fn a_stale_review_file_is_not_taken_for_a_new_one() {
    let mut planned = started_review(json!({"consecutive_clean": 1})).with_verdict("PASS");
    planned.write_file("task-1-review-1.md", "old").write_file("task-1-post-review-1.md", "old answer");
    long_ago(&planned.plan.join("task-1-review-1.md"));
    long_ago(&planned.plan.join("task-1-post-review-1.md"));
    for writes in ["nothing", "empty"] {
        planned.set("MOCK_CLAUDE_WRITES", writes);
        let answer = planned.stop();
        assert!(user_message(&answer).contains("the reviewer wrote no review"), "{answer:?}");
        assert_eq!(planned.read_state(), state(json!({"consecutive_clean": 1})));
        assert_eq!(planned.read_file("task-1-review-1.md"), "old", "it is put back");
        assert_eq!(planned.read_file("task-1-post-review-1.md"), "old answer", "with its answer");
    }
    planned.set("MOCK_CLAUDE_WRITES", "review");
    assert!(user_message(&planned.stop()).contains("Next: complete-task"));
    assert!(planned.read_file("task-1-review-1.md").starts_with("# Review"));
}

#[test]
fn a_stale_review_is_kept_and_hidden_from_the_reviewer() {
    let does = "cp \"${file%/*}\"/task-1-*review-1.md \"$MOCK_CLAUDE_LOG/..\"";
    let planned = started_review(json!({})).with("MOCK_CLAUDE_DOES", does);
    planned.write_file("task-1-review-1.md", "old").write_file("task-1-post-review-1.md", "old answer");
    long_ago(&planned.plan.join("task-1-review-1.md"));
    long_ago(&planned.plan.join("task-1-post-review-1.md"));
    planned.expect_block(&planned.stop());
    assert!(!planned.project.home.join("task-1-review-1.md").exists(), "the reviewer sees nothing of it");
    assert!(!planned.project.home.join("task-1-post-review-1.md").exists());
    let kept: Vec<(String, String)> =
        planned.read_set_aside_files().into_iter().filter(|(name, _)| !is_log(name)).collect();
    let expected = [("task-1-post-review-1.md", "old answer"), ("task-1-review-1.md", "old")];
    assert_eq!(kept, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    // The old answer does not answer the new review.
    assert!(user_message(&planned.stop_again()).contains("without an answer"));
    assert_eq!(planned.reviewer_calls().len(), 1);
}

#[test]
fn a_failed_review_does_not_stand_for_the_next_try() {
    let mut planned = started_review(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_EXIT_CODE", "1");
    planned.stop();
    assert!(planned.has_file("task-1-review-1.md"), "what it wrote may be read");
    planned.set("MOCK_CLAUDE_EXIT_CODE", "0");
    planned.set("MOCK_CLAUDE_WRITES", "nothing");
    assert!(user_message(&planned.stop()).contains("the reviewer wrote no review"));
    assert_eq!(planned.read_state(), state(json!({})));
}

#[test]
fn reviews_of_tasks_have_files_of_their_own() {
    let planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    planned.set_state(&state(json!({"current_task": "2"})));
    planned.expect_block(&planned.stop());
    assert!(planned.has_file("task-1-review-1.md") && planned.has_file("task-2-review-1.md"));
    assert!(planned.read_set_aside_files().iter().all(|(name, _)| is_log(name)));
}

/// Defect 6: what the reviewer printed was written over the review.
#[test]
fn the_review_is_what_the_reviewer_wrote() {
    let planned = started_review(json!({})).with("MOCK_CLAUDE_PRINTS", "text");
    planned.expect_block(&planned.stop());
    assert_eq!(
        planned.read_file("task-1-review-1.md"),
        "# Review\n\n1. A finding, or none.\n\nVERDICT: FAIL\n"
    );
}

/// Defect 7: the client does not start within itself, and says so by a variable.
#[test]
fn the_reviewer_inherits_nothing_of_the_session() {
    const SESSIONS: [&str; 8] = [
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_ENV_FILE",
        "AI_AGENT",
    ];
    const PERSONS: [&str; 4] =
        ["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "HTTPS_PROXY"];
    let mut planned = started_review(json!({}));
    let project = planned.project.path.display().to_string();
    for name in SESSIONS.iter().chain(&PERSONS) {
        planned.set(name, if *name == "CLAUDE_PROJECT_DIR" { &project } else { "1" });
    }
    planned.expect_block(&planned.stop());
    let call = &planned.reviewer_calls()[0];
    for name in SESSIONS {
        assert!(!call.has_variable(name), "{name} in\n{}", call.environment);
    }
    for name in PERSONS.iter().chain(&["HOME", "PATH", "PROVOST_CHILD"]) {
        assert!(call.has_variable(name), "{name} not in\n{}", call.environment);
    }
}

#[test]
fn without_reviews_and_tasks_the_plan_advances() {
    let outcome = both(|| {
        let planned = ReviewProject::with_state(json!({"max_reviews": 0}));
        planned.write_file("tasks.md", &TASKS.replace("pending", "done"));
        planned
    });
    outcome.approved().unwarned();
    assert_eq!(outcome.state()["next_phase"], "all-code-review");
}

#[test]
fn a_task_may_have_any_id_that_is_a_name() {
    for (task, file) in [
        (json!("2b"), "task-2b-review-1.md"),
        (json!(2), "task-2-review-1.md"),
        (json!("4-5"), "task-4-5-review-1.md"),
    ] {
        let outcome = both(|| {
            let planned = ReviewProject::with_state(json!({"current_task": task}));
            planned.write_file(&file.replace("-review-1", ""), "# Task\n");
            planned
        });
        outcome.blocked(file).unwarned();
        assert!(outcome.script.has_file(file));
        assert_eq!(outcome.state()["current_task"], task, "as it was written");
    }
}

#[test]
fn an_id_that_is_no_name_is_not_reviewed() {
    for task in
        [json!("../../x"), json!("a/b"), json!("a b"), json!(""), json!(null), json!(["1"]), json!("x\n")]
    {
        let changes = json!({"current_task": task});
        let outcome = both(|| {
            let planned = ReviewProject::with_state(changes.clone()).with_verdict("PASS");
            planned.write_file("task-x.md", "# Task\n");
            planned
        });
        // A line break at the end is not part of the id.
        if task == "x\n" {
            outcome.blocked("task-x-review-1.md");
            continue;
        }
        outcome.validated().warned("came to nothing").reviewed(0).now(&state(changes), &json!({}));
    }
}

/// The reviewer could not compare its code with anything.
#[test]
fn a_task_without_a_file_is_not_reviewed() {
    for gone in ["removed", "moved", "dangling"] {
        let outcome = both(|| {
            let planned = ReviewProject::with_state(json!({"current_task": "3"})).with_verdict("PASS");
            planned.remove("task-3.md");
            match gone {
                "moved" => drop(planned.write_file("task-4.md", "# Task\n")),
                "dangling" => std::os::unix::fs::symlink("nowhere", planned.plan.join("task-3.md")).unwrap(),
                _ => {}
            }
            planned
        });
        outcome.validated().warned("there is no task-3.md to review").reviewed(0);
        outcome.now(&state(json!({"current_task": "3"})), &json!({}));
    }
}

#[test]
fn invalid_values_count_as_the_defaults_and_stay() {
    for (field, value) in [
        ("max_reviews", json!("many")),
        ("phase_iteration", json!("abc")),
        ("phase_iteration", json!([1])),
        ("consecutive_clean", json!({"a": 1})),
        ("tdd", json!("perhaps")),
        ("phase", json!(["next-task"])),
    ] {
        let outcome = both(|| ReviewProject::with_state(json!({field: value})));
        outcome.blocked("task-1-review-1.md").warned(&format!("the defaults count: {field}"));
        let own = ["phase_iteration", "phase"].contains(&field);
        assert_eq!(outcome.state()[field] == value, !own, "{field} {}", outcome.state());
        assert!(
            outcome
                .script
                .list_files()
                .iter()
                .all(|name| !name.starts_with("state.json.") && !name.starts_with('.'))
        );
    }
    let planned = ReviewProject::with_state(json!({"review_model": 5})).with_verdict("PASS");
    planned.script(false);
    assert_eq!(planned.reviewer_calls()[0].model(), "5", "the script asks whom the state names");
}

#[test]
fn a_state_that_is_not_an_object_is_malformed() {
    for text in ["[1,2]", "5", "\"not json\"", "null", "true", "{} {}", "{\"phase\":\"x\",}", "\u{0}"] {
        let outcome = both(|| {
            let planned = ReviewProject::new();
            planned.write_file("state.json", text);
            planned
        });
        outcome.validated().warned("state.json contains invalid JSON").reviewed(0);
        assert_eq!(outcome.script.read_file("state.json"), text);
    }
}

/// Only changed fields are rewritten; all others keep their exact text.
#[test]
fn numbers_and_texts_stay_as_they_were_written() {
    let text =
        "{\"max_reviews\": \"8\", \"current_task\": \"1\", \"phase\": \"x\", \"phase_iteration\": \"1\",
        \"next_phase\": \"code-review\", \"review_model\": \"opus\", \"consecutive_clean\": 0, \"tdd\": false,
        \"big\": 12345678901234567890123, \"real\": 1.50, \"own\": \"\\u00e4\"}";
    let outcome = both(|| {
        let planned = ReviewProject::new();
        planned.write_file("state.json", text);
        planned
    });
    outcome.blocked("task-1-review-2.md").unwarned();
    assert_shown!("review-loop-unchanged-values", outcome.script.read_file("state.json"));
}

#[test]
fn warnings_of_the_reviewer_do_not_hide_its_verdict() {
    let planned = started_review(json!({"consecutive_clean": 1})).with_verdict("PASS");
    let planned = planned.with("MOCK_CLAUDE_PRINTS", "noise").with("MOCK_CLAUDE_WRITES", "bare");
    let answer = planned.stop();
    assert!(user_message(&answer).contains("Next: complete-task"), "{answer:?}");
    // They are stored outside the plan, where the user can read them.
    let kept = planned.read_set_aside_files();
    let of = |ending: &str| kept.iter().find(|(name, _)| name.ends_with(ending)).unwrap().1.clone();
    assert_eq!(of(".err"), "Warning: a new version is there\n");
    assert!(of(".out").contains("\"structured_output\""));
    assert!(planned.list_files().iter().all(|name| !name.starts_with('.')), "{:?}", planned.list_files());
}

#[test]
fn a_task_in_progress_is_left() {
    for (status, next) in [
        ("in progress", "complete-task"),
        ("In-Progress", "complete-task"),
        ("blocked", "complete-task"),
        ("not done", "complete-task"),
        ("", "complete-task"),
        ("done", "all-code-review"),
        ("Done (abc123)", "all-code-review"),
        ("cancelled", "all-code-review"),
        ("postponed", "all-code-review"),
    ] {
        let planned = started_review(json!({"consecutive_clean": 1})).with_verdict("PASS");
        planned.write_file(
            "tasks.md",
            &TASKS.replace("| 2 | pending", &format!("| 2 | {status}")).replace("3 | pending", "3 | done"),
        );
        planned.stop();
        assert_eq!(planned.read_state()["next_phase"], next, "{status}");
    }
}

#[test]
fn without_a_table_no_number_of_tasks_is_claimed() {
    for make in [
        |planned: &ReviewProject| planned.remove("tasks.md"),
        |planned: &ReviewProject| {
            planned.write_file("tasks.md", "\n");
        },
    ] {
        let outcome = both(|| {
            let planned = ReviewProject::with_state(json!({"consecutive_clean": 1})).with_verdict("PASS");
            make(&planned);
            planned
        });
        outcome.approved().unwarned();
        assert_eq!(outcome.state()["next_phase"], "complete-task", "what is not known is not the end");
        let outcome = both(|| {
            let planned =
                ReviewProject::with_state(json!({"next_phase": "tasks-review"})).with_verdict("PASS");
            make(&planned);
            planned
        });
        outcome.warned("tasks.md names no task").reviewed(0);
    }
}

#[test]
fn a_plan_with_review_in_its_name_has_all_rules() {
    let outcome = both(|| {
        let planned = ReviewProject::named("code-review-rework");
        planned.write_file("plan.md", "x").write_file("task-1.md", "x");
        planned
    });
    outcome.blocked("Plan 'code-review-rework': Task files exist but tasks.md is missing");
    let outcome = both(|| {
        let planned = ReviewProject::named("plan-review-1").with_plan_files();
        planned.set_state(&state(json!({})));
        planned
    });
    outcome.blocked("/plan-review-1/task-1-review-1.md");
}

#[test]
fn a_plan_with_a_blank_in_its_name_is_named_whole() {
    let outcome = both(|| {
        let planned = ReviewProject::named("my plan");
        planned.write_file("odd.md", "x");
        planned
    });
    outcome.blocked("Plan 'my plan': Missing");
}

#[test]
fn line_ends_and_blanks_do_not_break_a_table() {
    let crlf = TASKS.replace('\n', "\r\n");
    let trailing = TASKS.replace('\n', "  \n");
    let spaced = TASKS.replace("| 2", "   \n\t\n| 2");
    for text in [crlf.clone(), trailing, spaced, format!("\u{feff}{TASKS}"), TASKS.trim_end().to_owned()] {
        let planned = ReviewProject::new();
        planned.write_file("tasks.md", &text);
        validated(&planned);
    }
    let planned = started_review(json!({"consecutive_clean": 1})).with_verdict("PASS");
    planned
        .write_file("tasks.md", &crlf.replace("2 | pending", "2 | done").replace("3 | pending", "3 | done"));
    planned.stop();
    assert_eq!(planned.read_state()["next_phase"], "all-code-review");
}

#[test]
fn a_null_iteration_stays_null_when_nothing_is_reviewed() {
    let changes = json!({"phase_iteration": null, "next_phase": "complete-task"});
    let outcome = both(|| ReviewProject::with_state(changes.clone()));
    outcome.validated().unwarned().now(&state(changes), &json!({}));
    // Where a review is due it is the first.
    let outcome = both(|| ReviewProject::with_state(json!({"phase_iteration": null})));
    outcome.blocked("task-1-review-1.md");
    assert_eq!(outcome.state()["phase_iteration"], 1);
}

#[test]
fn names_of_older_versions_and_gaps_are_no_violation() {
    let planned = ReviewProject::new();
    for name in
        ["code-review-1.md", "code-post-review-1.md", "task-4-5.md", "task-4-5-review-7.md", "design.md"]
    {
        planned.write_file(name, "x");
    }
    planned.write_file("notes.txt", "x").write_file(".review-1.log", "x").write_file("attic/data.json", "{}");
    validated(&planned);
}
