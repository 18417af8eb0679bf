//! An agent's claims in `state.json` count only as far as Provost's reviews support them, and the user is warned.

use super::*;

fn answer_review(planned: &ReviewProject, round: u64, changes: &Value) {
    planned.write_file(&format!("task-1-post-review-{round}.md"), "Mended.\n");
    planned.change_state(&json!({"phase": "post-code-review", "next_phase": "code-review"}));
    planned.change_state(changes);
}

#[track_caller]
fn assert_blocked_after_clean_review(planned: &ReviewProject, answer: &Answer) {
    assert!(planned.expect_block(answer).contains("one more clean review ends"), "{answer:?}");
    assert_eq!(planned.read_state()["consecutive_clean"], 1);
    assert_eq!(planned.read_state()["next_phase"], "post-code-review");
}

#[test]
fn a_false_claim_of_clean_reviews_does_not_count() {
    for claim in [1, 2, 100] {
        let mut planned = started_review(json!({}));
        planned.expect_block(&planned.stop());
        answer_review(&planned, 1, &json!({"consecutive_clean": claim}));
        planned.set("MOCK_CLAUDE_VERDICT", "PASS");
        let answer = planned.stop_again();
        assert_blocked_after_clean_review(&planned, &answer);
        let told = format!("claims {claim} clean in a row, but Provost counts 0 after its own reviews");
        assert!(user_message(&answer).contains(&told), "{answer:?}");
    }
    // The user can configure Provost to trust the state.
    let mut planned = started_review(json!({})).with_config("[review_loop]\nstate = \"believed\"\n");
    planned.expect_block(&planned.stop());
    answer_review(&planned, 1, &json!({"consecutive_clean": 1}));
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    assert_shown!("review-loop-two-clean-reviews", planned.project.whole(&planned.stop_again()));
}

/// Otherwise an agent could repeat a review that found something until one finds nothing.
#[test]
fn an_old_state_does_not_undo_a_round() {
    let mut planned = started_review(json!({})).with_verdict("PASS");
    planned.expect_block(&planned.stop());
    let after_one = planned.read_state();
    answer_review(&planned, 1, &json!({}));
    planned.set("MOCK_CLAUDE_VERDICT", "FAIL");
    planned.expect_block(&planned.stop_again());
    planned.set_state(&after_one);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    assert_blocked_after_clean_review(&planned, &planned.stop_again());
}

/// Makes the temporary file of the new state unwritable while the reviewer works.
const IN_THE_WAY: &str = "mkdir -p \"${file%/*}/.state.json.provost.tmp/x\"";

fn make_state_writable(planned: &mut ReviewProject) {
    fs::remove_dir_all(planned.plan.join(".state.json.provost.tmp")).unwrap();
    planned.set("MOCK_CLAUDE_DOES", "");
}

/// A process that is killed between writing the ledger and the state costs an honest agent no clean review.
#[test]
fn a_round_that_was_not_recorded_costs_no_clean_review() {
    let mut planned = started_review(json!({})).with_verdict("PASS");
    planned.expect_block(&planned.stop());
    answer_review(&planned, 1, &json!({}));
    planned.set("MOCK_CLAUDE_VERDICT", "FAIL");
    planned.set("MOCK_CLAUDE_DOES", IN_THE_WAY);
    assert!(user_message(&planned.stop_again()).contains("its verdict cannot be recorded"));
    make_state_writable(&mut planned);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    assert_shown!("review-loop-two-clean-reviews", planned.project.whole(&planned.stop_again()));
}

#[test]
fn a_round_that_was_not_recorded_gives_no_clean_review() {
    let mut planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    answer_review(&planned, 1, &json!({"consecutive_clean": 1}));
    planned.set("MOCK_CLAUDE_DOES", IN_THE_WAY);
    assert!(user_message(&planned.stop_again()).contains("its verdict cannot be recorded"));
    make_state_writable(&mut planned);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    assert_blocked_after_clean_review(&planned, &planned.stop_again());
}

/// Working copies may share their plans through a link.
#[test]
fn a_plan_is_the_same_from_every_working_copy() {
    let mut planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    answer_review(&planned, 1, &json!({"consecutive_clean": 1}));
    let copy = planned.project.home.join("copy");
    fs::create_dir(&copy).unwrap();
    std::os::unix::fs::symlink(planned.project.path.join(".taskie"), copy.join(".taskie")).unwrap();
    planned.set("CLAUDE_PROJECT_DIR", copy.to_str().unwrap());
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    let mut event = planned.stop_event(true);
    event["cwd"] = json!(copy);
    assert_blocked_after_clean_review(&planned, &planned.hook(&event));
}

#[test]
fn the_user_is_warned_about_a_loop_that_was_left() {
    for (changes, told) in [
        (json!({"next_phase": null}), "state.json has next_phase null"),
        (json!({"next_phase": "complete-task"}), "state.json has next_phase `complete-task`"),
        (
            json!({"next_phase": "code-review", "current_task": "2", "phase_iteration": 0}),
            "state.json has next_phase `code-review` and current_task `2`",
        ),
    ] {
        let planned = started_review(json!({}));
        planned.expect_block(&planned.stop());
        planned.change_state(&changes);
        let answer = planned.stop_again();
        let whole = format!(
            "the code review of task 1 was left after round 1, before 2 reviews in a row were clean: {told}"
        );
        assert!(user_message(&answer).contains(&whole), "{answer:?}");
        assert!(!user_message(&planned.stop()).contains("was left"), "once");
    }
}

#[test]
fn the_user_is_warned_about_a_missing_or_malformed_state() {
    let warnings = [None, Some("broken")].map(|text| {
        let planned = started_review(json!({}));
        planned.expect_block(&planned.stop());
        planned.remove("state.json");
        if let Some(text) = text {
            planned.write_file("state.json", text);
        }
        let answer = planned.stop_again();
        assert!(planned.stop().is_silent(), "once");
        planned.project.whole(&answer)
    });
    assert_shown!("review-loop-broken-state", warnings.join("\n"));
    // A plan that never had a state causes no warning.
    let planned = ReviewProject::new();
    planned.record_work();
    assert!(planned.stop().is_silent());
}

/// Without a ledger entry, the state is trusted: the plan may come from another machine.
#[test]
fn the_user_is_warned_about_clean_reviews_that_provost_has_not_seen() {
    let planned = started_review(json!({"consecutive_clean": 1, "phase_iteration": 3})).with_verdict("PASS");
    let told = user_message(&planned.stop());
    assert_shown!("review-loop-unseen-claim", told);
}
