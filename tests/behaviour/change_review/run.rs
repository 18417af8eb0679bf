//! `provost review run` in any project: what it reviews, what it prints, and its exit codes.

use std::process::Output;

use serde_json::{Value, json};

use super::session::ReviewedSession;
use crate::support::assert_shown;

fn run(session: &ReviewedSession, arguments: &[&str]) -> Output {
    session.project.provost_command("review", &[&["run"], arguments].concat()).output().unwrap()
}

fn run_json(session: &ReviewedSession, arguments: &[&str], code: i32) -> Value {
    let output = run(session, &[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A project without a rule; the session only helps with files.
fn project() -> ReviewedSession {
    ReviewedSession::new("changed = \"nothing\"\nneed = { review = 1 }")
}

#[test]
fn the_changes_that_are_not_committed_are_reviewed() {
    let session = project();
    let nothing = run_json(&session, &[], 0);
    assert_eq!((&nothing["verdict"], &nothing["files"]), (&json!("nothing"), &json!([])));
    session.script(&["fail src/old.rs:2: wrong"]);
    session.project.write_file("src/old.rs", "one\nTWO\n");
    session.project.write_file("src/new.rs", "new\n");
    session.project.write_file("Cargo.lock", "x\n");
    let found = run_json(&session, &[], 1);
    let expected = json!(["src/new.rs", "src/old.rs"]);
    assert_eq!(
        (&found["verdict"], &found["files"], &found["lines"]),
        (&json!("issues"), &expected, &json!(3))
    );
    assert_eq!(found["findings"], "src/old.rs:2: wrong");
    assert_eq!(found["left_out"], json!([{"path": "Cargo.lock", "why": "a lock file"}]));
    assert_eq!(run_json(&session, &[], 0)["verdict"], "clean");
    assert_eq!(session.models(), "opus\nopus\n");
    assert!(session.prompts()[0].contains("Review the changes that are not committed"));
}

#[test]
fn a_range_of_commits_is_reviewed() {
    let session = project();
    session.git("checkout -q -b topic");
    session.project.write_file("src/topic.rs", "topic\n");
    session.git("add -A");
    session.git("commit -qm topic");
    session.git("checkout -q main");
    session.project.write_file("src/main.rs", "main\n");
    session.git("add -A");
    session.git("commit -qm main");
    let files = |range: &str| run_json(&session, &[range], 0)["files"].clone();
    assert_eq!(files("main...topic"), json!(["src/topic.rs"]));
    assert_eq!(files("main..topic"), json!(["src/main.rs", "src/topic.rs"]));
    assert_eq!(files("HEAD~1"), json!(["src/main.rs"]));
    session.project.write_file("src/more.rs", "more\n");
    assert_eq!(files("HEAD~1"), json!(["src/main.rs", "src/more.rs"]));
    assert_eq!(files("HEAD~1.."), json!(["src/main.rs"]));
    for range in ["missing", "main..missing", "--help-me", "main...", ":(top)", "HEAD^{tree}"] {
        let output = run(&session, &["--", range]);
        let code = if range == "main..." { 0 } else { 64 };
        assert_eq!(output.status.code(), Some(code), "{range}: {output:?}");
    }
}

#[test]
fn a_review_without_a_verdict_is_no_pass() {
    let session = project();
    session.project.write_file("src/new.rs", "new\n");
    session.script(&["crash", "crash", "sleep"]);
    let none = run_json(&session, &[], 75);
    assert_eq!((&none["verdict"], &none["files"]), (&json!("none"), &json!(["src/new.rs"])));
    assert!(none["why"].as_str().unwrap().contains("out of order"), "{none}");
    assert_eq!(run(&session, &[]).status.code(), Some(75));
    assert_eq!(run(&session, &["--seconds", "1"]).status.code(), Some(75));
}

#[test]
fn a_screen_shows_the_findings_and_the_cost() {
    let session = project();
    session.project.write_file("src/new.rs", "new\n");
    session.script(&["fail src/new.rs:1: wrong", "pass", "crash"]);
    let show = |code: i32| {
        let output = run(&session, &["--model", "sonnet"]);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let at = text.find("/reviews/").map(|at| (at, text[at..].find("-change").unwrap()));
        at.map_or(text.clone(), |(at, length)| text[..at].to_owned() + "/reviews/…" + &text[at + length..])
    };
    let shown: Vec<String> = [1, 0, 75].into_iter().map(show).collect();
    assert_shown!("change-review-run", shown.join("\n----\n"));
    assert_eq!(session.models(), "sonnet\nsonnet\nsonnet\n");
}

#[test]
fn an_agent_does_not_run_it_and_a_plan_keeps_its_own_review() {
    let session = project();
    session.project.write_file("src/new.rs", "new\n");
    let mut command = session.project.provost_command("review", &["run"]);
    let output = command.env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{output:?}");
    session.project.write_file(".taskie/plans/p/plan.md", "# P\n");
    let output = run(&session, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("state.json"), "{output:?}");
    assert_eq!(session.count_reviews(), 0);
    assert_eq!(run_json(&session, &["HEAD"], 0)["files"], json!([".taskie/plans/p/plan.md", "src/new.rs"]));
}
