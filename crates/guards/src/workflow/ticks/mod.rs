//! `workflow-ticks`: a task is marked as done only after work.
//!
//! Before a call, the guard compares the tasks of each file that the call changes, and reads the commands of the tools. After
//! a call, it records what was work ([`work_log`]). A change of a task file whose new text cannot be known may tick a
//! task, so it needs work too.

pub(crate) mod call_ticks;
pub(crate) mod found_ticks;
pub(crate) mod new_ticks;
mod runs;
pub(crate) mod statuses;
pub(crate) mod work_log;
pub(crate) mod written_files;
pub(crate) mod written_text;

use crate::prelude::*;
use std::path::Path;

use self::call_ticks::{CallTicks, list_call_ticks};
use self::found_ticks::FoundTicks;
use self::work_log::{WorkRules, has_work_since_tick, list_steps_before};
use super::archive_task::is_archive_task;
use super::work::is_work;
use crate::rules::scene::Scene;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::rules::evidence::ChangedPath;
use provost_core::text;
use provost_core::tool::{Tool, ToolCall};
use provost_core::workflow::WorkflowTable;
use provost_core::workflow::project::PathRole;
use provost_core::workflow::tasks::TaskItem;
use provost_core::workspace::Workspace;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    if matches!(&event.kind, EventKind::BeforeTool(call) if !may_tick(call)) {
        return Ok(Opinion::unconcerned());
    }
    let tables = &workspace.config.list_workflows();
    let is_change_of_work = |change: &ChangedPath| is_work(change, tables, workspace);
    let finish = workspace.config.workflow_finish().and_then(|finish| finish.passed.as_deref());
    let rules = WorkRules { is_work: &is_change_of_work, finish };
    let needs_review = workspace.config.workflow_finish().is_some_and(|finish| finish.review.is_some());
    if needs_review && !matches!(event.kind, EventKind::BeforeTool(_)) {
        // Reviews are about what has changed since then.
        workspace.remember_session_commit(event.session.as_deref().unwrap_or_default())?;
    }
    match &event.kind {
        EventKind::BeforeTool(_) => judge_call(event, &rules, tables, workspace),
        EventKind::AfterTool(call) | EventKind::ToolFailed(call) => {
            work_log::record_call(call, event, &rules, workspace)?;
            Ok(Opinion::unconcerned())
        }
        EventKind::Prompt { .. } => {
            work_log::record_prompt(event, workspace)?;
            Ok(Opinion::unconcerned())
        }
        _ => Ok(Opinion::unconcerned()),
    }
}

fn judge_call(
    event: &Event,
    rules: &WorkRules<'_>,
    tables: &[WorkflowTable],
    workspace: &Workspace,
) -> Result<Opinion, Fault> {
    let scene = Scene::new(event, workspace);
    work_log::record_start(rules, &scene)?;
    let mut found = list_call_ticks(tables, &scene)?;
    for ticks in &mut found {
        drop_free_ticks(ticks, workspace)?;
    }
    found.retain(|found| found.ticks != FoundTicks::Tasks(Vec::new()));
    if let Some(checklist) = found.iter().find(|found| matches!(found.role, PathRole::Checklist)) {
        return Ok(deny_checklist(checklist, event, workspace));
    }
    if found.is_empty() {
        return Ok(Opinion::silent());
    }
    let evidence = work_log::read_log(event, workspace)?;
    let session = event.session.as_deref().unwrap_or_default();
    for ticks in &found {
        let is_earned = has_work_since_tick(&evidence, &ticks.root, session, workspace)
            || !list_steps_before(ticks.command, rules, &scene).is_empty();
        if !is_earned {
            return Ok(deny_ticks(ticks, event, workspace));
        }
    }
    let mut roots: Vec<&Path> = found.iter().map(|ticks| ticks.root.directory.as_path()).collect();
    roots.dedup();
    work_log::record_ticking(&roots, event, workspace)?;
    Ok(Opinion::silent())
}

/// Whether a call can change a file or the status of a task.
pub(crate) fn may_tick(call: &ToolCall) -> bool {
    let can_change = call.tool.is_file_tool() || matches!(call.tool, Tool::Shell { .. } | Tool::Other { .. });
    can_change && !call.is_reader()
}

/// Leaves out the ticks that need no work: the task to archive, and stories whose own tasks are all done.
fn drop_free_ticks(found: &mut CallTicks<'_>, workspace: &Workspace) -> Result<(), Fault> {
    let CallTicks { root, role, ticks: FoundTicks::Tasks(tasks), .. } = found else { return Ok(()) };
    let mut kept = Vec::new();
    for task in tasks.drain(..) {
        let is_free = match role {
            PathRole::StatusFile => super::finish::is_story_finished(&task, root, workspace)?,
            _ => is_archive_task(&task),
        };
        if !is_free {
            kept.push(task);
        }
    }
    *tasks = kept;
    Ok(())
}

fn deny_ticks(found: &CallTicks<'_>, event: &Event, workspace: &Workspace) -> Opinion {
    let shown = show_path(&found.file, workspace);
    let planning = found.root.list_planning().next().map(|path| path.to_string_lossy().into_owned());
    let planning = text::quote_path_end(&planning.unwrap_or_default());
    let work = format!("Work is a change outside {planning}, or a test or build that passes");
    let (why, fix) = match &found.ticks {
        FoundTicks::Tasks(tasks) => (
            format!("{} ticked without work since the last tick", name_tasks(tasks)),
            format!(
                "do its work or run its tests first. {work}. If Provost did not see the work, show the user the task; \
                 they can tick it in an editor"
            ),
        ),
        FoundTicks::Possible => (
            "it may tick tasks without work since the last tick".into(),
            format!(
                "change {} with the Edit tool, whose text can be checked, or do the tasks' work first. {work}",
                text::quote_path_end(&shown)
            ),
        ),
    };
    deny(event, why, fix, format!("it may mark tasks of {shown} as done"))
}

fn deny_checklist(found: &CallTicks<'_>, event: &Event, workspace: &Workspace) -> Opinion {
    let why = "only the user ticks a checklist, because it is their review".into();
    let fix = "show the user its open points; they tick them in an editor".into();
    deny(event, why, fix, format!("{} is a checklist", show_path(&found.file, workspace)))
}

fn deny(event: &Event, why: String, fix: String, evidence: String) -> Opinion {
    let what = format!("{} denied", event.subject());
    Opinion::deny(Denial { what, why, fix, document_wording: None }, vec![evidence])
}

/// The first of some tasks, and how many there are.
pub(crate) fn name_tasks(tasks: &[TaskItem]) -> String {
    let Some(first) = tasks.first() else { return String::new() };
    let id = first.id.as_deref().map(|id| id.strip_prefix("master/").unwrap_or(id)).unwrap_or_default();
    let words = if id == first.text { String::new() } else { first.text.clone() };
    let name = format!("{id} {words}");
    let more = match tasks.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", text::quote_for_model(&text::clip_line(name.trim(), 24)))
}

pub(crate) fn show_path(path: &Path, workspace: &Workspace) -> String {
    let shown = path.strip_prefix(&workspace.project).unwrap_or(path);
    text::make_one_line(&shown.to_string_lossy())
}
