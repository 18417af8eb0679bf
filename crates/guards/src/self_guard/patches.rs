//! Refuses patches that change a protected file.
//!
//! The patch may be in the files that a command names, in files that the command line reads, or in the command line
//! itself. What another command prints is not known.

use crate::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::instructions::{find_sources, find_texts};
use super::refusal::{Refusal, Refused, display_path};
use super::tools::ToolCheck;
use provost_core::effect::patch::{self, PatchCommand, PatchedName};
use provost_core::effect::{Effect, WriteContent};
use provost_core::event::Event;
use provost_core::glob::matches_glob;
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;

/// A larger patch is refused unread.
const LARGEST_PATCH: u64 = 16 << 20;
/// At most this many files are read as patches.
const MOST_FILES: usize = 100;

impl ToolCheck<'_> {
    pub(super) fn refuse_patch(&self, command: &PatchCommand, effects: &[Effect]) -> Refused {
        let workspace = self.workspace;
        let patch_files = command.files.iter().flat_map(|file| workspace.expand_wildcards(file));
        let read = find_sources(effects).filter(|_| command.is_fed).map(Path::to_owned);
        let mut names: Vec<PatchedName> = Vec::new();
        let files: BTreeSet<PathBuf> = patch_files.chain(read).take(MOST_FILES).collect();
        for file in files {
            let Ok((text, is_whole)) = workspace.read_start(&file, LARGEST_PATCH) else { continue };
            if !is_whole {
                return Ok(Some(refuse_oversized(&file, command, workspace)));
            }
            names.extend(patch::find_patched_names(&text));
        }
        if let Some(call) = self.event.call() {
            names.extend(find_texts(&call.tool).into_iter().flat_map(patch::find_patched_names_in_command));
        }
        let bases: Vec<&Path> = find_bases(command, workspace).collect();
        let paths: BTreeSet<PathBuf> = names
            .iter()
            .filter_map(|name| name.strip_components(command.strip))
            .map(|path| command.below.as_ref().map_or(path.clone(), |below| below.join(&path)))
            .filter(|path| is_included(command, path))
            .flat_map(|path| bases.iter().map(|base| base.join(&path)).collect::<Vec<_>>())
            .collect();
        for path in paths {
            if let Some(refusal) = self.refuse_write(&path, &WriteContent::Unknown)? {
                return Ok(Some(refusal));
            }
        }
        Ok(None)
    }
}

fn refuse_oversized(file: &Path, command: &PatchCommand, workspace: &Workspace) -> Refusal {
    Refusal::new(
        format!("{} not applied by `{}`", display_path(file, workspace), command.program),
        "it is larger than 16 MiB, so the files that it changes are not known",
        "split the patch into smaller ones",
        format!("{} is too large", file.display()),
    )
}

/// The files that a patch changes, if an unknown tool gets one.
pub(super) fn find_patched_files(tool: &Tool, event: &Event) -> Vec<PathBuf> {
    let Tool::Other { paths: texts, .. } = tool else { return Vec::new() };
    let patches = texts.iter().filter_map(|text| text.to_str()).filter(|text| patch::is_patch(text));
    let names = patches.flat_map(patch::find_patched_names);
    names.filter_map(|name| name.strip_components(Some(1))).map(|path| event.make_absolute(&path)).collect()
}

/// The directories that the names in a patch may be relative to.
fn find_bases<'c>(
    command: &'c PatchCommand,
    workspace: &Workspace,
) -> impl Iterator<Item = &'c Path> + use<'c> {
    let above = command.directory.ancestors().find(|above| workspace.exists(&above.join(".git")));
    let top = command.work_tree.as_deref().or(above).filter(|_| command.is_from_top);
    top.into_iter().chain([command.directory.as_path()])
}

fn is_included(command: &PatchCommand, path: &Path) -> bool {
    let path = format!("/{}", path.to_string_lossy());
    let fits = |pattern: &String| matches_glob(&format!("/{pattern}"), &path);
    !command.excluded.iter().any(fits) && (command.included.is_empty() || command.included.iter().any(fits))
}
