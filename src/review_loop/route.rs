//! How a session goes on with a plan: the document's routing for `continue-plan`.
//!
//! `next_phase` says what is due, and only where it is null does `phase` count. A review that is due is
//! made at the next stop, so all that has to be known is whether the work before it was finished:
//! [`done`] looks at the files for that. Neither the history of git nor the status of tasks is asked.
//! `continue-plan.md` has the same rows as a table, and a test compares the two.

use std::fmt;

use super::names::{self, Subject};
use super::phase::{
    COMPLETE, COMPLETE_TASK, COMPLETE_TASK_TDD, CONTINUE_TASK, CREATE_TASKS, NEW_PLAN, NEXT_TASK,
    NEXT_TASK_TDD, Review,
};
use super::rounds::Loop;
use super::state::State;
use super::tasks;
use crate::decision::Fault;
use crate::text::short;

/// A plan with more lines than this is no beginning of one.
const LINES_OF_A_PLAN: usize = 50;
/// As much of a document as is looked at.
const LARGEST: u64 = 4 << 20;

/// Which of the works that can be reviewed are complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// `plan.md` has an overview, or is long.
    pub plan: bool,
    /// `tasks.md` has at least one task.
    pub tasks: bool,
    /// Every subtask of the current task is finished.
    pub task: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One of the plugin's commands.
    Command(&'static str),
    /// The review that is due is made when the agent stops.
    Stop,
    /// All is done, and the state is to say so.
    Complete,
    /// All is done: the person is told.
    Tell,
    /// The person is asked.
    Ask,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub action: Action,
    /// What in the state or the files leads there, as a sentence.
    pub why: String,
}

impl fmt::Display for Action {
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

/// Where a plan in this state goes on.
pub fn route(state: &State, done: Done) -> Route {
    let (action, why) = match state.next_phase.as_deref() {
        Some(next) => due(next, state, done),
        None => interrupted(state.phase.as_deref()),
    };
    Route { action, why }
}

/// The route for what is due.
fn due(next: &str, state: &State, done: Done) -> (Action, String) {
    if let Some(review) = Review::before_phase(next) {
        let why = format!("{} has been made, and its findings are to be dealt with", a(review));
        return (Action::Command(review.post_phase()), why);
    }
    if let Some(review) = Review::in_phase(next) {
        return before_review(review, state, done);
    }
    let action = [COMPLETE_TASK, COMPLETE_TASK_TDD, CREATE_TASKS].into_iter().find(|action| *action == next);
    match action {
        Some(action) => (Action::Command(action), format!("the phase that is due is {action}")),
        None if next == COMPLETE => {
            (Action::Complete, "the review of all code has passed, and no work is left".into())
        }
        None => (
            Action::Ask,
            format!("the next phase is said to be `{}`, which is nothing that can be due", short(next)),
        ),
    }
}

/// The route before a review: whether there is outstanding work.
fn before_review(review: Review, state: &State, done: Done) -> (Action, String) {
    let name = a(review);
    if let Some(phase) = state.phase.as_deref().filter(|phase| Review::before_phase(phase).is_some()) {
        return (Action::Stop, format!("{name} is due, and the {phase} before it is done"));
    }
    let (is_done, what, action) = match review {
        Review::Plan => (done.plan, "plan.md".into(), NEW_PLAN),
        Review::Tasks => (done.tasks, "tasks.md".into(), CREATE_TASKS),
        Review::Code | Review::AllCode => (done.task, task_name(state), CONTINUE_TASK),
    };
    if is_done {
        (Action::Stop, format!("{name} is due, and {what} is complete"))
    } else {
        (Action::Command(action), format!("{name} is due, but {what} is missing or not complete yet"))
    }
}

/// The route where nothing is due.
fn interrupted(phase: Option<&str>) -> (Action, String) {
    match phase {
        Some(phase @ (CONTINUE_TASK | NEXT_TASK | NEXT_TASK_TDD | COMPLETE_TASK | COMPLETE_TASK_TDD)) => (
            Action::Command(CONTINUE_TASK),
            format!("the last phase was {phase}, and nothing follows it by itself"),
        ),
        Some(COMPLETE) => (Action::Tell, "the plan is complete".into()),
        Some(phase) => {
            (Action::Ask, format!("the last phase was {}, and nobody has said what follows", short(phase)))
        }
        None => (Action::Ask, "neither a phase nor a next_phase stands in state.json".into()),
    }
}

/// The name of a review with its article.
fn a(review: Review) -> String {
    let article = if review == Review::AllCode { "an" } else { "a" };
    format!("{article} {}", review.phase())
}

fn task_name(state: &State) -> String {
    state.current_task.as_deref().map_or("the current task".into(), |id| format!("task-{}.md", short(id)))
}

/// What of a plan is complete, by its files.
pub fn done(of: &Loop<'_>, state: &State) -> Result<Done, Fault> {
    let text = |name: &str| {
        let file = of.plan.file(name);
        if of.workspace.has_content(&file) {
            of.workspace.read_start(&file, LARGEST).map(|(text, _)| text)
        } else {
            Ok(String::new())
        }
    };
    let task = state.current_task.as_deref().filter(|id| names::is_id(id));
    let task = task.and_then(|id| names::document(Subject::Task(id)));
    Ok(Done {
        plan: is_plan(&text("plan.md")?),
        tasks: !tasks::read(&text("tasks.md")?).rows.is_empty(),
        task: match task {
            Some(name) => is_finished(&text(&name)?),
            None => false,
        },
    })
}

fn is_plan(text: &str) -> bool {
    let is_overview = |line: &str| {
        line.strip_prefix("## ").is_some_and(|title| title.trim().eq_ignore_ascii_case("overview"))
    };
    text.lines().any(is_overview) || text.lines().count() > LINES_OF_A_PLAN
}

/// Whether a task's file has subtasks, and all of them are finished.
fn is_finished(text: &str) -> bool {
    let mut statuses = text.lines().filter_map(status).peekable();
    statuses.peek().is_some() && statuses.all(|status| tasks::is_finished(&status))
}

/// The status that a line gives a subtask: `- **Status**: done`.
fn status(line: &str) -> Option<String> {
    let plain = line.replace(['*', '_', '`'], "");
    let (name, status) = plain.trim_start_matches(['-', '+', ' ', '\t']).split_once(':')?;
    name.trim().eq_ignore_ascii_case("status").then(|| status.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Done = Done { plan: false, tasks: false, task: false };
    const ALL: Done = Done { plan: true, tasks: true, task: true };

    fn to(phase: Option<&str>, next: Option<&str>, done: Done) -> String {
        let state = State {
            phase: phase.map(str::to_owned),
            next_phase: next.map(str::to_owned),
            current_task: Some("3".into()),
            ..State::default()
        };
        let route = route(&state, done);
        assert!(!route.why.is_empty());
        route.action.to_string()
    }

    #[test]
    fn what_is_due_leads_and_the_phase_does_not_matter() {
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
                assert_eq!(to(phase, Some(next), NOTHING), next);
            }
        }
    }

    #[test]
    fn a_review_is_made_at_the_stop_if_the_work_is_done() {
        for review in Review::ALL {
            for post in Review::ALL {
                assert_eq!(to(Some(post.post_phase()), Some(review.phase()), NOTHING), "stop");
            }
            assert_eq!(to(Some("continue-task"), Some(review.phase()), ALL), "stop");
        }
        assert_eq!(to(Some("new-plan"), Some("plan-review"), Done { plan: false, ..ALL }), "new-plan");
        assert_eq!(to(None, Some("tasks-review"), Done { tasks: false, ..ALL }), "create-tasks");
        for next in ["code-review", "all-code-review"] {
            assert_eq!(to(Some("complete-task"), Some(next), Done { task: false, ..ALL }), "continue-task");
        }
    }

    #[test]
    fn where_nothing_is_due_the_phase_counts() {
        for phase in ["continue-task", "next-task", "next-task-tdd", "complete-task", "complete-task-tdd"] {
            assert_eq!(to(Some(phase), None, ALL), "continue-task");
        }
        assert_eq!(to(Some("complete"), None, NOTHING), "tell");
        for phase in [None, Some("code-review"), Some("plan-review"), Some("post-code-review"), Some("x")] {
            assert_eq!(to(phase, None, ALL), "ask");
        }
    }

    #[test]
    fn what_cannot_be_due_is_asked_about() {
        for next in ["new-plan", "next-task", "continue-task", "continue-plan", "Code-Review", "\u{1b}[2J"] {
            assert_eq!(to(Some("complete"), Some(next), ALL), "ask");
        }
    }

    #[test]
    fn a_plan_is_complete_with_an_overview_or_at_length() {
        assert!(is_plan("# Plan\n\n## Overview\n\nAll of it.\n"));
        assert!(is_plan("## overview \r\n"));
        assert!(is_plan(&"line\n".repeat(51)));
        for text in ["", "# Overview\n", "### Overview\n", "## Overview of tests\n", " text ## Overview"] {
            assert!(!is_plan(text), "{text}");
        }
        assert!(!is_plan(&"line\n".repeat(50)));
    }

    #[test]
    fn a_task_is_complete_with_its_last_subtask() {
        let task = |statuses: &[&str]| {
            let subtask =
                |status: &&str| format!("### Subtask\n\n- **Status**: {status}\n- **Priority**: high\n");
            is_finished(&statuses.iter().map(subtask).collect::<String>())
        };
        assert!(task(&["done"]));
        assert!(task(&["done", "cancelled", "postponed", "Done (abc123)"]));
        for open in ["pending", "in-progress", "", "done?", "not done"] {
            assert!(!task(&["done", open]), "{open}");
        }
        assert!(!task(&[]), "no subtask at all");
        assert!(!is_finished("The status: unknown"));
        for form in
            ["**Status:** done", "* Status: done", "  - `Status`: **done**", "- __status__: completed"]
        {
            assert!(is_finished(form), "{form}");
        }
    }
}
