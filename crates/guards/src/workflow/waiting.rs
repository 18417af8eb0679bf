//! The words of a denial: which instance waits, why, what to show the user, and what the user types.

use crate::prelude::*;

use super::record::Difference;
use super::standing::WaitingReason;
use provost_core::event::Event;
use provost_core::opinion::{Denial, Fault};
use provost_core::text::{clip_line, quote_for_model, quote_path_end, sanitize_for_model};
use provost_core::workflow::instance::{ArtefactProblem, WorkflowInstance};
use provost_core::workflow::project::WorkflowRoot;
use provost_core::workflow::{APPROVE_PROMPT, WorkflowSystem};

/// How many other open instances a denial names.
const MOST_NAMED: usize = 3;

/// The prompt with which the user approves an instance. Another member of the repository may have one of the same name, so
/// outside of its root the prompt has the path.
fn approve_prompt(event: &Event, root: &WorkflowRoot<'_>, instance: &WorkflowInstance) -> String {
    let place = &instance.place;
    let is_near = event.cwd.starts_with(&root.directory) || root.table.system == WorkflowSystem::TaskMaster;
    let member = root.directory.file_name().filter(|_| !is_near);
    let name = member.map_or_else(
        || place.name.clone(),
        |member| format!("{}/{}", member.to_string_lossy(), root.shorten(&place.path)),
    );
    format!("`{} {}`", APPROVE_PROMPT, sanitize_for_model(&name).replace('`', "'"))
}

pub(super) fn deny_waiting(
    event: &Event,
    root: &WorkflowRoot<'_>,
    instance: &WorkflowInstance,
    why: &WaitingReason,
    others: &[String],
) -> Denial {
    let prompt = approve_prompt(event, root, instance);
    let named = format!("the {} {}", root.table.noun, quote_for_model(&clip_line(&instance.place.name, 40)));
    let place = quote_path_end(&root.shorten(&instance.place.path));
    let (why, mut fix) = match why {
        WaitingReason::NotApproved => (
            format!("{named} waits for the user's prompt {prompt}"),
            format!("ask for it, and show the user the plan in {place}"),
        ),
        WaitingReason::Changed(difference) => {
            let (file, verb) = match difference {
                Difference::Changed(file) => (file, "has changed"),
                Difference::Added(file) => (file, "is new"),
                Difference::Removed(file) => (file, "is gone"),
            };
            (
                format!(
                    "{} {verb} since the user's prompt {prompt}, which is needed again",
                    quote_path_end(file)
                ),
                "show the user the difference, and ask for this prompt".into(),
            )
        }
        WaitingReason::Incomplete(path, problem) => {
            let path = quote_path_end(path);
            let fix = format!("complete it, show the user {place}, and ask for the prompt {prompt}");
            match problem {
                ArtefactProblem::Missing => {
                    (format!("{path} is missing, which {named} needs before work"), fix)
                }
                ArtefactProblem::Empty => (format!("{path} is empty, which {named} needs before work"), fix),
                ArtefactProblem::Unfilled(_) => {
                    (format!("{path} of {named} is still the unfilled template"), fix)
                }
                ArtefactProblem::NoTask => (format!("{path} of {named} has no task (`- [ ] …`)"), fix),
                ArtefactProblem::Unreadable(why) => (
                    format!("{named} cannot be checked: {}", clip_line(&sanitize_for_model(why), 100)),
                    format!("make {path} readable, show it to the user, and ask for the prompt {prompt}"),
                ),
            }
        }
    };
    if !others.is_empty() {
        let mut listed: Vec<String> =
            others.iter().take(MOST_NAMED).map(|name| quote_for_model(&clip_line(name, 40))).collect();
        if others.len() > MOST_NAMED {
            listed.push("and others".into());
        }
        fix += &format!(". Also open: {}; the user may approve one of them instead", listed.join(", "));
    }
    build_denial(event, why, fix)
}

pub(super) fn deny_unreadable(event: &Event, root: &WorkflowRoot<'_>, fault: &Fault) -> Denial {
    let why = clip_line(&sanitize_for_model(&fault.to_string()), 110);
    build_denial(
        event,
        format!("which {} is approved cannot be checked: {why}", root.table.noun),
        "the user makes it readable, or restores it from the last commit".into(),
    )
}

pub(super) fn deny_without_instance(event: &Event, root: &WorkflowRoot<'_>) -> Denial {
    let noun = &root.table.noun;
    build_denial(
        event,
        format!("no {noun} is open, and `workflow.strict` needs one for all work"),
        format!(
            "begin a {noun} with {}, and let the user approve it with `provost approve NAME`",
            root.table.name
        ),
    )
}

pub(super) fn deny_unknown(event: &Event, root: &WorkflowRoot<'_>, instance: &WorkflowInstance) -> Denial {
    let prompt = approve_prompt(event, root, instance);
    build_denial(
        event,
        format!("its target is not known, and work waits for the user's prompt {prompt}"),
        format!(
            "name the file in the command, so that a change of the plan is allowed; or show the user the plan in {}",
            quote_path_end(&root.shorten(&instance.place.path))
        ),
    )
}

fn build_denial(event: &Event, why: String, fix: String) -> Denial {
    Denial { what: format!("{} denied", event.subject()), why, fix, document_wording: None }
}
