//! Where a workflow stands: read from its files once, for the screen and for JSON.
//!
//! Nothing is judged here. What a guard would say to a call depends on the call; this is what it would
//! go by.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::event::Event;
use crate::phases::ground::{Ground, LARGEST};
use crate::phases::manifest::Manifest;
use crate::phases::state::{State, Workflow, named};
use crate::phases::table;
use crate::registry::GUARDS;
use crate::workspace::Workspace;

pub(super) struct Overview {
    pub(super) root: PathBuf,
    pub(super) member: Option<String>,
    /// It is a repository of several projects, and which one is meant cannot be told.
    pub(super) is_undecided: bool,
    /// `None`: no workflow is under way.
    pub(super) workflow: Option<Standing>,
    pub(super) guards_off: Vec<&'static str>,
    pub(super) guards: usize,
}

pub(super) struct Standing {
    pub(super) workflow: Workflow,
    /// The branch that the repository is on, where that is easy to tell.
    pub(super) on_branch: Option<String>,
    pub(super) phases: Vec<Phase>,
    pub(super) current: Option<String>,
    pub(super) demands: Vec<Demand>,
    /// The plan of tasks, and whether it is there.
    pub(super) tasks: (PathBuf, bool),
    /// The agent that a skill stands for and that has not worked yet, and since when.
    pub(super) waits_for: Option<(String, Option<String>)>,
    pub(super) escalations: usize,
    pub(super) next: String,
}

pub(super) struct Phase {
    pub(super) name: String,
    pub(super) status: Option<String>,
    pub(super) is_current: bool,
}

/// What a phase has to have before its gate opens.
pub(super) struct Demand {
    pub(super) what: &'static str,
    pub(super) is_met: bool,
    pub(super) used: Option<u64>,
    pub(super) allowed: Option<u64>,
    pub(super) says: String,
    /// What to do where it is not met.
    step: String,
}

impl Overview {
    /// `None`: there is no workflow's directory here; an error: the state is there and cannot be read.
    pub(super) fn of(event: &Event, workspace: &Workspace) -> Result<Option<Self>, String> {
        let Some(ground) = Ground::of(event, workspace) else { return Ok(None) };
        let file = ground.state_file();
        let bytes = workspace.read_bytes(&file, LARGEST);
        let bytes = bytes.map_err(|fault| format!("{} cannot be read: {fault}", file.display()))?;
        if let Some(Err(why)) = bytes.map(|bytes| crate::json_object::JsonObject::read(&bytes)) {
            return Err(format!(
                "{} cannot be read: {why}. While it is so, no guard of the phases holds anything back. To fix: mend \
                 the file, or take it from the last commit",
                file.display()
            ));
        }
        let state = ground.state(workspace);
        let of_pack = || GUARDS.iter().filter(|guard| guard.pack == "phases");
        let off = of_pack().filter(|guard| !workspace.config.guard_is_on(guard.name));
        let several = workspace.exists(&ground.root().join(".isdlc/monorepo.json"));
        Ok(Some(Self {
            root: ground.root().to_owned(),
            member: ground.member().map(str::to_owned),
            is_undecided: several && ground.member().is_none(),
            workflow: state
                .and_then(|state| Some((state, state.workflow()?)))
                .map(|(state, workflow)| Standing::of(ground, state, workflow.clone(), workspace)),
            guards_off: off.map(|guard| guard.name).collect(),
            guards: of_pack().count(),
        }))
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "project": self.root,
            "member": self.member,
            "workflow": self.workflow.as_ref().map(|standing| standing.as_json(&self.root)),
            "guards": {"on": self.guards - self.guards_off.len(), "off": self.guards_off},
        })
    }
}

impl Standing {
    fn of(ground: &Ground, state: &State, workflow: Workflow, workspace: &Workspace) -> Self {
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
        let tasks = ground.tasks_file(workspace);
        let pending = state.value(&["pending_delegation"]);
        let pending = pending.as_ref().and_then(|pending| {
            let since = pending["invoked_at"].as_str().map(str::to_owned);
            Some((pending["required_agent"].as_str()?.to_owned(), since))
        });
        let list = state.value(&["pending_escalations"]);
        let mut standing = Self {
            on_branch: head(workspace),
            demands: current.as_deref().map_or_else(Vec::new, |phase| {
                demands(phase, ground, state, workflow.kind.as_deref(), workspace)
            }),
            tasks: (tasks.clone(), workspace.exists(&tasks)),
            waits_for: pending,
            escalations: list.as_ref().and_then(Value::as_array).map_or(0, Vec::len),
            next: String::new(),
            workflow,
            phases,
            current,
        };
        standing.next = standing.next_step(ground.root());
        standing
    }

    /// The place of the current phase among all.
    pub(super) fn at(&self) -> Option<usize> {
        self.phases.iter().position(|phase| phase.is_current)
    }

    /// Whether work is handed out only with a plan of tasks: behind the phases in which it is made, in a
    /// workflow that has them.
    pub(super) fn needs_tasks(&self) -> bool {
        let makes_one = |phase: &Phase| table::is_early(&phase.name);
        let is_planned = self.phases.len() < 2 || self.phases.iter().any(makes_one);
        is_planned && self.current.as_deref().is_some_and(|phase| !table::is_early(phase))
    }

    fn next_step(&self, root: &Path) -> String {
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
        if self.needs_tasks() && !is_there {
            return format!("write the plan of tasks to {}", below(tasks, root));
        }
        if let Some(missing) = self.demands.iter().find(|demand| !demand.is_met) {
            return missing.step.clone();
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
            "tasks": {"path": below(&self.tasks.0, root), "exists": self.tasks.1, "needed": self.needs_tasks()},
            "pending_delegation": self.waits_for.as_ref().map(|(agent, since)| json!({"agent": agent, "since": since})),
            "pending_escalations": self.escalations,
            "next": self.next,
        })
    }
}

/// A path as the project knows it.
pub(super) fn below(path: &Path, root: &Path) -> String {
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

/// What the configuration demands of a phase: the workflow's own wish, or else the usual one.
struct Rules<'a> {
    own: Option<&'a Value>,
    usual: Option<&'a Value>,
}

impl<'a> Rules<'a> {
    fn get(&self, demand: &str, field: &str) -> Option<&'a Value> {
        let field = |rules: &'a Value| rules[demand].get(field);
        self.own.and_then(field).or_else(|| self.usual.and_then(field))
    }

    fn number(&self, demand: &str, field: &str) -> Option<u64> {
        self.get(demand, field)?.as_u64()
    }

    fn is_on(&self, demand: &str) -> bool {
        self.get(demand, "enabled") == Some(&Value::Bool(true))
    }

    fn words(&self, demand: &str, field: &str) -> Vec<String> {
        let list = self.get(demand, field).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

fn demands(
    phase: &str,
    ground: &Ground,
    state: &State,
    kind: Option<&str>,
    workspace: &Workspace,
) -> Vec<Demand> {
    // The workflow can switch its own checks off.
    if state.is(&["iteration_enforcement", "enabled"], false) {
        return Vec::new();
    }
    let Some(all) = ground.requirements(workspace) else { return Vec::new() };
    let of = |phases: &'_ Value| -> Option<Value> {
        named(phases.as_object()?, phase).map(|(_, rules)| rules.clone())
    };
    let own = of(&all["workflow_overrides"][kind.unwrap_or_default()]);
    let usual = of(&all["phase_requirements"]);
    let rules = Rules { own: own.as_ref(), usual: usual.as_ref() };
    let empty = Value::Object(Map::new());
    let known = state.phase(phase).map_or(&empty, |(_, known)| known);
    let mut demands = Vec::new();
    if rules.is_on("test_iteration") {
        demands.push(tests(&rules, &known["iteration_requirements"]["test_iteration"]));
    }
    if rules.is_on("interactive_elicitation") {
        demands.push(talks(&rules, &known["iteration_requirements"]["interactive_elicitation"]));
    }
    if rules.is_on("constitutional_validation") {
        demands.push(articles(&rules, &known["constitutional_validation"]));
    }
    if rules.is_on("agent_delegation_validation")
        && let Some(manifest) = ground.manifest(workspace)
    {
        demands.extend(worked(phase, manifest, state));
    }
    demands
}

/// How far something got that is tried again and again.
fn tries(known: &Value, used: &str, allowed: Option<u64>) -> (Option<u64>, Option<u64>) {
    (known[used].as_u64(), known["max_iterations"].as_u64().or(allowed))
}

fn counted(used: Option<u64>, allowed: Option<u64>) -> String {
    match (used, allowed) {
        (Some(used), Some(allowed)) => format!("{used} of {allowed} tries used"),
        (Some(used), None) => format!("{used} tries used"),
        (None, Some(allowed)) => format!("none of {allowed} tries used"),
        (None, None) => "not begun".into(),
    }
}

fn is_true(value: &Value) -> bool {
    *value == Value::Bool(true)
}

const WAITS: &str = "waits for a person's approval";

fn tests(rules: &Rules<'_>, known: &Value) -> Demand {
    let (used, allowed) = tries(known, "current_iteration", rules.number("test_iteration", "max_iterations"));
    let escalated = known["status"] == "escalated";
    let is_met = is_true(&known["completed"]) && (!escalated || is_true(&known["escalation_approved"]));
    let last =
        known["last_test_result"].as_str().map_or_else(String::new, |last| format!(", the last one {last}"));
    let count = counted(used, allowed);
    let (says, step) = if escalated && !is_met {
        let why = known["escalation_reason"].as_str().map_or_else(String::new, |why| format!(" ({why})"));
        (
            format!("given up{why}, {WAITS}; {count}"),
            format!("the tests were given up{why}: a person decides"),
        )
    } else {
        (format!("{count}{last}"), "make the tests pass".into())
    };
    Demand { what: "tests", is_met, used, allowed, says, step }
}

fn talks(rules: &Rules<'_>, known: &Value) -> Demand {
    const NAME: &str = "interactive_elicitation";
    let used = known["menu_interactions"].as_u64();
    let least = rules.number(NAME, "min_menu_interactions");
    let wanted = rules.words(NAME, "required_final_selection");
    let chosen = known["final_selection"].as_str();
    let fits = wanted.is_empty() || chosen.is_some_and(|chosen| wanted.iter().any(|wanted| wanted == chosen));
    let count = match least {
        Some(least) => format!("{} menus answered, at least {least} are wanted", used.unwrap_or(0)),
        None => format!("{} menus answered", used.unwrap_or(0)),
    };
    let chosen = chosen.map_or_else(String::new, |chosen| format!("; the last choice was {chosen}"));
    Demand {
        what: "talks",
        is_met: is_true(&known["completed"]) && fits,
        used,
        allowed: least,
        says: format!("{count}{chosen}"),
        step: format!("talk the phase through with the person, until they choose {}", either(&wanted)),
    }
}

fn either(words: &[String]) -> String {
    if words.is_empty() { "to go on".into() } else { words.join(" or ") }
}

fn articles(rules: &Rules<'_>, known: &Value) -> Demand {
    const NAME: &str = "constitutional_validation";
    let (used, allowed) = tries(known, "iterations_used", rules.number(NAME, "max_iterations"));
    let escalated = known["status"] == "escalated";
    let completed = is_true(&known["completed"]);
    let is_met = completed
        && (known["status"] == "compliant" || (escalated && is_true(&known["escalation_approved"])));
    let list = rules.words(NAME, "articles").join(", ");
    let list = if list.is_empty() { String::new() } else { format!(" {list}") };
    let count = counted(used, allowed);
    let (says, step) = if escalated && !is_met {
        (
            format!("articles{list}: {WAITS}; {count}"),
            "the check of the constitution was given up: a person decides".into(),
        )
    } else {
        (
            format!("articles{list}: {count}"),
            format!("check the work against the constitution's articles{list}"),
        )
    };
    Demand { what: "articles", is_met, used, allowed, says, step }
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
