//! The stand-ins for scripts read their input as the scripts did: those that never looked at `tool_name` do not
//! need it.

use serde_json::json;

use super::{WorkflowProject, started_workflow};

#[test]
fn scripts_that_never_read_the_tool_name_do_not_need_it() {
    let flow = WorkflowProject::in_phase("01-requirements");
    let menu = "[A] Adjust\n[C] Continue\nYour choice:";
    let input = json!({"tool_input": {"prompt": "ask"}, "tool_result": menu});
    let answer = flow.project.run_compat(&["menu-tracker"], input.to_string().as_bytes());
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let record = &flow.read_state()["phases"]["01-requirements"]["iteration_requirements"];
    assert_eq!(record["interactive_elicitation"]["menu_interactions"], 1, "{record}");

    let mut state = started_workflow("06-implementation");
    state["code_review"] = json!({"enabled": false, "team_size": 3});
    flow.write_state(&state);
    let input = json!({"tool_input": {"command": "git commit -m x"}});
    let answer = flow.project.run_compat(&["review-reminder"], input.to_string().as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.contains("[review-reminder] WARNING"), "{answer:?}");

    let guarded = json!({"tool_input": {"command": "rm -rf /tmp/data"}});
    let answer = flow.project.run_compat(&["planner-bash-guard"], guarded.to_string().as_bytes());
    assert_eq!(answer.code, Some(2), "{answer:?}");
}

/// The others compared it, and allowed all other tools.
#[test]
fn scripts_that_compared_the_name_of_the_tool_still_do() {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    for (script, input) in [
        ("phase-sequence-guard", json!({"tool_input": {"subagent_type": "qa-engineer", "prompt": "go"}})),
        ("phase-loop-controller", json!({"tool_input": {"prompt": "07-testing"}})),
        ("log-skill-usage", json!({"tool_input": {"subagent_type": "qa-engineer"}})),
        ("test-watcher", json!({"tool_input": {"command": "npm test"}, "tool_result": "1 failed"})),
    ] {
        let answer = flow.project.run_compat(&[script], input.to_string().as_bytes());
        assert!(answer.code == Some(0) && answer.is_silent(), "{script}: {answer:?}");
    }
    assert_eq!(flow.read_state(), started_workflow("05-test-strategy"));
}

/// Document 000's own test: a plan is named by `tool_input.file_path` alone, or by the response.
#[test]
fn a_written_plan_is_found_without_the_name_of_the_tool() {
    for (named, field) in [("tool_input", "file_path"), ("tool_response", "filePath")] {
        let flow = WorkflowProject::new();
        let plan = flow.project.write_home_file(".claude/plans/no-session.md", "# Plan\n\n## Goals\n- x\n");
        let input = json!({"permission_mode": "plan", "session_id": "test-123", named: {field: plan}});
        let answer = flow.project.run_compat(&["post_tool_use"], input.to_string().as_bytes());
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let text = std::fs::read_to_string(&plan).unwrap();
        assert!(text.contains("<!-- rodin:session=test-123 -->"), "{named}: {text}");
    }
}
