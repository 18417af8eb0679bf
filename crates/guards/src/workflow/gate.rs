//! The guard `workflow-gate`: no file outside of the planning directories changes before the user has approved the plan.
//!
//! An edit belongs to the nearest project with the tool's marker. Planning, files outside of the session's project and
//! the client's own plan are never held, and neither is anything that only reads.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::changed_files::ChangedFiles;
use super::places::{find_counterpart, find_record_place, is_in_project};
use super::record::WorkflowRecord;
use super::standing::{WorkStanding, find_standing};
use super::waiting::{deny_unknown, deny_unreadable, deny_waiting, deny_without_instance};
use crate::rules::scene::Scene;
use provost_core::config::settings;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::places::is_within;
use provost_core::tool::{Tool, ToolCall};
use provost_core::workflow::WorkflowTable;
use provost_core::workflow::project::{WorkflowRoot, find_root_directory};
use provost_core::workspace::Workspace;

/// What the names of tools begin with that only change the planning.
const PLANNING_TOOLS: &[&str] = &["mcp__task-master-ai__", "mcp__taskmaster-ai__", "mcp__task-master__"];

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::BeforeTool(call) = &event.kind else { return Ok(Opinion::unconcerned()) };
    if event.effects().is_empty() || changes_planning_only(call) {
        return Ok(Opinion::unconcerned());
    }
    let tables = workspace.config.list_workflows();
    let scene = Scene::new(event, workspace);
    let changed = ChangedFiles::collect(&scene);
    let mut places = WorkPlaces { tables: &tables, workspace, known: Vec::new(), roots: Vec::new() };
    for path in &changed.paths {
        places.add(path);
    }
    let known_work = places.roots.len();
    if changed.has_unknown {
        places.add_unknown(&scene.resolve(&event.cwd));
    }
    if places.roots.is_empty() {
        return Ok(Opinion::unconcerned());
    }
    let mut evidence = Vec::new();
    for (at, root) in places.roots.iter().enumerate() {
        let record = WorkflowRecord::read(&find_record_place(&root.directory, workspace), workspace)?;
        let standing = find_standing(root, &record, workspace);
        let denial = match &standing {
            WorkStanding::Approved { place, how } => {
                evidence.push(format!("{} {}: {how}", root.table.name, place.name));
                None
            }
            WorkStanding::Free if !workspace.config.is_switched_on(settings::WORKFLOW_STRICT) => {
                evidence.push(format!("{}: nothing is open", root.table.name));
                None
            }
            WorkStanding::Free => Some(deny_without_instance(event, root)),
            WorkStanding::Waiting { instance, .. } if at >= known_work => {
                Some(deny_unknown(event, root, instance))
            }
            WorkStanding::Waiting { instance, why, others } => {
                Some(deny_waiting(event, root, instance, why, others))
            }
            WorkStanding::Unreadable(fault) => Some(deny_unreadable(event, root, fault)),
        };
        if let Some(denial) = denial {
            return Ok(deny(denial, &standing, root));
        }
    }
    Ok(Opinion { evidence, ..Opinion::default() })
}

fn deny(denial: Denial, standing: &WorkStanding, root: &WorkflowRoot<'_>) -> Opinion {
    let evidence = match standing {
        WorkStanding::Waiting { instance, why, .. } => {
            format!("{} {}: {why:?}", root.table.name, instance.place.name)
        }
        standing => format!("{}: {standing:?}", root.table.name),
    };
    Opinion::deny(denial, vec![provost_core::text::shorten_name(&evidence)])
}

fn changes_planning_only(call: &ToolCall) -> bool {
    matches!(call.tool, Tool::Other { .. })
        && PLANNING_TOOLS.iter().any(|prefix| call.native_tool.starts_with(prefix))
}

/// The projects whose work a call changes.
struct WorkPlaces<'t, 'w> {
    tables: &'t [WorkflowTable],
    workspace: &'w Workspace,
    /// The root of each directory that was looked up, for each table.
    known: Vec<(PathBuf, Vec<Option<PathBuf>>)>,
    roots: Vec<WorkflowRoot<'t>>,
}

impl WorkPlaces<'_, '_> {
    /// Adds the roots of a changed file, unless its change is planning.
    fn add(&mut self, path: &Path) {
        if path.starts_with("/dev") || self.is_own_file(path) {
            return;
        }
        let mut roots = self.find_roots(path);
        if roots.is_empty() || !roots.iter().any(|(_, root)| is_in_project(path, root, self.workspace)) {
            // A work tree beside the project is a part of it.
            if is_within(path, &self.workspace.project) {
                return;
            }
            let Some(counterpart) = find_counterpart(path, self.workspace) else { return };
            if roots.is_empty() {
                roots = self.find_roots(&counterpart);
                return self.add_roots(&counterpart, roots);
            }
        }
        self.add_roots(path, roots);
    }

    fn add_roots(&mut self, path: &Path, roots: Vec<(usize, PathBuf)>) {
        let tables = self.tables;
        let open = |(table, directory): (usize, PathBuf)| {
            WorkflowRoot::open(&tables[table], directory, self.workspace)
        };
        let opened: Vec<_> = roots.into_iter().map(open).collect();
        // The planning of one workflow is no work for another.
        if opened.iter().any(|root| root.is_planning(path) || path.starts_with(root.directory.join(".git"))) {
            return;
        }
        for root in opened {
            let is_same = |other: &WorkflowRoot<'_>| {
                other.directory == root.directory && other.table.name == root.table.name
            };
            if !self.roots.iter().any(is_same) {
                self.roots.push(root);
            }
        }
    }

    /// Adds the projects around the directory in which a file changes whose name is not known.
    fn add_unknown(&mut self, directory: &Path) {
        let roots = self.find_roots(directory);
        self.add_roots(&directory.join("?"), roots);
    }

    /// The roots of a path, with the index of the table.
    fn find_roots(&mut self, path: &Path) -> Vec<(usize, PathBuf)> {
        let parent = path.parent().unwrap_or(path);
        let directory = if self.workspace.is_directory(path) { path } else { parent };
        let known = self.known.iter().find(|(known, _)| known == directory).map(|(_, found)| found.clone());
        let found = known.unwrap_or_else(|| {
            let find = |table| find_root_directory(table, directory, self.workspace);
            let found: Vec<Option<PathBuf>> = self.tables.iter().map(find).collect();
            self.known.push((directory.to_owned(), found.clone()));
            found
        });
        found.into_iter().enumerate().filter_map(|(table, root)| Some((table, root?))).collect()
    }

    /// Whether a file is the client's own plan.
    fn is_own_file(&self, path: &Path) -> bool {
        let is_plan = path.extension().is_some_and(|extension| extension == "md");
        let in_plans = || {
            let plans = self.workspace.plans_directory().map(|plans| self.workspace.resolve(&plans));
            // A setting could name the whole project.
            plans.is_some_and(|plans| is_within(path, &plans) && !self.workspace.project.starts_with(&plans))
        };
        is_plan && in_plans()
    }
}
