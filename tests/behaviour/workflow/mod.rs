//! Work waits for the user's approval of a plan: on every channel, for every workflow, with every damage.

mod approval;
mod channels;
mod commands;
mod damage;
mod meaning;
mod open_instances;
mod own_table;
mod places;

use serde_json::Value;

use crate::support::{Answer, TestProject};

const TASKS: &str = "## 1. Login\n- [ ] 1.1 Store the password\n- [ ] 1.2 Ask for it\n";

/// A project of `OpenSpec` with one complete change, `add-login`.
fn openspec() -> TestProject {
    let project = project_using("openspec");
    project.write_file("openspec/config.yaml", "schema: spec-driven\n");
    write_change(&project, "add-login");
    project
}

fn project_using(workflow: &str) -> TestProject {
    let project = TestProject::new();
    project.write_file("provost.toml", &format!("[workflow]\nuse = [\"{workflow}\"]\n"));
    project
}

fn write_change(project: &TestProject, name: &str) {
    let file = |rest: &str| format!("openspec/changes/{name}/{rest}");
    project.write_file(&file("proposal.md"), "# Why\nUsers sign in.\n");
    project.write_file(&file("specs/auth/spec.md"), "### Requirement: Sign in\nThe system SHALL ask.\n");
    project.write_file(&file("tasks.md"), TASKS);
}

/// A prompt of the user.
fn prompt(project: &TestProject, text: &str) -> Answer {
    project.hook(&prompt_event(project, text))
}

fn prompt_event(project: &TestProject, text: &str) -> Value {
    let mut event = project.recorded_event("UserPromptSubmit");
    event["prompt"] = text.into();
    event["session_id"] = project.bash("true")["session_id"].clone();
    event
}

fn approve(project: &TestProject, name: &str) {
    let answer = prompt(project, &format!("provost approve {name}"));
    assert!(answer.stdout.contains("approved:"), "{} {}", answer.stdout, answer.stderr);
}

/// Why a write outside of the planning directories is denied; `None`: it is allowed.
fn denial(project: &TestProject) -> Option<String> {
    let answer = project.hook(&project.write(project.path.join("src/app.js"), "x"));
    answer.find_denial().ok().map(|text| project.shorten_paths(&text.clone()))
}

#[track_caller]
fn assert_held(project: &TestProject, words: &str) {
    let denial = denial(project).unwrap_or_else(|| panic!("allowed, and not held because {words}"));
    assert!(denial.contains(words), "{denial}");
}

#[track_caller]
fn assert_free(project: &TestProject) {
    assert_eq!(denial(project), None);
}
