//! Hostile states, disks, reviewers and environments. The guard fails open: after any fault the stop passes, and
//! nothing on the disk is worse than before.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// The stop passes at both entries, in time and with a valid answer.
#[track_caller]
fn passes(planned: &ReviewProject) -> Answer {
    let answer = planned.script(false);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!((json.get("decision"), &json["suppressOutput"]), (None, &json!(true)), "{answer:?}");
    let answer = planned.stop();
    assert_eq!(block_reason(&answer), None, "{answer:?}");
    assert!(answer.cpu_seconds < 10.0, "{answer:?}");
    answer
}

/// The last line of the journal about a failure of the guard.
fn fault(planned: &ReviewProject) -> String {
    planned.project.read_journal().last().unwrap().to_string()
}

#[test]
fn a_state_behind_a_link_counts_and_is_not_written_through() {
    let planned = started_review(json!({}));
    let text = planned.read_file("state.json");
    let outside = planned.project.write_home_file("outside.json", &text);
    planned.remove("state.json");
    symlink(&outside, planned.plan.join("state.json")).unwrap();
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-1.md"));
    assert_eq!(planned.read_state()["phase_iteration"], 1);
    assert_eq!(fs::read_to_string(outside).unwrap(), text);
    // A dangling link counts as no state.
    let planned = ReviewProject::new();
    symlink("/nonexistent/directory/x", planned.plan.join("state.json")).unwrap();
    planned.record_work();
    passes(&planned);
}

#[test]
fn a_state_that_is_not_a_file_blocks_nothing() {
    let planned = started_review(json!({}));
    planned.remove("state.json");
    fs::create_dir(planned.plan.join("state.json")).unwrap();
    passes(&planned);
    assert!(fault(&planned).contains("not a regular file"), "{}", fault(&planned));
    fs::remove_dir(planned.plan.join("state.json")).unwrap();
    let made = Command::new("mkfifo").arg(planned.plan.join("state.json")).status();
    assert!(made.unwrap().success());
    passes(&planned);
    assert!(fault(&planned).contains("not a regular file"), "a pipe is not waited for: {}", fault(&planned));
    planned.remove("state.json");
    symlink("/dev/zero", planned.plan.join("state.json")).unwrap();
    passes(&planned);
    assert_eq!(planned.reviewer_calls().len(), 0);
}

#[test]
fn an_oversized_state_is_not_read() {
    let planned = started_review(json!({}));
    fs::File::create(planned.plan.join("state.json")).unwrap().set_len(100 << 20).unwrap();
    assert!(passes(&planned).cpu_seconds < 3.0);
    assert!(fault(&planned).contains("larger than"), "{}", fault(&planned));
}

#[test]
fn a_byte_order_mark_before_the_state_is_ignored() {
    let planned = started_review(json!({}));
    planned.write_file("state.json", &format!("\u{feff}{}", state(json!({}))));
    planned.expect_block(&planned.stop());
    assert_eq!(planned.read_state()["phase_iteration"], 1);
}

#[test]
fn of_two_fields_of_one_name_the_last_counts() {
    let planned = started_review(json!({}));
    let text = planned.read_file("state.json");
    let twice =
        text.replace("\"phase_iteration\": 0", "\"phase_iteration\": 5, \"x\": 1, \"phase_iteration\": 2");
    planned.write_file("state.json", &twice);
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-3.md"));
    assert_eq!(planned.read_state()["phase_iteration"], 3);
    planned.write_file("state.json", &text.replacen('{', "{\"next_phase\": null,", 1));
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-1.md"));
}

#[test]
fn deep_nesting_breaks_nothing() {
    for (open, middle, close) in [("[", "", "]"), ("{\"a\":", "1", "}")] {
        for depth in [100, 100_000] {
            let deep = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
            let planned = started_review(json!({}));
            planned.write_file(
                "state.json",
                &planned.read_file("state.json").replacen('{', &format!("{{\"deep\": {deep},"), 1),
            );
            let before = planned.read_file("state.json");
            let answer = planned.stop();
            if block_reason(&answer).is_some() {
                assert!(planned.read_file("state.json").contains(&deep), "what is not understood stays");
            } else {
                assert!(depth > 100, "{answer:?}");
                assert_eq!(planned.read_file("state.json"), before);
            }
            planned.write_file("state.json", &deep);
            let answer = planned.stop();
            assert_eq!(block_reason(&answer), None, "{answer:?}");
        }
    }
}

/// Runs the hook as an unprivileged user, because permissions do not apply to root.
fn unprivileged(planned: &ReviewProject) -> Answer {
    const NOBODY: &str = "65534";
    if fs::metadata(&planned.plan).unwrap().uid() != 0 {
        return planned.stop();
    }
    // Other users may not be able to reach the program.
    let program = planned.project.home.join("provost");
    assert!(Command::new("cp").arg(crate::support::program()).arg(&program).status().unwrap().success());
    let root = planned.project.home.parent().unwrap();
    assert!(Command::new("chown").args(["-R", NOBODY]).arg(root).status().unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--clear-groups"]).arg(program).arg("hook");
    stop_by(planned, command)
}

/// The first stop of a turn, with the hook started by this command.
fn stop_by(planned: &ReviewProject, mut command: Command) -> Answer {
    let model = planned.command(&[]);
    command.env_clear().envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(&planned.project.path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(planned.stop_event(false).to_string().as_bytes()).unwrap();
    crate::support::collect_answer(child, Some("Stop".into()))
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_state_that_is_only_readable_keeps_its_mode() {
    let planned = started_review(json!({}));
    set_mode(&planned.plan.join("state.json"), 0o444);
    let answer = unprivileged(&planned);
    planned.expect_block(&answer);
    assert_eq!(planned.read_state()["phase_iteration"], 1);
    let mode = fs::metadata(planned.plan.join("state.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o444);
}

#[test]
fn a_directory_that_cannot_be_written_blocks_nothing() {
    let planned = started_review(json!({}));
    let before = planned.read_file("state.json");
    set_mode(&planned.plan, 0o555);
    let answer = unprivileged(&planned);
    set_mode(&planned.plan, 0o755);
    assert_eq!(block_reason(&answer), None, "{answer:?}");
    assert!(user_message(&answer).contains("came to nothing"), "{answer:?}");
    assert_eq!(planned.read_file("state.json"), before);
    assert_eq!(
        planned.list_files(),
        ["plan.md", "state.json", "task-1.md", "task-2.md", "task-3.md", "tasks.md"]
    );
}

#[test]
fn a_directory_that_cannot_be_read_blocks_nothing() {
    for mode in [0o000, 0o300, 0o600] {
        let planned = started_review(json!({}));
        set_mode(&planned.plan, mode);
        let answer = unprivileged(&planned);
        set_mode(&planned.plan, 0o755);
        // A directory that can be entered but not listed still has a state, and so a review.
        assert_eq!(block_reason(&answer).is_some(), mode == 0o300, "{mode:o} {answer:?}");
    }
}

#[test]
fn a_full_disk_leaves_the_state_as_it_was() {
    let planned = started_review(json!({"notes": "x".repeat(20_000)}));
    let before = planned.read_file("state.json");
    let files = planned.list_files();
    // No file may grow beyond eight blocks. The signal is ignored, because a full disk sends none.
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" hook"]).arg(crate::support::program());
    let answer = stop_by(&planned, command);
    assert_eq!(block_reason(&answer), None, "what could not be written is not told as done: {answer:?}");
    assert!(user_message(&answer).contains("its verdict cannot be recorded"), "{answer:?}");
    assert_eq!(planned.read_file("state.json"), before);
    let left: Vec<String> = planned.list_files().into_iter().filter(|name| !files.contains(name)).collect();
    assert_eq!(left, ["task-1-review-1.md"], "no temporary file");
    // With free space again, the same round runs again.
    assert!(planned.expect_block(&planned.stop()).contains("task-1-review-1.md"));
}

#[test]
fn without_a_home_or_a_state_directory_no_review_blocks() {
    let planned = started_review(json!({}));
    let mut command = planned.command(&["hook"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(planned.stop_event(false).to_string().as_bytes()).unwrap();
    let answer = crate::support::collect_answer(child, Some("Stop".into()));
    assert_eq!(block_reason(&answer), None, "{answer:?}");
    assert!(user_message(&answer).contains("there is no state directory"), "{answer:?}");
    assert_eq!(planned.read_state(), state(json!({})));
    // A file takes the place of the directory.
    let planned = started_review(json!({}));
    fs::create_dir_all(planned.project.state_directory().parent().unwrap()).unwrap();
    fs::write(planned.project.state_directory(), "in the way").unwrap();
    let answer = planned.stop();
    assert_eq!(block_reason(&answer), None, "{answer:?}");
    assert!(user_message(&answer).contains("came to nothing"), "{answer:?}");
    assert_eq!(planned.read_state(), state(json!({})));
    assert_eq!(planned.reviewer_calls().len(), 0, "no review is paid for that could not be recorded");
}

/// The ground rules block once in a turn even without a state directory.
#[test]
fn the_ground_rules_block_without_recorded_notices() {
    let planned = ReviewProject::new();
    planned.record_work().write_file("odd.md", "");
    fs::create_dir_all(planned.project.state_directory().parent().unwrap()).unwrap();
    fs::write(planned.project.state_directory(), "in the way").unwrap();
    assert!(planned.expect_block(&planned.stop()).contains("odd.md"));
    assert_eq!(block_reason(&planned.stop_again()), None, "what cannot be remembered would be held for ever");
}

#[test]
fn a_reviewer_that_removes_the_plan_comes_to_nothing() {
    for does in ["rm -rf \"${file%/*}\"", "rm -rf \"$(dirname \"${file%/*}\")\""] {
        let planned = started_review(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_DOES", does);
        let answer = planned.stop();
        assert_eq!(block_reason(&answer), None, "{answer:?}");
        assert!(!planned.plan.join("state.json").exists(), "nothing comes back of it");
        assert!(planned.stop().is_silent());
    }
}

#[test]
fn a_reviewer_that_never_ends_is_ended() {
    for does in ["while :; do echo xxxxxxxxxxxxxxxx; done", "while :; do echo x >&2; done", "sleep 600"] {
        let planned = started_review(json!({}))
            .with_config("[review_loop]\nseconds = 1\n")
            .with("MOCK_CLAUDE_DOES", does);
        let answer = planned.stop();
        assert_eq!(block_reason(&answer), None, "{answer:?}");
        assert!(user_message(&answer).contains("came to nothing"), "{answer:?}");
        assert_eq!(planned.read_state(), state(json!({})));
    }
}

#[test]
fn the_output_of_a_talkative_reviewer_is_bounded() {
    let does = "head -c 20000000 /dev/zero | tr '\\0' x; echo";
    let planned = started_review(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_DOES", does);
    let answer = planned.stop();
    assert!(user_message(&answer).contains("larger than 4 MiB"), "{answer:?}");
    assert_eq!(planned.read_state(), state(json!({})));
    // Standard error may be long.
    let planned = started_review(json!({})).with("MOCK_CLAUDE_DOES", &format!("({does}) >&2"));
    planned.expect_block(&planned.stop());
}

#[test]
fn processes_of_a_reviewer_end_with_it() {
    let does = "sleep 100000 & echo $! > \"$MOCK_CLAUDE_LOG/../left\"";
    let planned = started_review(json!({})).with("MOCK_CLAUDE_DOES", does);
    let answer = planned.stop();
    planned.expect_block(&answer);
    let left = fs::read_to_string(planned.project.home.join("left")).unwrap();
    wait_until("the end of what the reviewer left", || has_ended(&left));
}

/// Ctrl-C of the user ends the reviewer too, and the review does not count.
#[test]
fn a_hook_that_is_terminated_ends_its_reviewer() {
    let does = "echo $$ > \"$MOCK_CLAUDE_LOG/../left\"; sleep 100000";
    let planned = started_review(json!({})).with_verdict("PASS").with("MOCK_CLAUDE_DOES", does);
    let child = planned.start(&["hook"], planned.stop_event(false).to_string().as_bytes());
    let place = planned.project.home.join("left");
    wait_until("a reviewer", || fs::read_to_string(&place).is_ok_and(|text| text.ends_with('\n')));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let answer = crate::support::collect_answer(child, Some("Stop".into()));
    assert_eq!(block_reason(&answer), None, "{answer:?}");
    assert_eq!(planned.read_state(), state(json!({})));
    let left = fs::read_to_string(&place).unwrap();
    assert!(!Path::new(&format!("/proc/{}", left.trim())).exists());
}

#[test]
fn a_missing_or_broken_reviewer_comes_to_nothing() {
    let planned = started_review(json!({}));
    let program = planned.project.home.join("bin/claude");
    for mode in [0o644, 0o000] {
        set_mode(&program, mode);
        let answer = passes(&planned);
        assert!(user_message(&answer).contains("came to nothing"), "{answer:?}");
    }
    fs::remove_file(&program).unwrap();
    fs::create_dir(&program).unwrap();
    assert!(user_message(&passes(&planned)).contains("claude"));
    assert_eq!(planned.read_state(), state(json!({})));
}

/// A project cannot supply its own reviewer.
#[test]
fn a_reviewer_in_the_project_is_not_started() {
    let planned = started_review(json!({"consecutive_clean": 1})).with_verdict("PASS");
    for place in ["claude", "bin/claude", "node_modules/.bin/claude"] {
        let path = planned.project.path.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let copied = Command::new("cp").arg(planned.project.home.join("bin/claude")).arg(path).status();
        assert!(copied.unwrap().success());
    }
    for path in ["", ".", "bin", ":bin:./node_modules/.bin:", "./bin:/usr/bin:/bin"] {
        let mut command = planned.command(&["hook"]);
        command.env("PATH", path);
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(planned.stop_event(false).to_string().as_bytes()).unwrap();
        let answer = crate::support::collect_answer(child, Some("Stop".into()));
        assert!(user_message(&answer).contains("came to nothing"), "{path}: {answer:?}");
    }
    assert_eq!(planned.reviewer_calls().len(), 0);
}

/// The reviewer's own hooks, wherever they are registered, do not start another review.
#[test]
fn a_reviewer_is_not_reviewed() {
    let planned = started_review(json!({})).with("PROVOST_CHILD", "1");
    assert!(planned.stop().is_silent());
    assert!(planned.script(false).is_silent());
    assert_eq!(planned.reviewer_calls().len(), 0);
    // The reviewer's own stop during a review.
    let planned = started_review(json!({}));
    let event = planned.project.write_home_file("stop.json", &planned.stop_event(false).to_string());
    let does = format!(
        "\"{}\" hook < {} > \"$MOCK_CLAUDE_LOG/../inner\"",
        crate::support::program().display(),
        event.display()
    );
    let planned = planned.with("MOCK_CLAUDE_DOES", &does);
    planned.expect_block(&planned.stop());
    assert_eq!(planned.reviewer_calls().len(), 1);
    assert_eq!(fs::read_to_string(planned.project.home.join("inner")).unwrap(), "");
}

#[test]
fn an_unfinished_agent_is_not_blocked() {
    let planned = started_review(json!({}));
    planned.write_file("odd.md", "x");
    let own = |name: &str| {
        let mut event = planned.project.recorded_event(name);
        event["session_id"] = SESSION.into();
        event["transcript_path"] = json!(planned.transcript());
        event
    };
    for name in ["Stop.active_false.bgtask", "Stop.active_true.bgtask", "StopFailure"] {
        assert!(planned.hook(&own(name)).is_silent(), "{name}");
    }
    for name in ["demo_checker", "fork", "general-purpose", "internal", "jv", "validator"] {
        assert!(planned.hook(&own(&format!("SubagentStop.{name}"))).is_silent(), "{name}");
    }
    let mut event = planned.stop_event(false);
    event["permission_mode"] = "plan".into();
    assert!(planned.hook(&event).is_silent());
    assert_eq!((planned.reviewer_calls().len(), planned.read_state()), (0, state(json!({}))));
    // A background shell task, or an agent that has ended, is no reason to wait.
    let mut event = planned.stop_event(false);
    event["background_tasks"] = json!([
        {"id": "b1", "type": "shell", "status": "running", "description": "d"},
        {"id": "a1", "type": "subagent", "status": "completed", "description": "d"},
    ]);
    planned.expect_block(&planned.hook(&event));
}

#[test]
fn a_stop_without_its_usual_fields() {
    let planned = started_review(json!({}));
    let whole = planned.stop_event(false);
    for field in
        ["session_id", "prompt_id", "permission_mode", "stop_hook_active", "background_tasks", "effort"]
    {
        planned.set_state(&state(json!({})));
        let mut event = whole.clone();
        event.as_object_mut().unwrap().remove(field);
        planned.expect_block(&planned.hook(&event));
        planned.set_state(&state(json!({})));
        event[field] = json!([{"odd": 1}]);
        planned.expect_block(&planned.hook(&event));
    }
}
