//! `stops`: how often a turn is stopped, when it is counted anew, and what the user reads at the end.

use super::evidence_session::RuleSession;
use crate::support::assert_shown;

const STOP: &str = r#"
[[rule]]
name = "tests-before-done"
stops = true
changed = "src/**"
need = { passed = "cargo test" }
rounds = 2
"#;

#[test]
fn a_turn_ends_only_after_the_tests_have_passed() {
    let session = RuleSession::new(STOP);
    assert!(session.may_stop(), "nothing has changed");
    session.write("src/a.rs");
    assert_shown!("rules-stop", session.project.whole(&session.stop()));
    session.run("cargo test", true);
    assert!(session.may_stop());
    session.write("README.md");
    assert!(session.may_stop());
}

#[test]
fn a_turn_is_stopped_a_few_times_and_then_the_user_reads_why_it_ended() {
    let session = RuleSession::new(STOP);
    session.write("src/a.rs");
    assert!(!session.may_stop() && !session.may_stop());
    let last = session.stop();
    assert_shown!("rules-stop-rounds", session.project.whole(&last));
    assert!(last.expect_note().contains("src/a.rs"));
    session.prompt("go on");
    assert!(!session.may_stop(), "a new prompt counts anew");
    session.run("cargo test", true);
    assert!(session.may_stop());
    session.write("src/b.rs");
    assert!(!session.may_stop() && !session.may_stop(), "the evidence was there");
    session.stop().expect_note();
}

#[test]
fn evidence_between_two_stops_counts_anew_too() {
    let session = RuleSession::new(STOP);
    session.write("src/a.rs");
    assert!(!session.may_stop() && !session.may_stop());
    session.run("cargo test", true);
    session.write("src/b.rs");
    assert!(!session.may_stop() && !session.may_stop(), "the evidence was there");
    session.stop().expect_note();
    session.run("cargo test", false);
    session.stop().expect_note();
    // A file changed during this run, so it was no evidence.
    let before = session.before("cargo test");
    session.project.hook(&before);
    session.write("src/c.rs");
    session.project.hook(&RuleSession::after(&before, &session, true));
    session.stop().expect_note();
}

#[test]
fn only_a_prompt_of_the_user_counts_anew() {
    let session = RuleSession::new(STOP);
    session.write("src/a.rs");
    assert!(!session.may_stop() && !session.may_stop());
    session.prompt("<task-notification>\n<task-id>x</task-id>\n</task-notification>");
    session.stop().expect_note();
}

#[test]
fn two_hook_entries_for_one_stop_count_once() {
    let session = RuleSession::new(STOP);
    session.write("src/a.rs");
    let stop = session.event("Stop.active_false");
    for _ in 0..2 {
        for arguments in [&[][..], &["--pack", "rules"]] {
            assert!(session.project.hook_with(arguments, &stop).find_denial().is_ok(), "{arguments:?}");
        }
    }
    session.stop().expect_note();
}

#[test]
fn a_stop_waits_for_subagents_and_plan_mode_is_left_alone() {
    let session = RuleSession::new(STOP);
    session.write("src/a.rs");
    assert!(session.project.hook(&session.event("Stop.active_false.bgtask")).is_silent());
    let mut planning = session.event("Stop.active_false");
    planning["permission_mode"] = "plan".into();
    assert!(session.project.hook(&planning).is_silent());
    assert!(!session.may_stop());
}

#[test]
fn in_agent_stops_such_an_agent_and_no_other() {
    let stop = |session: &RuleSession, kind: &str| {
        let mut event = session.event("SubagentStop.general-purpose");
        event["agent_type"] = kind.into();
        session.project.hook(&event)
    };
    let session = RuleSession::new(&format!("{STOP}in_agent = \"builder\"\n"));
    session.write("src/a.rs");
    assert!(session.may_stop() && stop(&session, "reader").is_silent());
    assert_shown!("rules-stop-agent", session.project.whole(&stop(&session, "plugin:builder")));
    session.run("cargo test", true);
    assert!(stop(&session, "builder").is_silent());
    let session = RuleSession::new(STOP);
    session.write("src/a.rs");
    assert!(stop(&session, "builder").is_silent(), "without in_agent only the main conversation counts");
    let session = RuleSession::new(&format!("{STOP}in_agent = \"main\"\n"));
    session.write("src/a.rs");
    assert!(stop(&session, "builder").is_silent() && !session.may_stop());
}

#[test]
fn a_watched_rule_stops_nothing() {
    let session = RuleSession::new(&format!("{STOP}mode = \"watch\"\n"));
    session.write("src/a.rs");
    assert!(session.may_stop());
    let journal = session.project.read_journal();
    assert!(journal.last().unwrap()["guards"].to_string().contains("would deny"), "{journal:?}");
}

#[test]
fn a_warning_at_the_end_of_a_turn_stops_nothing_and_is_given_once_for_the_same_changes() {
    let session = RuleSession::new(
        "[[rule]]\nname = \"docs\"\nstops = true\nchanged = \"docs/**\"\nwarn = \"check the links\"\n",
    );
    assert!(session.may_stop());
    session.write("docs/a.md");
    assert_shown!("rules-stop-warn", session.project.whole(&session.stop()));
    assert!(session.may_stop());
    session.write("docs/a.md");
    session.stop().expect_note();
}

#[test]
fn a_record_that_cannot_be_read_stops_a_turn_once() {
    let session = RuleSession::new(STOP);
    session.write("src/a.rs");
    let log = std::fs::read_dir(session.project.state_directory().join("evidence")).unwrap().next().unwrap();
    let log = log.unwrap().path();
    std::fs::remove_file(&log).unwrap();
    std::fs::create_dir(&log).unwrap();
    assert!(session.stop().expect_closed_failure().contains("rules"));
    let mut again = session.event("Stop.active_true");
    again["session_id"] = session.id.into();
    session.project.hook(&again).expect_note();
}

#[test]
fn examples_of_the_end_of_a_turn_are_judged() {
    let run_test = |examples: &str| {
        let session = RuleSession::new(&format!("{STOP}{examples}"));
        let output = session.project.provost_command("rules", &["test", "--json"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report["failures"].as_array().unwrap().len())
    };
    let held = r#"{ stop = true, changed = ["src/a.rs"] },
        { stop = true, changed = ["src/a.rs"], ran = ["cargo test | tail"] },
        { stop = true, changed = ["src/a.rs"], ran = ["cargo test", "sed -i s/a/b/ src/a.rs"] }"#;
    let free = r#"{ stop = true }, { stop = true, changed = ["README.md"] },
        { stop = true, changed = ["src/a.rs"], ran = ["cargo test --workspace"] },
        { stop = true, changed = ["src/a.rs"], ran = ["echo x > src/b.rs && cargo test"] }"#;
    assert_eq!(run_test(&format!("match = [{held}]\nnot_match = [{free}]\n")), (Some(0), 0));
    assert_eq!(run_test(&format!("match = [{free}]\nnot_match = [{held}]\n")), (Some(1), 7));
}
