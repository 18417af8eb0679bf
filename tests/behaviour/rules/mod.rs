//! The rules of `provost.toml`: each key, each action, on every channel.

mod actions;
mod baseline;
mod branches;
mod checks;
mod commands;
mod evidence;
mod evidence_session;
mod evidence_stop;
mod imports;
mod imports_hookify;
mod keys;
mod mistakes;
mod overrides;
mod page;
mod path_adds;
mod path_changes;
mod path_reads;
mod plugins;
mod run;
mod suggest;
mod trust;
mod watch;

use serde_json::{Value, json};

use crate::support::{Answer, TestProject};

/// A project with a real repository, on the branch `main`, and these rules.
pub(super) fn project_with_rules(rules: &str) -> TestProject {
    let project = TestProject::new();
    std::fs::remove_dir(project.path.join(".git")).unwrap();
    crate::phases::branch_guard::create_repository(&project.path, "main");
    project.write_file("provost.toml", rules);
    project
}

/// The decision about a call in one word, and the rules that the answer names.
pub(super) fn decide(project: &TestProject, event: &Value) -> String {
    describe_decision(&project.hook(event))
}

fn describe_decision(answer: &Answer) -> String {
    if answer.is_silent() {
        return "silent".into();
    }
    let object = answer.json();
    let specific = &object.get("hookSpecificOutput").cloned().unwrap_or(json!({}));
    let decision = specific["permissionDecision"].as_str().unwrap_or("warn");
    let text = specific["permissionDecisionReason"].as_str().or(specific["additionalContext"].as_str());
    let text = text.unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || "-_./:".contains(c);
    let mut names: Vec<&str> = text
        .split(|c| !is_part(c))
        .filter(|word| word.starts_with("rule:"))
        .map(|word| word.trim_end_matches([':', '.']))
        .filter(|word| *word != "rule:NAME")
        .collect();
    names.sort_unstable();
    names.dedup();
    format!("{decision} {}", names.join(" "))
}

/// Judges every call, and fails with a list of all that are decided otherwise.
#[track_caller]
pub(super) fn assert_decisions(project: &TestProject, cases: &[(&str, Value)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(expected, event)| {
            let got = decide(project, event);
            (got != *expected).then(|| format!("{} expected, {got} got: {}", expected, event["tool_input"]))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
