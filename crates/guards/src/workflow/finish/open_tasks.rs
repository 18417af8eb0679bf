//! The tasks that keep an instance from being finished.

use crate::prelude::*;

use super::super::archive_task::is_archive_task;
use crate::workflow::ticks::new_ticks::is_finished_header;
use provost_core::opinion::Fault;
use provost_core::workflow::instance::WorkflowInstance;
use provost_core::workflow::project::WorkflowRoot;
use provost_core::workflow::tasks::TaskItem;
use provost_core::workspace::Workspace;

/// The tasks that are neither closed nor optional, without the one to archive and without finished headers.
pub(crate) fn list_open_tasks(tasks: &[TaskItem]) -> Vec<TaskItem> {
    let is_open = |(at, task): &(usize, &TaskItem)| {
        !task.is_closed && !task.is_optional && !is_archive_task(task) && !is_finished_header(tasks, *at)
    };
    tasks.iter().enumerate().filter(is_open).map(|(_, task)| task.clone()).collect()
}

/// The instance of a story in `sprint-status.yaml`: `1-2-sign-in` is the file of that name, or that of `sign-in`.
pub(crate) fn find_story(
    key: &str,
    root: &WorkflowRoot<'_>,
    workspace: &Workspace,
) -> Result<Option<WorkflowInstance>, Fault> {
    let slug = key.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    let places = root.list_instances(workspace)?;
    let find = |name: &str| places.iter().find(|place| place.name == name);
    let by_number = || {
        let number = key.strip_suffix(slug).unwrap_or_default();
        places.iter().find(|place| !number.is_empty() && place.name.starts_with(number))
    };
    let place = find(key).or_else(|| find(slug).filter(|_| !slug.is_empty())).or_else(by_number);
    Ok(place.and_then(|place| root.read_instance(place, workspace)))
}

/// Whether all tasks of a story are done, so that its status says nothing new.
pub(crate) fn is_story_finished(
    task: &TaskItem,
    root: &WorkflowRoot<'_>,
    workspace: &Workspace,
) -> Result<bool, Fault> {
    let story = find_story(task.id.as_deref().unwrap_or_default(), root, workspace)?;
    Ok(story.is_some_and(|story| !story.tasks.is_empty() && list_open_tasks(&story.tasks).is_empty()))
}
