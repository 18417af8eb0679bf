//! On which branch a past call ran: the records name it late, and the repository may be on another one by now.

use std::fs;

use serde_json::json;

use super::{Transcript, list_decisions, replay_json, replay_session, transcripts_of};
use crate::support::TestProject;

const RULES: &str = r#"
[[rule]]
name = "main"
commits = "main"
deny = "use a branch"

[[rule]]
name = "push"
pushes = "main"
ask = "sure?"
"#;

/// Every record of these sessions names `main`.
#[test]
fn a_switch_in_a_command_counts_before_the_record_names_the_branch() {
    let (_, result) = replay_session(RULES, |_, transcript| {
        transcript
            .bash("t1", "git commit -m x")
            .bash("t2", "git checkout -b topic")
            .bash("t3", "git commit -m x && git push -u origin topic")
            .bash("t4", "git push")
            .bash("t5", "git checkout -q main; git status")
            .bash("t6", "git commit -m x")
            .bash("t7", "git switch -")
            .bash("t8", "git commit -m x")
            .bash("t9", "git checkout main")
            .bash("u1", "git commit -m x")
            // Another repository, and a file.
            .bash("u2", "cd /elsewhere/repo && git checkout other")
            .bash("u3", "git checkout README.md")
            .bash("u4", "git commit -m x")
    });
    let expected =
        ["t1 rule:main deny ~", "t6 rule:main deny ~", "u1 rule:main deny ~", "u4 rule:main deny ~"];
    assert_eq!(list_decisions(&result), expected);
}

#[test]
fn a_switch_counts_only_if_it_succeeded_and_until_the_record_names_another_branch() {
    let (_, result) = replay_session(RULES, |project, transcript| {
        let mut transcript = transcript
            .calls("t1", "Bash", &json!({"command": "git checkout -b topic"}))
            .ends("t1", "Exit code 128\nfatal", true, &json!("Error: Exit code 128"))
            .bash("t2", "git commit -m x")
            .bash("t3", "git checkout -b topic");
        // The user switches to another branch, and back to main.
        let later = Transcript::new(project, "s1").bash("t4", "git commit -m x");
        let later = later.text().replace("\"gitBranch\":\"main\"", "\"gitBranch\":\"other\"");
        for line in later.lines() {
            transcript =
                transcript.raw(serde_json::from_str(&line.replace("2026-01-01", "2026-01-02")).unwrap());
        }
        transcript
    });
    assert_eq!(list_decisions(&result), ["t2 rule:main deny ~"]);
}

#[test]
fn sessions_do_not_share_switches() {
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    let directory = transcripts_of(&project, &project.path);
    Transcript::new(&project, "s1").bash("t1", "git checkout -b topic").write(&directory);
    Transcript::new(&project, "s2").bash("t2", "true").bash("t3", "git commit -m x").write(&directory);
    assert_eq!(list_decisions(&replay_json(&project, &[])), ["t3 rule:main deny ~"]);
}

/// A guard that reads the repository takes the branch of then, too.
#[test]
fn a_guard_takes_the_recorded_branch_and_not_that_of_today() {
    let project = TestProject::new();
    project.write_file(
        ".isdlc/state.json",
        &json!({"active_workflow": {"type": "feature", "current_phase": "06-implementation",
            "git_branch": {"name": "feature/x", "status": "active"}}})
        .to_string(),
    );
    let git = |words: &[&str]| {
        let status =
            std::process::Command::new("git").args(words).current_dir(&project.path).output().unwrap();
        assert!(status.status.success(), "{status:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", "one"]);
    git(&["checkout", "-q", "-b", "feature/x"]);
    Transcript::new(&project, "s1")
        .bash("t1", "git commit --allow-empty -m no")
        .bash("t2", "git checkout -q feature/x")
        .bash("t3", "git commit --allow-empty -m yes")
        .write(&transcripts_of(&project, &project.path));
    assert_eq!(list_decisions(&replay_json(&project, &[])), ["t1 branch-guard deny ~"]);
    assert!(fs::read_to_string(project.path.join(".git/HEAD")).unwrap().contains("feature/x"));
}
