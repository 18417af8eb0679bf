//! How a session continues with a plan: the document's routing for `continue-plan`.
//!
//! `next_phase` says what is due; only if it is null does `phase` count. The next stop makes a review that is due, so
//! the only question is whether the work before it is finished. [`read_finished_work`] reads that from the files, not
//! from git's history or the status of tasks. `continue-plan.md` has the same rows as a table, and a test compares
//! the two.

use crate::prelude::*;
use std::fmt;

use super::due_review::ReviewLoop;
use super::file_names::{self, FileSubject};
use super::phase::{
    COMPLETE, COMPLETE_TASK, COMPLETE_TASK_TDD, CONTINUE_TASK, CREATE_TASKS, NEW_PLAN, NEXT_TASK,
    NEXT_TASK_TDD, ReviewKind,
};
use super::state::LoopState;
use super::tasks;
use provost_core::opinion::Fault;
use provost_core::text::shorten_name;

/// A plan with more lines than this is complete.
const LONGEST_DRAFT: usize = 50;
/// At most this much of a document is read.
const LARGEST: u64 = 4 << 20;

/// Which work is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishedWork {
    /// `plan.md` has an overview, or is long.
    pub plan: bool,
    /// `tasks.md` has at least one task.
    pub tasks: bool,
    /// All subtasks of the current task are finished.
    pub task: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAction {
    /// One of the plugin's commands.
    Command(&'static str),
    /// End the turn: the guard then makes the review that is due.
    Stop,
    /// All work is done: set the state to complete.
    Complete,
    /// The plan is complete: inform the user.
    Tell,
    /// Ask the user.
    Ask,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub action: NextAction,
    /// Why, as a sentence.
    pub why: String,
}

impl fmt::Display for NextAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command(name) => name,
            Self::Stop => "stop",
            Self::Complete => COMPLETE,
            Self::Tell => "tell",
            Self::Ask => "ask",
        })
    }
}

pub fn find_route(state: &LoopState, done: FinishedWork) -> Route {
    let (action, why) = match state.next_phase.as_deref() {
        Some(next) => route_due(next, state, done),
        None => route_interrupted(state.phase.as_deref()),
    };
    Route { action, why }
}

/// The route if a phase is due.
fn route_due(next: &str, state: &LoopState, done: FinishedWork) -> (NextAction, String) {
    if let Some(review) = ReviewKind::from_post_phase(next) {
        let why = format!("{} has been made, and the agent has to answer its findings", with_article(review));
        return (NextAction::Command(review.post_phase()), why);
    }
    if let Some(review) = ReviewKind::from_phase(next) {
        return route_before_review(review, state, done);
    }
    let action = [COMPLETE_TASK, COMPLETE_TASK_TDD, CREATE_TASKS].into_iter().find(|action| *action == next);
    match action {
        Some(action) => (NextAction::Command(action), format!("the phase that is due is {action}")),
        None if next == COMPLETE => {
            (NextAction::Complete, "the review of all code has passed, and no work is left".into())
        }
        None => (NextAction::Ask, format!("next_phase is `{}`, which cannot be due", shorten_name(next))),
    }
}

/// The route before a review: finish the work, or stop.
fn route_before_review(review: ReviewKind, state: &LoopState, done: FinishedWork) -> (NextAction, String) {
    let name = with_article(review);
    if let Some(phase) = state.phase.as_deref().filter(|phase| ReviewKind::from_post_phase(phase).is_some()) {
        return (NextAction::Stop, format!("{name} is due, and the {phase} before it is done"));
    }
    let (is_done, what, action) = match review {
        ReviewKind::Plan => (done.plan, "plan.md".into(), NEW_PLAN),
        ReviewKind::Tasks => (done.tasks, "tasks.md".into(), CREATE_TASKS),
        ReviewKind::Code | ReviewKind::AllCode => (done.task, task_name(state), CONTINUE_TASK),
    };
    if is_done {
        (NextAction::Stop, format!("{name} is due, and {what} is complete"))
    } else {
        (NextAction::Command(action), format!("{name} is due, but {what} is missing or not complete yet"))
    }
}

/// The route if nothing is due.
fn route_interrupted(phase: Option<&str>) -> (NextAction, String) {
    match phase {
        Some(phase @ (CONTINUE_TASK | NEXT_TASK | NEXT_TASK_TDD | COMPLETE_TASK | COMPLETE_TASK_TDD)) => (
            NextAction::Command(CONTINUE_TASK),
            format!("the last phase was {phase}, and nothing follows it automatically"),
        ),
        Some(COMPLETE) => (NextAction::Tell, "the plan is complete".into()),
        Some(phase) => (
            NextAction::Ask,
            format!("the last phase was {}, and state.json does not say what follows", shorten_name(phase)),
        ),
        None => (NextAction::Ask, "state.json has neither a phase nor a next_phase".into()),
    }
}

fn with_article(review: ReviewKind) -> String {
    let article = if review == ReviewKind::AllCode { "an" } else { "a" };
    format!("{article} {}", review.phase())
}

fn task_name(state: &LoopState) -> String {
    state
        .current_task
        .as_deref()
        .map_or("the current task".into(), |id| format!("task-{}.md", shorten_name(id)))
}

/// Reads from a plan's files which work is complete.
pub fn read_finished_work(review_loop: &ReviewLoop<'_>, state: &LoopState) -> Result<FinishedWork, Fault> {
    let text = |name: &str| {
        let file = review_loop.plan.file(name);
        if review_loop.workspace.has_content(&file) {
            review_loop.workspace.read_start(&file, LARGEST).map(|(text, _)| text)
        } else {
            Ok(String::new())
        }
    };
    let task = state.current_task.as_deref().filter(|id| file_names::is_task_id(id));
    let task = task.and_then(|id| file_names::document_name(FileSubject::Task(id)));
    Ok(FinishedWork {
        plan: is_complete_plan(&text("plan.md")?),
        tasks: !tasks::parse_tasks(&text("tasks.md")?).rows.is_empty(),
        task: match task {
            Some(name) => are_subtasks_finished(&text(&name)?),
            None => false,
        },
    })
}

fn is_complete_plan(text: &str) -> bool {
    let is_overview = |line: &str| {
        line.strip_prefix("## ").is_some_and(|title| title.trim().eq_ignore_ascii_case("overview"))
    };
    text.lines().any(is_overview) || text.lines().count() > LONGEST_DRAFT
}

/// Whether a task's file has subtasks, and all of them are finished.
fn are_subtasks_finished(text: &str) -> bool {
    let mut statuses = text.lines().filter_map(read_status).peekable();
    statuses.peek().is_some() && statuses.all(|status| tasks::is_finished(&status))
}

/// The status that a line gives a subtask: `- **Status**: done`.
fn read_status(line: &str) -> Option<String> {
    let plain = line.replace(['*', '_', '`'], "");
    let (name, status) = plain.trim_start_matches(['-', '+', ' ', '\t']).split_once(':')?;
    name.trim().eq_ignore_ascii_case("status").then(|| status.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: FinishedWork = FinishedWork { plan: false, tasks: false, task: false };
    const ALL: FinishedWork = FinishedWork { plan: true, tasks: true, task: true };

    fn route_action(phase: Option<&str>, next: Option<&str>, done: FinishedWork) -> String {
        let state = LoopState {
            phase: phase.map(str::to_owned),
            next_phase: next.map(str::to_owned),
            current_task: Some("3".into()),
            ..LoopState::default()
        };
        let route = find_route(&state, done);
        assert!(!route.why.is_empty());
        route.action.to_string()
    }

    #[test]
    fn the_next_phase_decides_and_the_phase_does_not_matter() {
        for next in [
            "post-plan-review",
            "post-tasks-review",
            "post-code-review",
            "post-all-code-review",
            "complete-task",
            "complete-task-tdd",
            "create-tasks",
            "complete",
        ] {
            for phase in [None, Some("code-review"), Some("complete"), Some("invented")] {
                assert_eq!(route_action(phase, Some(next), NOTHING), next);
            }
        }
    }

    #[test]
    fn a_review_is_made_at_the_stop_if_the_work_is_done() {
        for review in ReviewKind::ALL {
            for post in ReviewKind::ALL {
                assert_eq!(route_action(Some(post.post_phase()), Some(review.phase()), NOTHING), "stop");
            }
            assert_eq!(route_action(Some("continue-task"), Some(review.phase()), ALL), "stop");
        }
        assert_eq!(
            route_action(Some("new-plan"), Some("plan-review"), FinishedWork { plan: false, ..ALL }),
            "new-plan"
        );
        assert_eq!(
            route_action(None, Some("tasks-review"), FinishedWork { tasks: false, ..ALL }),
            "create-tasks"
        );
        for next in ["code-review", "all-code-review"] {
            assert_eq!(
                route_action(Some("complete-task"), Some(next), FinishedWork { task: false, ..ALL }),
                "continue-task"
            );
        }
    }

    #[test]
    fn if_nothing_is_due_the_phase_counts() {
        for phase in ["continue-task", "next-task", "next-task-tdd", "complete-task", "complete-task-tdd"] {
            assert_eq!(route_action(Some(phase), None, ALL), "continue-task");
        }
        assert_eq!(route_action(Some("complete"), None, NOTHING), "tell");
        for phase in [None, Some("code-review"), Some("plan-review"), Some("post-code-review"), Some("x")] {
            assert_eq!(route_action(phase, None, ALL), "ask");
        }
    }

    #[test]
    fn a_phase_that_cannot_be_due_leads_to_a_question() {
        for next in ["new-plan", "next-task", "continue-task", "continue-plan", "Code-Review", "\u{1b}[2J"] {
            assert_eq!(route_action(Some("complete"), Some(next), ALL), "ask");
        }
    }

    #[test]
    fn a_plan_is_complete_with_an_overview_or_many_lines() {
        assert!(is_complete_plan("# Plan\n\n## Overview\n\nAll of it.\n"));
        assert!(is_complete_plan("## overview \r\n"));
        assert!(is_complete_plan(&"line\n".repeat(51)));
        for text in ["", "# Overview\n", "### Overview\n", "## Overview of tests\n", " text ## Overview"] {
            assert!(!is_complete_plan(text), "{text}");
        }
        assert!(!is_complete_plan(&"line\n".repeat(50)));
    }

    #[test]
    fn a_task_is_complete_with_its_last_subtask() {
        let task = |statuses: &[&str]| {
            let subtask =
                |status: &&str| format!("### Subtask\n\n- **Status**: {status}\n- **Priority**: high\n");
            are_subtasks_finished(&statuses.iter().map(subtask).collect::<String>())
        };
        assert!(task(&["done"]));
        assert!(task(&["done", "cancelled", "postponed", "Done (abc123)"]));
        for open in ["pending", "in-progress", "", "done?", "not done"] {
            assert!(!task(&["done", open]), "{open}");
        }
        assert!(!task(&[]), "no subtask at all");
        assert!(!are_subtasks_finished("The status: unknown"));
        for form in
            ["**Status:** done", "* Status: done", "  - `Status`: **done**", "- __status__: completed"]
        {
            assert!(are_subtasks_finished(form), "{form}");
        }
    }
}
