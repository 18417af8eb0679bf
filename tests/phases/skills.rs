//! `skill-validator`, `log-skill-usage` and `skill-delegation-enforcer`.

use serde_json::{Value, json};

use crate::gate::{context, heard, skill};
use crate::{Flow, begun};

const PHASE: &str = "06-implementation";

/// An agent that has worked.
fn worked(flow: &Flow, event: &str, agent: &str) -> Value {
    flow.call(event, &json!({"subagent_type": agent, "prompt": "p", "description": "what for"}))
}

#[test]
fn a_manifest_is_demanded_only_where_the_workflow_says_so() {
    let flow = Flow::in_phase(PHASE);
    let event = flow.delegating("software-developer", "go");
    let mut state = begun(PHASE);
    state["skill_enforcement"] = json!({"fail_behavior": "block"});
    flow.state(&state);
    assert_eq!(flow.judged("skill-validator", &event), None, "there is a manifest");
    flow.without_manifest();
    let reason = flow.judged("skill-validator", &event).unwrap();
    assert!(reason.contains("SKILL ENFORCEMENT"), "{reason}");
    for (enforcement, workflow) in [
        (json!({"fail_behavior": "allow"}), true),
        (json!({"fail_behavior": "block", "enabled": false}), true),
        (json!({"fail_behavior": ["block"]}), true),
        (json!("block"), true),
        (json!({"fail_behavior": "block"}), false),
    ] {
        let mut state = if workflow { begun(PHASE) } else { json!({"active_workflow": null}) };
        state["skill_enforcement"] = enforcement.clone();
        flow.state(&state);
        assert_eq!(flow.judged("skill-validator", &event), None, "{enforcement} {workflow}");
    }
}

#[test]
fn an_agent_that_worked_is_kept_with_its_phase() {
    let flow = Flow::in_phase(PHASE);
    for (agent, name, status, reason) in [
        ("05_Software_Developer", "software-developer", "executed", "authorized-phase-match"),
        ("sdlc-orchestrator", "sdlc-orchestrator", "executed", "authorized-orchestrator"),
        ("general-purpose", "general-purpose", "executed", "allowed"),
        ("qa", "qa-engineer", "observed", "cross-phase-usage"),
        ("discovery", "discover-orchestrator", "observed", "cross-phase-usage"),
    ] {
        flow.state(&begun(PHASE));
        let answer = heard(&flow, "log-skill-usage", &worked(&flow, "PostToolUse.Agent.completed", agent));
        assert!(answer.is_silent(), "{answer:?}");
        let log = flow.state_now()["skill_usage_log"].clone();
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
fn modes_and_numberings_are_known() {
    let flow = Flow::in_phase(PHASE);
    let log = |mode: &str, phase: &str, agent: &str| {
        let mut state = begun(phase);
        state["skill_enforcement"] = json!({"mode": mode});
        flow.state(&state);
        heard(&flow, "log-skill-usage", &worked(&flow, "PostToolUse.Agent.completed", agent));
        flow.state_now()["skill_usage_log"][0]["status"].clone()
    };
    assert_eq!(log("warn", PHASE, "qa-engineer"), "warned");
    assert_eq!(log("audit", PHASE, "qa-engineer"), "audited");
    assert_eq!(log("observe", PHASE, "qa-engineer"), "observed");
    assert_eq!(log("strict", "05-implementation", "software-developer"), "executed");
    assert_eq!(log("strict", "16-upgrade-plan", "upgrade-engineer"), "executed");
}

/// One in the background counts when it starts, and one that failed to start does not count.
#[test]
fn every_way_to_start_an_agent_is_kept() {
    let flow = Flow::in_phase(PHASE);
    let kept = |event: &Value| {
        flow.state(&begun(PHASE));
        heard(&flow, "log-skill-usage", event);
        flow.state_now()["skill_usage_log"].as_array().map_or(0, Vec::len)
    };
    let completed = worked(&flow, "PostToolUse.Agent.completed", "software-developer");
    assert_eq!(kept(&completed), 1);
    assert_eq!(kept(&worked(&flow, "PostToolUse.Agent.async_launched", "software-developer")), 1);
    assert_eq!(kept(&worked(&flow, "PostToolUseFailure.Agent", "software-developer")), 0);
    let mut old = completed.clone();
    old["tool_name"] = json!("Task");
    old["tool_result"] = json!("done");
    old.as_object_mut().unwrap().remove("tool_response");
    assert_eq!(kept(&old), 1, "as it was called once");
    for agent in [json!(null), json!(""), json!(5)] {
        let mut event = completed.clone();
        event["tool_input"]["subagent_type"] = agent.clone();
        assert_eq!(kept(&event), 0, "{agent}");
    }
    let script = flow.project.script(&["log-skill-usage"], completed.to_string().as_bytes());
    assert_eq!((script.code, script.stdout.as_str()), (Some(0), ""));
}

#[test]
fn the_log_is_bounded_can_be_switched_off_and_is_never_destroyed() {
    let flow = Flow::in_phase(PHASE);
    let event = worked(&flow, "PostToolUse.Agent.completed", "software-developer");
    let with = |name: &str, value: Value| {
        let mut state = begun(PHASE);
        state[name] = value;
        flow.state(&state);
        heard(&flow, "log-skill-usage", &event);
        (state, flow.state_now())
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
fn a_skill_that_stands_for_an_agent_is_remembered() {
    let flow = Flow::in_phase(PHASE);
    for (name, arguments, agent) in [
        ("sdlc", "feature login", "sdlc-orchestrator"),
        ("/SDLC", "", "sdlc-orchestrator"),
        ("isdlc:discover", "", "discover-orchestrator"),
        ("/discover --existing", "", "discover-orchestrator"),
    ] {
        flow.state(&begun(PHASE));
        let event = skill(&flow, "PostToolUse.Read", name, arguments);
        let answer = heard(&flow, "skill-delegation-enforcer", &event);
        let text = context(&answer).unwrap();
        assert!(text.starts_with("MANDATORY DELEGATION REQUIRED: ") && text.contains(agent), "{text}");
        let marker = flow.state_now()["pending_delegation"].clone();
        assert_eq!(marker["required_agent"], agent);
        assert_eq!(marker["session"], event["session_id"]);
        assert!(
            marker["invoked_at"].is_string() && marker["skill"].is_string() && marker["args"].is_string()
        );
    }
}

#[test]
fn a_skill_that_does_its_own_work_is_not() {
    let flow = Flow::in_phase(PHASE);
    for (name, arguments) in [
        ("isdlc", "analyze the login"),
        ("sdlc", "status"),
        ("/sdlc help", ""),
        ("discover", "Status"),
        ("other", "feature"),
        ("", ""),
    ] {
        let event = skill(&flow, "PostToolUse.Read", name, arguments);
        let answer = heard(&flow, "skill-delegation-enforcer", &event);
        assert!(answer.is_silent(), "{name} {arguments} {answer:?}");
        assert_eq!(flow.state_now(), begun(PHASE));
    }
    let mut event = skill(&flow, "PostToolUse.Read", "sdlc", "feature x");
    event["agent_type"] = json!("sdlc-orchestrator");
    assert!(heard(&flow, "skill-delegation-enforcer", &event).is_silent(), "the agent itself");
    event["agent_type"] = json!(null);
    // Measured: a skill with an agent of its own (`context: fork`) comes back with that agent's answer.
    event["tool_response"] =
        json!({"success": true, "commandName": "sdlc", "status": "forked", "result": "done"});
    assert!(heard(&flow, "skill-delegation-enforcer", &event).is_silent(), "an agent has done it");
    event["tool_response"] = json!({"success": true, "commandName": "sdlc"});
    assert!(!heard(&flow, "skill-delegation-enforcer", &event).is_silent());
    event["tool_input"] = json!({"skill": 5, "args": ["x"]});
    assert!(heard(&flow, "skill-delegation-enforcer", &event).is_silent());
}
