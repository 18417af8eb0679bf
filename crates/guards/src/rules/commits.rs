//! Whether a command makes a commit on a branch that a rule names, and with which message.

use crate::prelude::*;
use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use super::call::{KeyMatch, find_branches, find_matching_branch};
use super::scene::Scene;
use crate::branch_finder::PossibleBranch;
use provost_core::effect::git::UpdatedBranch;
use provost_core::effect::{Effect, WriteContent};
use provost_core::opinion::Fault;
use provost_core::rules::{RuleRegex, RuleSubject, RuleText};

/// A longer message is not read.
const LONGEST_MESSAGE: u64 = 1 << 20;

pub(super) fn match_commits(
    subject: &RuleSubject,
    exceptions: &[RuleText],
    command: &[&Effect],
    scene: &Scene<'_>,
) -> Result<KeyMatch, Fault> {
    for effect in command {
        let (name, site, branch) = match effect {
            Effect::Commit { site, dry_run: false, .. } => ("commit", &**site, &UpdatedBranch::CheckedOut),
            Effect::UpdateBranch(update) if update.makes_commits() => {
                (update.command, &update.site, &update.branch)
            }
            _ => continue,
        };
        let branches = match branch {
            UpdatedBranch::CheckedOut => find_branches(site, scene)?,
            UpdatedBranch::Named(name) => Rc::new([PossibleBranch::Named(name.clone())]),
            UpdatedBranch::Unknown => Rc::new([PossibleBranch::Unknown]),
        };
        if let Some(branch) = find_matching_branch(&branches, &subject.commits, exceptions) {
            if let Some(required) = &subject.message
                && !is_message_wrong(required, find_message(effect, scene)?.as_deref())
            {
                continue;
            }
            return Ok(KeyMatch::Yes(match branch {
                PossibleBranch::Named(branch) => format!("git {name} lands on {branch}"),
                _ => format!("git {name} may land on any branch"),
            }));
        }
    }
    Ok(KeyMatch::No)
}

/// Whether a message is given that lacks what the rule requires.
fn is_message_wrong(required: &RuleRegex, message: Option<&str>) -> bool {
    message.is_some_and(|message| required.is_match(message) == Some(false))
}

/// The message that the words of a command give, or the file that they name.
fn find_message<'e>(effect: &'e Effect, scene: &'e Scene<'_>) -> Result<Option<Cow<'e, str>>, Fault> {
    Ok(match effect {
        Effect::Commit { message: Some(message), .. } => Some(message.into()),
        Effect::UpdateBranch(update) => update.message.as_deref().map(Cow::Borrowed),
        Effect::Commit { message_file: Some(file), .. } => read_message(file, scene)?,
        _ => None,
    })
}

/// The text that the line writes into the file, or else the one that it has.
fn read_message<'e>(file: &Path, scene: &'e Scene<'_>) -> Result<Option<Cow<'e, str>>, Fault> {
    let mut written = scene.event.effects().iter().filter_map(|effect| match effect {
        Effect::Write { path, content } if path == file => Some(content),
        _ => None,
    });
    match (written.next(), written.next()) {
        (None, _) if scene.is_example => Ok(None),
        (None, _) => Ok(scene.workspace.read_text(file, LONGEST_MESSAGE)?.map(Cow::Owned)),
        (Some(WriteContent::Known { text, append: false, is_complete: true }), None) => {
            Ok(Some(Cow::Borrowed(text)))
        }
        _ => Ok(None),
    }
}
