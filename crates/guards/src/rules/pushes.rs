//! Whether a command pushes to a branch that a rule names, and how.

use crate::prelude::*;
use std::rc::Rc;

use super::call::{KeyMatch, find_branches, find_matching_branch, find_repository, names};
use super::scene::{BranchQuestion, Scene};
use crate::branch_finder::PossibleBranch;
use provost_core::effect::Effect;
use provost_core::effect::git::{Push, PushForce, PushTarget, PushedBranch};
use provost_core::opinion::Fault;
use provost_core::rules::{PushWay, RuleSubject, RuleText};
use provost_core::workspace::git_settings::PlainPush;

pub(super) fn match_pushes(
    subject: &RuleSubject,
    exceptions: &[RuleText],
    command: &[&Effect],
    scene: &Scene<'_>,
) -> Result<KeyMatch, Fault> {
    for effect in command {
        let Effect::Push(push) = effect else { continue };
        if push.is_dry_run {
            continue;
        }
        for branch in push.branches.iter().filter(|branch| is_pushed_by(subject.by, branch)) {
            let possible = find_targets(push, branch, scene)?;
            if let Some(reached) = find_matching_branch(&possible, &subject.pushes, exceptions) {
                let verb = if branch.is_deletion { "deletes" } else { "pushes to" };
                return Ok(KeyMatch::Yes(match reached {
                    PossibleBranch::Named(name) => format!("{verb} {name}"),
                    _ => format!("{verb} any branch"),
                }));
            }
        }
        let is_for_all = names(&subject.pushes).any(|name| name == "*");
        if subject.by == Some(PushWay::Deletion) && is_for_all && deletes_tag(command) {
            return Ok(KeyMatch::Yes("deletes a tag".into()));
        }
    }
    Ok(KeyMatch::No)
}

fn is_pushed_by(way: Option<PushWay>, branch: &PushedBranch) -> bool {
    match way {
        None => true,
        Some(PushWay::Force) => branch.force == PushForce::Always && !branch.is_deletion,
        Some(PushWay::Deletion) => branch.is_deletion,
    }
}

/// The branches that a push may change.
fn find_targets(
    push: &Push,
    branch: &PushedBranch,
    scene: &Scene<'_>,
) -> Result<Rc<[PossibleBranch]>, Fault> {
    Ok(match &branch.target {
        PushTarget::Named(name) => Rc::new([PossibleBranch::Named(name.clone())]),
        PushTarget::CheckedOut => find_branches(&push.site, scene)?,
        PushTarget::Upstream => {
            scene.cached_branches(&push.site, &BranchQuestion::PlainPush(push.remote.clone()), || {
                let branches = find_branches(&push.site, scene)?;
                Ok(branches.iter().flat_map(|branch| find_plain_targets(push, branch, scene)).collect())
            })?
        }
        PushTarget::All | PushTarget::Unknown => Rc::new([PossibleBranch::Unknown]),
    })
}

/// The branches that a push without a branch changes while this one is checked out.
fn find_plain_targets(push: &Push, checked_out: &PossibleBranch, scene: &Scene<'_>) -> Vec<PossibleBranch> {
    let PossibleBranch::Named(name) = checked_out else { return vec![checked_out.clone()] };
    let Some(repository) = find_repository(&push.site, scene) else { return vec![checked_out.clone()] };
    let home = scene.workspace.places.home.as_deref();
    match repository.find_plain_push(name, push.remote.as_deref(), home) {
        PlainPush::Nothing => Vec::new(),
        PlainPush::All => vec![PossibleBranch::Unknown],
        PlainPush::Branches(names) => names.into_iter().map(PossibleBranch::Named).collect(),
    }
}

/// Whether a refspec without a source names a tag.
fn deletes_tag(command: &[&Effect]) -> bool {
    command.iter().any(|effect| match effect {
        Effect::Run { arguments, .. } => {
            let is_tag = |word: &String| {
                let target = word.strip_prefix(':').unwrap_or(word);
                target.starts_with("refs/tags/") || target.starts_with("tags/")
            };
            let deletes = arguments.iter().any(|word| matches!(&**word, "--delete" | "-d"));
            arguments.iter().any(|word| is_tag(word) && (deletes || word.starts_with(':')))
        }
        _ => false,
    })
}
