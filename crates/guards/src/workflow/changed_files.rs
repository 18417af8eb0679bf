//! The files that a call would change, by any channel.

use crate::prelude::*;
use std::path::PathBuf;

use crate::rules::paths::PathUse;
use crate::rules::scene::{CommandEffects, Scene};
use crate::rules::used_paths::UsedPaths;
use provost_core::effect::Effect;

/// What a call would change.
#[derive(Debug, Default)]
pub(super) struct ChangedFiles {
    /// Resolved. A directory stands for what is in it.
    pub(super) paths: Vec<PathBuf>,
    /// The name of a changed file cannot be known.
    pub(super) has_unknown: bool,
}

impl ChangedFiles {
    pub(super) fn collect(scene: &Scene<'_>) -> Self {
        let mut changed = Self::default();
        let makes_temporary = scene.commands().iter().any(|command| runs(command, "mktemp"));
        for command in scene.commands() {
            let mut used = UsedPaths::new(PathUse::Change, scene);
            used.collect(command, &[]);
            let moved_tree = find_whole_tree(command, scene);
            for path in used.paths {
                // A tool that gets the project's directory does not change the directory.
                let is_named_directory = path.verb == "names" && scene.is_directory(&path.path);
                let is_moved_tree =
                    moved_tree.as_ref().is_some_and(|directory| directory.starts_with(&path.path));
                if !is_named_directory && !is_moved_tree {
                    changed.paths.push(path.path);
                }
            }
            changed.has_unknown |= used.is_unknown && changes_unknown(command, makes_temporary);
        }
        changed
    }
}

/// Whether a command changes a file whose name cannot be known. What a program that runs may do does not count.
fn changes_unknown(command: &CommandEffects<'_>, makes_temporary: bool) -> bool {
    command.effects.iter().any(|effect| match effect {
        Effect::UnknownTarget { target, .. } => {
            // `tmp=$(mktemp); cat a > $tmp`
            let word = target.trim_matches(['`', '"']);
            let is_variable = word.starts_with('$') && !word.contains(['(', '/', '`']);
            !(makes_temporary && is_variable)
        }
        Effect::TooLarge { .. } | Effect::ApplyPatch(_) => true,
        _ => false,
    })
}

/// The directory in which git replaces the whole work tree: another branch, a reset. That is no work of the agent.
fn find_whole_tree(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Option<PathBuf> {
    command.effects.iter().find_map(|effect| match effect {
        Effect::ChangeTree(change) if change.paths.is_empty() => {
            Some(scene.resolve(change.work_tree.as_ref().unwrap_or(&change.directory)))
        }
        _ => None,
    })
}

fn runs(command: &CommandEffects<'_>, wanted: &str) -> bool {
    command.programs().any(|(program, _)| program == wanted)
}
