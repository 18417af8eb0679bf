//! The one table of the review loop: from where a plan stands to where it goes.
//!
//! [`transition`] is pure. It is asked at every stop: first without a verdict, and if a review is due
//! it says which one; then again with what the reviewer said. What is on the disk comes in as
//! [`Found`], what is to be told goes out as [`Answer`]. The tests go through every combination.

use std::fmt;

use super::phase::{COMPLETE, COMPLETE_TASK, COMPLETE_TASK_TDD, CREATE_TASKS, Review};
use super::state::{FIRST_MODEL, SECOND_MODEL, State};
use super::tasks::Left;
use crate::text::short;

/// How many clean reviews in a row end a cycle.
pub const ENOUGH: u64 = 2;

/// What a stop finds beside the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The last review has been dealt with: its post-review file is there.
    pub post_review: bool,
    /// Whether tasks are left besides the current one.
    pub tasks: Left,
    /// What the reviewer said; `None`: nobody has been asked yet.
    pub verdict: Option<Verdict>,
}

/// What a reviewer's work came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    Issues,
    /// It crashed, took too long, wrote nothing or did not decide. That is neither of the others.
    Missing,
}

/// One review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    pub review: Review,
    /// Counted from 1 in each cycle.
    pub number: u64,
    pub model: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub state: State,
    pub answer: Answer,
}

/// What a stop comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// No review is due.
    Nothing,
    /// A review is due: it is to be made, and its verdict brought back.
    Ask(Round),
    /// The agent goes on with the post-review. `clean`: this review found nothing.
    Hold { round: Round, clean: bool },
    /// Enough clean reviews: the person decides when to go on.
    Advance { round: Round, to: &'static str },
    /// The review came to nothing. The state keeps its place, and the next stop tries again.
    Unanswered(Round),
    /// All reviews that this cycle may have are made: the person decides.
    Limit(Review),
    /// `max_reviews` is 0: nothing is reviewed.
    Skip { review: Review, to: &'static str },
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, round {} by {}", self.review.phase(), self.number, short(&self.model))
    }
}

/// For the journal.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no review is due"),
            Self::Ask(round) => write!(f, "{round}: due"),
            Self::Hold { round, clean } => write!(f, "{round}: {}", if *clean { "clean" } else { "issues" }),
            Self::Advance { round, to } => write!(f, "{round}: clean, and enough; next is {to}"),
            Self::Unanswered(round) => write!(f, "{round}: came to nothing"),
            Self::Limit(review) => write!(f, "{}: no more rounds", review.phase()),
            Self::Skip { review, to } => write!(f, "{}: skipped; next is {to}", review.phase()),
        }
    }
}

pub fn transition(state: &State, found: Found) -> Step {
    let state = with_evidence(state, found.post_review);
    let Some(review) = state.next_phase.as_deref().and_then(Review::in_phase) else {
        return Step { state, answer: Answer::Nothing };
    };
    if state.max_reviews == 0 {
        let to = target(review, state.tdd, found.tasks);
        return Step { state: advanced(state, review, to), answer: Answer::Skip { review, to } };
    }
    let number = state.iteration.unwrap_or(0).saturating_add(1);
    if number > state.max_reviews {
        return Step { state, answer: Answer::Limit(review) };
    }
    let round = Round { review, number, model: state.model.clone() };
    let clean = match found.verdict {
        None => return Step { state, answer: Answer::Ask(round) },
        Some(Verdict::Missing) => return Step { state, answer: Answer::Unanswered(round) },
        Some(Verdict::Clean) => state.clean.saturating_add(1),
        Some(Verdict::Issues) => 0,
    };
    let state = State { iteration: Some(number), model: other(&state.model).into(), clean, ..state };
    if clean >= ENOUGH {
        let to = target(review, state.tdd, found.tasks);
        return Step { state: advanced(state, review, to), answer: Answer::Advance { round, to } };
    }
    Step {
        state: State {
            phase: Some(review.phase().into()),
            next_phase: Some(review.post_phase().into()),
            ..state
        },
        answer: Answer::Hold { round, clean: clean > 0 },
    }
}

/// Agents forget to write that they have dealt with a review; the file that they wrote says it, too.
fn with_evidence(state: &State, post_review: bool) -> State {
    let waiting_for = state.next_phase.as_deref().and_then(Review::before_phase);
    match waiting_for {
        Some(review) if post_review => State {
            phase: Some(review.post_phase().into()),
            next_phase: Some(review.phase().into()),
            ..state.clone()
        },
        _ => state.clone(),
    }
}

/// The state after a cycle. A cycle that follows without a phase between begins here.
fn advanced(state: State, review: Review, to: &str) -> State {
    let after = State { phase: Some(review.phase().into()), next_phase: Some(to.into()), ..state };
    if Review::in_phase(to).is_some() {
        return State { iteration: Some(0), model: FIRST_MODEL.into(), clean: 0, ..after };
    }
    after
}

/// What comes after a review that has passed.
fn target(review: Review, tdd: bool, tasks: Left) -> &'static str {
    let task = if tdd { COMPLETE_TASK_TDD } else { COMPLETE_TASK };
    match (review, tasks) {
        (Review::Plan, _) => CREATE_TASKS,
        (Review::Code, Left::None) => Review::AllCode.phase(),
        (Review::Tasks | Review::Code, _) => task,
        (Review::AllCode, _) => COMPLETE,
    }
}

/// The two models take turns; after any other, the first begins again.
fn other(model: &str) -> &'static str {
    if model == FIRST_MODEL { SECOND_MODEL } else { FIRST_MODEL }
}

#[cfg(test)]
mod tests;
