//! The guard at the end of a turn.
//!
//! The document's steps in their order: the plan of this session, its state, the review that is due,
//! and where none is due, the ground rules. Whether a hook has kept the turn going before says nothing
//! about the loop: each review needs a step of the agent, which the state or the post-review file
//! shows, and `max_reviews` bounds them. Only the ground rules could hold a turn for ever, and so they
//! never hold it twice for the same text.

use std::time::Duration;

use super::ledger::Ledger;
use super::memory::Memory;
use super::messages;
use super::open_findings::{self, Handled};
use super::phase::{Review, Stage};
use super::plan::{Claim, Plan};
use super::rounds::{Conclusion, Loop};
use super::state::StateFile;
use super::transition::{Answer, Step};
use super::{ground_rules, state};
use crate::config::{Config, settings};
use crate::decision::{Denial, Fault, Opinion, Verdict};
use crate::event::{Event, Kind, Mode};
use crate::text::one_line;
use crate::workspace::Workspace;

/// How much longer than a review the guard may take.
const MARGIN: Duration = Duration::from_secs(15);

/// `review_loop.report`: the user is told only what has changed.
const CHANGES: &str = "changes";
/// `review_loop.report` of the document's script: it reports each stop, in the document's words.
pub const BY_DOCUMENT: &str = "document";

pub fn deadline(config: &Config) -> Option<Duration> {
    Some(Duration::from_secs(config.number(settings::REVIEW_LOOP_SECONDS)) + MARGIN)
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Kind::Stop(stopping) = &event.kind else { return Ok(Opinion::unconcerned()) };
    // The session goes on by itself when its agent has finished.
    if stopping.subagent_running {
        return Ok(Opinion::unconcerned());
    }
    // In plan mode the agent could fix nothing.
    let judged = if event.mode == Mode::Plan {
        Ok((Opinion::unconcerned(), None))
    } else {
        judge_plan(event, stopping.held_before, workspace)
    };
    let handled = judged.as_ref().ok().and_then(|(_, handled)| handled.as_ref());
    let reminders = open_findings::reminders(event, workspace, handled);
    if reminders.is_empty() {
        return judged.map(|(opinion, _)| opinion);
    }
    let (mut opinion, _) = judged
        .unwrap_or_else(|fault| (Opinion { evidence: vec![fault.to_string()], ..Opinion::default() }, None));
    let lines = reminders.iter().map(|text| format!("[provost] {text}"));
    opinion.to_person = Some(opinion.to_person.into_iter().chain(lines).collect::<Vec<_>>().join("\n"));
    opinion.is_unconcerned = false;
    Ok(opinion)
}

/// Runs the review that is due for the session's plan, or checks the ground rules.
fn judge_plan(
    event: &Event,
    again: bool,
    workspace: &Workspace,
) -> Result<(Opinion, Option<Handled>), Fault> {
    let plan = match Plan::of_stop(event, workspace)? {
        Claim::None => return Ok((Opinion::unconcerned(), None)),
        Claim::Certain(plan) => plan,
        // Records are long. Where nothing would be done, nobody needs to know whose plan it is.
        Claim::Perhaps(plan) => {
            if is_in_order(&plan, workspace)? || !plan.is_of_stop(event, workspace)? {
                return Ok((Opinion::unconcerned(), None));
            }
            plan
        }
    };
    let conclusion = Loop { plan: &plan, workspace }.advance(&mut |_| {})?;
    if let Some(step) = &conclusion.step {
        open_findings::note(event, &plan, step, workspace);
    }
    let mut stop = Stop {
        event,
        workspace,
        plan: &plan,
        again,
        memory: Memory::of(event, &plan, workspace),
        to_person: Vec::new(),
        evidence: vec![format!("plan {}", one_line(&plan.id))],
    };
    let opinion = stop.conclude(&conclusion)?;
    let is_told = opinion.to_person.is_some() && matches!(opinion.verdict, Verdict::Silence);
    let state = conclusion.step.map(|step| step.state);
    Ok((opinion, Some(Handled { plan, state, is_told })))
}

/// Whether there is nothing to do and nothing to say about a plan.
fn is_in_order(plan: &Plan, workspace: &Workspace) -> Result<bool, Fault> {
    let file = Loop { plan, workspace }.read_state()?;
    let ledger = Ledger::read(plan, workspace);
    let is_calm = match file.as_deref().map(StateFile::read) {
        None => ledger.remarks_without_state(plan, true).is_none(),
        Some(Err(_)) => false,
        Some(Ok(read)) => {
            let state = read.state();
            let is_known = state.next_phase.as_deref().is_none_or(|phase| Stage::of(phase).is_some());
            let is_odd = !read.misfits().is_empty()
                || ground_rules::missing_fields(&read).is_some()
                || ledger.remarks(&state, plan).is_some();
            is_known && !is_odd && !state.is_in_loop()
        }
    };
    if !is_calm {
        return Ok(false);
    }
    let config = &workspace.config;
    if config.word(settings::REVIEW_LOOP_REPORT) != CHANGES {
        return Ok(false);
    }
    if !config.switch(settings::REVIEW_LOOP_RULES) {
        return Ok(true);
    }
    Ok(violations(plan, workspace)?.is_empty())
}

fn violations(plan: &Plan, workspace: &Workspace) -> Result<Vec<String>, Fault> {
    let tasks = workspace.read_text(&plan.file("tasks.md"), state::LARGEST)?;
    Ok(ground_rules::violations(&workspace.list(&plan.path, "md")?, tasks.as_deref()))
}

struct Stop<'a> {
    event: &'a Event,
    workspace: &'a Workspace,
    plan: &'a Plan,
    again: bool,
    memory: Memory<'a>,
    to_person: Vec<String>,
    evidence: Vec<String>,
}

impl Stop<'_> {
    fn conclude(&mut self, conclusion: &Conclusion) -> Result<Opinion, Fault> {
        for warning in &conclusion.warnings {
            self.remark(warning.clone());
        }
        if conclusion.elsewhere {
            self.evidence.push("another process makes the review that is due".into());
            return Ok(self.passed());
        }
        let file = conclusion.state_file.as_deref();
        let Some(Step { state, answer }) = &conclusion.step else { return self.ground_rules(file) };
        let plan = self.plan;
        self.evidence.push(answer.to_string());
        match answer {
            Answer::Hold { round, clean } => {
                self.tell(messages::reviewed(plan, state, round, *clean));
                let cwd = &self.event.cwd;
                let what = if self.report() == BY_DOCUMENT {
                    messages::hold_by_document(plan, state, round, cwd)
                } else {
                    messages::hold(plan, state, round, *clean, cwd)
                };
                Ok(self.held(Denial { what, ..Denial::default() }))
            }
            Answer::Advance { round, to } => {
                self.tell(messages::advanced(plan, state, round, to));
                Ok(self.passed())
            }
            Answer::Skip { review, to } => {
                self.tell(messages::skipped(plan, state, *review, to));
                Ok(self.passed())
            }
            Answer::Unanswered(round) => {
                let why = conclusion.why.as_deref().unwrap_or("no verdict");
                self.tell(messages::unanswered(plan, state, round, why));
                self.ground_rules(file)
            }
            Answer::Limit(review) => {
                self.remark(messages::limit(plan, state, *review));
                self.ground_rules(file)
            }
            // INVARIANT: a review that is due has been made by now.
            Answer::Nothing | Answer::Ask(_) => {
                if let Some(phase) = state.next_phase.as_deref() {
                    if let Some(review) = Review::before_phase(phase).filter(|_| !self.reports_all()) {
                        let number = state.iteration.unwrap_or(0);
                        let key = open_findings::key(review, number, state.current_task.as_deref());
                        if self.memory.is_news(&key) {
                            self.tell(messages::not_answered(plan, state, review, &self.event.cwd));
                        }
                    } else if Stage::of(phase).is_none() {
                        self.remark(messages::unknown_phase(plan, phase));
                    }
                }
                self.ground_rules(file)
            }
        }
    }

    /// Whether the plan's files are as they should be.
    fn ground_rules(&mut self, state: Option<&[u8]>) -> Result<Opinion, Fault> {
        let Self { plan, workspace, .. } = *self;
        if !workspace.config.switch(settings::REVIEW_LOOP_RULES) {
            return Ok(self.passed());
        }
        for warning in ground_rules::warnings(state) {
            self.remark(warning);
        }
        let violations = violations(plan, workspace)?;
        let what = format!("Plan '{}'", one_line(&plan.id));
        if violations.is_empty() {
            if self.reports_all() {
                self.tell(format!("{what} structure validated successfully"));
            }
            return Ok(self.passed());
        }
        let why = violations.join("; ");
        if !self.memory.may_hold(&why, self.again) {
            self.evidence.push(format!("already held in this turn for: {why}"));
            return Ok(self.passed());
        }
        self.evidence.push(why.clone());
        let fix = if self.reports_all() {
            String::new()
        } else {
            format!("fix the names and files in {}, then stop again", plan.shown("", &self.event.cwd))
        };
        if !self.reports_all() {
            self.tell(format!(
                "{what}: its files break the ground rules. The next stop of this turn passes."
            ));
        }
        Ok(self.held(Denial { what, why, fix, heading: None }))
    }

    fn reports_all(&self) -> bool {
        self.report() != CHANGES
    }

    fn report(&self) -> String {
        self.workspace.config.word(settings::REVIEW_LOOP_REPORT)
    }

    /// Tells the person something that has happened at this stop.
    fn tell(&mut self, text: String) {
        self.to_person.push(text);
    }

    /// Tells the person something that stays as it is, once in a session.
    fn remark(&mut self, text: String) {
        if self.reports_all() || self.memory.is_news(&text) {
            self.to_person.push(text);
        }
    }

    fn held(&mut self, denial: Denial) -> Opinion {
        Opinion { to_person: self.words(), ..Opinion::deny(denial, std::mem::take(&mut self.evidence)) }
    }

    fn passed(&mut self) -> Opinion {
        Opinion {
            to_person: self.words(),
            evidence: std::mem::take(&mut self.evidence),
            ..Opinion::default()
        }
    }

    fn words(&mut self) -> Option<String> {
        let texts: Vec<String> = self.to_person.iter().map(|text| format!("[provost] {text}")).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}
