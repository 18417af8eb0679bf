//! Where everything stands in a project, gathered once for the screen, for JSON and for the status line.
//!
//! Each pack is asked by the code behind its own command, so that no two screens can disagree. A part that
//! cannot be read says so in its place, and hides none of the others.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::asked::{Called, Pack, called, guards_on, packs};
use crate::cli::gate;
use crate::cli::phases::overview::Overview as Workflow;
use crate::cli::review::Here;
use crate::cli::review::overview::Overview as Rounds;
use crate::clients::{self, Hook};
use crate::config::settings;
use crate::decision::Fault;
use crate::event::{Event, Kind};
use crate::journal::{self, Record};
use crate::plan_gate::overview::Overview as Plan;
use crate::registry::GUARDS;
use crate::review_loop::route::Action;
use crate::search;
use crate::text::{bounded, one_line};
use crate::workspace::Workspace;

/// As many denials are shown.
pub(super) const MOST_DENIALS: usize = 5;
/// As many are looked at, at most.
pub(crate) const MOST_LOOKED_AT: usize = 20;
/// As much of what a guard said is shown; `provost explain` has all of it.
const LONGEST: usize = 200;
/// What a line of the journal has in it that tells of a denial, or of a guard of the plan gate.
const OF_INTEREST: &[&[u8]] = &[b"\"deny", b"\"plan-"];

/// A part, or why it cannot be read; `None`: there is nothing of the kind here.
pub(crate) type Part<T> = Result<Option<T>, String>;

pub(crate) struct Summary {
    pub(crate) project: PathBuf,
    pub(crate) called: Called,
    /// The sessions at the end of the journal: these have asked Provost.
    pub(crate) sessions: BTreeSet<String>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) plan: Part<Plan>,
    pub(crate) rounds: Part<Rounds>,
    pub(crate) workflow: Part<Workflow>,
    /// Those at the end of the journal, newest first; `None`: no journal is kept.
    pub(crate) denials: Part<Vec<Denied>>,
    /// Those that judge here.
    pub(crate) guards_on: Vec<&'static str>,
    /// Those that the configuration switches off.
    pub(crate) guards_off: Vec<&'static str>,
    pub(crate) mistakes: Vec<String>,
    pub(crate) next: String,
}

/// A call that was denied.
pub(crate) struct Denied {
    pub(crate) id: String,
    pub(crate) time: String,
    pub(crate) session: String,
    pub(crate) guard: String,
    pub(crate) what: String,
    pub(crate) why: String,
}

/// What the end of the journal shows.
#[derive(Default)]
struct Recently {
    sessions: BTreeSet<String>,
    denials: Vec<Denied>,
    /// A guard of the plan gate was asked, so some hook entry names it.
    asked_plan_gate: bool,
}

impl Recently {
    fn note(&mut self, record: &Record) {
        let is_of_plan_gate =
            |name: &str| GUARDS.iter().any(|guard| guard.name == name && guard.pack == "plan-gate");
        self.asked_plan_gate |= record.guards().any(|said| is_of_plan_gate(said.text("guard")));
        let said = record.speaker();
        // An agent that is sent back with a review was denied nothing; the rounds tell that.
        let is_review = said.as_ref().is_some_and(|said| said.text("guard") == "review-loop");
        if !record.is_denial() || is_review {
            return;
        }
        let shown = |text: &str| one_line(&bounded(text, LONGEST));
        let of = |name: &str| said.as_ref().map_or(String::new(), |said| shown(said.text(name)));
        self.denials.push(Denied {
            id: shown(record.text("id")),
            time: shown(record.text("time")),
            session: shown(record.text("session")),
            guard: of("guard"),
            what: of("what"),
            why: of("why"),
        });
    }
}

impl Summary {
    /// For a session that began in `start` and works in `cwd`.
    pub(crate) fn of(start: &Path, cwd: &Path) -> Self {
        let event = Event::new(String::new(), Kind::Other, start.to_owned());
        let workspace = Workspace::of(clients::DEFAULT, &event);
        let recently = recently(&workspace);
        let event = Event::new(String::new(), Kind::Other, cwd.to_owned());
        let workflow = Workflow::of(&event, &workspace).map_err(|why| one_line(&why));
        let seen = recently.as_ref().ok().and_then(Option::as_ref);
        let sessions = seen.map(|seen| seen.sessions.clone()).unwrap_or_default();
        // The client reads the settings of the directory it is started in, and of no other.
        let is_started_here = start.join(workspace.client.folder).is_dir();
        let started_in = if is_started_here { start } else { &workspace.project };
        let sources = (workspace.client.registrations)(&workspace.places, started_in);
        let taken = sources.iter().filter(|source| source.void.is_none());
        let hooks = taken.flat_map(|source| &source.hooks).filter(|hook| hook.calls_provost);
        let hooks: Vec<&Hook> = hooks.collect();
        let names_plan_gate = hooks.iter().any(|hook| hook.packs.iter().any(|pack| pack == "plan-gate"));
        let asked_plan_gate = names_plan_gate || seen.is_some_and(|seen| seen.asked_plan_gate);
        let plan_gate = workspace.config.switch(settings::PLAN_GATE) || asked_plan_gate;
        let packs = packs(&workspace, cwd, &hooks, asked_plan_gate, !matches!(workflow, Ok(None)));
        let mut summary = Self {
            called: called(&sources, !sessions.is_empty()),
            guards_on: guards_on(&packs, &workspace.config),
            packs,
            plan: plan_of(plan_gate, &workspace).map_err(|fault| one_line(&fault.to_string())),
            rounds: Ok(None),
            workflow,
            sessions,
            denials: recently.map(|seen| seen.map(|seen| seen.denials)),
            guards_off: off(&workspace),
            mistakes: workspace
                .config
                .problems
                .iter()
                .map(|problem| one_line(&problem.to_string()))
                .collect(),
            next: String::new(),
            project: workspace.project.clone(),
        };
        let here = Here::within(workspace, cwd.to_owned());
        let chosen = here.choose(None);
        let rounds = chosen.map(|chosen| Rounds::of(&chosen, &here)).transpose();
        summary.rounds = rounds.map_err(|fault| one_line(&fault.to_string()));
        summary.next = summary.next_step();
        summary
    }

    /// Whether every part could be read.
    pub(crate) fn is_whole(&self) -> bool {
        self.plan.is_ok() && self.rounds.is_ok() && self.workflow.is_ok() && self.denials.is_ok()
    }

    /// What a person can do now. What is under way comes before what could begin.
    fn next_step(&self) -> String {
        let mend = |what: &str, why: &str| format!("mend {what}, which cannot be read ({why})");
        let of_registration = || match self.called {
            Called::Yes | Called::Formerly => None,
            Called::No => Some("run `provost init` to add Provost's hooks to Claude Code".to_owned()),
            Called::Off => Some("hooks are switched off here: `provost doctor` tells where".to_owned()),
            Called::Dropped => Some("mend the settings: `provost doctor` tells what is wrong".to_owned()),
        };
        let of_rounds = || match &self.rounds {
            Err(why) => Some(mend("the plan's files", why)),
            Ok(None) => None,
            Ok(Some(rounds)) => match &rounds.standing {
                Err(unknown) => Some(format!("{}: {}", unknown.why, unknown.go_on)),
                Ok(standing) if standing.route.action == Action::Tell && rounds.running.is_none() => None,
                Ok(standing) => Some(standing.go_on.clone()),
            },
        };
        let of_workflow = || match &self.workflow {
            // What is wrong stands in its own place already.
            Err(why) => Some(why.rsplit_once("To fix: ").map_or(why.as_str(), |(_, fix)| fix).to_owned()),
            Ok(workflow) => workflow.as_ref().and_then(|workflow| workflow.next().map(str::to_owned)),
        };
        let of_plan = || match &self.plan {
            Err(why) => Some(mend("the plan", why)),
            Ok(plan) => plan.as_ref().and_then(|plan| gate::parts::step(plan, true)),
        };
        let of_mistakes = || {
            (!self.mistakes.is_empty())
                .then(|| "mend the configuration: `provost config check` shows its mistakes".into())
        };
        let step =
            of_registration().or_else(of_rounds).or_else(of_workflow).or_else(of_plan).or_else(of_mistakes);
        let idle = if self.called == Called::Formerly {
            "if Provost should be called here again, `provost init` writes the entries"
        } else {
            "nothing waits for you; `provost guards` shows what is guarded here"
        };
        one_line(step.as_deref().unwrap_or(idle))
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({
            "project": self.project.to_string_lossy(),
            "registered": self.called == Called::Yes,
            "packs": self.packs.iter().map(|pack| {
                json!({"name": pack.name, "on": pack.is_on, "why": pack.why})
            }).collect::<Vec<_>>(),
            "plan_gate": part(&self.plan, gate::parts::as_json),
            "review": part(&self.rounds, Rounds::as_json),
            "phases": part(&self.workflow, Workflow::as_json),
            "denials": part(&self.denials, |denials| denials.iter().take(MOST_DENIALS).map(Denied::as_json).collect()),
            "guards": {"on": self.guards_on.len(), "all": GUARDS.len(), "off": self.guards_off},
            "mistakes": self.mistakes,
            "next": self.next,
        })
    }
}

/// How many guards judge here, in the words that every screen has for it.
pub(crate) fn guards_counted(on: usize) -> String {
    format!("{on} of {} guards on here", GUARDS.len())
}

impl Denied {
    fn as_json(&self) -> Value {
        json!({"id": self.id, "time": self.time, "session": self.session, "guard": self.guard, "what": self.what,
            "why": self.why})
    }
}

fn part<T>(part: &Part<T>, as_json: impl Fn(&T) -> Value) -> Value {
    match part {
        Ok(part) => part.as_ref().map_or(Value::Null, as_json),
        Err(why) => json!({"fault": why}),
    }
}

fn off(workspace: &Workspace) -> Vec<&'static str> {
    GUARDS.iter().map(|guard| guard.name).filter(|name| !workspace.config.guard_is_on(name)).collect()
}

/// The plan that was changed last. Plans lie with the person, not with the project: where the gate is not
/// on, only one that it knows already is of interest.
fn plan_of(is_on: bool, workspace: &Workspace) -> Result<Option<Plan>, Fault> {
    let Some(chosen) = gate::Chosen::find(None, workspace) else { return Ok(None) };
    let plan = Plan::of(&chosen.path, workspace)?;
    Ok(plan.filter(|plan| is_on || plan.session.is_some()))
}

/// The session of a line, found without the cost of reading all of it; an empty one where there is none.
fn session_of(line: &[u8]) -> String {
    const NAME: &[u8] = b"\"session\":\"";
    let rest = search::part(line, NAME).map_or(&[][..], |at| &line[at + NAME.len()..]);
    let end = search::byte(rest, b'"').unwrap_or(0);
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

fn recently(workspace: &Workspace) -> Part<Recently> {
    let Some(state) = workspace.places.project_state(&workspace.project) else { return Ok(None) };
    let mut seen = Recently::default();
    let read = journal::visit_last(&state, |line| {
        seen.sessions.insert(session_of(line));
        // Most lines are silence, and not worth to be parsed.
        let of_interest = |part: &&[u8]| search::part(line, part).is_some();
        if seen.denials.len() < MOST_LOOKED_AT
            && OF_INTEREST.iter().any(of_interest)
            && let Some(record) = Record::of_line(line)
        {
            seen.note(&record);
        }
        ControlFlow::Continue(())
    });
    read.map(|()| Some(seen)).map_err(|error| one_line(&format!("the journal cannot be read: {error}")))
}
