//! `plan-surfacer`: from the implementation on, no work is delegated without a task plan.

use std::fs;

use serde_json::{Value, json};

use super::delegation_detection::{EMPTY, MALFORMED, assert_silent};
use super::{WorkflowProject, started_workflow};
use crate::support::assert_shown;

const GUARD: &str = "plan-surfacer";
const HEADLINE: &str = "TASK PLAN NOT GENERATED";

fn is_denied(flow: &WorkflowProject, event: &Value) -> bool {
    let reason = flow.find_denial(GUARD, event);
    assert!(reason.as_ref().is_none_or(|reason| reason.contains(HEADLINE)), "{reason:?}");
    reason.is_some()
}

fn is_developer_denied(flow: &WorkflowProject) -> bool {
    is_denied(flow, &flow.delegation("software-developer", "implement it"))
}

#[test]
fn t01_without_a_plan_the_implementation_is_denied() {
    let flow = WorkflowProject::in_phase("06-implementation");
    for event in [
        flow.delegation("software-developer", "implement it"),
        flow.delegation("developer", "check the initial status"),
        flow.delegation("qa-engineer", "review it"),
        flow.prompt_without_agent("implement it"),
        flow.prompt_without_agent("do 06-implementation"),
    ] {
        assert!(is_denied(&flow, &event), "{event}");
    }
}

#[test]
fn t02_early_phases_need_no_plan() {
    for phase in [
        "00-quick-scan",
        "01-requirements",
        "02-impact-analysis",
        "02-tracing",
        "03-architecture",
        "04-design",
    ] {
        let flow = WorkflowProject::in_phase(phase);
        assert!(!is_developer_denied(&flow), "{phase}");
        assert!(is_developer_denied(flow.write_state(&started_workflow("07-testing"))));
    }
}

#[test]
fn t03_with_a_plan_all_work_is_allowed() {
    for phase in ["06-implementation", "07-testing", "08-code-review", "11-local-testing", "13-test-deploy"] {
        let flow = WorkflowProject::in_phase(phase);
        assert!(is_developer_denied(&flow), "{phase}");
        assert!(!is_developer_denied(flow.write_tasks()), "{phase}");
        assert!(!is_denied(&flow, &flow.prompt_without_agent("implement it")), "{phase}");
    }
}

#[test]
fn t04_without_a_state_nothing_is_denied() {
    let flow = WorkflowProject::new();
    assert!(!is_developer_denied(&flow));
    for text in ["", "{", "null", "[]"] {
        flow.project.write_file(".isdlc/state.json", text);
        assert!(!is_developer_denied(&flow), "{text}");
    }
    assert!(is_developer_denied(flow.write_state(&started_workflow("06-implementation"))));
}

#[test]
fn t05_without_a_workflow_nothing_is_denied() {
    let flow = WorkflowProject::in_phase("06-implementation");
    assert!(is_developer_denied(&flow));
    for workflow in
        [json!(null), json!([]), json!("x"), json!({}), json!({"type": "feature", "current_phase": null})]
    {
        flow.write_state(&json!({"active_workflow": workflow, "current_phase": "06-implementation"}));
        assert!(!is_developer_denied(&flow), "{workflow}");
    }
}

#[test]
fn t06_other_tools_are_allowed() {
    let flow = WorkflowProject::in_phase("06-implementation");
    for event in [
        flow.call("PreToolUse.Bash", &json!({"command": "cargo test"})),
        flow.call("PreToolUse.Write", &json!({"file_path": "src/a.rs", "content": "x"})),
        flow.call("PreToolUse.Read", &json!({"file_path": "src/a.rs"})),
    ] {
        assert!(!is_denied(&flow, &event), "{event}");
    }
    let mut event = flow.delegation("software-developer", "go");
    for (name, held) in [("Task", true), ("Agent", true), ("Skill", false), ("TaskUpdate", false)] {
        event["tool_name"] = name.into();
        assert_eq!(is_denied(&flow, &event), held, "{name}");
    }
}

#[test]
fn t07_the_reason_names_the_phase_and_the_file() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let reason = flow.find_denial(GUARD, &flow.delegation("software-developer", "implement it")).unwrap();
    assert_shown!("phases-plan-surfacer", flow.project.shorten_paths(&reason));
}

#[test]
fn t08_the_test_strategy_needs_no_plan() {
    for (phase, held) in [
        ("05-test-strategy", false),
        ("04-test-strategy", false),
        ("05-implementation", true),
        ("06-testing", true),
    ] {
        assert_eq!(is_developer_denied(&WorkflowProject::in_phase(phase)), held, "{phase}");
    }
}

#[test]
fn t09_each_project_of_several_has_its_own_plan() {
    let flow = WorkflowProject::new();
    flow.project.write_file(
        ".isdlc/monorepo.json",
        r#"{"projects": {"api": {"path": "api"}}, "default_project": "api"}"#,
    );
    flow.project
        .write_file(".isdlc/projects/api/state.json", &started_workflow("06-implementation").to_string());
    // The plan of the repository is not the plan of one of its projects.
    flow.write_tasks();
    let reason = flow.find_denial(GUARD, &flow.delegation("software-developer", "go")).unwrap();
    let file = flow.project.path.join("docs/isdlc/projects/api/tasks.md");
    assert!(reason.contains(&format!("(the plan belongs at {})", file.display())), "{reason}");
    flow.project.write_file("docs/isdlc/projects/api/tasks.md", "# Tasks\n");
    assert!(!is_developer_denied(&flow));
    fs::remove_file(&file).unwrap();
    assert!(is_developer_denied(&flow));
    flow.project.write_file(".isdlc/projects/api/tasks.md", "# Tasks\n");
    assert!(!is_developer_denied(&flow), "where it lay in the past");
}

#[test]
fn t10_the_exit_code_is_always_0() {
    assert_silent(GUARD, EMPTY);
    assert_silent(GUARD, MALFORMED);
    let flow = WorkflowProject::in_phase("06-implementation");
    let answer = flow.project.run_compat(&[GUARD], flow.prompt_without_agent("go").to_string().as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.contains(HEADLINE), "{answer:?}");
}

/// L20: the scripts denied the very call that would have made the plan.
#[test]
fn work_that_makes_the_plan_is_never_denied() {
    let flow = WorkflowProject::in_phase("06-implementation");
    for event in [
        flow.delegation("software-developer", "Run the generate-plan skill first"),
        flow.delegation("test-design-engineer", "Generate the missing task plan"),
        flow.prompt_without_agent("write docs/isdlc/tasks.md"),
        flow.call("PreToolUse.Agent", &json!({"prompt": "as said", "description": "generate-plan"})),
        flow.delegation("sdlc-orchestrator", "generate the plan, then go on"),
    ] {
        assert!(!is_denied(&flow, &event), "{event}");
    }
    // The document has no exception for the agent that leads.
    assert!(is_denied(&flow, &flow.delegation("sdlc-orchestrator", "go on")));
    // A prompt for work by the plan mentions the plan, too.
    for prompt in ["implement T1 of docs/isdlc/tasks.md", "do what the task plan says", "regenerate-planet"] {
        assert!(is_denied(&flow, &flow.delegation("software-developer", prompt)), "{prompt}");
    }
}

/// L20: these workflows never have a plan, so no work was ever possible.
#[test]
fn workflows_without_a_plan_are_not_denied() {
    let flow = WorkflowProject::new();
    let mut state = started_workflow("07-testing");
    for (kind, phases, held) in [
        (json!("feature"), json!(["07-testing"]), true),
        (json!("fix"), json!([]), true),
        (json!("test-run"), json!(["11-local-testing", "07-testing"]), false),
        (json!("test-run"), json!(null), false),
        (json!("upgrade"), json!(["16-upgrade-plan", "16-upgrade-execute", "08-code-review"]), false),
        (json!("reverse-engineer"), json!(["R1-behavior-extraction"]), false),
        (json!("of-our-own"), json!(["06-implementation", "07-testing"]), false),
        (json!("of-our-own"), json!(["05-test-strategy", "07-testing"]), true),
        (json!("of-our-own"), json!(7), true),
        (json!(null), json!(["07-testing"]), false),
        (json!(null), json!(null), true),
    ] {
        state["active_workflow"]["type"] = kind.clone();
        state["active_workflow"]["phases"] = phases.clone();
        assert_eq!(is_developer_denied(flow.write_state(&state)), held, "{kind} {phases}");
    }
    for phase in ["16-upgrade-plan", "16-upgrade-execute", "08-code-review"] {
        let mut state = started_workflow(phase);
        state["active_workflow"]["type"] = json!("upgrade");
        flow.write_state(&state);
        assert!(!is_denied(&flow, &flow.delegation("upgrade-engineer", "go")), "{phase}");
    }
}

#[test]
fn helpers_need_no_plan() {
    let flow = WorkflowProject::in_phase("06-implementation");
    for agent in ["general-purpose", "Explore", "my-plugin:reviewer", "discover-orchestrator", "d3"] {
        assert!(
            !is_denied(&flow, &flow.delegation(agent, "find the parser for 06-implementation")),
            "{agent}"
        );
    }
    assert!(is_denied(&flow, &flow.delegation("upgrade-engineer", "find the parser")));
    for text in ["run discover", "project setup, please"] {
        assert!(!is_denied(&flow, &flow.prompt_without_agent(text)), "{text}");
    }
    assert!(is_denied(&flow, &flow.prompt_without_agent("the initial step")));
}

#[test]
fn without_a_manifest_the_agents_of_phases_are_still_known() {
    let flow = WorkflowProject::in_phase("06-implementation");
    flow.without_manifest();
    for (agent, held) in [
        ("software-developer", true),
        ("qa", true),
        ("general-purpose", false),
        ("sdlc-orchestrator", true),
        ("discover-orchestrator", false),
    ] {
        assert_eq!(is_denied(&flow, &flow.delegation(agent, "go")), held, "{agent}");
    }
    assert!(is_denied(&flow, &flow.prompt_without_agent("implement it")));
}

#[test]
fn a_subagent_needs_the_plan_as_well() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let mut inner = flow.project.recorded_event("PreToolUse.Agent.in_subagent");
    inner["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "go", "description": "d"});
    assert!(is_denied(&flow, &inner));
    inner.as_object_mut().unwrap().remove("agent_id");
    assert!(is_denied(&flow, &inner));
}

#[test]
fn an_unknown_phase_needs_no_plan() {
    for (phase, held) in [("17-of-tomorrow", false), ("implementation", false), ("06-implementation", true)] {
        assert_eq!(is_developer_denied(&WorkflowProject::in_phase(phase)), held, "{phase}");
    }
}
