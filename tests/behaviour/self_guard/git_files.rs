//! Git commands that change files are judged by what they would do to a protected file.

use std::path::Path;
use std::process::Command;

use super::full;
use crate::support::TestProject;

pub(crate) fn git(directory: &Path, line: &str) {
    let status = Command::new("sh")
        .args(["-c", line])
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", "n"), ("GIT_AUTHOR_EMAIL", "n@localhost")])
        .envs([("GIT_COMMITTER_NAME", "n"), ("GIT_COMMITTER_EMAIL", "n@localhost")])
        .status()
        .unwrap();
    assert!(status.success(), "{line}");
}

/// A repository with every file committed, including the protected ones.
pub(crate) fn committed() -> TestProject {
    let project = full();
    project.write_file("src/main.rs", "fn main() {}\n");
    project.write_file("old.rs", "\n");
    project.write_file("sub/deep/x.txt", "\n");
    git(&project.path, "rm -rf .git && git init -q -b main && git add -Af . && git commit -q -m first");
    git(&project.path, "git branch feature");
    project
}

#[test]
fn a_protected_file_that_git_is_given_by_its_name_is_denied() {
    committed().assert_lines_denied(&[
        "git rm provost.toml",
        "git rm -f -q -- provost.toml",
        "git rm src/main.rs provost.toml",
        "git rm -rf .claude",
        "git rm -r .",
        "git rm 'prov*'",
        "git rm '*.toml'",
        "git rm prov*",
        "git rm -r '.cl*'",
        "git rm '*settings.json'",
        "git rm :/provost.toml",
        "git rm ':(top)provost.toml'",
        "git rm ':(icase)PROVOST.TOML'",
        "git rm ':(glob)**/provost.toml'",
        "cd src && git rm ../provost.toml",
        "cd src && git rm :/provost.toml",
        "cd src && git rm -r ..",
        "git -C src rm ../provost.toml",
        "git rm --pathspec-from-file=list",
        "echo provost.toml | git rm --pathspec-from-file=-",
        "git rm \"$PWD/provost.toml\"",
        "git mv provost.toml x.toml",
        "git mv -f src/main.rs provost.toml",
        "git mv .claude other",
        "git mv -k provost.toml src",
        "git mv src/main.rs .claude/settings.json",
        "git checkout -- provost.toml",
        "git checkout provost.toml",
        "git checkout HEAD provost.toml",
        "git checkout HEAD~3 -- provost.toml",
        "git checkout feature src/main.rs provost.toml",
        "git checkout feature -- .",
        "git checkout feature .",
        "git checkout feature -- .claude",
        "git checkout feature -- :/",
        "git checkout --ours provost.toml",
        "git checkout -p feature -- provost.toml",
        "git checkout -qf feature -- provost.toml",
        "git restore provost.toml",
        "git restore -s feature provost.toml",
        "git restore --source=feature .",
        "git restore --sou feature -- .claude",
        "git restore --staged --worktree provost.toml",
        "git restore -SW .claude",
        "git restore --pathspec-from-file=list --source feature",
        "git restore ':!src' --source=feature",
        "git stash push provost.toml",
        "git stash push -m x -- provost.toml",
        "git stash -- provost.toml",
        "git stash push -u -- .claude/settings.json",
        "git checkout-index -f provost.toml",
        "git apply --include=provost.toml x.patch",
        "git apply --directory=.claude x.patch",
        "git config -f provost.toml guards.self off",
        "git config --file=provost.toml --add a.b c",
        "git merge-file provost.toml a b",
        "git worktree remove --force ../project",
        "git bundle create provost.toml HEAD",
        "git --work-tree=. --git-dir=.git checkout -- provost.toml",
        "GIT_DIR=.git git checkout -- provost.toml",
        "sudo git checkout -- provost.toml",
        "sh -c 'git rm provost.toml'",
        "git -c alias.x='rm -f' x provost.toml",
    ]);
}

#[test]
fn a_change_to_a_protected_file_that_is_not_committed_is_not_taken_back() {
    let project = committed();
    project.write_file("provost.toml", "[engine]\n# the user's own change\n");
    project.assert_lines_denied(&[
        "git checkout -- .",
        "git checkout .",
        "git checkout -f",
        "git checkout -f feature",
        "git checkout -- :/",
        "cd src && git checkout -- ..",
        "git switch -f feature",
        "git switch --discard-changes feature",
        "git switch --disc feature",
        "git restore .",
        "git restore :/",
        "git restore '*.toml'",
        "git reset --hard",
        "git reset --har HEAD",
        "git reset -q --hard feature",
        "cd src; git reset --hard",
        "git -C sub/deep reset --hard",
        "git stash",
        "git stash -q",
        "git stash push",
        "git stash save x",
        "git stash -k",
        "git stash push -- ':!src'",
        "git read-tree -u --reset HEAD",
        "git checkout-index -fa",
        "git checkout-index --force --all",
    ]);
    project.assert_lines_allowed(&[
        "git checkout feature",
        "git checkout -- src",
        "git checkout -- . ':!provost.toml'",
        "git stash push src",
        "git stash push -- . ':(exclude)*.toml'",
        "git stash list",
        "git stash pop",
        "git stash show -p",
        "git restore --staged .",
        "git restore -S provost.toml",
        "git reset",
        "git reset --soft HEAD~1",
        "git reset HEAD provost.toml",
        "git add -A",
        "git diff provost.toml",
    ]);
}

#[test]
fn a_settings_file_that_is_missing_is_not_brought_back() {
    let project = committed();
    std::fs::remove_file(project.path.join(".claude/settings.json")).unwrap();
    project.assert_lines_denied(&["git checkout -- .claude", "git restore .", "git reset --hard"]);
}

#[test]
fn a_protected_file_that_is_not_tracked_is_not_cleaned_away() {
    let project = committed();
    git(&project.path, "git rm -q --cached provost.toml .claude/settings.json && git commit -qm less");
    project.assert_lines_denied(&[
        "git clean -fd",
        "git clean -f",
        "git clean -df .",
        "git clean -qfdx",
        "git clean --force -d",
        "git clean -i",
        "git -c clean.requireForce=false clean -d",
        "git clean -fdx .claude",
        "git clean -f 'prov*'",
        "git clean -f provost.toml",
        "git stash -u",
        "git stash push --include-untracked",
        "git stash push --inc -m x",
        "git stash -a",
        "git stash --all",
        "cd src && git clean -fdx ..",
        "cd src && git clean -fdx :/",
        "git clean -fd -e .claude",
    ]);
    project.assert_lines_allowed(&[
        "git clean -n",
        "git clean -fdn",
        "git clean -fdx --dry-run",
        "git clean -fd src",
        "cd src && git clean -fdx",
        "git clean -fdX",
        "git clean -fdx -e provost.toml -e .claude",
        "git stash",
        "git reset --hard",
    ]);
    project.write_file(".gitignore", "*.toml\n/.claude/\n");
    project.assert_lines_denied(&[
        "git clean -fdx",
        "git clean -fdX",
        "git clean -xff .",
        "git stash -a",
        "git stash push --all",
    ]);
    project.assert_lines_allowed(&["git clean -fd", "git clean -ffd .", "git stash -u"]);
    project.write_file(".gitignore", "*.toml\n!provost.toml\n.claude\n");
    project.assert_lines_denied(&["git clean -fd", "git stash -u"]);
}

#[test]
fn ordinary_work_with_git_passes() {
    committed().assert_lines_allowed(&[
        "git checkout feature",
        "git checkout -b work",
        "git checkout -B work origin/main",
        "git checkout -",
        "git checkout main && git pull",
        "git checkout -f feature",
        "git checkout -- src/main.rs",
        "git checkout -- .",
        "git checkout .",
        "git checkout feature -- src",
        "git checkout HEAD~1 src/main.rs",
        "git checkout --theirs src/main.rs",
        "git switch feature",
        "git switch -c work",
        "git switch -f feature",
        "git restore .",
        "git restore src/",
        "git restore src/main.rs old.rs",
        "git restore --source=HEAD~2 src",
        "git restore --staged .",
        "git restore --staged provost.toml",
        "git rm old.rs",
        "git rm -r src",
        "git rm -r --cached .",
        "git rm --cached provost.toml",
        "git rm --cach provost.toml",
        "git rm -n provost.toml",
        "git rm 'sub/*.txt'",
        "git mv old.rs new.rs",
        "git mv old.rs src/",
        "git mv -n provost.toml x",
        "git mv src lib",
        "git clean -fd",
        "git clean -fdx",
        "git clean -n",
        "git clean -fdX target",
        "git stash",
        "git stash -u",
        "git stash push -m 'wip: provost.toml'",
        "git stash push src/main.rs",
        "git stash pop",
        "git stash apply stash@{0}",
        "git stash drop",
        "git stash list",
        "git stash branch work",
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git reset --hard origin/main",
        "git reset HEAD~1",
        "git apply x.patch",
        "git apply --check --include=provost.toml x.patch",
        "git apply --stat x.patch",
        "git apply --directory=src x.patch",
        "git am x.patch",
        "git cherry-pick feature",
        "git merge feature",
        "git rebase main",
        "git pull --rebase",
        "git worktree add ../other feature",
        "git worktree remove ../other",
        "git submodule update --init",
        "git submodule deinit lib",
        "git config user.name x",
        "git config -f .gitmodules a.b c",
        "git config -f provost.toml --get a.b",
        "git add provost.toml && git commit -m x",
        "git diff -- provost.toml .claude",
        "git log -p -- provost.toml",
        "git show HEAD:provost.toml",
        "git clone https://example.com/x.git",
        "git clone https://example.com/x.git sub/x",
        "git init sub/new",
        "git commit -am 'git rm provost.toml'",
    ]);
}

#[test]
fn a_line_may_change_what_git_tracks_before() {
    committed().assert_lines_denied(&[
        "git rm -q --cached provost.toml && git commit -qm x && git stash -u",
        "git rm --cached provost.toml; git clean -f",
        "git update-index --force-remove provost.toml && git clean -fd",
        "git update-index --cacheinfo 100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,provost.toml; git checkout -- .",
        "git read-tree --empty; git clean -fdx",
    ]);
}

#[test]
fn another_repository_may_be_given_to_git() {
    let project = committed();
    let other = project.path.with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    git(&other, "git init -q -b main && echo off > provost.toml && git add . && git commit -q -m off");
    project.assert_lines_denied(&[
        "git --git-dir=../other/.git --work-tree=. checkout -f",
        "git --git-dir ../other/.git --work-tree . reset --hard",
        "GIT_DIR=../other/.git GIT_WORK_TREE=. git checkout -f",
        "GIT_DIR=../other/.git git reset --hard",
        "export GIT_DIR=../other/.git; git reset --hard",
        "cd ../other && git --work-tree=../project checkout -f",
    ]);
    project.assert_lines_allowed(&[
        "git -C ../other stash",
        "git -C ../other clean -fdx",
        "git -C ../other checkout -f",
    ]);
}
