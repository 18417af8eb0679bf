//! Where a commit lands.

use std::path::Path;

use crate::effect::Effect;
use crate::effect::git::{CommitMessage, GitSite, SwitchTarget, UpdateKind, UpdatedBranch};
use crate::effects;

/// The branches that may be checked out, the likeliest first: `.` for the one on which the line starts, `?` for an
/// unknown one. A switch in another directory has that directory after an `@`.
fn branches(site: &GitSite) -> String {
    let mut branches = Vec::new();
    for switch in site.switches.iter().rev() {
        let name = match &switch.target {
            SwitchTarget::New(name) | SwitchTarget::Existing { name, .. } => name.clone(),
            SwitchTarget::Previous(steps) => format!("-{steps}"),
            SwitchTarget::Start => ".".to_owned(),
            SwitchTarget::Detached => "detached".to_owned(),
            SwitchTarget::Unknown => "?".to_owned(),
            SwitchTarget::WorkTree { .. } => "tree".to_owned(),
            SwitchTarget::Created(_) => continue,
        };
        let is_here = switch.places.first() == site.repository.as_ref();
        let place = switch.places.first().map_or("?".to_owned(), |place| place.display().to_string());
        branches.push(if is_here { name } else { format!("{name}@{place}") });
        if switch.is_certain && is_here {
            branches.dedup();
            return branches.join("|");
        }
    }
    branches.push(".".to_owned());
    branches.dedup();
    branches.join("|")
}

/// `directory branches` for each commit, with `?` for an unknown directory.
fn commits(line: &str) -> Vec<String> {
    let describe = |effect| match effect {
        Effect::Commit { site, dry_run, .. } => {
            let directory =
                site.repository.as_ref().map_or("?".to_owned(), |path| path.display().to_string());
            Some(format!("{directory} {}{}", branches(&site), if dry_run { " dry" } else { "" }))
        }
        _ => None,
    };
    effects(line, Path::new("/p"), Some(Path::new("/h"))).into_iter().filter_map(describe).collect()
}

fn assert_commits(lines: &[(&str, &str)]) {
    for (line, wanted) in lines {
        assert_eq!(commits(line), [*wanted], "{line}");
    }
}

#[test]
fn a_commit_has_its_repository() {
    assert_commits(&[
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
        ("GIT_DIR=/x git commit", "/x ."),
        ("GIT_DIR=$X git commit", "? ."),
        ("GIT_DIR=/x git status; git commit", "/p ."),
        ("export GIT_DIR=/x; git commit", "/x ."),
        ("GIT_DIR=/x; git commit", "? ."),
        ("GIT_WORK_TREE=/x git commit", "/p ."),
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
fn a_dry_run_is_not_a_message() {
    assert_commits(&[
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
fn a_certain_switch_names_the_branch() {
    assert_commits(&[
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
fn every_outcome_of_a_line_is_followed() {
    assert_commits(&[
        // A command that may fail may have done nothing.
        ("git switch f; git commit", "/p f|."),
        ("git switch f\ngit commit", "/p f|."),
        ("git switch f || git commit", "/p ."),
        ("git switch f || git switch -c f && git commit", "/p f"),
        ("git switch f || exit 1; git commit", "/p f"),
        ("git switch f || { echo no; exit 1; }; git commit", "/p f"),
        ("git switch f || true; git commit", "/p f|."),
        ("git switch f && true; git commit", "/p f|."),
        ("! git switch f && git commit", "/p ."),
        ("! git switch f || git commit", "/p f"),
        ("set -e\ngit switch f\ngit commit", "/p f"),
        ("set -euo pipefail; git switch f; git commit", "/p f"),
        ("set -e; set +e; git switch f; git commit", "/p f|."),
        ("set -o errexit; git switch f; git commit", "/p f"),
        ("git switch f | cat; git commit", "/p f|."),
        ("git switch f 2>&1 | tail -1 && git commit", "/p f|."),
        ("yes | git switch f && git commit", "/p f"),
        ("git switch f | git commit", "/p f|."),
        ("git commit | git switch f", "/p f|."),
        ("git switch f & git commit", "/p f|."),
        ("git commit & git switch f", "/p f|."),
        ("sleep 1 && git commit & git switch f", "/p f|."),
        ("git switch f & wait; git commit", "/p f|."),
        // Conditions.
        ("if git switch f; then git commit; fi", "/p f"),
        ("if git switch f; then :; else git commit; fi", "/p ."),
        ("if ! git switch f; then exit 1; fi; git commit", "/p f"),
        ("if x; then git switch f; fi; git commit", "/p f|."),
        ("if x; then git switch f && git commit; fi", "/p f"),
        ("if x; then git switch a; else git switch b; fi; git commit", "/p b|a|."),
        ("if x; then git switch a; elif y; then git commit; fi", "/p ."),
        ("case x in a) git switch f;; esac; git commit", "/p f|."),
        ("case x in a) git switch f;; b) git commit;; esac", "/p ."),
        ("case x in a) git switch f;& b) git commit;; esac", "/p f|."),
        ("x && git switch f; git commit", "/p f|."),
        ("x || git switch f; git commit", "/p f|."),
        ("while x; do git commit; git switch f; done", "/p f|."),
        ("for i in 1 2; do git commit; git switch f; done", "/p f|."),
        ("for i in 1 2; do git switch f && git commit; git switch g; done", "/p f"),
        ("for i in 1 2; do git switch f; done; git commit", "/p f|."),
        ("until git switch f; do sleep 1; done; git commit", "/p f"),
        ("while ! git switch f; do sleep 1; done; git commit", "/p f"),
        ("while true; do git switch f && break; done; git commit", "/p f"),
        // A branch that a nested shell checks out stays checked out.
        ("(git switch f) && git commit", "/p f"),
        ("(git switch f); git commit", "/p f|."),
        ("(git switch f && false) || git commit", "/p f|."),
        ("{ git switch f; } && git commit", "/p f"),
        ("{ git switch f && git commit; }", "/p f"),
        ("(cd x && git switch f) && git commit", "/p f@/p/x|."),
        ("sh -c 'git switch f' && git commit", "/p f"),
        ("sh -c 'git switch f; true' && git commit", "/p f|."),
        ("git switch f && sh -c 'git commit'", "/p f"),
        ("bash <<'E' && git commit\ngit switch f\nE", "/p f"),
        ("eval 'git switch f' && git commit", "/p f"),
        ("echo \"$(git switch f)\" && git commit", "/p f|."),
        ("echo `git switch f` && git commit", "/p f|."),
        ("git switch f && echo \"$(git switch g)\" && git commit", "/p g|f"),
        ("trap 'git commit' EXIT; git switch f", "/p f|."),
        ("c() { git commit; }; git switch f; c", "/p f|."),
        ("s() { git switch f; }; s; git commit", "/p f|."),
        ("w() { git switch -c f && git commit; }; w", "/p f"),
        ("cat x | xargs git switch && git commit", "/p ?"),
        ("git diff --name-only | xargs git add && git commit", "/p ."),
        ("find . -exec git switch f \\; && git commit", "/p f|."),
        ("timeout 5 git switch f && git commit", "/p f"),
        ("sudo git switch f && git commit", "/p f"),
        // Other targets.
        ("git switch - && git commit", "/p -1"),
        ("git checkout @{-2} && git commit", "/p -2"),
        ("git switch f && git switch - && git commit", "/p ."),
        ("git switch f && git switch g && git switch - && git commit", "/p f"),
        ("git switch f; git switch - && git commit", "/p ?"),
        ("git switch $X && git commit", "/p ?"),
        ("git switch --detach x && git commit", "/p detached"),
        ("git switch --orphan f && git commit", "/p f"),
        ("git switch -t origin/f && git commit", "/p f"),
        ("git symbolic-ref HEAD refs/heads/x && git commit", "/p x"),
        ("git symbolic-ref --short HEAD && git commit", "/p ."),
        ("git branch -m x && git commit", "/p x"),
        ("git branch -m a b && git commit", "/p b|."),
        ("git rebase x y && git commit", "/p y"),
        ("git rebase --onto a b c && git commit", "/p c"),
        ("git rebase main && git commit", "/p ."),
        ("git rebase main feature; git commit", "/p feature|."),
        ("git rebase --continue && git commit", "/p ?"),
        ("git stash branch f && git commit", "/p f"),
        ("git bisect reset && git commit", "/p ?"),
        ("git worktree add ../t main && git commit", "/p tree@/p/../t|."),
        ("git -C x switch f && git commit", "/p f@/p/x|."),
        ("git switch f && cd x && git commit", "/p/x f@/p|."),
        ("git co main && git commit", "/p main|."),
        ("git co f && git commit", "/p ."),
        ("git -c alias.x='switch f' x && git commit", "/p f"),
        ("git config alias.x 'switch f'; git x && git commit", "/p f"),
        ("git -c alias.x=commit x -m y", "/p ."),
        ("git -c alias.x='!git commit' x -m y", "/p ."),
        ("git $X && git commit", "/p ?|."),
        ("G=git; $G commit -m x", "/p ."),
        ("$(which git) commit -m x", "/p ."),
        ("\"$GIT\" commit -m x", "/p ."),
    ]);
}

/// After very many switches, any branch may be checked out.
#[test]
fn too_many_switches_are_one_to_an_unknown_branch() {
    let line = "git switch a; ".repeat(1000) + "git commit";
    assert!(commits(&line)[0].contains('?'), "{:?}", commits(&line));
    let line = format!("{}git switch a; git commit{}", "for i in 1; do ".repeat(50), "; done".repeat(50));
    assert_eq!(commits(&line), ["/p a|."]);
    let line = format!("{}git switch a && git commit{}", "{ ".repeat(50), "; }".repeat(50));
    assert_eq!(commits(&line), ["/p a"]);
}

/// `command branch from` for each other update of a branch.
#[test]
fn other_branch_updates_are_found() {
    let updates = |line: &str| {
        let describe = |effect| match effect {
            Effect::UpdateBranch(update) if update.kind == UpdateKind::Moves => {
                let branch = match &update.branch {
                    UpdatedBranch::CheckedOut => branches(&update.site),
                    UpdatedBranch::Named(name) => name.clone(),
                    UpdatedBranch::Unknown => "?".into(),
                };
                Some(format!("{} {branch} {}", update.command, update.from.as_deref().unwrap_or("-")))
            }
            _ => None,
        };
        effects(line, Path::new("/p"), None).into_iter().filter_map(describe).collect::<Vec<_>>().join(", ")
    };
    for (line, wanted) in [
        ("git merge f", "merge . f"),
        ("git merge --no-ff -m 'x y' f", "merge . f"),
        ("git switch main && git merge f", "merge main f"),
        ("git merge --squash f", ""),
        ("git merge --no-commit f", "merge . f"),
        ("git merge --abort", ""),
        ("git merge --continue", "merge . -"),
        ("git cherry-pick f", "cherry-pick . -"),
        ("git cherry-pick -n f", ""),
        ("git cherry-pick --abort", ""),
        ("git revert HEAD", "revert . -"),
        ("git revert --no-commit HEAD", ""),
        ("git am < x.patch", "am . -"),
        ("git am x.patch", "am . -"),
        ("git am --abort", ""),
        ("git pull", ""),
        ("git pull --rebase", ""),
        ("git pull origin f", "pull . origin/f"),
        ("git pull . f", "pull . f"),
        ("git pull origin f:main", "pull main origin/f, pull . origin/f"),
        ("git fetch origin", ""),
        ("git fetch . f:main", "fetch main f"),
        ("git fetch origin +f:refs/heads/main", "fetch main origin/f"),
        ("git push origin f:main", ""),
        ("git push . f:main", "push main f"),
        ("git push . HEAD:refs/heads/main", "push main HEAD"),
        ("git branch -f main f", "branch -f main f"),
        ("git branch --force main", "branch -f main HEAD"),
        ("git branch -C main", "branch -C main HEAD"),
        ("git branch -f $X f", "branch -f ? f"),
        ("git checkout -B main", "checkout main HEAD"),
        ("git switch -C main f", "switch main f"),
        ("git worktree add -B main ../t f", "worktree add main f"),
        ("git push . f:heads/main", "push main f"),
        ("git send-pack . f:refs/heads/main", "push main f"),
        ("git merge f -m --abort", "merge . f"),
        ("git rebase -x true main f", "rebase f -"),
        ("git rebase HEAD f", "rebase f -"),
        ("git rebase -i HEAD~2", "rebase . -"),
        ("git reset --hard f --", "reset . f"),
        ("cat f | xargs git reset --hard", "reset . -"),
        ("git symbolic-ref refs/heads/main refs/heads/f", "symbolic-ref main -, symbolic-ref f -"),
        ("git branch -M main", "branch -M main HEAD"),
        ("git branch -C f main", "branch -C main f"),
        ("git branch f", ""),
        ("git branch -d main", ""),
        ("git update-ref refs/heads/main f", "update-ref main f"),
        ("git update-ref HEAD f", "update-ref . f"),
        ("git update-ref -d refs/heads/f", ""),
        ("git reset --hard f", "reset . f"),
        ("git reset -- f", ""),
        ("git reset", ""),
        ("git rebase f", "rebase . f"),
        ("git rebase f g", "rebase g f"),
        ("git rebase --onto f main", "rebase . f"),
    ] {
        assert_eq!(updates(line), wanted, "{line}");
    }
}

#[test]
fn a_commit_has_the_message_that_the_words_give() {
    let message = |line: &str| {
        let found = effects(line, Path::new("/p"), None).into_iter().find_map(|effect| match effect {
            Effect::Commit { message, .. } => Some(message),
            Effect::UpdateBranch(update) if update.makes_commits() => Some(update.message),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{line}"))
    };
    for (line, wanted) in [
        ("git commit -m x", "x"),
        ("git commit -am 'fix: a b'", "fix: a b"),
        ("git commit --message=x", "x"),
        ("git commit --message x --no-verify", "x"),
        ("git commit -mx -m 'b\nc'", "x\n\nb\nc"),
        ("git commit -m \"$(cat <<'EOF'\nfeat: a\n\nwhy `b` $c\nEOF\n)\"", "feat: a\n\nwhy `b` $c"),
        ("git add . && git commit -m \"$(cat <<EOF\nfeat: a\n\nb\nEOF\n)\" && git push", "feat: a\n\nb"),
        ("git commit -m \"$(cat <<-'E'\n\ta\n\tE\n)\"", "a"),
        ("git commit -F - <<'EOF'\nfeat: a\n\nb\nEOF", "feat: a\n\nb"),
        ("git commit -m \"$(echo 'fix: a')\"", "fix: a"),
        ("git commit -m \"$(printf '%s\\n' a b)\"", "a\nb"),
        ("git commit -m \"a $(cat <<'EOF'\nb\nEOF\n)\"", "a b"),
        ("git commit -m \"$(echo a $(echo b))\"", "a b"),
        ("M=$(echo a); git commit -m \"$M b\"", "a b"),
        ("git commit --file=- <<< x", "x"),
        ("git -C d commit -qF- <<EOF\na\nEOF", "a"),
        ("echo x | git commit -F -", "x"),
        ("git merge --no-ff -m 'merge b' b", "merge b"),
        ("git merge -F - b <<< x", "x"),
        ("bash -c 'git commit -m x'", "x"),
    ] {
        assert_eq!(message(line), CommitMessage::Known(wanted.into()), "{line}");
    }
    for (line, wanted) in [
        ("git commit -F msg.txt", "/p/msg.txt"),
        ("cd d && git commit -F ../msg.txt", "/p/d/../msg.txt"),
        ("git commit -F - < msg.txt", "/p/msg.txt"),
        ("cat msg.txt | git commit -F -", "/p/msg.txt"),
        ("git commit -m \"$(cat msg.txt)\"", "/p/msg.txt"),
        ("git commit -m \"$(<msg.txt)\"", "/p/msg.txt"),
        ("git commit -m \"$(cat < /m)\"", "/m"),
        ("git merge -F msg.txt b", "/p/msg.txt"),
    ] {
        assert_eq!(message(line), CommitMessage::InFile(wanted.into()), "{line}");
    }
    for line in [
        "git commit -m \"$X\"",
        "git commit -m a -m \"$X\"",
        "git commit -m \"$(x)\"",
        "git commit -m \"$(cat <<EOF\n$X\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\nb\nEOF\necho c\n)\"",
        "git commit -m \"$(echo a; echo b)\"",
        "git commit -m \"$(echo a >&2)\"",
        "git commit -m \"$(echo a | tr a b)\"",
        "git commit -m \"$(true && echo a)\"",
        "git commit -m \"$(cat a b)\"",
        "git commit -F \"$X\"",
        "date | git commit -F -",
        "git commit -F - <<EOF\n$X\nEOF",
    ] {
        assert_eq!(message(line), CommitMessage::Unknown, "{line}");
    }
    for line in [
        "git commit",
        "git commit --amend --no-edit",
        "git revert HEAD",
        "git cherry-pick a",
        "git am < patch",
    ] {
        assert_eq!(message(line), CommitMessage::NotGiven, "{line}");
    }
}
