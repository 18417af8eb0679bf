//! Whole loops over several stops, with agents and users that make mistakes.

use super::*;

/// The agent answers a review as instructed: first the file, then the state.
fn answer_review(planned: &ReviewProject, round: u64) {
    post_review(planned, round);
    set_state_to_answered(planned);
}

fn post_review(planned: &ReviewProject, round: u64) {
    planned.write_file(&format!("task-1-post-review-{round}.md"), "Mended.\n");
}

fn set_state_to_answered(planned: &ReviewProject) {
    planned.change_state(&json!({"phase": "post-code-review", "next_phase": "code-review"}));
}

#[track_caller]
fn passed(answer: &Answer) -> String {
    assert_eq!(block_reason(answer), None, "{answer:?}");
    assert!(!answer.stdout.contains("additionalContext"), "the agent would go on: {answer:?}");
    user_message(answer)
}

/// The client sets the flag from the second stop of a turn on, whatever happens in between.
#[test]
fn fixed_issues_and_two_clean_reviews_end_the_loop_within_one_turn() {
    let mut planned = started_review(json!({}));
    let shown = |planned: &ReviewProject, answer: &Answer| planned.project.whole(answer);
    assert_shown!("review-loop-issues", shown(&planned, &planned.stop()));
    answer_review(&planned, 1);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    assert_shown!("review-loop-clean", shown(&planned, &planned.stop_again()));
    answer_review(&planned, 2);
    let answer = planned.stop_again();
    passed(&answer);
    assert_shown!("review-loop-cycle-end", shown(&planned, &answer));
    let end = json!({
        "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 3, "review_model": "sonnet",
        "consecutive_clean": 2,
    });
    assert_eq!(planned.read_state(), state(end));
    assert_eq!(planned.reviewer_calls().len(), 3);
    assert!(planned.stop_again().is_silent() && planned.stop().is_silent(), "and then there is peace");
    assert_eq!(planned.reviewer_calls().len(), 3);
}

/// The answer's file is enough.
#[test]
fn an_agent_may_forget_the_state() {
    let planned = started_review(json!({})).with_verdict("FAIL");
    for round in 1..=4 {
        let told = planned.expect_block(&if round == 1 { planned.stop() } else { planned.stop_again() });
        assert!(told.contains(&format!("task-1-review-{round}.md")), "{told}");
        assert_eq!(planned.read_state()["next_phase"], "post-code-review");
        post_review(&planned, round);
    }
    let planned = planned.with_verdict("PASS");
    planned.expect_block(&planned.stop_again());
    post_review(&planned, 5);
    assert!(passed(&planned.stop_again()).contains("Next: complete-task"));
    assert_eq!(planned.reviewer_calls().len(), 6);
}

#[test]
fn an_empty_post_review_does_not_count() {
    let planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    planned.write_file("task-1-post-review-1.md", "");
    passed(&planned.stop_again());
    // The file of another round, task or kind does not count either.
    planned.remove("task-1-post-review-1.md");
    for name in
        ["task-1-review-2.md", "task-1-post-review-2.md", "task-2-review-1.md", "task-2-post-review-1.md"]
    {
        planned.write_file(name, "x");
    }
    planned.write_file("plan-review-1.md", "x").write_file("plan-post-review-1.md", "x");
    passed(&planned.stop());
    assert_eq!(planned.reviewer_calls().len(), 1);
}

#[test]
fn an_agent_may_forget_the_file() {
    let planned = started_review(json!({}));
    for round in 1..=3 {
        let told = planned.expect_block(&if round == 1 { planned.stop() } else { planned.stop_again() });
        assert!(told.contains(&format!("task-1-review-{round}.md")), "{told}");
        set_state_to_answered(&planned);
    }
}

#[test]
fn an_agent_that_does_nothing_is_blocked_once() {
    let planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    let state = planned.read_file("state.json");
    let answer = planned.stop_again();
    passed(&answer);
    assert_shown!("review-loop-no-answer", planned.project.whole(&answer));
    for _ in 0..3 {
        assert!(planned.stop_again().is_silent(), "it is told once");
    }
    assert!(planned.stop().is_silent(), "in the next turn neither");
    assert_eq!((planned.reviewer_calls().len(), planned.read_file("state.json")), (1, state));
    // The loop continues later.
    post_review(&planned, 1);
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-2.md"));
}

#[test]
fn at_the_limit_the_user_decides() {
    let planned = started_review(json!({"max_reviews": 2}));
    planned.expect_block(&planned.stop());
    answer_review(&planned, 1);
    planned.expect_block(&planned.stop_again());
    post_review(&planned, 2);
    let answer = planned.stop_again();
    passed(&answer);
    assert_shown!("review-loop-limit", planned.project.whole(&answer));
    let expected = json!({
        "max_reviews": 2, "phase": "post-code-review", "next_phase": "code-review", "phase_iteration": 2,
    });
    assert_eq!(planned.read_state(), state(expected));
    assert_eq!(passed(&planned.stop_again()), "", "once in a session");
    assert_eq!(planned.reviewer_calls().len(), 2);
    // More rounds within the cycle.
    planned.change_state(&json!({"max_reviews": 3}));
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-3.md"));
    // Another cycle.
    planned.change_state(&json!({"phase_iteration": 0, "next_phase": "code-review"}));
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-1.md"));
}

#[test]
fn without_reviews_a_task_follows_a_task() {
    for (tdd, next) in [(false, "complete-task"), (true, "complete-task-tdd")] {
        let planned = started_review(json!({"max_reviews": 0, "tdd": tdd}));
        assert!(passed(&planned.stop()).contains(&format!("Next: {next}.")));
        let expected = json!({"max_reviews": 0, "tdd": tdd, "phase": "code-review", "next_phase": next});
        assert_eq!(planned.read_state(), state(expected));
        assert!(planned.stop().is_silent());
        assert_eq!(planned.reviewer_calls().len(), 0);
    }
}

fn all_done(planned: &ReviewProject) {
    let (first, rest) = TASKS.split_once("| 2 |").unwrap();
    planned.write_file("tasks.md", &format!("{first}| 2 |{}", rest.replace("pending", "done")));
}

#[test]
fn without_reviews_the_last_task_leads_to_the_end() {
    let planned = started_review(json!({"max_reviews": 0, "phase_iteration": 5, "review_model": "sonnet"}));
    all_done(&planned);
    assert!(passed(&planned.stop()).contains("Next: all-code-review."));
    let middle = json!({"max_reviews": 0, "phase": "code-review", "next_phase": "all-code-review"});
    assert_eq!(planned.read_state(), state(middle));
    assert!(passed(&planned.stop()).contains("Next: complete."));
    let end = json!({"max_reviews": 0, "phase": "all-code-review", "next_phase": "complete"});
    assert_eq!(planned.read_state(), state(end));
    assert!(planned.stop().is_silent());
    assert_eq!(planned.reviewer_calls().len(), 0);
}

#[test]
fn the_last_task_is_followed_by_a_review_of_all_code() {
    let mut planned =
        started_review(json!({"phase_iteration": 4, "review_model": "sonnet", "consecutive_clean": 1}));
    all_done(&planned);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    assert!(passed(&planned.stop()).contains("Next: all-code-review"));
    assert_eq!(planned.read_state(), state(json!({"phase": "code-review", "next_phase": "all-code-review"})));
    let told = planned.expect_block(&planned.stop());
    assert!(told.starts_with("[provost] Review of all code, round 1 of 8: PASS"), "{told}");
    planned.write_file("all-code-post-review-1.md", "Nothing.\n");
    assert!(passed(&planned.stop_again()).contains("Next: complete."));
    let models: Vec<String> = planned.reviewer_calls().iter().map(|call| call.model().to_owned()).collect();
    assert_eq!(models, ["sonnet", "opus", "sonnet"], "each cycle begins with the strongest");
    assert_eq!(planned.read_state()["next_phase"], "complete");
    assert!(planned.stop().is_silent());
}

/// One plan, from its first review to its end.
#[test]
fn a_plan_from_its_beginning_to_its_end() {
    let start = json!({"phase": "new-plan", "next_phase": "plan-review", "current_task": null});
    let planned = started_review(start).with_verdict("PASS");
    let mut told = Vec::new();
    let mut cycle = |review: &str, name: &str| {
        told.push(planned.expect_block(&planned.stop()));
        planned.write_file(&format!("{name}-post-review-1.md"), "Nothing.\n");
        told.push(passed(&planned.stop_again()));
        assert_eq!(planned.read_state()["phase"], review);
    };
    let enter = |phase: &str, next: &str, task: Value| {
        planned.set_state(&state(json!({"phase": phase, "next_phase": next, "current_task": task})));
    };
    cycle("plan-review", "plan");
    enter("create-tasks", "tasks-review", Value::Null);
    cycle("tasks-review", "tasks");
    for task in 1..=3 {
        enter("complete-task", "code-review", json!(task.to_string()));
        cycle("code-review", &format!("task-{task}"));
        let done = planned
            .read_file("tasks.md")
            .replace(&format!("| {task} | pending"), &format!("| {task} | done"));
        planned.write_file("tasks.md", &done);
    }
    cycle("all-code-review", "all-code");
    assert_shown!("review-loop-whole-plan", told.join("\n\n"));
    assert!(planned.stop().is_silent());
    assert_eq!(planned.reviewer_calls().len(), 12);
    assert_eq!(list_directory(&planned.plan).iter().filter(|name| name.contains("review")).count(), 18);
}

#[test]
fn an_unknown_model_does_not_review_and_the_known_ones_take_turns() {
    let planned = started_review(json!({"review_model": "haiku"}));
    let answer = planned.stop();
    planned.expect_block(&answer);
    assert!(
        user_message(&answer).contains("`haiku` is neither opus nor sonnet; `opus` reviews"),
        "{answer:?}"
    );
    for round in 1..=2 {
        answer_review(&planned, round);
        let answer = planned.stop_again();
        planned.expect_block(&answer);
        assert!(!user_message(&answer).contains("neither opus nor sonnet"), "{answer:?}");
    }
    let models: Vec<String> = planned.reviewer_calls().iter().map(|call| call.model().to_owned()).collect();
    assert_eq!(models, ["opus", "sonnet", "opus"]);
}

const IN_STATE: &str = "cd \"${file%/*}\" && sed -i";

/// The user can end the loop while the reviewer works.
#[test]
fn the_user_can_end_the_loop_during_a_review() {
    for verdict in ["PASS", "FAIL"] {
        let does = format!("{IN_STATE} 's/\"next_phase\": \"code-review\"/\"next_phase\": null/' state.json");
        let planned = started_review(json!({"consecutive_clean": 1}))
            .with_verdict(verdict)
            .with("MOCK_CLAUDE_DOES", &does);
        let told = passed(&planned.stop());
        assert!(told.contains("state.json was changed while the review was made"), "{told}");
        assert_eq!(planned.read_state(), state(json!({"next_phase": null, "consecutive_clean": 1})));
        assert!(planned.stop().is_silent());
        assert_eq!(planned.reviewer_calls().len(), 1);
    }
}

#[test]
fn another_place_in_the_state_is_not_overwritten_either() {
    for (old, new) in [
        ("\"current_task\": \"1\"", "\"current_task\": \"2\""),
        ("\"phase_iteration\": 0", "\"phase_iteration\": 3"),
        ("\"phase\": \"next-task\"", "\"phase\": \"complete\""),
        ("\"review_model\": \"opus\"", "\"review_model\": \"sonnet\""),
    ] {
        let does = format!("{IN_STATE} 's/{old}/{new}/' state.json");
        let planned = started_review(json!({})).with("MOCK_CLAUDE_DOES", &does);
        let expected = planned.read_file("state.json").replace(old, new);
        passed(&planned.stop());
        assert_eq!(planned.read_file("state.json"), expected);
    }
    // A malformed or missing state stays as it is.
    for does in ["echo broken > \"${file%/*}/state.json\"", "rm \"${file%/*}/state.json\""] {
        let planned = started_review(json!({})).with("MOCK_CLAUDE_DOES", does);
        passed(&planned.stop());
        assert!(!planned.has_file("state.json") || planned.read_file("state.json") == "broken\n");
    }
}

#[test]
fn how_many_reviews_there_may_be_can_be_changed_during_one() {
    for most in [3, 1] {
        let does = format!(
            "{IN_STATE} 's/\"max_reviews\": 8/\"max_reviews\": {most}/; s/\"tdd\": false/\"tdd\": true, \"mine\": 1/' state.json"
        );
        let planned = started_review(json!({})).with("MOCK_CLAUDE_DOES", &does);
        planned.expect_block(&planned.stop());
        let expected = json!({
            "max_reviews": most, "tdd": true, "mine": 1, "phase": "code-review", "next_phase": "post-code-review",
            "phase_iteration": 1, "review_model": "sonnet",
        });
        assert_eq!(planned.read_state(), state(expected));
    }
}

#[test]
fn an_unknown_phase_is_reported_to_the_user_once_and_never_to_the_model() {
    let planned = started_review(json!({"next_phase": "ready"}));
    // Nobody learns which phases there are.
    assert_shown!("review-loop-unknown-phase", planned.project.whole(&planned.stop()));
    assert!(planned.stop().is_silent() && planned.stop_again().is_silent());
    let mut event = planned.stop_event(false);
    event["session_id"] = OTHER_SESSION.into();
    assert!(passed(&planned.hook(&event)).contains("unknown next_phase"), "another session is told, too");
    assert_eq!(planned.reviewer_calls().len(), 0);
    assert_eq!(planned.read_state(), state(json!({"next_phase": "ready"})));
}

/// A missing verdict is neither a pass nor a failure: the next stop, even in the same turn, tries the same round
/// again.
#[test]
fn a_review_that_came_to_nothing_is_tried_again() {
    let mut planned =
        started_review(json!({"consecutive_clean": 1, "phase_iteration": 1})).with_verdict("PASS");
    let before = planned.read_file("state.json");
    for (name, value) in [
        ("MOCK_CLAUDE_EXIT_CODE", "1"),
        ("MOCK_CLAUDE_WRITES", "nothing"),
        ("MOCK_CLAUDE_WRITES", "empty"),
        ("MOCK_CLAUDE_PRINTS", "error"),
        ("MOCK_CLAUDE_VERDICT", "MAYBE"),
    ] {
        let old = planned.variables.clone();
        planned.set(name, value);
        let told = passed(&planned.stop_again());
        assert!(told.contains(", round 2, came to nothing"), "{name}={value}: {told}");
        assert_eq!(planned.read_file("state.json"), before, "{name}={value}");
        planned.variables = old;
    }
    assert!(passed(&planned.stop_again()).contains("Next: complete-task"));
    assert_eq!(planned.reviewer_calls().len(), 6);
}

/// The verdict may be in the answer or in the last line of the review. Without either, the review does not count.
#[test]
fn the_reviews_last_line_counts_where_the_answer_has_no_verdict() {
    for (prints, writes, held) in [
        ("text", "review", true),
        ("nothing", "review", true),
        ("text", "bare", false),
        ("nothing", "bare", false),
    ] {
        let planned =
            started_review(json!({})).with("MOCK_CLAUDE_PRINTS", prints).with("MOCK_CLAUDE_WRITES", writes);
        let answer = planned.stop();
        assert_eq!(block_reason(&answer).is_some(), held, "{prints} {writes}: {answer:?}");
        if !held {
            assert!(user_message(&answer).contains("the reviewer gave no verdict"), "{answer:?}");
            assert_eq!(planned.read_state(), state(json!({})));
        }
    }
    // Output that is not in the client's format is a message to the user.
    let planned =
        started_review(json!({})).with("MOCK_CLAUDE_PRINTS", "nothing").with("MOCK_CLAUDE_WRITES", "bare");
    let planned = planned.with("MOCK_CLAUDE_DOES", "echo 'VERDICT: PASS'");
    assert!(user_message(&planned.stop()).contains("the reviewer gave no verdict"));
    assert_eq!(planned.read_state(), state(json!({})));
}

/// The ground rules block a turn once for the same text, and again for another.
#[test]
fn the_ground_rules_never_block_twice_for_the_same_violation() {
    let planned = ReviewProject::new();
    planned.record_work().write_file("odd.md", "");
    assert_shown!("review-loop-ground-rules", planned.project.whole(&planned.stop()));
    assert!(planned.stop_again().is_silent());
    planned.write_file("odder.md", "");
    assert!(planned.expect_block(&planned.stop_again()).contains("odder.md"));
    assert!(planned.stop_again().is_silent());
    assert!(planned.expect_block(&planned.stop()).contains("odder.md"), "another turn");
    // A review may have blocked that turn first.
    let mut event = planned.stop_event(true);
    event["prompt_id"] = "another".into();
    assert!(planned.expect_block(&planned.hook(&event)).contains("odder.md"));
    // A known violation in another plan is a new reason.
    let other = planned.plan.with_file_name("other");
    fs::create_dir(&other).unwrap();
    for name in ["plan.md", "odd.md", "odder.md"] {
        fs::write(other.join(name), "x").unwrap();
    }
    planned.record_tool_call("Write", &json!({"file_path": other.join("odd.md"), "content": "x"}));
    assert!(planned.expect_block(&planned.hook(&event)).contains("Plan 'other': Invalid filename: odd.md"));
    assert!(planned.hook(&event).is_silent());
    let planned = planned.with_config("[review_loop]\nground_rules = false\n");
    assert!(planned.stop().is_silent());
}

/// The count of one cycle does not continue in the next, whatever an agent writes into the state.
#[test]
fn a_new_cycle_begins_with_no_clean_review() {
    for claim in [json!({"phase_iteration": 2, "consecutive_clean": 2}), json!({"consecutive_clean": 1})] {
        let planned = started_review(json!({})).with_verdict("PASS");
        planned.expect_block(&planned.stop());
        planned.write_file("task-1-post-review-1.md", "Nothing.\n");
        assert!(passed(&planned.stop_again()).contains("Next: complete-task."));
        let mut next = state(json!({"phase": "complete-task", "current_task": "2"}));
        next.as_object_mut().unwrap().extend(claim.as_object().unwrap().clone());
        planned.set_state(&next);
        let answer = planned.stop();
        planned.expect_block(&answer);
        assert_eq!(planned.read_state()["consecutive_clean"], 1, "{claim}");
        assert!(user_message(&answer).contains("but Provost counts 0 after its own reviews"), "{answer:?}");
    }
}

/// An agent that removes the state has left the loop. The user is warned once in a session.
#[test]
fn the_user_is_warned_about_a_loop_whose_state_is_gone() {
    let planned = started_review(json!({})).with_verdict("FAIL");
    planned.expect_block(&planned.stop());
    planned.remove("state.json");
    let answer = planned.stop_again();
    passed(&answer);
    assert_shown!("review-loop-state-gone", planned.project.whole(&answer));
    assert!(planned.stop().is_silent());
}
