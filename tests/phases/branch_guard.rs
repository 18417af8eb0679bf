//! `branch-guard`, in real repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Flow, begun};

pub(super) const GUARD: &str = "branch-guard";
pub(super) const WORK: &str = "feature/REQ-0004-x";

/// Runs git with nothing of this machine's settings.
pub(super) fn git_in(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nonexistent");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.args(["-c", "user.name=n", "-c", "user.email=n@n", "-c", "protocol.file.allow=always"]);
    let output = command.args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(super) fn git(flow: &Flow, arguments: &[&str]) {
    git_in(&flow.project.path, arguments);
}

/// A repository whose first branch has this name and a commit.
pub(super) fn repository(directory: &Path, branch: &str) {
    fs::create_dir_all(directory).unwrap();
    git_in(directory, &["init", "-q", "-b", branch]);
    git_in(directory, &["commit", "-q", "--allow-empty", "-m", "first"]);
}

/// A workflow with a branch of its own, in a repository that is on this one.
pub(super) fn on(branch: &str) -> Flow {
    let flow = Flow::in_phase("06-implementation");
    repository(&flow.project.path, "main");
    if branch == "master" {
        git(&flow, &["branch", "-m", "master"]);
    } else if branch != "main" {
        git(&flow, &["checkout", "-q", "-b", branch]);
    }
    flow
}

pub(super) fn judged(flow: &Flow, command: &str) -> Option<String> {
    flow.judged(GUARD, &flow.project.bash(command))
}

/// The guard's own words, without the line that tells of the person's way out.
pub(super) fn denied(flow: &Flow, command: &str) -> String {
    let reason = judged(flow, command).unwrap_or_else(|| panic!("allowed: {command}"));
    let (own, way_out) = reason.rsplit_once('\n').unwrap();
    assert!(way_out.contains("`provost override branch-guard REASON`"), "{reason}");
    own.to_owned()
}

pub(super) fn allowed(flow: &Flow, command: &str) {
    assert_eq!(judged(flow, command), None, "{command}");
}

pub(super) fn with_branch(flow: &Flow, branch: &Value) {
    let mut state = begun("06-implementation");
    state["active_workflow"]["git_branch"] = branch.clone();
    flow.state(&state);
}

#[test]
fn t01_a_commit_on_main_is_denied() {
    let flow = on("main");
    assert_eq!(
        denied(&flow, "git commit -m x"),
        "[provost] `git commit -m x` denied: it lands on `main`, not on `feature/REQ-0004-x`. To fix: switch first: \
         `git checkout feature/REQ-0004-x`, then try again (`git checkout -b feature/REQ-0004-x` if the branch does \
         not exist yet). (COMMIT TO MAIN BLOCKED)"
    );
}

#[test]
fn t02_a_commit_on_master_is_denied() {
    let reason = denied(&on("master"), "git commit -m x");
    assert!(reason.contains("COMMIT TO MAIN BLOCKED") && reason.contains("`master`"), "{reason}");
}

#[test]
fn t03_a_commit_on_the_feature_branch_goes_on() {
    allowed(&on(WORK), "git commit -m x");
    allowed(&on("main-2"), "git commit -m x");
    allowed(&on("feature/main"), "git commit -m x");
}

#[test]
fn t04_without_a_workflow_it_goes_on() {
    let flow = on("main");
    for workflow in [json!(null), json!([]), json!("feature")] {
        flow.state(&json!({"active_workflow": workflow}));
        allowed(&flow, "git commit -m x");
    }
    flow.state(&json!({}));
    allowed(&flow, "git commit -m x");
}

#[test]
fn t05_without_a_branch_in_the_workflow_it_goes_on() {
    let flow = on("main");
    flow.state(&json!({"active_workflow": {"type": "feature", "current_phase": "06-implementation"}}));
    allowed(&flow, "git commit -m x");
    for branch in [json!(null), json!("feature/x"), json!([])] {
        with_branch(&flow, &branch);
        allowed(&flow, "git commit -m x");
    }
}

#[test]
fn t06_a_branch_that_is_not_active_does_not_count() {
    let flow = on("main");
    for status in [json!("merged"), json!("Active"), json!(true), json!(null)] {
        with_branch(&flow, &json!({"name": WORK, "status": status}));
        allowed(&flow, "git commit -m x");
    }
}

#[test]
fn t07_other_commands_go_on() {
    let flow = on("main");
    for command in ["ls", "npm test", "git status", "git log --oneline", "git add .", "git diff", ""] {
        allowed(&flow, command);
    }
}

#[test]
fn t08_a_push_goes_on() {
    allowed(&on("main"), "git push origin main");
}

#[test]
fn t09_without_a_state_it_goes_on() {
    let flow = on("main");
    fs::remove_file(flow.state_file()).unwrap();
    allowed(&flow, "git commit -m x");
    for text in ["", "{", "[]", "null", "\u{0}\u{1}"] {
        flow.project.file(".isdlc/state.json", text);
        allowed(&flow, "git commit -m x");
    }
}

#[test]
fn t10_without_a_repository_it_goes_on() {
    let flow = Flow::in_phase("06-implementation");
    allowed(&flow, "git commit -m x");
    fs::remove_dir(flow.project.path.join(".git")).unwrap();
    allowed(&flow, "git commit -m x");
}

#[test]
fn t11_an_amended_commit_is_one() {
    denied(&on("main"), "git commit --amend --no-edit");
}

#[test]
fn t12_a_commit_in_a_chain_is_one() {
    let flow = on("main");
    for command in [
        "git add . && git commit -m x && git push",
        "git add .; git commit -m x",
        "git add . || git commit -m x",
        "npm test\ngit commit -m x",
        "(git commit -m x)",
        "if true; then git commit -m x; fi",
    ] {
        denied(&flow, command);
    }
}

#[test]
fn t13_the_message_names_both_branches() {
    let flow = on("main");
    let reason = denied(&flow, "git commit -m x");
    assert!(reason.contains("`main`") && reason.contains(WORK), "{reason}");
    with_branch(&flow, &json!({"status": "active"}));
    let reason = denied(&flow, "git commit -m x");
    assert!(reason.contains("`main`") && reason.contains("the feature branch"), "{reason}");
}

/// The stage checks the exit code of every call.
#[test]
fn t14_whatever_comes_the_exit_code_is_0() {
    let flow = on("main");
    for input in ["", "null", "[]", "{", "{\"tool_name\":5}", "\u{0}"] {
        let answer = flow.project.script(&[GUARD], input.as_bytes());
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{input}");
    }
}

#[test]
fn every_spelling_of_a_commit_is_denied() {
    let flow = on("main");
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
        // Whether or not the directory is there, and the change works.
        "cd src; git commit -m x",
        "cd src\ngit add -A\ngit commit -m x",
        &format!("cd {here}; git commit -m x"),
        "cd /nowhere; git commit -m x",
    ] {
        denied(&flow, command);
    }
}

#[test]
fn what_only_looks_like_a_commit_goes_on() {
    let flow = on("main");
    for command in [
        "echo git commit",
        "grep -r \"git commit\" .",
        "cat <<'E'\ngit commit\nE",
        "git commit-tree HEAD^{tree} -m x",
        "git commit --dry-run",
        "git log --grep commit",
        "git commit --help",
    ] {
        allowed(&flow, command);
    }
}

#[test]
fn another_repository_is_none_of_its_business() {
    let flow = on("main");
    let other = flow.project.home.join("other");
    repository(&other, "main");
    repository(&flow.project.path.join("nested"), "main");
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
        allowed(&flow, command);
    }
    denied(&flow, "cd nested && git commit && cd .. && git commit");
}

#[test]
fn a_submodule_is_another_repository() {
    let flow = on("main");
    let other = flow.project.home.join("other");
    repository(&other, "main");
    git(&flow, &["submodule", "--quiet", "add", "../other", "sub"]);
    allowed(&flow, "git -C sub commit -m x");
    denied(&flow, "git commit -m x");
}

#[test]
fn what_the_line_switches_to_counts() {
    let flow = on("main");
    git(&flow, &["branch", WORK]);
    for command in [
        &format!("git checkout {WORK} && git commit -m x"),
        "git checkout -b feature/y && git add . && git commit -m x",
        "git switch -c feature/z && git commit",
    ] {
        allowed(&flow, command);
    }
    let flow = on(WORK);
    for command in [
        "git checkout main && git commit -m x",
        "git switch master && git commit",
        "git checkout -B main && git commit",
    ] {
        denied(&flow, command);
    }
}

#[test]
fn only_commits_concern_it() {
    let flow = on("main");
    let project = &flow.project;
    for event in [
        project.write("a.txt", "git commit"),
        project.edit("a.txt", "a", "git commit"),
        project.multi_edit("a.txt", &[("a", "git commit")]),
        project.read("a.txt"),
        flow.delegating("software-developer", "git commit"),
    ] {
        assert_eq!(flow.judged(GUARD, &event), None, "{event}");
    }
    let event = project.call("mcp__shell__run", json!({"command": "git commit -m x"}));
    assert!(flow.judged(GUARD, &event).is_some(), "a command is one, whichever tool runs it");
}
