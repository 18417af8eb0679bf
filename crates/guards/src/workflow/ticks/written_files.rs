//! The files of workflows that a call writes and that hold tasks, statuses or the current instance.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::written_text::{LARGEST_FILE, WrittenText, find_written_text, has_harmless_script};
use crate::rules::paths::PathUse;
use crate::rules::scene::{CommandEffects, Scene};
use crate::rules::used_paths::{Contents, Source, UsedPath, UsedPaths};
use provost_core::effect::Effect;
use provost_core::opinion::Fault;
use provost_core::places::is_within;
use provost_core::tool::Tool;
use provost_core::workflow::WorkflowTable;
use provost_core::workflow::project::{PathRole, WorkflowRoot, find_workflow_root};
use provost_core::workspace::Workspace;

/// A file that a call writes.
pub(crate) struct WrittenFile<'t> {
    pub(crate) root: WorkflowRoot<'t>,
    pub(crate) path: PathBuf,
    pub(crate) role: PathRole,
    /// The number of the command that writes it.
    pub(crate) command: u32,
    /// Its text before the call; empty if it does not exist.
    pub(crate) old: String,
    pub(crate) written: WrittenText,
}

/// The files that a call writes, in the order of its commands.
pub(crate) fn list_written_files<'t>(
    tables: &'t [WorkflowTable],
    scene: &Scene<'_>,
) -> Result<Vec<WrittenFile<'t>>, Fault> {
    let mut found = Vec::new();
    for command in scene.commands() {
        let mut used = UsedPaths::new(PathUse::Write, scene);
        used.collect(command, &[]);
        for path in &used.paths {
            for table in tables {
                found.extend(read_written_file(table, path, command, scene)?);
            }
        }
        // `find -name tasks.md | xargs sed -i …` edits files that no effect names.
        let edits_unnamed = used.paths.is_empty()
            && command
                .effects
                .iter()
                .any(|effect| matches!(effect, Effect::MutatingOption { by, .. } if by == "-i"));
        if (used.is_unknown || edits_unnamed) && !has_harmless_script(command) {
            found.extend(tables.iter().filter_map(|table| find_unknown_file(table, command.number, scene)));
        }
        for path in list_edited(command, scene) {
            found.extend(
                tables.iter().filter_map(|table| find_edited_file(table, &path, command.number, scene)),
            );
        }
    }
    Ok(found)
}

/// The files that a command names for a program that edits files in a way that no effect tells, or makes links to.
fn list_edited(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Vec<PathBuf> {
    /// The programs, and the option that some need to edit files.
    const EDITORS: &[(&str, &str)] =
        &[("vi vim nvim ex emacs nano", ""), ("sd sad rpl ln", ""), ("gsed ruby", "-i")];
    let mut found = Vec::new();
    for effect in &command.effects {
        let Effect::Run { program, arguments, directory, .. } = effect else { continue };
        let name = program.rsplit('/').next().unwrap_or(program);
        let has = |option: &str| {
            let is_it = |word: &String| {
                word.starts_with('-')
                    && !word.starts_with("--")
                    && word.contains(option.trim_start_matches('-'))
            };
            option.is_empty() || arguments.iter().any(is_it)
        };
        if EDITORS.iter().any(|(names, option)| names.split(' ').any(|editor| editor == name) && has(option))
        {
            let from = directory.as_deref().unwrap_or(&scene.event.cwd);
            found.extend(arguments.iter().map(|word| scene.resolve(&from.join(word))));
        }
    }
    found
}

/// A task file that such a program gets.
fn find_edited_file<'t>(
    table: &'t WorkflowTable,
    path: &Path,
    command: u32,
    scene: &Scene<'_>,
) -> Option<WrittenFile<'t>> {
    let root = find_workflow_root(table, path, scene.workspace)?;
    let role = find_role(&root, path, scene.workspace);
    let holds_tasks = matches!(role, PathRole::TaskFile { .. } | PathRole::StatusFile | PathRole::Checklist);
    holds_tasks.then(|| WrittenFile {
        root,
        path: path.to_owned(),
        role,
        command,
        old: String::new(),
        written: WrittenText::Unknown,
    })
}

/// What a path is. A checklist that the tool's own commands keep is planning.
pub(crate) fn find_role(root: &WorkflowRoot<'_>, path: &Path, workspace: &Workspace) -> PathRole {
    match root.find_role(path, workspace) {
        PathRole::Checklist if path.ends_with("checklists/requirements.md") => PathRole::Planning,
        // The directory of an instance, where its tasks are in a file.
        PathRole::TaskFile { .. } if root.table.tasks.is_some() && is_instance_place(root, path) => {
            PathRole::Planning
        }
        role => role,
    }
}

fn is_instance_place(root: &WorkflowRoot<'_>, path: &Path) -> bool {
    let below = path.strip_prefix(&root.directory).ok();
    below.and_then(|below| root.find_owner(below)).is_some_and(|(_, rest)| rest.is_empty())
}

/// Whether a path is in a directory of finished instances, whose tasks nobody ticks.
fn is_finished_place(root: &WorkflowRoot<'_>, path: &Path) -> bool {
    let table = root.table;
    let places = table.instances.iter().filter_map(|pattern| pattern.rsplit_once('/'));
    let mut finished =
        places.flat_map(|(above, _)| table.except.iter().map(move |name| format!("{above}/{name}")));
    finished.any(|finished| is_within(path, &root.directory.join(finished)))
}

fn read_written_file<'t>(
    table: &'t WorkflowTable,
    used: &UsedPath<'_>,
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
) -> Result<Option<WrittenFile<'t>>, Fault> {
    let workspace = scene.workspace;
    let Some(root) = find_workflow_root(table, &used.path, workspace) else { return Ok(None) };
    let role = find_role(&root, &used.path, workspace);
    let is_filled = matches!(used.contents, Contents::All | Contents::Unknown);
    let (old, written) = match role {
        // What is put below a directory may be any of its files.
        PathRole::Planning if is_filled && !is_finished_place(&root, &used.path) => {
            (String::new(), WrittenText::Unknown)
        }
        PathRole::Work | PathRole::Marker | PathRole::Planning => return Ok(None),
        _ => {
            // A change that is renamed takes its ticks along.
            let moved = used.source.as_ref().and_then(|source| find_task_source(&root, source, scene));
            let old = workspace.read_text(moved.as_ref().unwrap_or(&used.path), LARGEST_FILE)?;
            let Some(written) = find_written_text(used, command, old.as_deref(), scene) else {
                return Ok(None);
            };
            (old.unwrap_or_default(), written)
        }
    };
    Ok(Some(WrittenFile { root, path: used.path.clone(), role, command: command.number, old, written }))
}

/// The file that is copied or moved, if it is a task file itself.
fn find_task_source(root: &WorkflowRoot<'_>, source: &Source, scene: &Scene<'_>) -> Option<PathBuf> {
    let Source::File(file) = source else { return None };
    let file = scene.resolve(file);
    matches!(root.find_role(&file, scene.workspace), PathRole::TaskFile { .. }).then_some(file)
}

/// The task file that a line may name, where it also writes a file whose name only the shell will know.
fn find_unknown_file<'t>(
    table: &'t WorkflowTable,
    command: u32,
    scene: &Scene<'_>,
) -> Option<WrittenFile<'t>> {
    let Some(Tool::Shell { command: line }) = scene.event.call().map(|call| &call.tool) else { return None };
    let name = table.tasks.as_deref()?.rsplit('/').next()?;
    let root =
        find_workflow_root(table, &scene.event.cwd, scene.workspace).filter(|_| line.contains(name))?;
    Some(WrittenFile {
        root,
        path: PathBuf::from(name),
        role: PathRole::Planning,
        command,
        old: String::new(),
        written: WrittenText::Unknown,
    })
}
