//! Checks that the pages quote the program's messages exactly, because users search for what they read in a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};

use super::root;
use crate::support::TestProject;

/// Joins all words with single blanks, because a page may wrap lines anywhere.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that the pages quote each line of the denial of an event.
fn check_quotes(project: &TestProject, pack: &str, event: &Value, pages: &[&str]) {
    let answer = project.hook_with(&["--pack", pack], event);
    let message = if answer.code == Some(2) { answer.stderr.clone() } else { answer.expect_denial() };
    let message = message.replace(&*project.path.to_string_lossy(), "/home/dev/project");
    for page in pages {
        let text = words(&fs::read_to_string(root().join(page)).unwrap());
        for line in message.lines() {
            assert!(text.contains(&words(line)), "{page} does not say\n{line}");
        }
    }
}

fn in_agent(mut event: Value, kind: &str) -> Value {
    event["agent_id"] = "a51b".into();
    event["agent_type"] = kind.into();
    event
}

#[test]
fn a_commit_to_main() {
    let project = TestProject::new();
    let state = json!({"active_workflow": {"type": "feature", "current_phase": "06-implementation",
        "git_branch": {"name": "feature/login-limit", "status": "active"}}});
    project.write_file(".isdlc/state.json", &state.to_string());
    let git = Command::new("git").args(["init", "-q", "-b", "main"]).current_dir(&project.path).status();
    assert!(git.unwrap().success());
    check_quotes(&project, "phases", &project.bash("git commit -m x"), &["README.md"]);
}

#[test]
fn a_phase_out_of_order_and_a_missing_plan_of_tasks() {
    let project = TestProject::new();
    let manifest = json!({"ownership": {"software-developer": {"phase": "06-implementation"},
        "integration-tester": {"phase": "07-testing"}}});
    project.write_file(".claude/hooks/config/skills-manifest.json", &manifest.to_string());
    let state = json!({"active_workflow": {"type": "feature", "current_phase": "06-implementation"},
        "phases": {"06-implementation": {"status": "in_progress"}}});
    project.write_file(".isdlc/state.json", &state.to_string());
    let hand_to = |agent: &str| {
        project.call("Agent", json!({"description": "x", "prompt": "x", "subagent_type": agent}))
    };
    check_quotes(&project, "phases", &hand_to("software-developer"), &["docs/phases.md"]);
    project.write_file("docs/isdlc/tasks.md", "# Tasks\n");
    check_quotes(
        &project,
        "phases",
        &hand_to("integration-tester"),
        &["docs/phases.md", "plugins/isdlc/README.md"],
    );
}

#[test]
fn denials_of_a_planner() {
    let project = TestProject::new();
    let page = &["docs/planner.md"];
    check_quotes(&project, "planner", &in_agent(project.bash("rm -rf build"), "tdd-planner"), page);
    check_quotes(&project, "planner", &in_agent(project.write("src/main.rs", "x"), "tdd-planner"), page);
    let stop = in_agent(project.recorded_event("SubagentStop.general-purpose"), "tdd-planner");
    check_quotes(&project, "planner", &stop, page);
}

#[test]
fn a_plan_without_an_assessment() {
    let project = TestProject::new();
    let mut event = project.recorded_event("PreToolUse.ExitPlanMode");
    event["tool_input"] = json!({});
    check_quotes(&project, "plan-gate", &event, &["docs/plan-gate.md"]);
}

#[test]
fn a_file_that_does_not_belong_to_a_plan() {
    let project = TestProject::new();
    let plan = ".taskie/plans/login-limit";
    project.write_file(&format!("{plan}/plan.md"), "# Login limit\n");
    project.write_file(&format!("{plan}/notes.md"), "x\n");
    project.write_file("provost.toml", "[review_loop]\nplan = \"newest\"\n");
    let event = project.recorded_event("Stop.active_false");
    check_quotes(&project, "review-loop", &event, &["docs/review-loop.md"]);
}

/// The commands in the code of a page.
fn find_commands(page: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    let mut block = false;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => block = true,
            Event::End(TagEnd::CodeBlock) => block = false,
            Event::Code(text) => named.extend(command_words(&text)),
            Event::Text(text) if block => named.extend(text.lines().flat_map(command_words)),
            _ => {}
        }
    }
    named
}

/// The word after each `provost`.
fn command_words(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split([' ', '`', '\n']).filter(|word| !word.is_empty()).collect();
    let is_word = |word: &str| word.chars().all(|letter| letter.is_ascii_lowercase());
    let pairs = words.windows(2).filter(|pair| pair[0] == "provost" && is_word(pair[1]));
    pairs.map(|pair| pair[1].to_owned()).collect()
}

#[test]
fn every_command_on_a_page_exists() {
    let reference = fs::read_to_string(root().join("docs/cli.md")).unwrap();
    let mut named = BTreeMap::new();
    // The reference is generated, and its prose is in code blocks.
    for path in super::read_pages().into_keys().filter(|path| !path.ends_with("docs/cli.md")) {
        let commands = find_commands(&fs::read_to_string(root().join(&path)).unwrap());
        named.extend(commands.into_iter().map(|name| (name, path.clone())));
    }
    assert!(named.len() > 10, "{named:?}");
    // Prompts that only look like commands.
    named.retain(|name, _| !["override", "skip", "trust"].contains(&name.as_str()));
    named.retain(|name, _| !reference.contains(&format!("\n## `provost {name}`\n")));
    assert!(named.is_empty(), "no such command: {named:?}");
}

/// The ids of findings in the doctor's code: the first argument of a finding, and every text of words joined by hyphens that
/// is not the name of a guard or a pack.
fn find_finding_ids() -> BTreeSet<String> {
    let is_id = |text: &str| {
        !text.is_empty()
            && text.split('-').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()))
    };
    let is_name =
        |text: &str| provost::registry::GUARDS.iter().any(|guard| guard.name == text || guard.pack == text);
    let mut ids = BTreeSet::new();
    for entry in fs::read_dir(root().join("src/cli/doctor")).unwrap() {
        let code = fs::read_to_string(entry.unwrap().path()).unwrap();
        let code: String = code.split_whitespace().collect();
        for maker in ["::error(\"", "::warning(\""] {
            let found = code.split(maker).skip(1).filter_map(|rest| rest.split('"').next());
            ids.extend(found.filter(|text| is_id(text)).map(str::to_owned));
        }
        let texts = code.split('"').filter(|text| text.contains('-') && is_id(text) && !is_name(text));
        ids.extend(texts.map(str::to_owned));
    }
    ids
}

#[test]
fn every_finding_of_the_doctor_is_in_its_table() {
    let page = fs::read_to_string(root().join("docs/doctor.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    assert!(listed.len() > 30, "{listed:?}");
    assert_eq!(find_finding_ids(), listed);
}
