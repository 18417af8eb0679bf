//! What governs the work in a project: an open instance that is approved, or why none is.
//!
//! Several instances may be open, and stale ones stay for months. One that is approved is enough; which one the user
//! named last and which one the tool points to only decide which one a message is about.

use crate::prelude::*;

use super::record::{Difference, WorkflowRecord};
use provost_core::config::settings;
use provost_core::opinion::Fault;
use provost_core::workflow::instance::{ArtefactProblem, WorkflowInstance};
use provost_core::workflow::project::{InstancePlace, WorkflowRoot};
use provost_core::workspace::Workspace;

/// What governs the work.
#[derive(Debug)]
pub enum WorkStanding {
    /// No instance is open.
    Free,
    /// An open instance is approved, or needs no approval.
    Approved { instance: WorkflowInstance, how: String },
    /// The work waits for an approval.
    Waiting {
        instance: WorkflowInstance,
        why: WaitingReason,
        /// The names of other open instances.
        others: Vec<String>,
    },
    /// What says which instances there are cannot be read.
    Unreadable(Fault),
}

/// Why the work waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitingReason {
    NotApproved,
    /// A text is not what the user has approved.
    Changed(Difference),
    /// An artefact cannot be approved: its path, and why.
    Incomplete(String, ArtefactProblem),
}

/// What governs the work in a root.
pub fn find_standing(
    root: &WorkflowRoot<'_>,
    record: &WorkflowRecord,
    workspace: &Workspace,
) -> WorkStanding {
    find_approved(root, record, workspace).unwrap_or_else(|| find_open(root, record, workspace))
}

/// The open instance that an approval on record covers. Only the files of approved instances are read.
fn find_approved(
    root: &WorkflowRoot<'_>,
    record: &WorkflowRecord,
    workspace: &Workspace,
) -> Option<WorkStanding> {
    let workflow = root.table.name.as_str();
    record.approvals.iter().filter(|approval| approval.workflow == workflow).find_map(|approval| {
        let place =
            InstancePlace { name: approval.instance.clone(), path: root.directory.join(&approval.place) };
        let instance = root.read_instance(&place, workspace)?;
        let is_valid = instance.is_open() && approval.compare(&instance).is_ok();
        is_valid.then(|| WorkStanding::Approved { instance, how: format!("approved on {}", approval.time) })
    })
}

fn find_open(root: &WorkflowRoot<'_>, record: &WorkflowRecord, workspace: &Workspace) -> WorkStanding {
    let places = match root.list_instances(workspace) {
        Ok(places) => places,
        Err(fault) => return WorkStanding::Unreadable(fault),
    };
    let free_routes = workspace.config.words(settings::WORKFLOW_FREE_ROUTES);
    let mut open: Vec<WorkflowInstance> = Vec::new();
    for place in &places {
        let Some(instance) = root.read_instance(place, workspace).filter(WorkflowInstance::is_open) else {
            continue;
        };
        let route = instance.route.as_ref().filter(|route| free_routes.contains(route));
        if let Some(how) = route.map(|route| format!("the route `{route}` needs no approval")) {
            return WorkStanding::Approved { instance, how };
        }
        open.push(instance);
    }
    let wanted = [record.find_named(&root.table.name).map(str::to_owned), root.read_pointer(workspace)];
    let chosen = wanted
        .iter()
        .flatten()
        .find_map(|name| open.iter().position(|instance| instance.place.name == *name))
        // The last one by name is often the newest.
        .or_else(|| open.len().checked_sub(1));
    let Some(chosen) = chosen else { return WorkStanding::Free };
    let instance = open.remove(chosen);
    let why = find_reason(root, &instance, record);
    let others = open.into_iter().map(|other| other.place.name).collect();
    WorkStanding::Waiting { instance, why, others }
}

/// Why an open instance does not allow work yet.
pub fn find_reason(
    root: &WorkflowRoot<'_>,
    instance: &WorkflowInstance,
    record: &WorkflowRecord,
) -> WaitingReason {
    if let Some((artefact, problem)) = instance.first_problem() {
        return WaitingReason::Incomplete(artefact.expected.clone(), problem.clone());
    }
    let approval = record.find_approval(&root.table.name, &instance.place.name);
    match approval.map(|approval| approval.compare(instance)) {
        Some(Err(difference)) => WaitingReason::Changed(difference),
        _ => WaitingReason::NotApproved,
    }
}
