//! The state machine of the review loop.
//!
//! [`transition`] is a pure function. Every stop calls it without a verdict, and if it returns a review that is due,
//! again with the reviewer's verdict. [`StopFacts`] holds the facts from the disk, and [`StopAnswer`] what the stop
//! does. The tests cover every combination.

use crate::prelude::*;
use std::fmt;

use super::phase::{COMPLETE, COMPLETE_TASK, COMPLETE_TASK_TDD, CREATE_TASKS, ReviewKind};
use super::state::{FIRST_MODEL, LoopState, SECOND_MODEL};
use super::tasks::Remaining;
pub use provost_core::review_verdict::ReviewOutcome;
use provost_core::text::shorten_name;

/// This many clean reviews in a row end a cycle.
pub const CLEAN_NEEDED: u64 = 2;

/// The facts beside the state that decide what a stop does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopFacts {
    /// Whether the agent has answered the last review: its post-review file exists.
    pub post_review: bool,
    /// Whether other tasks than the current one are unfinished.
    pub tasks: Remaining,
    /// The reviewer's verdict; `None`: no review has been made yet.
    pub verdict: Option<ReviewOutcome>,
}

/// One review of a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    pub review: ReviewKind,
    /// Starts at 1 in each cycle.
    pub number: u64,
    pub model: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopStep {
    pub state: LoopState,
    pub answer: StopAnswer,
}

/// What a stop does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopAnswer {
    /// No review is due.
    Nothing,
    /// This review is due: make it, and call [`transition`] again with its verdict.
    Review(Round),
    /// Block the turn: the agent answers the review. `clean`: the review found nothing.
    Block { round: Round, clean: bool },
    /// Enough clean reviews: the user decides when to continue.
    Advance { round: Round, to: &'static str },
    /// The review has no result. The state does not change, and the next stop tries again.
    NoVerdict(Round),
    /// The cycle has had `max_reviews` reviews: the user decides.
    Limit(ReviewKind),
    /// `max_reviews` is 0: skip the review.
    Skip { review: ReviewKind, to: &'static str },
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, round {} by {}", self.review.phase(), self.number, shorten_name(&self.model))
    }
}

/// The evidence in the journal.
impl fmt::Display for StopAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no review is due"),
            Self::Review(round) => write!(f, "{round}: due"),
            Self::Block { round, clean } => write!(f, "{round}: {}", if *clean { "clean" } else { "issues" }),
            Self::Advance { round, to } => write!(f, "{round}: clean, and enough; next is {to}"),
            Self::NoVerdict(round) => write!(f, "{round}: came to nothing"),
            Self::Limit(review) => write!(f, "{}: no more rounds", review.phase()),
            Self::Skip { review, to } => write!(f, "{}: skipped; next is {to}", review.phase()),
        }
    }
}

pub fn transition(state: &LoopState, found: StopFacts) -> LoopStep {
    let state = apply_answer_file(state, found.post_review);
    let Some(review) = state.next_phase.as_deref().and_then(ReviewKind::from_phase) else {
        return LoopStep { state, answer: StopAnswer::Nothing };
    };
    if state.max_reviews == 0 {
        let to = next_phase(review, state.tdd, found.tasks);
        return LoopStep { state: end_cycle(state, review, to), answer: StopAnswer::Skip { review, to } };
    }
    let number = state.iteration.unwrap_or(0).saturating_add(1);
    if number > state.max_reviews {
        return LoopStep { state, answer: StopAnswer::Limit(review) };
    }
    let round = Round { review, number, model: state.model.clone() };
    let clean = match found.verdict {
        None => return LoopStep { state, answer: StopAnswer::Review(round) },
        Some(ReviewOutcome::Missing) => return LoopStep { state, answer: StopAnswer::NoVerdict(round) },
        Some(ReviewOutcome::Clean) => state.clean.saturating_add(1),
        Some(ReviewOutcome::Issues) => 0,
    };
    let state = LoopState { iteration: Some(number), model: next_model(&state.model).into(), clean, ..state };
    if clean >= CLEAN_NEEDED {
        let to = next_phase(review, state.tdd, found.tasks);
        return LoopStep { state: end_cycle(state, review, to), answer: StopAnswer::Advance { round, to } };
    }
    LoopStep {
        state: LoopState {
            phase: Some(review.phase().into()),
            next_phase: Some(review.post_phase().into()),
            ..state
        },
        answer: StopAnswer::Block { round, clean: clean > 0 },
    }
}

/// Moves a state that waits for an answer on, if the answer's file exists: agents forget to update the state.
fn apply_answer_file(state: &LoopState, post_review: bool) -> LoopState {
    let waiting_for = state.next_phase.as_deref().and_then(ReviewKind::from_post_phase);
    match waiting_for {
        Some(review) if post_review => LoopState {
            phase: Some(review.post_phase().into()),
            next_phase: Some(review.phase().into()),
            ..state.clone()
        },
        _ => state.clone(),
    }
}

/// The state after a cycle. If another review follows directly, its cycle starts here.
fn end_cycle(state: LoopState, review: ReviewKind, to: &str) -> LoopState {
    let after = LoopState { phase: Some(review.phase().into()), next_phase: Some(to.into()), ..state };
    if ReviewKind::from_phase(to).is_some() {
        return LoopState { iteration: Some(0), model: FIRST_MODEL.into(), clean: 0, ..after };
    }
    after
}

/// The phase after a review that has passed.
fn next_phase(review: ReviewKind, tdd: bool, tasks: Remaining) -> &'static str {
    let task = if tdd { COMPLETE_TASK_TDD } else { COMPLETE_TASK };
    match (review, tasks) {
        (ReviewKind::Plan, _) => CREATE_TASKS,
        (ReviewKind::Code, Remaining::None) => ReviewKind::AllCode.phase(),
        (ReviewKind::Tasks | ReviewKind::Code, _) => task,
        (ReviewKind::AllCode, _) => COMPLETE,
    }
}

/// The two models take turns; after any other model, the first one reviews.
fn next_model(model: &str) -> &'static str {
    if model == FIRST_MODEL { SECOND_MODEL } else { FIRST_MODEL }
}

#[cfg(test)]
mod tests;
