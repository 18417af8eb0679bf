//! The instances that a call finishes by what it writes: the last tick, a status, or tasks that are taken out.

use crate::prelude::*;

use super::open_tasks::{find_story, list_open_tasks};
use crate::workflow::ticks::call_ticks::find_task_reader;
use crate::workflow::ticks::new_ticks::{find_ticks, is_finished_header};
use crate::workflow::ticks::statuses::SPEC_STATUS;
use crate::workflow::ticks::written_files::WrittenFile;
use crate::workflow::ticks::written_text::WrittenText;
use provost_core::opinion::Fault;
use provost_core::workflow::WorkflowSystem;
use provost_core::workflow::project::{PathRole, WorkflowRoot};
use provost_core::workflow::tasks::TaskItem;
use provost_core::workspace::Workspace;

/// What a call does to an instance.
#[derive(Debug)]
pub(super) struct Completion {
    /// The name of the instance, if it is one.
    pub(super) name: String,
    /// The tasks that are open although the call says that everything is done.
    pub(super) open: Vec<TaskItem>,
    /// The tasks that are taken out or cancelled, so that nothing is left to do.
    pub(super) dropped: Vec<TaskItem>,
    /// The call finishes the instance.
    pub(super) is_end: bool,
}

/// What a written file finishes.
pub(super) fn find_completions(
    file: &WrittenFile<'_>,
    workspace: &Workspace,
) -> Result<Vec<Completion>, Fault> {
    let WrittenText::Whole(text) = &file.written else { return find_possible_completion(file, workspace) };
    let Some(read) = find_task_reader(file.root.table, &file.role) else { return Ok(Vec::new()) };
    let (old, new) = (read(&file.old), read(text));
    match (&file.role, file.root.table.system) {
        (PathRole::StatusFile, _) => find_finished_stories(&old, &new, &file.root, workspace),
        (PathRole::TaskFile { .. }, WorkflowSystem::TaskMaster) => Ok(compare_tags(&old, &new)),
        (PathRole::TaskFile { instance }, system) => {
            let completion = compare_tasks(instance, &old, &new, system);
            Ok(completion.into_iter().collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// What a written file may finish whose new text cannot be known.
fn find_possible_completion(file: &WrittenFile<'_>, workspace: &Workspace) -> Result<Vec<Completion>, Fault> {
    let is_done = |text: &String| text.contains("done") || text.contains("completed");
    let may_end = match &file.written {
        WrittenText::Piece(text) | WrittenText::Lines(text) => is_done(text),
        WrittenText::Replaced(pairs) => pairs.iter().any(|(old, new)| is_done(new) && !is_done(old)),
        WrittenText::OneOf(texts) => texts.iter().any(is_done),
        WrittenText::Whole(_) | WrittenText::Unknown => true,
    };
    let (root, mut found) = (&file.root, Vec::new());
    let is_status = matches!(file.role, PathRole::StatusFile | PathRole::TaskFile { .. });
    if root.table.system != WorkflowSystem::Bmad || !may_end || !is_status {
        return Ok(found);
    }
    for place in root.list_instances(workspace)? {
        let is_other = matches!(&file.role, PathRole::TaskFile { instance } if *instance != place.name);
        let Some(story) = root.read_instance(&place, workspace).filter(|story| story.is_open() && !is_other)
        else {
            continue;
        };
        let open = list_open_tasks(&story.tasks);
        found.push(Completion { name: place.name, open, dropped: Vec::new(), is_end: true });
    }
    Ok(found)
}

/// What it finishes to give these tasks of Task Master another status.
pub(super) fn find_completions_by_id(tasks: &[TaskItem], ids: &[&str], is_done: bool) -> Vec<Completion> {
    let mut after = tasks.to_vec();
    let is_meant = |task: &TaskItem| {
        let id = task.id.as_deref().and_then(|id| id.rsplit('/').next());
        id.is_some_and(|id| ids.contains(&id))
    };
    for task in after.iter_mut().filter(|task| is_meant(task)) {
        (task.is_done, task.is_closed) = (is_done, true);
    }
    compare_tags(tasks, &after)
}

fn find_finished_stories(
    old: &[TaskItem],
    new: &[TaskItem],
    root: &WorkflowRoot<'_>,
    workspace: &Workspace,
) -> Result<Vec<Completion>, Fault> {
    let mut found = Vec::new();
    for at in find_ticks(old, new) {
        let key = new[at].id.clone().unwrap_or_default();
        // An epic is done with its stories.
        let parts: Vec<TaskItem> = new.iter().filter(|task| task.parent == Some(at)).cloned().collect();
        let open = match find_story(&key, root, workspace)? {
            Some(story) => list_open_tasks(&story.tasks),
            None => list_open_tasks(&parts),
        };
        found.push(Completion { name: key, open, dropped: Vec::new(), is_end: true });
    }
    Ok(found)
}

/// Each tag is an instance. A task of it must not be done before its subtasks.
fn compare_tags(old: &[TaskItem], new: &[TaskItem]) -> Vec<Completion> {
    let tag_of = |task: &TaskItem| {
        task.id.as_deref().and_then(|id| id.rsplit_once('/')).map(|(tag, _)| tag.to_owned())
    };
    let mut tags: Vec<String> = old.iter().filter_map(tag_of).collect();
    tags.dedup();
    let mut found = Vec::new();
    for tag in tags {
        let select = |tasks: &[TaskItem]| -> Vec<TaskItem> {
            let first = tasks.iter().position(|task| tag_of(task).as_ref() == Some(&tag)).unwrap_or_default();
            let mut own: Vec<TaskItem> =
                tasks.iter().filter(|task| tag_of(task).as_ref() == Some(&tag)).cloned().collect();
            for task in &mut own {
                task.parent = task.parent.and_then(|parent| parent.checked_sub(first));
            }
            own
        };
        let (old, new) = (select(old), select(new));
        let early: Vec<TaskItem> = find_ticks(&old, &new)
            .into_iter()
            .flat_map(|at| new.iter().filter(move |task| task.parent == Some(at) && !task.is_closed))
            .cloned()
            .collect();
        if early.is_empty() {
            found.extend(compare_tasks(&tag, &old, &new, WorkflowSystem::TaskMaster));
        } else {
            found.push(Completion { name: tag, open: early, dropped: Vec::new(), is_end: false });
        }
    }
    found
}

/// What becomes of the tasks of one instance; `None`: it is not finished by this.
fn compare_tasks(
    name: &str,
    old: &[TaskItem],
    new: &[TaskItem],
    system: WorkflowSystem,
) -> Option<Completion> {
    let make = |open, dropped, is_end| Some(Completion { name: name.to_owned(), open, dropped, is_end });
    let is_status = |task: &&TaskItem| task.id.as_deref() == Some(SPEC_STATUS);
    let is_ended = |tasks: &[TaskItem]| tasks.iter().find(is_status).is_some_and(|status| status.is_done);
    let without_status = |tasks: &[TaskItem]| -> Vec<TaskItem> {
        tasks.iter().filter(|task| !is_status(task)).cloned().collect()
    };
    if system == WorkflowSystem::Bmad {
        let open = list_open_tasks(&without_status(new));
        return if is_ended(new) && !is_ended(old) { make(open, Vec::new(), true) } else { None };
    }
    let (before, after) = (list_open_tasks(old), list_open_tasks(new));
    // A list that loses all tasks is to be written anew, and is not finished.
    let is_rewritten = new.is_empty() && system != WorkflowSystem::TaskMaster;
    if before.is_empty() || !after.is_empty() || is_rewritten {
        return None;
    }
    let is_kept = |task: &TaskItem| {
        new.iter().enumerate().any(|(at, other)| {
            let is_same = other.text == task.text || other.id.is_some() && other.id == task.id;
            is_same && (other.is_done || is_finished_header(new, at))
        })
    };
    let dropped: Vec<TaskItem> = before.into_iter().filter(|task| !is_kept(task)).collect();
    // A change of OpenSpec ends with its archive.
    make(Vec::new(), dropped, system != WorkflowSystem::OpenSpec)
}
