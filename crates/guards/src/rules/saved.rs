//! Whether git has everything that a command would discard: `unless = "saved"`.
//!
//! The disk decides: changes that are not committed, files that are not tracked, commits that no other branch has, and
//! commits that a remote has. Where the disk does not tell, something may be lost.

use crate::prelude::*;
use std::path::{Component, Path, PathBuf};

use super::scene::{CommandEffects, Scene};
use provost_core::effect::Effect;
use provost_core::effect::git::{
    GitSite, Push, PushForce, PushTarget, TreeChange, TreeChangeKind, UpdateKind, UpdatedBranch,
};
use provost_core::places::is_within;
use provost_core::workspace::git_repository::{Head, Repository};
use provost_core::workspace::work_tree::WorkTrees;

/// Branches that a whole team pushes to.
const MAIN_BRANCHES: &[&str] = &["main", "master", "trunk", "develop", "production"];

pub(super) fn is_saved(command: &CommandEffects<'_>, scene: &Scene<'_>) -> bool {
    !scene.is_example && judge(command, scene) == Some(true)
}

/// `None`: the disk does not tell.
fn judge(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Option<bool> {
    let (name, words) = find_git_command(command)?;
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&&**word));
    let mut is_judged = false;
    for effect in &command.effects {
        let is_safe = match effect {
            Effect::ChangeTree(change) => !discards_work(change, (name, words), command, scene)?,
            Effect::UpdateBranch(update) if name == "reset" => {
                let repository = find_repository(&update.site, scene)?;
                let target = update.from.as_deref();
                let stays = has(&["--"]) || target.is_none_or(|target| repository.is_head(target));
                stays || repository.is_head_saved()?
            }
            // Outside a repository, nothing is pushed.
            Effect::UpdateBranch(update) if name == "rebase" && is_no_repository(&update.site, scene) => true,
            Effect::UpdateBranch(update) if name == "rebase" => {
                let repository = find_repository(&update.site, scene)?;
                let onto = update.from.as_deref().or_else(|| find_operand(words));
                match onto {
                    _ if has(&["--root"]) => return None,
                    Some(onto) => !repository.has_pushed_commits_beyond(onto)?,
                    None => true,
                }
            }
            Effect::UpdateBranch(update)
                if update.kind == UpdateKind::Moves
                    && matches!(name, "branch" | "checkout" | "switch" | "update-ref") =>
            {
                let UpdatedBranch::Named(branch) = &update.branch else { return None };
                let repository = find_repository(&update.site, scene)?;
                !repository.has_branch(branch).ok()? || repository.is_branch_saved(branch)?
            }
            Effect::UpdateBranch(update) if update.kind == UpdateKind::Removes => {
                let UpdatedBranch::Named(branch) = &update.branch else { return None };
                find_repository(&update.site, scene)?.is_branch_saved(branch)?
            }
            Effect::Commit { site, .. } if has(&["--amend"]) => {
                is_no_repository(site, scene) || !find_repository(site, scene)?.is_head_pushed()?
            }
            Effect::Push(push) => is_push_harmless(push, scene)?,
            _ => continue,
        };
        if !is_safe {
            return Some(false);
        }
        is_judged = true;
    }
    if name == "stash" {
        let has_stash = find_repository_of_run(command, scene)?.has_stash();
        return Some(!has_stash && !stashes_before(command, scene));
    }
    // A checkout without files only switches, and git refuses a switch that loses changes.
    (is_judged || name == "checkout" && !is_fed(command)).then_some(true)
}

/// Whether a change of the work tree discards work. `git`: the command and the words behind it.
fn discards_work(
    change: &TreeChange,
    (name, words): (&str, &[String]),
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
) -> Option<bool> {
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&&**word));
    let with_staged = matches!(name, "reset" | "switch" | "read-tree")
        || has(&["--staged", "-S", "-f", "--force"])
        || change.kind == TreeChangeKind::Replace;
    let trees = WorkTrees::new(scene.workspace);
    let is_clean = matches!(change.kind, TreeChangeKind::Clean { .. });
    if is_clean && is_filled_before(change, command, scene) {
        // What the line puts there may be any file that is not tracked.
        let everywhere =
            TreeChange { paths: Vec::new(), directory: find_top(change, scene)?, ..change.clone() };
        return trees.discards_work(&everywhere, with_staged);
    }
    match trees.discards_work(change, with_staged) {
        // The word may be a branch: then only a switch happens, and git refuses one that loses changes.
        None if name == "checkout" && may_be_branch(words) => Some(false),
        discards => discards,
    }
}

/// The top of the work tree that a command changes.
fn find_top(change: &TreeChange, scene: &Scene<'_>) -> Option<PathBuf> {
    WorkTrees::new(scene.workspace).find_listed_top(change)
}

/// Whether the line creates files before, where the command looks for files that git does not have.
fn is_filled_before(change: &TreeChange, command: &CommandEffects<'_>, scene: &Scene<'_>) -> bool {
    let is_known = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let known = |pattern: &str| -> PathBuf {
        change.directory.join(pattern).components().take_while(is_known).collect()
    };
    let mut places: Vec<PathBuf> =
        change.paths.iter().map(|spec| scene.resolve(&known(&spec.pattern))).collect();
    if places.is_empty() {
        places.push(scene.resolve(&change.directory));
    }
    let before = scene.commands().iter().take_while(|other| other.number < command.number);
    let created = before.flat_map(|other| &other.effects).filter_map(|effect| match effect {
        Effect::Write { path, .. } | Effect::Place { to: path, .. } => Some(scene.resolve(path)),
        Effect::ChangeBelow { directory, .. } => Some(scene.resolve(directory)),
        _ => None,
    });
    let is_there = |path: &Path| places.iter().any(|place| is_within(path, place) || is_within(place, path));
    created.into_iter().any(|path| is_there(&path))
}

/// Whether the words of `git checkout` may name a branch and nothing else.
fn may_be_branch(words: &[String]) -> bool {
    let is_option = |word: &&String| word.starts_with('-') && word.len() > 1;
    let forces = |word: &String| {
        matches!(&**word, "--" | "--force")
            || word.starts_with("--pathspec")
            || is_option(&word) && !word.starts_with("--") && word.contains('f')
    };
    let mut operands = words.iter().filter(|word| !is_option(word));
    let is_name = |word: &String| !word.contains(['*', '?', '[', ':']) && !word.starts_with('.');
    operands.next().is_none_or(is_name) && operands.next().is_none() && !words.iter().any(forces)
}

/// Whether words that nobody knows follow those of the command: `xargs git checkout`, `find -exec git checkout {}`.
fn is_fed(command: &CommandEffects<'_>) -> bool {
    command.effects.iter().any(|effect| match effect {
        Effect::Run { program, unknown_arguments, .. } => {
            program.ends_with("git") && unknown_arguments.iter().any(|unknown| unknown.word.source == "xargs")
        }
        Effect::UnknownTarget { target, .. } => target == "`{}`",
        _ => false,
    })
}

/// Whether the line itself stashes something before this command.
fn stashes_before(command: &CommandEffects<'_>, scene: &Scene<'_>) -> bool {
    let is_stash = |other: &CommandEffects<'_>| {
        let git = find_git_command(other);
        git.is_some_and(|(name, words)| {
            let way = words.first().map_or("push", String::as_str);
            name == "stash" && (way.starts_with('-') || matches!(way, "push" | "save"))
        })
    };
    scene.commands().iter().take_while(|other| other.number < command.number).any(is_stash)
}

/// Whether a command runs in a known place where git finds no repository.
fn is_no_repository(site: &GitSite, scene: &Scene<'_>) -> bool {
    site.repository.as_deref().is_some_and(|place| scene.workspace.find_repository(place).is_none())
}

/// The git command that runs, and the words behind it.
fn find_git_command<'a>(command: &CommandEffects<'a>) -> Option<(&'a str, &'a [String])> {
    command.effects.iter().find_map(|effect| {
        let Effect::Run { program, arguments, .. } = effect else { return None };
        if program.rsplit('/').next() != Some("git") {
            return None;
        }
        let mut at = 0;
        while let Some(word) = arguments.get(at).filter(|word| word.starts_with('-')) {
            let takes_value = matches!(&**word, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace");
            at += if takes_value { 2 } else { 1 };
        }
        Some((arguments.get(at)?.as_str(), &arguments[at + 1..]))
    })
}

fn find_operand(words: &[String]) -> Option<&str> {
    words.iter().map(String::as_str).find(|word| !word.starts_with('-'))
}

fn find_repository(site: &GitSite, scene: &Scene<'_>) -> Option<Repository> {
    scene.workspace.find_repository(site.repository.as_deref()?)
}

/// The repository of a git command that has no effect with a site.
fn find_repository_of_run(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Option<Repository> {
    command.effects.iter().find_map(|effect| {
        let Effect::Run { program, arguments, directory, .. } = effect else { return None };
        if program.rsplit('/').next() != Some("git") {
            return None;
        }
        let start: &Path = directory.as_deref()?;
        let named = arguments.windows(2).find(|pair| pair[0] == "-C").map(|pair| start.join(&pair[1]));
        scene.workspace.find_repository(named.as_deref().unwrap_or(start))
    })
}

/// Whether a forced push takes no commit away that this repository knows of.
fn is_push_harmless(push: &Push, scene: &Scene<'_>) -> Option<bool> {
    let repository = find_repository(&push.site, scene)?;
    let remote = push.remote.as_deref().unwrap_or("origin");
    for branch in
        push.branches.iter().filter(|branch| branch.force == PushForce::Always || branch.is_deletion)
    {
        let current = match repository.read_head() {
            Head::Branch(name) => Some(name),
            _ => None,
        };
        let name = match &branch.target {
            PushTarget::Named(name) => name.clone(),
            PushTarget::Upstream | PushTarget::CheckedOut => current.clone()?,
            PushTarget::All | PushTarget::Unknown => return None,
        };
        if branch.is_deletion {
            return None;
        }
        // Others push to these at any moment.
        if MAIN_BRANCHES.contains(&&*name) {
            return Some(false);
        }
        let local = repository.has_branch(&name).ok()?.then_some(&*name);
        if !repository.is_remote_branch_included(remote, &name, local)? {
            return Some(false);
        }
    }
    Some(true)
}
