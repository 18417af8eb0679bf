//! `walkthrough-tracker`: warns if a discovery ends without a walk through the constitution.

use serde_json::{Value, json};

use super::delegation_detection::{EMPTY, MALFORMED, assert_silent};
use super::{WorkflowProject, read_user_message};

const GUARD: &str = "walkthrough-tracker";

fn after_discovery(context: &Value) -> WorkflowProject {
    let flow = WorkflowProject::new();
    flow.write_state(&json!({"discovery_context": context}));
    flow
}

/// An event for an agent's answer, in its current form.
fn reply(flow: &WorkflowProject, agent: &str, text: &str) -> Value {
    let mut event =
        flow.call("PostToolUse.Agent.completed", &json!({"subagent_type": agent, "prompt": "go"}));
    event["tool_response"]["content"] = json!([{"type": "text", "text": text}]);
    event
}

/// An event for the end of an agent in the background.
fn background_end(flow: &WorkflowProject, agent: &str) -> Value {
    let mut event = flow.project.recorded_event("SubagentStop.general-purpose");
    event["agent_type"] = agent.into();
    event
}

fn has_warning(flow: &WorkflowProject, event: &Value) -> bool {
    let text = flow.find_warning(GUARD, event);
    let is_own = |text: &String| {
        text.starts_with("[walkthrough-tracker] WARNING") && text.contains("constitution walkthrough")
    };
    assert!(text.as_ref().is_none_or(is_own), "{text:?}");
    text.is_some()
}

/// The hook's warning about an event that no script gets.
fn find_hook_warning(flow: &WorkflowProject, event: &Value) -> Option<String> {
    read_user_message(&flow.enable_only(GUARD).hook_with(&["--pack", "phases"], event))
}

#[test]
fn t01_the_end_of_a_discovery_is_recognized() {
    let flow = after_discovery(&json!({"walkthrough_completed": false}));
    for name in
        ["discover-orchestrator", "Discover_Orchestrator", "discovery", "d0", "isdlc:discover-orchestrator"]
    {
        assert!(has_warning(&flow, &reply(&flow, name, "done")), "{name}");
    }
    // Without an answer the discovery has not ended.
    assert!(!has_warning(&flow, &reply(&flow, "discover-orchestrator", "")));
}

#[test]
fn t02_a_missing_walkthrough_causes_a_warning() {
    let flow = after_discovery(&json!({"walkthrough_completed": false}));
    let text = flow.find_warning(GUARD, &reply(&flow, "discover-orchestrator", "done")).unwrap();
    assert_eq!(
        text,
        "[walkthrough-tracker] WARNING: Discovery completed without constitution walkthrough.\n  \
         `discovery_context.walkthrough_completed` is not true in the workflow's state: nobody has gone through \
         the constitution with the person."
    );
}

#[test]
fn t03_an_unknown_walkthrough_causes_a_warning() {
    for context in
        [json!({}), json!({"walkthrough_completed": null}), json!({"walkthrough_completed": "true"})]
    {
        let flow = after_discovery(&context);
        assert!(has_warning(&flow, &reply(&flow, "discover-orchestrator", "done")), "{context}");
    }
}

#[test]
fn t04_a_completed_walkthrough_causes_no_warning() {
    for (done, warned) in [(true, false), (false, true)] {
        let flow = after_discovery(&json!({"walkthrough_completed": done}));
        assert_eq!(has_warning(&flow, &reply(&flow, "discover-orchestrator", "done")), warned, "{done}");
    }
}

#[test]
fn t05_other_agents_cause_no_warning() {
    let flow = after_discovery(&json!({}));
    for agent in ["software-developer", "general-purpose", "d1", "disco", ""] {
        assert!(!has_warning(&flow, &reply(&flow, agent, "discover-orchestrator is done")), "{agent}");
    }
    let mut event = reply(&flow, "discover-orchestrator", "done");
    for (name, warned) in [("Task", true), ("Agent", true), ("Bash", false)] {
        event["tool_name"] = name.into();
        assert_eq!(has_warning(&flow, &event), warned, "{name}");
    }
}

#[test]
fn t06_without_a_state_there_is_no_warning() {
    let flow = WorkflowProject::new();
    let event = reply(&flow, "discover-orchestrator", "done");
    assert!(!has_warning(&flow, &event));
    for text in ["", "{", "null", "[]"] {
        flow.project.write_file(".isdlc/state.json", text);
        assert!(!has_warning(&flow, &event), "{text}");
    }
    assert!(has_warning(flow.write_state(&json!({"discovery_context": {}})), &event));
}

#[test]
fn t07_input_that_is_not_an_event_is_allowed() {
    assert_silent(GUARD, MALFORMED);
}

#[test]
fn t08_empty_input_is_allowed() {
    assert_silent(GUARD, EMPTY);
}

#[test]
fn t09_without_a_discovery_there_is_no_warning() {
    let flow = WorkflowProject::new();
    let event = reply(&flow, "discover-orchestrator", "done");
    for state in [
        json!({}),
        json!({"discovery_context": null}),
        json!({"discovery_context": []}),
        json!({"discovery_context": "x"}),
        json!({"discovery_context": true}),
    ] {
        assert!(!has_warning(flow.write_state(&state), &event), "{state}");
    }
    assert!(has_warning(flow.write_state(&json!({"discovery_context": {}})), &event));
}

#[test]
fn t10_the_exit_code_is_always_0() {
    let flow = after_discovery(&json!({}));
    let event = reply(&flow, "discover-orchestrator", "done").to_string();
    let answer = flow.project.run_compat(&[GUARD], event.as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.is_empty() && !answer.stderr.is_empty(), "{answer:?}");
}

/// L1: an answer has had two names and several forms.
#[test]
fn an_answer_counts_in_each_of_its_forms() {
    let flow = after_discovery(&json!({}));
    let mut event = reply(&flow, "discover-orchestrator", "done");
    event.as_object_mut().unwrap().remove("tool_response");
    assert!(!has_warning(&flow, &event), "there is none");
    for name in ["tool_response", "tool_result"] {
        for (answer, warned) in [
            (json!("done"), true),
            (json!({"content": "done"}), true),
            (json!(["done"]), true),
            (json!(""), false),
            (json!(null), false),
            (json!({"status": "async_launched", "agentId": "a1"}), false),
        ] {
            let mut event = event.clone();
            event[name] = answer.clone();
            assert_eq!(has_warning(&flow, &event), warned, "{name} {answer}");
        }
    }
}

#[test]
fn the_end_of_an_agent_counts_once() {
    let flow = after_discovery(&json!({}));
    // In the background: its start does not count, its end does.
    let launched =
        flow.call("PostToolUse.Agent.async_launched", &json!({"subagent_type": "discover-orchestrator"}));
    assert!(!has_warning(&flow, &launched));
    let mut end = background_end(&flow, "discover-orchestrator");
    assert!(find_hook_warning(&flow, &end).unwrap().contains("constitution walkthrough"));
    assert_eq!(find_hook_warning(&flow, &background_end(&flow, "software-developer")), None);
    // In the foreground its answer counts.
    end["background_tasks"] = json!([]);
    assert_eq!(find_hook_warning(&flow, &end), None);
    assert!(has_warning(&flow, &reply(&flow, "discover-orchestrator", "done")));
}

#[test]
fn the_model_reads_the_warning_if_the_settings_say_so() {
    let flow = after_discovery(&json!({}));
    let event = reply(&flow, "discover-orchestrator", "done");
    let context = |flow: &WorkflowProject| {
        let answer = flow.enable_only(GUARD).hook_with(&["--pack", "phases"], &event);
        let json: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert!(json["systemMessage"].is_string());
        json["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    };
    assert_eq!(context(&flow), None);
    flow.write_settings("[phases]\nnotify = \"model\"\n");
    assert!(context(&flow).unwrap().contains("constitution walkthrough"));
}
