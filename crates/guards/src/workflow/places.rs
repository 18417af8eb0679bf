//! Which files belong to the project, and where its approvals are on record.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use provost_core::places::is_within;
use provost_core::workflow::WorkflowTable;
use provost_core::workflow::project::{WorkflowRoot, has_marker};
use provost_core::workspace::Workspace;

/// Directories in which no project is looked for.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor", "dist", "build"];
/// How deep a repository of several projects is.
const DEEPEST: usize = 4;

/// The directory under whose name the approvals of a project are kept: the main work tree, so that an approval also
/// holds in the others, or the root of the workflow if it lies above the project.
pub fn find_record_place(root: &Path, workspace: &Workspace) -> PathBuf {
    if workspace.project != root && workspace.project.starts_with(root) {
        return root.to_owned();
    }
    // In a linked work tree, `.git` is a file.
    let is_linked = workspace.has_content(&workspace.project.join(".git"));
    let main = || workspace.find_repository(&workspace.project)?.find_main_work_tree();
    if is_linked { main().unwrap_or_else(|| workspace.project.clone()) } else { workspace.project.clone() }
}

/// How the record names a root: by its path in the project, which is the same in all work trees.
pub(super) fn describe_root(root: &Path, workspace: &Workspace) -> String {
    let project = &workspace.project;
    let counterpart = if is_within(root, project) { None } else { find_counterpart(root, workspace) };
    let root = counterpart.as_deref().unwrap_or(root);
    let below = root.strip_prefix(project).map(Path::to_path_buf);
    let below =
        below.or_else(|_| root.strip_prefix(find_record_place(root, workspace)).map(Path::to_path_buf));
    below.unwrap_or_else(|_| root.to_owned()).to_string_lossy().into_owned()
}

/// Whether a resolved path belongs to the session's project. `root` is the workflow's root of the path.
pub(super) fn is_in_project(path: &Path, root: &Path, workspace: &Workspace) -> bool {
    is_within(path, &workspace.project) || workspace.start.starts_with(root)
}

/// Where a file of another work tree of the repository would be in the session's project; `None` if it is in no other
/// work tree.
pub(super) fn find_counterpart(path: &Path, workspace: &Workspace) -> Option<PathBuf> {
    let trees = workspace.find_repository(&workspace.project)?.list_work_trees();
    let home = workspace.places.home.as_deref();
    let mut trees = trees.into_iter().filter(|tree| !home.is_some_and(|home| home.starts_with(tree)));
    let tree = trees.find(|tree| is_within(path, tree))?;
    Some(workspace.project.join(path.strip_prefix(&tree).ok()?))
}

/// The roots of a workflow that a session can mean: the nearest one at or above a directory, and those below the project.
pub fn list_roots_below<'t>(
    table: &'t WorkflowTable,
    start: &Path,
    workspace: &Workspace,
) -> Vec<WorkflowRoot<'t>> {
    let mut found = Vec::new();
    let nearest = provost_core::workflow::project::find_workflow_root(table, start, workspace);
    found.extend(nearest.map(|root| root.directory));
    let mut open = vec![(workspace.project.clone(), 0)];
    while let Some((directory, depth)) = open.pop() {
        if has_marker(table, &directory, workspace) && !found.contains(&directory) {
            found.push(directory.clone());
        }
        if depth == DEEPEST {
            continue;
        }
        // What cannot be listed has no project that anyone could use.
        for (name, is_directory) in workspace.list_names(&directory).unwrap_or_default() {
            if is_directory && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                open.push((directory.join(name), depth + 1));
            }
        }
    }
    found.into_iter().map(|directory| WorkflowRoot::open(table, directory, workspace)).collect()
}
