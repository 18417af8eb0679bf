//! The instances that a call deletes or moves away, and where they go.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use crate::rules::paths::PathUse;
use crate::rules::scene::{CommandEffects, Scene};
use crate::rules::used_paths::{Contents, UsedPath, UsedPaths};
use provost_core::effect::Effect;
use provost_core::opinion::Fault;
use provost_core::places::is_within;
use provost_core::workflow::instance::WorkflowInstance;
use provost_core::workflow::project::{PathRole, WorkflowRoot, find_workflow_root};
use provost_core::workflow::{WorkflowSystem, WorkflowTable};

/// The files with which Spec Kit and Kiro begin an instance.
const BEGINNINGS: &[&str] = &["spec.md", "plan.md", "tasks.md", "spec.json", "requirements.md", "design.md"];

/// Where a removed instance goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// To the directory of finished instances.
    Archive,
    /// To another name beside the others, where it is still found.
    OtherName,
    Away,
}

/// An instance that a call removes from its place.
pub(super) struct RemovedInstance<'t> {
    pub(super) root: WorkflowRoot<'t>,
    pub(super) instance: WorkflowInstance,
    pub(super) command: u32,
    pub(super) destination: Destination,
}

/// What a call removes of workflows.
pub(super) struct Removals<'t> {
    pub(super) instances: Vec<RemovedInstance<'t>>,
    /// The roots whose pointer is deleted.
    pub(super) pointers: Vec<WorkflowRoot<'t>>,
}

pub(super) fn list_removals<'t>(
    tables: &'t [WorkflowTable],
    scene: &Scene<'_>,
) -> Result<Removals<'t>, Fault> {
    let mut removals = Removals { instances: Vec::new(), pointers: Vec::new() };
    let mut deleted_files: Vec<(PathBuf, u32)> = Vec::new();
    for command in scene.commands() {
        let mut used = UsedPaths::new(PathUse::Delete, scene);
        used.collect(command, &[]);
        used.collect_known_directories(command);
        for path in &used.paths {
            deleted_files.push((path.path.clone(), command.number));
            for table in tables {
                let Some(root) = find_workflow_root(table, &path.path, scene.workspace) else { continue };
                collect_removed(root, path, command, scene, &mut removals)?;
            }
        }
    }
    collect_emptied(tables, &deleted_files, scene, &mut removals)?;
    Ok(removals)
}

fn collect_removed<'t>(
    root: WorkflowRoot<'t>,
    used: &UsedPath<'_>,
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
    removals: &mut Removals<'t>,
) -> Result<(), Fault> {
    let (path, workspace) = (&used.path, scene.workspace);
    let role = root.find_role(path, workspace);
    if role == PathRole::Pointer {
        removals.pointers.push(root);
        return Ok(());
    }
    if !may_hold_instance(&root, path, &role) {
        return Ok(());
    }
    // `rm -rf openspec/changes/$NAME`
    let is_any_below = path.ends_with("*");
    let removes_marker = role == PathRole::Marker && !keeps_marker(&root, path, scene);
    for place in root.list_instances(workspace)? {
        let is_named = if is_any_below {
            path.parent().is_some_and(|directory| place.path.parent() == Some(directory))
        } else {
            is_within(&place.path, path)
        };
        if !is_named && !removes_marker {
            continue;
        }
        let Some(instance) = root.read_instance(&place, workspace) else { continue };
        let files = || instance.list_files().map(|file| root.directory.join(&file.path));
        // Git deletes only some of the files: those that it does not track.
        if let Contents::Some { fits, .. } = &used.contents
            && !files().chain([place.path.clone()]).any(|file| fits(&file))
        {
            continue;
        }
        let destination =
            if is_named { find_destination(&place.path, &root, command, scene) } else { Destination::Away };
        let root = WorkflowRoot::open(root.table, root.directory.clone(), workspace);
        removals.instances.push(RemovedInstance { root, instance, command: command.number, destination });
    }
    Ok(())
}

/// Whether an instance may be removed with a path: it is no file of work, and none inside of an instance.
fn may_hold_instance(root: &WorkflowRoot<'_>, path: &Path, role: &PathRole) -> bool {
    let Ok(below) = path.strip_prefix(&root.directory) else { return false };
    let is_inside = root.find_owner(below).is_some_and(|(_, rest)| !rest.is_empty());
    let holds_planning = || root.list_planning().any(|planning| planning.starts_with(below));
    !is_inside && (*role != PathRole::Work || holds_planning())
}

/// Whether the project is still recognised without this path.
fn keeps_marker(root: &WorkflowRoot<'_>, path: &Path, scene: &Scene<'_>) -> bool {
    let markers = root.table.markers.iter().map(|marker| root.directory.join(marker));
    markers.into_iter().any(|marker| !is_within(&marker, path) && scene.workspace.exists(&marker))
}

/// Where a command moves an instance to.
fn find_destination(
    place: &Path,
    root: &WorkflowRoot<'_>,
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
) -> Destination {
    let targets = command.effects.iter().filter_map(|effect| match effect {
        Effect::Place { to, .. } => Some(scene.resolve(to)),
        _ => None,
    });
    let mut found = Destination::Away;
    for target in targets {
        let lands_in = scene.is_directory(&target);
        let landing = match place.file_name() {
            Some(name) if lands_in => target.join(name),
            _ => target.clone(),
        };
        let finished = place
            .parent()
            .into_iter()
            .flat_map(|directory| root.table.except.iter().map(move |name| directory.join(name)));
        if finished.into_iter().any(|finished| is_within(&target, &finished)) {
            return Destination::Archive;
        }
        let below = landing.strip_prefix(&root.directory).ok();
        let is_found =
            below.and_then(|below| root.find_owner(below)).is_some_and(|(_, rest)| rest.is_empty());
        if is_found {
            found = Destination::OtherName;
        }
    }
    found
}

/// Adds the instances that are no longer begun, because a call deletes each of their files.
fn collect_emptied<'t>(
    tables: &'t [WorkflowTable],
    deleted: &[(PathBuf, u32)],
    scene: &Scene<'_>,
    removals: &mut Removals<'t>,
) -> Result<(), Fault> {
    let workspace = scene.workspace;
    for table in
        tables.iter().filter(|table| matches!(table.system, WorkflowSystem::SpecKit | WorkflowSystem::Kiro))
    {
        for (path, command) in deleted {
            let Some(root) = find_workflow_root(table, path, workspace) else { continue };
            let Some(directory) = path.parent() else { continue };
            let Some(place) =
                root.list_instances(workspace)?.into_iter().find(|place| place.path == directory)
            else {
                continue;
            };
            let is_deleted = |file: &Path| deleted.iter().any(|(path, _)| is_within(file, path));
            let is_left = |name: &&str| {
                let file = directory.join(name);
                workspace.exists(&file) && !is_deleted(&file)
            };
            if BEGINNINGS.iter().any(is_left) {
                continue;
            }
            if let Some(instance) = root.read_instance(&place, workspace) {
                let destination = Destination::Away;
                removals.instances.push(RemovedInstance { root, instance, command: *command, destination });
            }
        }
    }
    Ok(())
}
