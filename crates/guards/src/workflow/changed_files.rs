//! The files that a call would change, by any channel.

use crate::prelude::*;
use std::path::{Path, PathBuf};

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
            let has_tree = command.effects.iter().any(|effect| matches!(effect, Effect::ChangeTree(_)));
            for used in used.paths {
                let path = used.path;
                let is_moved_tree = moved_tree.as_ref().is_some_and(|directory| directory.starts_with(&path));
                // `git checkout main` names no file, unless there is one.
                let is_branch = has_tree && used.content.is_none() && !scene.exists(&path);
                let is_no_file = used.verb == "names" && !names_file(&path, scene);
                if !is_moved_tree && !is_branch && !is_no_file {
                    changed.paths.push(path);
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

/// Whether a text that an unknown tool gets names a file: it exists, or looks like one. A directory does not change when a
/// tool gets its name.
fn names_file(path: &Path, scene: &Scene<'_>) -> bool {
    if scene.exists(path) {
        return !scene.is_directory(path);
    }
    let tool = scene.event.call().map(|call| call.native_tool.to_ascii_lowercase()).unwrap_or_default();
    let own_name = tool.rsplit("__").next().unwrap_or_default();
    let writes_files = ["write", "edit", "save", "patch", "file"].iter().any(|word| own_name.contains(word));
    let text = path.to_string_lossy();
    let is_word = !text.contains(char::is_whitespace) && !text.contains("://");
    let is_extension = |extension: &str| extension.len() <= 8 && extension.contains(char::is_alphabetic);
    let has_extension = path.extension().and_then(|it| it.to_str()).is_some_and(is_extension);
    let has_place =
        path.parent().is_some_and(|parent| parent != scene.event.cwd && scene.is_directory(parent));
    is_word && (writes_files || has_extension || has_place)
}

fn runs(command: &CommandEffects<'_>, wanted: &str) -> bool {
    command.programs().any(|(program, _)| program == wanted)
}
