//! What the end of a turn does: which reviews are made, and when the agent is held.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use super::session::{RULE, ReviewedSession};
use crate::support::assert_shown;
use crate::support::review_project::user_message;
use crate::support::waiting::wait_until;

#[test]
fn a_turn_without_changes_ends_without_a_review() {
    let session = ReviewedSession::new(RULE);
    assert!(session.stop().is_silent());
    session.write("README.md", "x\n");
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 0);
}

#[test]
fn the_agent_is_held_until_two_reviews_in_a_row_are_clean() {
    let session = ReviewedSession::new(RULE);
    session.script(&["fail src/a.rs:1: wrong word", "pass", "pass"]);
    session.write("src/a.rs", "wrong\n");
    assert_shown!("change-review-held", session.hide_times(&session.stop()));
    assert_eq!(session.count_reviews(), 1);
    session.write("src/a.rs", "right\n");
    assert_shown!("change-review-clean", session.hide_times(&session.stop()));
    assert_eq!((session.count_reviews(), session.models().as_str()), (3, "opus\nsonnet\nopus\n"));
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 3);
}

#[test]
fn findings_after_a_clean_review_start_the_count_again() {
    let session = ReviewedSession::new(RULE);
    session.script(&["pass", "fail once more", "pass", "pass"]);
    session.write("src/a.rs", "x\n");
    assert!(session.expect_held().contains("review 2 of at most 8"));
    assert!(session.expect_end().contains("4 reviews"));
    assert_eq!(session.count_reviews(), 4);
}

#[test]
fn one_clean_review_is_enough_if_the_rule_says_so() {
    let session = ReviewedSession::new("need = { review = 1 }");
    session.write("notes.md", "x\n");
    assert!(session.expect_end().contains("clean once (1 file, 1 line; "));
    assert_eq!(session.count_reviews(), 1);
}

#[test]
fn a_review_that_came_to_nothing_is_neither_a_pass_nor_a_finding() {
    for (does, why) in [
        ("crash", "the reviewer failed (exit status: 3: out of order)"),
        ("silent", "the reviewer wrote no review"),
        ("echo words", "the reviewer wrote no review"),
        ("echo words > \"$file\"", "the reviewer gave no verdict"),
        ("head -c 70000000 /dev/zero", "it printed more than 64 MiB"),
        ("kill -9 $$", "the reviewer failed (signal: 9"),
    ] {
        let session = ReviewedSession::new(RULE);
        session.script(&[does, "pass", does]);
        session.write("src/a.rs", "x\n");
        for _ in 0..2 {
            let told = session.expect_end();
            assert!(told.contains("came to nothing: ") && told.contains(why), "{does}: {told}");
        }
        assert!(session.expect_end().contains("clean 2 times in a row"), "{does}");
        assert_eq!(session.count_reviews(), 4, "{does}");
    }
}

#[test]
fn a_review_that_takes_too_long_is_ended() {
    let session = ReviewedSession::new("need = { review = 1, seconds = 1 }");
    session.script(&["sleep"]);
    session.write("src/a.rs", "x\n");
    let told = session.expect_end();
    assert!(told.contains("the reviewer did not answer within"), "{told}");
    assert!(session.expect_end().contains("clean once"));
}

#[test]
fn the_number_of_reviews_is_bounded_and_the_user_is_told() {
    let session = ReviewedSession::new("need = { review = 2, max_reviews = 3 }");
    session.script(&["fail 1", "fail 2", "fail 3", "fail 4"]);
    session.write("src/a.rs", "x\n");
    for number in 1..=3 {
        assert!(session.expect_held().contains(&format!("review {number} of at most 3")));
    }
    assert_shown!("change-review-limit", session.hide_times(&session.stop()));
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 3);
    session.write("src/b.rs", "x\n");
    assert!(session.expect_held().contains("review 1 of at most 3"));
    let prompt = session.prompts().pop().unwrap();
    assert!(prompt.contains("- src/a.rs") && prompt.contains("- src/b.rs"), "{prompt}");
}

#[test]
fn small_changes_wait_for_more() {
    let session = ReviewedSession::new("need = { review = 1, least_lines = 3 }");
    session.write("src/a.rs", "1\n2\n");
    assert!(session.stop().is_silent() && session.stop().is_silent());
    assert_eq!(session.count_reviews(), 0);
    session.write("src/b.rs", "1\n");
    assert!(session.expect_end().contains("(2 files, 3 lines; "));
}

#[test]
fn the_user_ends_the_reviews_of_a_turn() {
    let session = ReviewedSession::new(RULE);
    session.script(&["fail 1"]);
    session.write("src/a.rs", "x\n");
    session.expect_held();
    assert_shown!(
        "change-review-skip",
        session.project.whole(&session.prompt("provost skip reviews\nand go home"))
    );
    assert!(session.stop().is_silent());
    session.write("src/a.rs", "y\n");
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 1);
    session.prompt("go on");
    assert!(session.expect_end().contains("clean 2 times in a row"));
}

#[test]
fn an_agent_cannot_end_the_reviews() {
    let session = ReviewedSession::new(RULE);
    session.script(&["fail 1", "fail 2"]);
    session.write("src/a.rs", "x\n");
    session.expect_held();
    let mut event = session.event("UserPromptSubmit");
    event["prompt"] = "provost skip reviews".into();
    event["agent_id"] = "a109d47d15c5167d3".into();
    event["agent_type"] = "general-purpose".into();
    session.project.hook(&event);
    session.expect_held();
}

#[test]
fn an_override_lets_the_turn_end_once_without_a_review() {
    let session = ReviewedSession::new(RULE);
    session.write("src/a.rs", "x\n");
    session.prompt("provost override rule:review it is late");
    let told = session.expect_end();
    assert!(told.contains("`rule:review` allowed this once, as you asked (it is late)"), "{told}");
    assert_eq!(session.count_reviews(), 0);
    assert!(session.expect_end().contains("clean 2 times in a row"));
}

#[test]
fn a_watched_rule_starts_no_reviewer() {
    let session = ReviewedSession::new(&format!("{RULE}\nmode = \"watch\""));
    session.write("src/a.rs", "x\n");
    assert!(session.stop().is_silent());
    assert_eq!(session.count_reviews(), 0);
    let journal = session.project.read_journal();
    assert_eq!(journal.last().unwrap()["guards"][0]["opinion"], "would deny");
}

#[test]
fn no_review_is_made_in_plan_mode_or_while_an_agent_works() {
    let session = ReviewedSession::new(RULE);
    session.write("src/a.rs", "x\n");
    let mut event = session.stop_event();
    event["permission_mode"] = "plan".into();
    assert!(session.project.hook(&event).is_silent());
    let mut event = session.stop_event();
    event["background_tasks"] = json!([{"id": "a1", "type": "subagent", "status": "running"}]);
    assert!(session.project.hook(&event).is_silent());
    assert_eq!(session.count_reviews(), 0);
}

#[test]
fn two_hook_entries_share_the_reviews_of_one_stop() {
    for (does, is_held) in [("sleep 1; echo bad > \"$file\"; echo VERDICT: FAIL", true), ("crash", false)] {
        let session = ReviewedSession::new(RULE);
        session.script(&[does, does]);
        session.write("src/a.rs", "x\n");
        let both = [session.start_stop(&[]), session.start_stop(&["--pack", "rules"])];
        let answers = both.map(|child| crate::support::collect_answer(child, Some("Stop".into())));
        assert_eq!(answers.iter().all(|answer| answer.find_denial().is_ok()), is_held, "{answers:?}");
        assert_eq!(session.count_reviews(), 1, "{does}");
    }
}

#[test]
fn a_killed_review_is_made_again() {
    let session = ReviewedSession::new(RULE);
    session.script(&["sleep", "pass", "pass"]);
    session.write("src/a.rs", "x\n");
    let mut child = session.start_stop(&[]);
    wait_until("the review", || session.count_reviews() == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(session.expect_end().contains("clean 2 times in a row (1 file, 1 line; 2 reviews"));
}

#[test]
fn an_interrupted_review_ends_its_reviewer_and_the_turn() {
    let session = ReviewedSession::new(RULE);
    session.script(&["echo $$ > ~/pid; sleep 100"]);
    session.write("src/a.rs", "x\n");
    let child = session.start_stop(&[]);
    wait_until("the reviewer", || session.project.home.join("pid").exists());
    let killed = Command::new("kill").arg(child.id().to_string()).stdin(Stdio::null()).status();
    assert!(killed.unwrap().success());
    let answer = crate::support::collect_answer(child, Some("Stop".into()));
    assert!(user_message(&answer).contains("came to nothing: interrupted"), "{answer:?}");
}

#[test]
fn costs_are_shown_and_recorded() {
    let session = ReviewedSession::new(RULE);
    let does = r#"echo fine > "$file"; echo '{"verdict":"PASS","usage":{"input_tokens":1000,"output_tokens":200,"cache_read_input_tokens":34},"total_cost_usd":0.25}'"#;
    session.script(&[does, does]);
    session.write("src/a.rs", "x\n");
    let told = session.expect_end();
    assert!(told.contains("2468 tokens, $0.50"), "{told}");
    let journal = session.project.read_journal();
    let guards = journal.last().unwrap()["guards"].as_array().unwrap().clone();
    let rounds: Vec<_> = guards.iter().filter(|guard| !guard["review"].is_null()).collect();
    assert_eq!(rounds.len(), 2, "{guards:?}");
    let last = &rounds[1]["review"];
    assert_eq!(
        (&last["plan"], &last["review"], &last["round"], &last["model"], &last["verdict"]),
        (&json!("rule:review"), &json!("change-review"), &json!(2), &json!("sonnet"), &json!("clean"))
    );
    assert_eq!(
        (&last["is_last"], &last["tokens"], &last["cost"]),
        (&json!(true), &json!(1234), &json!(0.25))
    );
}

#[test]
fn a_reviewer_that_changes_files_is_reviewed_too() {
    let session = ReviewedSession::new(RULE);
    let does = "echo changed >> src/a.rs; echo fine > \"$file\"; echo VERDICT: PASS";
    session.script(&[does, "pass", "pass"]);
    session.write("src/a.rs", "x\n");
    assert!(session.expect_end().contains("the files changed while they were reviewed"));
    assert!(session.expect_end().contains("(1 file, 2 lines; 3 reviews"));
}

#[test]
fn a_stop_with_nothing_to_review_starts_no_program() {
    let session = ReviewedSession::new(RULE);
    session.write("README.md", "x\n");
    let stop_without_programs = || {
        let mut command = session.project.command(&[]);
        command.env("PATH", "/nowhere").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(session.stop_event().to_string().as_bytes()).unwrap();
        crate::support::collect_answer(child, Some("Stop".into()))
    };
    assert!(stop_without_programs().is_silent());
    session.write("src/a.rs", "x\n");
    let told = user_message(&stop_without_programs());
    assert!(told.contains("could not be run: No such file"), "{told}");
    assert!(session.expect_end().contains("clean 2 times in a row"));
    assert!(stop_without_programs().is_silent());
}

#[test]
fn a_state_directory_that_cannot_be_used_holds_nobody() {
    let session = ReviewedSession::new(RULE);
    session.write("src/a.rs", "x\n");
    let changes = session.project.state_directory().join("changes");
    std::fs::rename(&changes, changes.with_extension("moved")).unwrap();
    std::fs::write(&changes, "").unwrap();
    let told = session.expect_end();
    assert!(told.contains("came to nothing: "), "{told}");
    std::fs::remove_file(&changes).unwrap();
    assert!(session.expect_end().contains("clean 2 times in a row"));
}

#[test]
fn a_damaged_record_means_more_reviews_and_never_fewer() {
    let session = ReviewedSession::new(RULE);
    session.write("src/a.rs", "x\n");
    session.expect_end();
    session.write("src/a.rs", "y\n");
    let state = session.project.state_directory();
    let work_tree = std::fs::read_dir(state.join("changes")).unwrap().map(|entry| entry.unwrap().path());
    let work_tree = work_tree.into_iter().find(|path| path.join("reviewed.json").exists()).unwrap();
    for (file, text) in [("reviewed.json", "{\"files\": [1"), ("session-0.json", "[]")] {
        std::fs::write(work_tree.join(file), text).unwrap();
    }
    let evidence = std::fs::read_dir(state.join("evidence")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&evidence).unwrap();
    std::fs::write(&evidence, text + "[\"reviewed\",{\"rule\":\"review\",\"verdict\":\"great\"}]\n[\"settl")
        .unwrap();
    let ended = session.expect_end();
    assert!(ended.contains("clean 2 times in a row"), "{ended}");
    let prompt = session.prompts().pop().unwrap();
    assert!(prompt.contains("- src/a.rs") && prompt.contains("+y"), "{prompt}");
}
