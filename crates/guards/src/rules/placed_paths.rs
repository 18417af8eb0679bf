//! The files that result where a command copies or moves others to.
//!
//! In a directory they land under their own names. Where a whole directory is copied over another one, its files on the
//! disk say what is written.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::scene::{CommandEffects, Scene};
use super::used_paths::{Contents, Source, UsedPath, UsedPaths, expand_words};
use provost_core::effect::Effect;

/// Programs that replace a link in place of writing to the file that it leads to.
const REPLACING: &[&str] = &["mv", "ln", "install", "git"];

pub(super) fn collect_placed(
    names: &[PathBuf],
    to: &Path,
    is_tree: bool,
    command: &CommandEffects<'_>,
    used: &mut UsedPaths<'_, '_>,
) {
    let scene = used.scene;
    let replaces = command.programs().any(|(program, _)| REPLACING.contains(&program));
    let mut add = |path: &Path, contents, source: Option<PathBuf>| {
        let path = if replaces { scene.resolve_deleted(path) } else { scene.resolve(path) };
        let source = source.map(Source::File);
        used.paths.push(UsedPath { path, contents, content: None, source, verb: "writes" });
    };
    let whole = || if is_tree { Contents::All } else { Contents::Nothing };
    let known = names.iter().map(|name| (name.clone(), find_source(name, command)));
    let mut sources: Vec<(PathBuf, Option<PathBuf>)> = known.collect();
    let has_unknown = expand_sources(command, scene, &mut sources);
    let is_directory = sources.len() > 1 || is_directory_by_then(to, scene);
    if has_unknown || sources.is_empty() {
        let target = if is_directory { to.join("*") } else { to.to_owned() };
        add(&target, whole(), None);
    }
    for (name, source) in &sources {
        let is_contents = source.as_deref().is_some_and(|source| means_contents(source, command));
        let has_own_name = is_directory && !is_contents;
        let landing = if has_own_name { to.join(name) } else { to.to_owned() };
        let real = source.as_deref().map(|source| scene.resolve(source)).filter(|_| !scene.is_example);
        let is_known_directory = is_tree && real.as_deref().is_some_and(|real| scene.is_directory(real));
        let files = real.as_deref().filter(|_| is_known_directory);
        if let Some((real, files)) =
            files.and_then(|real| Some((real, scene.workspace.list_files_below(real)?)))
        {
            add(&landing, Contents::Nothing, None);
            for file in files {
                let below = file.strip_prefix(real).unwrap_or(&file);
                add(&landing.join(below), Contents::Nothing, Some(file.clone()));
            }
            continue;
        }
        let is_file = real.as_deref().is_some_and(|real| scene.is_file(real));
        add(&landing, if is_file { Contents::Nothing } else { whole() }, real.filter(|_| is_file));
        // An example does not say whether the target is a directory.
        if scene.is_example && !is_directory {
            add(&to.join(name), whole(), None);
        }
    }
}

/// Adds the sources that a pattern of files means on the disk. Returns whether a source cannot be known.
fn expand_sources(
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
    sources: &mut Vec<(PathBuf, Option<PathBuf>)>,
) -> bool {
    let mut has_unknown = false;
    for effect in &command.effects {
        let Effect::UnknownRead { target, places, .. } = effect else { continue };
        let Some(patterns) = expand_words(target, places, scene).filter(|_| !scene.is_example) else {
            has_unknown = true;
            continue;
        };
        for path in patterns.iter().flat_map(|pattern| scene.workspace.expand_path_pattern(pattern)) {
            sources.extend(path.file_name().map(|name| (PathBuf::from(name), Some(path.clone()))));
        }
    }
    has_unknown
}

/// The source with this name, as it is written.
fn find_source(name: &Path, command: &CommandEffects<'_>) -> Option<PathBuf> {
    command.effects.iter().find_map(|effect| match effect {
        Effect::Read { path, .. } | Effect::Delete { path } if path.file_name() == name.file_name() => {
            Some(path.clone())
        }
        _ => None,
    })
}

/// Whether a directory is named so that only what it holds is copied: `cp -r a/. b`, `rsync -a a/ b`.
fn means_contents(source: &Path, command: &CommandEffects<'_>) -> bool {
    let text = source.to_string_lossy();
    text.ends_with("/.") || text.ends_with('/') && command.programs().any(|(program, _)| program == "rsync")
}

/// Whether a target is a directory when the command runs: it exists, it is written so, or the line creates it.
fn is_directory_by_then(to: &Path, scene: &Scene<'_>) -> bool {
    let text = to.to_string_lossy();
    let is_made = |command: &CommandEffects<'_>| {
        let makes = |effect: &&Effect| matches!(effect, Effect::Write { path, .. } if path == to);
        command.programs().any(|(program, _)| program == "mkdir") && command.effects.iter().any(makes)
    };
    text.ends_with(['/', '.']) && (text.ends_with('/') || text.ends_with("/.") || text.ends_with("/.."))
        || scene.is_directory(to)
        || scene.commands().iter().any(is_made)
}
