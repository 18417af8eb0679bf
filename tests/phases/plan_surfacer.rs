//! `plan-surfacer`: from the implementation on, no work is handed out without a plan of tasks.

use std::fs;

use serde_json::{Value, json};

use super::detection::{EMPTY, MALFORMED, lets_go};
use super::{Flow, begun};

const GUARD: &str = "plan-surfacer";
const HEADLINE: &str = "TASK PLAN NOT GENERATED";

fn is_held(flow: &Flow, event: &Value) -> bool {
    let reason = flow.judged(GUARD, event);
    assert!(reason.as_ref().is_none_or(|reason| reason.contains(HEADLINE)), "{reason:?}");
    reason.is_some()
}

fn holds_developer(flow: &Flow) -> bool {
    is_held(flow, &flow.delegating("software-developer", "implement it"))
}

#[test]
fn t01_without_a_plan_nobody_implements() {
    let flow = Flow::in_phase("06-implementation");
    for event in [
        flow.delegating("software-developer", "implement it"),
        flow.delegating("developer", "check the initial status"),
        flow.delegating("qa-engineer", "review it"),
        flow.telling("implement it"),
        flow.telling("do 06-implementation"),
    ] {
        assert!(is_held(&flow, &event), "{event}");
    }
}

#[test]
fn t02_early_phases_need_none() {
    for phase in [
        "00-quick-scan",
        "01-requirements",
        "02-impact-analysis",
        "02-tracing",
        "03-architecture",
        "04-design",
    ] {
        let flow = Flow::in_phase(phase);
        assert!(!holds_developer(&flow), "{phase}");
        assert!(holds_developer(flow.state(&begun("07-testing"))));
    }
}

#[test]
fn t03_with_a_plan_everybody_works() {
    for phase in ["06-implementation", "07-testing", "08-code-review", "11-local-testing", "13-test-deploy"] {
        let flow = Flow::in_phase(phase);
        assert!(holds_developer(&flow), "{phase}");
        assert!(!holds_developer(flow.tasks()), "{phase}");
        assert!(!is_held(&flow, &flow.telling("implement it")), "{phase}");
    }
}

#[test]
fn t04_without_a_state_nothing_is_held() {
    let flow = Flow::new();
    assert!(!holds_developer(&flow));
    for text in ["", "{", "null", "[]"] {
        flow.project.file(".isdlc/state.json", text);
        assert!(!holds_developer(&flow), "{text}");
    }
    assert!(holds_developer(flow.state(&begun("06-implementation"))));
}

#[test]
fn t05_nor_without_a_workflow() {
    let flow = Flow::in_phase("06-implementation");
    assert!(holds_developer(&flow));
    for workflow in
        [json!(null), json!([]), json!("x"), json!({}), json!({"type": "feature", "current_phase": null})]
    {
        flow.state(&json!({"active_workflow": workflow, "current_phase": "06-implementation"}));
        assert!(!holds_developer(&flow), "{workflow}");
    }
}

#[test]
fn t06_other_tools_are_not_held() {
    let flow = Flow::in_phase("06-implementation");
    for event in [
        flow.call("PreToolUse.Bash", &json!({"command": "cargo test"})),
        flow.call("PreToolUse.Write", &json!({"file_path": "src/a.rs", "content": "x"})),
        flow.call("PreToolUse.Read", &json!({"file_path": "src/a.rs"})),
    ] {
        assert!(!is_held(&flow, &event), "{event}");
    }
    let mut event = flow.delegating("software-developer", "go");
    for (name, held) in [("Task", true), ("Agent", true), ("Skill", false), ("TaskUpdate", false)] {
        event["tool_name"] = name.into();
        assert_eq!(is_held(&flow, &event), held, "{name}");
    }
}

#[test]
fn t07_the_reason_names_the_phase_and_the_file() {
    let flow = Flow::in_phase("06-implementation");
    let reason = flow.judged(GUARD, &flow.delegating("software-developer", "implement it")).unwrap();
    assert_eq!(
        flow.project.shown(&reason),
        "[provost] agent `software-developer` denied: `06-implementation` needs a task plan, and there is none. To \
         fix: run the generate-plan skill, which writes docs/isdlc/tasks.md, then delegate again (the plan belongs at \
         <project>/docs/isdlc/tasks.md). (TASK PLAN NOT GENERATED)\n\
         [provost] Only the user can allow this once, with the prompt `provost override \
         plan-surfacer REASON`."
    );
}

#[test]
fn t08_the_test_strategy_needs_none() {
    for (phase, held) in [
        ("05-test-strategy", false),
        ("04-test-strategy", false),
        ("05-implementation", true),
        ("06-testing", true),
    ] {
        assert_eq!(holds_developer(&Flow::in_phase(phase)), held, "{phase}");
    }
}

#[test]
fn t09_a_project_among_several_has_a_plan_of_its_own() {
    let flow = Flow::new();
    flow.project
        .file(".isdlc/monorepo.json", r#"{"projects": {"api": {"path": "api"}}, "default_project": "api"}"#);
    flow.project.file(".isdlc/projects/api/state.json", &begun("06-implementation").to_string());
    // The plan of the whole is not the plan of the part.
    flow.tasks();
    let reason = flow.judged(GUARD, &flow.delegating("software-developer", "go")).unwrap();
    let file = flow.project.path.join("docs/isdlc/projects/api/tasks.md");
    assert!(reason.contains(&format!("(the plan belongs at {})", file.display())), "{reason}");
    flow.project.file("docs/isdlc/projects/api/tasks.md", "# Tasks\n");
    assert!(!holds_developer(&flow));
    fs::remove_file(&file).unwrap();
    assert!(holds_developer(&flow));
    flow.project.file(".isdlc/projects/api/tasks.md", "# Tasks\n");
    assert!(!holds_developer(&flow), "where it lay in the past");
}

#[test]
fn t10_the_exit_code_is_always_0() {
    lets_go(GUARD, EMPTY);
    lets_go(GUARD, MALFORMED);
    let flow = Flow::in_phase("06-implementation");
    let answer = flow.project.script(&[GUARD], flow.telling("go").to_string().as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.contains(HEADLINE), "{answer:?}");
}

/// L20: the scripts held back the very call that would have made the plan.
#[test]
fn the_remedy_is_never_held() {
    let flow = Flow::in_phase("06-implementation");
    for event in [
        flow.delegating("software-developer", "Run the generate-plan skill first"),
        flow.delegating("test-design-engineer", "Generate the missing task plan"),
        flow.telling("write docs/isdlc/tasks.md"),
        flow.call("PreToolUse.Agent", &json!({"prompt": "as said", "description": "generate-plan"})),
        flow.delegating("sdlc-orchestrator", "generate the plan, then go on"),
    ] {
        assert!(!is_held(&flow, &event), "{event}");
    }
    // The document knows no exception for the agent that leads.
    assert!(is_held(&flow, &flow.delegating("sdlc-orchestrator", "go on")));
    // Whoever works by the plan is told of it, too.
    for prompt in ["implement T1 of docs/isdlc/tasks.md", "do what the task plan says", "regenerate-planet"] {
        assert!(is_held(&flow, &flow.delegating("software-developer", prompt)), "{prompt}");
    }
}

/// L20: nobody makes a plan in these workflows, so nobody could ever work in them.
#[test]
fn workflows_without_a_plan_are_not_held() {
    let flow = Flow::new();
    let mut state = begun("07-testing");
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
        assert_eq!(holds_developer(flow.state(&state)), held, "{kind} {phases}");
    }
    for phase in ["16-upgrade-plan", "16-upgrade-execute", "08-code-review"] {
        let mut state = begun(phase);
        state["active_workflow"]["type"] = json!("upgrade");
        flow.state(&state);
        assert!(!is_held(&flow, &flow.delegating("upgrade-engineer", "go")), "{phase}");
    }
}

#[test]
fn helpers_need_no_plan() {
    let flow = Flow::in_phase("06-implementation");
    for agent in ["general-purpose", "Explore", "my-plugin:reviewer", "discover-orchestrator", "d3"] {
        assert!(!is_held(&flow, &flow.delegating(agent, "find the parser for 06-implementation")), "{agent}");
    }
    assert!(is_held(&flow, &flow.delegating("upgrade-engineer", "find the parser")));
    for text in ["run discover", "project setup, please"] {
        assert!(!is_held(&flow, &flow.telling(text)), "{text}");
    }
    assert!(is_held(&flow, &flow.telling("the initial step")));
}

#[test]
fn without_a_manifest_the_agents_of_phases_are_still_known() {
    let flow = Flow::in_phase("06-implementation");
    flow.without_manifest();
    for (agent, held) in [
        ("software-developer", true),
        ("qa", true),
        ("general-purpose", false),
        ("sdlc-orchestrator", true),
        ("discover-orchestrator", false),
    ] {
        assert_eq!(is_held(&flow, &flow.delegating(agent, "go")), held, "{agent}");
    }
    assert!(is_held(&flow, &flow.telling("implement it")));
}

#[test]
fn a_subagent_needs_the_plan_as_well() {
    let flow = Flow::in_phase("06-implementation");
    let mut inner = flow.project.event("PreToolUse.Agent.in_subagent");
    inner["tool_input"] = json!({"subagent_type": "software-developer", "prompt": "go", "description": "d"});
    assert!(is_held(&flow, &inner));
    inner.as_object_mut().unwrap().remove("agent_id");
    assert!(is_held(&flow, &inner));
}

#[test]
fn a_phase_that_is_not_known_needs_none() {
    for (phase, held) in [("17-of-tomorrow", false), ("implementation", false), ("06-implementation", true)] {
        assert_eq!(holds_developer(&Flow::in_phase(phase)), held, "{phase}");
    }
}
