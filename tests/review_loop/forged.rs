//! What an agent writes into the state counts as far as reviews have earned it, and the person is told.

use super::*;

fn dealt_with(planned: &Planned, round: u64, changes: &Value) {
    planned.put(&format!("task-1-post-review-{round}.md"), "Mended.\n");
    planned.change(&json!({"phase": "post-code-review", "next_phase": "code-review"}));
    planned.change(changes);
}

#[track_caller]
fn held_after_a_clean_one(planned: &Planned, answer: &Answer) {
    assert!(planned.held(answer).contains("one more clean review ends"), "{answer:?}");
    assert_eq!(planned.state()["consecutive_clean"], 1);
    assert_eq!(planned.state()["next_phase"], "post-code-review");
}

#[test]
fn a_clean_review_that_there_was_not_does_not_count() {
    for claim in [1, 2, 100] {
        let mut planned = started(json!({}));
        planned.held(&planned.stop());
        dealt_with(&planned, 1, &json!({"consecutive_clean": claim}));
        planned.set("MOCK_CLAUDE_VERDICT", "PASS");
        let answer = planned.stop_again();
        held_after_a_clean_one(&planned, &answer);
        let told = format!("claims {claim} clean in a row, but the reviews so far give 0; that counts");
        assert!(message(&answer).contains(&told), "{answer:?}");
    }
    // A person may want to believe it.
    let mut planned = started(json!({})).configured("[review_loop]\nstate = \"believed\"\n");
    planned.held(&planned.stop());
    dealt_with(&planned, 1, &json!({"consecutive_clean": 1}));
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    let told = message(&planned.stop_again());
    assert!(told.contains("Next: complete-task") && !told.contains("claims"), "{told}");
}

/// Or a review that found something would be made again until it finds nothing.
#[test]
fn a_round_is_not_undone() {
    let mut planned = started(json!({})).says("PASS");
    planned.held(&planned.stop());
    let after_one = planned.state();
    dealt_with(&planned, 1, &json!({}));
    planned.set("MOCK_CLAUDE_VERDICT", "FAIL");
    planned.held(&planned.stop_again());
    planned.set_state(&after_one);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    held_after_a_clean_one(&planned, &planned.stop_again());
}

/// Makes the place where a new state is written unusable, while the reviewer works.
const IN_THE_WAY: &str = "mkdir -p \"${file%/*}/.state.json.provost.tmp/x\"";

fn out_of_the_way(planned: &mut Planned) {
    fs::remove_dir_all(planned.plan.join(".state.json.provost.tmp")).unwrap();
    planned.set("MOCK_CLAUDE_DOES", "");
}

/// A process that ends between its own note and the state takes nothing from an honest agent.
#[test]
fn a_round_that_was_not_recorded_takes_nothing_away() {
    let mut planned = started(json!({})).says("PASS");
    planned.held(&planned.stop());
    dealt_with(&planned, 1, &json!({}));
    planned.set("MOCK_CLAUDE_VERDICT", "FAIL");
    planned.set("MOCK_CLAUDE_DOES", IN_THE_WAY);
    assert!(message(&planned.stop_again()).contains("its verdict cannot be recorded"));
    out_of_the_way(&mut planned);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    let told = message(&planned.stop_again());
    assert!(told.contains("Next: complete-task") && !told.contains("claims"), "{told}");
}

#[test]
fn a_round_that_was_not_recorded_gives_nothing_either() {
    let mut planned = started(json!({}));
    planned.held(&planned.stop());
    dealt_with(&planned, 1, &json!({"consecutive_clean": 1}));
    planned.set("MOCK_CLAUDE_DOES", IN_THE_WAY);
    assert!(message(&planned.stop_again()).contains("its verdict cannot be recorded"));
    out_of_the_way(&mut planned);
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    held_after_a_clean_one(&planned, &planned.stop_again());
}

/// Working copies may share their plans by a link.
#[test]
fn a_plan_is_the_same_from_every_working_copy() {
    let mut planned = started(json!({}));
    planned.held(&planned.stop());
    dealt_with(&planned, 1, &json!({"consecutive_clean": 1}));
    let copy = planned.project.home.join("copy");
    fs::create_dir(&copy).unwrap();
    std::os::unix::fs::symlink(planned.project.path.join(".taskie"), copy.join(".taskie")).unwrap();
    planned.set("CLAUDE_PROJECT_DIR", copy.to_str().unwrap());
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    let mut event = planned.stopping(true);
    event["cwd"] = json!(copy);
    held_after_a_clean_one(&planned, &planned.hook(&event));
}

#[test]
fn a_loop_that_is_left_is_told() {
    for (changes, told) in [
        (json!({"next_phase": null}), "state.json has next_phase null"),
        (json!({"next_phase": "complete-task"}), "state.json has next_phase `complete-task`"),
        (
            json!({"next_phase": "code-review", "current_task": "2", "phase_iteration": 0}),
            "state.json has next_phase `code-review` and current_task `2`",
        ),
    ] {
        let planned = started(json!({}));
        planned.held(&planned.stop());
        planned.change(&changes);
        let answer = planned.stop_again();
        let whole = format!(
            "the code review of task 1 was left after round 1, before 2 reviews in a row were clean: {told}"
        );
        assert!(message(&answer).contains(&whole), "{answer:?}");
        assert!(!message(&planned.stop()).contains("was left"), "once");
    }
}

#[test]
fn a_state_that_is_taken_away_is_told() {
    for (text, how) in
        [(None, "state.json is gone. To take it up again: `"), (Some("broken"), "state.json cannot be read")]
    {
        let planned = started(json!({}));
        planned.held(&planned.stop());
        match text {
            None => planned.remove("state.json"),
            Some(text) => {
                planned.put("state.json", text);
            }
        }
        let told = message(&planned.stop_again());
        assert!(told.contains("was left after round 1"), "{told}");
        assert!(told.contains(how), "{told}");
        assert!(planned.stop().is_silent(), "once");
    }
    // A plan without a state, as there were before, is nothing to tell of.
    let planned = Planned::new();
    planned.worked();
    assert!(planned.stop().is_silent());
}

/// It is believed where nothing is known: the plan may come from another machine.
#[test]
fn a_clean_review_that_nobody_has_seen_is_told() {
    let planned = started(json!({"consecutive_clean": 1, "phase_iteration": 3})).says("PASS");
    let told = message(&planned.stop());
    assert!(told.contains("claims 1 clean in a row, which Provost has not seen; that counts"), "{told}");
    assert!(told.contains("Next: complete-task"), "{told}");
}
