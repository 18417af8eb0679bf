//! The planner's guards judge planners, and no other agents.

use super::*;

fn with_type(mut event: Value, kind: &Value, subagent: bool) -> Value {
    event["agent_type"] = kind.clone();
    if subagent {
        event["agent_id"] = "a109d47d15c5167d3".into();
    }
    event
}

#[test]
fn a_planner_is_recognised_by_its_bare_and_its_qualified_name_as_subagent_and_as_main_conversation() {
    let project = TestProject::new();
    for kind in ["tdd-planner", "tdd-workflow:tdd-planner"] {
        for subagent in [true, false] {
            project.hook(&with_type(project.bash("mkdir x"), &kind.into(), subagent)).expect_denial();
            let stop = with_type(project.recorded_event("Stop.active_false"), &kind.into(), subagent);
            project.hook(&stop).expect_denial();
        }
        project
            .hook(&with_type(project.recorded_event("SubagentStop.validator"), &kind.into(), true))
            .expect_denial();
    }
}

#[test]
fn the_main_conversation_and_other_agents_are_untouched() {
    let project = TestProject::new();
    let kinds = [
        json!(null),
        json!(""),
        json!(5),
        json!("general-purpose"),
        json!("my-tdd-planner"),
        json!("tdd-planner-2"),
        json!(":tdd-planner"),
    ];
    for kind in &kinds {
        for subagent in [true, false] {
            for event in [
                project.bash("mkdir x && python3 y > z"),
                project.bash(""),
                project.write(project.path.join("src/a.rs"), "x"),
                project.mcp(json!({"x": 1})),
                project.call("Agent", json!({"subagent_type": "general-purpose", "prompt": "x"})),
                project.recorded_event("Stop.active_false"),
                project.recorded_event("SubagentStop.validator"),
            ] {
                let event = with_type(event, kind, subagent);
                assert!(project.hook(&event).is_silent(), "{event}");
            }
        }
    }
    for name in ["SubagentStop.internal", "SubagentStop.fork", "Stop.active_false", "PreToolUse.Bash"] {
        assert!(project.hook(&project.recorded_event(name)).is_silent(), "{name}");
    }
}

#[test]
fn the_journal_has_no_entry_for_other_agents() {
    let project = TestProject::new();
    project.hook(&with_type(project.bash("ls"), &json!("general-purpose"), true));
    project.hook(&by_planner(project.bash("ls")));
    let asked: Vec<usize> =
        project.read_journal().iter().map(|line| line["guards"].as_array().unwrap().len()).collect();
    assert_eq!(asked, [1, 2]);
    // With an entry for this pack alone, nothing happens for other agents.
    let event = with_type(project.bash("ls"), &json!("general-purpose"), true);
    assert!(project.hook_with(&["--pack", "planner"], &event).is_silent());
    assert_eq!(project.read_journal().len(), 2);
}

#[test]
fn planners_are_named_in_the_configuration() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[planner]\nagents = [\"architect\", \"scout\"]\n");
    for (kind, planner) in [("scout", true), ("x:architect", true), ("tdd-planner", false)] {
        let answer = project.hook(&with_type(project.bash("mkdir x"), &kind.into(), true));
        assert_eq!(answer.find_denial().is_ok(), planner, "{kind}");
    }
    project.write_file("provost.toml", "[planner]\nagents = []\n");
    assert!(project.hook(&by_planner(project.bash("mkdir x"))).is_silent());
}

#[test]
fn a_planner_delegates_only_to_planners() {
    let project = TestProject::new();
    for (kind, fine) in [
        (json!("tdd-planner"), true),
        (json!("tdd-workflow:tdd-planner"), true),
        (json!("general-purpose"), false),
        (json!("fork"), false),
        (json!(null), false),
    ] {
        for tool in ["Agent", "Task"] {
            let event = by_planner(project.call(tool, json!({"subagent_type": kind, "prompt": "x"})));
            let answer = by_hook(&project.hook(&event)).unwrap();
            assert_eq!(answer.is_ok(), fine, "{kind}");
            assert!(fine || answer.unwrap_err().contains("another agent could write"));
        }
    }
}

/// A worktree is a new directory with a new branch, whichever agent works in it.
#[test]
fn a_planner_creates_no_worktree() {
    let project = TestProject::new();
    for isolation in
        [json!("worktree"), json!("Worktree"), json!("remote"), json!("of tomorrow"), json!(true)]
    {
        let input = json!({"subagent_type": "tdd-planner", "prompt": "x", "isolation": isolation});
        for tool in ["Agent", "Task"] {
            let answer = by_hook(&project.hook(&by_planner(project.call(tool, input.clone())))).unwrap();
            assert!(answer.unwrap_err().contains("makes a worktree or a remote session"), "{isolation}");
            assert!(
                project.hook(&project.call(tool, input.clone())).is_silent(),
                "the main conversation may"
            );
        }
    }
    for isolation in [json!(null), json!("")] {
        let input = json!({"subagent_type": "tdd-planner", "prompt": "x", "isolation": isolation});
        assert_eq!(
            by_hook(&project.hook(&by_planner(project.call("Agent", input)))),
            Ok(Ok(())),
            "{isolation}"
        );
    }
    for tool in ["EnterWorktree", "ExitWorktree"] {
        let answer = by_hook(&project.hook(&by_planner(project.call(tool, json!({"name": "x"}))))).unwrap();
        assert!(answer.is_err(), "{tool}");
    }
    assert!(by_hook(&project.hook(&by_planner(project.bash("git worktree add ../x")))).unwrap().is_err());
}

#[cfg(debug_assertions)]
#[test]
fn a_guard_that_cannot_judge_blocks_a_planner_and_lets_it_stop() {
    let project = TestProject::new().with_variable("PROVOST_FAULT", "planner-bash-guard=panic");
    project.hook(&by_planner(project.bash("ls"))).expect_closed_failure();
    assert!(project.hook(&project.bash("ls")).is_silent());
    let script = project.run_compat(&[GUARD], project.bash("ls").to_string().as_bytes());
    assert_eq!(script.code, Some(2), "{script:?}");
    let project = TestProject::new().with_variable("PROVOST_FAULT", "plan-output-validator=panic");
    assert_eq!(stopped(&project), Ok(()));
}

#[test]
fn an_unreadable_event_is_blocked_by_an_entry_for_this_pack_alone() {
    let project = TestProject::new();
    project.hook_bytes(&["--pack", "planner"], b"{").expect_closed_failure();
}
