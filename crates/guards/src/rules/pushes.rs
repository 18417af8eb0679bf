//! Whether a command pushes to a branch that a rule names, and how.

use crate::prelude::*;
use std::rc::Rc;

use super::call::{KeyMatch, find_branches, find_matching_branch, find_repository, names};
use super::scene::Scene;
use crate::branch_finder::PossibleBranch;
use provost_core::effect::Effect;
use provost_core::effect::git::{Push, PushForce, PushTarget, PushedBranch};
use provost_core::opinion::Fault;
use provost_core::rules::{PushWay, RuleSubject, RuleText};

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
        PushTarget::Upstream => scene.cached_branches(&push.site, true, || {
            let mut branches = find_branches(&push.site, scene)?.to_vec();
            let repository = find_repository(&push.site, scene);
            for branch in &mut branches {
                if let (PossibleBranch::Named(name), Some(repository)) = (&*branch, &repository)
                    && let Some(upstream) = repository.find_upstream(name)
                {
                    *branch = PossibleBranch::Named(upstream);
                }
            }
            Ok(branches)
        })?,
        PushTarget::All | PushTarget::Unknown => Rc::new([PossibleBranch::Unknown]),
    })
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
