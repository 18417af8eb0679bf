//! Unanswered findings: the user is reminded once, whatever happened to the plan.

use super::*;

/// A plan whose agent has just got the findings of a review.
fn with_findings() -> ReviewProject {
    let planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    planned
}

/// The user is reminded at this stop, which is not blocked, and not at the next ones.
#[track_caller]
fn assert_reminded_once(name: &str, planned: &ReviewProject, event: &Value) {
    let answer = planned.hook(event);
    assert_shown!(format!("review-loop-reminder-{name}"), planned.project.whole(&answer));
    for _ in 0..2 {
        let again = user_message(&planned.hook(event));
        assert!(!again.contains("open") && !again.contains("without an answer"), "{again}");
    }
}

#[test]
fn the_user_is_reminded_when_the_plan_is_gone() {
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
        assert_reminded_once("plan-gone", &planned, &planned.stop_event(true));
    }
}

#[test]
fn the_user_is_reminded_once_of_a_renamed_plan() {
    let planned = with_findings();
    fs::rename(&planned.plan, planned.plan.with_file_name("renamed")).unwrap();
    planned.record_tool_call(
        "Bash",
        &json!({"command": format!("mv .taskie/plans/{PLAN_ID} .taskie/plans/renamed")}),
    );
    assert_shown!("review-loop-reminder-renamed", planned.project.whole(&planned.stop_again()));
    assert!(planned.stop_again().is_silent());
}

/// A new name does not hide that the agent left the loop.
#[test]
fn the_user_is_reminded_of_a_renamed_plan_whose_loop_was_left() {
    let mut planned = with_findings();
    let renamed = planned.plan.with_file_name("renamed");
    fs::rename(&planned.plan, &renamed).unwrap();
    planned.plan = renamed;
    planned.change_state(&json!({"next_phase": null}));
    planned.record_work();
    assert_reminded_once("plan-gone", &planned, &planned.stop_event(true));
}

#[test]
fn work_on_another_plan_hides_no_findings() {
    let planned = with_findings();
    let other = planned.plan.with_file_name("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("plan.md"), "# Other\n").unwrap();
    planned.record_tool_call("Write", &json!({"file_path": other.join("plan.md"), "content": "# Other\n"}));
    assert_reminded_once("open-findings", &planned, &planned.stop_event(true));
    // The answer closes the findings, and the user is not reminded again.
    planned.record_work().write_file("task-1-post-review-1.md", "Fixed.\n");
    planned.expect_block(&planned.stop());
}

#[test]
fn plan_mode_hides_no_findings() {
    let planned = with_findings();
    let mut event = planned.stop_event(false);
    event["permission_mode"] = "plan".into();
    assert_reminded_once("open-findings", &planned, &event);
    assert!(planned.stop().is_silent(), "out of plan mode, it is no news");
}

#[test]
fn plan_mode_repeats_no_reminder() {
    let planned = with_findings();
    assert!(user_message(&planned.stop_again()).contains("without an answer"));
    let mut event = planned.stop_event(false);
    event["permission_mode"] = "plan".into();
    assert!(planned.hook(&event).is_silent());
}

/// The user of another session is reminded of a plan that is gone, but not of one that is still there.
#[test]
fn another_session_is_reminded_of_a_plan_that_is_gone() {
    let planned = with_findings();
    let mut event = planned.stop_event(false);
    event["session_id"] = OTHER_SESSION.into();
    event["transcript_path"] = json!(planned.project.home.join("other.jsonl"));
    fs::write(planned.project.home.join("other.jsonl"), "").unwrap();
    assert!(planned.hook(&event).is_silent(), "the other session may be at it");
    fs::remove_dir_all(&planned.plan).unwrap();
    assert_reminded_once("plan-gone", &planned, &event);
}

#[test]
fn answered_or_closed_findings_cause_no_reminder() {
    let mut planned = with_findings();
    planned.write_file("task-1-post-review-1.md", "Fixed.\n");
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    planned.expect_block(&planned.stop());
    fs::remove_dir_all(&planned.plan).unwrap();
    assert!(planned.stop().is_silent(), "the last review was clean");

    let planned = with_findings();
    let set = planned.run(&["review", "set", "--plan", PLAN_ID, "next_phase=null"], b"");
    assert_eq!(set.code, Some(0), "{set:?}");
    fs::remove_dir_all(&planned.plan).unwrap();
    assert!(planned.stop().is_silent(), "the user has ended it");
}
