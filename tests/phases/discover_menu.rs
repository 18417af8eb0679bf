//! `discover-menu-guard`: a discovery that shows another menu than it should is remarked.

use serde_json::{Value, json};

use super::detection::{EMPTY, MALFORMED, lets_go};
use super::{Flow, told};

const GUARD: &str = "discover-menu-guard";

const OLD: &str = "What would you like to do?\n\n[1] New Project\n[2] Existing Project\n[3] Scoped Analysis\n\
                   [4] Auto-detect\n\nYour choice?";
const RIGHT: &str = "What would you like to do?\n\n[1] New Project - begin from nothing\n[2] Existing Project - look \
                     at what is there\n[3] Chat / Explore - ask first\n\nYour choice?";
/// L22: a report of a discovery.
const REPORT: &str = "Discovery is done.\n1. The code is in src, with an existing project layout\n2. Tests run with \
                      cargo\n3. A new project file was written\n4. You may explore docs";

/// An agent has answered, in the form of today.
fn answered(flow: &Flow, input: &Value, text: &str) -> Value {
    let mut event = flow.call("PostToolUse.Agent.completed", input);
    event["tool_response"]["content"] = json!([{"type": "text", "text": text}]);
    event
}

fn by_discovery(flow: &Flow, text: &str) -> Value {
    answered(
        flow,
        &json!({"subagent_type": "discover-orchestrator", "prompt": "begin", "description": "d"}),
        text,
    )
}

/// What is said of this answer of a discovery.
fn said_of(text: &str) -> Option<String> {
    let flow = Flow::new();
    flow.warned(GUARD, &by_discovery(&flow, text))
}

#[test]
fn t01_a_discovery_is_seen() {
    let flow = Flow::new();
    for agent in ["discover-orchestrator", "d0", "Discovery", "isdlc:discover_orchestrator"] {
        let event = answered(&flow, &json!({"subagent_type": agent, "prompt": "begin"}), OLD);
        assert!(flow.warned(GUARD, &event).is_some(), "{agent}");
    }
    for input in [
        json!({"prompt": "Run discover"}),
        json!({"prompt": "Run /discover"}),
        json!({"prompt": "go", "description": "Discover the project"}),
    ] {
        assert!(flow.warned(GUARD, &answered(&flow, &input, OLD)).is_some(), "{input}");
    }
}

#[test]
fn t02_the_old_menu_is_remarked() {
    assert_eq!(
        said_of(OLD).unwrap(),
        "[discover-menu-guard] WARNING: Incorrect discover menu detected.\n  Missing options: Chat / Explore\n\
         [discover-menu-guard] WARNING: Discover menu contains removed options.\n  Found: Scoped Analysis, Auto-detect"
    );
}

#[test]
fn t03_so_is_each_option_of_it() {
    let analysis = RIGHT.replace("\n\nYour", "\n[4] Scoped Analysis\n\nYour");
    let said = said_of(&analysis).unwrap();
    assert!(
        said.contains("removed options.\n  Found: Scoped Analysis") && !said.contains("Missing"),
        "{said}"
    );
    for spelling in ["Auto-detect", "auto detect", "Autodetect (for the lazy)"] {
        let said = said_of(&RIGHT.replace("\n\nYour", &format!("\n[4] {spelling}\n\nYour"))).unwrap();
        assert!(said.contains("Found: Auto-detect"), "{spelling}: {said}");
    }
}

#[test]
fn t04_the_right_menu_is_not() {
    assert_eq!(said_of(RIGHT), None);
    for last in ["Explore", "Chat", "Chat or explore", "CHAT/EXPLORE"] {
        assert_eq!(said_of(&RIGHT.replace("Chat / Explore", last)), None, "{last}");
    }
    for (left, right) in [("(", ")"), ("", "."), ("", ")"), ("Option ", ":"), ("**", ".**")] {
        let form = |menu: &str| menu.replace('[', left).replace(']', right);
        assert_eq!(said_of(&form(RIGHT)), None, "{left}1{right}");
        assert!(said_of(&form(OLD)).is_some(), "{left}1{right}");
    }
    let said = said_of(&RIGHT.replace("Chat / Explore", "Leave")).unwrap();
    assert!(said.contains("Missing options: Chat / Explore") && !said.contains("removed"), "{said}");
}

#[test]
fn t05_other_agents_show_what_they_like() {
    let flow = Flow::new();
    for input in [
        json!({"subagent_type": "general-purpose", "prompt": "discover the menu"}),
        json!({"subagent_type": "software-developer", "prompt": "go"}),
        json!({"prompt": "write the menu"}),
    ] {
        assert_eq!(flow.warned(GUARD, &answered(&flow, &input, OLD)), None, "{input}");
    }
    let mut event = by_discovery(&flow, OLD);
    for (name, warned) in [("Task", true), ("Agent", true), ("Bash", false)] {
        event["tool_name"] = name.into();
        assert_eq!(flow.warned(GUARD, &event).is_some(), warned, "{name}");
    }
}

#[test]
fn t06_what_is_no_event_goes_on() {
    lets_go(GUARD, MALFORMED);
}

#[test]
fn t07_so_does_nothing_at_all() {
    lets_go(GUARD, EMPTY);
}

#[test]
fn t08_a_short_answer_has_no_menu() {
    let short = "[1] New Project [2] Scoped Analysis";
    assert_eq!(said_of(short), None);
    assert!(said_of(&format!("What would you like to do today? {short}")).is_some());
}

/// L1: an answer has come under two names and in several forms. Where it shows no menu, the one that the
/// agent was told to show counts.
#[test]
fn t09_a_menu_is_found_wherever_it_stands() {
    let flow = Flow::new();
    let mut event = by_discovery(&flow, "");
    event.as_object_mut().unwrap().remove("tool_response");
    for name in ["tool_response", "tool_result"] {
        for form in
            [|text: &str| json!(text), |text: &str| json!({"output": text}), |text: &str| json!([text])]
        {
            let mut event = event.clone();
            event[name] = form(OLD);
            assert!(flow.warned(GUARD, &event).is_some(), "{event}");
            event[name] = form(RIGHT);
            assert_eq!(flow.warned(GUARD, &event), None, "{event}");
        }
    }
    let input = |prompt: &str| json!({"subagent_type": "discover-orchestrator", "prompt": prompt});
    assert!(flow.warned(GUARD, &answered(&flow, &input(OLD), "The person chose 1.")).is_some());
    assert_eq!(flow.warned(GUARD, &answered(&flow, &input(RIGHT), "The person chose 1.")), None);
    assert_eq!(flow.warned(GUARD, &answered(&flow, &input(OLD), RIGHT)), None, "what was shown counts");
    assert!(flow.warned(GUARD, &answered(&flow, &input(RIGHT), OLD)).is_some());
}

#[test]
fn t10_the_exit_code_is_always_0() {
    let flow = Flow::new();
    let answer = flow.project.script(&[GUARD], by_discovery(&flow, OLD).to_string().as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.is_empty() && !answer.stderr.is_empty(), "{answer:?}");
}

/// L22: any list of a discovery was a wrong menu.
#[test]
fn a_list_about_something_else_is_no_menu() {
    for text in [
        REPORT.to_owned(),
        "I found these steps:\n1. read the manifest\n2. write the constitution\n3. ask the person for the rest".into(),
        "You can begin a new project, or use an existing project; auto-detect and scoped analysis are gone.".into(),
        OLD.replace(['[', ']'], ""),
        "What was done: 1. Existing project read. Nothing else was to be done here, and nobody was asked.".into(),
        "I looked at 3. Then there was option 1 of the settings, which begins a new project in an old one.".into(),
    ] {
        assert_eq!(said_of(&text), None, "{text}");
    }
    // The same list with a menu behind it.
    assert!(said_of(&format!("{REPORT}\n\n{OLD}")).is_some());
    assert_eq!(said_of(&format!("{REPORT}\n\n{RIGHT}")), None);
}

#[test]
fn the_end_of_an_agent_is_told_once() {
    let flow = Flow::new();
    let tells = |event: &Value| told(&flow.only(GUARD).hook_with(&["--pack", "phases"], event));
    let launched = flow.call(
        "PostToolUse.Agent.async_launched",
        &json!({"subagent_type": "discover-orchestrator", "prompt": OLD}),
    );
    assert_eq!(flow.warned(GUARD, &launched), None);
    let mut end = flow.project.event("SubagentStop.general-purpose");
    end["last_assistant_message"] = OLD.into();
    assert_eq!(tells(&end), None, "another agent");
    end["agent_type"] = "discover-orchestrator".into();
    assert!(tells(&end).unwrap().contains("Missing options"));
    end["background_tasks"] = json!([]);
    assert_eq!(tells(&end), None, "somebody waits for its answer");
}

#[test]
fn outside_of_workflows_nothing_is_remarked() {
    let flow = Flow::new();
    let event = by_discovery(&flow, OLD);
    assert!(flow.warned(GUARD, &event).is_some());
    std::fs::remove_dir(flow.project.path.join(".isdlc")).unwrap();
    assert_eq!(flow.warned(GUARD, &event), None);
}
