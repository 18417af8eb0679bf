//! `branch-guard` in repositories of every kind: work trees, packed and broken references, hostile names.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::Flow;
use super::branch_guard::{GUARD, WORK, allowed, denied, git, on, with_branch};

#[test]
fn a_branch_without_a_commit_is_one() {
    for branch in ["main", "master"] {
        let flow = Flow::in_phase("06-implementation");
        git(&flow, &["init", "-q", "-b", branch]);
        assert!(denied(&flow, "git commit -m x").contains(&format!("`{branch}`")));
    }
    let flow = Flow::in_phase("06-implementation");
    git(&flow, &["init", "-q", "-b", WORK]);
    allowed(&flow, "git commit -m x");
}

#[test]
fn a_detached_head_is_no_branch() {
    let flow = on("main");
    git(&flow, &["checkout", "-q", "--detach"]);
    allowed(&flow, "git commit -m x");
}

#[test]
fn a_linked_work_tree_is_the_same_repository_on_its_own_branch() {
    let flow = on(WORK);
    git(&flow, &["worktree", "add", "-q", "../tree", "main"]);
    denied(&flow, "git -C ../tree commit -m x");
    denied(&flow, "cd ../tree && git commit -m x");
    allowed(&flow, "git commit -m x");
    let flow = on("main");
    git(&flow, &["worktree", "add", "-q", "-b", WORK, "../tree"]);
    allowed(&flow, "git -C ../tree commit -m x");
    denied(&flow, "git commit -m x");
}

#[test]
fn the_workflow_may_live_in_a_linked_work_tree() {
    let mut flow = on(WORK);
    git(&flow, &["worktree", "add", "-q", "../tree", "main"]);
    let tree = flow.project.home.join("tree");
    fs::create_dir(tree.join(".isdlc")).unwrap();
    fs::rename(flow.state_file(), tree.join(".isdlc/state.json")).unwrap();
    flow.project = flow.project.set("CLAUDE_PROJECT_DIR", &tree);
    let event = |command: &str| {
        let mut event = flow.project.bash(command);
        event["cwd"] = tree.to_str().unwrap().into();
        event
    };
    assert!(flow.judged(GUARD, &event("git commit -m x")).is_some());
    assert!(flow.judged(GUARD, &event("git -C ../project commit -m x")).is_none());
}

/// A branch that was merged and taken away does not hold anything up; one that never was is to be made.
#[test]
fn a_branch_that_is_gone_counts_no_more() {
    for merge in ["--ff-only", "--no-ff"] {
        let flow = on(WORK);
        git(&flow, &["commit", "-q", "--allow-empty", "-m", "work"]);
        git(&flow, &["checkout", "-q", "main"]);
        denied(&flow, "git commit -m x");
        git(&flow, &["merge", "-q", merge, WORK]);
        denied(&flow, "git commit -m x");
        git(&flow, &["branch", "-q", "-d", WORK]);
        allowed(&flow, "git commit -m x");
        git(&flow, &["branch", &format!("{WORK}-2")]);
        git(&flow, &["pack-refs", "--all"]);
        allowed(&flow, "git commit -m x");
    }
    let flow = on("main");
    denied(&flow, "git commit -m x");
    fs::remove_dir_all(flow.project.path.join(".git/logs")).unwrap();
    denied(&flow, "git commit -m x");
}

#[test]
fn a_packed_branch_is_still_there() {
    let flow = on(WORK);
    git(&flow, &["checkout", "-q", "main"]);
    git(&flow, &["pack-refs", "--all"]);
    assert!(!flow.project.path.join(".git/refs/heads").join(WORK).exists());
    denied(&flow, "git commit -m x");
}

#[test]
fn main_may_be_the_workflows_own_branch() {
    let flow = on("main");
    with_branch(&flow, &json!({"name": "main", "status": "active"}));
    allowed(&flow, "git commit -m x");
}

#[test]
fn a_hostile_name_stays_in_its_line() {
    let flow = on("main");
    for (name, shown) in [
        ("a b", "git checkout 'a b'"),
        ("x; rm -rf ~", "git checkout 'x; rm -rf ~'"),
        ("a\n\u{1b}[2Jb", "git checkout 'a \\u{1b}[2Jb'"),
        ("../../../HEAD", "git checkout ../../../HEAD"),
        ("refs/heads/feature/x", "feature/x"),
    ] {
        with_branch(&flow, &json!({"name": name, "status": "active"}));
        let reason = denied(&flow, "git commit -m x");
        assert!(reason.contains(shown) && !reason.contains(['\n', '\u{1b}']), "{reason}");
    }
    with_branch(&flow, &json!({"name": "y".repeat(100_000), "status": "active"}));
    assert!(denied(&flow, "git commit -m x").len() < 2_000);
}

#[test]
fn a_head_that_cannot_be_read_goes_on() {
    let flow = on("main");
    let head = flow.project.path.join(".git/HEAD");
    for bytes in [&b""[..], b"\xff\xfe\x00", b"ref: refs/heads/.invalid\n", &vec![b'x'; 1 << 20]] {
        fs::write(&head, bytes).unwrap();
        allowed(&flow, "git commit -m x");
    }
    fs::remove_file(&head).unwrap();
    allowed(&flow, "git commit -m x");
    fs::create_dir(&head).unwrap();
    allowed(&flow, "git commit -m x");
    fs::remove_dir(&head).unwrap();
    symlink("refs/heads/main", &head).unwrap();
    denied(&flow, "git commit -m x");
}

/// Where references are kept in a table, the files do not tell the branch.
#[test]
fn a_repository_with_a_table_of_references_goes_on() {
    let flow = Flow::in_phase("06-implementation");
    git(&flow, &["-c", "init.defaultRefFormat=reftable", "init", "-q", "-b", "main"]);
    let head = fs::read_to_string(flow.project.path.join(".git/HEAD")).unwrap();
    if head.contains(".invalid") {
        allowed(&flow, "git commit -m x");
    }
}

#[test]
fn a_linked_directory_of_git_is_followed() {
    let flow = on("main");
    let (inside, outside) = (flow.project.path.join(".git"), flow.project.home.join("store"));
    fs::rename(&inside, &outside).unwrap();
    symlink(&outside, &inside).unwrap();
    denied(&flow, "git commit -m x");
    fs::remove_file(&inside).unwrap();
    fs::write(&inside, format!("gitdir: {}\n", outside.display())).unwrap();
    denied(&flow, "git commit -m x");
    for text in ["gitdir: ", "gitdir: ../nowhere", "x", "gitdir: a\nb"] {
        fs::write(&inside, text).unwrap();
        allowed(&flow, "git commit -m x");
    }
}
