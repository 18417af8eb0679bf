//! What the agent and the user read after a review.
//!
//! The agent's text says what to do next in at most 60 words. The user's says how to end the loop. Only the
//! stand-in for the document's script speaks in the words of the document's templates.

use std::path::Path;

use super::names;
use super::phase::Review;
use super::plan::Plan;
use super::rounds;
use super::state::State;
use super::transition::{ENOUGH, Round};
use crate::text::short;

/// What the agent is told after a review: what to read, what to write, what comes next. How to end the
/// loop is for the user alone ([`reviewed`]).
pub fn hold(plan: &Plan, state: &State, round: &Round, clean: bool, cwd: &Path) -> String {
    let name = capitalized(&of(round.review, state));
    let (written, answer) = files(plan, state, round, cwd);
    let (number, most) = (round.number, state.max_reviews);
    if clean {
        return format!(
            "{name}, round {number} of {most}: PASS, so nothing has to be fixed. Read {written}, write to \
             {answer} which of its remarks you took up, then stop: one more clean review ends the loop."
        );
    }
    let work = match round.review {
        Review::Plan => "plan.md",
        Review::Tasks => "tasks.md and the task files",
        Review::Code | Review::AllCode => "the code and update tasks.md",
    };
    format!(
        "{name}, round {number} of {most}: an independent reviewer found issues. Read {written}, fix {work}, \
         write what you changed or declined to {answer}, then stop: the next review starts by itself."
    )
}

/// What the document's script tells the agent after a review, word by word.
pub fn hold_by_document(plan: &Plan, state: &State, round: &Round, cwd: &Path) -> String {
    let (article, kind, work, also) = match round.review {
        Review::Plan => ("A", "plan", "address all issues in plan.md", "Push"),
        Review::Tasks => ("A", "tasks", "address all issues in tasks.md and task files", "Push"),
        Review::Code => ("A", "code", "address all issues, update the code", "Update tasks.md and push"),
        Review::AllCode => {
            ("An", "all-code", "address all issues across all tasks", "Update tasks.md and push")
        }
    };
    let (written, answer) = files(plan, state, round, cwd);
    let (phase, post) = (round.review.phase(), round.review.post_phase());
    format!(
        "{article} {kind} review (iteration {}) has been written to {written} by an independent \
         reviewer. Read this review file and perform the {post} action: {work}, then create {answer} \
         documenting your fixes. AFTER completing all post-review work and writing the post-review file, \
         update state.json atomically (read current file, modify only phase and next_phase, write complete \
         JSON back): set phase to \"{post}\", set next_phase to \"{phase}\". Keep all other fields \
         (max_reviews, current_task, phase_iteration, review_model, consecutive_clean) unchanged. Write via \
         temp file then mv to prevent corruption. {also} to remote. (To stop the review loop, set next_phase \
         to null in state.json.)",
        round.number
    )
}

/// The files of a round: the review, and the answer to it.
fn files(plan: &Plan, state: &State, round: &Round, cwd: &Path) -> (String, String) {
    let file = |post| match rounds::subject(round.review, state) {
        Ok(subject) => plan.shown(&names::review(subject, post, round.number), cwd),
        Err(_) => String::new(),
    };
    (file(false), file(true))
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Tells the user how a review ended that the agent now answers, and how to end the loop.
pub fn reviewed(plan: &Plan, state: &State, round: &Round, clean: bool) -> String {
    let outcome =
        if clean { format!("clean, {} of {ENOUGH} in a row", state.clean) } else { "issues".into() };
    format!(
        "Plan '{}': {}, round {} of at most {} by {}: {outcome}. To end the reviews: set next_phase to null in \
         state.json, or run `provost review set {} next_phase=null`.",
        short(&plan.id),
        of(round.review, state),
        round.number,
        state.max_reviews,
        short(&round.model),
        plan.argument()
    )
}

/// Tells the user that two reviews in a row were clean, and what comes next.
pub fn advanced(plan: &Plan, state: &State, round: &Round, to: &str) -> String {
    // The next stop, of whatever turn, runs a review that is due.
    let when = if Review::in_phase(to).is_some() { ", at the next stop" } else { "" };
    format!(
        "Plan '{}': the {} is clean {ENOUGH} times in a row (after {} of at most {} reviews). Next: \
         {to}{when}. Look at the work, then continue with `/taskie:continue-plan`.",
        short(&plan.id),
        of(round.review, state),
        round.number,
        state.max_reviews
    )
}

pub fn skipped(plan: &Plan, state: &State, review: Review, to: &str) -> String {
    format!(
        "Plan '{}': skipped the {}, because max_reviews is 0 in state.json. Next: {to}.",
        short(&plan.id),
        of(review, state)
    )
}

pub fn limit(plan: &Plan, state: &State, review: Review) -> String {
    let (id, named) = (short(&plan.id), plan.argument());
    format!(
        "Plan '{id}': the {} has had all its {} reviews and was not clean {ENOUGH} times in a row, so \
         the agent waits for you. To fix: read the last review; then run `provost review set {named} \
         phase_iteration=0 consecutive_clean=0` for another cycle, or set next_phase to what comes next.",
        of(review, state),
        state.max_reviews
    )
}

pub fn unanswered(plan: &Plan, state: &State, round: &Round, why: &str) -> String {
    format!(
        "Warning: Plan '{}': the {}, round {}, came to nothing: {}. The next stop tries again; \
         `provost review run {}` tries it now.",
        short(&plan.id),
        of(round.review, state),
        round.number,
        why.trim_end_matches('.'),
        plan.argument()
    )
}

/// Tells the user that the agent stopped without answering the findings of a review.
pub fn not_answered(plan: &Plan, state: &State, review: Review, cwd: &Path) -> String {
    let (number, named) = (state.iteration.unwrap_or(0), plan.argument());
    let file = rounds::subject(review, state).map(|subject| names::review(subject, false, number));
    let file = file.map_or(String::new(), |name| format!(" ({})", plan.shown(&name, cwd)));
    format!(
        "Plan '{}': the agent has stopped without an answer to the {}, round {number}{file}. To continue: \
         `/taskie:continue-plan`. To end the reviews: `provost review set {named} next_phase=null`.",
        short(&plan.id),
        of(review, state)
    )
}

pub fn unknown_phase(plan: &Plan, phase: &str) -> String {
    let (id, named) = (short(&plan.id), plan.argument());
    format!(
        "Warning: Plan '{id}': state.json has an unknown next_phase `{}`, so nothing is reviewed. To fix: \
         `provost review set {named} next_phase=…`, or set it to null.",
        short(phase)
    )
}

/// The name of a review in messages to the user and the agent.
pub fn of(review: Review, state: &State) -> String {
    match (review, state.current_task.as_deref()) {
        (Review::Plan, _) => "plan review".into(),
        (Review::Tasks, _) => "tasks review".into(),
        (Review::Code, Some(task)) => format!("code review of task {}", short(task)),
        (Review::Code, None) => "code review".into(),
        (Review::AllCode, _) => "review of all code".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plans_name_is_one_argument_and_no_option() {
        let of = |id: &str| Plan { id: id.into(), path: id.into(), root: "/".into() }.argument();
        assert_eq!(of("2026-login_v1.0"), "--plan 2026-login_v1.0");
        assert_eq!(of("-rf"), "--plan='-rf'");
        assert_eq!(of("it's $HOME"), r"--plan='it'\''s $HOME'");
    }
}
