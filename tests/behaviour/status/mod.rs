//! `provost status` and `provost statusline`, as the user sees them: in a pipe, in a terminal, in the line
//! of the client.

mod hostile;
mod line;
mod live;
mod screen;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::waiting::{HANG, least_cpu_seconds, wait_for};
use crate::support::{TestProject, assert_shown};
use serde_json::{Value, json};

/// What a command answered.
struct Shown {
    code: i32,
    stdout: String,
    stderr: String,
}

/// `provost ARGUMENTS` in this project, with nothing of the machine.
fn command(project: &TestProject, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::program());
    command.args(arguments).env_clear().current_dir(&project.path);
    command.env("HOME", &project.home).env("PATH", "/usr/bin:/bin");
    command.env("PROVOST_MANAGED", project.home.with_file_name("managed")).envs([crate::support::PATIENCE]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn answered(project: &TestProject, mut command: Command, input: &[u8]) -> Shown {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writing = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    let text = |bytes| project.shorten_paths(&String::from_utf8(bytes).expect("what is shown is text"));
    Shown { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn run(project: &TestProject, arguments: &[&str]) -> Shown {
    answered(project, command(project, arguments), b"")
}

/// The screen, which must be whole.
fn status(project: &TestProject) -> String {
    let shown = run(project, &["status"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{}", shown.stdout);
    shown.stdout
}

fn status_json(project: &TestProject) -> Value {
    serde_json::from_str(&run(project, &["status", "--json"]).stdout).unwrap()
}

/// The line that the client would show for what it says; whatever that is, it is one printable line.
fn line(project: &TestProject, input: &[u8]) -> String {
    let shown = answered(project, command(project, &["statusline"]), input);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{}", shown.stdout);
    let line = shown.stdout.strip_suffix('\n').expect("a line").to_owned();
    assert!(line.starts_with("provost · ") && !line.chars().any(char::is_control), "{line:?}");
    line
}

/// What the client says to the command of its status line.
fn said(project: &TestProject, session: &str) -> Vec<u8> {
    let path = project.path.to_str().unwrap();
    let value = json!({"session_id": session, "cwd": path, "model": {"id": "m", "display_name": "M"},
        "workspace": {"current_dir": path, "project_dir": path}, "version": "2.1.325"});
    value.to_string().into_bytes()
}

/// A plan in the middle of its reviews: the first was clean, and its answer is due.
fn plan(project: &TestProject) -> PathBuf {
    project
        .write_file(".taskie/plans/login-limit/plan.md", "# Login limit\n\n## Overview\n\nFive a minute.\n");
    project.write_file(".taskie/plans/login-limit/plan-review-1.md", "Clear.\n\nVERDICT: PASS\n");
    plan_state(
        project,
        &json!({
            "max_reviews": 8, "current_task": null, "phase": "plan-review", "phase_iteration": 1,
            "next_phase": "post-plan-review", "review_model": "sonnet", "consecutive_clean": 1, "tdd": false,
        }),
    )
}

fn plan_state(project: &TestProject, state: &Value) -> PathBuf {
    project.write_file(".taskie/plans/login-limit/state.json", &format!("{state:#}\n"))
}

/// A workflow in its third phase, whose tests and articles are missing.
fn workflow(project: &TestProject) -> PathBuf {
    let requirements = json!({"phase_requirements": {"06-implementation": {
        "test_iteration": {"enabled": true, "max_iterations": 10},
        "constitutional_validation": {"enabled": true, "max_iterations": 5, "articles": ["I", "II"]}}}});
    project.write_file(".isdlc/config/iteration-requirements.json", &requirements.to_string());
    project.write_file("docs/isdlc/tasks.md", "# Tasks\n");
    let state = json!({
        "active_workflow": {"type": "feature", "current_phase": "06-implementation",
            "phases": ["01-requirements", "05-test-strategy", "06-implementation", "07-testing"]},
        "phases": {"01-requirements": {"status": "completed"}, "05-test-strategy": {"status": "completed"},
            "06-implementation": {"status": "in_progress"}},
    });
    project.write_file(".isdlc/state.json", &state.to_string())
}

/// The journal of the project, which is made by a call.
fn journal(project: &TestProject) -> PathBuf {
    let mut call = project.recorded_event("PreToolUse.Bash");
    call["tool_input"]["command"] = "ls".into();
    project.hook(&call);
    let state = fs::read_dir(project.state_directory().join("projects")).unwrap().next().unwrap().unwrap();
    state.path().join("journal.jsonl")
}

/// Has a call denied, in this session.
fn denied(project: &TestProject, session: &str) {
    let mut call = project.recorded_event("PreToolUse.Bash");
    call["tool_input"]["command"] = "rm provost.toml".into();
    call["session_id"] = session.into();
    project.hook(&call);
}
