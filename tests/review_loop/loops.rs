//! Whole loops over several stops, with agents and people as they are.

use super::*;

/// The agent deals with a review as it was told: the file, then the state.
fn dealt_with(planned: &Planned, round: u64) {
    post_review(planned, round);
    moved_on(planned);
}

fn post_review(planned: &Planned, round: u64) {
    planned.put(&format!("task-1-post-review-{round}.md"), "Mended.\n");
}

fn moved_on(planned: &Planned) {
    planned.change(&json!({"phase": "post-code-review", "next_phase": "code-review"}));
}

#[track_caller]
fn passed(answer: &Answer) -> String {
    assert_eq!(reason(answer), None, "{answer:?}");
    assert!(!answer.stdout.contains("additionalContext"), "the agent would go on: {answer:?}");
    message(answer)
}

/// The flag is true from the second stop of a turn on, whatever happens in between.
#[test]
fn issues_are_mended_and_two_clean_reviews_end_the_loop_within_one_turn() {
    let mut planned = started(json!({}));
    let told = planned.held(&planned.stop());
    assert!(told.contains("task-1-review-1.md") && !told.contains("PASS"), "{told}");
    dealt_with(&planned, 1);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    let told = planned.held(&planned.stop_again());
    assert!(told.contains("task-1-review-2.md") && told.contains("one more clean review"), "{told}");
    dealt_with(&planned, 2);
    let told = passed(&planned.stop_again());
    assert!(told.contains("after 3 of at most 8 reviews") && told.contains("Next: complete-task"), "{told}");
    let end = json!({
        "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 3, "review_model": "sonnet",
        "consecutive_clean": 2,
    });
    assert_eq!(planned.state(), state(end));
    assert_eq!(planned.calls().len(), 3);
    assert!(planned.stop_again().is_silent() && planned.stop().is_silent(), "and then there is peace");
    assert_eq!(planned.calls().len(), 3);
}

/// The file is evidence enough.
#[test]
fn an_agent_may_forget_the_state() {
    let planned = started(json!({})).says("FAIL");
    for round in 1..=4 {
        let told = planned.held(&if round == 1 { planned.stop() } else { planned.stop_again() });
        assert!(told.contains(&format!("task-1-review-{round}.md")), "{told}");
        assert_eq!(planned.state()["next_phase"], "post-code-review");
        post_review(&planned, round);
    }
    let planned = planned.says("PASS");
    planned.held(&planned.stop_again());
    post_review(&planned, 5);
    assert!(passed(&planned.stop_again()).contains("Next: complete-task"));
    assert_eq!(planned.calls().len(), 6);
}

#[test]
fn an_empty_post_review_is_no_evidence() {
    let planned = started(json!({}));
    planned.held(&planned.stop());
    planned.put("task-1-post-review-1.md", "");
    passed(&planned.stop_again());
    // Neither is that of another round, another task or another kind.
    planned.remove("task-1-post-review-1.md");
    for name in
        ["task-1-review-2.md", "task-1-post-review-2.md", "task-2-review-1.md", "task-2-post-review-1.md"]
    {
        planned.put(name, "x");
    }
    planned.put("plan-review-1.md", "x").put("plan-post-review-1.md", "x");
    passed(&planned.stop());
    assert_eq!(planned.calls().len(), 1);
}

#[test]
fn an_agent_may_forget_the_file() {
    let planned = started(json!({}));
    for round in 1..=3 {
        let told = planned.held(&if round == 1 { planned.stop() } else { planned.stop_again() });
        assert!(told.contains(&format!("task-1-review-{round}.md")), "{told}");
        moved_on(&planned);
    }
}

#[test]
fn an_agent_that_does_nothing_is_held_once() {
    let planned = started(json!({}));
    planned.held(&planned.stop());
    let state = planned.text("state.json");
    let told = passed(&planned.stop_again());
    assert!(told.contains("has stopped without an answer to the code review of task 1, round 1 ("), "{told}");
    assert!(
        told.contains(&format!("To end the reviews: `provost review set --plan {PLAN_ID} next_phase=null`.")),
        "{told}"
    );
    for _ in 0..3 {
        assert!(planned.stop_again().is_silent(), "it is told once");
    }
    assert!(planned.stop().is_silent(), "in the next turn neither");
    assert_eq!((planned.calls().len(), planned.text("state.json")), (1, state));
    // Later it goes on where it was.
    post_review(&planned, 1);
    assert!(planned.held(&planned.stop()).contains("task-1-review-2.md"));
}

#[test]
fn at_the_limit_the_person_decides() {
    let planned = started(json!({"max_reviews": 2}));
    planned.held(&planned.stop());
    dealt_with(&planned, 1);
    planned.held(&planned.stop_again());
    post_review(&planned, 2);
    let told = passed(&planned.stop_again());
    assert!(told.contains("has had all its 2 reviews") && told.contains("waits for you"), "{told}");
    let expected = json!({
        "max_reviews": 2, "phase": "post-code-review", "next_phase": "code-review", "phase_iteration": 2,
    });
    assert_eq!(planned.state(), state(expected));
    assert_eq!(passed(&planned.stop_again()), "", "once in a session");
    assert_eq!(planned.calls().len(), 2);
    // More rounds within the cycle.
    planned.change(&json!({"max_reviews": 3}));
    assert!(planned.held(&planned.stop()).contains("task-1-review-3.md"));
    // Another cycle.
    planned.change(&json!({"phase_iteration": 0, "next_phase": "code-review"}));
    assert!(planned.held(&planned.stop()).contains("task-1-review-1.md"));
}

#[test]
fn without_reviews_a_task_follows_a_task() {
    for (tdd, next) in [(false, "complete-task"), (true, "complete-task-tdd")] {
        let planned = started(json!({"max_reviews": 0, "tdd": tdd}));
        assert!(passed(&planned.stop()).contains(&format!("Next: {next}.")));
        let expected = json!({"max_reviews": 0, "tdd": tdd, "phase": "code-review", "next_phase": next});
        assert_eq!(planned.state(), state(expected));
        assert!(planned.stop().is_silent());
        assert_eq!(planned.calls().len(), 0);
    }
}

fn all_done(planned: &Planned) {
    let (first, rest) = TASKS.split_once("| 2 |").unwrap();
    planned.put("tasks.md", &format!("{first}| 2 |{}", rest.replace("pending", "done")));
}

#[test]
fn without_reviews_the_last_task_leads_to_the_end() {
    let planned = started(json!({"max_reviews": 0, "phase_iteration": 5, "review_model": "sonnet"}));
    all_done(&planned);
    assert!(passed(&planned.stop()).contains("Next: all-code-review."));
    let middle = json!({"max_reviews": 0, "phase": "code-review", "next_phase": "all-code-review"});
    assert_eq!(planned.state(), state(middle));
    assert!(passed(&planned.stop()).contains("Next: complete."));
    let end = json!({"max_reviews": 0, "phase": "all-code-review", "next_phase": "complete"});
    assert_eq!(planned.state(), state(end));
    assert!(planned.stop().is_silent());
    assert_eq!(planned.calls().len(), 0);
}

#[test]
fn the_last_task_is_followed_by_a_review_of_all_code() {
    let mut planned =
        started(json!({"phase_iteration": 4, "review_model": "sonnet", "consecutive_clean": 1}));
    all_done(&planned);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    assert!(passed(&planned.stop()).contains("Next: all-code-review"));
    assert_eq!(planned.state(), state(json!({"phase": "code-review", "next_phase": "all-code-review"})));
    let told = planned.held(&planned.stop());
    assert!(told.starts_with("[provost] Review of all code, round 1 of 8: PASS"), "{told}");
    planned.put("all-code-post-review-1.md", "Nothing.\n");
    assert!(passed(&planned.stop_again()).contains("Next: complete."));
    let models: Vec<String> = planned.calls().iter().map(|call| call.model().to_owned()).collect();
    assert_eq!(models, ["sonnet", "opus", "sonnet"], "each cycle begins with the strongest");
    assert_eq!(planned.state()["next_phase"], "complete");
    assert!(planned.stop().is_silent());
}

/// A plan goes its whole way, from its first review to its end.
#[test]
fn a_plan_from_its_beginning_to_its_end() {
    let start = json!({"phase": "new-plan", "next_phase": "plan-review", "current_task": null});
    let planned = started(start).says("PASS");
    let cycle = |review: &str, name: &str, next: &str| {
        assert!(planned.held(&planned.stop()).contains(&format!("{name}-review-1.md")));
        planned.put(&format!("{name}-post-review-1.md"), "Nothing.\n");
        let told = passed(&planned.stop_again());
        assert!(told.contains(&format!("Next: {next}")), "{told}");
        assert_eq!(told.contains("at the next stop"), next.ends_with("-review"), "{told}");
        assert_eq!(planned.state()["phase"], review);
    };
    let enter = |phase: &str, next: &str, task: Value| {
        planned.set_state(&state(json!({"phase": phase, "next_phase": next, "current_task": task})));
    };
    cycle("plan-review", "plan", "create-tasks");
    enter("create-tasks", "tasks-review", Value::Null);
    cycle("tasks-review", "tasks", "complete-task");
    for task in 1..=3 {
        enter("complete-task", "code-review", json!(task.to_string()));
        let next = if task == 3 { "all-code-review" } else { "complete-task" };
        cycle("code-review", &format!("task-{task}"), next);
        let done =
            planned.text("tasks.md").replace(&format!("| {task} | pending"), &format!("| {task} | done"));
        planned.put("tasks.md", &done);
    }
    cycle("all-code-review", "all-code", "complete");
    assert!(planned.stop().is_silent());
    assert_eq!(planned.calls().len(), 12);
    assert_eq!(files_of(&planned.plan).iter().filter(|name| name.contains("review")).count(), 18);
}

#[test]
fn an_unknown_model_is_not_asked_and_the_known_ones_take_turns() {
    let planned = started(json!({"review_model": "haiku"}));
    let answer = planned.stop();
    planned.held(&answer);
    assert!(message(&answer).contains("`haiku` is neither opus nor sonnet; `opus` reviews"), "{answer:?}");
    for round in 1..=2 {
        dealt_with(&planned, round);
        let answer = planned.stop_again();
        planned.held(&answer);
        assert!(!message(&answer).contains("neither opus nor sonnet"), "{answer:?}");
    }
    let models: Vec<String> = planned.calls().iter().map(|call| call.model().to_owned()).collect();
    assert_eq!(models, ["opus", "sonnet", "opus"]);
}

const IN_STATE: &str = "cd \"${file%/*}\" && sed -i";

/// The way out is open while the reviewer works.
#[test]
fn a_person_may_end_the_loop_during_a_review() {
    for verdict in ["PASS", "FAIL"] {
        let does = format!("{IN_STATE} 's/\"next_phase\": \"code-review\"/\"next_phase\": null/' state.json");
        let planned = started(json!({"consecutive_clean": 1})).says(verdict).with("MOCK_CLAUDE_DOES", &does);
        let told = passed(&planned.stop());
        assert!(told.contains("state.json was changed while the review was made"), "{told}");
        assert_eq!(planned.state(), state(json!({"next_phase": null, "consecutive_clean": 1})));
        assert!(planned.stop().is_silent());
        assert_eq!(planned.calls().len(), 1);
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
        let planned = started(json!({})).with("MOCK_CLAUDE_DOES", &does);
        let expected = planned.text("state.json").replace(old, new);
        passed(&planned.stop());
        assert_eq!(planned.text("state.json"), expected);
    }
    // What is no state any more, or not there, is left so.
    for does in ["echo broken > \"${file%/*}/state.json\"", "rm \"${file%/*}/state.json\""] {
        let planned = started(json!({})).with("MOCK_CLAUDE_DOES", does);
        passed(&planned.stop());
        assert!(!planned.has("state.json") || planned.text("state.json") == "broken\n");
    }
}

#[test]
fn how_many_reviews_there_may_be_can_be_changed_during_one() {
    for most in [3, 1] {
        let does = format!(
            "{IN_STATE} 's/\"max_reviews\": 8/\"max_reviews\": {most}/; s/\"tdd\": false/\"tdd\": true, \"mine\": 1/' state.json"
        );
        let planned = started(json!({})).with("MOCK_CLAUDE_DOES", &does);
        planned.held(&planned.stop());
        let expected = json!({
            "max_reviews": most, "tdd": true, "mine": 1, "phase": "code-review", "next_phase": "post-code-review",
            "phase_iteration": 1, "review_model": "sonnet",
        });
        assert_eq!(planned.state(), state(expected));
    }
}

#[test]
fn an_unknown_phase_is_told_to_the_person_once_and_never_to_the_model() {
    let planned = started(json!({"next_phase": "ready"}));
    let answer = planned.stop();
    let told = passed(&answer);
    assert!(told.contains("unknown next_phase `ready`"), "{told}");
    for phase in ["plan-review", "complete-task"] {
        assert!(!told.contains(phase), "nobody learns which phases there are");
    }
    assert!(planned.stop().is_silent() && planned.stop_again().is_silent());
    let mut event = planned.stopping(false);
    event["session_id"] = OTHER_SESSION.into();
    assert!(passed(&planned.hook(&event)).contains("unknown next_phase"), "another session is told, too");
    assert_eq!(planned.calls().len(), 0);
    assert_eq!(planned.state(), state(json!({"next_phase": "ready"})));
}

/// No verdict is neither of the two: the next stop tries the same round again, in the same turn too.
#[test]
fn a_review_that_came_to_nothing_is_tried_again() {
    let mut planned = started(json!({"consecutive_clean": 1, "phase_iteration": 1})).says("PASS");
    let before = planned.text("state.json");
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
        assert_eq!(planned.text("state.json"), before, "{name}={value}");
        planned.variables = old;
    }
    assert!(passed(&planned.stop_again()).contains("Next: complete-task"));
    assert_eq!(planned.calls().len(), 6);
}

/// A review without a verdict anywhere is none; its own last line is the second source.
#[test]
fn the_reviews_last_line_counts_where_the_answer_has_no_verdict() {
    for (prints, writes, held) in [
        ("text", "review", true),
        ("nothing", "review", true),
        ("text", "bare", false),
        ("nothing", "bare", false),
    ] {
        let planned =
            started(json!({})).with("MOCK_CLAUDE_PRINTS", prints).with("MOCK_CLAUDE_WRITES", writes);
        let answer = planned.stop();
        assert_eq!(reason(&answer).is_some(), held, "{prints} {writes}: {answer:?}");
        if !held {
            assert!(message(&answer).contains("the reviewer gave no verdict"), "{answer:?}");
            assert_eq!(planned.state(), state(json!({})));
        }
    }
    // What the client prints in no form of its own is a message to a person.
    let planned = started(json!({})).with("MOCK_CLAUDE_PRINTS", "nothing").with("MOCK_CLAUDE_WRITES", "bare");
    let planned = planned.with("MOCK_CLAUDE_DOES", "echo 'VERDICT: PASS'");
    assert!(message(&planned.stop()).contains("the reviewer gave no verdict"));
    assert_eq!(planned.state(), state(json!({})));
}

/// The ground rules hold a turn once for the same text, and again for another.
#[test]
fn the_ground_rules_never_hold_twice_for_the_same() {
    let planned = Planned::new();
    planned.worked().put("odd.md", "");
    assert!(planned.held(&planned.stop()).contains("Invalid filename: odd.md. To fix: "));
    assert!(planned.stop_again().is_silent());
    planned.put("odder.md", "");
    assert!(planned.held(&planned.stop_again()).contains("odder.md"));
    assert!(planned.stop_again().is_silent());
    assert!(planned.held(&planned.stop()).contains("odder.md"), "another turn");
    // A review may have been the first to hold that turn.
    let mut event = planned.stopping(true);
    event["prompt_id"] = "another".into();
    assert!(planned.held(&planned.hook(&event)).contains("odder.md"));
    // What is wrong with another plan is another thing, even if it is the same.
    let other = planned.plan.with_file_name("other");
    fs::create_dir(&other).unwrap();
    for name in ["plan.md", "odd.md", "odder.md"] {
        fs::write(other.join(name), "x").unwrap();
    }
    planned.used("Write", &json!({"file_path": other.join("odd.md"), "content": "x"}));
    assert!(planned.held(&planned.hook(&event)).contains("Plan 'other': Invalid filename: odd.md"));
    assert!(planned.hook(&event).is_silent());
    let planned = planned.configured("[review_loop]\nground_rules = false\n");
    assert!(planned.stop().is_silent());
}

/// The count of one cycle is none of the next, whatever an agent leaves in the state or writes into it.
#[test]
fn a_new_cycle_begins_with_no_clean_review() {
    for claim in [json!({"phase_iteration": 2, "consecutive_clean": 2}), json!({"consecutive_clean": 1})] {
        let planned = started(json!({})).says("PASS");
        planned.held(&planned.stop());
        planned.put("task-1-post-review-1.md", "Nothing.\n");
        assert!(passed(&planned.stop_again()).contains("Next: complete-task."));
        let mut next = state(json!({"phase": "complete-task", "current_task": "2"}));
        next.as_object_mut().unwrap().extend(claim.as_object().unwrap().clone());
        planned.set_state(&next);
        let answer = planned.stop();
        planned.held(&answer);
        assert_eq!(planned.state()["consecutive_clean"], 1, "{claim}");
        assert!(message(&answer).contains("but the reviews so far give 0"), "{answer:?}");
    }
}

/// An agent that removes the state has left the loop, and the person hears of it, once in a session.
#[test]
fn a_loop_whose_state_is_gone_is_told() {
    let planned = started(json!({})).says("FAIL");
    planned.held(&planned.stop());
    planned.remove("state.json");
    let told = passed(&planned.stop_again());
    assert!(told.contains("the code review of task 1 was left after round 1"), "{told}");
    assert!(
        told.contains(&format!("`provost review set --plan {PLAN_ID} --new phase=code-review")),
        "{told}"
    );
    assert!(planned.stop().is_silent());
}
