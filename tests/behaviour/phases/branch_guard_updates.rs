//! `branch-guard` and commands other than `git commit` that give main commits.

use super::WorkflowProject;
use super::branch_guard::{WORK, assert_allowed, assert_denied, git, workflow_on};

/// A workflow on its own branch, which is ahead of main.
fn workflow_ahead_of_main() -> WorkflowProject {
    let flow = workflow_on(WORK);
    git(&flow, &["commit", "-q", "--allow-empty", "-m", "work"]);
    git(&flow, &["tag", "v1"]);
    flow
}

#[test]
fn main_is_not_moved_by_creating_it_again() {
    let flow = workflow_ahead_of_main();
    for command in [
        "git checkout -B main",
        "git checkout -qBmain",
        "git checkout -B main HEAD",
        "git switch -C main",
        "git switch --force-create main WORK",
        "git worktree add -B main ../t",
        "git branch -C main",
        "git branch -D main; git branch main",
        "git branch -D main && git branch -m main",
        "git branch -m main old; git branch main HEAD",
        "git branch -d main; git checkout -b main",
        "bash -c 'git branch -D main'; git switch -c main",
        "git update-ref -d refs/heads/main; git branch main",
        "for b in main; do git branch -f $b HEAD; done",
        "git branch -f \"$(echo main)\" HEAD",
        "echo main | xargs -I{} git branch -f {} HEAD",
        "git checkout --detach main; git commit -m x; git checkout -B main",
    ] {
        assert_denied(&flow, &command.replace("WORK", WORK));
    }
    for command in [
        "git checkout -B main origin/main",
        "git branch -f main origin/main",
        "git branch main",
        "git checkout -b main",
        "git branch -D topic; git branch topic",
        "git checkout -B topic && git commit -m x",
        "git branch -f topic main",
    ] {
        assert_allowed(&flow, command);
    }
    // In a call of its own, main is already deleted.
    git(&flow, &["branch", "-q", "-D", "main"]);
    assert_denied(&flow, "git branch main");
    assert_denied(&flow, "git checkout -b main");
    assert_allowed(&flow, "git branch main origin/main");
}

#[test]
fn main_is_not_moved_by_plumbing() {
    let flow = workflow_ahead_of_main();
    for command in [
        "git push . HEAD:heads/main",
        "git send-pack . WORK:refs/heads/main",
        "git fetch . WORK:heads/main",
        "git symbolic-ref refs/heads/main refs/heads/WORK",
        "git symbolic-ref refs/heads/x refs/heads/main",
        "git commit-tree HEAD^{tree} -p main -m x | xargs git update-ref refs/heads/main",
        "git filter-branch --msg-filter cat main",
        "git filter-branch --msg-filter cat -- --all",
        "git rev-parse HEAD > .git/refs/heads/main",
        "cp .git/refs/heads/WORK .git/refs/heads/main",
        "ln -sf WORK .git/refs/heads/main",
        "cp ../saved/main .git/refs/heads/",
        "mv packed-refs .git",
        "git rev-parse HEAD | tee .git/refs/heads/main",
        "echo 'ref: refs/heads/main' > .git/HEAD; git commit -m x",
        "printf 'ref: refs/heads/main' | tee .git/HEAD && git commit -m x",
        "sed -i s#WORK#main# .git/HEAD; git commit -m x",
    ] {
        assert_denied(&flow, &command.replace("WORK", WORK));
    }
    let write = flow.project.write(".git/refs/heads/main", "0123");
    assert!(flow.find_denial("branch-guard", &write).is_some());
    for command in [
        "echo x > docs/HEAD; git commit -m x",
        "echo x > refs/heads/main",
        "git push . HEAD:backup",
        "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main",
    ] {
        assert_allowed(&flow, command);
    }
}

#[test]
fn main_gets_nothing_under_another_name() {
    let flow = workflow_ahead_of_main();
    git(&flow, &["switch", "-q", "main"]);
    for command in [
        "git am < ../x.patch",
        "cat ../x.patch | git am",
        "git merge WORK -m --abort",
        "git merge -m --squash WORK",
        "git rebase -",
        "git rebase @{-1}",
        "git rebase -f HEAD~1",
        "git rebase -i HEAD~1",
        "git rebase --exec 'git commit -m x' HEAD~1",
        "git reset --hard @{-1}",
        "git reset --hard HEAD@{1}",
        "git reset --hard WORK~0",
        "git reset --hard WORK^",
        "git reset --hard v1",
        "git reset --hard refs/heads/WORK --",
        "git rev-parse WORK | xargs git reset --hard",
        "git branch -u WORK",
        "git branch --set-upstream-to=WORK main",
        "git subtree add --prefix=z . WORK",
        "git switch WORK; git rebase HEAD main",
    ] {
        assert_denied(&flow, &command.replace("WORK", WORK));
    }
    for command in [
        "git reset --hard HEAD~1",
        "git reset --hard main~1",
        "git reset --hard ORIG_HEAD",
        "git reset --hard 0123456789",
        "git reset HEAD@{2}",
        "git reset :/",
        "git branch -u origin/main",
        "git am --abort",
        "git rebase origin/main",
    ] {
        assert_allowed(&flow, command);
    }
}
