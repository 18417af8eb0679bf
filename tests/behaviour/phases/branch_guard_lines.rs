//! `branch-guard` follows a command line to find where its commits can land.

use std::fs;

use super::branch_guard::{WORK, assert_allowed, assert_denied, create_repository, git, workflow_on};
use crate::support::assert_shown;

/// If main is one of the possible branches, the commit is denied, with a fix that works.
#[test]
fn a_commit_that_may_land_on_main_is_denied() {
    let flow = workflow_on("main");
    git(&flow, &["branch", WORK]);
    let work = |line: &str| line.replace("WORK", WORK);
    let commands = ["git switch $X && git commit", "cd $X && git commit", "git switch WORK; git commit"];
    let reasons = commands.map(|command| assert_denied(&flow, &work(command)));
    assert_shown!("phases-branch-guard-possible-branches", reasons.join("\n\n"));
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
        assert_denied(&flow, &work(command));
    }
}

#[test]
fn a_line_that_surely_leaves_main_may_commit() {
    let flow = workflow_on("main");
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
        assert_allowed(&flow, &command.replace("WORK", WORK));
    }
}

#[test]
fn on_its_own_branch_a_workflow_may_run_every_command() {
    let flow = workflow_on(WORK);
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
        assert_allowed(&flow, command);
    }
}

/// Other commands that give main commits, as far as their arguments say so.
#[test]
fn main_gets_no_commits_by_other_commands() {
    let flow = workflow_on("main");
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
        assert_denied(&flow, &command.replace("WORK", WORK));
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
        assert_allowed(&flow, &command.replace("WORK", WORK));
    }
    let flow = workflow_on(WORK);
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
        assert_denied(&flow, &command.replace("WORK", WORK));
    }
}

/// The first 200 characters, which is what a terminal shows, say what, why and how to fix it.
#[test]
fn a_terminal_shows_the_fix() {
    let flow = workflow_on("main");
    git(&flow, &["branch", WORK]);
    let commands = [
        "git add -A && git commit -m 'a long message about many things in this project'",
        "git switch f; git commit",
    ];
    let shown = commands.map(|command| assert_denied(&flow, command).chars().take(200).collect::<String>());
    assert_shown!("phases-branch-guard-terminal", shown.join("\n\n"));
}

/// A directory that only a part of a line enters, or that the line leaves again, is not where it commits.
#[test]
fn a_directory_counts_only_if_the_line_stays_there() {
    let flow = workflow_on("main");
    let other = flow.project.home.join("other");
    create_repository(&other, "main");
    fs::create_dir(flow.project.path.join("src")).unwrap();
    for command in [
        "cd src; cd ..; git commit -m x",
        "cd src; ls; cd ../\ngit commit -m x",
        "cd ../other | cat; git commit -m x",
        "echo x | cd ../other; git commit -m x",
        "{ cd ../other; } | cat; git commit -m x",
        "cd ../other & git commit -m x",
        "cd ../other && ls & git commit -m x",
        "cd nowhere; cd ../../other; git commit -m x",
        "cd ../other; git -C ../project commit -m x",
        "cd /; cd HERE; git commit -m x",
        "pushd ../other; popd; git commit -m x",
        "pushd ../other; pushd; git commit -m x",
        "pushd ../other; pushd +1; git commit -m x",
        "{ cd ../other; ls; } > /dev/null | cat; git commit -m x",
        "rm -rf ../other; cd ../other; git commit -m x",
        "mv ../other ../gone; cd ../other; git commit -m x",
    ] {
        assert_denied(&flow, &command.replace("HERE", flow.project.path.to_str().unwrap()));
    }
    for command in [
        "cd ../other; ls | cat; git commit -m x",
        "cd ../other; ls & git commit -m x",
        "cd ../other; bash -c 'git commit -m x'",
        "cd ..; cd other; git commit -m x",
        "pushd ../other; git commit -m x; popd",
        "rm -rf build; cd ../other; git commit -m x",
        "cd ../other; { git add -A; git commit -m x; }",
    ] {
        assert_allowed(&flow, command);
    }
}

#[test]
fn a_branch_that_the_line_creates_is_not_a_switch() {
    let flow = workflow_on(WORK);
    assert_denied(&flow, "git branch t && git switch -; git commit -m x");
    assert_denied(&flow, "git worktree add ../t -b t && git switch - && git commit -m x");
    assert_denied(&flow, "cat <<E\n$(git switch main)\nE\ngit commit -m x");
    assert_denied(&flow, ". /dev/stdin <<< 'git switch main'; git commit -m x");
    assert_denied(&flow, "source /dev/stdin <<'E'\ngit switch main\nE\ngit commit -m x");
}

#[test]
fn a_work_tree_that_the_line_creates_is_found_anywhere() {
    let flow = workflow_on(WORK);
    for command in [
        "git worktree add inside main && cd inside && git commit -m x",
        "D=$(mktemp -d); git worktree add $D/m main; cd $D/m; git commit -m x",
        "D=$(mktemp -d); git worktree add $D/m main; git -C $D/m commit -m x",
        "git worktree add ../t main; GIT_DIR=.git/worktrees/t git commit -m x",
        "git worktree add ../t main; git --git-dir=.git/worktrees/t commit -m x",
        "git worktree add ../t main; git worktree move ../t ../u; cd ../u; git commit -m x",
    ] {
        assert_denied(&flow, command);
    }
    assert_allowed(&flow, "git worktree add ../t main; git commit -m x");
    assert_allowed(&flow, "git worktree add inside -b t && cd inside && git commit -m x");
}
