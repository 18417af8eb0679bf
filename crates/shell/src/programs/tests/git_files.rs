//! `git`: which files of the work tree its commands change.

use std::path::Path;

use super::{assert_mutates, list_changes};
use crate::effect::Effect;
use crate::effect::git::{Pathspec, TreeChangeKind};
use crate::effects;

/// The changes of work trees, as `kind directory: paths`, with `/` in front of paths from the top.
fn tree_changes(line: &str) -> Vec<String> {
    let show = |spec: &Pathspec| format!("{}{}", if spec.from_top { "/" } else { "" }, spec.pattern);
    let describe = |effect| {
        let Effect::ChangeTree(change) = effect else { return None };
        let kind = match &change.kind {
            TreeChangeKind::Restore => "restore".to_owned(),
            TreeChangeKind::Replace => "replace".to_owned(),
            TreeChangeKind::Remove => "remove".to_owned(),
            TreeChangeKind::Sparse { is_cone, patterns } => format!("sparse {is_cone} {patterns:?}"),
            TreeChangeKind::Clean { untracked, ignored, kept } => {
                let untracked = if *untracked { " untracked" } else { "" };
                let ignored = if *ignored { " ignored" } else { "" };
                let kept: Vec<String> = kept.iter().map(|pattern| format!(" -{pattern}")).collect();
                format!("clean{untracked}{ignored}{}", kept.concat())
            }
        };
        let paths: Vec<String> = change.paths.iter().map(show).collect();
        let excluded: Vec<String> = change.excluded.iter().map(|spec| format!(" !{}", show(spec))).collect();
        let directory = change.directory.display();
        Some(format!("{kind} {directory}: {}{}", paths.join(" "), excluded.concat()))
    };
    effects(line, Path::new("/p"), Some(Path::new("/h"))).into_iter().filter_map(describe).collect()
}

#[test]
fn named_files_are_written_and_deleted() {
    assert_mutates(&[
        ("git rm f", "delete /p/f"),
        ("git rm -rf --ignore-unmatch -- d f", "delete /p/f"),
        ("git -C d rm f", "delete /p/d/f"),
        ("git mv a b", "delete /p/a"),
        ("git mv a b", "Place { names: [\"a\"], to: \"/p/b\", tree: true }"),
        ("git checkout -- f", "write /p/f"),
        ("git checkout main f g", "write /p/g"),
        ("git checkout main -- f", "write /p/f"),
        ("git restore f", "write /p/f"),
        ("git restore -s main -W -S f", "write /p/f"),
        ("git stash push -m x f", "write /p/f"),
        ("git checkout-index -f f", "write /p/f"),
        ("git apply --include=f x", "write /p/f"),
        ("git apply --directory d x", "write /p/d"),
        ("git config -f f a.b c", "write /p/f"),
        ("git config --file f --unset a.b", "write /p/f"),
        ("git merge-file f a b", "write /p/f"),
        ("git bundle create f HEAD", "write /p/f"),
        ("git worktree remove d", "delete /p/d"),
        ("git worktree add -b x d main", "write /p/d"),
        ("git clone --depth 1 u d", "write /p/d"),
    ]);
}

#[test]
fn patterns_and_directories_change_the_work_tree() {
    for (line, wanted) in [
        ("git rm '*.toml'", "remove /p: *.toml"),
        ("git rm *.toml", "remove /p: *.toml"),
        ("git rm :/f", "remove /p: /f"),
        ("git rm ':(top,icase)f' x", "remove /p: /f x"),
        ("git rm -r . ':!a' ':^b' ':(exclude)c'", "remove /p: . !a !b !c"),
        ("git rm --pathspec-from-file=x", "remove /p: /"),
        ("git checkout .", "restore /p: ."),
        ("git checkout -- .", "restore /p: ."),
        ("git checkout main -- .", "replace /p: ."),
        ("git checkout feature", "restore /p: feature"),
        ("git checkout -f", "restore /p: "),
        ("git checkout :", "restore /p: /"),
        ("git switch -f main", "restore /p: "),
        ("git restore --sour=main .", "replace /p: ."),
        ("git restore ':!f'", "restore /p: / !f"),
        ("git -C d reset --hard", "restore /p/d: "),
        ("git stash", "restore /p: "),
        ("git stash -q", "restore /p: "),
        ("git stash save f", "restore /p: "),
        ("git stash push d", "restore /p: d"),
        ("git stash -u", "clean untracked /p: "),
        ("git stash push --all d", "clean untracked ignored /p: d"),
        ("git clean -fd", "clean untracked /p: ."),
        ("git clean -fdx d", "clean untracked ignored /p: d"),
        ("git clean -fX -e a --exclude=b", "clean ignored -a -b /p: ."),
        ("git read-tree -mu --reset HEAD", "restore /p: "),
        ("git checkout-index -af", "restore /p: "),
    ] {
        let changes = tree_changes(line);
        assert!(changes.iter().any(|change| change == wanted), "{line}: {changes:?}");
    }
}

#[test]
fn commands_that_keep_files_change_none() {
    for line in [
        "git rm --cached f",
        "git rm --cach -r .",
        "git rm -n f",
        "git rm -rn .",
        "git mv -n a b",
        "git restore --staged .",
        "git restore -S f",
        "git restore --stag f",
        "git clean -n",
        "git clean -fdn",
        "git clean --dry-run -x",
        "git stash list",
        "git stash pop",
        "git stash drop",
        "git stash --staged",
        "git reset",
        "git reset --soft HEAD~1",
        "git reset main -- f",
        "git checkout -b f",
        "git checkout --detach",
        "git switch main",
        "git read-tree HEAD",
        "git apply x",
        "git apply --check --include=f x",
        "git config -f f a.b",
        "git config -f f --get a.b",
        "git config -f f get a.b",
        "git config a.b c",
        "git merge-file -p a b c",
        "git add f",
        "git commit -m 'git rm f' -- f",
    ] {
        let changes = list_changes(line);
        let is_change = |effect: &&String| {
            ["write", "delete", "Place", "ChangeTree"].iter().any(|name| effect.starts_with(name))
        };
        assert_eq!(changes.iter().find(is_change), None, "{line}");
    }
}
