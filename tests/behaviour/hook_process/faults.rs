//! Guards that fail, by switches that exist only in builds with debug assertions.

use std::io::Write;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::waiting::{catches_sigterm, wait_until};
use crate::support::{Answer, TestProject, collect_answer};

/// Hands the event over late, when every thread of the hook has long begun to wait.
fn slowly(project: &TestProject, event: &Value) -> Answer {
    let mut child = project.command(&[]).spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    collect_answer(child, None)
}

fn failing(fault: &str) -> TestProject {
    TestProject::new().with_variable("PROVOST_FAULT", fault)
}

#[test]
fn an_error_in_a_closed_guard_denies_by_exit_code() {
    let project = failing("self-guard=error");
    assert_eq!(
        project.hook(&project.bash("ls")).expect_closed_failure(),
        "[provost] `self-guard` could not judge this: error on request, so it is denied. To fix: run \
         `provost explain` in a terminal to see why; the user can switch the guard off with `self-guard = \"off\"` under `[guards]` in ~/.config/provost/provost.toml."
    );
    assert_eq!(project.read_journal()[0]["guards"][0]["opinion"], "fault");
}

#[test]
fn a_panic_in_a_closed_guard_denies_by_exit_code() {
    let project = failing("self-guard=panic");
    let answer = project.hook(&project.bash("ls"));
    let text = answer.expect_closed_failure();
    assert!(text.contains("internal error (panic on request at crates/files/src/faults.rs:"), "{text}");
    assert!(!text.contains("panicked") && text.lines().count() == 1, "{text}");
}

#[test]
fn a_panic_in_a_closed_guard_concerns_only_its_own_events() {
    let project = failing("self-guard=panic");
    assert!(project.hook(&project.recorded_event("SessionStart.startup")).is_silent());
    assert!(project.hook(&project.recorded_event("Stop.active_false")).is_silent());
}

#[test]
fn a_guard_that_is_off_cannot_fail() {
    let project = TestProject::with_no_guard().with_variable("PROVOST_FAULT", "self-guard=panic");
    assert!(project.hook(&project.bash("ls")).is_silent());
}

#[test]
fn a_closed_guard_that_hangs_denies_at_the_deadline() {
    let project = failing("self-guard=hang");
    project.write_file("provost.toml", "[engine]\ndeadline_seconds = 1\n");
    let answer = slowly(&project, &project.bash("ls"));
    assert!(answer.expect_closed_failure().contains("no answer within 1.0 s"), "{answer:?}");
    assert_eq!(project.read_journal()[0]["decision"], "deny (fault)");
    waited(&project, 1);
}

/// The guards had all their time.
#[track_caller]
fn waited(project: &TestProject, seconds: u64) {
    let line = &project.read_journal()[0];
    assert!(line["micros"].as_u64() >= Some(seconds * 1_000_000), "{line}");
}

#[test]
fn the_default_deadline_is_five_seconds() {
    let project = failing("self-guard=hang").with_real_limits();
    let answer = project.hook(&project.bash("ls"));
    assert!(answer.expect_closed_failure().contains("no answer within 5.0 s"), "{answer:?}");
    waited(&project, 5);
}

#[test]
fn a_longer_deadline_is_kept_too() {
    let project = failing("self-guard=hang");
    project.write_file("provost.toml", "[engine]\ndeadline_seconds = 6\n");
    let answer = project.hook(&project.bash("ls"));
    assert!(answer.expect_closed_failure().contains("no answer within 6.0 s"), "{answer:?}");
    waited(&project, 6);
}

#[test]
fn an_open_guard_that_fails_lets_the_session_go_on_and_is_kept() {
    for (how, kept) in [("error", "error on request"), ("panic", "internal error (panic on request")] {
        let project = failing(&format!("config-check={how}"));
        assert!(project.hook(&project.recorded_event("SessionStart.startup")).is_silent(), "{how}");
        let line = &project.read_journal()[0];
        assert_eq!(line["decision"], "silence");
        let said = &line["guards"].as_array().unwrap().last().unwrap();
        assert_eq!((&said["guard"], &said["opinion"]), (&json!("config-check"), &json!("fault")));
        assert!(said["why"].as_str().unwrap().contains(kept), "{said}");
    }
}

#[test]
fn an_open_guard_that_hangs_lets_the_session_go_on_and_is_kept() {
    let project = failing("config-check=hang");
    project.write_file("provost.toml", "[engine]\ndeadline_seconds = 5\n");
    let answer = slowly(&project, &project.recorded_event("SessionStart.startup"));
    assert!(answer.is_silent(), "{answer:?}");
    let line = &project.read_journal()[0];
    assert_eq!(line["guards"][0]["opinion"], "silence", "what was said in time counts: {line}");
    assert_eq!(line["guards"][1]["opinion"], "fault", "{line}");
}

#[test]
fn a_killed_hook_ends_by_signal_and_says_nothing() {
    let project = failing("self-guard=kill");
    let answer = project.hook(&project.bash("ls"));
    assert_eq!((answer.code, answer.stdout.as_str()), (None, ""), "{answer:?}");
}

#[test]
fn the_user_is_warned_of_a_fault_that_the_journal_cannot_record() {
    let project = failing("override=error");
    let mut event = project.recorded_event("UserPromptSubmit");
    event["prompt"] = "provost override plan-gate because".into();
    assert!(project.hook(&event).is_silent(), "the journal has it");
    let project = project.without_variable("HOME");
    assert_eq!(
        project.hook(&event).expect_note(),
        "[provost] `override` could not judge this, so it is allowed: error on request; the journal cannot record it: \
         there is no home directory. To fix: make Provost's state directory writable and free some disk space \
         (`provost doctor` in a terminal shows the directory)."
    );
    // Without a journal there is nothing to warn of.
    project.write_file("provost.toml", "[journal]\nenabled = false\n");
    assert!(project.hook(&event).is_silent());
}

#[test]
fn a_hook_that_is_told_to_end_while_a_closed_guard_judges_denies() {
    for (guard, event, code) in
        [("self-guard", "PreToolUse.Bash", Some(2)), ("override", "UserPromptSubmit", None)]
    {
        let project = failing(&format!("{guard}=hang"));
        let mut child = project.command(&[]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(project.recorded_event(event).to_string().as_bytes()).unwrap();
        if code.is_some() {
            wait_until("the handler of SIGTERM", || catches_sigterm(&child));
        }
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        let answer = collect_answer(child, None);
        assert_eq!((answer.code, answer.stdout.as_str()), (code, ""), "{guard}: {answer:?}");
    }
}
