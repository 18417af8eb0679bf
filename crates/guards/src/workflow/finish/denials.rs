//! The words of the denials of `workflow-finish`.

use crate::prelude::*;

use super::evidence::MissingEvidence;
use super::settings_change::SettingsChange;
use crate::workflow::ticks::name_tasks;
use provost_core::event::Event;
use provost_core::opinion::{Denial, Opinion};
use provost_core::text::{clip_line, quote_for_model, quote_path_end};
use provost_core::workflow::instance::{ArtefactProblem, ArtefactState, WorkflowInstance};
use provost_core::workflow::project::WorkflowRoot;
use provost_core::workflow::tasks::TaskItem;

/// What an instance is called in messages.
pub(super) fn name_instance(root: &WorkflowRoot<'_>, name: &str) -> String {
    format!("the {} {}", root.table.noun, quote_for_model(&clip_line(name, 40)))
}

pub(super) fn deny_open_tasks(event: &Event, named: &str, open: &[TaskItem]) -> Opinion {
    let count = match open.len() {
        1 => "a task is".to_owned(),
        count => format!("{count} tasks are"),
    };
    let why = format!("{count} not done in {named}: {}", name_tasks(open));
    let fix =
        "do and tick them; or show the user what is open, who may finish it in a terminal or drop tasks";
    build_denial(event, why, fix.into())
}

pub(super) fn deny_incomplete(
    event: &Event,
    named: &str,
    (artefact, problem): (&ArtefactState, &ArtefactProblem),
) -> Opinion {
    let path = quote_path_end(&artefact.expected);
    let what = match problem {
        ArtefactProblem::Missing => "is missing",
        ArtefactProblem::Empty => "is empty",
        ArtefactProblem::Unfilled(_) => "is still the template",
        ArtefactProblem::NoTask => "has no task",
        ArtefactProblem::Unreadable(_) => "cannot be read",
    };
    let why = format!("{named} is not finished: {path} {what}");
    let fix = "complete it and do its tasks; or show the user, who may finish or remove it in a terminal";
    build_denial(event, why, fix.into())
}

pub(super) fn deny_without_evidence(event: &Event, named: &str, missing: MissingEvidence) -> Opinion {
    build_denial(event, format!("{named} is not proved: {}", missing.why), missing.fix)
}

pub(super) fn deny_removal(event: &Event, root: &WorkflowRoot<'_>, instance: &WorkflowInstance) -> Opinion {
    let named = name_instance(root, &instance.place.name);
    let why = format!("{named} is open, and without it work would need no plan");
    let place = quote_path_end(&root.shorten(&instance.place.path));
    let fix = format!("finish it, or show the user {place}, who may remove or move it in a terminal");
    build_denial(event, why, fix)
}

/// Tasks are taken out or cancelled, and nothing would be left to do.
pub(super) fn deny_dropped_tasks(event: &Event, named: &str, dropped: &[TaskItem]) -> Opinion {
    let why = format!("{named} would be finished although nobody did {}", name_tasks(dropped));
    let fix = "do and tick the task; or show the user, who may drop it in an editor";
    build_denial(event, why, fix.into())
}

pub(super) fn deny_pointer(event: &Event, root: &WorkflowRoot<'_>, instance: &WorkflowInstance) -> Opinion {
    let named = name_instance(root, &instance.place.name);
    let file = root.table.pointer.as_ref().map_or("the pointer", |pointer| pointer.file.as_str());
    let why = format!("{file} leads to {named}, which is open");
    let fix = "finish it, or show the user which one should be current, who may change the file in an editor";
    build_denial(event, why, fix.into())
}

/// With other settings of its tool, an open instance would look finished or be gone.
pub(super) fn deny_settings(event: &Event, change: &SettingsChange<'_>) -> Opinion {
    let named = name_instance(&change.root, &change.instance.place.name);
    let why = format!("{named} is open, and this file says where it is or what it needs");
    let fix = "finish it first; or show the user the new text, who may save it in an editor";
    build_denial(event, why, fix.into())
}

fn build_denial(event: &Event, why: String, fix: String) -> Opinion {
    let what = format!("{} denied", event.subject());
    Opinion::deny(Denial { what, why: why.clone(), fix, document_wording: None }, vec![why])
}
