//! What the guards of an event have in common: where the project's files lie, and what is in them.
//!
//! Every file is read at most once per event, and only if a guard asks for it. A file that is missing
//! or no JSON is none: these guards are open. One that is there and cannot be read is none either, but
//! every guard that then has nothing to say has failed, and the journal says so.

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::advance::Told;
use super::delegation::{self, Assignment, Delegation};
use super::manifest::Manifest;
use super::records::Notes;
use super::state::{State, Workflow};
use super::table::Phases;
use crate::decision::Fault;
use crate::event::{Event, Tool};
use crate::workspace::Workspace;

/// The directory that makes a project one of ours.
pub const FOLDER: &str = ".isdlc";
/// The state and each of the other files is at most so large.
pub const LARGEST: u64 = 64 << 20;

pub struct Ground {
    root: PathBuf,
    /// The project in a repository of several, where that can be told.
    member: Option<String>,
    state: OnceLock<Result<Option<State>, Fault>>,
    manifest: OnceLock<Result<Option<Manifest>, Fault>>,
    requirements: OnceLock<Result<Option<Value>, Fault>>,
    workflows: OnceLock<Result<Option<Value>, Fault>>,
    assignments: OnceLock<Vec<Assignment>>,
    told: OnceLock<Option<Told>>,
    delegations: OnceLock<Vec<Delegation>>,
    pub notes: Notes,
}

impl Ground {
    /// The ground of this event; `None`: there is no workflow of ours here.
    pub fn of<'w>(event: &Event, workspace: &'w Workspace) -> Option<&'w Self> {
        workspace.once(|| Self::find(event, workspace))?.as_ref()
    }

    fn find(event: &Event, workspace: &Workspace) -> Option<Self> {
        let is_root = |directory: &&Path| workspace.is_directory(&directory.join(FOLDER));
        let within = |directory: &&Path| directory.starts_with(&workspace.project);
        let root = workspace.start.ancestors().take_while(within).find(is_root)?.to_owned();
        let member = member(&root, event, workspace);
        Some(Self {
            root,
            member,
            state: OnceLock::new(),
            manifest: OnceLock::new(),
            requirements: OnceLock::new(),
            workflows: OnceLock::new(),
            assignments: OnceLock::new(),
            told: OnceLock::new(),
            delegations: OnceLock::new(),
            notes: Notes::default(),
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// A file of the project's own in the workflow's directory.
    fn own(&self, name: &str) -> PathBuf {
        let folder = self.root.join(FOLDER);
        match &self.member {
            Some(member) => folder.join("projects").join(member).join(name),
            None => folder.join(name),
        }
    }

    pub fn state_file(&self) -> PathBuf {
        self.own("state.json")
    }

    /// Where the plan of tasks lies, or would lie, and whether it is there.
    pub fn tasks_file(&self, workspace: &Workspace) -> (PathBuf, bool) {
        let docs = self.root.join("docs/isdlc");
        let new = match &self.member {
            Some(member) => docs.join("projects").join(member).join("tasks.md"),
            None => docs.join("tasks.md"),
        };
        if workspace.exists(&new) {
            return (new, true);
        }
        let old = self.own("tasks.md");
        if workspace.exists(&old) { (old, true) } else { (new, false) }
    }

    pub fn state(&self, workspace: &Workspace) -> Option<&State> {
        let read = || {
            let bytes = workspace.read_bytes(&self.state_file(), LARGEST)?;
            Ok(bytes.and_then(|bytes| State::read(&bytes)))
        };
        readable(self.state.get_or_init(read), workspace)
    }

    pub fn manifest(&self, workspace: &Workspace) -> Option<&Manifest> {
        let read = || {
            let bytes = self.configuration("skills-manifest.json", true, workspace)?;
            Ok(bytes.and_then(|bytes| Manifest::read(&bytes)))
        };
        readable(self.manifest.get_or_init(read), workspace)
    }

    /// What each phase demands.
    pub fn requirements(&self, workspace: &Workspace) -> Option<&Value> {
        let read = || {
            let bytes = self.configuration("iteration-requirements.json", true, workspace)?;
            Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
        };
        readable(self.requirements.get_or_init(read), workspace)
    }

    /// The phases of each kind of workflow.
    pub fn workflows(&self, workspace: &Workspace) -> Option<&Value> {
        let read = || {
            let bytes = self.configuration("workflows.json", false, workspace)?;
            Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
        };
        readable(self.workflows.get_or_init(read), workspace)
    }

    /// The work that a call gives to agents.
    pub fn assignments(&self, event: &Event, workspace: &Workspace) -> &[Assignment] {
        self.assignments.get_or_init(|| Assignment::all(event, workspace))
    }

    /// What an agent is told by a call.
    pub fn told(&self, event: &Event, workspace: &Workspace) -> Option<&Told> {
        let tells = matches!(event.call()?.tool, Tool::Delegate { .. } | Tool::Message { .. });
        let first = || self.assignments(event, workspace).first().filter(|_| tells);
        self.told.get_or_init(|| first().map(Told::of)).as_ref()
    }

    /// The phases that a call would hand work to.
    pub fn delegations(&self, event: &Event, workspace: &Workspace) -> &[Delegation] {
        let assignments = self.assignments(event, workspace);
        let detect = || {
            let manifest = if assignments.is_empty() { None } else { self.manifest(workspace) };
            assignments.iter().filter_map(|assignment| delegation::detect(assignment, manifest)).collect()
        };
        let found = self.delegations.get_or_init(detect);
        // It may be in the manifest that could not be read when the first guard asked.
        if let (true, Some(manifest)) = (found.is_empty(), self.manifest.get()) {
            readable(manifest, workspace);
        }
        found
    }

    /// A file of the workflow's configuration: beside the client's hooks, or with the workflow.
    fn configuration(
        &self,
        name: &str,
        hooks_first: bool,
        workspace: &Workspace,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let beside_hooks = self.root.join(workspace.client.folder).join("hooks/config").join(name);
        let own = self.root.join(FOLDER).join("config").join(name);
        let [first, second] = if hooks_first { [beside_hooks, own] } else { [own, beside_hooks] };
        let found = match workspace.read_bytes(&first, LARGEST) {
            Ok(Some(bytes)) => Some(bytes),
            Ok(None) => workspace.read_bytes(&second, LARGEST)?,
            Err(fault) => Some(workspace.read_bytes(&second, LARGEST).ok().flatten().ok_or(fault)?),
        };
        Ok(found.map(|mut bytes| {
            // As editors of Windows write it.
            if bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
            }
            bytes
        }))
    }
}

/// What was read; that it could not be is noted for each guard that asks.
fn readable<'r, T>(read: &'r Result<Option<T>, Fault>, workspace: &Workspace) -> Option<&'r T> {
    match read {
        Ok(found) => found.as_ref(),
        Err(fault) => {
            workspace.miss(fault.clone());
            None
        }
    }
}

/// A workflow that is under way, in a phase that this program knows.
pub struct UnderWay<'w> {
    pub ground: &'w Ground,
    pub state: &'w State,
    pub workflow: &'w Workflow,
    pub phase: &'w str,
}

impl<'w> UnderWay<'w> {
    /// The workflow whose agents this event may start. It does not matter who starts them: the main
    /// conversation, or an agent.
    pub fn of(event: &Event, workspace: &'w Workspace) -> Option<Self> {
        if !Assignment::is_possible(event, workspace) {
            return None;
        }
        let ground = Ground::of(event, workspace)?;
        let state = ground.state(workspace)?;
        let workflow = state.workflow()?;
        let phase = workflow.current_phase.as_deref()?;
        Phases::named(phase)?;
        Some(Self { ground, state, workflow, phase })
    }
}

/// The project that is meant in a repository of several: the one that a variable names, the one that
/// the event happens in, the one that the repository prefers.
fn member(root: &Path, event: &Event, workspace: &Workspace) -> Option<String> {
    let file = workspace.read_or_miss(&root.join(FOLDER).join("monorepo.json"), LARGEST)?;
    let is_name = |name: &String| {
        let mut parts = Path::new(name).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    if let Some(name) = workspace.variable("ISDLC_PROJECT").filter(is_name) {
        return Some(name);
    }
    let repository: Value = serde_json::from_slice(&file).ok()?;
    let here = workspace.resolve(&event.cwd);
    let here = here.strip_prefix(root).ok();
    let projects = repository["projects"].as_object().into_iter().flatten();
    let around = projects.filter_map(|(name, project)| {
        let path = Path::new(project["path"].as_str()?.trim_end_matches('/'));
        let path = path.strip_prefix(".").unwrap_or(path);
        here?.starts_with(path).then_some((path.components().count(), name.clone()))
    });
    let nearest = around.max_by_key(|(depth, _)| *depth).map(|(_, name)| name);
    nearest.or_else(|| repository["default_project"].as_str().map(str::to_owned)).filter(is_name)
}
