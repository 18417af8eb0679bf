//! What the guards of an event share: where the project's files are, and what is in them.
//!
//! Each file is read at most once per event, and only if a guard asks for it. A file that is missing or not
//! JSON counts as absent, because these guards are open. A file that exists and cannot be read counts as
//! absent too, but a guard that then has nothing to say has failed, and the journal says so.

use super::prelude::*;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use super::delegation::{Assignment, Delegation};
use super::manifest::AgentManifest;
use super::phase_change::DelegationText;
use super::phase_names::PhaseSet;
use super::phase_records::{self, PendingChanges, seconds_between};
use super::requirements::{self, PhaseProgress, PhaseRequirements};
use super::state::{Workflow, WorkflowState};

/// A project with this directory has a workflow.
pub const WORKFLOW_FOLDER: &str = ".isdlc";
/// Limit for the size of the state and of each other file.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

type Cached<T> = OnceLock<Result<Option<T>, Fault>>;

#[derive(Default)]
pub struct WorkflowContext {
    root: PathBuf,
    /// In a repository of several projects: the name of the project, if it is clear which one is meant.
    member: Option<String>,
    state: Cached<WorkflowState>,
    manifest: Cached<AgentManifest>,
    requirements: Cached<Value>,
    workflows: Cached<Value>,
    assignments: OnceLock<Vec<Assignment>>,
    text: OnceLock<Option<DelegationText>>,
    delegations: OnceLock<Vec<Delegation>>,
    pub(super) changes: PendingChanges,
}

impl WorkflowContext {
    /// The context of this event; `None`: there is no workflow here.
    pub fn find<'w>(event: &Event, workspace: &'w Workspace) -> Option<&'w Self> {
        workspace.cached(|| Self::locate(event, workspace)).as_ref()
    }

    fn locate(event: &Event, workspace: &Workspace) -> Option<Self> {
        let is_root = |directory: &&Path| workspace.is_directory(&directory.join(WORKFLOW_FOLDER));
        let is_inside = |directory: &&Path| directory.starts_with(&workspace.project);
        let root = workspace.start.ancestors().take_while(is_inside).find(is_root)?.to_owned();
        let member = find_member(&root, event, workspace);
        Some(Self { root, member, ..Self::default() })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    pub fn state_file(&self) -> PathBuf {
        self.project_file(WORKFLOW_FOLDER, "state.json")
    }

    /// The task plan's path, and whether it exists. It belongs in `docs/isdlc`; older projects have it in
    /// `.isdlc`.
    pub fn tasks_file(&self, workspace: &Workspace) -> (PathBuf, bool) {
        let [new, old] = ["docs/isdlc", WORKFLOW_FOLDER].map(|folder| self.project_file(folder, "tasks.md"));
        let has_new = workspace.exists(&new);
        if !has_new && workspace.exists(&old) { (old, true) } else { (new, has_new) }
    }

    fn project_file(&self, folder: &str, name: &str) -> PathBuf {
        let folder = self.root.join(folder);
        match &self.member {
            Some(member) => folder.join("projects").join(member).join(name),
            None => folder.join(name),
        }
    }

    pub fn state(&self, workspace: &Workspace) -> Option<&WorkflowState> {
        let read = || workspace.read_bytes(&self.state_file(), MAX_FILE_BYTES);
        read_once(&self.state, workspace, || Ok(read()?.and_then(|bytes| WorkflowState::parse(&bytes))))
    }

    pub fn manifest(&self, workspace: &Workspace) -> Option<&AgentManifest> {
        let read = || self.read_config("skills-manifest.json", true, workspace, AgentManifest::parse);
        read_once(&self.manifest, workspace, read)
    }

    /// What each phase requires.
    pub fn requirements(&self, workspace: &Workspace) -> Option<&Value> {
        let read = || self.read_config("iteration-requirements.json", true, workspace, parse_json);
        read_once(&self.requirements, workspace, read)
    }

    /// The phases of each kind of workflow.
    pub fn workflows(&self, workspace: &Workspace) -> Option<&Value> {
        let read = || self.read_config("workflows.json", false, workspace, parse_json);
        read_once(&self.workflows, workspace, read)
    }

    /// Reads a file of the workflow's configuration, which is either beside the client's hooks or in
    /// `.isdlc`.
    fn read_config<T>(
        &self,
        name: &str,
        hooks_first: bool,
        workspace: &Workspace,
        parse: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let beside_hooks = self.root.join(workspace.client.folder).join("hooks/config").join(name);
        let own = self.root.join(WORKFLOW_FOLDER).join("config").join(name);
        let [first, second] = if hooks_first { [beside_hooks, own] } else { [own, beside_hooks] };
        let bytes = match workspace.read_bytes(&first, MAX_FILE_BYTES) {
            Ok(Some(bytes)) => Some(bytes),
            Ok(None) => workspace.read_bytes(&second, MAX_FILE_BYTES)?,
            Err(fault) => Some(workspace.read_bytes(&second, MAX_FILE_BYTES).ok().flatten().ok_or(fault)?),
        };
        // Editors on Windows write a byte order mark.
        Ok(bytes.and_then(|bytes| parse(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes))))
    }

    /// The work that a call gives to agents.
    pub(super) fn assignments(&self, event: &Event, workspace: &Workspace) -> &[Assignment] {
        self.assignments.get_or_init(|| Assignment::find_all(event, workspace))
    }

    /// The prompt that a call gives to an agent.
    pub(super) fn delegation_text(&self, event: &Event, workspace: &Workspace) -> Option<&DelegationText> {
        let has_prompt = matches!(event.call()?.tool, Tool::Delegate { .. } | Tool::Message { .. });
        let first = || self.assignments(event, workspace).first().filter(|_| has_prompt);
        self.text.get_or_init(|| first().map(DelegationText::new)).as_ref()
    }

    /// The phases that a call gives work to.
    pub(super) fn delegations(&self, event: &Event, workspace: &Workspace) -> &[Delegation] {
        let assignments = self.assignments(event, workspace);
        let detect = || {
            let manifest = if assignments.is_empty() { None } else { self.manifest(workspace) };
            assignments.iter().filter_map(|assignment| Delegation::detect(assignment, manifest)).collect()
        };
        let found = self.delegations.get_or_init(detect);
        // If the manifest was unreadable when the first guard asked, this guard has to report it as well.
        if found.is_empty() && self.manifest.get().is_some() {
            self.manifest(workspace);
        }
        found
    }
}

/// Reads a file, unless that was done before, and reports an unreadable file for each guard that asks for it.
fn read_once<'c, T>(
    cache: &'c Cached<T>,
    workspace: &Workspace,
    read: impl FnOnce() -> Result<Option<T>, Fault>,
) -> Option<&'c T> {
    match cache.get_or_init(read) {
        Ok(found) => found.as_ref(),
        Err(fault) => {
            workspace.report_unreadable(fault.clone());
            None
        }
    }
}

fn parse_json(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}

/// A running workflow whose current phase is in the table of phases.
pub(super) struct ActiveWorkflow<'w> {
    pub context: &'w WorkflowContext,
    pub state: &'w WorkflowState,
    pub workflow: &'w Workflow,
    pub phase: &'w str,
}

impl<'w> ActiveWorkflow<'w> {
    /// The workflow whose agents this event may start, whether the main conversation or another agent starts
    /// them.
    pub fn find(event: &Event, workspace: &'w Workspace) -> Option<Self> {
        if !Assignment::is_possible(event, workspace) {
            return None;
        }
        let context = WorkflowContext::find(event, workspace)?;
        let state = context.state(workspace)?;
        let workflow = state.workflow()?;
        let phase = workflow.current_phase.as_deref()?;
        PhaseSet::from_name(phase)?;
        Some(Self { context, state, workflow, phase })
    }
}

/// The phase that the work is in, with its requirements and its records.
pub(super) struct CurrentPhase<'w> {
    pub context: &'w WorkflowContext,
    pub state: &'w WorkflowState,
    pub workspace: &'w Workspace,
    pub name: String,
}

impl<'w> CurrentPhase<'w> {
    /// `None`: the work is in no phase, or the workflow's checks are switched off.
    pub fn find(context: &'w WorkflowContext, workspace: &'w Workspace) -> Option<Self> {
        let state = context.state(workspace)?;
        let name = state.current_phase().filter(|_| !requirements::are_checks_off(state))?;
        Some(Self { context, state, workspace, name })
    }

    pub fn demands(&self) -> Option<PhaseRequirements> {
        PhaseRequirements::find(&self.name, self.state, self.context, self.workspace)
    }

    pub fn progress(&self) -> PhaseProgress {
        PhaseProgress::read(&self.name, self.state)
    }

    /// Changes one of the phase's records once all guards have judged.
    pub fn change_record(
        &self,
        record: &'static [&'static str],
        change: impl Fn(&mut Map<String, Value>) + Send + 'static,
    ) {
        let phase = self.name.clone();
        self.context.changes.add(move |state| phase_records::change_record(state, &phase, record, &change));
    }

    /// Records for the user what was denied, unless the same was recorded less than a minute ago.
    pub fn record_escalation(&self, kind: &'static str, hook: &'static str, detail: &str) {
        const LIST: &[&str] = &["pending_escalations"];
        const MOST: usize = 20;
        const APART: i64 = 60;
        let now = self.workspace.format_now();
        let entry =
            json!({"type": kind, "hook": hook, "phase": self.name, "detail": detail, "timestamp": now});
        self.context.changes.add(move |state| {
            let is_same = |known: &Value| {
                ["type", "hook", "phase", "detail"].iter().all(|field| known[field] == entry[field])
                    && seconds_between(known["timestamp"].as_str(), &now).is_some_and(|age| age.abs() < APART)
            };
            if !matches!(state.get_at(LIST), Some(Value::Array(known)) if known.iter().any(is_same)) {
                phase_records::append_to_list(state, LIST, entry.clone(), MOST);
            }
        });
    }
}

/// In a repository of several projects, the one that is meant: the one that a variable names, the one around
/// the event's directory, or the default.
fn find_member(root: &Path, event: &Event, workspace: &Workspace) -> Option<String> {
    let file = workspace.read_or_report(&root.join(WORKFLOW_FOLDER).join("monorepo.json"), MAX_FILE_BYTES)?;
    let is_name = |name: &String| {
        let mut parts = Path::new(name).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    if let Some(name) = workspace.environment_variable("ISDLC_PROJECT").filter(is_name) {
        return Some(name);
    }
    let repository: Value = serde_json::from_slice(&file).ok()?;
    let directory = workspace.resolve(&event.cwd);
    let directory = directory.strip_prefix(root).ok();
    let projects = repository["projects"].as_object().into_iter().flatten();
    let around = projects.filter_map(|(name, project)| {
        let path = Path::new(project["path"].as_str()?.trim_end_matches('/'));
        let path = path.strip_prefix(".").unwrap_or(path);
        directory?.starts_with(path).then_some((path.components().count(), name.clone()))
    });
    let nearest = around.max_by_key(|(depth, _)| *depth).map(|(_, name)| name);
    nearest.or_else(|| repository["default_project"].as_str().map(str::to_owned)).filter(is_name)
}
