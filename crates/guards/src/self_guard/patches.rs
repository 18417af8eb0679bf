//! Refuses patches that change a protected file.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::refusal::{Refusal, Refused, display_path};
use super::tools::ToolCheck;
use crate::patched_files::list_patched_files;
use provost_core::effect::patch::{self, PatchCommand};
use provost_core::effect::{Effect, WriteContent};
use provost_core::event::Event;
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;

impl ToolCheck<'_> {
    pub(super) fn refuse_patch(&self, command: &PatchCommand, effects: &[Effect]) -> Refused {
        let tool = self.event.call().map(|call| &call.tool);
        let texts = self.event.line().inputs.iter().map(|input| &*input.text);
        let paths = match list_patched_files(command, tool, texts, effects, Some(self.workspace)) {
            Ok(paths) => paths,
            Err(file) => return Ok(Some(refuse_oversized(&file, command, self.workspace))),
        };
        for path in paths.into_keys() {
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
