//! `skill-validator`, `log-skill-usage` and `skill-delegation-enforcer`.

use serde_json::{Value, json};

use super::gate_blocker::{run_guard, skill_event};
use super::{WorkflowProject, started_workflow};
use crate::support::assert_shown;

const PHASE: &str = "06-implementation";

/// An event for an agent that has worked.
fn agent_event(flow: &WorkflowProject, event: &str, agent: &str) -> Value {
    flow.call(event, &json!({"subagent_type": agent, "prompt": "p", "description": "what for"}))
}

#[test]
fn a_manifest_is_required_only_if_the_workflow_says_so() {
    let flow = WorkflowProject::in_phase(PHASE);
    let event = flow.delegation("software-developer", "go");
    let mut state = started_workflow(PHASE);
    state["skill_enforcement"] = json!({"fail_behavior": "block"});
    flow.write_state(&state);
    assert_eq!(flow.find_denial("skill-validator", &event), None, "there is a manifest");
    flow.without_manifest();
    let reason = flow.find_denial("skill-validator", &event).unwrap();
    assert_shown!("phases-skill-validator", reason);
    for (enforcement, workflow) in [
        (json!({"fail_behavior": "allow"}), true),
        (json!({"fail_behavior": "block", "enabled": false}), true),
        (json!({"fail_behavior": ["block"]}), true),
        (json!("block"), true),
        (json!({"fail_behavior": "block"}), false),
    ] {
        let mut state = if workflow { started_workflow(PHASE) } else { json!({"active_workflow": null}) };
        state["skill_enforcement"] = enforcement.clone();
        flow.write_state(&state);
        assert_eq!(flow.find_denial("skill-validator", &event), None, "{enforcement} {workflow}");
    }
}

#[test]
fn an_agent_that_worked_is_logged_with_its_phase() {
    let flow = WorkflowProject::in_phase(PHASE);
    for (agent, name, status, reason) in [
        ("05_Software_Developer", "software-developer", "executed", "authorized-phase-match"),
        ("sdlc-orchestrator", "sdlc-orchestrator", "executed", "authorized-orchestrator"),
        ("general-purpose", "general-purpose", "executed", "allowed"),
        ("qa", "qa-engineer", "observed", "cross-phase-usage"),
        ("discovery", "discover-orchestrator", "observed", "cross-phase-usage"),
    ] {
        flow.write_state(&started_workflow(PHASE));
        let answer =
            run_guard(&flow, "log-skill-usage", &agent_event(&flow, "PostToolUse.Agent.completed", agent));
        assert!(answer.is_silent(), "{answer:?}");
        let log = flow.read_state()["skill_usage_log"].clone();
        assert_eq!(log.as_array().unwrap().len(), 1, "{log}");
        let entry = &log[0];
        assert_eq!(
            (&entry["agent"], &entry["status"], &entry["reason"]),
            (&json!(name), &json!(status), &json!(reason))
        );
        assert_eq!(
            (&entry["current_phase"], &entry["description"], &entry["enforcement_mode"]),
            (&json!(PHASE), &json!("what for"), &json!("strict"))
        );
    }
}

#[test]
fn all_modes_and_numberings_are_recognized() {
    let flow = WorkflowProject::in_phase(PHASE);
    let log = |mode: &str, phase: &str, agent: &str| {
        let mut state = started_workflow(phase);
        state["skill_enforcement"] = json!({"mode": mode});
        flow.write_state(&state);
        run_guard(&flow, "log-skill-usage", &agent_event(&flow, "PostToolUse.Agent.completed", agent));
        flow.read_state()["skill_usage_log"][0]["status"].clone()
    };
    assert_eq!(log("warn", PHASE, "qa-engineer"), "warned");
    assert_eq!(log("audit", PHASE, "qa-engineer"), "audited");
    assert_eq!(log("observe", PHASE, "qa-engineer"), "observed");
    assert_eq!(log("strict", "05-implementation", "software-developer"), "executed");
    assert_eq!(log("strict", "16-upgrade-plan", "upgrade-engineer"), "executed");
}

/// An agent in the background counts when it starts. An agent that failed to start does not count.
#[test]
fn every_way_to_start_an_agent_is_logged() {
    let flow = WorkflowProject::in_phase(PHASE);
    let count_entries = |event: &Value| {
        flow.write_state(&started_workflow(PHASE));
        run_guard(&flow, "log-skill-usage", event);
        flow.read_state()["skill_usage_log"].as_array().map_or(0, Vec::len)
    };
    let completed = agent_event(&flow, "PostToolUse.Agent.completed", "software-developer");
    assert_eq!(count_entries(&completed), 1);
    assert_eq!(
        count_entries(&agent_event(&flow, "PostToolUse.Agent.async_launched", "software-developer")),
        1
    );
    assert_eq!(count_entries(&agent_event(&flow, "PostToolUseFailure.Agent", "software-developer")), 0);
    let mut old = completed.clone();
    old["tool_name"] = json!("Task");
    old["tool_result"] = json!("done");
    old.as_object_mut().unwrap().remove("tool_response");
    assert_eq!(count_entries(&old), 1, "as it was called once");
    for agent in [json!(null), json!(""), json!(5)] {
        let mut event = completed.clone();
        event["tool_input"]["subagent_type"] = agent.clone();
        assert_eq!(count_entries(&event), 0, "{agent}");
    }
    let script = flow.project.run_compat(&["log-skill-usage"], completed.to_string().as_bytes());
    assert_eq!((script.code, script.stdout.as_str()), (Some(0), ""));
}

#[test]
fn the_log_is_bounded_can_be_switched_off_and_is_never_destroyed() {
    let flow = WorkflowProject::in_phase(PHASE);
    let event = agent_event(&flow, "PostToolUse.Agent.completed", "software-developer");
    let with = |name: &str, value: Value| {
        let mut state = started_workflow(PHASE);
        state[name] = value;
        flow.write_state(&state);
        run_guard(&flow, "log-skill-usage", &event);
        (state, flow.read_state())
    };
    let (_, now) = with("skill_usage_log", json!(vec![json!({"agent": "old"}); 250]));
    assert_eq!(now["skill_usage_log"].as_array().unwrap().len(), 200);
    assert_eq!(now["skill_usage_log"][199]["agent"], "software-developer");
    let (before, now) = with("skill_usage_log", json!("mine"));
    assert_eq!(before, now);
    let (before, now) = with("skill_enforcement", json!({"enabled": false}));
    assert_eq!(before, now);
}

#[test]
fn a_skill_that_stands_for_an_agent_leaves_a_marker() {
    let flow = WorkflowProject::in_phase(PHASE);
    let skills = [
        ("sdlc", "feature login", "sdlc-orchestrator"),
        ("/SDLC", "", "sdlc-orchestrator"),
        ("isdlc:discover", "", "discover-orchestrator"),
        ("/discover --existing", "", "discover-orchestrator"),
    ];
    let answers = skills.map(|(name, arguments, agent)| {
        flow.write_state(&started_workflow(PHASE));
        let event = skill_event(&flow, "PostToolUse.Read", name, arguments);
        let answer = run_guard(&flow, "skill-delegation-enforcer", &event);
        let marker = flow.read_state()["pending_delegation"].clone();
        assert_eq!(marker["required_agent"], agent);
        assert_eq!(marker["session"], event["session_id"]);
        assert!(
            marker["invoked_at"].is_string() && marker["skill"].is_string() && marker["args"].is_string()
        );
        flow.project.whole(&answer)
    });
    assert_shown!("phases-skill-delegation-enforcer", answers.join("\n"));
}

#[test]
fn a_skill_that_does_its_own_work_leaves_no_marker() {
    let flow = WorkflowProject::in_phase(PHASE);
    for (name, arguments) in [
        ("isdlc", "analyze the login"),
        ("sdlc", "status"),
        ("/sdlc help", ""),
        ("discover", "Status"),
        ("other", "feature"),
        ("", ""),
    ] {
        let event = skill_event(&flow, "PostToolUse.Read", name, arguments);
        let answer = run_guard(&flow, "skill-delegation-enforcer", &event);
        assert!(answer.is_silent(), "{name} {arguments} {answer:?}");
        assert_eq!(flow.read_state(), started_workflow(PHASE));
    }
    let mut event = skill_event(&flow, "PostToolUse.Read", "sdlc", "feature x");
    event["agent_type"] = json!("sdlc-orchestrator");
    assert!(run_guard(&flow, "skill-delegation-enforcer", &event).is_silent(), "the agent itself");
    event["agent_type"] = json!(null);
    // Measured: a skill with its own agent (`context: fork`) returns that agent's answer.
    event["tool_response"] =
        json!({"success": true, "commandName": "sdlc", "status": "forked", "result": "done"});
    assert!(run_guard(&flow, "skill-delegation-enforcer", &event).is_silent(), "an agent has done it");
    event["tool_response"] = json!({"success": true, "commandName": "sdlc"});
    assert!(!run_guard(&flow, "skill-delegation-enforcer", &event).is_silent());
    event["tool_input"] = json!({"skill": 5, "args": ["x"]});
    assert!(run_guard(&flow, "skill-delegation-enforcer", &event).is_silent());
}
