//! Section 10.5: which calls give work to a phase. The tests ask `phase-sequence-guard`, whose reason
//! names the phase that it found.

use provost::phases::clauses::{is_about_setup, split_words};
use serde_json::{Value, json};

use super::WorkflowProject;

/// The phase that a call gives work to, as `phase-sequence-guard` understands it. The workflow is in
/// a phase that none of these calls means.
fn find_phase(event: impl Fn(&WorkflowProject) -> Value) -> Option<String> {
    let flow = WorkflowProject::in_phase("02-tracing");
    let reason = flow.find_denial("phase-sequence-guard", &event(&flow))?;
    let (_, rest) = reason.split_once(" is for `").expect(&reason);
    Some(rest.split('`').next().unwrap().to_owned())
}

fn find_phase_in_prompt(text: &str) -> Option<String> {
    find_phase(|flow| flow.prompt_without_agent(text))
}

fn find_phase_of_agent(agent: &str, prompt: &str) -> Option<String> {
    find_phase(|flow| flow.delegation(agent, prompt))
}

pub const EMPTY: &[&str] = &["", "  \n"];
pub const MALFORMED: &[&str] =
    &["{", "null", "[]", "5", "\"x\"", "{}", "{\"tool_name\": 5, \"tool_input\": []}"];

/// Checks that this guard allows input that is not an event, without any output.
pub fn assert_silent(guard: &str, inputs: &[&str]) {
    let flow = WorkflowProject::in_phase("06-implementation");
    for input in inputs {
        let script = flow.project.run_compat(&[guard], input.as_bytes());
        let hook = flow.enable_only(guard).hook_bytes(&["--pack", "phases"], input.as_bytes());
        assert!(script.code == Some(0) && script.stdout.is_empty() && script.stderr.is_empty(), "{script:?}");
        assert!(hook.code == Some(0) && hook.stdout.is_empty(), "{input}: {hook:?}");
    }
}

#[test]
fn t01_a_known_agent_in_its_own_field() {
    assert_eq!(find_phase_of_agent("qa-engineer", "go").as_deref(), Some("08-code-review"));
    assert_eq!(find_phase_of_agent("qa-engineers", "go"), None);
}

#[test]
fn t02_an_agent_named_in_the_prompt_or_the_description() {
    assert_eq!(find_phase_in_prompt("let the qa-engineer look at it").as_deref(), Some("08-code-review"));
    let described = |flow: &WorkflowProject| {
        flow.call("PreToolUse.Agent", &json!({"prompt": "look at it", "description": "QA-Engineer: review"}))
    };
    assert_eq!(find_phase(described).as_deref(), Some("08-code-review"));
}

#[test]
fn t03_a_phase_named_in_the_text() {
    for text in ["start phase 06-implementation now", "06-implementation: begin", "(06-Implementation)"] {
        assert_eq!(find_phase_in_prompt(text).as_deref(), Some("06-implementation"), "{text}");
    }
}

#[test]
fn t04_other_calls_are_not_delegations() {
    for text in ["look for the parser", "phase 06", "implementation", ""] {
        assert_eq!(find_phase_in_prompt(text), None, "{text}");
    }
    for agent in ["sdlc-orchestrator", "general-purpose", "Explore"] {
        assert_eq!(
            find_phase_of_agent(agent, "work on 06-implementation with the qa-engineer"),
            None,
            "{agent}"
        );
    }
}

#[test]
fn t05_setup_is_not_a_delegation() {
    assert_eq!(find_phase_of_agent("discover-orchestrator", "begin 06-implementation"), None);
    for text in ["run /discover, then discover 06-implementation", "set the status of 06-implementation"] {
        assert_eq!(find_phase_in_prompt(text), None, "{text}");
    }
}

#[test]
fn t06_setup_is_recognized_by_all_its_words() {
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
        assert!(is_about_setup(&split_words(&format!("please {word} it"))), "{word}");
        assert!(is_about_setup(&split_words(&word.to_uppercase())), "{word}");
    }
}

#[test]
fn t07_other_text_is_not_setup() {
    for text in ["implement the login", "the initial definition", "reinstall", "statuses", ""] {
        assert!(!is_about_setup(&split_words(text)), "{text}");
    }
}

#[test]
fn t08_without_a_manifest_no_agent_is_known() {
    let flow = WorkflowProject::in_phase("02-tracing");
    let event = flow.delegation("qa-engineer", "go");
    assert!(flow.find_denial("phase-sequence-guard", &event).is_some());
    flow.without_manifest();
    assert_eq!(flow.find_denial("phase-sequence-guard", &event), None);
}

/// L18: parts of words switched the guards off.
#[test]
fn parts_of_words_are_not_setup() {
    for text in
        ["the initial 06-implementation", "redefinition in 06-implementation", "statuses, 06-implementation"]
    {
        assert_eq!(find_phase_in_prompt(text).as_deref(), Some("06-implementation"), "{text}");
    }
    for prompt in ["check the status", "as the constitution says", "install the dependencies, run discover"] {
        assert_eq!(
            find_phase_of_agent("developer", prompt).as_deref(),
            Some("06-implementation"),
            "{prompt}"
        );
    }
}

/// L19: each of these was a delegation out of order.
#[test]
fn a_word_that_only_looks_like_a_phase_is_not_one() {
    for text in [
        "read docs/requirements/01-requirements/x.md",
        "release v10-alpha",
        "on 2026-02-15-ish",
        "99-foo",
        "fix qa-engineer.md",
        "look into .claude/agents/qa-engineer",
    ] {
        assert_eq!(find_phase_in_prompt(text), None, "{text}");
        assert_eq!(
            find_phase_in_prompt(&format!("{text} for 06-implementation")).as_deref(),
            Some("06-implementation")
        );
    }
    // The agent of the call wins over the prompt.
    assert_eq!(find_phase_of_agent("general-purpose", "summarise what the qa-engineer found"), None);
    assert_eq!(
        find_phase_of_agent("tracing-orchestrator", "prepare 06-implementation for the qa-engineer"),
        None
    );
    assert_eq!(
        find_phase_of_agent("developer", "as 01-requirements has it").as_deref(),
        Some("06-implementation")
    );
}

/// L2: the tool that starts agents has had two names.
#[test]
fn both_names_of_the_tool_count() {
    let flow = WorkflowProject::in_phase("02-tracing");
    let mut event = flow.delegation("qa-engineer", "go");
    for (name, holds) in [("Agent", true), ("Task", true), ("TaskCreate", false), ("agent", false)] {
        event["tool_name"] = name.into();
        assert_eq!(flow.find_denial("phase-sequence-guard", &event).is_some(), holds, "{name}");
    }
}
