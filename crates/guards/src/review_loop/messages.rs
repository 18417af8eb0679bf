//! The messages to the agent and the user after a review.
//!
//! The agent's message says what to do next in at most 60 words. The user's says how to end the loop. Only `compat`
//! uses the words of the document's templates.

use crate::prelude::*;
use std::path::Path;

use super::file_names;
use super::phase::ReviewKind;
use super::plan::Plan;
use super::state::LoopState;
use super::transition::{CLEAN_NEEDED, Round};
use provost_core::text::{capitalize, shorten_name};

/// The message to the agent: what to read, what to write and what comes next. Only the user learns how to end the loop
/// ([`describe_review_result`]).
pub fn format_agent_message(
    plan: &Plan,
    state: &LoopState,
    round: &Round,
    clean: bool,
    cwd: &Path,
) -> String {
    let name = capitalize(&name_review_for(round.review, state));
    let (written, answer) = round_paths(plan, state, round, cwd);
    let (number, most) = (round.number, state.max_reviews);
    if clean {
        return format!(
            "{name}, round {number} of {most}: PASS, so nothing has to be fixed. Read {written}, write to \
             {answer} which of its remarks you followed, then stop: one more clean review ends the loop."
        );
    }
    let work = match round.review {
        ReviewKind::Plan => "plan.md",
        ReviewKind::Tasks => "tasks.md and the task files",
        ReviewKind::Code | ReviewKind::AllCode => "the code and update tasks.md",
    };
    format!(
        "{name}, round {number} of {most}: an independent reviewer found issues. Read {written}, fix {work}, \
         write what you changed or declined to {answer}, then stop: the next review starts by itself."
    )
}

/// The message of `compat` to the agent after a review: the document's template, word by word.
pub fn format_document_message(plan: &Plan, state: &LoopState, round: &Round, cwd: &Path) -> String {
    let (article, kind, work, also) = match round.review {
        ReviewKind::Plan => ("A", "plan", "address all issues in plan.md", "Push"),
        ReviewKind::Tasks => ("A", "tasks", "address all issues in tasks.md and task files", "Push"),
        ReviewKind::Code => ("A", "code", "address all issues, update the code", "Update tasks.md and push"),
        ReviewKind::AllCode => {
            ("An", "all-code", "address all issues across all tasks", "Update tasks.md and push")
        }
    };
    let (written, answer) = round_paths(plan, state, round, cwd);
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
fn round_paths(plan: &Plan, state: &LoopState, round: &Round, cwd: &Path) -> (String, String) {
    let task = state.current_task.as_deref();
    let file = |post| review_path(plan, round.review, task, round.number, post, cwd);
    (file(false), file(true))
}

/// The path of a review, or with `post` of the answer to it; empty if `task` cannot be part of a file's name.
pub fn review_path(
    plan: &Plan,
    review: ReviewKind,
    task: Option<&str>,
    number: u64,
    post: bool,
    cwd: &Path,
) -> String {
    let subject = review.subject(task).ok();
    subject.map_or(String::new(), |subject| {
        plan.display_file(&file_names::review_name(subject, post, number), cwd)
    })
}

/// The line for the user about a review that the agent now answers: its result, and how to end the loop.
pub fn describe_review_result(plan: &Plan, state: &LoopState, round: &Round, clean: bool) -> String {
    let outcome =
        if clean { format!("clean, {} of {CLEAN_NEEDED} in a row", state.clean) } else { "issues".into() };
    format!(
        "Plan '{}': {}, round {} of at most {} by {}: {outcome}. To end the reviews: set next_phase to null in \
         state.json, or run `provost review set {} next_phase=null`.",
        shorten_name(&plan.id),
        name_review_for(round.review, state),
        round.number,
        state.max_reviews,
        shorten_name(&round.model),
        plan.argument()
    )
}

/// The line for the user after two clean reviews in a row: what comes next.
pub fn describe_cycle_end(plan: &Plan, state: &LoopState, round: &Round, to: &str) -> String {
    // Any next stop runs a review that is due.
    let when = if ReviewKind::from_phase(to).is_some() { ", at the next stop" } else { "" };
    format!(
        "Plan '{}': the {} is clean {CLEAN_NEEDED} times in a row (after {} of at most {} reviews). Next: \
         {to}{when}. Look at the work, then continue with `/taskie:continue-plan`.",
        shorten_name(&plan.id),
        name_review_for(round.review, state),
        round.number,
        state.max_reviews
    )
}

pub fn describe_skip(plan: &Plan, state: &LoopState, review: ReviewKind, to: &str) -> String {
    format!(
        "Plan '{}': skipped the {}, because max_reviews is 0 in state.json. Next: {to}.",
        shorten_name(&plan.id),
        name_review_for(review, state)
    )
}

pub fn describe_limit(plan: &Plan, state: &LoopState, review: ReviewKind) -> String {
    let (id, named) = (shorten_name(&plan.id), plan.argument());
    format!(
        "Plan '{id}': the {} has had all its {} reviews and was not clean {CLEAN_NEEDED} times in a row, so \
         the agent waits for you. To fix: read the last review; then run `provost review set {named} \
         phase_iteration=0 consecutive_clean=0` for another cycle, or set next_phase to what comes next.",
        name_review_for(review, state),
        state.max_reviews
    )
}

pub fn describe_missing_verdict(plan: &Plan, state: &LoopState, round: &Round, why: &str) -> String {
    format!(
        "Warning: Plan '{}': the {}, round {}, came to nothing: {}. The next stop tries again; \
         `provost review run {}` tries it now.",
        shorten_name(&plan.id),
        name_review_for(round.review, state),
        round.number,
        why.trim_end_matches('.'),
        plan.argument()
    )
}

/// The line for the user after the agent stopped without answering the findings of a review.
pub fn describe_missing_answer(plan: &Plan, state: &LoopState, review: ReviewKind, cwd: &Path) -> String {
    let (number, named) = (state.iteration.unwrap_or(0), plan.argument());
    let file = review_path(plan, review, state.current_task.as_deref(), number, false, cwd);
    let file = if file.is_empty() { file } else { format!(" ({file})") };
    format!(
        "Plan '{}': the agent has stopped without an answer to the {}, round {number}{file}. To continue: \
         `/taskie:continue-plan`. To end the reviews: `provost review set {named} next_phase=null`.",
        shorten_name(&plan.id),
        name_review_for(review, state)
    )
}

pub fn describe_unknown_phase(plan: &Plan, phase: &str) -> String {
    let (id, named) = (shorten_name(&plan.id), plan.argument());
    format!(
        "Warning: Plan '{id}': state.json has an unknown next_phase `{}`, so nothing is reviewed. To fix: \
         `provost review set {named} next_phase=…`, or set it to null.",
        shorten_name(phase)
    )
}

/// The name of a review in messages.
pub fn name_review_for(review: ReviewKind, state: &LoopState) -> String {
    name_review(review, state.current_task.as_deref())
}

pub(super) fn name_review(review: ReviewKind, task: Option<&str>) -> String {
    match (review, task) {
        (ReviewKind::Plan, _) => "plan review".into(),
        (ReviewKind::Tasks, _) => "tasks review".into(),
        (ReviewKind::Code, Some(task)) => format!("code review of task {}", shorten_name(task)),
        (ReviewKind::Code, None) => "code review".into(),
        (ReviewKind::AllCode, _) => "review of all code".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plans_name_is_one_argument_and_no_option() {
        let argument = |id: &str| Plan { id: id.into(), path: id.into(), root: "/".into() }.argument();
        assert_eq!(argument("2026-login_v1.0"), "--plan 2026-login_v1.0");
        assert_eq!(argument("-rf"), "--plan='-rf'");
        assert_eq!(argument("it's $HOME"), r"--plan='it'\''s $HOME'");
    }
}
