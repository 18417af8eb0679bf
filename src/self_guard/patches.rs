//! Patches that name a protected file.
//!
//! A patch is looked for where a command says that it is: in files, in what the line reads, and in the line itself.
//! What another command prints is not known.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::instructions::{sources, texts};
use super::refusal::{Refusal, shown};
use crate::effect::Effect;
use crate::effect::patch::{self, PatchCommand, PatchedName};
use crate::event::{Event, Tool};
use crate::glob::is_like;
use crate::workspace::Workspace;

/// No patch that a person writes is larger than this.
const LARGEST_PATCH: u64 = 16 << 20;
/// So many files that may be patches are looked at.
const MOST_FILES: usize = 100;

/// The files that a command's patches change. A patch that is too large to be read is refused.
pub(super) fn changed_by(
    command: &PatchCommand,
    effects: &[Effect],
    event: &Event,
    workspace: &Workspace,
) -> Result<Vec<PathBuf>, Box<Refusal>> {
    let patch_files = command.files.iter().flat_map(|file| workspace.fitting(file));
    let read = sources(effects).filter(|_| command.is_fed).map(Path::to_owned);
    let mut names: Vec<PatchedName> = Vec::new();
    let files: BTreeSet<PathBuf> = patch_files.chain(read).take(MOST_FILES).collect();
    for file in files {
        let Ok((text, is_whole)) = workspace.read_start(&file, LARGEST_PATCH) else { continue };
        if !is_whole {
            return Err(Box::new(too_large(&file, command, workspace)));
        }
        names.extend(patch::names(&text));
    }
    if let Some(call) = event.call() {
        names.extend(texts(&call.tool).into_iter().flat_map(patch::names_in_command));
    }
    let bases: Vec<&Path> = bases(command, workspace).collect();
    let mut paths: Vec<PathBuf> = names
        .iter()
        .filter_map(|name| name.stripped(command.strip))
        .map(|path| command.below.as_ref().map_or(path.clone(), |below| below.join(&path)))
        .filter(|path| is_meant(command, path))
        .flat_map(|path| bases.iter().map(|base| base.join(&path)).collect::<Vec<_>>())
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn too_large(file: &Path, command: &PatchCommand, workspace: &Workspace) -> Refusal {
    Refusal::new(
        format!("{} not applied by `{}`", shown(file, workspace), command.program),
        "it is larger than 16 MiB, so the files that it changes are not known",
        "split the patch into smaller ones",
        format!("{} is too large", file.display()),
    )
}

/// The files that a patch changes which a tool that nobody knows is given.
pub(super) fn given_to(tool: &Tool, event: &Event) -> Vec<PathBuf> {
    let Tool::Other { paths: texts, .. } = tool else { return Vec::new() };
    let patches = texts.iter().filter_map(|text| text.to_str()).filter(|text| patch::is_patch(text));
    let names = patches.flat_map(patch::names);
    names.filter_map(|name| name.stripped(Some(1))).map(|path| event.absolute(&path)).collect()
}

/// The directories that the names in a patch may be seen from.
fn bases<'c>(command: &'c PatchCommand, workspace: &Workspace) -> impl Iterator<Item = &'c Path> + use<'c> {
    let above = command.directory.ancestors().find(|above| workspace.exists(&above.join(".git")));
    let top = command.work_tree.as_deref().or(above).filter(|_| command.is_from_top);
    top.into_iter().chain([command.directory.as_path()])
}

fn is_meant(command: &PatchCommand, path: &Path) -> bool {
    let path = format!("/{}", path.to_string_lossy());
    let fits = |pattern: &String| is_like(&format!("/{pattern}"), &path);
    !command.excluded.iter().any(fits) && (command.included.is_empty() || command.included.iter().any(fits))
}
