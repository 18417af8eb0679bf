//! Which branches of another repository a push changes.

use std::path::Path;

use crate::effect::Effect;
use crate::effect::git::{NamedBranch, Push, PushForce, PushTarget};
use crate::effects;

fn find_pushes(line: &str) -> Vec<Push> {
    let push = |effect| if let Effect::Push(push) = effect { Some(*push) } else { None };
    effects(line, Path::new("/p"), Some(Path::new("/h"))).into_iter().filter_map(push).collect()
}

/// `remote branches`: `.` for the checked-out branch, `^` for its upstream, `*` for all, `?` for an unknown one. `-` in
/// front of a branch deletes it, `+` forces it, and `~` forces it with a lease.
fn describe(push: &Push) -> String {
    let mut text = push.remote.clone().unwrap_or("default".into());
    for branch in &push.branches {
        let sign = match branch.force {
            PushForce::Never => "",
            PushForce::WithLease => "~",
            PushForce::Always => "+",
        };
        let name = match &branch.target {
            PushTarget::Upstream => "^",
            PushTarget::CheckedOut => ".",
            PushTarget::Named(name) => name,
            PushTarget::All => "*",
            PushTarget::Unknown => "?",
        };
        text += &format!(" {}{sign}{name}", if branch.is_deletion { "-" } else { "" });
    }
    text + if push.is_dry_run { " dry" } else { "" }
}

#[test]
fn the_words_of_a_push_say_which_branches_change() {
    for (line, wanted) in [
        ("git push", "default ^"),
        ("git push origin", "origin ^"),
        ("git push -u origin HEAD", "origin ."),
        ("git push origin @", "origin ."),
        ("git push origin main", "origin main"),
        ("git push origin a b", "origin a b"),
        ("git push origin a:b", "origin b"),
        ("git push origin HEAD:main", "origin main"),
        ("git push origin HEAD~2:refs/heads/x/y", "origin x/y"),
        ("git push origin refs/heads/x", "origin x"),
        ("git push origin +a:b c", "origin +b c"),
        ("git push origin :b", "origin -b"),
        ("git push --delete origin b c", "origin -b -c"),
        ("git push origin -d b", "origin -b"),
        ("git push -f", "default +^"),
        ("git push -uf origin x", "origin +x"),
        ("git push --force --no-force origin x", "origin x"),
        ("git push --force-with-lease", "default ~^"),
        ("git push --force-with-lease=main:abc origin x", "origin ~x"),
        ("git push --force-with-lease --force origin x", "origin +x"),
        ("git push --tags", "default"),
        ("git push origin tag v1", "origin"),
        ("git push origin refs/tags/v1 x", "origin x"),
        ("git push origin HEAD:refs/for/main", "origin"),
        ("git push --follow-tags", "default ^"),
        ("git push --all origin", "origin *"),
        ("git push --branches", "default *"),
        ("git push --mirror x", "x +*"),
        ("git push origin :", "origin *"),
        ("git push origin 'refs/heads/*:refs/heads/*'", "origin *"),
        ("git push -n origin x", "origin x dry"),
        ("git push --dry-run", "default ^ dry"),
        ("git push --repo=x", "x ^"),
        ("git push -o ci.skip origin x", "origin x"),
        ("git push origin $X", "origin ?"),
        ("git push origin HEAD:$X", "origin ?"),
        ("git push origin +$X", "origin +?"),
        ("git push $X", "default ?"),
        ("git push \"$X\" main", "default main"),
        ("git push git@host:a/b.git main", "git@host:a/b.git main"),
        ("git push /srv/x.git HEAD:main", "/srv/x.git main"),
        ("x | xargs git push origin", "origin ?"),
        ("git -C sub push origin x", "origin x"),
        ("bash -c 'git push origin x'", "origin x"),
        ("git -c alias.p='push origin' p x", "origin x"),
        ("sudo git push origin x", "origin x"),
    ] {
        let pushes: Vec<String> = find_pushes(line).iter().map(describe).collect();
        assert_eq!(pushes, [wanted], "{line}");
    }
    for line in ["git pull", "git push --help", "echo git push", "git stash push", "git commit -m 'git push'"]
    {
        assert_eq!(find_pushes(line), [], "{line}");
    }
}

#[test]
fn a_push_knows_the_branch_that_the_line_checks_out() {
    let pushes = find_pushes("cd a && git switch x && git push");
    let [push] = &*pushes else { panic!("{pushes:?}") };
    assert_eq!(push.site.repository.as_deref(), Some(Path::new("/p/a")));
    assert_eq!(push.site.named_branch(), NamedBranch::Named("x"));
}
