//! Where a workflow in phases is: its phases, what the current one still requires, and the next step.
//!
//! Nothing is judged here. The guards' own reader says what a phase requires and what is done. Where that is not
//! enough, the guard itself judges a hypothetical call.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::event::{Event, EventKind, TurnEnd};
use crate::opinion::{Denial, Opinion, Verdict};
use crate::phases::requirements::{
    self, ConstitutionRequirement, ELICITATION_RECORD, ElicitationRequirement, EscalationStatus,
    PhaseProgress, PhaseRequirements, RequirementRecord, TEST_RECORD, TestRequirement,
};
use crate::phases::skill_delegation_enforcer::{PENDING_DELEGATION, SESSION_FIELD};
use crate::phases::state::{Workflow, WorkflowState};
use crate::phases::workflow_context::{MAX_FILE_BYTES, WorkflowContext};
use crate::phases::{delegation_gate, gate_blocker, phase_names, plan_surfacer};
use crate::registry::{GUARDS, Guard, is_switched_on};
use crate::tool::{Tool, ToolCall, ToolOutcome};
use crate::workspace::Workspace;

pub(crate) struct WorkflowStatus {
    pub(crate) root: PathBuf,
    /// The project that is meant, in a repository of several.
    pub(crate) member: Option<String>,
    /// The repository has several projects, and nothing says which one is meant.
    pub(crate) is_undecided: bool,
    /// `None`: no workflow is active.
    pub(crate) active: Option<WorkflowProgress>,
    /// Without an active workflow: why the gate of the phase that the state still names is closed.
    pub(crate) left_over: Option<Denial>,
    pub(crate) guards_off: Vec<&'static str>,
    pub(crate) guards: usize,
}

pub(crate) struct WorkflowProgress {
    pub(crate) workflow: Workflow,
    /// The checked-out branch; `None` in a linked working tree too.
    pub(crate) git_branch: Option<String>,
    pub(crate) phases: Vec<Phase>,
    pub(crate) current: Option<String>,
    pub(crate) requirements: Vec<Requirement>,
    /// The file with the plan of tasks, and whether it exists.
    pub(crate) tasks: (PathBuf, bool),
    /// Whether an agent may only start with a plan of tasks.
    pub(crate) needs_tasks: bool,
    /// The agent that has to work before a turn ends, and since when.
    pub(crate) waits_for: Option<(String, Option<String>)>,
    pub(crate) escalations: usize,
    pub(crate) next_step: String,
}

pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) status: Option<String>,
    pub(crate) is_current: bool,
}

/// What a phase requires before its gate opens.
pub(crate) struct Requirement {
    pub(crate) name: &'static str,
    pub(crate) is_met: bool,
    used: Option<u64>,
    allowed: Option<u64>,
    pub(crate) text: String,
    /// What to do while it is not met.
    fix: String,
}

impl WorkflowStatus {
    /// `None`: the project has no workflow directory. An error: the state exists and cannot be read.
    pub(crate) fn read(event: &Event, workspace: &Workspace) -> Result<Option<Self>, String> {
        let Some(context) = WorkflowContext::find(event, workspace) else { return Ok(None) };
        let file = context.state_file();
        let unreadable = |why: &str| {
            // An error of the file system names the file itself.
            let file = file.display().to_string();
            let why = why.strip_prefix(&format!("{file}: ")).unwrap_or(why);
            format!(
                "{file} cannot be read: {why}. Until that is fixed, no guard of the phases blocks anything. To fix: \
                 correct {file}, or restore it from the last commit"
            )
        };
        let bytes =
            workspace.read_bytes(&file, MAX_FILE_BYTES).map_err(|fault| unreadable(&fault.to_string()))?;
        if let Some(Err(why)) = bytes.map(|bytes| crate::raw_object::RawObject::parse(&bytes)) {
            return Err(unreadable(&why));
        }
        let state = context.state(workspace);
        let guards: Vec<&Guard> = GUARDS.iter().filter(|guard| guard.pack == "phases").collect();
        let off = guards.iter().filter(|guard| !is_switched_on(guard, &workspace.config));
        let active = state.and_then(|state| Some((state, state.workflow()?.clone())));
        let has_several = workspace.exists(&context.root().join(".isdlc/monorepo.json"));
        Ok(Some(Self {
            root: context.root().to_owned(),
            member: context.member().map(str::to_owned),
            is_undecided: has_several && context.member().is_none(),
            left_over: if active.is_none() { find_closed_gate(event, workspace) } else { None },
            active: active.map(|(state, workflow)| {
                WorkflowProgress::read(&WorkflowFiles { context, state, event, workspace }, workflow)
            }),
            guards: guards.len(),
            guards_off: off.map(|guard| guard.name).collect(),
        }))
    }

    pub(crate) fn next_step(&self) -> Option<&str> {
        match (&self.active, &self.left_over) {
            (Some(active), _) => Some(&active.next_step),
            (None, Some(_)) => Some("remove `current_phase` from the state, or start a workflow"),
            (None, None) => None,
        }
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({
            "project": self.root.to_string_lossy(),
            "member": self.member,
            "workflow": self.active.as_ref().map(|active| active.as_json(&self.root)),
            "left_over": self.left_over.as_ref().map(|denial| json!({"what": denial.what, "why": denial.why})),
            "guards": {"on": self.guards - self.guards_off.len(), "off": self.guards_off},
        })
    }
}

impl WorkflowProgress {
    fn read(source: &WorkflowFiles<'_>, workflow: Workflow) -> Self {
        let WorkflowFiles { context, state, workspace, .. } = source;
        let current = state.current_phase();
        let is_current =
            |name: &str| current.as_deref().is_some_and(|current| phase_names::is_same_phase(current, name));
        let phase = |name: &String| Phase {
            name: name.clone(),
            status: state
                .find_phase_record(name)
                .and_then(|(_, phase)| phase["status"].as_str().map(str::to_owned)),
            is_current: is_current(name),
        };
        let mut phases: Vec<Phase> = if workflow.phases.is_empty() {
            source.find_usual_phases(&workflow).iter().map(phase).collect()
        } else {
            workflow.phases.iter().map(phase).collect()
        };
        // The current phase need not be one that the workflow lists.
        if let Some(current) = current.as_ref().filter(|_| !phases.iter().any(|phase| phase.is_current)) {
            phases.push(Phase { is_current: true, ..phase(current) });
        }
        let escalations = state.read_value(&["pending_escalations"]);
        let mut active = Self {
            git_branch: read_git_branch(workspace),
            requirements: current.as_deref().map_or_else(Vec::new, |phase| source.read_requirements(phase)),
            tasks: context.tasks_file(workspace),
            needs_tasks: source.needs_tasks(),
            waits_for: source.find_awaited_agent(),
            escalations: escalations.as_ref().and_then(Value::as_array).map_or(0, Vec::len),
            next_step: String::new(),
            workflow,
            phases,
            current,
        };
        active.next_step =
            active.find_next_step(context.root(), || find_closed_gate(source.event, workspace));
        active
    }

    /// The position of the current phase.
    pub(crate) fn position(&self) -> Option<usize> {
        self.phases.iter().position(|phase| phase.is_current)
    }

    /// The names of the requirements that the current phase does not meet.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let unmet = self.requirements.iter().filter(|requirement| !requirement.is_met);
        let no_tasks = (self.needs_tasks && !self.tasks.1).then_some("tasks.md");
        unmet.map(|requirement| requirement.name).chain(no_tasks).collect()
    }

    fn find_next_step(&self, root: &Path, find_closed_gate: impl Fn() -> Option<Denial>) -> String {
        let Some(current) = &self.current else {
            return "the state names no current phase: the orchestrator sets it when it begins one".into();
        };
        let position = self.position();
        let status = position.and_then(|at| self.phases[at].status.as_deref());
        if let Some((agent, _)) = &self.waits_for {
            return format!("let {agent} work: the last skill needs it, and no turn ends before that");
        }
        if !matches!(status, Some("in_progress" | "completed")) {
            return format!("mark {current} as in_progress, then start its agents");
        }
        let (tasks, has_tasks) = &self.tasks;
        if self.needs_tasks && !has_tasks {
            return format!("write the plan of tasks to {}", relative_path(tasks, root));
        }
        if let Some(unmet) = self.requirements.iter().find(|requirement| !requirement.is_met) {
            return unmet.fix.clone();
        }
        if let Some(Denial { why, fix, .. }) = find_closed_gate() {
            return format!("{why}; {fix}");
        }
        let gate = phase_names::gate_name(current);
        match position.and_then(|at| self.phases.get(at + 1)) {
            Some(next) => format!("nothing known is missing: go through {gate} to {}", next.name),
            None => format!("nothing known is missing: go through {gate}, and finish the workflow"),
        }
    }

    fn as_json(&self, root: &Path) -> Value {
        let branch = self.workflow.branch.as_ref();
        json!({
            "type": self.workflow.kind,
            "branch": branch.map(|branch| json!({"name": branch.name, "active": branch.is_active})),
            "on_branch": self.git_branch,
            "current_phase": self.current,
            "gate": self.current.as_deref().map(phase_names::gate_name),
            "phases": self.phases.iter().map(|phase| {
                json!({"name": phase.name, "status": phase.status, "current": phase.is_current})
            }).collect::<Vec<_>>(),
            "requirements": self.requirements.iter().map(|requirement| json!({
                "what": requirement.name, "met": requirement.is_met, "used": requirement.used,
                "allowed": requirement.allowed, "text": requirement.text,
            })).collect::<Vec<_>>(),
            "tasks": {
                "path": relative_path(&self.tasks.0, root), "exists": self.tasks.1, "needed": self.needs_tasks,
            },
            "pending_delegation": self.waits_for.as_ref().map(|(agent, since)| json!({"agent": agent, "since": since})),
            "pending_escalations": self.escalations,
            "next": self.next_step,
        })
    }
}

/// What a workflow is read from.
struct WorkflowFiles<'a> {
    context: &'a WorkflowContext,
    state: &'a WorkflowState,
    event: &'a Event,
    workspace: &'a Workspace,
}

impl WorkflowFiles<'_> {
    /// The phases that workflows of this kind have.
    fn find_usual_phases(&self, workflow: &Workflow) -> Vec<String> {
        let kind = workflow.kind.as_deref().unwrap_or_default();
        let list = self.context.workflows(self.workspace).map(|all| &all["workflows"][kind]["phases"]);
        let names = list.and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Whether the guard of the plan of tasks would judge an agent that starts now.
    fn needs_tasks(&self) -> bool {
        let start = Tool::Delegate {
            agent: None,
            prompt: None,
            description: None,
            background: None,
            is_isolated: false,
            native_input: serde_json::Map::new(),
        };
        plan_surfacer::judge(&make_call(start, self.event), self.workspace).is_some()
    }

    /// The agent without which a turn of the session that used its skill cannot end, and since when.
    fn find_awaited_agent(&self) -> Option<(String, Option<String>)> {
        let marker = self.state.read_value(&[PENDING_DELEGATION])?;
        let mut stop = Event::new(String::new(), EventKind::Stop(TurnEnd::default()), self.event.cwd.clone());
        stop.session = marker[SESSION_FIELD].as_str().map(str::to_owned);
        find_denial(delegation_gate::judge(&stop, self.workspace))?;
        let since = marker["invoked_at"].as_str().map(str::to_owned);
        Some((marker["required_agent"].as_str()?.to_owned(), since))
    }

    fn read_requirements(&self, phase: &str) -> Vec<Requirement> {
        let Self { context, state, workspace, .. } = self;
        if requirements::are_checks_off(state) {
            return Vec::new();
        }
        let Some(demands) = PhaseRequirements::find(phase, state, context, workspace) else {
            return Vec::new();
        };
        let progress = PhaseProgress::read(phase, state);
        // For the screen only: no guard reads these fields.
        let detail = |path: &[&str], field: &str| {
            let (_, phase) = state.find_phase_record(phase)?;
            path.iter().try_fold(phase, |value, name| value.get(name))?.get(field).cloned()
        };
        let reason = || detail(TEST_RECORD, "escalation_reason")?.as_str().map(|why| format!(" ({why})"));
        let menus = || detail(ELICITATION_RECORD, "menu_interactions")?.as_u64();
        let parts = [
            demands
                .tests
                .map(|demand| require_tests(&demand, progress.tests.as_ref(), &reason().unwrap_or_default())),
            demands.elicitation.map(|demand| require_talks(&demand, &progress, menus())),
            demands.constitution.map(|demand| require_articles(&demand, progress.constitution.as_ref())),
            demands.needs_agent.then(|| self.require_agent(phase)).flatten(),
        ];
        parts.into_iter().flatten().collect()
    }

    /// At least one agent of the phase must have worked.
    fn require_agent(&self, phase: &str) -> Option<Requirement> {
        let manifest = self.context.manifest(self.workspace)?;
        let agents: Vec<String> = manifest.agents_in(phase).map(str::to_lowercase).collect();
        let first = agents.first()?;
        let log = self.state.read_value(&["skill_usage_log"]).unwrap_or_default();
        let names = log.as_array().into_iter().flatten().filter_map(|entry| entry["agent"].as_str());
        let worker = names.map(phase_names::canonical_agent_name).find(|name| agents.contains(name));
        Some(Requirement {
            name: "agent",
            is_met: worker.is_some(),
            used: None,
            allowed: None,
            text: match worker {
                Some(worker) => format!("{worker} has worked"),
                None => format!("no agent of this phase has worked, such as {first}"),
            },
            fix: format!("start an agent of {phase}, such as {first}"),
        })
    }
}

pub(crate) fn relative_path(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

fn read_git_branch(workspace: &Workspace) -> Option<String> {
    let text = workspace.read_text(&workspace.project.join(".git/HEAD"), 4096).ok()??;
    text.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// Why the gate would be closed if the workflow were to advance now.
fn find_closed_gate(event: &Event, workspace: &Workspace) -> Option<Denial> {
    let advance = Tool::Skill { name: Some("sdlc".into()), arguments: Some("advance".into()) };
    let denial = find_denial(gate_blocker::judge(&make_call(advance, event), workspace))?;
    // Nobody made the call, so the heading describes it better than what was denied.
    Some(Denial { what: denial.document_wording.unwrap_or(denial.what), document_wording: None, ..denial })
}

fn make_call(tool: Tool, event: &Event) -> Event {
    let call = ToolCall {
        native_tool: String::new(),
        other_name: None,
        id: None,
        tool,
        outcome: ToolOutcome::default(),
    };
    Event::new(String::new(), EventKind::BeforeTool(call), event.cwd.clone())
}

fn find_denial(opinion: Option<Opinion>) -> Option<Denial> {
    match opinion?.verdict {
        Verdict::Deny(denial) => Some(denial),
        _ => None,
    }
}

fn count_tries(used: Option<u64>, allowed: u64) -> String {
    let used = used.map_or("none".into(), |used| used.to_string());
    format!("{used} of {allowed} tries used")
}

/// The text of a requirement that was given up after too many tries; `None`: it was not.
fn describe_escalation(escalation: EscalationStatus, reason: &str, count: &str) -> Option<String> {
    match escalation {
        EscalationStatus::None => None,
        EscalationStatus::Pending => {
            Some(format!("given up{reason}, waits for the user's approval; {count}"))
        }
        EscalationStatus::Approved => Some(format!("given up{reason}, and the user approved that; {count}")),
    }
}

fn require_tests(demand: &TestRequirement, record: Option<&RequirementRecord>, reason: &str) -> Requirement {
    let used = record.map(|tests| tests.tries_used);
    let allowed = record.and_then(|tests| tests.max_tries).unwrap_or(demand.tries);
    let count = count_tries(used, allowed);
    let escalation = record.map_or(EscalationStatus::None, |tests| tests.escalation);
    let has_failed = record.is_some_and(|tests| tests.last_test_failed);
    Requirement {
        name: "tests",
        is_met: record.is_some_and(RequirementRecord::is_enough),
        used,
        allowed: Some(allowed),
        fix: match escalation {
            EscalationStatus::Pending => format!("the tests were given up{reason}: the user decides"),
            _ => "make the tests pass".into(),
        },
        text: describe_escalation(escalation, reason, &count)
            .unwrap_or_else(|| if has_failed { format!("{count}, the last one failed") } else { count }),
    }
}

fn require_talks(
    demand: &ElicitationRequirement,
    progress: &PhaseProgress,
    menus: Option<u64>,
) -> Requirement {
    let record = progress.elicitation.as_ref();
    let choice = record.and_then(|talks| talks.last_choice.as_ref());
    let wanted = &demand.last_choices;
    let is_wanted = wanted.is_empty() || choice.is_some_and(|choice| wanted.contains(choice));
    let last = choice.map_or_else(String::new, |choice| format!("; the last choice was {choice}"));
    let wanted = if wanted.is_empty() { "to continue".into() } else { wanted.join(" or ") };
    let menu_count = match menus.unwrap_or(0) {
        1 => "1 menu was shown".to_owned(),
        count => format!("{count} menus were shown"),
    };
    Requirement {
        name: "talks",
        is_met: record.is_some_and(|talks| talks.is_completed) && is_wanted,
        used: menus,
        allowed: None,
        text: format!("{menu_count}{last}"),
        fix: format!("discuss the phase with the user, until they choose {wanted}"),
    }
}

fn require_articles(demand: &ConstitutionRequirement, record: Option<&RequirementRecord>) -> Requirement {
    let used = record.map(|checks| checks.tries_used);
    let list = demand.articles.join(", ");
    let list = if list.is_empty() { String::new() } else { format!(" {list}") };
    let count = count_tries(used, demand.tries);
    let escalation = record.map_or(EscalationStatus::None, |checks| checks.escalation);
    let is_failed = record.is_some_and(|checks| checks.is_completed && !checks.is_compliant);
    let text = describe_escalation(escalation, "", &count).unwrap_or_else(|| {
        if is_failed {
            format!("the check is done, but its status is not `compliant`; {count}")
        } else {
            count
        }
    });
    Requirement {
        name: "articles",
        is_met: record.is_some_and(RequirementRecord::is_enough),
        used,
        allowed: Some(demand.tries),
        fix: match escalation {
            EscalationStatus::Pending => {
                "the check of the constitution was given up: the user decides".into()
            }
            _ => format!("check the work against the constitution's articles{list}"),
        },
        text: format!("articles{list}: {text}"),
    }
}
