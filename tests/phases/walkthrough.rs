//! `walkthrough-tracker`: a discovery that ends without a walk through the constitution is remarked.

use serde_json::{Value, json};

use super::detection::{EMPTY, MALFORMED, lets_go};
use super::{Flow, told};

const GUARD: &str = "walkthrough-tracker";

fn discovered(context: &Value) -> Flow {
    let flow = Flow::new();
    flow.state(&json!({"discovery_context": context}));
    flow
}

/// An agent has answered, in the form of today.
fn answered(flow: &Flow, agent: &str, text: &str) -> Value {
    let mut event =
        flow.call("PostToolUse.Agent.completed", &json!({"subagent_type": agent, "prompt": "go"}));
    event["tool_response"]["content"] = json!([{"type": "text", "text": text}]);
    event
}

/// An agent that worked in the background has come to its end.
fn ended(flow: &Flow, agent: &str) -> Value {
    let mut event = flow.project.event("SubagentStop.general-purpose");
    event["agent_type"] = agent.into();
    event
}

fn warns(flow: &Flow, event: &Value) -> bool {
    let text = flow.warned(GUARD, event);
    let is_own = |text: &String| {
        text.starts_with("[walkthrough-tracker] WARNING") && text.contains("constitution walkthrough")
    };
    assert!(text.as_ref().is_none_or(is_own), "{text:?}");
    text.is_some()
}

/// What the hook tells of an event that no script gets.
fn hook_tells(flow: &Flow, event: &Value) -> Option<String> {
    told(&flow.only(GUARD).hook_with(&["--pack", "phases"], event))
}

#[test]
fn t01_the_end_of_a_discovery_is_seen() {
    let flow = discovered(&json!({"walkthrough_completed": false}));
    for name in
        ["discover-orchestrator", "Discover_Orchestrator", "discovery", "d0", "isdlc:discover-orchestrator"]
    {
        assert!(warns(&flow, &answered(&flow, name, "done")), "{name}");
    }
    // Without an answer it is no end.
    assert!(!warns(&flow, &answered(&flow, "discover-orchestrator", "")));
}

#[test]
fn t02_a_walkthrough_that_is_not_done_is_remarked() {
    let flow = discovered(&json!({"walkthrough_completed": false}));
    let text = flow.warned(GUARD, &answered(&flow, "discover-orchestrator", "done")).unwrap();
    assert_eq!(
        text,
        "[walkthrough-tracker] WARNING: Discovery completed without constitution walkthrough.\n  \
         `discovery_context.walkthrough_completed` is not true in the workflow's state: nobody has gone through \
         the constitution with the person."
    );
}

#[test]
fn t03_so_is_one_of_which_nothing_is_known() {
    for context in
        [json!({}), json!({"walkthrough_completed": null}), json!({"walkthrough_completed": "true"})]
    {
        let flow = discovered(&context);
        assert!(warns(&flow, &answered(&flow, "discover-orchestrator", "done")), "{context}");
    }
}

#[test]
fn t04_one_that_is_done_is_not() {
    for (done, warned) in [(true, false), (false, true)] {
        let flow = discovered(&json!({"walkthrough_completed": done}));
        assert_eq!(warns(&flow, &answered(&flow, "discover-orchestrator", "done")), warned, "{done}");
    }
}

#[test]
fn t05_other_agents_are_not_remarked() {
    let flow = discovered(&json!({}));
    for agent in ["software-developer", "general-purpose", "d1", "disco", ""] {
        assert!(!warns(&flow, &answered(&flow, agent, "discover-orchestrator is done")), "{agent}");
    }
    let mut event = answered(&flow, "discover-orchestrator", "done");
    for (name, warned) in [("Task", true), ("Agent", true), ("Bash", false)] {
        event["tool_name"] = name.into();
        assert_eq!(warns(&flow, &event), warned, "{name}");
    }
}

#[test]
fn t06_without_a_state_nothing_is_remarked() {
    let flow = Flow::new();
    let event = answered(&flow, "discover-orchestrator", "done");
    assert!(!warns(&flow, &event));
    for text in ["", "{", "null", "[]"] {
        flow.project.file(".isdlc/state.json", text);
        assert!(!warns(&flow, &event), "{text}");
    }
    assert!(warns(flow.state(&json!({"discovery_context": {}})), &event));
}

#[test]
fn t07_what_is_no_event_goes_on() {
    lets_go(GUARD, MALFORMED);
}

#[test]
fn t08_so_does_nothing_at_all() {
    lets_go(GUARD, EMPTY);
}

#[test]
fn t09_without_a_discovery_nothing_is_remarked() {
    let flow = Flow::new();
    let event = answered(&flow, "discover-orchestrator", "done");
    for state in [
        json!({}),
        json!({"discovery_context": null}),
        json!({"discovery_context": []}),
        json!({"discovery_context": "x"}),
        json!({"discovery_context": true}),
    ] {
        assert!(!warns(flow.state(&state), &event), "{state}");
    }
    assert!(warns(flow.state(&json!({"discovery_context": {}})), &event));
}

#[test]
fn t10_the_exit_code_is_always_0() {
    let flow = discovered(&json!({}));
    let event = answered(&flow, "discover-orchestrator", "done").to_string();
    let answer = flow.project.script(&[GUARD], event.as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.is_empty() && !answer.stderr.is_empty(), "{answer:?}");
}

/// L1: an answer has come under two names and in several forms.
#[test]
fn an_answer_counts_in_each_of_its_forms() {
    let flow = discovered(&json!({}));
    let mut event = answered(&flow, "discover-orchestrator", "done");
    event.as_object_mut().unwrap().remove("tool_response");
    assert!(!warns(&flow, &event), "there is none");
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
            assert_eq!(warns(&flow, &event), warned, "{name} {answer}");
        }
    }
}

#[test]
fn the_end_of_an_agent_is_told_once() {
    let flow = discovered(&json!({}));
    // In the background: its start is no end, and its end is.
    let launched =
        flow.call("PostToolUse.Agent.async_launched", &json!({"subagent_type": "discover-orchestrator"}));
    assert!(!warns(&flow, &launched));
    let mut end = ended(&flow, "discover-orchestrator");
    assert!(hook_tells(&flow, &end).unwrap().contains("constitution walkthrough"));
    assert_eq!(hook_tells(&flow, &ended(&flow, "software-developer")), None);
    // In the foreground its answer tells it.
    end["background_tasks"] = json!([]);
    assert_eq!(hook_tells(&flow, &end), None);
    assert!(warns(&flow, &answered(&flow, "discover-orchestrator", "done")));
}

#[test]
fn the_model_is_told_if_the_person_wants_it() {
    let flow = discovered(&json!({}));
    let event = answered(&flow, "discover-orchestrator", "done");
    let context = |flow: &Flow| {
        let answer = flow.only(GUARD).hook_with(&["--pack", "phases"], &event);
        let json: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert!(json["systemMessage"].is_string());
        json["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    };
    assert_eq!(context(&flow), None);
    flow.settings("[phases]\nnotify = \"model\"\n");
    assert!(context(&flow).unwrap().contains("constitution walkthrough"));
}
