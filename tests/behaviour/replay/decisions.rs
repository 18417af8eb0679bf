//! Which calls guards and rules would have stopped.

use serde_json::json;

use super::{list_decisions, replay_session};

const RULES: &str = r#"
[[rule]]
name = "no-push"
runs = "git push"
deny = "CI pushes"

[[rule]]
name = "ask-rm"
runs = "rm"
ask = "sure?"

[[rule]]
name = "warn-fetch"
uses = "WebFetch"
warn = "offline is better"

[[rule]]
name = "watched"
runs = "ls"
deny = "no"
mode = "watch"

[[rule]]
name = "locks"
writes = "*.lock"
deny = "generated"
"#;

#[test]
fn each_call_gets_what_its_rules_say() {
    let (_, result) = replay_session(RULES, |_, transcript| {
        transcript
            .prompt("go")
            .bash("t1", "git push origin x")
            .bash("t2", "echo git push")
            .bash("t3", "cd src && rm a.txt")
            .call("t4", "WebFetch", &json!({"url": "https://example.invalid"}))
            .bash("t5", "ls")
            .call("t6", "Write", &json!({"file_path": "/x/Cargo.lock", "content": "x"}))
            .call("t7", "Edit", &json!({"file_path": "poetry.lock", "old_string": "a", "new_string": "b"}))
            .bash("t8", "git commit -m x; (sudo git push)")
    });
    assert_eq!(
        list_decisions(&result),
        [
            "t1 rule:no-push deny",
            "t3 rule:ask-rm ask",
            "t4 rule:warn-fetch warn",
            "t5 rule:watched deny",
            "t7 rule:locks deny",
            "t8 rule:no-push deny",
        ]
    );
    let watched = result["decisions"].as_array().unwrap().iter().filter(|one| one["watched"] == true);
    assert_eq!(watched.count(), 1);
    assert_eq!((&result["exact"], &result["approximate"]), (&json!(6), &json!(0)));
}

#[test]
fn a_decision_says_who_what_when_and_why() {
    let (_, result) = replay_session(RULES, |_, transcript| transcript.bash("t1", "git push origin x"));
    assert_eq!(
        result["decisions"],
        json!([{
            "session": "s1", "call": "t1", "time": "2026-01-01T10:00:00.000Z", "agent": null, "tool": "Bash",
            "rule_or_guard": "rule:no-push", "decision": "deny", "exact": true, "what": "git push origin x",
            "why": "CI pushes", "watched": false,
        }])
    );
}

#[test]
fn a_call_that_reached_no_hook_is_never_a_decision() {
    let (_, result) = replay_session(RULES, |_, transcript| {
        let unasked = "<tool_use_error>InputValidationError: no</tool_use_error>";
        transcript
            .calls("t1", "Bash", &json!({"command": "git push"}))
            .ends("t1", unasked, true, &json!("Error: no"))
            .calls("t2", "Bash", &json!({"command": "git push"}))
            .ends("t2", "Exit code 1\nrejected", true, &json!("Error: Exit code 1"))
            .calls("t3", "Bash", &json!({"command": "git push"}))
            .ends(
                "t3",
                "The user doesn't want to proceed with this tool use.",
                true,
                &json!("User rejected tool use"),
            )
            .calls("t4", "Bash", &json!({"command": "git push"}))
    });
    let expected = ["t2 rule:no-push deny", "t3 rule:no-push deny", "t4 rule:no-push deny"];
    assert_eq!(list_decisions(&result), expected);
    assert_eq!((&result["calls"], &result["asked_calls"]), (&json!(4), &json!(3)));
}

#[test]
fn what_only_repeats_a_call_is_no_call() {
    let (_, result) = replay_session(RULES, |_, transcript| {
        let call = json!({"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "git push"}});
        let message = json!({"type": "assistant", "message": {"content": [call]}});
        transcript
            .bash("t1", "true")
            .raw(json!({"type": "progress", "data": {"type": "agent_progress", "message": message}}))
            .raw(json!({"type": "api-request-blob", "message": {"content": [call]}}))
            .raw(json!({"type": "assistant", "isApiErrorMessage": true, "message": {"id": "e", "content": [call]}}))
            .raw(json!({"type": "assistant", "message": {"id": "e", "model": "<synthetic>", "content": [call]}}))
    });
    assert_eq!((list_decisions(&result), &result["calls"]), (vec![], &json!(1)));
}

#[test]
fn guards_judge_as_in_the_hook() {
    let (_, result) = replay_session("", |project, transcript| {
        let config = project.path.join("provost.toml");
        transcript
            .call("t1", "Write", &json!({"file_path": config, "content": "x"}))
            .bash("t2", "sed -i s/a/b/ provost.toml")
            .bash("t3", "provost hook < event.json")
            .bash("t4", "echo x > other.toml")
    });
    assert_eq!(list_decisions(&result), ["t1 self-guard deny", "t2 self-guard deny", "t3 self-guard deny"]);
}

#[test]
fn paths_count_from_the_directory_where_the_session_began() {
    let rules = "[[rule]]\nname = \"src\"\nwrites = \"./src/**\"\ndeny = \"no\"\n";
    let (project, _) = replay_session(rules, |_, transcript| transcript.bash("t0", "true"));
    let gone = project.path.join("gone/away");
    let all = tempfile::tempdir().unwrap();
    super::Transcript::in_directory(&gone, "s2")
        .bash("t1", "true")
        .call("t2", "Write", &json!({"file_path": gone.join("src/a.rs"), "content": "x"}))
        .call("t3", "Write", &json!({"file_path": project.path.join("src/a.rs"), "content": "x"}))
        .write(all.path());
    let place = all.path().to_str().unwrap();
    // A directory of this project that is gone is still a part of it.
    assert_eq!(
        list_decisions(&super::replay_json(&project, &["--transcripts", place])),
        ["t3 rule:src deny"]
    );
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path().join("other");
    super::Transcript::in_directory(&other, "s3")
        .call("t4", "Write", &json!({"file_path": other.join("src/a.rs"), "content": "x"}))
        .write(elsewhere.path());
    let place = elsewhere.path().to_str().unwrap();
    assert_eq!(
        list_decisions(&super::replay_json(&project, &["--transcripts", place])),
        ["t4 rule:src deny"]
    );
}

#[test]
fn what_needs_a_reviewer_or_a_command_is_listed_and_not_guessed() {
    let rules = r#"
plan_gate.enabled = true
[[rule]]
name = "tests"
commits = "*"
need = { check = "touch ran" }
"#;
    let (project, result) = replay_session(rules, |_, transcript| {
        transcript.bash("t1", "git commit -m x").call(
            "t2",
            "ExitPlanMode",
            &json!({"plan": "# Plan", "planFilePath": "/p/plan.md"}),
        )
    });
    assert_eq!(list_decisions(&result), Vec::<String>::new());
    let unjudged: Vec<&str> = result["not_judged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["rule_or_guard"].as_str().unwrap())
        .collect();
    assert_eq!(unjudged, ["plan-gate", "rule:tests"]);
    assert!(!project.path.join("ran").exists());
}

#[test]
fn a_pack_that_only_a_hook_entry_switches_on_is_listed_too() {
    let (project, result) = replay_session("", |_, transcript| {
        transcript.call("t1", "ExitPlanMode", &json!({"plan": "# Plan", "planFilePath": "/p/plan.md"}))
    });
    assert_eq!(result["not_judged"], json!([]));
    let entry = json!({"type": "command", "command": "provost hook --pack plan-gate"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [entry]}]}});
    project.write_file(".claude/settings.json", &settings.to_string());
    let result = super::replay_json(&project, &[]);
    assert_eq!(result["not_judged"][0]["rule_or_guard"], "plan-gate", "{result}");
}

/// `claude --agent NAME` makes the main conversation an agent.
#[test]
fn a_session_that_runs_as_an_agent_is_judged_as_one() {
    let (_, result) = replay_session(RULES, |_, transcript| {
        transcript
            .bash("t1", "rmdir cache")
            .raw(json!({"type": "agent-setting", "agentSetting": "x:tdd-planner", "sessionId": "s1"}))
            .prompt("go")
            .bash("t2", "rmdir cache")
    });
    assert_eq!(list_decisions(&result), ["t2 planner-bash-guard deny"]);
    assert_eq!(result["decisions"][0]["agent"], "x:tdd-planner");
    assert_eq!((&result["agent_calls"], &result["skipped"]), (&json!(0), &json!({})));
}

#[test]
fn the_packs_of_a_workflow_are_named_only_where_they_are_used() {
    let (project, result) = replay_session("", |_, transcript| transcript.prompt("go").says("done"));
    assert_eq!(result["not_judged"], json!([]));
    project.write_file(".taskie/plans/x/plan.md", "x");
    let result = super::replay_json(&project, &[]);
    assert_eq!(result["not_judged"][0]["rule_or_guard"], "review-loop");
}
