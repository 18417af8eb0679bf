//! Whether a command makes a commit on a branch that a rule names, and with which message.

use crate::prelude::*;
use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use super::call::{KeyMatch, find_branches, find_matching_branch};
use super::scene::Scene;
use crate::branch_finder::PossibleBranch;
use provost_core::effect::git::{CommitMessage, UpdatedBranch};
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
    let mut result = KeyMatch::No;
    for effect in command {
        let (name, site, branch, message) = match effect {
            Effect::Commit { site, dry_run: false, message } => {
                ("commit", &**site, &UpdatedBranch::CheckedOut, message)
            }
            Effect::UpdateBranch(update) if update.makes_commits() => {
                (update.command, &update.site, &update.branch, &update.message)
            }
            _ => continue,
        };
        let branches = match branch {
            UpdatedBranch::CheckedOut => find_branches(site, scene)?,
            UpdatedBranch::Named(name) => Rc::new([PossibleBranch::Named(name.clone())]),
            UpdatedBranch::Unknown => Rc::new([PossibleBranch::Unknown]),
        };
        let Some(branch) = find_matching_branch(&branches, &subject.commits, exceptions) else { continue };
        match subject.message.as_ref().map(|required| judge_message(required, message, scene)) {
            None | Some(MessageMatch::Wrong) => {}
            Some(MessageMatch::Unknown) => {
                result = KeyMatch::Unknown;
                continue;
            }
            Some(MessageMatch::Right) => continue,
        }
        return Ok(KeyMatch::Yes(match branch {
            PossibleBranch::Named(branch) => format!("git {name} lands on {branch}"),
            _ => format!("git {name} may land on any branch"),
        }));
    }
    Ok(result)
}

/// Whether a message has what a rule requires.
enum MessageMatch {
    /// It has, or none is given.
    Right,
    /// A message is given that has it not.
    Wrong,
    /// A message is given that cannot be known.
    Unknown,
}

fn judge_message(required: &RuleRegex, message: &CommitMessage, scene: &Scene<'_>) -> MessageMatch {
    let text = match message {
        CommitMessage::NotGiven => return MessageMatch::Right,
        CommitMessage::Known(text) => Some(Cow::Borrowed(text.as_str())),
        CommitMessage::InFile(file) => read_message(file, scene),
        CommitMessage::Unknown => None,
    };
    // Git removes empty lines in front of a message.
    match text.map(|text| required.is_match(text.trim_start_matches(['\n', '\r']))) {
        None => MessageMatch::Unknown,
        Some(Some(false)) => MessageMatch::Wrong,
        // A broken regular expression decides nothing.
        Some(_) => MessageMatch::Right,
    }
}

/// The text that the line writes into the file, or else the one that it has.
fn read_message<'e>(file: &Path, scene: &'e Scene<'_>) -> Option<Cow<'e, str>> {
    let mut written = scene.event.effects().iter().filter_map(|effect| match effect {
        Effect::Write { path, content } if path == file => Some(content),
        _ => None,
    });
    match (written.next(), written.next()) {
        (None, _) if scene.is_example => None,
        (None, _) => scene.workspace.read_text(file, LONGEST_MESSAGE).ok().flatten().map(Cow::Owned),
        (Some(WriteContent::Known { text, append: false, is_complete: true }), None) => {
            Some(Cow::Borrowed(text))
        }
        _ => None,
    }
}
