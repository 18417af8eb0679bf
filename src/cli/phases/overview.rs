//! Where a workflow stands: read from its files once, for the screen and for JSON.
//!
//! Nothing is judged here. What a phase demands and how far it has come is read by the guards' own
//! reader; where that is not enough to tell whether something is held, the guard itself is asked about
//! a call that nobody makes.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::decision::{Denial, Fault, Opinion, Verdict};
use crate::event::{Call, Event, Kind, Outcome, Stopping, Tool};
use crate::phases::ground::{Ground, LARGEST};
use crate::phases::manifest::Manifest;
use crate::phases::requirements::{
    self, ArticleRecord, Constitution, Demands, Escalation, Progress, TALKS, TESTS, Talks, TestRecord, Tests,
};
use crate::phases::skill_delegation::{MARKER, SESSION};
use crate::phases::state::{State, Workflow};
use crate::phases::{delegation_gate, gate, plan_surfacer, table};
use crate::registry::GUARDS;
use crate::workspace::Workspace;

pub(crate) struct Overview {
    pub(crate) root: PathBuf,
    pub(crate) member: Option<String>,
    /// It is a repository of several projects, and which one is meant cannot be told.
    pub(crate) is_undecided: bool,
    /// `None`: no workflow is under way.
    pub(crate) workflow: Option<Standing>,
    /// Without a workflow: what the gate of the phase that the state still names is closed for.
    pub(crate) left_over: Option<Denial>,
    pub(crate) guards_off: Vec<&'static str>,
    pub(crate) guards: usize,
}

pub(crate) struct Standing {
    pub(crate) workflow: Workflow,
    /// The branch that the repository is on, where that is easy to tell.
    pub(crate) on_branch: Option<String>,
    pub(crate) phases: Vec<Phase>,
    pub(crate) current: Option<String>,
    pub(crate) demands: Vec<Demand>,
    /// The plan of tasks, and whether it is there.
    pub(crate) tasks: (PathBuf, bool),
    /// Work is handed out only with a plan of tasks.
    pub(crate) needs_tasks: bool,
    /// The agent that a skill stands for and that has not worked yet, and since when.
    pub(crate) waits_for: Option<(String, Option<String>)>,
    pub(crate) escalations: usize,
    pub(crate) next: String,
}

pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) status: Option<String>,
    pub(crate) is_current: bool,
}

/// What a phase has to have before its gate opens.
pub(crate) struct Demand {
    pub(crate) what: &'static str,
    pub(crate) is_met: bool,
    pub(crate) used: Option<u64>,
    pub(crate) allowed: Option<u64>,
    pub(crate) says: String,
    /// What to do where it is not met.
    step: String,
}

impl Overview {
    /// `None`: there is no workflow's directory here; an error: the state is there and cannot be read.
    pub(crate) fn of(event: &Event, workspace: &Workspace) -> Result<Option<Self>, String> {
        let Some(ground) = Ground::of(event, workspace) else { return Ok(None) };
        let file = ground.state_file();
        let bytes = workspace.read_bytes(&file, LARGEST);
        let unreadable = |why: &str| {
            // A fault of the file system names the file itself.
            let file = file.display().to_string();
            let why = why.strip_prefix(&format!("{file}: ")).unwrap_or(why);
            format!(
                "{file} cannot be read: {why}. While it is so, no guard of the phases holds anything back. To fix: \
                 mend {file}, or take it from the last commit"
            )
        };
        let bytes = bytes.map_err(|fault| unreadable(&fault.to_string()))?;
        if let Some(Err(why)) = bytes.map(|bytes| crate::json_object::JsonObject::read(&bytes)) {
            return Err(unreadable(&why));
        }
        let state = ground.state(workspace);
        let of_pack = || GUARDS.iter().filter(|guard| guard.pack == "phases");
        let off = of_pack().filter(|guard| !workspace.config.guard_is_on(guard.name));
        let workflow = state.and_then(|state| Some((state, state.workflow()?.clone())));
        let several = workspace.exists(&ground.root().join(".isdlc/monorepo.json"));
        Ok(Some(Self {
            root: ground.root().to_owned(),
            member: ground.member().map(str::to_owned),
            is_undecided: several && ground.member().is_none(),
            left_over: if workflow.is_none() { closed_gate(event, workspace) } else { None },
            workflow: workflow
                .map(|(state, workflow)| Standing::of(ground, state, workflow, event, workspace)),
            guards_off: off.map(|guard| guard.name).collect(),
            guards: of_pack().count(),
        }))
    }

    /// What to do, where there is something to do.
    pub(crate) fn next(&self) -> Option<&str> {
        match (&self.workflow, &self.left_over) {
            (Some(standing), _) => Some(&standing.next),
            (None, Some(_)) => Some("take `current_phase` out of the state, or begin a workflow"),
            (None, None) => None,
        }
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({
            "project": self.root.to_string_lossy(),
            "member": self.member,
            "workflow": self.workflow.as_ref().map(|standing| standing.as_json(&self.root)),
            "left_over": self.left_over.as_ref().map(|denial| json!({"what": denial.what, "why": denial.why})),
            "guards": {"on": self.guards - self.guards_off.len(), "off": self.guards_off},
        })
    }
}

impl Standing {
    fn of(ground: &Ground, state: &State, workflow: Workflow, event: &Event, workspace: &Workspace) -> Self {
        let current = state.current_phase();
        let names = if workflow.phases.is_empty() {
            usual_phases(ground, &workflow, workspace)
        } else {
            workflow.phases.clone()
        };
        let is_current = |name: &str| current.as_deref().is_some_and(|current| table::is_same(current, name));
        let status = |name: &str| {
            let (_, phase) = state.phase(name)?;
            phase["status"].as_str().map(str::to_owned)
        };
        let mut phases: Vec<Phase> = names
            .iter()
            .map(|name| Phase { name: name.clone(), status: status(name), is_current: is_current(name) })
            .collect();
        // Also a phase that the workflow does not list is the one that it is in.
        if let Some(current) = current.as_ref().filter(|_| !phases.iter().any(|phase| phase.is_current)) {
            phases.push(Phase { name: current.clone(), status: status(current), is_current: true });
        }
        let list = state.value(&["pending_escalations"]);
        let mut standing = Self {
            on_branch: head(workspace),
            demands: current
                .as_deref()
                .map_or_else(Vec::new, |phase| demands(phase, ground, state, workspace)),
            tasks: ground.tasks_file(workspace),
            needs_tasks: needs_tasks(event, workspace),
            waits_for: awaited(state, event, workspace),
            escalations: list.as_ref().and_then(Value::as_array).map_or(0, Vec::len),
            next: String::new(),
            workflow,
            phases,
            current,
        };
        standing.next = standing.next_step(ground.root(), || closed_gate(event, workspace));
        standing
    }

    /// The place of the current phase among all.
    pub(crate) fn at(&self) -> Option<usize> {
        self.phases.iter().position(|phase| phase.is_current)
    }

    fn next_step(&self, root: &Path, closed: impl Fn() -> Option<Denial>) -> String {
        let Some(current) = &self.current else {
            return "the state names no current phase: the orchestrator sets it when it begins one".into();
        };
        let status = self.at().and_then(|at| self.phases[at].status.as_deref());
        if let Some((agent, _)) = &self.waits_for {
            return format!("let {agent} work, which the last skill stands for: a turn does not end before");
        }
        if !matches!(status, Some("in_progress" | "completed")) {
            return format!("mark {current} as in_progress, then hand its work out");
        }
        let (tasks, is_there) = &self.tasks;
        if self.needs_tasks && !is_there {
            return format!("write the plan of tasks to {}", below(tasks, root));
        }
        if let Some(missing) = self.demands.iter().find(|demand| !demand.is_met) {
            return missing.step.clone();
        }
        if let Some(Denial { why, fix, .. }) = closed() {
            return format!("{why}; {fix}");
        }
        let gate = table::gate(current);
        match self.at().and_then(|at| self.phases.get(at + 1)) {
            Some(next) => format!("all that is known is met: go through {gate} to {}", next.name),
            None => format!("all that is known is met: go through {gate}, and finish the workflow"),
        }
    }

    fn as_json(&self, root: &Path) -> Value {
        let branch = self.workflow.branch.as_ref();
        json!({
            "type": self.workflow.kind,
            "branch": branch.map(|branch| json!({"name": branch.name, "active": branch.is_active})),
            "on_branch": self.on_branch,
            "current_phase": self.current,
            "gate": self.current.as_deref().map(table::gate),
            "phases": self.phases.iter().map(|phase| {
                json!({"name": phase.name, "status": phase.status, "current": phase.is_current})
            }).collect::<Vec<_>>(),
            "requirements": self.demands.iter().map(|demand| json!({
                "what": demand.what, "met": demand.is_met, "used": demand.used, "allowed": demand.allowed,
                "text": demand.says,
            })).collect::<Vec<_>>(),
            "tasks": {"path": below(&self.tasks.0, root), "exists": self.tasks.1, "needed": self.needs_tasks},
            "pending_delegation": self.waits_for.as_ref().map(|(agent, since)| json!({"agent": agent, "since": since})),
            "pending_escalations": self.escalations,
            "next": self.next,
        })
    }
}

/// A path as the project knows it.
pub(crate) fn below(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// The phases that workflows of this kind have.
fn usual_phases(ground: &Ground, workflow: &Workflow, workspace: &Workspace) -> Vec<String> {
    let kind = workflow.kind.as_deref().unwrap_or_default();
    let list = ground.workflows(workspace).map(|all| &all["workflows"][kind]["phases"]);
    let names = list.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The branch that the repository is on. A linked working tree keeps it elsewhere: then it is not told.
fn head(workspace: &Workspace) -> Option<String> {
    let text = workspace.read_text(&workspace.project.join(".git/HEAD"), 4096).ok()??;
    text.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// What the gate is closed for, if the workflow were to move on now.
fn closed_gate(event: &Event, workspace: &Workspace) -> Option<Denial> {
    let advance = Tool::Skill { name: Some("sdlc".into()), arguments: Some("advance".into()) };
    let denial = denied(gate::judge(&before(advance, event), workspace))?;
    // Nobody made the call that was denied.
    Some(Denial { what: denial.heading.unwrap_or(denial.what), heading: None, ..denial })
}

/// Whether the guard of the plan is concerned when work is handed out now.
fn needs_tasks(event: &Event, workspace: &Workspace) -> bool {
    let work = Tool::Delegate {
        agent: None,
        prompt: None,
        description: None,
        background: None,
        is_isolated: false,
        native_input: serde_json::Map::new(),
    };
    plan_surfacer::judge(&before(work, event), workspace).is_ok_and(|opinion| !opinion.is_unconcerned)
}

/// The agent for which a turn of the session that used its skill would be held now, and since when.
fn awaited(state: &State, event: &Event, workspace: &Workspace) -> Option<(String, Option<String>)> {
    let marker = state.value(&[MARKER])?;
    let mut stop = Event::new(String::new(), Kind::Stop(Stopping::default()), event.cwd.clone());
    stop.session = marker[SESSION].as_str().map(str::to_owned);
    denied(delegation_gate::judge(&stop, workspace))?;
    let since = marker["invoked_at"].as_str().map(str::to_owned);
    Some((marker["required_agent"].as_str()?.to_owned(), since))
}

fn before(tool: Tool, event: &Event) -> Event {
    let call = Call { native_tool: String::new(), id: None, tool, outcome: Outcome::default() };
    Event::new(String::new(), Kind::BeforeTool(call), event.cwd.clone())
}

fn denied(opinion: Result<Opinion, Fault>) -> Option<Denial> {
    match opinion.ok()?.verdict {
        Verdict::Deny(denial) => Some(denial),
        _ => None,
    }
}

fn demands(phase: &str, ground: &Ground, state: &State, workspace: &Workspace) -> Vec<Demand> {
    if requirements::are_off(state) {
        return Vec::new();
    }
    let Some(demands) = Demands::of(phase, state, ground, workspace) else { return Vec::new() };
    let progress = Progress::of(phase, state);
    // Only for the person's eyes; nothing is held by it.
    let detail = |path: &[&str], field: &str| {
        let (_, phase) = state.phase(phase)?;
        path.iter().try_fold(phase, |value, name| value.get(name))?.get(field).cloned()
    };
    let reason = || detail(TESTS, "escalation_reason")?.as_str().map(|why| format!(" ({why})"));
    let menus = || detail(TALKS, "menu_interactions")?.as_u64();
    let agent = || worked(phase, ground.manifest(workspace)?, state);
    let parts = [
        demands.tests.map(|demand| tests(&demand, progress.tests.as_ref(), &reason().unwrap_or_default())),
        demands.talks.map(|demand| talks(&demand, &progress, menus())),
        demands.constitution.map(|demand| articles(&demand, progress.constitution.as_ref())),
        demands.agent.then(agent).flatten(),
    ];
    parts.into_iter().flatten().collect()
}

fn counted(used: Option<u64>, allowed: u64) -> String {
    match used {
        Some(used) => format!("{used} of {allowed} tries used"),
        None => format!("none of {allowed} tries used"),
    }
}

const WAITS: &str = "waits for a person's approval";
const APPROVED: &str = "a person approved that";

fn tests(demand: &Tests, record: Option<&TestRecord>, reason: &str) -> Demand {
    let used = record.map(|tests| tests.iteration);
    let allowed = record.and_then(|tests| tests.tries).unwrap_or(demand.tries);
    let count = counted(used, allowed);
    let mut step = "make the tests pass".to_owned();
    let says = match record.map_or(Escalation::None, |tests| tests.escalation) {
        Escalation::Pending => {
            step = format!("the tests were given up{reason}: a person decides");
            format!("given up{reason}, {WAITS}; {count}")
        }
        Escalation::Approved => format!("given up{reason}, and {APPROVED}; {count}"),
        Escalation::None if record.is_some_and(|tests| tests.failed_last) => {
            format!("{count}, the last one failed")
        }
        Escalation::None => count,
    };
    let is_met = record.is_some_and(TestRecord::is_enough);
    Demand { what: "tests", is_met, used, allowed: Some(allowed), says, step }
}

fn talks(demand: &Talks, progress: &Progress, menus: Option<u64>) -> Demand {
    let record = progress.talks.as_ref();
    let chosen = record.and_then(|talks| talks.last_choice.as_ref());
    let wanted = &demand.last_choices;
    let fits = wanted.is_empty() || chosen.is_some_and(|chosen| wanted.contains(chosen));
    let last = chosen.map_or_else(String::new, |chosen| format!("; the last choice was {chosen}"));
    let wanted = if wanted.is_empty() { "to go on".into() } else { wanted.join(" or ") };
    let menus_shown = match menus.unwrap_or(0) {
        1 => "1 menu was shown".to_owned(),
        count => format!("{count} menus were shown"),
    };
    Demand {
        what: "talks",
        is_met: record.is_some_and(|talks| talks.is_completed) && fits,
        used: menus,
        allowed: None,
        says: format!("{menus_shown}{last}"),
        step: format!("talk the phase through with the person, until they choose {wanted}"),
    }
}

fn articles(demand: &Constitution, record: Option<&ArticleRecord>) -> Demand {
    let used = record.map(|checks| checks.used);
    let list = demand.articles.join(", ");
    let list = if list.is_empty() { String::new() } else { format!(" {list}") };
    let count = counted(used, demand.tries);
    let mut step = format!("check the work against the constitution's articles{list}");
    let says = match record.map_or(Escalation::None, |checks| checks.escalation) {
        Escalation::Pending => {
            step = "the check of the constitution was given up: a person decides".into();
            format!("articles{list}: given up, {WAITS}; {count}")
        }
        Escalation::Approved => format!("articles{list}: given up, and {APPROVED}; {count}"),
        Escalation::None if record.is_some_and(|checks| checks.is_completed && !checks.is_compliant) => {
            format!("articles{list}: the check is over, but its status is not `compliant`; {count}")
        }
        Escalation::None => format!("articles{list}: {count}"),
    };
    let is_met = record.is_some_and(ArticleRecord::is_enough);
    Demand { what: "articles", is_met, used, allowed: Some(demand.tries), says, step }
}

/// Any agent of the phase will do.
fn worked(phase: &str, manifest: &Manifest, state: &State) -> Option<Demand> {
    let agents: Vec<String> = manifest.agents_in(phase).map(str::to_lowercase).collect();
    let first = agents.first()?;
    let log = state.value(&["skill_usage_log"]).unwrap_or_default();
    let names = log.as_array().into_iter().flatten().filter_map(|entry| entry["agent"].as_str());
    let worker = names.map(table::agent).find(|name| agents.contains(name));
    Some(Demand {
        what: "agent",
        is_met: worker.is_some(),
        used: None,
        allowed: None,
        says: match worker {
            Some(worker) => format!("{worker} has worked"),
            None => format!("no agent of this phase has worked, such as {first}"),
        },
        step: format!("hand work to an agent of {phase}, such as {first}"),
    })
}
