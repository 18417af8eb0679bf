//! Reviews whose findings nobody has answered, noted in a place that agents do not write to.
//!
//! The files of a plan say it too, but a plan can be removed, moved or left for another one, and plan mode
//! can be entered. So each review with findings leaves a note in Provost's own directory, until a later
//! review of the plan, or the user, closes it. A stop that does not deal with the plan itself tells the user
//! once of what is still open.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::memory::Memory;
use super::phase::Review;
use super::plan::Plan;
use super::state::{self, State};
use super::transition::{Answer, Round, Step};
use super::{messages, names, rounds};
use crate::config::settings;
use crate::event::Event;
use crate::text::one_line;
use crate::workspace::{Workspace, fnv1a};

const FOLDER: &str = "open-findings";
const LARGEST: u64 = 16 << 10;
/// At most this many notes of one project are read at a stop, the newest first.
const MOST: usize = 32;

/// The note of one plan.
struct OpenFindings {
    plan: Plan,
    review: Review,
    task: Option<String>,
    number: u64,
    /// The session whose agent was given the findings.
    session: Option<String>,
    /// The user of some session has been told that the plan is gone.
    told: bool,
}

/// Notes the findings that the agent of this session has just been given.
pub fn note(event: &Event, plan: &Plan, step: &Step, workspace: &Workspace) {
    let Answer::Hold { round, clean: false } = &step.answer else { return };
    if !is_on(workspace) {
        return;
    }
    let findings = OpenFindings {
        plan: plan.clone(),
        review: round.review,
        task: step.state.current_task.clone(),
        number: round.number,
        session: event.session.clone(),
        told: false,
    };
    findings.write(workspace);
}

/// Removes the note of a plan: a later review, or the user, has closed its findings.
pub fn close(plan: &Plan, workspace: &Workspace) {
    if let Some(place) = place(plan, workspace) {
        let _ = workspace.remove(&place);
    }
}

/// What names the findings of a round in the memory of a session.
pub fn key(review: Review, number: u64, task: Option<&str>) -> String {
    format!("open findings: {} {number} {}", review.phase(), task.unwrap_or_default())
}

/// What the user is told of findings that are still open. `handled`: the plan that this stop dealt with, its
/// state, and whether the user was told something about it.
pub fn reminders(event: &Event, workspace: &Workspace, handled: Option<&Handled>) -> Vec<String> {
    if !is_on(workspace) {
        return Vec::new();
    }
    let mut told = Vec::new();
    for mut findings in noted(event, workspace) {
        let mut memory = Memory::of(event, &findings.plan, workspace);
        let key = key(findings.review, findings.number, findings.task.as_deref());
        if let Some(handled) = handled.filter(|handled| findings.is_of(handled, workspace)) {
            if handled.is_told {
                memory.is_news(&key);
            }
            continue;
        }
        let is_gone = !workspace.exists(&findings.plan.file(state::FILE));
        let is_own = findings.session.is_some() && findings.session == event.session;
        let concerns_user = is_own || is_gone && !findings.told;
        if concerns_user && !findings.is_answered(workspace) && memory.is_news(&key) {
            told.push(findings.text(event, workspace));
            if is_gone {
                findings.told = true;
                findings.write(workspace);
            }
        }
    }
    told
}

/// What a stop dealt with.
pub struct Handled {
    pub plan: Plan,
    pub state: Option<State>,
    pub is_told: bool,
}

impl OpenFindings {
    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Self {
            plan: Plan { id: text("plan")?, path: text("path")?.into(), root: text("root")?.into() },
            review: Review::in_phase(value["review"].as_str()?)?,
            task: text("task"),
            number: value["number"].as_u64()?,
            session: text("session"),
            told: value["told"].as_bool().unwrap_or(false),
        })
    }

    fn write(&self, workspace: &Workspace) {
        let Self { plan, review, task, number, session, told } = self;
        let value = json!({"plan": plan.id, "path": plan.path, "root": plan.root, "review": review.phase(),
            "task": task, "number": number, "session": session, "told": told});
        if let Some(place) = place(plan, workspace) {
            let _ = workspace.replace_own(&place, value.to_string().as_bytes());
        }
    }

    /// Whether a stop has dealt with this plan, under its name or under a new one.
    fn is_of(&self, handled: &Handled, workspace: &Workspace) -> bool {
        let waits = |state: &State| {
            state.next_phase.as_deref() == Some(self.review.post_phase())
                && state.iteration == Some(self.number)
                && state.current_task == self.task
        };
        self.plan.path == handled.plan.path
            || !workspace.exists(&self.plan.path) && handled.state.as_ref().is_some_and(waits)
    }

    /// Whether the agent has written its answer to the review.
    fn is_answered(&self, workspace: &Workspace) -> bool {
        let subject = self.review.subject(self.task.as_deref());
        subject.is_some_and(|subject| {
            workspace.has_content(&self.plan.file(&names::review(subject, true, self.number)))
        })
    }

    fn text(&self, event: &Event, workspace: &Workspace) -> String {
        let state = State { current_task: self.task.clone(), ..State::default() };
        let name = messages::of(self.review, &state);
        let start = format!(
            "Plan '{}': the findings of the {name}, round {}, are still open",
            one_line(&self.plan.id),
            self.number
        );
        if !workspace.exists(&self.plan.path) {
            return format!(
                "{start}, but {} is gone. To continue: put the directory back, then `/taskie:continue-plan`.",
                self.plan.shown("", &event.cwd)
            );
        }
        let round = Round { review: self.review, number: self.number, model: String::new() };
        let file = match rounds::subject(round.review, &state) {
            Ok(subject) => self.plan.shown(&names::review(subject, false, self.number), &event.cwd),
            Err(_) => String::new(),
        };
        format!(
            "{start} ({file}). To continue: `/taskie:continue-plan`. To end the reviews: `provost review set {} \
             next_phase=null`.",
            self.plan.argument()
        )
    }
}

/// The document's script keeps nothing but the state.
fn is_on(workspace: &Workspace) -> bool {
    workspace.config.word(settings::REVIEW_LOOP_STATE) != "believed"
}

/// The notes of the projects that a stop may belong to.
fn noted(event: &Event, workspace: &Workspace) -> Vec<OpenFindings> {
    let any = workspace.own_file(FOLDER, "").is_ok_and(|folder| workspace.is_directory(&folder));
    if !any {
        return Vec::new();
    }
    let here = workspace.resolve(&event.cwd);
    let mut roots: Vec<&Path> = Vec::new();
    for root in here.ancestors().chain(workspace.start.ancestors()).chain([workspace.project.as_path()]) {
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let files =
        roots.iter().flat_map(|root| workspace.own_files(FOLDER, root, "json").into_iter().take(MOST));
    let read = |file: PathBuf| {
        let bytes = workspace.read_bytes(&file, LARGEST).ok().flatten()?;
        OpenFindings::read(&serde_json::from_slice(&bytes).ok()?)
    };
    files.filter_map(read).collect()
}

/// Where the note of a plan lies: one folder for each project ([`Workspace::own_files`]).
fn place(plan: &Plan, workspace: &Workspace) -> Option<PathBuf> {
    let hash = |path: &Path| fnv1a(path.as_os_str().as_encoded_bytes());
    let name = format!("{:016x}/{:016x}.json", hash(&plan.root), hash(&plan.path));
    workspace.own_file(FOLDER, &name).ok()
}
