//! `workflow-finish`: an instance is archived, completed or removed only when it is finished.
//!
//! The end of an instance is a command of its tool, a move to the directory of finished ones, a status, or the last
//! tick. An open instance that goes away, by whatever command, would leave work without a plan, so only the user removes
//! one. The same holds for the file in which the tool keeps the current instance.

mod completion;
mod denials;
mod evidence;
mod open_tasks;
mod removal;
mod settings_change;

use crate::prelude::*;
use std::path::Path;

use self::completion::{Completion, find_completions, find_completions_by_id};
use self::denials::name_instance;
use self::evidence::find_missing_evidence;
pub(crate) use self::open_tasks::is_story_finished;
use self::open_tasks::list_open_tasks;
use self::removal::{Destination, list_removals};
use self::settings_change::find_settings_change;
use super::ticks::may_tick;
use super::ticks::work_log::WorkRules;
use super::ticks::written_files::{WrittenFile, list_written_files};
use super::ticks::written_text::{LARGEST_FILE, WrittenText};
use super::tool_commands::{ToolCommand, read_command, read_server_call};
use super::work::is_work;
use crate::rules::scene::Scene;
use provost_core::effect::Effect;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Fault, Opinion};
use provost_core::rules::evidence::ChangedPath;
use provost_core::tool::Tool;
use provost_core::workflow::instance::WorkflowInstance;
use provost_core::workflow::project::{PathRole, WorkflowRoot, find_workflow_root};
use provost_core::workflow::tasks::read_tasks;
use provost_core::workflow::{WorkflowSystem, WorkflowTable};
use provost_core::workspace::Workspace;
use provost_shell::pattern::RunView;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::BeforeTool(call) = &event.kind else { return Ok(Opinion::unconcerned()) };
    if !may_tick(call) {
        return Ok(Opinion::unconcerned());
    }
    let tables = &workspace.config.list_workflows();
    let is_change_of_work = |change: &ChangedPath| is_work(change, tables, workspace);
    let finish = workspace.config.workflow_finish().and_then(|finish| finish.passed.as_deref());
    let rules = WorkRules { is_work: &is_change_of_work, finish };
    let scene = Scene::new(event, workspace);
    let judge = FinishJudge { tables, rules: &rules, scene: &scene };
    let denial = match judge.judge_removals()? {
        Some(denial) => Some(denial),
        None => match judge.judge_written()? {
            Some(denial) => Some(denial),
            None => judge.judge_commands()?,
        },
    };
    Ok(denial.unwrap_or_else(Opinion::silent))
}

struct FinishJudge<'t, 'a, 's> {
    tables: &'t [WorkflowTable],
    rules: &'a WorkRules<'a>,
    scene: &'a Scene<'s>,
}

impl FinishJudge<'_, '_, '_> {
    fn judge_removals(&self) -> Result<Option<Opinion>, Fault> {
        let (event, workspace) = (self.scene.event, self.scene.workspace);
        let removals = list_removals(self.tables, self.scene)?;
        for removed in &removals.instances {
            let denial = match removed.destination {
                Destination::Archive => self.judge_end(&removed.root, &removed.instance, removed.command)?,
                Destination::Away if is_unfinished(&removed.instance) => {
                    Some(denials::deny_removal(event, &removed.root, &removed.instance))
                }
                Destination::OtherName | Destination::Away => None,
            };
            if denial.is_some() {
                return Ok(denial);
            }
        }
        for root in &removals.pointers {
            if let Some(instance) = find_pointed(root, root.read_pointer(workspace).as_deref(), workspace)?
                && is_unfinished(&instance)
            {
                return Ok(Some(denials::deny_pointer(event, root, &instance)));
            }
        }
        Ok(None)
    }

    /// Whether an instance may be archived.
    fn judge_end(
        &self,
        root: &WorkflowRoot<'_>,
        instance: &WorkflowInstance,
        command: u32,
    ) -> Result<Option<Opinion>, Fault> {
        let event = self.scene.event;
        let named = name_instance(root, &instance.place.name);
        if let Some(problem) = instance.first_problem() {
            return Ok(Some(denials::deny_incomplete(event, &named, problem)));
        }
        let open = list_open_tasks(&instance.tasks);
        if !open.is_empty() {
            return Ok(Some(denials::deny_open_tasks(event, &named, &open)));
        }
        self.judge_evidence(root, &named, command)
    }

    fn judge_evidence(
        &self,
        root: &WorkflowRoot<'_>,
        named: &str,
        command: u32,
    ) -> Result<Option<Opinion>, Fault> {
        let missing = find_missing_evidence(&root.directory, command, self.rules, self.scene)?;
        Ok(missing.map(|missing| denials::deny_without_evidence(self.scene.event, named, missing)))
    }

    fn judge_written(&self) -> Result<Option<Opinion>, Fault> {
        let workspace = self.scene.workspace;
        if let Some(change) = find_settings_change(self.tables, self.scene)? {
            return Ok(Some(denials::deny_settings(self.scene.event, &change)));
        }
        for file in list_written_files(self.tables, self.scene)? {
            let denial = if file.role == PathRole::Pointer {
                self.judge_pointer(&file)?
            } else {
                let completions = find_completions(&file, workspace)?;
                self.judge_completions(&completions, &file.root, file.command)?
            };
            if denial.is_some() {
                return Ok(denial);
            }
        }
        Ok(None)
    }

    fn judge_completions(
        &self,
        completions: &[Completion],
        root: &WorkflowRoot<'_>,
        command: u32,
    ) -> Result<Option<Opinion>, Fault> {
        let event = self.scene.event;
        for completion in completions {
            let named = name_instance(root, &completion.name);
            if !completion.open.is_empty() {
                return Ok(Some(denials::deny_open_tasks(event, &named, &completion.open)));
            }
            if !completion.dropped.is_empty() {
                return Ok(Some(denials::deny_dropped_tasks(event, &named, &completion.dropped)));
            }
            if completion.is_end
                && let Some(denial) = self.judge_evidence(root, &named, command)?
            {
                return Ok(Some(denial));
            }
        }
        Ok(None)
    }

    fn judge_pointer(&self, file: &WrittenFile<'_>) -> Result<Option<Opinion>, Fault> {
        let new = match &file.written {
            WrittenText::Whole(text) => file.root.parse_pointer(text),
            // Some texts of an unknown tool are the new content.
            WrittenText::OneOf(texts) => texts.iter().find_map(|text| file.root.parse_pointer(text)),
            _ => None,
        };
        self.judge_new_pointer(&file.root, new.as_deref())
    }

    /// Whether the tool may lead to another instance: one that is to be done, or a new one.
    fn judge_new_pointer(
        &self,
        root: &WorkflowRoot<'_>,
        new: Option<&str>,
    ) -> Result<Option<Opinion>, Fault> {
        let workspace = self.scene.workspace;
        let old = root.read_pointer(workspace);
        if old.as_deref() == new {
            return Ok(None);
        }
        let Some(current) = find_pointed(root, old.as_deref(), workspace)? else { return Ok(None) };
        if !is_unfinished(&current) {
            return Ok(None);
        }
        // An instance in a place of its own is only found by the pointer.
        let below = current.place.path.strip_prefix(&root.directory).unwrap_or(&current.place.path);
        let stays = root.table.system == WorkflowSystem::TaskMaster || is_listed(root, below);
        let leads_to_work = match new {
            None => false,
            Some(new) => {
                find_pointed(root, Some(new), workspace)?.is_none_or(|instance| is_unfinished(&instance))
            }
        };
        let is_harmless = stays && leads_to_work;
        Ok((!is_harmless).then(|| denials::deny_pointer(self.scene.event, root, &current)))
    }

    fn judge_commands(&self) -> Result<Option<Opinion>, Fault> {
        let cwd = &self.scene.event.cwd;
        for command in self.scene.commands() {
            for effect in &command.effects {
                let Effect::Run { directory, .. } = effect else { continue };
                let Some(found) = RunView::from_effect(effect).as_ref().and_then(read_command) else {
                    continue;
                };
                let place = directory.as_deref().unwrap_or(cwd);
                if let Some(denial) = self.judge_command(&found, place, command.number)? {
                    return Ok(Some(denial));
                }
            }
        }
        let Some(Tool::Other { texts, .. }) = self.scene.event.call().map(|call| &call.tool) else {
            return Ok(None);
        };
        let name = self.scene.event.call().map_or("", |call| call.native_tool.as_str());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let Some(found) = read_server_call(name, &texts) else { return Ok(None) };
        let place = texts.iter().map(|text| Path::new(*text)).find(|path| path.is_absolute());
        self.judge_command(&found, place.unwrap_or(cwd), 0)
    }

    fn judge_command(
        &self,
        found: &ToolCommand<'_>,
        place: &Path,
        command: u32,
    ) -> Result<Option<Opinion>, Fault> {
        let workspace = self.scene.workspace;
        let system = match found {
            ToolCommand::Archive { .. } => WorkflowSystem::OpenSpec,
            _ => WorkflowSystem::TaskMaster,
        };
        for table in self.tables.iter().filter(|table| table.system == system) {
            let Some(root) = find_workflow_root(table, &workspace.resolve(place), workspace) else {
                continue;
            };
            let denial = match found {
                ToolCommand::Archive { change } => self.judge_archive(&root, *change, command)?,
                ToolCommand::CompleteTasks { ids } => self.judge_statuses(&root, ids, true, command)?,
                ToolCommand::DropTasks { ids } => self.judge_statuses(&root, ids, false, command)?,
                ToolCommand::UseTag { tag } => self.judge_new_pointer(&root, *tag)?,
                ToolCommand::DeleteTag { tag } => self.judge_tag_removal(&root, *tag)?,
            };
            if denial.is_some() {
                return Ok(denial);
            }
        }
        Ok(None)
    }

    /// A change whose name cannot be known may be any.
    fn judge_archive(
        &self,
        root: &WorkflowRoot<'_>,
        change: Option<&str>,
        command: u32,
    ) -> Result<Option<Opinion>, Fault> {
        let workspace = self.scene.workspace;
        for place in root.list_instances(workspace)? {
            if change
                .is_some_and(|change| change.trim_end_matches('/').rsplit('/').next() != Some(&place.name))
            {
                continue;
            }
            if let Some(instance) = root.read_instance(&place, workspace)
                && let Some(denial) = self.judge_end(root, &instance, command)?
            {
                return Ok(Some(denial));
            }
        }
        Ok(None)
    }

    fn judge_statuses(
        &self,
        root: &WorkflowRoot<'_>,
        ids: &[&str],
        is_done: bool,
        command: u32,
    ) -> Result<Option<Opinion>, Fault> {
        let file = root.directory.join(root.table.tasks.as_deref().unwrap_or_default());
        let text = self.scene.workspace.read_text(&file, LARGEST_FILE)?.unwrap_or_default();
        let tasks = read_tasks(root.table.task_format(), &text);
        let completions = find_completions_by_id(&tasks, ids, is_done);
        self.judge_completions(&completions, root, command)
    }

    fn judge_tag_removal(
        &self,
        root: &WorkflowRoot<'_>,
        tag: Option<&str>,
    ) -> Result<Option<Opinion>, Fault> {
        let workspace = self.scene.workspace;
        for place in root.list_instances(workspace)? {
            if tag.is_some_and(|tag| tag != place.name) {
                continue;
            }
            if let Some(instance) = root.read_instance(&place, workspace).filter(is_unfinished) {
                return Ok(Some(denials::deny_removal(self.scene.event, root, &instance)));
            }
        }
        Ok(None)
    }
}

/// Whether something is left to do before the end, besides the archive itself.
fn is_unfinished(instance: &WorkflowInstance) -> bool {
    let has_open_tasks = !list_open_tasks(&instance.tasks).is_empty();
    instance.is_open() && (has_open_tasks || instance.first_problem().is_some() || instance.tasks.is_empty())
}

fn find_pointed(
    root: &WorkflowRoot<'_>,
    name: Option<&str>,
    workspace: &Workspace,
) -> Result<Option<WorkflowInstance>, Fault> {
    let Some(name) = name else { return Ok(None) };
    let place = root.list_instances(workspace)?.into_iter().find(|place| place.name == name);
    Ok(place.and_then(|place| root.read_instance(&place, workspace)))
}

/// Whether the table itself finds an instance at this path below the root.
fn is_listed(root: &WorkflowRoot<'_>, below: &Path) -> bool {
    let directory =
        below.parent().map(|directory| directory.to_string_lossy().into_owned()).unwrap_or_default();
    root.table.instances.iter().any(|pattern| {
        pattern.rsplit_once('/').is_some_and(|(parent, last)| parent == directory && last.starts_with('*'))
    })
}
