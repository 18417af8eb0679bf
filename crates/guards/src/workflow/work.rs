//! Whether a change is work: outside the planning directories of every workflow.

use provost_core::rules::evidence::ChangedPath;
use provost_core::workflow::WorkflowTable;
use provost_core::workflow::project::{PathRole, find_workflow_root};
use provost_core::workspace::Workspace;

/// Whether a change is one of a project with a workflow, and is not planning there.
pub(crate) fn is_work(change: &ChangedPath, tables: &[WorkflowTable], workspace: &Workspace) -> bool {
    let Some(path) = change.path() else { return true };
    if path.components().any(|part| part.as_os_str() == ".git") {
        return false;
    }
    let mut is_in_project = false;
    for table in tables {
        let Some(root) = find_workflow_root(table, path, workspace) else { continue };
        if !matches!(root.find_role(path, workspace), PathRole::Work) {
            return false;
        }
        is_in_project = true;
    }
    is_in_project
}
