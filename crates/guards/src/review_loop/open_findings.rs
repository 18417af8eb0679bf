//! Records of reviews with unanswered findings, in Provost's own directory, which agents cannot write to.
//!
//! The plan's files show open findings too, but an agent can remove or move the plan, work on another one, or enter
//! plan mode. So each review with findings leaves a record until a later review, or the user, closes it. A stop that
//! does not handle the plan itself reminds the user once.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::notices::SessionNotices;
use super::phase::ReviewKind;
use super::plan::Plan;
use super::state::{self, LoopState};
use super::transition::{LoopStep, StopAnswer};
use super::{file_names, messages};
use provost_core::config::settings;
use provost_core::event::Event;
use provost_core::places::fnv1a;
use provost_core::text::make_one_line;
use provost_core::workspace::Workspace;

const FOLDER: &str = "open-findings";
const LARGEST: u64 = 16 << 10;
/// At most this many records of one project are read at a stop, the newest first.
const MOST: usize = 32;

struct OpenFindings {
    plan: Plan,
    review: ReviewKind,
    task: Option<String>,
    number: u64,
    /// The session whose agent got the findings.
    session: Option<String>,
    /// Whether the user of any session was warned that the plan is gone.
    is_user_warned: bool,
}

/// Records the findings that the agent of this session has just got.
pub fn record(event: &Event, plan: &Plan, step: &LoopStep, workspace: &Workspace) {
    if let StopAnswer::Block { round, clean: false } = &step.answer
        && is_on(workspace)
    {
        let findings = OpenFindings {
            plan: plan.clone(),
            review: round.review,
            task: step.state.current_task.clone(),
            number: round.number,
            session: event.session.clone(),
            is_user_warned: false,
        };
        findings.write(workspace);
    }
}

/// Removes the record of a plan, after a later review or the user has closed its findings.
pub fn close(plan: &Plan, workspace: &Workspace) {
    if let Some(file) = record_file(plan, workspace) {
        let _ = workspace.remove_file(&file);
    }
}

/// The text under which a session records that the user knows about these findings.
pub fn notice_key(review: ReviewKind, number: u64, task: Option<&str>) -> String {
    format!("open findings: {} {number} {}", review.phase(), task.unwrap_or_default())
}

/// The lines for the user about findings that are still open.
pub fn reminders(event: &Event, workspace: &Workspace, handled: Option<&HandledPlan>) -> Vec<String> {
    if !is_on(workspace) {
        return Vec::new();
    }
    let mut reminders = Vec::new();
    for mut findings in read_all(event, workspace) {
        let mut notices = SessionNotices::new(event, &findings.plan, workspace);
        let key = notice_key(findings.review, findings.number, findings.task.as_deref());
        if let Some(handled) = handled.filter(|handled| findings.belong_to(handled, workspace)) {
            if handled.is_user_warned {
                notices.record(&key);
            }
            continue;
        }
        let is_gone = !workspace.exists(&findings.plan.file(state::FILE));
        let is_own = findings.session.is_some() && findings.session == event.session;
        let concerns_user = is_own || is_gone && !findings.is_user_warned;
        if concerns_user && !findings.is_answered(workspace) && notices.record(&key) {
            reminders.push(findings.describe(event, workspace));
            if is_gone {
                findings.is_user_warned = true;
                findings.write(workspace);
            }
        }
    }
    reminders
}

/// The plan that a stop has handled.
pub struct HandledPlan {
    pub plan: Plan,
    pub state: Option<LoopState>,
    /// Whether the user was warned about it.
    pub is_user_warned: bool,
}

impl OpenFindings {
    fn from_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Self {
            plan: Plan { id: text("plan")?, path: text("path")?.into(), root: text("root")?.into() },
            review: ReviewKind::from_phase(value["review"].as_str()?)?,
            task: text("task"),
            number: value["number"].as_u64()?,
            session: text("session"),
            is_user_warned: value["told"].as_bool().unwrap_or(false),
        })
    }

    fn write(&self, workspace: &Workspace) {
        let Self { plan, review, task, number, session, is_user_warned } = self;
        let value = json!({"plan": plan.id, "path": plan.path, "root": plan.root, "review": review.phase(),
            "task": task, "number": number, "session": session, "told": is_user_warned});
        if let Some(file) = record_file(plan, workspace) {
            let _ = workspace.write_state_file(&file, value.to_string().as_bytes());
        }
    }

    /// Whether a stop has handled this plan, under its old name or a new one.
    fn belong_to(&self, handled: &HandledPlan, workspace: &Workspace) -> bool {
        let waits = |state: &LoopState| {
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
        subject.is_ok_and(|subject| {
            workspace.has_content(&self.plan.file(&file_names::review_name(subject, true, self.number)))
        })
    }

    fn describe(&self, event: &Event, workspace: &Workspace) -> String {
        let task = self.task.as_deref();
        let (name, id) = (messages::name_review(self.review, task), make_one_line(&self.plan.id));
        let start = format!("Plan '{id}': the findings of the {name}, round {}, are still open", self.number);
        if !workspace.exists(&self.plan.path) {
            return format!(
                "{start}, but {} is gone. To continue: put the directory back, then `/taskie:continue-plan`.",
                self.plan.display_file("", &event.cwd)
            );
        }
        let file = messages::review_path(&self.plan, self.review, task, self.number, false, &event.cwd);
        format!(
            "{start} ({file}). To continue: `/taskie:continue-plan`. To end the reviews: `provost review set {} \
             next_phase=null`.",
            self.plan.argument()
        )
    }
}

/// `compat` keeps nothing but the state, as the document has it.
fn is_on(workspace: &Workspace) -> bool {
    workspace.config.word(settings::REVIEW_LOOP_STATE) != "believed"
}

/// The records of the projects that a stop may belong to.
fn read_all(event: &Event, workspace: &Workspace) -> Vec<OpenFindings> {
    let has_any = workspace.state_file(FOLDER, "").is_ok_and(|folder| workspace.is_directory(&folder));
    if !has_any {
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
        roots.iter().flat_map(|root| workspace.list_state_files(FOLDER, root, "json").into_iter().take(MOST));
    let read = |file: PathBuf| {
        let bytes = workspace.read_bytes(&file, LARGEST).ok().flatten()?;
        OpenFindings::from_json(&serde_json::from_slice(&bytes).ok()?)
    };
    files.filter_map(read).collect()
}

/// The record of a plan, in one folder for each project ([`Workspace::state_file`]).
fn record_file(plan: &Plan, workspace: &Workspace) -> Option<PathBuf> {
    let hash = |path: &Path| fnv1a(path.as_os_str().as_encoded_bytes());
    let name = format!("{:016x}/{:016x}.json", hash(&plan.root), hash(&plan.path));
    workspace.state_file(FOLDER, &name).ok()
}
