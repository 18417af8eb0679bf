//! `gate-blocker`, and helpers that other tests share.

use serde_json::{Value, json};

use super::{WorkflowProject, started_workflow};
use crate::support::Answer;
use crate::support::assert_shown;
pub use crate::support::workflow_project::{
    set_phase_record, skill_event, test_and_article_requirements, workflow_with_requirements,
    write_requirements,
};

const GUARD: &str = "gate-blocker";

/// The hook's answer with only this guard of the pack.
pub fn run_guard(flow: &WorkflowProject, guard: &str, event: &Value) -> Answer {
    flow.enable_only(guard).hook_with(&["--pack", "phases"], event)
}

/// What the model reads.
pub fn find_context(answer: &Answer) -> Option<String> {
    let json: Value = serde_json::from_str(&answer.stdout).ok()?;
    json["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
}

fn advance(flow: &WorkflowProject) -> Value {
    flow.delegation("sdlc-orchestrator", "Proceed to the next phase")
}

#[test]
fn a_phase_that_has_nothing_cannot_be_left() {
    let mut demands = test_and_article_requirements();
    demands["interactive_elicitation"] = json!({"enabled": true, "required_final_selection": ["save"]});
    demands["agent_delegation_validation"] = json!({"enabled": true});
    let flow = workflow_with_requirements("06-implementation", &demands);
    let reason = flow.find_denial(GUARD, &advance(&flow)).unwrap();
    assert_shown!("phases-gate-blocker", reason);
    let state = flow.read_state();
    let record = &state["phases"]["06-implementation"]["gate_validation"];
    assert_eq!(record["status"], "blocked");
    assert_eq!(record["blocking_requirements"].as_array().unwrap().len(), 4);
    assert_eq!(record["details"][0]["satisfied"], false);
    // The script and the hook recorded the same within a minute: one entry is enough.
    let escalations = state["pending_escalations"].as_array().unwrap();
    assert_eq!(escalations.len(), 1, "{escalations:?}");
    assert_eq!((&escalations[0]["type"], &escalations[0]["hook"]), (&json!("gate_blocked"), &json!(GUARD)));
}

#[test]
fn a_phase_that_has_everything_can_be_left() {
    let mut demands = test_and_article_requirements();
    demands["interactive_elicitation"] =
        json!({"enabled": true, "required_final_selection": ["save", "continue"]});
    demands["agent_delegation_validation"] = json!({"enabled": true});
    let flow = workflow_with_requirements("06-implementation", &demands);
    let mut state = started_workflow("06-implementation");
    state["phases"]["06-implementation"] = json!({
        "iteration_requirements": {"test_iteration": {"completed": true, "status": "success"},
            "interactive_elicitation": {"completed": true, "final_selection": "Save"}},
        "constitutional_validation": {"completed": true, "status": "compliant"}});
    state["skill_usage_log"] = json!([5, {"agent": 1}, {"agent": "05_Software_Developer"}]);
    flow.write_state(&state);
    assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None);
    assert_eq!(flow.read_state(), state, "nothing is record");
}

#[test]
fn each_requirement_is_checked_by_itself() {
    let tests = json!({"test_iteration": {"enabled": true}});
    let articles = json!({"constitutional_validation": {"enabled": true}});
    let talks = json!({"interactive_elicitation": {"enabled": true, "required_final_selection": ["save"]}});
    let test = |record: Value| json!({"iteration_requirements": {"test_iteration": record}});
    let article = |record: Value| json!({"constitutional_validation": record});
    let talk = |record: Value| json!({"iteration_requirements": {"interactive_elicitation": record}});
    for (demands, record, held) in [
        (&tests, test(json!({"completed": false})), true),
        (&tests, test(json!({"completed": true})), false),
        (&tests, test(json!({"completed": true, "status": "escalated"})), true),
        (&tests, test(json!({"completed": true, "status": "escalated", "escalation_approved": true})), false),
        (&tests, test(json!({"completed": "true"})), true),
        (&tests, test(json!([])), true),
        (&tests, json!("begun"), true),
        (&articles, article(json!({"completed": false, "status": "pending"})), true),
        (&articles, article(json!({"completed": true, "status": "pending"})), true),
        (&articles, article(json!({"completed": true, "status": "compliant"})), false),
        (&articles, article(json!({"status": "escalated"})), true),
        (&articles, article(json!({"status": "escalated", "escalation_approved": true})), false),
        (&talks, talk(json!({"completed": false})), true),
        (&talks, talk(json!({"completed": true})), true),
        (&talks, talk(json!({"completed": true, "final_selection": "exit"})), true),
        (&talks, talk(json!({"completed": true, "final_selection": "save"})), false),
        (&talks, talk(json!({"completed": true, "final_selection": 5})), true),
    ] {
        let flow = workflow_with_requirements("07-testing", demands);
        set_phase_record(&flow, "07-testing", &record);
        assert_eq!(flow.find_denial(GUARD, &advance(&flow)).is_some(), held, "{demands} {record}");
    }
}

#[test]
fn any_agent_of_the_phase_will_do() {
    let flow =
        workflow_with_requirements("02-tracing", &json!({"agent_delegation_validation": {"enabled": true}}));
    let mut state = started_workflow("02-tracing");
    for (agent, held) in [("symptom-analyzer", false), ("tracing-orchestrator", false), ("qa-engineer", true)]
    {
        state["skill_usage_log"] = json!([{"agent": agent}]);
        flow.write_state(&state);
        assert_eq!(flow.find_denial(GUARD, &advance(&flow)).is_some(), held, "{agent}");
    }
    flow.without_manifest();
    assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None, "without a manifest nobody is missing");
}

/// Each of these was denied once, and the call beside it still is.
#[test]
fn only_words_that_leave_the_phase_are_denied() {
    let flow = workflow_with_requirements("06-implementation", &test_and_article_requirements());
    for (agent, prompt, held) in [
        ("tracing-orchestrator", "investigate the outage", false),
        ("sdlc-orchestrator", "mitigate the risk", false),
        ("sdlc-orchestrator", "proceed with the fix", false),
        ("sdlc-orchestrator", "the initial aggregate", false),
        ("sdlc-orchestrator", "configure the quality gate", false),
        ("discover-orchestrator", "advance to the next phase", false),
        ("software-developer", "advance past the gate", false),
        ("qa-engineer", "advance", false),
        ("tracing-orchestrator", "advance", true),
        ("sdlc-orchestrator", "pass the gate", true),
        ("sdlc-orchestrator", "validate GATE-06", true),
        ("orchestrator", "move to phase 07", true),
        ("isdlc:sdlc-orchestrator", "progress to testing", true),
        ("sdlc-orchestrator", "Proceed", true),
        ("sdlc-orchestrator", "all is done, please proceed", true),
        ("sdlc-orchestrator", "proceed to testing", true),
        ("qa-engineer", "Proceed", false),
        // Words that once switched the guard off.
        ("sdlc-orchestrator", "the initial definition is done, advance", true),
        ("sdlc-orchestrator", "read the constitution, then proceed to the next phase", true),
        ("sdlc-orchestrator", "tell me the status and go on to the next phase", true),
    ] {
        let reason = flow.find_denial(GUARD, &flow.delegation(agent, prompt));
        assert_eq!(reason.is_some(), held, "{agent}: {prompt}: {reason:?}");
    }
    let mut old = advance(&flow);
    old["tool_name"] = json!("Task");
    assert!(flow.find_denial(GUARD, &old).is_some());
}

#[test]
fn only_the_verb_of_a_skill_counts() {
    let flow = workflow_with_requirements("06-implementation", &test_and_article_requirements());
    for (name, arguments, held) in [
        ("sdlc", "feature investigate login", false),
        ("sdlc", "feature a gate for the garden", false),
        ("sdlc", "status", false),
        ("other", "advance", false),
        ("sdlc", "advance", true),
        ("/sdlc", "gate", true),
        ("isdlc:sdlc", "Gate-check now", true),
        ("/sdlc advance", "", true),
    ] {
        let event = skill_event(&flow, "PreToolUse.Agent", name, arguments);
        assert_eq!(flow.find_denial(GUARD, &event).is_some(), held, "{name} {arguments}");
    }
}

#[test]
fn the_current_phase_and_its_index_must_agree() {
    let flow = workflow_with_requirements("06-implementation", &json!({}));
    let orders =
        json!({"workflows": {"feature": {"phases": ["01-requirements", "05-implementation", "07-testing"]}}});
    flow.project.write_file(".isdlc/config/workflows.json", &orders.to_string());
    let mut state = started_workflow("06-implementation");
    for (index, held) in [
        (json!(1), false),
        (json!(2), true),
        (json!(9), false),
        (json!("2"), false),
        (json!(-1), false),
        (json!(null), false),
    ] {
        state["active_workflow"]["current_phase_index"] = index.clone();
        flow.write_state(&state);
        let reason = flow.find_denial(GUARD, &advance(&flow));
        assert_eq!(reason.is_some(), held, "{index}: {reason:?}");
        assert!(reason.is_none_or(|reason| reason.contains("GATE BLOCKED: Workflow state mismatch")));
        assert_eq!(flow.read_state(), state, "a mismatch writes nothing");
    }
    for odd in
        ["{}", "[]", "{\"workflows\": []}", "nonsense", "{\"workflows\": {\"feature\": {\"phases\": 5}}}"]
    {
        state["active_workflow"]["current_phase_index"] = json!(2);
        flow.write_state(&state);
        flow.project.write_file(".isdlc/config/workflows.json", odd);
        assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None, "{odd}");
    }
}

/// The shipped overrides used another numbering, and were never applied.
#[test]
fn a_kind_of_workflow_may_override_requirements() {
    let flow = WorkflowProject::in_phase("06-implementation");
    let file = json!({"phase_requirements": {"06-implementation": test_and_article_requirements()},
        "workflow_overrides": {"fix": {"05-implementation": {"constitutional_validation": {"enabled": false}}}}});
    write_requirements(&flow, &file);
    let mut state = started_workflow("06-implementation");
    state["phases"]["06-implementation"] =
        json!({"iteration_requirements": {"test_iteration": {"completed": true}}});
    flow.write_state(&state);
    assert!(flow.find_denial(GUARD, &advance(&flow)).is_some());
    state["active_workflow"]["type"] = json!("fix");
    flow.write_state(&state);
    assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None);
}

#[test]
fn after_the_tests_the_deployment_choice_is_requested_once() {
    let flow =
        workflow_with_requirements("07-testing", &json!({"on_gate_pass": {"trigger_cloud_config": true}}));
    assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None);
    let state = flow.read_state();
    let triggers = state["pending_triggers"].as_array().unwrap();
    assert_eq!((triggers.len(), &triggers[0]["type"]), (1, &json!("cloud_configuration")));
    let mut decided = started_workflow("07-testing");
    for (provider, asked) in [(json!("aws"), false), (json!("undecided"), true), (json!(5), true)] {
        decided["cloud_configuration"] = json!({"provider": provider});
        flow.write_state(&decided);
        flow.find_denial(GUARD, &advance(&flow));
        assert_eq!(flow.read_state()["pending_triggers"].is_array(), asked, "{provider}");
    }
}

#[test]
fn without_requirements_nothing_is_denied() {
    let flow = workflow_with_requirements("06-implementation", &test_and_article_requirements());
    let mut state = started_workflow("06-implementation");
    state["iteration_enforcement"] = json!({"enabled": false});
    flow.write_state(&state);
    assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None, "switched off");
    flow.write_state(&started_workflow("08-code-review"));
    assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None, "a phase without demands");
    for odd in ["null", "[]", "5", "nonsense", "", "{\"active_workflow\": 5, \"phases\": []}"] {
        flow.project.write_file(".isdlc/state.json", odd);
        assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None, "{odd}");
    }
    // The phase outside a workflow counts too.
    flow.write_state(&json!({"current_phase": "06-implementation"}));
    assert!(flow.find_denial(GUARD, &advance(&flow)).is_some());
    write_requirements(&flow, &json!([]));
    assert_eq!(flow.find_denial(GUARD, &advance(&flow)), None);
}
