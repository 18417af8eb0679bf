//! The recorder by itself: what goes through it comes out unchanged.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// Runs the recorder on a hook, and returns what came out and the lines of the log.
fn record(form: &[&str], given: &[u8]) -> (Output, Vec<Value>) {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut child = Command::new(env!("CARGO_BIN_EXE_rehearse"))
        .arg("--record")
        .arg(&log)
        .args(form)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    (output, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn bytes_go_through_unchanged_in_both_directions() {
    let given: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let (output, log) = record(&["--", "cat"], &given);
    assert_eq!(output.stdout, given);
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(log.len(), 2);
}

#[test]
fn a_record_has_the_event_the_command_and_the_end() {
    let event = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","agent_type":"general-purpose"}"#;
    let (output, log) = record(&["--shell", "cat >/dev/null; echo out; echo err >&2; exit 3"], event);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    let (hook, end) = (&log[0]["hook"], &log[1]["end"]);
    assert_eq!((&hook["event"], &hook["tool"]), (&json!("PreToolUse"), &json!("Bash")));
    assert_eq!(hook["agent"], "general-purpose");
    assert_eq!(hook["argv"][2], "cat >/dev/null; echo out; echo err >&2; exit 3");
    assert_eq!((&end["stdout"], &end["stderr"], &end["exit"]), (&json!("out\n"), &json!("err\n"), &json!(3)));
}

#[test]
fn a_hook_that_is_killed_kills_the_recorder_in_the_same_way() {
    for signal in [9, 11, 13, 15] {
        let (output, log) = record(&["--shell", &format!("kill -{signal} $$")], b"{}");
        assert_eq!(output.status.signal(), Some(signal));
        assert_eq!(log[1]["end"]["signal"], signal);
    }
}

#[test]
fn a_missing_program_is_recorded_and_ends_as_in_a_shell() {
    let (output, log) = record(&["--", "/nonexistent/gate"], b"{}");
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(log[1]["end"]["exit"], 127);
    assert!(log[1]["end"]["stderr"].as_str().unwrap().contains("/nonexistent/gate"));
}

#[test]
fn a_hook_need_not_read_what_it_is_given() {
    let (output, _) = record(&["--", "true"], &vec![b'x'; 300_000]);
    assert!(output.status.success());
}

#[test]
fn what_was_said_before_the_end_has_been_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_rehearse"))
        .arg("--record")
        .arg(dir.path().join("log"))
        .args(["--shell", "echo early; exec sleep 30"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    assert_eq!(line, "early\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
    assert_eq!(log.lines().count(), 1, "only the start is known: {log}");
}
