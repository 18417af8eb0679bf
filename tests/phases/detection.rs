//! Section 10.5: which calls hand work to a phase. Asked of the guard of their order, whose reason
//! names the phase that it found.

use provost::phases::words::{is_setup, words};
use serde_json::{Value, json};

use super::Flow;

/// The phase that a call hands work to, as the guard of their order understands it. The workflow is in
/// a phase that none of these calls means.
fn found(event: impl Fn(&Flow) -> Value) -> Option<String> {
    let flow = Flow::in_phase("02-tracing");
    let reason = flow.judged("phase-sequence-guard", &event(&flow))?;
    let (_, rest) = reason.split_once(" is for `").expect(&reason);
    Some(rest.split('`').next().unwrap().to_owned())
}

fn told(text: &str) -> Option<String> {
    found(|flow| flow.telling(text))
}

fn given(agent: &str, prompt: &str) -> Option<String> {
    found(|flow| flow.delegating(agent, prompt))
}

pub const EMPTY: &[&str] = &["", "  \n"];
pub const MALFORMED: &[&str] =
    &["{", "null", "[]", "5", "\"x\"", "{}", "{\"tool_name\": 5, \"tool_input\": []}"];

/// What comes in is no event, and this guard lets it go on without a word.
pub fn lets_go(guard: &str, inputs: &[&str]) {
    let flow = Flow::in_phase("06-implementation");
    for input in inputs {
        let script = flow.project.script(&[guard], input.as_bytes());
        let hook = flow.only(guard).hook_bytes(&["--pack", "phases"], input.as_bytes());
        assert!(script.code == Some(0) && script.stdout.is_empty() && script.stderr.is_empty(), "{script:?}");
        assert!(hook.code == Some(0) && hook.stdout.is_empty(), "{input}: {hook:?}");
    }
}

#[test]
fn t01_a_known_agent_in_its_own_field() {
    assert_eq!(given("qa-engineer", "go").as_deref(), Some("08-code-review"));
    assert_eq!(given("qa-engineers", "go"), None);
}

#[test]
fn t02_an_agent_named_in_the_prompt_or_the_description() {
    assert_eq!(told("let the qa-engineer look at it").as_deref(), Some("08-code-review"));
    let described = |flow: &Flow| {
        flow.call("PreToolUse.Agent", &json!({"prompt": "look at it", "description": "QA-Engineer: review"}))
    };
    assert_eq!(found(described).as_deref(), Some("08-code-review"));
}

#[test]
fn t03_a_phase_named_in_the_text() {
    for text in ["start phase 06-implementation now", "06-implementation: begin", "(06-Implementation)"] {
        assert_eq!(told(text).as_deref(), Some("06-implementation"), "{text}");
    }
}

#[test]
fn t04_what_is_no_delegation() {
    for text in ["look for the parser", "phase 06", "implementation", ""] {
        assert_eq!(told(text), None, "{text}");
    }
    for agent in ["sdlc-orchestrator", "general-purpose", "Explore"] {
        assert_eq!(given(agent, "work on 06-implementation with the qa-engineer"), None, "{agent}");
    }
}

#[test]
fn t05_setup_is_no_delegation() {
    assert_eq!(given("discover-orchestrator", "begin 06-implementation"), None);
    for text in ["run /discover, then discover 06-implementation", "set the status of 06-implementation"] {
        assert_eq!(told(text), None, "{text}");
    }
}

#[test]
fn t06_setup_is_known_by_all_its_words() {
    for word in [
        "discover",
        "constitution",
        "init",
        "setup",
        "configure",
        "configure-cloud",
        "new project",
        "project setup",
        "install",
        "status",
    ] {
        assert!(is_setup(&words(&format!("please {word} it"))), "{word}");
        assert!(is_setup(&words(&word.to_uppercase())), "{word}");
    }
}

#[test]
fn t07_other_text_is_no_setup() {
    for text in ["implement the login", "the initial definition", "reinstall", "statuses", ""] {
        assert!(!is_setup(&words(text)), "{text}");
    }
}

#[test]
fn t08_without_a_manifest_nobody_is_known() {
    let flow = Flow::in_phase("02-tracing");
    let event = flow.delegating("qa-engineer", "go");
    assert!(flow.judged("phase-sequence-guard", &event).is_some());
    flow.without_manifest();
    assert_eq!(flow.judged("phase-sequence-guard", &event), None);
}

/// L18: parts of words switched the guards off.
#[test]
fn parts_of_words_are_no_setup() {
    for text in
        ["the initial 06-implementation", "redefinition in 06-implementation", "statuses, 06-implementation"]
    {
        assert_eq!(told(text).as_deref(), Some("06-implementation"), "{text}");
    }
    for prompt in ["check the status", "as the constitution says", "install the dependencies, run discover"] {
        assert_eq!(given("developer", prompt).as_deref(), Some("06-implementation"), "{prompt}");
    }
}

/// L19: each of these was a delegation out of order.
#[test]
fn what_only_looks_like_a_phase_is_none() {
    for text in [
        "read docs/requirements/01-requirements/x.md",
        "release v10-alpha",
        "on 2026-02-15-ish",
        "99-foo",
        "fix qa-engineer.md",
        "look into .claude/agents/qa-engineer",
    ] {
        assert_eq!(told(text), None, "{text}");
        assert_eq!(told(&format!("{text} for 06-implementation")).as_deref(), Some("06-implementation"));
    }
    // What the field says wins over what the text mentions.
    assert_eq!(given("general-purpose", "summarise what the qa-engineer found"), None);
    assert_eq!(given("tracing-orchestrator", "prepare 06-implementation for the qa-engineer"), None);
    assert_eq!(given("developer", "as 01-requirements has it").as_deref(), Some("06-implementation"));
}

/// L2: the tool of agents has had two names.
#[test]
fn both_names_of_the_tool_count() {
    let flow = Flow::in_phase("02-tracing");
    let mut event = flow.delegating("qa-engineer", "go");
    for (name, holds) in [("Agent", true), ("Task", true), ("TaskCreate", false), ("agent", false)] {
        event["tool_name"] = name.into();
        assert_eq!(flow.judged("phase-sequence-guard", &event).is_some(), holds, "{name}");
    }
}
