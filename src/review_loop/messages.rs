//! What agents and people are told, in the document's words.

use std::path::Path;

use super::names;
use super::phase::Review;
use super::plan::Plan;
use super::rounds;
use super::state::State;
use super::transition::{ENOUGH, Round};
use crate::text::short;

/// The agent's instruction after a review: what was written, what to do with it, and the way out.
pub fn hold(plan: &Plan, state: &State, round: &Round, clean: bool, cwd: &Path) -> String {
    let Round { review, number, .. } = round;
    let (article, kind, work, also) = match review {
        Review::Plan => ("A", "plan", "address all issues in plan.md", "Push"),
        Review::Tasks => ("A", "tasks", "address all issues in tasks.md and task files", "Push"),
        Review::Code => ("A", "code", "address all issues, update the code", "Update tasks.md and push"),
        Review::AllCode => {
            ("An", "all-code", "address all issues across all tasks", "Update tasks.md and push")
        }
    };
    let file = |post| match rounds::subject(*review, state) {
        Ok(subject) => plan.shown(&names::review(subject, post, *number), cwd),
        Err(_) => String::new(),
    };
    let (written, answer) = (file(false), file(true));
    let (phase, post) = (review.phase(), review.post_phase());
    let verdict = if clean {
        let needed = ENOUGH.saturating_sub(state.clean);
        format!(
            " Its verdict is PASS: nothing has to be mended, and {needed} more clean review in a row ends the \
             loop; smaller remarks may be addressed or declined."
        )
    } else {
        String::new()
    };
    format!(
        "{article} {kind} review (iteration {number}) has been written to {written} by an independent \
         reviewer.{verdict} Read this review file and perform the {post} action: {work}, then create {answer} \
         documenting your fixes. AFTER completing all post-review work and writing the post-review file, \
         update state.json atomically (read current file, modify only phase and next_phase, write complete \
         JSON back): set phase to \"{post}\", set next_phase to \"{phase}\". Keep all other fields \
         (max_reviews, current_task, phase_iteration, review_model, consecutive_clean) unchanged. Write via \
         temp file then mv to prevent corruption, or let `provost review set {named} phase={post} \
         next_phase={phase}` do it. {also} to remote. (To stop the review loop, set next_phase to null in \
         state.json.)",
        named = plan.argument(),
    )
}

/// The person's message after a review that the agent now deals with.
pub fn reviewed(plan: &Plan, state: &State, round: &Round, clean: bool) -> String {
    let outcome =
        if clean { format!("clean, {} of {ENOUGH} in a row", state.clean) } else { "issues".into() };
    format!(
        "Plan '{}': {}, round {} of at most {} by {}: {outcome}.",
        short(&plan.id),
        of(round.review, state),
        round.number,
        state.max_reviews,
        short(&round.model)
    )
}

/// The person's message where a cycle has passed.
pub fn advanced(plan: &Plan, state: &State, round: &Round, to: &str) -> String {
    // A review that is due is made at whatever stop comes next.
    let when = if Review::in_phase(to).is_some() { ", at the next stop" } else { "" };
    format!(
        "Plan '{}': the {} is clean {ENOUGH} times in a row (after {} of at most {} reviews). Next: \
         {to}{when}. Look at the work; `/taskie:continue-plan` goes on.",
        short(&plan.id),
        of(round.review, state),
        round.number,
        state.max_reviews
    )
}

pub fn skipped(plan: &Plan, state: &State, review: Review, to: &str) -> String {
    format!(
        "Plan '{}': the {} is skipped, because max_reviews is 0 in state.json. Next: {to}.",
        short(&plan.id),
        of(review, state)
    )
}

pub fn limit(plan: &Plan, state: &State, review: Review) -> String {
    let (id, named) = (short(&plan.id), plan.argument());
    format!(
        "Plan '{id}': the {} has had all its {} reviews and was not clean {ENOUGH} times in a row, so \
         the agent waits for you. To fix: read the last review; then `provost review set {named} \
         phase_iteration=0 consecutive_clean=0` for another cycle, or set next_phase to what comes next.",
        of(review, state),
        state.max_reviews
    )
}

pub fn unanswered(plan: &Plan, state: &State, round: &Round, why: &str) -> String {
    format!(
        "Warning: Plan '{}': the {}, round {}, came to nothing: {}. The state keeps its place, and the next \
         stop tries again; `provost review run {}` tries it now.",
        short(&plan.id),
        of(round.review, state),
        round.number,
        why.trim_end_matches('.'),
        plan.argument()
    )
}

/// The person's message where an agent was sent back with a review and stops without its answer.
pub fn not_answered(plan: &Plan, state: &State, review: Review, cwd: &Path) -> String {
    let (number, named) = (state.iteration.unwrap_or(0), plan.argument());
    let file = rounds::subject(review, state).map(|subject| names::review(subject, false, number));
    let file = file.map_or(String::new(), |name| format!(" ({})", plan.shown(&name, cwd)));
    format!(
        "Plan '{}': the agent has stopped without an answer to the {}, round {number}{file}. \
         `/taskie:continue-plan` goes on with it; `provost review set {named} next_phase=null` ends the reviews.",
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

/// What is reviewed, for a person.
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
