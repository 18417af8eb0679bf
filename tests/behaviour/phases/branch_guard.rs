//! `branch-guard`, in real repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{WorkflowProject, started_workflow};
use crate::support::assert_shown;

pub(super) const GUARD: &str = "branch-guard";
pub(super) const WORK: &str = "feature/REQ-0004-x";

/// Runs git without this machine's settings.
pub(crate) fn git_in(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nonexistent");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.args(["-c", "user.name=n", "-c", "user.email=n@n", "-c", "protocol.file.allow=always"]);
    let output = command.args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(super) fn git(flow: &WorkflowProject, arguments: &[&str]) {
    git_in(&flow.project.path, arguments);
}

/// A repository whose first branch has this name and a commit.
pub(crate) fn create_repository(directory: &Path, branch: &str) {
    fs::create_dir_all(directory).unwrap();
    git_in(directory, &["init", "-q", "-b", branch]);
    git_in(directory, &["commit", "-q", "--allow-empty", "-m", "first"]);
}

/// A workflow with its own branch, in a repository that has another one checked out.
pub(super) fn workflow_on(branch: &str) -> WorkflowProject {
    let flow = WorkflowProject::in_phase("06-implementation");
    create_repository(&flow.project.path, "main");
    if branch == "master" {
        git(&flow, &["branch", "-m", "master"]);
    } else if branch != "main" {
        git(&flow, &["checkout", "-q", "-b", branch]);
    }
    flow
}

pub(super) fn find_reason(flow: &WorkflowProject, command: &str) -> Option<String> {
    flow.find_denial(GUARD, &flow.project.bash(command))
}

/// The guard's reason, without the line about the override.
pub(super) fn assert_denied(flow: &WorkflowProject, command: &str) -> String {
    let reason = find_reason(flow, command).unwrap_or_else(|| panic!("allowed: {command}"));
    let (own, way_out) = reason.rsplit_once('\n').unwrap();
    assert!(way_out.contains("`provost override branch-guard REASON`"), "{reason}");
    own.to_owned()
}

pub(super) fn assert_allowed(flow: &WorkflowProject, command: &str) {
    assert_eq!(find_reason(flow, command), None, "{command}");
}

pub(super) fn set_work_branch(flow: &WorkflowProject, branch: &Value) {
    let mut state = started_workflow("06-implementation");
    state["active_workflow"]["git_branch"] = branch.clone();
    flow.write_state(&state);
}

#[test]
fn t01_a_commit_on_main_is_denied() {
    let flow = workflow_on("main");
    assert_eq!(
        assert_denied(&flow, "git commit -m x"),
        "[provost] `git commit -m x` denied: it lands on `main`, not on `feature/REQ-0004-x`. To fix: switch first: \
         `git checkout feature/REQ-0004-x`, then try again (`git checkout -b feature/REQ-0004-x` if the branch does \
         not exist yet). (COMMIT TO MAIN BLOCKED)"
    );
}

#[test]
fn t02_a_commit_on_master_is_denied() {
    assert_shown!("phases-branch-guard-master", assert_denied(&workflow_on("master"), "git commit -m x"));
}

#[test]
fn t03_a_commit_on_the_feature_branch_is_allowed() {
    assert_allowed(&workflow_on(WORK), "git commit -m x");
    assert_allowed(&workflow_on("main-2"), "git commit -m x");
    assert_allowed(&workflow_on("feature/main"), "git commit -m x");
}

#[test]
fn t04_without_a_workflow_a_commit_is_allowed() {
    let flow = workflow_on("main");
    for workflow in [json!(null), json!([]), json!("feature")] {
        flow.write_state(&json!({"active_workflow": workflow}));
        assert_allowed(&flow, "git commit -m x");
    }
    flow.write_state(&json!({}));
    assert_allowed(&flow, "git commit -m x");
}

#[test]
fn t05_without_a_branch_in_the_workflow_a_commit_is_allowed() {
    let flow = workflow_on("main");
    flow.write_state(&json!({"active_workflow": {"type": "feature", "current_phase": "06-implementation"}}));
    assert_allowed(&flow, "git commit -m x");
    for branch in [json!(null), json!("feature/x"), json!([])] {
        set_work_branch(&flow, &branch);
        assert_allowed(&flow, "git commit -m x");
    }
}

#[test]
fn t06_a_branch_that_is_not_active_does_not_count() {
    let flow = workflow_on("main");
    for status in [json!("merged"), json!("Active"), json!(true), json!(null)] {
        set_work_branch(&flow, &json!({"name": WORK, "status": status}));
        assert_allowed(&flow, "git commit -m x");
    }
}

#[test]
fn t07_other_commands_are_allowed() {
    let flow = workflow_on("main");
    for command in ["ls", "npm test", "git status", "git log --oneline", "git add .", "git diff", ""] {
        assert_allowed(&flow, command);
    }
}

#[test]
fn t08_a_push_is_allowed() {
    assert_allowed(&workflow_on("main"), "git push origin main");
}

#[test]
fn t09_without_a_state_a_commit_is_allowed() {
    let flow = workflow_on("main");
    fs::remove_file(flow.state_file()).unwrap();
    assert_allowed(&flow, "git commit -m x");
    for text in ["", "{", "[]", "null", "\u{0}\u{1}"] {
        flow.project.write_file(".isdlc/state.json", text);
        assert_allowed(&flow, "git commit -m x");
    }
}

#[test]
fn t10_without_a_repository_a_commit_is_allowed() {
    let flow = WorkflowProject::in_phase("06-implementation");
    assert_allowed(&flow, "git commit -m x");
    fs::remove_dir(flow.project.path.join(".git")).unwrap();
    assert_allowed(&flow, "git commit -m x");
}

#[test]
fn t11_an_amended_commit_is_a_commit() {
    assert_denied(&workflow_on("main"), "git commit --amend --no-edit");
}

#[test]
fn t12_a_commit_in_a_chain_is_a_commit() {
    let flow = workflow_on("main");
    for command in [
        "git add . && git commit -m x && git push",
        "git add .; git commit -m x",
        "git add . || git commit -m x",
        "npm test\ngit commit -m x",
        "(git commit -m x)",
        "if true; then git commit -m x; fi",
    ] {
        assert_denied(&flow, command);
    }
}

#[test]
fn t13_the_message_names_both_branches() {
    let flow = workflow_on("main");
    assert_shown!("phases-branch-guard", find_reason(&flow, "git commit -m x").unwrap());
    assert_shown!(
        "phases-branch-guard-uncertain",
        find_reason(&flow, "git checkout $B; git commit -m x").unwrap()
    );
    set_work_branch(&flow, &json!({"status": "active"}));
    assert_shown!("phases-branch-guard-without-a-name", find_reason(&flow, "git commit -m x").unwrap());
}

/// The test project checks the exit code of every call.
#[test]
fn t14_the_exit_code_is_0_for_any_input() {
    let flow = workflow_on("main");
    for input in ["", "null", "[]", "{", "{\"tool_name\":5}", "\u{0}"] {
        let answer = flow.project.run_compat(&[GUARD], input.as_bytes());
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{input}");
    }
}

#[test]
fn every_spelling_of_a_commit_is_denied() {
    let flow = workflow_on("main");
    let here = flow.project.path.display().to_string();
    for command in [
        "git -C . commit -m x",
        "git -c user.name=x commit -m x",
        "git --no-pager commit -m x",
        "git  commit -am 'a b'",
        "/usr/bin/git commit",
        "sudo git commit",
        "env A=1 git commit",
        "sh -c 'git commit -m x'",
        "git commit -m --dry-run",
        "git commit -m \"$(cat <<'E'\ntext\nE\n)\"",
        "g\\it com\"mit\" -m x",
        "mkdir -p sub && cd sub && git commit -m x",
        &format!("git -C {here} commit"),
        &format!("cd {here} && git commit"),
        &format!("git --git-dir={here}/.git commit"),
        "git checkout -- file && git commit",
        // Whether or not the directory exists and `cd` works.
        "cd src; git commit -m x",
        "cd src\ngit add -A\ngit commit -m x",
        &format!("cd {here}; git commit -m x"),
        "cd /nowhere; git commit -m x",
    ] {
        assert_denied(&flow, command);
    }
}

#[test]
fn a_line_that_only_looks_like_a_commit_is_allowed() {
    let flow = workflow_on("main");
    for command in [
        "echo git commit",
        "grep -r \"git commit\" .",
        "cat <<'E'\ngit commit\nE",
        "git commit-tree HEAD^{tree} -m x",
        "git commit --dry-run",
        "git log --grep commit",
        "git commit --help",
    ] {
        assert_allowed(&flow, command);
    }
}

#[test]
fn a_commit_in_another_repository_is_allowed() {
    let flow = workflow_on("main");
    let other = flow.project.home.join("other");
    create_repository(&other, "main");
    create_repository(&flow.project.path.join("nested"), "main");
    for command in [
        "cd ../other && git commit -m x",
        "git -C ../other commit -m x",
        "git -C nested commit -m x",
        "cd nested && git commit -m x",
        "git -C ../other switch main && git -C ../other commit",
        "git --git-dir=../other/.git commit",
        "cd ../other; git commit -m x",
        "cd ../other\ngit commit -m x",
    ] {
        assert_allowed(&flow, command);
    }
    assert_denied(&flow, "cd nested && git commit && cd .. && git commit");
}

#[test]
fn a_submodule_is_another_repository() {
    let flow = workflow_on("main");
    let other = flow.project.home.join("other");
    create_repository(&other, "main");
    git(&flow, &["submodule", "--quiet", "add", "../other", "sub"]);
    assert_allowed(&flow, "git -C sub commit -m x");
    assert_denied(&flow, "git commit -m x");
}

#[test]
fn a_switch_earlier_on_the_line_counts() {
    let flow = workflow_on("main");
    git(&flow, &["branch", WORK]);
    for command in [
        &format!("git checkout {WORK} && git commit -m x"),
        "git checkout -b feature/y && git add . && git commit -m x",
        "git switch -c feature/z && git commit",
    ] {
        assert_allowed(&flow, command);
    }
    let flow = workflow_on(WORK);
    for command in [
        "git checkout main && git commit -m x",
        "git switch master && git commit",
        "git checkout -B main && git commit",
    ] {
        assert_denied(&flow, command);
    }
}

#[test]
fn only_commits_concern_the_guard() {
    let flow = workflow_on("main");
    let project = &flow.project;
    for event in [
        project.write("a.txt", "git commit"),
        project.edit("a.txt", "a", "git commit"),
        project.multi_edit("a.txt", &[("a", "git commit")]),
        project.read("a.txt"),
        flow.delegation("software-developer", "git commit"),
    ] {
        assert_eq!(flow.find_denial(GUARD, &event), None, "{event}");
    }
    let event = project.call("mcp__shell__run", json!({"command": "git commit -m x"}));
    assert!(flow.find_denial(GUARD, &event).is_some(), "a command is one, whichever tool runs it");
}
