//! On which branch an effect happens: `on_branch` and `commits` follow the line up to there.

use super::{assert_decisions, decide, project_with_rules};
use crate::phases::branch_guard::{create_repository, git_in};
use crate::support::TestProject;

/// A project on `main` with the branch `feature`, a work tree on `tree`, and two other repositories.
fn project_with_branches(rules: &str) -> TestProject {
    let project = project_with_rules(rules);
    git_in(&project.path, &["branch", "feature"]);
    git_in(&project.path, &["worktree", "add", "-q", "../linked", "-b", "tree"]);
    create_repository(&project.path.with_file_name("other"), "main");
    create_repository(&project.path.with_file_name("topical"), "topic");
    project
}

#[track_caller]
fn assert_lines(project: &TestProject, expected: &str, lines: &[&str]) {
    let cases: Vec<_> = lines.iter().map(|line| (expected, project.bash(line))).collect();
    assert_decisions(project, &cases);
}

#[test]
fn on_branch_is_the_branch_where_and_when_a_program_starts() {
    let project = project_with_branches(
        "[[rule]]\nname = \"r\"\nruns = \"npm publish\"\non_branch = \"main\"\ndeny = \"no\"\n",
    );
    let leaves_main = [
        "git switch feature && npm publish",
        "git checkout -b new && npm publish",
        "git switch -c new && bash -c 'npm publish'",
        "git checkout --detach && npm publish",
        "cd ../topical && npm publish",
        "cd ../linked && npm publish",
        "cd /tmp && npm publish",
    ];
    assert_lines(&project, "silent", &leaves_main);
    let stays_on_main = [
        "npm publish",
        "npm publish && git switch feature",
        "git switch feature && git switch - && npm publish",
        "(cd ../topical && ls) && npm publish",
        "(git switch feature) | cat; git switch main && npm publish",
        "cd ../other && npm publish",
    ];
    assert_lines(&project, "deny rule:r", &stays_on_main);
    git_in(&project.path, &["switch", "-q", "feature"]);
    let enters_main = [
        "git switch main && npm publish",
        "git switch main\nnpm publish",
        "git checkout main && git pull && (npm publish)",
        "git switch main && if true; then npm publish; fi",
        "git switch main && bash -c 'npm publish'",
        "bash -c 'git switch main'; npm publish",
        "for i in 1 2; do npm publish; git switch main; done",
        "cd ../other && npm publish",
        "env -C ../other npm publish",
    ];
    assert_lines(&project, "deny rule:r", &enters_main);
    assert_lines(
        &project,
        "silent",
        &["npm publish", "cd ../linked && npm publish", "git checkout main -- a && npm publish"],
    );
    git_in(&project.path, &["checkout", "-q", "--detach", "main"]);
    assert_lines(&project, "silent", &["npm publish"]);
    git_in(&project.path, &["checkout", "-q", "--orphan", "newborn"]);
    assert_lines(&project, "silent", &["npm publish"]);
}

#[test]
fn on_branch_holds_for_files_and_for_every_git_command() {
    let project = project_with_branches(
        "[[rule]]\nname = \"r\"\nchanges = \"src/**\"\non_branch = \"main\"\ndeny = \"no\"\n",
    );
    project.write_file("src/a.rs", "x");
    assert_lines(&project, "deny rule:r", &["echo x > src/a.rs", "rm -r src"]);
    assert_lines(
        &project,
        "silent",
        &["git switch -c new && echo x > src/a.rs", "git switch feature && rm -r src"],
    );
    git_in(&project.path, &["switch", "-q", "feature"]);
    assert_lines(&project, "silent", &["echo x > src/a.rs"]);
    let enters_main =
        ["git switch main && echo x > src/a.rs", "git switch main && cat > src/b.rs <<EOF\nx\nEOF"];
    assert_lines(&project, "deny rule:r", &enters_main);

    project.write_file(
        "provost.toml",
        "[[rule]]\nname = \"r\"\nruns = \"git push|stash\"\non_branch = \"main\"\ndeny = \"no\"\n",
    );
    assert_lines(&project, "deny rule:r", &["git switch main && git push", "git -C ../other stash"]);
    assert_lines(&project, "silent", &["git push", "git -C ../topical push", "git -C ../linked stash"]);
}

#[test]
fn on_branch_is_the_branch_of_the_work_tree_that_holds_the_file() {
    let project = project_with_branches(
        "[[rule]]\nname = \"r\"\nwrites = \"**/*.rs\"\non_branch = \"tree\"\ndeny = \"no\"\n",
    );
    git_in(&project.path, &["worktree", "remove", "../linked"]);
    git_in(&project.path, &["worktree", "add", "-q", ".worktrees/linked", "tree"]);
    let file = project.path.join(".worktrees/linked/a.rs");
    assert_eq!(decide(&project, &project.write(&file, "x")), "deny rule:r");
    assert_eq!(decide(&project, &project.write(project.path.join("a.rs"), "x")), "silent");
}

#[test]
fn commits_land_where_the_line_has_gone() {
    let project = project_with_branches("[[rule]]\nname = \"r\"\ncommits = \"main\"\ndeny = \"no\"\n");
    let on_main = [
        "git commit",
        "git commit --amend --no-edit",
        "git switch feature && git switch main && git commit -m x",
        "git -C ../other commit -m x",
        "cd ../other && git commit -m x",
        "git --git-dir=../other/.git commit -m x",
        "git merge --continue",
        "git cherry-pick --continue",
        "git revert HEAD",
        "git am x.patch",
        "git checkout -B main && git commit -m x",
    ];
    assert_lines(&project, "deny rule:r", &on_main);
    let elsewhere = [
        "git checkout -b new && git commit -m x",
        "git -C ../linked commit -m x",
        "cd ../topical && git commit -m x",
        "git checkout --detach && git commit -m x",
        "git worktree add ../new -b new && cd ../new && git commit -m x",
        "git pull",
        "git rebase feature",
        "git merge --abort",
        "git merge --squash feature",
        "git merge --no-commit --no-ff feature",
        "git cherry-pick -n feature",
        "git am --show-current-patch",
        "git commit --help",
        "git commit --dry-run",
    ];
    assert_lines(&project, "silent", &elsewhere);
}
