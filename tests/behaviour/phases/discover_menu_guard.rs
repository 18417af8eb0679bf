//! `discover-menu-guard`: warns if a discovery shows another menu than it should.

use serde_json::{Value, json};

use super::delegation_detection::{EMPTY, MALFORMED, assert_silent};
use super::{WorkflowProject, read_user_message};
use crate::support::assert_shown;

const GUARD: &str = "discover-menu-guard";

const OLD: &str = "What would you like to do?\n\n[1] New Project\n[2] Existing Project\n[3] Scoped Analysis\n\
                   [4] Auto-detect\n\nYour choice?";
const RIGHT: &str = "What would you like to do?\n\n[1] New Project - begin from nothing\n[2] Existing Project - look \
                     at what is there\n[3] Chat / Explore - ask first\n\nYour choice?";
/// L22: a report of a discovery.
const REPORT: &str = "Discovery is done.\n1. The code is in src, with an existing project layout\n2. Tests run with \
                      cargo\n3. A new project file was written\n4. You may explore docs";

/// An event for an agent's answer, in its current form.
fn reply(flow: &WorkflowProject, input: &Value, text: &str) -> Value {
    let mut event = flow.call("PostToolUse.Agent.completed", input);
    event["tool_response"]["content"] = json!([{"type": "text", "text": text}]);
    event
}

fn discovery_reply(flow: &WorkflowProject, text: &str) -> Value {
    reply(
        flow,
        &json!({"subagent_type": "discover-orchestrator", "prompt": "begin", "description": "d"}),
        text,
    )
}

/// The warning about this answer of a discovery.
fn find_warning(text: &str) -> Option<String> {
    let flow = WorkflowProject::new();
    flow.find_warning(GUARD, &discovery_reply(&flow, text))
}

#[test]
fn t01_a_discovery_is_recognized() {
    let flow = WorkflowProject::new();
    for agent in ["discover-orchestrator", "d0", "Discovery", "isdlc:discover_orchestrator"] {
        let event = reply(&flow, &json!({"subagent_type": agent, "prompt": "begin"}), OLD);
        assert!(flow.find_warning(GUARD, &event).is_some(), "{agent}");
    }
    for input in [
        json!({"prompt": "Run discover"}),
        json!({"prompt": "Run /discover"}),
        json!({"prompt": "go", "description": "Discover the project"}),
    ] {
        assert!(flow.find_warning(GUARD, &reply(&flow, &input, OLD)).is_some(), "{input}");
    }
}

#[test]
fn t02_the_old_menu_causes_a_warning() {
    assert_shown!("phases-discover-menu-guard", find_warning(OLD).unwrap());
}

#[test]
fn t03_each_removed_option_causes_a_warning() {
    let analysis = RIGHT.replace("\n\nYour", "\n[4] Scoped Analysis\n\nYour");
    assert_shown!("phases-discover-menu-guard-removed", find_warning(&analysis).unwrap());
    for spelling in ["Auto-detect", "auto detect", "Autodetect (for the lazy)"] {
        let text = find_warning(&RIGHT.replace("\n\nYour", &format!("\n[4] {spelling}\n\nYour"))).unwrap();
        assert!(text.contains("Found: Auto-detect"), "{spelling}: {text}");
    }
}

#[test]
fn t04_the_right_menu_causes_no_warning() {
    assert_eq!(find_warning(RIGHT), None);
    for last in ["Explore", "Chat", "Chat or explore", "CHAT/EXPLORE"] {
        assert_eq!(find_warning(&RIGHT.replace("Chat / Explore", last)), None, "{last}");
    }
    for (left, right) in [("(", ")"), ("", "."), ("", ")"), ("Option ", ":"), ("**", ".**")] {
        let form = |menu: &str| menu.replace('[', left).replace(']', right);
        assert_eq!(find_warning(&form(RIGHT)), None, "{left}1{right}");
        assert!(find_warning(&form(OLD)).is_some(), "{left}1{right}");
    }
    let text = find_warning(&RIGHT.replace("Chat / Explore", "Leave")).unwrap();
    assert_shown!("phases-discover-menu-guard-missing", text);
}

#[test]
fn t05_other_agents_may_show_any_menu() {
    let flow = WorkflowProject::new();
    for input in [
        json!({"subagent_type": "general-purpose", "prompt": "discover the menu"}),
        json!({"subagent_type": "software-developer", "prompt": "go"}),
        json!({"prompt": "write the menu"}),
    ] {
        assert_eq!(flow.find_warning(GUARD, &reply(&flow, &input, OLD)), None, "{input}");
    }
    let mut event = discovery_reply(&flow, OLD);
    for (name, warned) in [("Task", true), ("Agent", true), ("Bash", false)] {
        event["tool_name"] = name.into();
        assert_eq!(flow.find_warning(GUARD, &event).is_some(), warned, "{name}");
    }
}

#[test]
fn t06_input_that_is_not_an_event_is_allowed() {
    assert_silent(GUARD, MALFORMED);
}

#[test]
fn t07_empty_input_is_allowed() {
    assert_silent(GUARD, EMPTY);
}

#[test]
fn t08_a_short_answer_has_no_menu() {
    let short = "[1] New Project [2] Scoped Analysis";
    assert_eq!(find_warning(short), None);
    assert!(find_warning(&format!("What would you like to do today? {short}")).is_some());
}

/// L1: an answer has had two names and several forms. If it shows no menu, the menu in the agent's
/// prompt counts.
#[test]
fn t09_a_menu_is_found_anywhere_in_the_answer() {
    let flow = WorkflowProject::new();
    let mut event = discovery_reply(&flow, "");
    event.as_object_mut().unwrap().remove("tool_response");
    for name in ["tool_response", "tool_result"] {
        for form in
            [|text: &str| json!(text), |text: &str| json!({"output": text}), |text: &str| json!([text])]
        {
            let mut event = event.clone();
            event[name] = form(OLD);
            assert!(flow.find_warning(GUARD, &event).is_some(), "{event}");
            event[name] = form(RIGHT);
            assert_eq!(flow.find_warning(GUARD, &event), None, "{event}");
        }
    }
    let input = |prompt: &str| json!({"subagent_type": "discover-orchestrator", "prompt": prompt});
    assert!(flow.find_warning(GUARD, &reply(&flow, &input(OLD), "The person chose 1.")).is_some());
    assert_eq!(flow.find_warning(GUARD, &reply(&flow, &input(RIGHT), "The person chose 1.")), None);
    assert_eq!(flow.find_warning(GUARD, &reply(&flow, &input(OLD), RIGHT)), None, "what was shown counts");
    assert!(flow.find_warning(GUARD, &reply(&flow, &input(RIGHT), OLD)).is_some());
}

#[test]
fn t10_the_exit_code_is_always_0() {
    let flow = WorkflowProject::new();
    let answer = flow.project.run_compat(&[GUARD], discovery_reply(&flow, OLD).to_string().as_bytes());
    assert!(answer.code == Some(0) && answer.stdout.is_empty() && !answer.stderr.is_empty(), "{answer:?}");
}

/// L22: any list of a discovery was taken for a wrong menu.
#[test]
fn a_list_about_something_else_is_not_a_menu() {
    for text in [
        REPORT.to_owned(),
        "I found these steps:\n1. read the manifest\n2. write the constitution\n3. ask the person for the rest".into(),
        "You can begin a new project, or use an existing project; auto-detect and scoped analysis are gone.".into(),
        OLD.replace(['[', ']'], ""),
        "What was done: 1. Existing project read. Nothing else was to be done here, and nobody was asked.".into(),
        "I looked at 3. Then there was option 1 of the settings, which begins a new project in an old one.".into(),
    ] {
        assert_eq!(find_warning(&text), None, "{text}");
    }
    // A list with a menu behind it is judged by the menu.
    assert!(find_warning(&format!("{REPORT}\n\n{OLD}")).is_some());
    assert_eq!(find_warning(&format!("{REPORT}\n\n{RIGHT}")), None);
}

#[test]
fn the_end_of_an_agent_counts_once() {
    let flow = WorkflowProject::new();
    let tells =
        |event: &Value| read_user_message(&flow.enable_only(GUARD).hook_with(&["--pack", "phases"], event));
    let launched = flow.call(
        "PostToolUse.Agent.async_launched",
        &json!({"subagent_type": "discover-orchestrator", "prompt": OLD}),
    );
    assert_eq!(flow.find_warning(GUARD, &launched), None);
    let mut end = flow.project.recorded_event("SubagentStop.general-purpose");
    end["last_assistant_message"] = OLD.into();
    assert_eq!(tells(&end), None, "another agent");
    end["agent_type"] = "discover-orchestrator".into();
    assert!(tells(&end).unwrap().contains("Missing options"));
    end["background_tasks"] = json!([]);
    assert_eq!(tells(&end), None, "somebody waits for its answer");
}

#[test]
fn outside_of_workflows_there_is_no_warning() {
    let flow = WorkflowProject::new();
    let event = discovery_reply(&flow, OLD);
    assert!(flow.find_warning(GUARD, &event).is_some());
    std::fs::remove_dir(flow.project.path.join(".isdlc")).unwrap();
    assert_eq!(flow.find_warning(GUARD, &event), None);
}
