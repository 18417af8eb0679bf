//! Findings that nobody has answered: the user is told, once, whatever became of the plan.

use super::*;

/// A plan whose review has found something, and whose agent was given it.
fn with_findings() -> Planned {
    let planned = started(json!({}));
    planned.held(&planned.stop());
    planned
}

const OPEN: &str = "the findings of the code review of task 1, round 1, are still open";

/// Told at this stop, without holding the agent, and not at the next ones.
#[track_caller]
fn told_once(planned: &Planned, event: &Value, part: &str) {
    let answer = planned.hook(event);
    assert_eq!(reason(&answer), None, "{answer:?}");
    let told = message(&answer);
    assert!(told.contains(OPEN) && told.contains(part), "{answer:?}");
    assert_eq!(told.matches("still open").count(), 1, "{told}");
    for _ in 0..2 {
        let again = planned.hook(event);
        assert!(
            !message(&again).contains("open") && !message(&again).contains("without an answer"),
            "{again:?}"
        );
    }
}

#[test]
fn a_plan_that_is_taken_away_is_told() {
    for how in ["plan", "plans", "taskie", "moved out", "taskie moved", "link"] {
        let planned = with_findings();
        let path = |name: &str| planned.project.path.join(name);
        match how {
            "plan" => fs::remove_dir_all(&planned.plan).unwrap(),
            "plans" => fs::remove_dir_all(path(".taskie/plans")).unwrap(),
            "taskie" => fs::remove_dir_all(path(".taskie")).unwrap(),
            "moved out" => fs::rename(&planned.plan, path("old-plan")).unwrap(),
            "taskie moved" => fs::rename(path(".taskie"), path(".taskie-old")).unwrap(),
            _ => {
                fs::rename(&planned.plan, path("old-plan")).unwrap();
                std::os::unix::fs::symlink("nowhere", &planned.plan).unwrap();
            }
        }
        told_once(&planned, &planned.stopping(true), "is gone. To continue: put the directory back");
    }
}

#[test]
fn a_plan_that_is_renamed_is_told_once() {
    let planned = with_findings();
    fs::rename(&planned.plan, planned.plan.with_file_name("renamed")).unwrap();
    planned.used("Bash", &json!({"command": format!("mv .taskie/plans/{PLAN_ID} .taskie/plans/renamed")}));
    let told = message(&planned.stop_again());
    assert!(told.contains("Plan 'renamed': the agent has stopped without an answer"), "{told}");
    assert!(!told.contains("still open"), "{told}");
    assert!(planned.stop_again().is_silent());
}

/// A new name does not hide that the loop was left.
#[test]
fn a_plan_that_is_renamed_with_a_state_that_ends_the_loop_is_told() {
    let mut planned = with_findings();
    let renamed = planned.plan.with_file_name("renamed");
    fs::rename(&planned.plan, &renamed).unwrap();
    planned.plan = renamed;
    planned.change(&json!({"next_phase": null}));
    planned.worked();
    told_once(&planned, &planned.stopping(true), "is gone");
}

#[test]
fn another_plan_that_is_touched_last_hides_nothing() {
    let planned = with_findings();
    let other = planned.plan.with_file_name("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("plan.md"), "# Other\n").unwrap();
    planned.used("Write", &json!({"file_path": other.join("plan.md"), "content": "# Other\n"}));
    told_once(&planned, &planned.stopping(true), "task-1-review-1.md). To continue: `/taskie:continue-plan`");
    // The answer closes it, without another word.
    planned.worked().put("task-1-post-review-1.md", "Fixed.\n");
    planned.held(&planned.stop());
}

#[test]
fn plan_mode_hides_nothing() {
    let planned = with_findings();
    let mut event = planned.stopping(false);
    event["permission_mode"] = "plan".into();
    told_once(&planned, &event, "task-1-review-1.md)");
    assert!(planned.stop().is_silent(), "out of plan mode, it is no news");
}

#[test]
fn what_was_told_already_is_not_told_in_plan_mode_again() {
    let planned = with_findings();
    assert!(message(&planned.stop_again()).contains("without an answer"));
    let mut event = planned.stopping(false);
    event["permission_mode"] = "plan".into();
    assert!(planned.hook(&event).is_silent());
}

/// The user of another session is told of a plan that is gone, but not of one that is worked on.
#[test]
fn another_session_is_told_of_a_plan_that_is_gone() {
    let planned = with_findings();
    let mut event = planned.stopping(false);
    event["session_id"] = OTHER_SESSION.into();
    event["transcript_path"] = json!(planned.project.home.join("other.jsonl"));
    fs::write(planned.project.home.join("other.jsonl"), "").unwrap();
    assert!(planned.hook(&event).is_silent(), "the other session may be at it");
    fs::remove_dir_all(&planned.plan).unwrap();
    told_once(&planned, &event, "is gone");
}

#[test]
fn what_is_answered_or_closed_by_the_user_is_not_told() {
    let mut planned = with_findings();
    planned.put("task-1-post-review-1.md", "Fixed.\n");
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    planned.held(&planned.stop());
    fs::remove_dir_all(&planned.plan).unwrap();
    assert!(planned.stop().is_silent(), "the last review was clean");

    let planned = with_findings();
    let set = planned.run(&["review", "set", "--plan", PLAN_ID, "next_phase=null"], b"");
    assert_eq!(set.code, Some(0), "{set:?}");
    fs::remove_dir_all(&planned.plan).unwrap();
    assert!(planned.stop().is_silent(), "the user has ended it");
}
