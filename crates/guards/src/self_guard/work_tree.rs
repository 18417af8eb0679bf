//! Refuses git commands that change or delete a protected file of the work tree.

use crate::prelude::*;
use std::path::Path;

use super::refusal::{Refusal, Refused, display_path};
use super::tools::{ToolCheck, find_deletion_losses};
use provost_core::effect::git::{TreeChange, TreeChangeKind};
use provost_core::workspace::Workspace;
use provost_core::workspace::work_tree::WorkTrees;

pub(super) fn refuse_change(change: &TreeChange, trees: &mut WorkTrees, check: &ToolCheck<'_>) -> Refused {
    let (workspace, protected) = (check.workspace, check.protected_files());
    let refuse = |file, thing| Ok(Some(build_refusal(change, file, thing, workspace)));
    if let Some(file) = protected.own().find(|file| trees.is_changed_by(change, file)) {
        return refuse(file, "Provost's own files");
    }
    let deletes = matches!(
        change.kind,
        TreeChangeKind::Remove | TreeChangeKind::Clean { .. } | TreeChangeKind::Sparse { .. }
    );
    for (file, real) in protected.settings() {
        if trees.is_changed_by(change, file)
            && !(deletes && find_deletion_losses(real, workspace)?.is_empty())
        {
            return refuse(file, "a settings file that switches guards on and off");
        }
    }
    Ok(None)
}

fn build_refusal(change: &TreeChange, file: &Path, thing: &str, workspace: &Workspace) -> Refusal {
    let command = change.command;
    let verb = match change.kind {
        TreeChangeKind::Restore | TreeChangeKind::Replace => "change",
        TreeChangeKind::Remove | TreeChangeKind::Clean { .. } | TreeChangeKind::Sparse { .. } => "delete",
    };
    let name = display_path(file, workspace);
    let fix = match change.kind {
        TreeChangeKind::Clean { .. } if command == "clean" => {
            "leave the file out with `-e`, or clean one directory"
        }
        TreeChangeKind::Restore if change.paths.is_empty() => {
            "commit the change to this file first, or name other paths"
        }
        TreeChangeKind::Sparse { .. } => "name its directory too",
        _ => "name other paths",
    };
    Refusal::new(
        format!("`git {command}` may not {verb} {name}"),
        format!("tools may not change {thing}"),
        format!("{fix}; if the file has to change, ask the user to do it"),
        format!("git {command} would {verb} {}", file.display()),
    )
}
