//! Commands of git that change files of the work tree, where a protected file is among them.

use std::path::Path;

use super::LARGEST_SETTINGS;
use super::protected::Protected;
use super::refusal::{Refusal, shown};
use super::tools::altered;
use crate::decision::Fault;
use crate::effect::git::{TreeChange, TreeChangeKind};
use crate::workspace::Workspace;
use crate::workspace::work_tree::WorkTrees;

pub(super) fn refuse_change(
    change: &TreeChange,
    trees: &mut WorkTrees,
    workspace: &Workspace,
    protected: &Protected,
) -> Result<Option<Refusal>, Fault> {
    for file in protected.own() {
        if trees.changes(change, file) {
            return Ok(Some(refusal(change, file, "Provost's own files", workspace)));
        }
    }
    let deletes = matches!(
        change.kind,
        TreeChangeKind::Remove | TreeChangeKind::Clean { .. } | TreeChangeKind::Sparse { .. }
    );
    for (file, real) in protected.settings() {
        if !trees.changes(change, file) {
            continue;
        }
        if deletes {
            let before = workspace.read_text(real, LARGEST_SETTINGS)?;
            if altered(before.as_deref(), None, workspace).is_empty() {
                continue;
            }
        }
        return Ok(Some(refusal(change, file, "a settings file that switches guards on and off", workspace)));
    }
    Ok(None)
}

fn refusal(change: &TreeChange, file: &Path, thing: &str, workspace: &Workspace) -> Refusal {
    let command = change.command;
    let verb = match change.kind {
        TreeChangeKind::Restore | TreeChangeKind::Replace => "change",
        TreeChangeKind::Remove | TreeChangeKind::Clean { .. } | TreeChangeKind::Sparse { .. } => "delete",
    };
    let name = shown(file, workspace);
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
