//! Rules that ask what the session did before: rebuilt from what the transcript says about the results.

use serde_json::json;

use super::{Transcript, list_decisions, replay_session};

const RULES: &str = r#"
[[rule]]
name = "tested"
commits = "*"
need = { passed = "cargo test" }

[[rule]]
name = "done"
stops = true
changed = "*.rs"
need = { passed = "cargo test" }
"#;

fn edit(transcript: Transcript, id: &str) -> Transcript {
    let input = json!({"file_path": "src/a.rs", "old_string": "a", "new_string": "b"});
    transcript.calls(id, "Edit", &input).ends(id, "ok", false, &json!({"filePath": "src/a.rs"}))
}

#[test]
fn a_commit_needs_a_run_that_passed_before() {
    let (_, result) = replay_session(RULES, |_, transcript| {
        let transcript = transcript.prompt("go").bash("t1", "git commit -m one");
        let transcript = transcript.bash("t2", "cargo test").bash("t3", "git commit -m two");
        let transcript = edit(transcript, "t4").bash("t5", "git commit -m three");
        transcript
            .calls("t6", "Bash", &json!({"command": "cargo test"}))
            .ends("t6", "Exit code 101\nfailed", true, &json!("Error: Exit code 101\nfailed"))
            .bash("t7", "git commit -m four")
    });
    assert_eq!(
        list_decisions(&result),
        ["t1 rule:tested deny ~", "t5 rule:tested deny ~", "t7 rule:tested deny ~"]
    );
}

#[test]
fn a_turn_that_ends_without_its_evidence_is_a_decision_without_a_call() {
    let (_, result) = replay_session(RULES, |_, transcript| {
        let transcript = edit(transcript.prompt("one"), "t1").says("done");
        let transcript = transcript.prompt("two").bash("t2", "cargo test").says("done again");
        transcript.prompt("three").says("nothing to do")
    });
    assert_eq!(list_decisions(&result), ["- rule:done deny ~"]);
    assert_eq!((&result["decisions"][0]["tool"], &result["stops"]), (&json!(null), &json!(3)));
}

#[test]
fn the_work_of_an_agent_counts_when_it_happened() {
    use super::{replay_json, transcripts_of};
    use crate::support::TestProject;
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    let directory = transcripts_of(&project, &project.path);
    let at = |transcript: &Transcript, time: &str| transcript.text().replace("2026-01-01T10:00", time);
    let main = Transcript::new(&project, "s1");
    let early = at(&Transcript::new(&project, "s1").bash("t1", "git commit -m one"), "2026-01-01T09:00");
    let late = at(&Transcript::new(&project, "s1").bash("t3", "git commit -m two"), "2026-01-01T11:00");
    main.write(&directory);
    std::fs::write(directory.join("s1.jsonl"), early + &late.replace("-main-", "-late-")).unwrap();
    main.agent("a1").bash("t2", "cargo test").write(&directory);
    assert_eq!(list_decisions(&replay_json(&project, &[])), ["t1 rule:tested deny ~"]);
}

#[test]
fn a_task_in_the_background_passes_when_its_end_is_announced() {
    let start = |transcript: Transcript| {
        let task = json!({"stdout": "", "backgroundTaskId": "b1"});
        let command = json!({"command": "cargo test", "run_in_background": true});
        transcript.prompt("go").calls("t1", "Bash", &command).ends("t1", "running", false, &task)
    };
    let (_, result) = replay_session(RULES, |_, transcript| start(transcript).bash("t2", "git commit -m x"));
    assert_eq!(list_decisions(&result), ["t2 rule:tested deny ~"]);
    let text = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n\
                <summary>Background command \"x\" completed (exit code 0)</summary>\n</task-notification>";
    let (_, result) =
        replay_session(RULES, |_, transcript| start(transcript).prompt(text).bash("t2", "git commit -m x"));
    assert_eq!(list_decisions(&result), Vec::<String>::new());
}

#[test]
fn sessions_do_not_share_evidence() {
    let project = crate::support::TestProject::new();
    project.write_file("provost.toml", RULES);
    let directory = super::transcripts_of(&project, &project.path);
    Transcript::new(&project, "s1").bash("t1", "cargo test").write(&directory);
    Transcript::new(&project, "s2").bash("t2", "git commit -m x").write(&directory);
    assert_eq!(list_decisions(&super::replay_json(&project, &[])), ["t2 rule:tested deny ~"]);
    // Nothing of it reaches the evidence of real sessions.
    assert!(!project.state_directory().exists());
}
