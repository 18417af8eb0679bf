//! The tasks that a call marks as done, in all files and with all commands that it uses.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::found_ticks::{FoundTicks, TaskText};
use super::new_ticks::is_finished_header;
use super::statuses::{add_spec_status, read_sprint};
use super::written_files::{WrittenFile, find_role, list_written_files};
use super::written_text::LARGEST_FILE;
use crate::rules::scene::{CommandEffects, Scene};
use crate::workflow::tool_commands::{ToolCommand, read_command, read_server_call};
use provost_core::effect::Effect;
use provost_core::opinion::Fault;
use provost_core::tool::Tool;
use provost_core::workflow::project::{PathRole, WorkflowRoot, find_workflow_root};
use provost_core::workflow::tasks::{TaskItem, read_tasks};
use provost_core::workflow::{WorkflowSystem, WorkflowTable};
use provost_shell::pattern::RunView;

/// The tasks that a call marks as done in one file.
pub(crate) struct CallTicks<'t> {
    pub(crate) root: WorkflowRoot<'t>,
    pub(crate) file: PathBuf,
    pub(crate) role: PathRole,
    /// The number of the command that does it.
    pub(crate) command: u32,
    pub(crate) ticks: FoundTicks,
}

/// The ticks of a call, in the order of its commands.
pub(crate) fn list_call_ticks<'t>(
    tables: &'t [WorkflowTable],
    scene: &Scene<'_>,
) -> Result<Vec<CallTicks<'t>>, Fault> {
    let mut finder = TickFinder { tables, scene, found: Vec::new() };
    for file in list_written_files(tables, scene)? {
        finder.add_written(file);
    }
    for command in scene.commands() {
        finder.search_runs(command)?;
    }
    finder.search_server_call()?;
    Ok(finder.found)
}

/// The tasks in the text of a file with this role; `None` if it holds none.
pub(crate) fn find_task_reader(
    table: &WorkflowTable,
    role: &PathRole,
) -> Option<impl Fn(&str) -> Vec<TaskItem> + use<>> {
    let (format, is_bmad) = (table.task_format(), table.system == WorkflowSystem::Bmad);
    let is_sprint = is_bmad && *role == PathRole::StatusFile;
    let holds_tasks = is_sprint || matches!(role, PathRole::TaskFile { .. } | PathRole::Checklist);
    holds_tasks.then_some(move |text: &str| {
        if is_sprint {
            return read_sprint(text);
        }
        let mut tasks = read_tasks(format, text);
        if is_bmad {
            add_spec_status(&mut tasks, text);
        }
        tasks
    })
}

struct TickFinder<'t, 'a, 's> {
    tables: &'t [WorkflowTable],
    scene: &'a Scene<'s>,
    found: Vec<CallTicks<'t>>,
}

impl<'t> TickFinder<'t, '_, '_> {
    fn add_written(&mut self, file: WrittenFile<'t>) {
        let WrittenFile { root, path, role, command, old, written } = file;
        let ticks = match find_task_reader(root.table, &role) {
            Some(read) => {
                let has_boxes =
                    !matches!(root.table.system, WorkflowSystem::TaskMaster | WorkflowSystem::Bmad);
                TaskText { read: &read, has_boxes }.find_ticks(&old, &written)
            }
            None if role == PathRole::Planning => FoundTicks::Possible,
            None => return,
        };
        self.add(root, path, role, command, ticks);
    }

    fn search_runs(&mut self, command: &CommandEffects<'_>) -> Result<(), Fault> {
        for effect in &command.effects {
            let Effect::Run { directory, .. } = effect else { continue };
            let Some(ToolCommand::CompleteTasks { ids }) =
                RunView::from_effect(effect).as_ref().and_then(read_command)
            else {
                continue;
            };
            let directory = directory.as_deref().unwrap_or(&self.scene.event.cwd);
            self.search_status_change(&ids, directory, command.number)?;
        }
        Ok(())
    }

    fn search_server_call(&mut self) -> Result<(), Fault> {
        let Some(call) = self.scene.event.call() else { return Ok(()) };
        let Tool::Other { texts, .. } = &call.tool else { return Ok(()) };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let Some(ToolCommand::CompleteTasks { ids }) = read_server_call(&call.native_tool, &texts) else {
            return Ok(());
        };
        let place = texts.iter().map(|text| Path::new(*text)).find(|path| path.is_absolute());
        self.search_status_change(&ids, place.unwrap_or(&self.scene.event.cwd), 0)
    }

    /// The tasks with these ids that are not done yet, in the project of Task Master around a directory.
    fn search_status_change(&mut self, ids: &[&str], place: &Path, command: u32) -> Result<(), Fault> {
        let workspace = self.scene.workspace;
        let tables = self.tables.iter().filter(|table| table.system == WorkflowSystem::TaskMaster);
        for table in tables {
            let Some(root) = find_workflow_root(table, &workspace.resolve(place), workspace) else {
                continue;
            };
            let file = root.directory.join(table.tasks.as_deref().unwrap_or_default());
            let text = workspace.read_text(&file, LARGEST_FILE)?.unwrap_or_default();
            let tasks = read_tasks(table.task_format(), &text);
            let ticks = if ids.is_empty() {
                FoundTicks::Possible
            } else {
                FoundTicks::Tasks(list_completed(&tasks, ids))
            };
            let role = find_role(&root, &file, workspace);
            self.add(root, file, role, command, ticks);
        }
        Ok(())
    }

    fn add(
        &mut self,
        root: WorkflowRoot<'t>,
        file: PathBuf,
        role: PathRole,
        command: u32,
        ticks: FoundTicks,
    ) {
        if ticks != FoundTicks::Tasks(Vec::new()) {
            self.found.push(CallTicks { root, file, role, command, ticks });
        }
    }
}

/// The tasks with these ids that are not done yet, in all tags, because it is not known which tag the command means.
fn list_completed(tasks: &[TaskItem], ids: &[&str]) -> Vec<TaskItem> {
    let is_meant = |task: &TaskItem| {
        let id = task.id.as_deref().and_then(|id| id.rsplit('/').next());
        id.is_some_and(|id| ids.contains(&id))
    };
    let mut after = tasks.to_vec();
    for task in after.iter_mut().filter(|task| is_meant(task)) {
        (task.is_done, task.is_closed) = (true, true);
    }
    let completed = tasks
        .iter()
        .enumerate()
        .filter(|(at, task)| is_meant(task) && !task.is_done && !is_finished_header(&after, *at));
    completed.map(|(_, task)| task.clone()).collect()
}
