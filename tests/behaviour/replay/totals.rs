//! What a replay counts.

use std::fs;

use serde_json::{Value, json};

use super::{Transcript, recorded_transcripts, replay_json};
use crate::support::TestProject;

fn counts(result: &Value) -> Vec<u64> {
    let names = ["sessions", "calls", "asked_calls", "agent_calls", "prompts", "task_notifications", "stops"];
    names.iter().map(|name| result[name].as_u64().unwrap()).collect()
}

/// Another program, in another language, counted the same files.
#[test]
fn the_recorded_transcripts_have_the_totals_of_an_independent_counter() {
    let project = TestProject::new();
    let result = replay_json(&project, &["--transcripts", recorded_transcripts().to_str().unwrap()]);
    assert_eq!(counts(&result), [16, 90, 80, 13, 24, 0, 25]);
    let tools = json!({"Agent": 9, "Bash": 45, "Edit": 5, "ExitPlanMode": 2, "Glob": 2, "Grep": 2, "MultiEdit": 2,
        "NoSuchTool": 2, "NotebookEdit": 2, "Read": 6, "Write": 13});
    assert_eq!(result["calls_by_tool"], tools);
    assert_eq!(result["skipped"], json!({}));
}

/// A copy of a file has the same ids.
#[test]
fn copies_count_once() {
    let project = TestProject::new();
    let all = tempfile::tempdir().unwrap();
    for copy in ["a", "b", "c"] {
        copy_directory(&recorded_transcripts(), &all.path().join(copy));
    }
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(counts(&result), [16, 90, 80, 13, 24, 0, 25]);
}

fn copy_directory(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A fork repeats the history with the same ids under its own session, and began later.
#[test]
fn a_call_of_a_fork_counts_for_the_original() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[[rule]]\nname = \"no-push\"\nruns = \"git push\"\ndeny = \"no\"\n");
    let history = |session: &str| Transcript::new(&project, session).prompt("one").bash("t1", "git push");
    let queued = json!({"type": "queue-operation", "timestamp": "2026-02-01T00:00:00.000Z"});
    for (original, fork) in [("s-original", "a-fork"), ("a-original", "s-fork")] {
        let all = tempfile::tempdir().unwrap();
        history(original).write(all.path());
        // The same records under another name.
        let own =
            history(fork).text().replace(&format!("\"uuid\":\"{fork}"), &format!("\"uuid\":\"{original}"));
        let more = Transcript::new(&project, fork).prompt("two").bash("t2", "git push -f");
        let more = more.text().replace("2026-01-01", "2026-02-01").replace("-main-", "-later-");
        fs::write(all.path().join(format!("{fork}.jsonl")), format!("{queued}\n{own}{more}")).unwrap();
        let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
        assert_eq!(counts(&result)[..5], [2, 2, 2, 0, 2], "{result}");
        let sessions: Vec<_> =
            result["decisions"].as_array().unwrap().iter().map(|one| &one["session"]).collect();
        assert_eq!(sessions, [fork, original]);
    }
}

/// Interactive forks begin with the same record as the original. They give all that they repeat their own turn.
#[test]
fn of_two_files_with_the_same_start_the_fork_is_not_the_original() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[[rule]]\nname = \"no-push\"\nruns = \"git push\"\ndeny = \"no\"\n");
    let all = tempfile::tempdir().unwrap();
    let history = |session: &str, turns: [&str; 2]| {
        let mut text =
            Transcript::new(&project, session).prompt("one").bash("t1", "git push").prompt("two").text();
        text = text.replace(&format!("\"uuid\":\"{session}"), "\"uuid\":\"same");
        for turn in turns {
            text = text.replacen("\"permissionMode\":\"default\"", &format!("\"promptId\":\"{turn}\""), 1);
        }
        fs::write(all.path().join(format!("{session}.jsonl")), text).unwrap();
    };
    history("a-fork", ["p9", "p9"]);
    history("b-original", ["p1", "p2"]);
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(result["decisions"][0]["session"], "b-original", "{result}");
    assert_eq!(counts(&result)[..5], [2, 1, 1, 0, 2]);
}

#[test]
fn calls_of_agents_count_with_the_kind_of_the_agent() {
    let project = TestProject::new();
    project.write_file(
        "provost.toml",
        "[[rule]]\nname = \"explorers\"\nin_agent = \"Explore\"\nruns = \"git push\"\ndeny = \"no\"\n",
    );
    let all = tempfile::tempdir().unwrap();
    let main = Transcript::new(&project, "s1").bash("t0", "git push");
    main.write(all.path());
    for (agent, kind) in [("a1", "Explore"), ("a2", "Plan")] {
        main.agent(agent).bash(&format!("t-{agent}"), "git push").write(all.path());
        let meta = all.path().join(format!("s1/subagents/agent-{agent}.meta.json"));
        fs::write(meta, json!({"agentType": kind}).to_string()).unwrap();
    }
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(counts(&result)[..4], [1, 3, 3, 2]);
    assert_eq!(super::list_decisions(&result), ["t-a1 rule:explorers deny"]);
    assert_eq!(result["decisions"][0]["agent"], "Explore");
}

/// Version 2.0 keeps the transcripts of agents beside the sessions, and writes their kind nowhere else.
#[test]
fn agents_of_an_older_version_are_found_beside_the_session() {
    let project = TestProject::new();
    project.write_file(
        "provost.toml",
        "[[rule]]\nname = \"explorers\"\nin_agent = \"Explore\"\nruns = \"git push\"\ndeny = \"no\"\n",
    );
    let all = tempfile::tempdir().unwrap();
    let main = Transcript::new(&project, "s1")
        .calls("t1", "Task", &json!({"subagent_type": "Explore", "prompt": "x"}))
        .ends("t1", "done", false, &json!({"status": "completed", "agentId": "a1"}));
    main.write(all.path());
    let agent = main.agent("a1").bash("t2", "git push");
    fs::write(all.path().join("agent-a1.jsonl"), agent.text()).unwrap();
    let result = replay_json(&project, &["--transcripts", all.path().to_str().unwrap()]);
    assert_eq!(
        (counts(&result)[0], super::list_decisions(&result)),
        (1, vec!["t2 rule:explorers deny".into()])
    );
}

/// The first versions kept the records of agents in the file of their session.
#[test]
fn an_agent_without_an_id_is_not_the_main_conversation() {
    let rule = "[[rule]]\nname = \"main\"\nin_agent = \"main\"\nruns = \"git push\"\ndeny = \"no\"\n";
    let (_, result) = super::replay_session(rule, |project, transcript| {
        let of_agent = Transcript::new(project, "s1").bash("t2", "git push").text();
        let of_agent = of_agent.replace("\"isSidechain\":false", "\"isSidechain\":true");
        of_agent.lines().fold(transcript.bash("t1", "git push"), |transcript, line| {
            transcript.raw(serde_json::from_str(&line.replace("-main-", "-agent-")).unwrap())
        })
    });
    assert_eq!(super::list_decisions(&result), ["t1 rule:main deny"]);
    assert_eq!(counts(&result)[..4], [1, 2, 2, 1]);
}
