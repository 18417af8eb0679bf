//! The `compat` commands for the two scripts, exactly as in their document.

use super::*;

fn guard(input: &str) -> Answer {
    TestProject::new().run_compat(&[GUARD], input.as_bytes())
}

#[test]
fn the_documents_own_json_is_enough() {
    let answer = guard(r#"{"tool_input":{"command":"cat README.md"}}"#);
    assert!(answer.is_silent(), "{answer:?}");
    let answer = guard(r#"{"tool_input":{"command":"rm -rf /tmp/data"}}"#);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.starts_with("BLOCKED: 'rm' is not in the planner's allowlist"), "{answer:?}");
    assert!(answer.stdout.is_empty());
}

#[test]
fn a_malformed_event_is_an_empty_command() {
    for input in
        ["", "{", "[]", "null", "{}", "not json", r#"{"tool_input":5}"#, r#"{"tool_input":{"command":5}}"#]
    {
        let answer = guard(input);
        assert_eq!(answer.code, Some(2), "{input}");
        assert!(
            answer.stderr.starts_with("BLOCKED: Empty command is not in the planner's allowlist"),
            "{input}"
        );
    }
}

#[test]
fn planning_is_relative_to_the_directory_of_the_process() {
    let project = TestProject::new();
    let answer = project.run_compat(&[GUARD], br#"{"tool_input":{"command":"echo x > planning/notes.md"}}"#);
    assert!(answer.is_silent(), "{answer:?}");
    plan(&project, "planning/login.md", PLAN, 2);
    for input in ["{}", "", "{", r#"{"stop_hook_active":false}"#, r#"{"stop_hook_active":null}"#] {
        let answer = project.run_compat(&[VALIDATOR], input.as_bytes());
        assert!(answer.is_silent(), "{input}: {answer:?}");
    }
}

#[test]
fn a_missing_field_is_false_and_a_true_one_ends_the_check() {
    let project = TestProject::new();
    for input in ["", "{", "{}", r#"{"stop_hook_active":false}"#, r#"{"stop_hook_active":5}"#] {
        let answer = project.run_compat(&[VALIDATOR], input.as_bytes());
        assert_eq!(answer.code, Some(2), "{input}");
        assert!(answer.stderr.starts_with("No plan file found in planning/"), "{answer:?}");
    }
    for input in [r#"{"stop_hook_active":true}"#, r#"{"stop_hook_active":"true"}"#] {
        assert!(project.run_compat(&[VALIDATOR], input.as_bytes()).is_silent(), "{input}");
    }
}

#[test]
fn the_agent_type_is_neither_needed_nor_checked() {
    let project = TestProject::new();
    for kind in [json!(null), json!(""), json!("general-purpose"), json!("tdd-planner")] {
        let mut event = project.bash("mkdir x");
        event["agent_type"] = kind;
        assert_eq!(project.run_compat(&[GUARD], event.to_string().as_bytes()).code, Some(2));
        let mut event = project.recorded_event("Stop.active_false");
        event["agent_type"] = "general-purpose".into();
        assert_eq!(project.run_compat(&[VALIDATOR], event.to_string().as_bytes()).code, Some(2));
    }
}

#[test]
fn a_named_plan_is_checked_whenever_it_was_changed() {
    let project = TestProject::new();
    plan(&project, "planning/old.md", PLAN, 4000);
    plan(&project, "docs/draft.md", "# Draft\n", 1);
    assert!(project.run_compat(&[VALIDATOR, "planning/old.md"], b"").is_silent());
    let answer = project.run_compat(&[VALIDATOR, "docs/draft.md"], b"");
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.stderr.starts_with("Plan file docs/draft.md is missing required sections: "),
        "{answer:?}"
    );
    for missing in ["planning/none.md", "planning"] {
        let answer = project.run_compat(&[VALIDATOR, missing], b"");
        assert_eq!(answer.code, Some(2), "{missing}");
        assert!(answer.stderr.contains("cannot be read"), "{answer:?}");
    }
}

#[test]
fn an_unknown_script_is_wrong_usage_and_never_a_block() {
    let project = TestProject::new().without_variable("CLAUDE_PROJECT_DIR");
    for arguments in [&["planner-bash-gard"][..], &[], &["--nope"]] {
        let answer = project.run_compat(arguments, b"{}");
        assert_eq!(answer.code, Some(64), "{answer:?}");
    }
    assert_shown!("compat-unknown-script", project.whole(&project.run_compat(&["nonsense"], b"{}")));
    // If a client calls it, the user reads a message, and the event continues.
    let project = TestProject::new();
    let answer = project.run_compat(&["planner-bash-gard"], b"{}");
    assert!(answer.expect_note().contains("the hook entry has a mistake"), "{answer:?}");
}

#[test]
fn the_decision_of_a_script_is_in_the_journal() {
    let project = TestProject::new();
    project.run_compat(&[GUARD], project.bash("rm x").to_string().as_bytes());
    let line = &project.read_journal()[0];
    assert_eq!((&line["decision"], &line["guards"][0]["guard"]), (&json!("deny"), &json!(GUARD)));
}

#[test]
fn an_unknown_argument_does_not_keep_the_guard_from_judging() {
    let project = TestProject::new();
    assert_eq!(
        project.run_compat(&[GUARD, "--strict"], project.bash("rm x").to_string().as_bytes()).code,
        Some(2)
    );
}

#[test]
fn a_guard_that_is_switched_off_is_silent() {
    let project = TestProject::with_no_guard();
    assert!(project.run_compat(&[GUARD], project.bash("rm x").to_string().as_bytes()).is_silent());
    assert!(project.run_compat(&[VALIDATOR], b"{}").is_silent());
}
