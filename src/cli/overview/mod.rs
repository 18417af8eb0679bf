//! The state of a project: the one model behind `status`, `guards`, `doctor`, `init`, `review` and the
//! status line.
//!
//! [`Overview::open`] reads the configuration only. Every other part is read when a command first asks for it, so
//! that the status line does not pay for what it does not show. A part that cannot be read contains the reason,
//! and the others are still shown.

pub(crate) mod activation;
pub(crate) mod instances;
pub(crate) mod journal_tail;
pub(crate) mod registrations;
pub(crate) mod review;
pub(crate) mod workflow;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use activation::{HookState, PackActivation};
use instances::{RootReport, read_reports};
use journal_tail::JournalTail;
use review::ReviewProgress;
use workflow::WorkflowStatus;

use super::settings_file::find_client_root;
use super::{CommandError, current_directory, gate};
use crate::cli::current_client;
use crate::clients::{Client, HookSource};
use crate::config::ConfigProblem;
use crate::environment::open_workspace;
use crate::event::{Event, EventKind};
use crate::opinion::Fault;
use crate::places::resolve_path;
use crate::plan_gate::plan_status::PlanStatus;
use crate::process::{self, ProgramStreams};
use crate::registry::{GUARDS, Guard, RULES, is_switched_on};
use crate::review_loop::next_action::NextAction;
use crate::rules::Rule;
use crate::signals;
use crate::text::make_one_line;
use crate::workspace::Workspace;
use provost_files::faults;

/// One part: an error if it cannot be read, `None` if the project has nothing of the kind.
pub(crate) type OverviewPart<T> = Result<Option<T>, String>;

/// How many rules hold in a project.
pub(crate) struct RuleCounts {
    /// Without those that are switched off.
    pub(crate) all: usize,
    pub(crate) built_in: usize,
    pub(crate) watched: usize,
    pub(crate) off: usize,
    /// Rules with a command that waits for the user's trust.
    pub(crate) untrusted: usize,
}

pub(crate) struct Overview {
    pub(crate) client: &'static Client,
    pub(crate) workspace: Workspace,
    /// Where the session works, or where the command was called.
    pub(crate) cwd: PathBuf,
    /// Where the client reads the settings of the project.
    pub(crate) settings_root: PathBuf,
    /// Where plans of the review loop are searched: `cwd`, or a path in another project that the user named.
    plan_search: PathBuf,
    sources: OnceCell<Vec<HookSource>>,
    journal: OnceCell<OverviewPart<JournalTail>>,
    plan: OnceCell<OverviewPart<PlanStatus>>,
    review: OnceCell<OverviewPart<ReviewProgress>>,
    workflow: OnceCell<OverviewPart<WorkflowStatus>>,
    instances: OnceCell<Vec<RootReport>>,
    packs: OnceCell<Vec<PackActivation>>,
    problems: OnceCell<Vec<ConfigProblem>>,
}

impl Overview {
    /// The overview of a session that started in `start` and works in `cwd`.
    pub(crate) fn open(start: &Path, cwd: &Path) -> Self {
        let client = current_client();
        let workspace =
            open_workspace(client, &Event::new(String::new(), EventKind::Other, start.to_owned()));
        Self {
            settings_root: find_client_root(client, &workspace.start, &workspace.project),
            client,
            workspace,
            cwd: cwd.to_owned(),
            plan_search: cwd.to_owned(),
            sources: OnceCell::new(),
            journal: OnceCell::new(),
            plan: OnceCell::new(),
            review: OnceCell::new(),
            workflow: OnceCell::new(),
            instances: OnceCell::new(),
            packs: OnceCell::new(),
            problems: OnceCell::new(),
        }
    }

    /// The overview of the current directory.
    pub(crate) fn open_here() -> Result<Self, CommandError> {
        let cwd = resolve_path(&current_directory()?);
        Ok(Self::open(&cwd, &cwd))
    }

    /// The plan that was changed last. Plans belong to the user and not to the project, so while the plan gate
    /// is off only a plan that it knows already counts.
    pub(crate) fn plan(&self) -> &OverviewPart<PlanStatus> {
        self.plan.get_or_init(|| {
            let read = || -> Result<Option<PlanStatus>, Fault> {
                let Some(chosen) = gate::PlanChoice::find(None, &self.workspace) else { return Ok(None) };
                let plan = PlanStatus::read(&chosen.path, &self.workspace)?;
                Ok(plan.filter(|plan| plan.session.is_some() || self.is_plan_gate_on()))
            };
            read().map_err(|fault| make_one_line(&fault.to_string()))
        })
    }

    /// The reviews of the plan whose files were changed last.
    pub(crate) fn review(&self) -> &OverviewPart<ReviewProgress> {
        self.review.get_or_init(|| {
            let chosen = self.choose_review_plan(None);
            let progress = chosen.map(|chosen| ReviewProgress::read(&chosen, self)).transpose();
            progress.map_err(|fault| make_one_line(&fault.to_string()))
        })
    }

    pub(crate) fn workflow(&self) -> &OverviewPart<WorkflowStatus> {
        self.workflow.get_or_init(|| {
            let event = Event::new(String::new(), EventKind::Other, self.cwd.clone());
            WorkflowStatus::read(&event, &self.workspace).map_err(|why| make_one_line(&why))
        })
    }

    /// The spec-driven workflows that hold work here.
    pub(crate) fn instances(&self) -> &[RootReport] {
        self.instances.get_or_init(|| {
            if !self.workspace.config.uses_workflows() {
                return Vec::new();
            }
            read_reports(&self.cwd, &self.workspace)
        })
    }

    /// The end of the journal; `None`: there is no home directory, so no journal is written.
    pub(crate) fn journal(&self) -> &OverviewPart<JournalTail> {
        self.journal.get_or_init(|| JournalTail::read(&self.workspace))
    }

    /// The end of the journal, as far as it can be read.
    fn readable_journal(&self) -> Option<&JournalTail> {
        self.journal().as_ref().ok()?.as_ref()
    }

    /// Whether this session has called Provost lately.
    pub(crate) fn has_called(&self, session: &str) -> bool {
        self.readable_journal().is_some_and(|journal| journal.sessions.contains(session))
    }

    /// The guards that the configuration switches off.
    pub(crate) fn guards_off(&self) -> Vec<&'static str> {
        let is_off = |guard: &&Guard| !is_switched_on(guard, &self.workspace.config);
        GUARDS.iter().filter(is_off).map(|guard| guard.name).collect()
    }

    /// The guards that are judged and recorded here, but not enforced.
    pub(crate) fn guards_watched(&self) -> Vec<&'static str> {
        let config = &self.workspace.config;
        let on = self.guards_on();
        let is_watched =
            |guard: &&Guard| config.is_guard_watched(guard.name, guard.pack) && on.contains(&guard.name);
        GUARDS.iter().filter(is_watched).map(|guard| guard.name).collect()
    }

    /// The number of guards that judge here, in the words that every screen uses.
    pub(crate) fn count_guards(&self) -> String {
        format!("{} of {} guards on here", self.guards_on().len(), GUARDS.len())
    }

    pub(crate) fn count_rules(&self) -> RuleCounts {
        let set = &self.workspace.config.rules;
        let watches_all = self.workspace.config.is_guard_watched(RULES, RULES);
        let count =
            |is_counted: &dyn Fn(&Rule) -> bool| set.rules.iter().filter(|rule| is_counted(rule)).count();
        RuleCounts {
            all: set.rules.len(),
            built_in: count(&|rule| rule.origin.is_built_in),
            watched: count(&|rule| rule.is_watched || watches_all),
            off: set.off.len(),
            untrusted: count(&|rule| !self.workspace.is_trusted(rule)),
        }
    }

    pub(crate) fn config_mistakes(&self) -> Vec<String> {
        self.config_problems().iter().map(|problem| make_one_line(&problem.to_string())).collect()
    }

    /// The mistakes in the configuration, also those in the patterns of rules.
    pub(crate) fn config_problems(&self) -> &[ConfigProblem] {
        self.problems.get_or_init(|| self.workspace.config.list_all_problems())
    }

    /// Whether every part could be read.
    pub(crate) fn is_readable(&self) -> bool {
        let parts = self.plan().is_ok() && self.review().is_ok() && self.workflow().is_ok();
        parts && self.journal().is_ok() && self.instances().iter().all(|report| report.fault.is_none())
    }

    /// What the user can do now. Work in progress comes before work that could begin.
    pub(crate) fn next_step(&self) -> String {
        let step = self
            .hook_step()
            .or_else(|| self.review_step())
            .or_else(|| self.workflow_step())
            .or_else(|| self.instance_step())
            .or_else(|| match self.plan() {
                Err(why) => Some(format!("fix the plan, which cannot be read ({why})")),
                Ok(plan) => plan.as_ref().and_then(|plan| gate::parts::next_step(plan, true)),
            })
            .or_else(|| {
                let is_waiting = self.count_rules().untrusted > 0;
                is_waiting.then(|| "look at the commands that rules of this project would run, and trust them: `provost rules trust`".into())
            })
            .or_else(|| {
                let has_mistakes = !self.config_mistakes().is_empty();
                has_mistakes
                    .then(|| "fix the configuration: `provost config check` shows its mistakes".into())
            });
        let idle = if self.hook_state() == HookState::OnlyInJournal {
            "to have Provost called here again, run `provost init`"
        } else {
            "nothing waits for you; `provost guards` shows what is guarded here"
        };
        make_one_line(step.as_deref().unwrap_or(idle))
    }

    fn hook_step(&self) -> Option<String> {
        let step = match self.hook_state() {
            HookState::Active | HookState::OnlyInJournal => return None,
            HookState::Missing => "run `provost init` to add Provost's hooks to Claude Code",
            HookState::SwitchedOff => "hooks are switched off here: `provost doctor` shows where",
            HookState::Rejected => "fix the settings: `provost doctor` shows what is wrong",
        };
        Some(step.to_owned())
    }

    fn review_step(&self) -> Option<String> {
        let review = match self.review() {
            Err(why) => return Some(format!("fix the plan's files, which cannot be read ({why})")),
            Ok(review) => review.as_ref()?,
        };
        match &review.cycle {
            Err(unknown) => Some(format!("{}: {}", unknown.why, unknown.next_step)),
            Ok(cycle) if cycle.route.action == NextAction::Tell && review.running.is_none() => None,
            Ok(cycle) => Some(cycle.next_step.clone()),
        }
    }

    fn instance_step(&self) -> Option<String> {
        self.instances().iter().find_map(|report| {
            if let Some(fault) = &report.fault {
                return Some(format!("fix the files of {}, which cannot be read ({fault})", report.workflow));
            }
            let instance = report.find_governing()?;
            Some(format!("{}: {}", instance.name, instance.next_step))
        })
    }

    fn workflow_step(&self) -> Option<String> {
        match self.workflow() {
            // The reason is shown beside the workflow already.
            Err(why) => Some(why.rsplit_once("To fix: ").map_or(why.as_str(), |(_, fix)| fix).to_owned()),
            Ok(workflow) => workflow.as_ref()?.next_step().map(str::to_owned),
        }
    }
}

/// Adds the items that the list does not have yet.
pub(crate) fn add_new<T: PartialEq>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// The first line that a program prints for `--version`.
pub(crate) fn ask_version(program: &mut Command) -> Option<String> {
    const LIMIT: Duration = Duration::from_secs(10);
    program.arg("--version");
    let limit = faults::extend_limit(LIMIT);
    let output =
        process::run_program(program, ProgramStreams::default(), limit, signals::is_end_requested).ok()??;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().map(str::trim).filter(|_| output.status.success())?;
    (!line.is_empty()).then(|| line.to_owned())
}
