//! States, disks, reviewers and surroundings as they come. The guard is an open one: whatever goes wrong,
//! the stop goes through, and nothing on the disk is worse than before.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// The stop goes through at both entries, soon and in form.
#[track_caller]
fn passes(planned: &Planned) -> Answer {
    let answer = planned.script(false);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let json: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!((json.get("decision"), &json["suppressOutput"]), (None, &json!(true)), "{answer:?}");
    let answer = planned.stop();
    assert_eq!(reason(&answer), None, "{answer:?}");
    assert!(answer.cpu_seconds < 10.0, "{answer:?}");
    answer
}

/// The last line of the journal about a failure of the guard.
fn fault(planned: &Planned) -> String {
    planned.project.journal().last().unwrap().to_string()
}

#[test]
fn a_state_behind_a_link_counts_and_is_not_written_through() {
    let planned = started(json!({}));
    let text = planned.text("state.json");
    let outside = planned.project.home_file("outside.json", &text);
    planned.remove("state.json");
    symlink(&outside, planned.plan.join("state.json")).unwrap();
    assert!(planned.held(&planned.stop()).contains("task-1-review-1.md"));
    assert_eq!(planned.state()["phase_iteration"], 1);
    assert_eq!(fs::read_to_string(outside).unwrap(), text);
    // A link that leads nowhere is no state.
    let planned = Planned::new();
    symlink("/nonexistent/directory/x", planned.plan.join("state.json")).unwrap();
    planned.worked();
    passes(&planned);
}

#[test]
fn what_is_no_file_in_the_place_of_the_state_holds_nobody() {
    let planned = started(json!({}));
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
    assert_eq!(planned.calls().len(), 0);
}

#[test]
fn a_state_beyond_measure_is_not_read() {
    let planned = started(json!({}));
    fs::File::create(planned.plan.join("state.json")).unwrap().set_len(100 << 20).unwrap();
    assert!(passes(&planned).cpu_seconds < 3.0);
    assert!(fault(&planned).contains("larger than"), "{}", fault(&planned));
}

#[test]
fn a_mark_of_order_before_the_state_is_nothing() {
    let planned = started(json!({}));
    planned.put("state.json", &format!("\u{feff}{}", state(json!({}))));
    planned.held(&planned.stop());
    assert_eq!(planned.state()["phase_iteration"], 1);
}

#[test]
fn of_two_fields_of_one_name_the_last_counts() {
    let planned = started(json!({}));
    let text = planned.text("state.json");
    let twice =
        text.replace("\"phase_iteration\": 0", "\"phase_iteration\": 5, \"x\": 1, \"phase_iteration\": 2");
    planned.put("state.json", &twice);
    assert!(planned.held(&planned.stop()).contains("task-1-review-3.md"));
    assert_eq!(planned.state()["phase_iteration"], 3);
    planned.put("state.json", &text.replacen('{', "{\"next_phase\": null,", 1));
    assert!(planned.held(&planned.stop()).contains("task-1-review-1.md"));
}

#[test]
fn deep_nesting_breaks_nothing() {
    for (open, middle, close) in [("[", "", "]"), ("{\"a\":", "1", "}")] {
        for depth in [100, 100_000] {
            let deep = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
            let planned = started(json!({}));
            planned.put(
                "state.json",
                &planned.text("state.json").replacen('{', &format!("{{\"deep\": {deep},"), 1),
            );
            let before = planned.text("state.json");
            let answer = planned.stop();
            if reason(&answer).is_some() {
                assert!(planned.text("state.json").contains(&deep), "what is not understood stays");
            } else {
                assert!(depth > 100, "{answer:?}");
                assert_eq!(planned.text("state.json"), before);
            }
            planned.put("state.json", &deep);
            let answer = planned.stop();
            assert_eq!(reason(&answer), None, "{answer:?}");
        }
    }
}

/// Runs the hook as a user for whom permissions count, which they do not for root.
fn unprivileged(planned: &Planned) -> Answer {
    const NOBODY: &str = "65534";
    if fs::metadata(&planned.plan).unwrap().uid() != 0 {
        return planned.stop();
    }
    // The program may lie where nobody else comes.
    let program = planned.project.home.join("provost");
    assert!(Command::new("cp").arg(support::program()).arg(&program).status().unwrap().success());
    let root = planned.project.home.parent().unwrap();
    assert!(Command::new("chown").args(["-R", NOBODY]).arg(root).status().unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--clear-groups"]).arg(program).arg("hook");
    stop_by(planned, command)
}

/// The first stop of a turn, by a command that starts the hook in some other way.
fn stop_by(planned: &Planned, mut command: Command) -> Answer {
    let model = planned.command(&[]);
    command.env_clear().envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(&planned.project.path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(planned.stopping(false).to_string().as_bytes()).unwrap();
    support::finish(child, Some("Stop".into()))
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_state_that_is_only_readable_keeps_its_mode() {
    let planned = started(json!({}));
    set_mode(&planned.plan.join("state.json"), 0o444);
    let answer = unprivileged(&planned);
    planned.held(&answer);
    assert_eq!(planned.state()["phase_iteration"], 1);
    let mode = fs::metadata(planned.plan.join("state.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o444);
}

#[test]
fn a_directory_that_cannot_be_written_holds_nobody() {
    let planned = started(json!({}));
    let before = planned.text("state.json");
    set_mode(&planned.plan, 0o555);
    let answer = unprivileged(&planned);
    set_mode(&planned.plan, 0o755);
    assert_eq!(reason(&answer), None, "{answer:?}");
    assert!(message(&answer).contains("came to nothing"), "{answer:?}");
    assert_eq!(planned.text("state.json"), before);
    assert_eq!(planned.files(), ["plan.md", "state.json", "task-1.md", "task-2.md", "task-3.md", "tasks.md"]);
}

#[test]
fn a_directory_that_cannot_be_read_holds_nobody() {
    for mode in [0o000, 0o300, 0o600] {
        let planned = started(json!({}));
        set_mode(&planned.plan, mode);
        let answer = unprivileged(&planned);
        set_mode(&planned.plan, 0o755);
        // One that can be entered and not listed has a state, and so a review.
        assert_eq!(reason(&answer).is_some(), mode == 0o300, "{mode:o} {answer:?}");
    }
}

#[test]
fn a_full_disk_leaves_the_state_as_it_was() {
    let planned = started(json!({"notes": "x".repeat(20_000)}));
    let before = planned.text("state.json");
    let files = planned.files();
    // No file may grow beyond eight blocks; the signal is ignored, as a full disk sends none.
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" hook"]).arg(support::program());
    let answer = stop_by(&planned, command);
    assert_eq!(reason(&answer), None, "what could not be written is not told as done: {answer:?}");
    assert!(message(&answer).contains("its verdict cannot be recorded"), "{answer:?}");
    assert_eq!(planned.text("state.json"), before);
    let left: Vec<String> = planned.files().into_iter().filter(|name| !files.contains(name)).collect();
    assert_eq!(left, ["task-1-review-1.md"], "no temporary file");
    // With room again, the same round is made again.
    assert!(planned.held(&planned.stop()).contains("task-1-review-1.md"));
}

#[test]
fn without_a_home_or_a_place_for_its_own_files_nobody_is_held_for_a_review() {
    let planned = started(json!({}));
    let mut command = planned.command(&["hook"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(planned.stopping(false).to_string().as_bytes()).unwrap();
    let answer = support::finish(child, Some("Stop".into()));
    assert_eq!(reason(&answer), None, "{answer:?}");
    assert!(message(&answer).contains("there is no state directory"), "{answer:?}");
    assert_eq!(planned.state(), state(json!({})));
    // A file in the way of the directory.
    let planned = started(json!({}));
    fs::create_dir_all(planned.project.state().parent().unwrap()).unwrap();
    fs::write(planned.project.state(), "in the way").unwrap();
    let answer = planned.stop();
    assert_eq!(reason(&answer), None, "{answer:?}");
    assert!(message(&answer).contains("came to nothing"), "{answer:?}");
    assert_eq!(planned.state(), state(json!({})));
    assert_eq!(planned.calls().len(), 0, "no review is paid for that could not be recorded");
}

/// The ground rules need no place of their own, and hold once in a turn all the same.
#[test]
fn the_ground_rules_hold_without_a_memory() {
    let planned = Planned::new();
    planned.worked().put("odd.md", "");
    fs::create_dir_all(planned.project.state().parent().unwrap()).unwrap();
    fs::write(planned.project.state(), "in the way").unwrap();
    assert!(planned.held(&planned.stop()).contains("odd.md"));
    assert_eq!(reason(&planned.stop_again()), None, "what cannot be remembered would be held for ever");
}

#[test]
fn a_reviewer_that_takes_the_plan_away() {
    for does in ["rm -rf \"${file%/*}\"", "rm -rf \"$(dirname \"${file%/*}\")\""] {
        let planned = started(json!({})).says("PASS").with("MOCK_CLAUDE_DOES", does);
        let answer = planned.stop();
        assert_eq!(reason(&answer), None, "{answer:?}");
        assert!(!planned.plan.join("state.json").exists(), "nothing comes back of it");
        assert!(planned.stop().is_silent());
    }
}

#[test]
fn a_reviewer_without_end() {
    for does in ["while :; do echo xxxxxxxxxxxxxxxx; done", "while :; do echo x >&2; done", "sleep 600"] {
        let planned =
            started(json!({})).configured("[review_loop]\nseconds = 1\n").with("MOCK_CLAUDE_DOES", does);
        let answer = planned.stop();
        assert_eq!(reason(&answer), None, "{answer:?}");
        assert!(message(&answer).contains("came to nothing"), "{answer:?}");
        assert_eq!(planned.state(), state(json!({})));
    }
}

#[test]
fn a_reviewer_that_says_more_than_anybody_reads() {
    let does = "head -c 20000000 /dev/zero | tr '\\0' x; echo";
    let planned = started(json!({})).says("PASS").with("MOCK_CLAUDE_DOES", does);
    let answer = planned.stop();
    assert!(message(&answer).contains("larger than 4 MiB"), "{answer:?}");
    assert_eq!(planned.state(), state(json!({})));
    // On the other stream it may talk.
    let planned = started(json!({})).with("MOCK_CLAUDE_DOES", &format!("({does}) >&2"));
    planned.held(&planned.stop());
}

#[test]
fn what_a_reviewer_leaves_behind_ends_with_it() {
    let does = "sleep 100000 & echo $! > \"$MOCK_CLAUDE_LOG/../left\"";
    let planned = started(json!({})).with("MOCK_CLAUDE_DOES", does);
    let answer = planned.stop();
    planned.held(&answer);
    let left = fs::read_to_string(planned.project.home.join("left")).unwrap();
    wait_until("the end of what the reviewer left", || has_ended(&left));
}

/// Ctrl-C of the person ends the reviewer, too, and counts for nothing.
#[test]
fn a_hook_that_is_asked_to_end_takes_the_reviewer_along() {
    let does = "echo $$ > \"$MOCK_CLAUDE_LOG/../left\"; sleep 100000";
    let planned = started(json!({})).says("PASS").with("MOCK_CLAUDE_DOES", does);
    let child = planned.start(&["hook"], planned.stopping(false).to_string().as_bytes());
    let place = planned.project.home.join("left");
    wait_until("a reviewer", || fs::read_to_string(&place).is_ok_and(|text| text.ends_with('\n')));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let answer = support::finish(child, Some("Stop".into()));
    assert_eq!(reason(&answer), None, "{answer:?}");
    assert_eq!(planned.state(), state(json!({})));
    let left = fs::read_to_string(&place).unwrap();
    assert!(!Path::new(&format!("/proc/{}", left.trim())).exists());
}

#[test]
fn a_reviewer_that_is_missing_or_cannot_be_run() {
    let planned = started(json!({}));
    let program = planned.project.home.join("bin/claude");
    for mode in [0o644, 0o000] {
        set_mode(&program, mode);
        let answer = passes(&planned);
        assert!(message(&answer).contains("came to nothing"), "{answer:?}");
    }
    fs::remove_file(&program).unwrap();
    fs::create_dir(&program).unwrap();
    assert!(message(&passes(&planned)).contains("claude"));
    assert_eq!(planned.state(), state(json!({})));
}

/// A project does not bring its own judge.
#[test]
fn a_reviewer_in_the_project_is_not_asked() {
    let planned = started(json!({"consecutive_clean": 1})).says("PASS");
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
        child.stdin.take().unwrap().write_all(planned.stopping(false).to_string().as_bytes()).unwrap();
        let answer = support::finish(child, Some("Stop".into()));
        assert!(message(&answer).contains("came to nothing"), "{path}: {answer:?}");
    }
    assert_eq!(planned.calls().len(), 0);
}

/// The reviewer's own hooks, wherever they are registered, do not start another review.
#[test]
fn a_reviewer_is_not_reviewed() {
    let planned = started(json!({})).with("PROVOST_CHILD", "1");
    assert!(planned.stop().is_silent());
    assert!(planned.script(false).is_silent());
    assert_eq!(planned.calls().len(), 0);
    // The same as the reviewer would do it: its own stop within a review.
    let planned = started(json!({}));
    let event = planned.project.home_file("stop.json", &planned.stopping(false).to_string());
    let does = format!(
        "\"{}\" hook < {} > \"$MOCK_CLAUDE_LOG/../inner\"",
        support::program().display(),
        event.display()
    );
    let planned = planned.with("MOCK_CLAUDE_DOES", &does);
    planned.held(&planned.stop());
    assert_eq!(planned.calls().len(), 1);
    assert_eq!(fs::read_to_string(planned.project.home.join("inner")).unwrap(), "");
}

#[test]
fn who_has_not_finished_is_not_held() {
    let planned = started(json!({}));
    planned.put("odd.md", "x");
    let own = |name: &str| {
        let mut event = planned.project.event(name);
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
    let mut event = planned.stopping(false);
    event["permission_mode"] = "plan".into();
    assert!(planned.hook(&event).is_silent());
    assert_eq!((planned.calls().len(), planned.state()), (0, state(json!({}))));
    // A task of the shell in the background is no reason to wait, and an agent that has ended is none.
    let mut event = planned.stopping(false);
    event["background_tasks"] = json!([
        {"id": "b1", "type": "shell", "status": "running", "description": "d"},
        {"id": "a1", "type": "subagent", "status": "completed", "description": "d"},
    ]);
    planned.held(&planned.hook(&event));
}

#[test]
fn a_stop_without_its_usual_fields() {
    let planned = started(json!({}));
    let whole = planned.stopping(false);
    for field in
        ["session_id", "prompt_id", "permission_mode", "stop_hook_active", "background_tasks", "effort"]
    {
        planned.set_state(&state(json!({})));
        let mut event = whole.clone();
        event.as_object_mut().unwrap().remove(field);
        planned.held(&planned.hook(&event));
        planned.set_state(&state(json!({})));
        event[field] = json!([{"odd": 1}]);
        planned.held(&planned.hook(&event));
    }
}
