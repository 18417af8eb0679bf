//! `provost workflow status`, `provost approve` in a shell, `provost init`, and the lines in `status` and the status line.

use std::io::Write;

use super::{TASKS, approve, openspec, write_change};
use crate::support::{TestProject, assert_shown};

fn run(project: &TestProject, arguments: &[&str]) -> (Option<i32>, String) {
    let (name, rest) = arguments.split_first().unwrap();
    let output = project.provost_command(name, rest).stdin(std::process::Stdio::null()).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), hide_times(&project.shorten_paths(&text)))
}

/// Replaces the times of approvals.
fn hide_times(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("20").filter(|at| rest[*at..].len() >= 20) {
        let is_time = rest.as_bytes()[at + 10] == b'T' && rest.as_bytes()[at + 19] == b'Z';
        shown += &rest[..at];
        shown += if is_time { "<time>" } else { &rest[at..at + 2] };
        rest = &rest[at + if is_time { 20 } else { 2 }..];
    }
    shown + rest
}

/// A project with a change in every state.
fn changes() -> TestProject {
    let project = openspec().with_variable("USER", "ann");
    for name in ["approved", "changed", "finished"] {
        write_change(&project, name);
    }
    approve(&project, "approved");
    approve(&project, "changed");
    project.write_file("openspec/changes/changed/proposal.md", "# Why not\n");
    project.write_file("openspec/changes/approved/tasks.md", &TASKS.replacen("[ ]", "[x]", 1));
    project.write_file("openspec/changes/finished/tasks.md", &TASKS.replace("[ ]", "[x]"));
    project.write_file("openspec/changes/empty/.openspec.yaml", "schema: spec-driven\n");
    project
}

#[test]
fn status_shows_instances_approvals_and_tasks() {
    let project = changes();
    let (code, text) = run(&project, &["workflow", "status"]);
    assert_eq!(code, Some(0));
    assert_shown!("workflow-status", text);
    let (_, text) = run(&project, &["workflow", "status", "--json"]);
    assert_shown!("workflow-status-json", text);
}

#[test]
fn the_project_status_and_the_status_line_name_the_change() {
    let project = changes();
    let (_, text) = run(&project, &["status"]);
    assert!(
        text.contains("openspec   approved: approved <time> by ann, 1 of 2 tasks done; 3 more open"),
        "{text}"
    );
    let (_, text) = run(&project, &["statusline"]);
    assert_eq!(text, "provost · approved 1/2 tasks\n");
    let project = openspec();
    assert_eq!(run(&project, &["statusline"]).1, "provost · add-login: not approved\n");
}

#[test]
fn a_workflow_that_is_not_used_is_shown_and_not_held() {
    let project = openspec();
    project.write_file("provost.toml", "");
    let (code, text) = run(&project, &["workflow", "status"]);
    assert!(code == Some(0) && text.contains("not held: add `use = [\"openspec\"]`"), "{text}");
    let empty = TestProject::new();
    let (code, text) = run(&empty, &["workflow", "status"]);
    assert!(code == Some(1) && text.contains("there is no workflow here"), "{text}");
}

#[test]
fn approve_in_a_shell_says_where_it_is_typed() {
    let project = openspec();
    let mut shown = String::new();
    for arguments in [&["approve"][..], &["approve", "add-login"], &["approve", "add-logn"]] {
        let (code, text) = run(&project, arguments);
        assert_eq!(code, Some(1));
        shown += &format!("$ provost {}\n{text}\n", arguments.join(" "));
    }
    assert_shown!("workflow-approve-in-shell", shown);
}

#[test]
fn init_proposes_the_workflows_of_the_project() {
    let project = TestProject::unregistered();
    project.write_file("openspec/config.yaml", "schema: spec-driven\n");
    project.write_file("packages/a/.specify/feature.json", "{}");
    let mut command = project.provost_command("init", &["--rules", "off", "--yes"]);
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("this project uses openspec, spec-kit"), "{text}");
    let written = std::fs::read_to_string(project.path.join("provost.toml")).unwrap();
    assert_eq!(written, "[workflow]\nuse = [\"openspec\", \"spec-kit\"]\n");
    let settings = std::fs::read_to_string(project.path.join(".claude/settings.local.json")).unwrap();
    assert!(settings.contains("workflow"), "{settings}");
    let again = project.provost_command("init", &["--rules", "off", "--yes"]).output().unwrap();
    assert!(String::from_utf8_lossy(&again.stdout).contains("nothing to do"));
}
