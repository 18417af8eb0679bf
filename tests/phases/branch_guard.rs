//! `branch-guard`, in real repositories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Flow, begun};

const GUARD: &str = "branch-guard";
const WORK: &str = "feature/REQ-0004-x";

/// Runs git with nothing of this machine's settings.
fn git_in(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nonexistent");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.args(["-c", "user.name=n", "-c", "user.email=n@n", "-c", "protocol.file.allow=always"]);
    let output = command.args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn git(flow: &Flow, arguments: &[&str]) {
    git_in(&flow.project.path, arguments);
}

/// A repository whose first branch has this name and a commit.
fn repository(directory: &Path, branch: &str) {
    fs::create_dir_all(directory).unwrap();
    git_in(directory, &["init", "-q", "-b", branch]);
    git_in(directory, &["commit", "-q", "--allow-empty", "-m", "first"]);
}

/// A workflow with a branch of its own, in a repository that is on this one.
fn on(branch: &str) -> Flow {
    let flow = Flow::in_phase("06-implementation");
    repository(&flow.project.path, "main");
    if branch == "master" {
        git(&flow, &["branch", "-m", "master"]);
    } else if branch != "main" {
        git(&flow, &["checkout", "-q", "-b", branch]);
    }
    flow
}

fn judged(flow: &Flow, command: &str) -> Option<String> {
    flow.judged(GUARD, &flow.project.bash(command))
}

/// The guard's own words, without the line that tells of the person's way out.
fn denied(flow: &Flow, command: &str) -> String {
    let reason = judged(flow, command).unwrap_or_else(|| panic!("allowed: {command}"));
    let (own, way_out) = reason.rsplit_once('\n').unwrap();
    assert!(way_out.contains("`provost override branch-guard REASON`"), "{reason}");
    own.to_owned()
}

fn allowed(flow: &Flow, command: &str) {
    assert_eq!(judged(flow, command), None, "{command}");
}

fn with_branch(flow: &Flow, branch: &Value) {
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

/// Where main is one of the possible branches, the commit is denied with a fix that works.
#[test]
fn a_commit_that_may_land_on_main_is_denied() {
    let flow = on("main");
    git(&flow, &["branch", WORK]);
    let work = |line: &str| line.replace("WORK", WORK);
    for command in ["git switch $X && git commit", "cd $X && git commit", "git switch WORK; git commit"] {
        let reason = denied(&flow, &work(command));
        assert!(reason.contains("may land on `main`") || command.starts_with("cd"), "{reason}");
        assert!(reason.contains("in a call of its own") || command.starts_with("cd"), "{reason}");
    }
    for command in [
        "git switch WORK\ngit commit -m x",
        "git checkout WORK\ngit add -A\ngit commit -m x",
        "git switch WORK || git commit -m x",
        "git switch WORK || true; git commit -m x",
        "git checkout -b feature/y; git commit -m x",
        "git checkout WORK -- file && git commit -m x",
        "git checkout WORK file && git commit -m x",
        "git checkout README && git commit -m x",
        "git checkout HEAD && git commit -m x",
        "! git switch WORK && git commit -m x",
        "if git switch WORK; then echo y; fi; git commit -m x",
        "if false; then git switch WORK; fi; git commit -m x",
        "(git switch WORK); git commit -m x",
        "git switch WORK && git switch - && git commit -m x",
        "git switch WORK && git checkout main && git commit -m x",
        "git switch WORK 2>&1 | tail -1 && git commit -m x",
        "git switch WORK & git commit -m x",
        "for b in WORK; do git switch $b; done; git commit -m x",
        "c() { git commit -m x; }; c",
        "cd \"$(git rev-parse --show-toplevel)\" && git commit -m x",
        "cd $(git rev-parse --show-toplevel); git commit -m x",
        "pushd . && git commit -m x && popd",
        "cd ..; cd -; git commit -m x",
        "git rebase --onto main WORK; git commit -m x",
        "git -c alias.ci=commit ci -m x",
        "git config alias.ci 'commit -m x'; git ci",
        "echo x | xargs git commit -m",
        "G=git; $G commit -m x",
        "$(which git) commit -m x",
        "command git commit -m x",
        "env GIT_AUTHOR_NAME=x git commit -m x",
        "GIT_DIR=.git git commit -m x",
        "export GIT_DIR=.git; git commit -m x",
        "git --git-dir .git --work-tree . commit -m x",
        "GIT_DIR=/nowhere git status; git commit -m x",
        "git switch --detach; git commit -m x",
        "bash <<'E'\ngit commit -m x\nE",
        "eval 'git commit -m x'",
        "trap 'git commit -m x' EXIT",
        "cd /tmp; cd - ; git commit -m x",
        "true || cd /tmp; git commit -m x",
    ] {
        denied(&flow, &work(command));
    }
}

#[test]
fn a_line_that_surely_leaves_main_may_commit() {
    let flow = on("main");
    git(&flow, &["branch", WORK]);
    for command in [
        "git switch WORK && git commit -m x",
        "git checkout WORK && git add -A && git commit -m x && git push",
        "git checkout -q WORK && git commit -m x; git status",
        "git checkout -b feature/y && git commit -m x",
        "git switch -c feature/y main && git commit -m x",
        "git checkout -B feature/y && git commit -m x",
        "git switch --orphan feature/y && git commit -m x",
        "git switch WORK || exit 1; git commit -m x",
        "git switch WORK || { echo no; exit 1; }\ngit commit -m x",
        "git switch WORK || git switch -c WORK && git commit -m x",
        "if git switch WORK; then git commit -m x; fi",
        "if ! git switch WORK; then exit 1; fi; git commit -m x",
        "set -e\ngit switch WORK\ngit commit -m x",
        "set -euo pipefail; git switch WORK; git add -A; git commit -m x",
        "(git switch WORK) && git commit -m x",
        "{ git switch WORK && git commit -m x; }",
        "git branch feature/z && git checkout feature/z && git commit -m x",
        "git stash && git switch WORK && git stash pop && git commit -m x",
        "git pull && git checkout WORK && git commit -m x",
        "git fetch origin && git switch WORK && git merge origin/main && git commit -m x",
        "git switch WORK && cd src && git commit -m x",
        "git switch WORK && sh -c 'git commit -m x'",
        "git symbolic-ref HEAD refs/heads/WORK && git commit -m x",
        "git rebase main WORK && git commit -m x",
        "git switch --detach && git commit -m x",
        "git worktree add ../t WORK && git -C ../t commit -m x",
        "git worktree add -b feature/t ../t && cd ../t && git commit -m x",
        "w() { git switch WORK && git commit -m x; }; w",
        "for i in 1; do git switch WORK && git commit -m x; done",
        "git switch WORK && git merge main",
        "git switch WORK && git cherry-pick main",
        "git switch WORK && git rebase main",
    ] {
        allowed(&flow, &command.replace("WORK", WORK));
    }
}

#[test]
fn on_its_own_branch_a_workflow_may_do_as_ever() {
    let flow = on(WORK);
    git(&flow, &["branch", "feature/other"]);
    for command in [
        "git add -A && git commit -m 'merge main'; git status",
        "git checkout main -- file && git commit -m x",
        "git checkout main file; git commit -m x",
        "git stash; git commit -m x",
        "git stash; git commit -m x; git stash pop",
        "git diff --name-only | xargs git add && git commit -m x",
        "git merge main && git commit -m x",
        "git merge --no-ff main; git commit --amend --no-edit",
        "git pull --rebase; git commit -m x",
        "git pull origin main && git commit -m x",
        "git rebase main && git commit -m x",
        "git rebase origin/main; git push",
        "git cherry-pick abc1234 && git commit --amend --no-edit",
        "git revert HEAD --no-edit",
        "git reset --soft HEAD~1 && git commit -m x",
        "git reset --hard HEAD; git commit -m x",
        "git checkout . && git commit -m x",
        "git checkout -- src; git commit -m x",
        "git restore --staged . && git commit -m x",
        "git fetch origin main:main; git commit -m x",
        "git fetch origin; git log main..HEAD; git commit -m x",
        "git diff main; git log main; git commit -m x",
        "git lfs track '*.png' && git add -A && git commit -m x",
        "git branch -a; git commit -m x",
        "git branch -d feature/other; git commit -m x",
        "git tag v1 && git commit -m x",
        "cd \"$(git rev-parse --show-toplevel)\" && git commit -m x",
        "cd src; git commit -m x",
        "cd $X && git commit -m x",
        "if git diff --quiet; then echo none; else git commit -am x; fi",
        "git diff --cached --quiet || git commit -m x",
        "for f in a b; do git add $f; git commit -m \"$f\"; done",
        "(cd src && git add .) && git commit -m x",
        "npm test 2>&1 | tail -5 && git commit -am x",
        "npm start & git commit -am x",
        "git commit -m \"$(cat <<'E'\nswitch to main\nE\n)\"",
        "git commit -m 'git checkout main'",
        "git checkout feature/other; git commit -m x",
        "git checkout feature/other && git checkout - && git commit -m x",
        "git push origin HEAD:main",
        "git worktree add ../main-copy main && git commit -m x",
        "git show main:file > file; git commit -am x",
        "git update-ref refs/heads/backup HEAD; git commit -m x",
        "git branch -f feature/other HEAD; git commit -m x",
        "git bisect log; git commit -m x",
        "git am --abort; git commit -m x",
        "git merge --abort; git commit -m x",
    ] {
        allowed(&flow, command);
    }
}

/// Other commands that give main commits, as far as the words say it.
#[test]
fn main_gets_no_work_by_other_commands() {
    let flow = on("main");
    git(&flow, &["branch", WORK]);
    for command in [
        "git merge WORK",
        "git merge --no-ff -m x WORK",
        "git merge --continue",
        "git cherry-pick WORK",
        "git revert HEAD",
        "git am x.patch",
        "git pull . WORK",
        "git pull origin WORK",
        "git rebase WORK",
        "git reset --hard WORK",
        "git update-ref HEAD WORK",
        "git update-ref refs/heads/main WORK",
        "git push . WORK:main",
        "git switch WORK && git fetch . WORK:main",
        "git switch WORK && git branch -f main WORK",
        "git switch WORK && git branch -M main",
        "git switch WORK && git push . HEAD:refs/heads/main",
        "git switch WORK && git checkout main && git merge WORK",
    ] {
        denied(&flow, &command.replace("WORK", WORK));
    }
    for command in [
        "git pull",
        "git pull --ff-only",
        "git pull origin main",
        "git fetch origin",
        "git merge origin/main",
        "git merge --ff-only @{u}",
        "git merge --squash WORK",
        "git merge --abort",
        "git rebase origin/main",
        "git reset --hard origin/main",
        "git reset --hard HEAD~1",
        "git reset file",
        "git cherry-pick --abort",
        "git cherry-pick -n WORK",
        "git push origin WORK:main",
        "git branch -f WORK main",
        "git update-ref refs/heads/WORK main",
        "git switch WORK && git merge main",
    ] {
        allowed(&flow, &command.replace("WORK", WORK));
    }
    let flow = on(WORK);
    for command in [
        "git checkout main && git commit -m x",
        "git checkout main; git commit -m x",
        "git checkout main\ngit merge WORK",
        "git checkout - && git commit -m x",
        "git switch - && git merge WORK",
        "git checkout @{-1} && git commit -m x",
        "git switch master && git commit",
        "git checkout -B main && git commit",
        "git symbolic-ref HEAD refs/heads/main && git commit -m x",
        "git rebase WORK main && git commit -m x",
        "git rebase WORK main",
        "git branch -m main && git commit -m x",
        "git worktree add ../t main && git -C ../t commit -m x",
        "git worktree add ../t main && cd ../t && git commit -m x",
        "git checkout main || git commit -m x; git commit -m y",
        "bash -c 'git checkout main' && git commit -m x",
        "echo $(git checkout main); git commit -m x",
        "git co main && git commit -m x",
        "git commit -m x & git checkout main",
        "for i in 1 2; do git commit -m x; git checkout main; done",
    ] {
        denied(&flow, &command.replace("WORK", WORK));
    }
}

/// The first 200 characters, which is what a terminal shows, say what, why and how to fix it.
#[test]
fn a_terminal_shows_the_fix() {
    let flow = on("main");
    git(&flow, &["branch", WORK]);
    for command in [
        "git add -A && git commit -m 'a long message about many things in this project'",
        "git switch f; git commit",
    ] {
        let reason = denied(&flow, command);
        let shown: String = reason.chars().take(200).collect();
        assert!(shown.contains("git ") && shown.contains("`main`") && shown.contains("To fix: "), "{shown}");
        assert!(shown.contains("switch first"), "{shown}");
    }
}

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
