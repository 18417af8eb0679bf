//! The phases of a plan by their names in `state.json`, and the four reviews among them.
//!
//! A name that is not in these tables is a value too: an agent may invent one, and then nothing is
//! reviewed and the person is told. No phase is ever guessed.

use super::names::Subject;

/// What can be reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review {
    Plan,
    Tasks,
    Code,
    AllCode,
}

/// Where a plan stands, in a person's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Planning,
    PlanReview,
    TaskCreation,
    TaskReview,
    Implementation,
    FinalReview,
    Complete,
}

pub const NEW_PLAN: &str = "new-plan";
pub const CREATE_TASKS: &str = "create-tasks";
pub const NEXT_TASK: &str = "next-task";
pub const NEXT_TASK_TDD: &str = "next-task-tdd";
pub const COMPLETE_TASK: &str = "complete-task";
pub const COMPLETE_TASK_TDD: &str = "complete-task-tdd";
pub const CONTINUE_TASK: &str = "continue-task";
pub const COMPLETE: &str = "complete";

/// Every phase, in the order in which a plan goes through them.
pub static PHASES: &[(&str, Stage)] = &[
    (NEW_PLAN, Stage::Planning),
    ("plan-review", Stage::PlanReview),
    ("post-plan-review", Stage::PlanReview),
    (CREATE_TASKS, Stage::TaskCreation),
    ("tasks-review", Stage::TaskReview),
    ("post-tasks-review", Stage::TaskReview),
    (NEXT_TASK, Stage::Implementation),
    (NEXT_TASK_TDD, Stage::Implementation),
    (COMPLETE_TASK, Stage::Implementation),
    (COMPLETE_TASK_TDD, Stage::Implementation),
    (CONTINUE_TASK, Stage::Implementation),
    ("code-review", Stage::Implementation),
    ("post-code-review", Stage::Implementation),
    ("all-code-review", Stage::FinalReview),
    ("post-all-code-review", Stage::FinalReview),
    (COMPLETE, Stage::Complete),
];

impl Review {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Tasks, Self::Code, Self::AllCode];

    /// The phase in which it is made.
    pub fn phase(self) -> &'static str {
        match self {
            Self::Plan => "plan-review",
            Self::Tasks => "tasks-review",
            Self::Code => "code-review",
            Self::AllCode => "all-code-review",
        }
    }

    /// The phase in which its findings are dealt with.
    pub fn post_phase(self) -> &'static str {
        match self {
            Self::Plan => "post-plan-review",
            Self::Tasks => "post-tasks-review",
            Self::Code => "post-code-review",
            Self::AllCode => "post-all-code-review",
        }
    }

    /// The review that is made in this phase.
    pub fn in_phase(phase: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|review| review.phase() == phase)
    }

    /// The review whose findings are dealt with in this phase.
    pub fn before_phase(phase: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|review| review.post_phase() == phase)
    }

    /// What its files are named after; `None`: nobody knows which task is meant.
    pub fn subject(self, task: Option<&str>) -> Option<Subject<'_>> {
        match self {
            Self::Plan => Some(Subject::Plan),
            Self::Tasks => Some(Subject::Tasks),
            Self::Code => task.map(Subject::Task),
            Self::AllCode => Some(Subject::AllCode),
        }
    }
}

impl Stage {
    /// The stage of a phase; `None`: there is no such phase.
    pub fn of(phase: &str) -> Option<Self> {
        PHASES.iter().find(|(name, _)| *name == phase).map(|(_, stage)| *stage)
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Planning => "Planning",
            Self::PlanReview => "Plan review",
            Self::TaskCreation => "Task creation",
            Self::TaskReview => "Task review",
            Self::Implementation => "Implementation",
            Self::FinalReview => "Final review",
            Self::Complete => "Complete",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_are_known_by_their_phases() {
        for review in Review::ALL {
            assert_eq!(Review::in_phase(review.phase()), Some(review));
            assert_eq!(Review::before_phase(review.post_phase()), Some(review));
            assert_eq!(review.post_phase(), format!("post-{}", review.phase()));
            assert_eq!(Stage::of(review.phase()), Stage::of(review.post_phase()));
        }
        assert_eq!(Review::in_phase("post-code-review"), None);
        assert_eq!(Review::in_phase("Code-Review"), None);
        assert_eq!(Stage::of("ready"), None);
    }
}
