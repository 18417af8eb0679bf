//! `branch-guard` in repositories of every kind: work trees, packed and broken references, hostile names.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::WorkflowProject;
use super::branch_guard::{GUARD, WORK, assert_allowed, assert_denied, git, set_work_branch, workflow_on};
use crate::support::assert_shown;

#[test]
fn a_branch_without_a_commit_is_a_branch() {
    for branch in ["main", "master"] {
        let flow = WorkflowProject::in_phase("06-implementation");
        git(&flow, &["init", "-q", "-b", branch]);
        assert!(assert_denied(&flow, "git commit -m x").contains(&format!("`{branch}`")));
    }
    let flow = WorkflowProject::in_phase("06-implementation");
    git(&flow, &["init", "-q", "-b", WORK]);
    assert_allowed(&flow, "git commit -m x");
}

#[test]
fn a_detached_head_is_not_a_branch() {
    let flow = workflow_on("main");
    git(&flow, &["checkout", "-q", "--detach"]);
    assert_allowed(&flow, "git commit -m x");
}

#[test]
fn a_linked_work_tree_is_the_same_repository_on_its_own_branch() {
    let flow = workflow_on(WORK);
    git(&flow, &["worktree", "add", "-q", "../tree", "main"]);
    assert_denied(&flow, "git -C ../tree commit -m x");
    assert_denied(&flow, "cd ../tree && git commit -m x");
    assert_allowed(&flow, "git commit -m x");
    let flow = workflow_on("main");
    git(&flow, &["worktree", "add", "-q", "-b", WORK, "../tree"]);
    assert_allowed(&flow, "git -C ../tree commit -m x");
    assert_denied(&flow, "git commit -m x");
}

#[test]
fn the_workflow_may_live_in_a_linked_work_tree() {
    let mut flow = workflow_on(WORK);
    git(&flow, &["worktree", "add", "-q", "../tree", "main"]);
    let tree = flow.project.home.join("tree");
    fs::create_dir(tree.join(".isdlc")).unwrap();
    fs::rename(flow.state_file(), tree.join(".isdlc/state.json")).unwrap();
    flow.project = flow.project.with_variable("CLAUDE_PROJECT_DIR", &tree);
    let event = |command: &str| {
        let mut event = flow.project.bash(command);
        event["cwd"] = tree.to_str().unwrap().into();
        event
    };
    assert!(flow.find_denial(GUARD, &event("git commit -m x")).is_some());
    assert!(flow.find_denial(GUARD, &event("git -C ../project commit -m x")).is_none());
}

/// A branch that was merged and deleted blocks nothing. A branch that never existed has to be created.
#[test]
fn a_deleted_workflow_branch_does_not_count() {
    for merge in ["--ff-only", "--no-ff"] {
        let flow = workflow_on(WORK);
        git(&flow, &["commit", "-q", "--allow-empty", "-m", "work"]);
        git(&flow, &["checkout", "-q", "main"]);
        assert_denied(&flow, "git commit -m x");
        git(&flow, &["merge", "-q", merge, WORK]);
        assert_denied(&flow, "git commit -m x");
        git(&flow, &["branch", "-q", "-d", WORK]);
        assert_allowed(&flow, "git commit -m x");
        git(&flow, &["branch", &format!("{WORK}-2")]);
        git(&flow, &["pack-refs", "--all"]);
        assert_allowed(&flow, "git commit -m x");
    }
    let flow = workflow_on("main");
    assert_denied(&flow, "git commit -m x");
    fs::remove_dir_all(flow.project.path.join(".git/logs")).unwrap();
    assert_denied(&flow, "git commit -m x");
}

#[test]
fn a_packed_branch_exists() {
    let flow = workflow_on(WORK);
    git(&flow, &["checkout", "-q", "main"]);
    git(&flow, &["pack-refs", "--all"]);
    assert!(!flow.project.path.join(".git/refs/heads").join(WORK).exists());
    assert_denied(&flow, "git commit -m x");
}

#[test]
fn main_may_be_the_workflows_own_branch() {
    let flow = workflow_on("main");
    set_work_branch(&flow, &json!({"name": "main", "status": "active"}));
    assert_allowed(&flow, "git commit -m x");
}

#[test]
fn a_hostile_branch_name_stays_on_its_line() {
    let flow = workflow_on("main");
    let names = ["a b", "x; rm -rf ~", "a\n\u{1b}[2Jb", "../../../HEAD", "refs/heads/feature/x"];
    let reasons = names.map(|name| {
        set_work_branch(&flow, &json!({"name": name, "status": "active"}));
        assert_denied(&flow, "git commit -m x")
    });
    assert_shown!("phases-branch-guard-hostile-names", reasons.join("\n\n"));
    set_work_branch(&flow, &json!({"name": "y".repeat(100_000), "status": "active"}));
    assert!(assert_denied(&flow, "git commit -m x").len() < 2_000);
}

#[test]
fn with_an_unreadable_head_a_commit_is_allowed() {
    let flow = workflow_on("main");
    let head = flow.project.path.join(".git/HEAD");
    for bytes in [&b""[..], b"\xff\xfe\x00", b"ref: refs/heads/.invalid\n", &vec![b'x'; 1 << 20]] {
        fs::write(&head, bytes).unwrap();
        assert_allowed(&flow, "git commit -m x");
    }
    fs::remove_file(&head).unwrap();
    assert_allowed(&flow, "git commit -m x");
    fs::create_dir(&head).unwrap();
    assert_allowed(&flow, "git commit -m x");
    fs::remove_dir(&head).unwrap();
    symlink("refs/heads/main", &head).unwrap();
    assert_denied(&flow, "git commit -m x");
}

/// With a reftable, the files do not say which branch is checked out.
#[test]
fn in_a_repository_with_a_reftable_a_commit_is_allowed() {
    let flow = WorkflowProject::in_phase("06-implementation");
    git(&flow, &["-c", "init.defaultRefFormat=reftable", "init", "-q", "-b", "main"]);
    let head = fs::read_to_string(flow.project.path.join(".git/HEAD")).unwrap();
    if head.contains(".invalid") {
        assert_allowed(&flow, "git commit -m x");
    }
}

#[test]
fn a_linked_directory_of_git_is_followed() {
    let flow = workflow_on("main");
    let (inside, outside) = (flow.project.path.join(".git"), flow.project.home.join("store"));
    fs::rename(&inside, &outside).unwrap();
    symlink(&outside, &inside).unwrap();
    assert_denied(&flow, "git commit -m x");
    fs::remove_file(&inside).unwrap();
    fs::write(&inside, format!("gitdir: {}\n", outside.display())).unwrap();
    assert_denied(&flow, "git commit -m x");
    for text in ["gitdir: ", "gitdir: ../nowhere", "x", "gitdir: a\nb"] {
        fs::write(&inside, text).unwrap();
        assert_allowed(&flow, "git commit -m x");
    }
}
