//! What governs the work in a project: an open instance that is approved, or why none is.
//!
//! Several instances may be open, and stale ones stay for months. One that is approved is enough; which one the user
//! named last and which one the tool points to only decide which one a message is about.

use crate::prelude::*;

use super::record::{Difference, WorkflowRecord};
use super::unchanged::{FinishedInstances, TagState, read_tags};
use provost_core::config::settings;
use provost_core::opinion::Fault;
use provost_core::workflow::WorkflowSystem;
use provost_core::workflow::instance::{ArtefactProblem, WorkflowInstance};
use provost_core::workflow::project::{InstancePlace, WorkflowRoot};
use provost_core::workspace::Workspace;

/// How many open instances a message can name.
const MOST_OPEN: usize = 5;

/// What governs the work.
#[derive(Debug)]
pub enum WorkStanding {
    /// No instance is open.
    Free,
    /// An open instance is approved, or needs no approval.
    Approved { place: InstancePlace, how: String },
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
    if root.table.system == WorkflowSystem::TaskMaster {
        return find_tag_standing(root, record, workspace);
    }
    find_approved(root, record, workspace).unwrap_or_else(|| find_open(root, record, workspace))
}

/// What governs the work in a project of Task Master, whose instances are all in one file.
fn find_tag_standing(
    root: &WorkflowRoot<'_>,
    record: &WorkflowRecord,
    workspace: &Workspace,
) -> WorkStanding {
    let mut open = match read_tags(root, workspace) {
        Ok(tags) => tags,
        Err(fault) => return WorkStanding::Unreadable(fault),
    };
    open.retain(|tag| tag.is_open);
    let find_approval = |tag: &TagState| record.find_approval(root, &tag.place.name, workspace);
    for tag in &open {
        let is_same = |(_, digest): &(String, String)| *digest == tag.digest;
        if let Some(approval) = find_approval(tag).filter(|approval| approval.files.iter().any(is_same)) {
            let how = format!("approved on {}", approval.time);
            return WorkStanding::Approved { place: tag.place.clone(), how };
        }
    }
    let names: Vec<&str> = open.iter().map(|tag| tag.place.name.as_str()).collect();
    let Some(chosen) = choose_instance(&names, root, record, workspace) else { return WorkStanding::Free };
    let tag = open.remove(chosen);
    let why = match find_approval(&tag).and_then(|approval| approval.files.first()) {
        Some((path, _)) => WaitingReason::Changed(Difference::Changed(path.clone())),
        None => WaitingReason::NotApproved,
    };
    let others = open.into_iter().map(|tag| tag.place.name).collect();
    WorkStanding::Waiting { instance: WorkflowInstance::named(tag.place), why, others }
}

/// Which instance a message is about: the one that the user named last, or the tool's pointer, or the last one by name,
/// which is often the newest.
fn choose_instance(
    names: &[&str],
    root: &WorkflowRoot<'_>,
    record: &WorkflowRecord,
    workspace: &Workspace,
) -> Option<usize> {
    let wanted = [record.find_named(&root.table.name).map(str::to_owned), root.read_pointer(workspace)];
    let by_name = wanted.iter().flatten().find_map(|wanted| names.iter().position(|name| name == wanted));
    by_name.or_else(|| names.len().checked_sub(1))
}

/// The open instance that an approval on record covers. Only the files of approved instances are read.
fn find_approved(
    root: &WorkflowRoot<'_>,
    record: &WorkflowRecord,
    workspace: &Workspace,
) -> Option<WorkStanding> {
    record.list_approvals(root, workspace).into_iter().find_map(|approval| {
        let place =
            InstancePlace { name: approval.instance.clone(), path: root.directory.join(&approval.place) };
        let instance = root.read_instance(&place, workspace)?;
        let is_valid = instance.is_open() && approval.compare(&instance).is_ok();
        is_valid.then(|| WorkStanding::Approved { place, how: format!("approved on {}", approval.time) })
    })
}

fn find_open(root: &WorkflowRoot<'_>, record: &WorkflowRecord, workspace: &Workspace) -> WorkStanding {
    let places = match root.list_instances(workspace) {
        Ok(places) => places,
        Err(fault) => return WorkStanding::Unreadable(fault),
    };
    let free_routes = workspace.config.words(settings::WORKFLOW_FREE_ROUTES);
    // A message needs only a few of the open ones, but any of them may need no approval.
    let most = if free_routes.is_empty() { MOST_OPEN } else { usize::MAX };
    let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
    let first = choose_instance(&names, root, record, workspace);
    let order = first.into_iter().chain((0..places.len()).rev().filter(|at| Some(*at) != first));
    let mut finished = FinishedInstances::load(root, workspace);
    let mut open: Vec<WorkflowInstance> = Vec::new();
    for place in order.map(|at| &places[at]) {
        if finished.has(place, workspace) {
            continue;
        }
        let Some(instance) = root.read_instance(place, workspace) else { continue };
        if !instance.is_open() {
            finished.add(place, workspace);
            continue;
        }
        let route = instance.route.as_ref().filter(|route| free_routes.contains(route));
        if let Some(how) = route.map(|route| format!("the route `{route}` needs no approval")) {
            return WorkStanding::Approved { place: instance.place, how };
        }
        open.push(instance);
        if open.len() == most {
            break;
        }
    }
    finished.store(workspace);
    if open.is_empty() {
        return WorkStanding::Free;
    }
    let instance = open.remove(0);
    let why = find_reason(root, &instance, record, workspace);
    let others = open.into_iter().map(|other| other.place.name).collect();
    WorkStanding::Waiting { instance, why, others }
}

/// Why an open instance does not allow work yet.
fn find_reason(
    root: &WorkflowRoot<'_>,
    instance: &WorkflowInstance,
    record: &WorkflowRecord,
    workspace: &Workspace,
) -> WaitingReason {
    if let Some((artefact, problem)) = instance.first_problem() {
        return WaitingReason::Incomplete(artefact.expected.clone(), problem.clone());
    }
    let approval = record.find_approval(root, &instance.place.name, workspace);
    match approval.map(|approval| approval.compare(instance)) {
        Some(Err(difference)) => WaitingReason::Changed(difference),
        _ => WaitingReason::NotApproved,
    }
}
