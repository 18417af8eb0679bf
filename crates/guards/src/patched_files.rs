//! The files that a command changes which applies patches.
//!
//! The patch may be in the files that the command names, in files that the command line reads, or in the command line
//! itself. What another command prints is not known.

use crate::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use provost_core::effect::Effect;
use provost_core::effect::patch::{self, FilePatch, PatchCommand};
use provost_core::glob::matches_glob;
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;

/// A larger patch is not read.
const LARGEST_PATCH: u64 = 16 << 20;
/// At most this many files are read as patches.
const MOST_FILES: usize = 100;
/// At most this many files that a command reads are searched.
const MOST_SOURCES: usize = 100;

/// The files that the patches of a command change, and the lines that they add to each, as far as they are known.
/// `texts`: what the command line gives to commands as their input. `workspace`: without it, only they are read. The error
/// is a patch that is too large.
pub(crate) fn list_patched_files<'t>(
    command: &PatchCommand,
    tool: Option<&Tool>,
    texts: impl Iterator<Item = &'t str>,
    effects: &[Effect],
    workspace: Option<&Workspace>,
) -> Result<BTreeMap<PathBuf, String>, PathBuf> {
    let mut patches: Vec<FilePatch> =
        texts.filter(|_| command.is_fed).flat_map(patch::read_patches).collect();
    if let Some(workspace) = workspace {
        let patch_files = command.files.iter().flat_map(|file| workspace.expand_wildcards(file));
        let read = find_sources(effects).filter(|_| command.is_fed).map(Path::to_owned);
        let files: BTreeSet<PathBuf> = patch_files.chain(read).take(MOST_FILES).collect();
        for file in files {
            let Ok((text, is_whole)) = workspace.read_start(&file, LARGEST_PATCH) else { continue };
            if !is_whole {
                return Err(file);
            }
            patches.extend(patch::read_patches(&text));
        }
    }
    if let Some(tool) = tool {
        let names = find_texts(tool).into_iter().flat_map(patch::find_patched_names_in_command).collect();
        patches.push(FilePatch { names, ..FilePatch::default() });
    }
    let bases: Vec<&Path> = find_bases(command, workspace).collect();
    let mut changed: BTreeMap<PathBuf, String> = BTreeMap::new();
    for patch in patches {
        let added = if command.is_reversed { &patch.removed } else { &patch.added };
        let names = patch.names.iter().filter_map(|name| name.strip_components(command.strip));
        let in_header = names
            .map(|path| command.below.as_ref().map_or(path.clone(), |below| below.join(&path)))
            .filter(|path| is_included(command, path))
            .flat_map(|path| bases.iter().map(move |base| base.join(&path)).collect::<Vec<_>>());
        let paths: BTreeSet<PathBuf> = match &command.target {
            Some(target) => BTreeSet::from([target.clone()]),
            None => in_header.collect(),
        };
        for path in paths {
            changed.entry(path).or_default().push_str(added);
        }
    }
    Ok(changed)
}

/// The texts of a call that may become the content of a file.
pub(crate) fn find_texts(tool: &Tool) -> Vec<&str> {
    match tool {
        Tool::Shell { command } => vec![command],
        Tool::Other { paths, .. } => paths.iter().filter_map(|text| text.to_str()).collect(),
        Tool::Edit { replacements, .. } => replacements.iter().map(|edit| edit.new.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The files that a command line reads or moves away.
pub(crate) fn find_sources(effects: &[Effect]) -> impl Iterator<Item = &Path> {
    let sources = effects.iter().filter_map(|effect| match effect {
        Effect::Read { path, .. } | Effect::Delete { path } => Some(path.as_path()),
        _ => None,
    });
    sources.take(MOST_SOURCES)
}

/// The directories that the names in a patch may be relative to.
fn find_bases<'c>(
    command: &'c PatchCommand,
    workspace: Option<&Workspace>,
) -> impl Iterator<Item = &'c Path> + use<'c> {
    let is_top = |above: &&Path| workspace.is_some_and(|workspace| workspace.exists(&above.join(".git")));
    let above = command.directory.ancestors().find(is_top);
    let top = command.work_tree.as_deref().or(above).filter(|_| command.is_from_top);
    top.into_iter().chain([command.directory.as_path()])
}

fn is_included(command: &PatchCommand, path: &Path) -> bool {
    let path = format!("/{}", path.to_string_lossy());
    let fits = |pattern: &String| matches_glob(&format!("/{pattern}"), &path);
    !command.excluded.iter().any(fits) && (command.included.is_empty() || command.included.iter().any(fits))
}
