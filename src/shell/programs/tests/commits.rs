//! Where a commit lands.

use std::path::Path;

use crate::effect::{Branch, Effect};
use crate::shell::effects;

/// `directory branch` for each commit; `?` for what is not known, `.` for the current branch.
fn commits(line: &str) -> Vec<String> {
    let tell = |effect| match effect {
        Effect::Commit { repository, branch, dry_run, .. } => {
            let directory = repository.map_or("?".to_owned(), |path| path.display().to_string());
            let branch = match branch {
                Branch::Current => ".".to_owned(),
                Branch::Named(name) => name,
                Branch::Unknown => "?".to_owned(),
            };
            Some(format!("{directory} {branch}{}", if dry_run { " dry" } else { "" }))
        }
        _ => None,
    };
    effects(line, Path::new("/p"), Some(Path::new("/h"))).into_iter().filter_map(tell).collect()
}

fn all(lines: &[(&str, &str)]) {
    for (line, wanted) in lines {
        assert_eq!(commits(line), [*wanted], "{line}");
    }
}

#[test]
fn a_commit_is_found_with_its_repository() {
    all(&[
        ("git commit -m x", "/p ."),
        ("git -C x commit", "/p/x ."),
        ("git -C x -C y commit", "/p/x/y ."),
        ("git -C /x commit", "/x ."),
        ("git -C $X commit", "? ."),
        ("git -c user.name=x commit -am y", "/p ."),
        ("git --no-pager commit", "/p ."),
        ("cd y && git commit", "/p/y ."),
        ("cd y; git commit", "? ."),
        ("cd $X && git commit", "? ."),
        ("git --git-dir=/x/.git commit", "/x/.git ."),
        ("git --git-dir r/.git --work-tree w commit", "/p/r/.git ."),
        ("GIT_DIR=/x git commit", "? ."),
        ("sudo git commit", "/p ."),
        ("sh -c 'git commit'", "/p ."),
        ("echo \"$(git commit)\"", "/p ."),
        ("git add . && git commit -m 'a b' && git push", "/p ."),
    ]);
    for line in [
        "echo \"git commit\"",
        "grep 'git commit' f",
        "cat <<'E'\ngit commit\nE",
        "git commit-tree x",
        "git log --grep commit",
        "git commit --help",
        "echo git commit",
    ] {
        assert_eq!(commits(line), [""; 0], "{line}");
    }
}

#[test]
fn a_dry_run_is_told_from_a_message() {
    all(&[
        ("git commit --dry-run", "/p . dry"),
        ("git commit -am x --dry-run", "/p . dry"),
        ("git commit --dry", "/p . dry"),
        ("git commit -m --dry-run", "/p ."),
        ("git commit -am --dry-run", "/p ."),
        ("git commit --message --dry-run", "/p ."),
        ("git commit --dry-run --no-dry-run", "/p ."),
        ("git commit -- --dry-run", "/p ."),
        ("git commit $X --dry-run --made-up", "/p ."),
    ]);
}

#[test]
fn a_switch_names_the_branch_where_it_is_certain() {
    all(&[
        ("git switch f && git commit", "/p f"),
        ("git switch -c f && git commit", "/p f"),
        ("git switch --create f main && git commit", "/p f"),
        ("git checkout f && git commit", "/p f"),
        ("git checkout -b f/x && git add . && git commit", "/p f/x"),
        ("git checkout -qB f origin/main && git commit", "/p f"),
        ("git switch a && git switch b && git commit", "/p b"),
        ("git -C x switch f && git -C x commit", "/p/x f"),
        ("cd x && git switch f && git commit", "/p/x f"),
        ("sh -c 'git switch f && git commit'", "/p f"),
        ("git checkout -- f && git commit", "/p ."),
        ("git checkout main -- f && git commit", "/p ."),
        ("git checkout main f && git commit", "/p ."),
        ("git checkout . && git commit", "/p ."),
        ("git checkout -p && git commit", "/p ."),
        ("git switch --help && git commit", "/p ."),
        ("git commit && git switch f", "/p ."),
        ("git switch f && echo \"$(date)\" && git commit", "/p f"),
        ("git switch f && git commit -m \"$(cat <<'E'\ntext\nE\n)\"", "/p f"),
    ]);
}

#[test]
fn a_switch_that_is_not_certain_leaves_the_branch_unknown() {
    all(&[
        ("git switch f; git commit", "/p ?"),
        ("git switch f || git commit", "/p ?"),
        ("(git switch f) && git commit", "/p ?"),
        ("git switch f | x && git commit", "/p ?"),
        ("git switch $X && git commit", "/p ?"),
        ("git switch - && git commit", "/p ?"),
        ("git switch --detach x && git commit", "/p ?"),
        ("git checkout HEAD~1 && git commit", "/p ?"),
        ("git checkout origin/main && git commit", "/p ?"),
        ("git checkout README.md && git commit", "/p ?"),
        ("git checkout deadbeef && git commit", "/p ?"),
        ("git -C x switch f && git commit", "/p ?"),
        ("git switch f && cd x && git commit", "/p/x ?"),
        ("sh -c 'git switch f' && git commit", "/p ?"),
        ("git switch f && echo \"$(git switch g)\" && git commit", "/p ?"),
        ("git switch f && sh -c 'git commit'", "/p ?"),
        ("git symbolic-ref HEAD refs/heads/x && git commit", "/p ?"),
        ("git branch -m x && git commit", "/p ?"),
        ("git rebase x y && git commit", "/p ?"),
        ("git co x && git commit", "/p ?"),
        ("echo x | xargs git switch && git commit", "/p ?"),
        ("find . -exec git switch f \\; && git commit", "/p ?"),
        ("git $X && git commit", "/p ?"),
    ]);
}
