//! The guard `review-loop`, which runs at the end of a turn.
//!
//! It finds the plan of the session, runs the review that is due, which may take up to two hours, and otherwise
//! checks the ground rules. It ignores whether a hook has blocked this stop before: every review needs a step of the
//! agent, which the state or the post-review file shows, and `max_reviews` bounds their number. Only the ground rules
//! could block a turn forever, so they never block it twice for the same text.

use crate::prelude::*;
use std::time::Duration;

use super::due_review::{Conclusion, ReviewLoop};
use super::ground_rules;
use super::messages;
use super::notices::SessionNotices;
use super::open_findings::{self, HandledPlan};
use super::phase::{PlanStage, ReviewKind};
use super::plan::PlanList;
use super::transition::{LoopStep, StopAnswer};
use provost_core::config::{Config, settings};
use provost_core::event::{Event, EventKind, PermissionMode};
use provost_core::opinion::{Denial, Fault, Opinion, Verdict};
use provost_core::text::make_one_line;
use provost_core::workspace::Workspace;

/// The guard may take this much longer than a review.
const MARGIN: Duration = Duration::from_secs(15);

/// `review_loop.report`: report only what has changed.
const CHANGES: &str = "changes";
/// `review_loop.report` in `compat`: report every stop, in the document's words.
pub const BY_DOCUMENT: &str = "document";

pub fn find_time_limit(config: &Config) -> Option<Duration> {
    Some(Duration::from_secs(config.number(settings::REVIEW_LOOP_SECONDS)) + MARGIN)
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::Stop(stopping) = &event.kind else { return Ok(Opinion::unconcerned()) };
    // The session continues by itself when its agent has finished.
    if stopping.is_subagent_running {
        return Ok(Opinion::unconcerned());
    }
    // In plan mode the agent could fix nothing.
    let judged = if event.mode == PermissionMode::Plan {
        Ok((Opinion::unconcerned(), None))
    } else {
        judge_plan(event, stopping.has_been_blocked, workspace)
    };
    let handled = judged.as_ref().ok().and_then(|(_, handled)| handled.as_ref());
    let reminders = open_findings::reminders(event, workspace, handled);
    if reminders.is_empty() {
        return judged.map(|(opinion, _)| opinion);
    }
    let (mut opinion, _) = judged
        .unwrap_or_else(|fault| (Opinion { evidence: vec![fault.to_string()], ..Opinion::default() }, None));
    add_user_lines(&mut opinion, &reminders);
    opinion.is_unconcerned = false;
    Ok(opinion)
}

/// Adds each text as a line to what the user reads.
fn add_user_lines(opinion: &mut Opinion, texts: &[String]) {
    for text in texts {
        let lines = opinion.to_user.get_or_insert_default();
        let separator = if lines.is_empty() { "" } else { "\n" };
        *lines += &format!("{separator}[provost] {text}");
    }
}

/// Runs the review that is due for the session's plan, or checks the ground rules.
fn judge_plan(
    event: &Event,
    again: bool,
    workspace: &Workspace,
) -> Result<(Opinion, Option<HandledPlan>), Fault> {
    let plans = PlanList::read(&event.cwd, workspace);
    let mut candidates = plans.iter();
    let (first, is_only) = (candidates.next(), candidates.next().is_none());
    let Some(first) = first else { return Ok((Opinion::unconcerned(), None)) };
    let mut steps = ReviewLoop::new(first, workspace);
    // Transcripts are long. If there is nothing to do for the only plan, it does not matter whether it is the
    // session's.
    if is_only && (is_in_order(&steps)? || !first.has_files(workspace)) {
        return Ok((Opinion::unconcerned(), None));
    }
    let plan = match plans.find_for_stop(event, workspace)? {
        Some(plan) if !is_only || plan == *first => plan,
        _ => return Ok((Opinion::unconcerned(), None)),
    };
    if plan != *first {
        steps = ReviewLoop::new(&plan, workspace);
    }
    let conclusion = steps.run_due_review(&mut |_| {})?;
    if let Some(step) = &conclusion.step {
        open_findings::record(event, &plan, step, workspace);
    }
    let mut stop = StopReport {
        event,
        steps: &steps,
        again,
        notices: SessionNotices::new(event, &plan, workspace),
        to_user: Vec::new(),
        evidence: vec![format!("plan {}", make_one_line(&plan.id))],
    };
    let denial = stop.conclude(&conclusion)?;
    let is_user_warned = !stop.to_user.is_empty() && denial.is_none();
    let mut opinion = Opinion { evidence: stop.evidence, ..Opinion::default() };
    opinion.reviewer_work = conclusion.record_round(&plan);
    opinion.verdict = denial.map_or(Verdict::Silence, Verdict::Deny);
    add_user_lines(&mut opinion, &stop.to_user);
    let state = conclusion.step.map(|step| step.state);
    Ok((opinion, Some(HandledPlan { plan: plan.clone(), state, is_user_warned })))
}

/// Whether there is nothing to do and nothing to say about a plan.
fn is_in_order(steps: &ReviewLoop<'_>) -> Result<bool, Fault> {
    let (file, ledger) = (steps.state()?, steps.ledger());
    let is_calm = match file {
        None => ledger.find_missing_state_warning(steps.plan, true).is_none(),
        Some(Err(_)) => false,
        Some(Ok(read)) => {
            let state = read.state();
            let is_known =
                state.next_phase.as_deref().is_none_or(|phase| PlanStage::from_phase(phase).is_some());
            let is_odd = !read.find_invalid_fields().is_empty()
                || ground_rules::missing_fields(read).is_some()
                || ledger.find_warning(&state, steps.plan).is_some();
            is_known && !is_odd && !state.is_in_loop()
        }
    };
    let config = &steps.workspace.config;
    if !is_calm || config.word(settings::REVIEW_LOOP_REPORT) != CHANGES {
        return Ok(false);
    }
    Ok(!config.is_switched_on(settings::REVIEW_LOOP_GROUND_RULES) || steps.violations()?.is_empty())
}

/// What one stop reports to the user and the journal.
struct StopReport<'a> {
    event: &'a Event,
    steps: &'a ReviewLoop<'a>,
    /// A hook has blocked this turn before, for any reason.
    again: bool,
    notices: SessionNotices<'a>,
    to_user: Vec<String>,
    evidence: Vec<String>,
}

impl StopReport<'_> {
    fn conclude(&mut self, conclusion: &Conclusion) -> Result<Option<Denial>, Fault> {
        for warning in &conclusion.warnings {
            self.warn_once(warning.clone());
        }
        if conclusion.runs_elsewhere {
            self.evidence.push("another process makes the review that is due".into());
            return Ok(None);
        }
        let Some(LoopStep { state, answer }) = &conclusion.step else {
            return self.check_ground_rules(self.steps);
        };
        let (plan, cwd) = (self.steps.plan, &self.event.cwd);
        self.evidence.push(answer.to_string());
        match answer {
            StopAnswer::Block { round, clean } => {
                self.to_user.push(messages::describe_review_result(plan, state, round, *clean));
                let what = if self.report() == BY_DOCUMENT {
                    messages::format_document_message(plan, state, round, cwd)
                } else {
                    messages::format_agent_message(plan, state, round, *clean, cwd)
                };
                return Ok(Some(Denial { what, ..Denial::default() }));
            }
            StopAnswer::Advance { round, to } => {
                self.to_user.push(messages::describe_cycle_end(plan, state, round, to));
                return Ok(None);
            }
            StopAnswer::Skip { review, to } => {
                self.to_user.push(messages::describe_skip(plan, state, *review, to));
                return Ok(None);
            }
            StopAnswer::NoVerdict(round) => {
                let why = conclusion.why.as_deref().unwrap_or("no verdict");
                self.to_user.push(messages::describe_missing_verdict(plan, state, round, why));
                // The review took minutes, so the plan's files are read again.
                return self.check_ground_rules(&ReviewLoop::new(plan, self.steps.workspace));
            }
            StopAnswer::Limit(review) => self.warn_once(messages::describe_limit(plan, state, *review)),
            // INVARIANT: a review that is due has been made by now.
            StopAnswer::Nothing | StopAnswer::Review(_) => {
                let phase = state.next_phase.as_deref().unwrap_or_default();
                if let Some(review) = ReviewKind::from_post_phase(phase).filter(|_| !self.reports_all()) {
                    let number = state.iteration.unwrap_or(0);
                    let key = open_findings::notice_key(review, number, state.current_task.as_deref());
                    if self.notices.record(&key) {
                        self.to_user.push(messages::describe_missing_answer(plan, state, review, cwd));
                    }
                } else if !phase.is_empty() && PlanStage::from_phase(phase).is_none() {
                    self.warn_once(messages::describe_unknown_phase(plan, phase));
                }
            }
        }
        self.check_ground_rules(self.steps)
    }

    /// Blocks the turn if the plan's files break the ground rules.
    fn check_ground_rules(&mut self, files: &ReviewLoop<'_>) -> Result<Option<Denial>, Fault> {
        if !files.workspace.config.is_switched_on(settings::REVIEW_LOOP_GROUND_RULES) {
            return Ok(None);
        }
        if let Some(warning) = self.steps.state()?.and_then(ground_rules::state_warning) {
            self.warn_once(warning);
        }
        let what = format!("Plan '{}'", make_one_line(&files.plan.id));
        let why = files.violations()?.join("; ");
        if why.is_empty() {
            if self.reports_all() {
                self.to_user.push(format!("{what} structure validated successfully"));
            }
            return Ok(None);
        }
        if !self.notices.may_block(&why, self.again) {
            self.evidence.push(format!("already blocked in this turn for: {why}"));
            return Ok(None);
        }
        self.evidence.push(why.clone());
        let mut fix = String::new();
        if !self.reports_all() {
            let text = "its files break the ground rules. The next stop of this turn passes.";
            self.to_user.push(format!("{what}: {text}"));
            let directory = files.plan.display_file("", &self.event.cwd);
            fix = format!("fix the names and files in {directory}, then stop again");
        }
        Ok(Some(Denial { what, why, fix, document_wording: None }))
    }

    fn reports_all(&self) -> bool {
        self.report() != CHANGES
    }

    fn report(&self) -> String {
        self.steps.workspace.config.word(settings::REVIEW_LOOP_REPORT)
    }

    /// Warns the user once in a session about something that may stay true for many stops.
    fn warn_once(&mut self, text: String) {
        if self.reports_all() || self.notices.record(&text) {
            self.to_user.push(text);
        }
    }
}
