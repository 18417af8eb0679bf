//! The spec-driven workflows of a project: their instances, what the user has approved, and what comes next.
//!
//! Nothing is judged here: the readers are those of the guard, and so is the comparison with an approval.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::config::settings;
use crate::text::make_one_line;
use crate::workflow::instance::{ArtefactProblem, ArtefactState, WorkflowInstance};
use crate::workflow::project::WorkflowRoot;
use crate::workflow::{APPROVE_PROMPT, BUILT_IN, WorkflowTable, find_built_in};
use crate::workflow_guard::record::{Approval, Difference, WorkflowRecord};
use crate::workflow_guard::{find_record_place, list_roots_below};
use crate::workspace::Workspace;

/// A workflow in one directory.
pub(crate) struct RootReport {
    pub(crate) workflow: String,
    pub(crate) noun: String,
    pub(crate) root: PathBuf,
    /// Whether its work is held; otherwise the tool was only found.
    pub(crate) is_used: bool,
    /// Those that are open first.
    pub(crate) instances: Vec<InstanceReport>,
    pub(crate) fault: Option<String>,
}

pub(crate) struct InstanceReport {
    pub(crate) name: String,
    /// Relative to the root.
    pub(crate) path: String,
    pub(crate) is_open: bool,
    /// The tool's pointer leads to it.
    pub(crate) is_current: bool,
    pub(crate) approval: ApprovalState,
    pub(crate) artefacts: Vec<ArtefactReport>,
    pub(crate) tasks: (usize, usize),
    pub(crate) next_step: String,
}

pub(crate) enum ApprovalState {
    None,
    Valid(Approval),
    /// A text has changed since.
    Void(Approval, Difference),
    NotNeeded(String),
}

pub(crate) struct ArtefactReport {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) is_required: bool,
    /// `ok`, `missing`, `empty`, `template`, `without tasks`, `unreadable`.
    pub(crate) state: &'static str,
}

/// The workflows that are used here, or else those whose tools are found.
pub(crate) fn read_reports(cwd: &Path, workspace: &Workspace) -> Vec<RootReport> {
    let used = workspace.config.list_workflows();
    let is_used = !used.is_empty();
    let tables = if is_used { used } else { list_built_in() };
    let roots = tables.iter().flat_map(|table| list_roots_below(table, cwd, workspace));
    roots.map(|root| RootReport::read(&root, is_used, workspace)).collect()
}

/// The names of the built-in workflows whose tools a project has, and that no file uses yet.
pub(crate) fn find_unused(cwd: &Path, workspace: &Workspace) -> Vec<&'static str> {
    if workspace.config.configured_value(settings::WORKFLOW_USE).is_some() {
        return Vec::new();
    }
    let is_found = |name: &&&'static str| {
        find_built_in(name).is_some_and(|table| !list_roots_below(&table, cwd, workspace).is_empty())
    };
    BUILT_IN.iter().filter(is_found).copied().collect()
}

fn list_built_in() -> Vec<WorkflowTable> {
    BUILT_IN.iter().filter_map(|name| find_built_in(name)).collect()
}

impl RootReport {
    fn read(root: &WorkflowRoot<'_>, is_used: bool, workspace: &Workspace) -> Self {
        let mut report = Self {
            workflow: root.table.name.clone(),
            noun: root.table.noun.clone(),
            root: root.directory.clone(),
            is_used,
            instances: Vec::new(),
            fault: None,
        };
        let place = find_record_place(&root.directory, workspace);
        let record = WorkflowRecord::read(&place, workspace);
        let listed = root.list_instances(workspace);
        let (record, places) = match (record, listed) {
            (Ok(record), Ok(places)) => (record, places),
            (Err(fault), _) | (_, Err(fault)) => {
                report.fault = Some(make_one_line(&fault.to_string()));
                return report;
            }
        };
        let pointer = root.read_pointer(workspace);
        for place in &places {
            if let Some(instance) = root.read_instance(place, workspace) {
                let is_current = pointer.as_deref().is_some_and(|name| root.is_called(place, name));
                report.instances.push(InstanceReport::read(root, &instance, is_current, &record, workspace));
            }
        }
        report.instances.sort_by_key(|instance| !instance.is_open);
        report
    }

    /// The instance that a summary is about: an open one that is approved, or the current one, or the first that is open.
    pub(crate) fn find_governing(&self) -> Option<&InstanceReport> {
        let mut open = self.instances.iter().filter(|instance| instance.is_open);
        let is_approved = |instance: &&InstanceReport| instance.approval.allows_work();
        let all = || self.instances.iter().filter(|instance| instance.is_open);
        all().find(is_approved).or_else(|| all().find(|instance| instance.is_current)).or_else(|| open.next())
    }

    pub(crate) fn count_open(&self) -> usize {
        self.instances.iter().filter(|instance| instance.is_open).count()
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({
            "workflow": self.workflow,
            "project": self.root.to_string_lossy(),
            "used": self.is_used,
            "fault": self.fault,
            "instances": self.instances.iter().map(InstanceReport::as_json).collect::<Vec<_>>(),
        })
    }
}

impl ApprovalState {
    pub(crate) fn allows_work(&self) -> bool {
        matches!(self, Self::Valid(_) | Self::NotNeeded(_))
    }

    pub(crate) fn describe(&self) -> String {
        let by = |approval: &Approval| {
            let user =
                if approval.user.is_empty() { String::new() } else { format!(" by {}", approval.user) };
            make_one_line(&format!("{}{user}", approval.time))
        };
        match self {
            Self::None => "not approved".into(),
            Self::Valid(approval) => format!("approved {}", by(approval)),
            Self::Void(approval, difference) => {
                let (file, verb) = match difference {
                    Difference::Changed(file) => (file, "changed"),
                    Difference::Added(file) => (file, "is new"),
                    Difference::Removed(file) => (file, "is gone"),
                };
                format!("approved {}, but {} {verb} since", by(approval), make_one_line(file))
            }
            Self::NotNeeded(route) => format!("needs no approval (route {})", make_one_line(route)),
        }
    }

    fn as_json(&self) -> Value {
        let approval = |approval: &Approval| json!({"time": approval.time, "user": approval.user, "session": approval.session, "prompt": approval.prompt});
        match self {
            Self::None => json!({"state": "none"}),
            Self::NotNeeded(route) => json!({"state": "not needed", "route": route}),
            Self::Valid(valid) => json!({"state": "valid", "by": approval(valid)}),
            Self::Void(void, difference) => {
                let file = match difference {
                    Difference::Changed(file) | Difference::Added(file) | Difference::Removed(file) => file,
                };
                json!({"state": "void", "by": approval(void), "changed": file})
            }
        }
    }
}

impl InstanceReport {
    fn read(
        root: &WorkflowRoot<'_>,
        instance: &WorkflowInstance,
        is_current: bool,
        record: &WorkflowRecord,
        workspace: &Workspace,
    ) -> Self {
        let name = instance.place.name.clone();
        let free_routes = workspace.config.words(settings::WORKFLOW_FREE_ROUTES);
        let free = instance.route.clone().filter(|route| free_routes.contains(route));
        let known = record.find_approval(root, &name, workspace);
        let approval = match (free, known) {
            (Some(route), _) => ApprovalState::NotNeeded(route),
            (None, None) => ApprovalState::None,
            (None, Some(approval)) => match approval.compare(instance) {
                Ok(()) => ApprovalState::Valid(approval.clone()),
                Err(difference) => ApprovalState::Void(approval.clone(), difference),
            },
        };
        Self {
            path: root.shorten(&instance.place.path).into_owned(),
            is_open: instance.is_open(),
            is_current,
            artefacts: instance.artefacts.iter().map(ArtefactReport::new).collect(),
            tasks: instance.count_tasks(),
            next_step: find_next_step(instance, &approval),
            approval,
            name,
        }
    }

    /// Its tasks, in words.
    pub(crate) fn describe_tasks(&self) -> String {
        match self.tasks {
            (_, 0) => "no tasks".into(),
            (closed, all) => format!("{closed} of {all} tasks done"),
        }
    }

    fn as_json(&self) -> Value {
        let artefact = |artefact: &ArtefactReport| json!({"id": artefact.id, "path": artefact.path, "required": artefact.is_required, "state": artefact.state});
        json!({
            "name": self.name,
            "path": self.path,
            "open": self.is_open,
            "current": self.is_current,
            "approval": self.approval.as_json(),
            "artefacts": self.artefacts.iter().map(artefact).collect::<Vec<_>>(),
            "tasks": {"done": self.tasks.0, "all": self.tasks.1},
            "next": self.next_step,
        })
    }
}

impl ArtefactReport {
    fn new(artefact: &ArtefactState) -> Self {
        let state = match artefact.problem {
            None => "ok",
            Some(ArtefactProblem::Missing) => "missing",
            Some(ArtefactProblem::Empty) => "empty",
            Some(ArtefactProblem::Unfilled(_)) => "template",
            Some(ArtefactProblem::NoTask) => "without tasks",
            Some(ArtefactProblem::Unreadable(_)) => "unreadable",
        };
        Self {
            id: artefact.id.clone(),
            path: artefact.expected.clone(),
            is_required: artefact.is_required,
            state,
        }
    }
}

fn find_next_step(instance: &WorkflowInstance, approval: &ApprovalState) -> String {
    if !instance.is_open() {
        return "nothing: it is finished".into();
    }
    if let Some((artefact, problem)) = instance.first_problem() {
        let verb = match problem {
            ArtefactProblem::Missing | ArtefactProblem::Empty => "write",
            ArtefactProblem::Unfilled(_) => "fill in",
            ArtefactProblem::NoTask => "write tasks into",
            ArtefactProblem::Unreadable(_) => "make readable:",
        };
        return make_one_line(&format!("{verb} {}", artefact.expected));
    }
    if !approval.allows_work() {
        let again = if matches!(approval, ApprovalState::Void(..)) {
            "look at the change, and type"
        } else {
            "read it, and type"
        };
        let name = make_one_line(&instance.place.name);
        return format!("{again} `{APPROVE_PROMPT} {name}` as a prompt in the client");
    }
    let is_part = |at: usize| instance.tasks.iter().any(|task| task.parent == Some(at));
    let mut open = instance.tasks.iter().enumerate().filter(|(at, task)| !task.is_closed && !is_part(*at));
    match open.next() {
        Some((_, task)) => {
            let id = task.id.as_deref().unwrap_or_default();
            make_one_line(format!("{id} {}", task.text).trim())
        }
        None => "finish it with its tool".into(),
    }
}
