//! The phases of a plan by their names in `state.json`, and the four reviews among them.
//!
//! An agent may write a name that is not in these tables. Then nothing is reviewed, and the user is warned. Provost
//! never guesses a phase.

use crate::prelude::*;

use super::file_names::{self, FileSubject};
use provost_core::text::shorten_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewKind {
    Plan,
    Tasks,
    Code,
    AllCode,
}

/// How far a plan is, for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStage {
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

/// Every phase, in the order of a plan's progress.
pub static PHASES: &[(&str, PlanStage)] = &[
    (NEW_PLAN, PlanStage::Planning),
    ("plan-review", PlanStage::PlanReview),
    ("post-plan-review", PlanStage::PlanReview),
    (CREATE_TASKS, PlanStage::TaskCreation),
    ("tasks-review", PlanStage::TaskReview),
    ("post-tasks-review", PlanStage::TaskReview),
    (NEXT_TASK, PlanStage::Implementation),
    (NEXT_TASK_TDD, PlanStage::Implementation),
    (COMPLETE_TASK, PlanStage::Implementation),
    (COMPLETE_TASK_TDD, PlanStage::Implementation),
    (CONTINUE_TASK, PlanStage::Implementation),
    ("code-review", PlanStage::Implementation),
    ("post-code-review", PlanStage::Implementation),
    ("all-code-review", PlanStage::FinalReview),
    ("post-all-code-review", PlanStage::FinalReview),
    (COMPLETE, PlanStage::Complete),
];

impl ReviewKind {
    pub const ALL: [Self; 4] = [Self::Plan, Self::Tasks, Self::Code, Self::AllCode];

    /// The phase of each review, and the phase in which the agent answers its findings.
    const PHASES: [(&str, &str); 4] = [
        ("plan-review", "post-plan-review"),
        ("tasks-review", "post-tasks-review"),
        ("code-review", "post-code-review"),
        ("all-code-review", "post-all-code-review"),
    ];

    /// The phase in which it is made.
    pub fn phase(self) -> &'static str {
        Self::PHASES[self as usize].0
    }

    /// The phase in which the agent answers its findings.
    pub fn post_phase(self) -> &'static str {
        Self::PHASES[self as usize].1
    }

    /// The review that is made in this phase.
    pub fn from_phase(phase: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|review| review.phase() == phase)
    }

    /// The review whose findings the agent answers in this phase.
    pub fn from_post_phase(phase: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|review| review.post_phase() == phase)
    }

    /// The subject that names its files; an error says what is wrong with the current task.
    pub fn subject(self, task: Option<&str>) -> Result<FileSubject<'_>, String> {
        match (self, task) {
            (Self::Plan, _) => Ok(FileSubject::Plan),
            (Self::Tasks, _) => Ok(FileSubject::Tasks),
            (Self::AllCode, _) => Ok(FileSubject::AllCode),
            (Self::Code, Some(id)) if file_names::is_task_id(id) => Ok(FileSubject::Task(id)),
            (Self::Code, Some(id)) => {
                Err(format!("current_task `{}` cannot be part of a file's name", shorten_name(id)))
            }
            (Self::Code, None) => Err("state.json names no current_task".into()),
        }
    }
}

impl PlanStage {
    /// The stage that a phase belongs to; `None`: there is no such phase.
    pub fn from_phase(phase: &str) -> Option<Self> {
        PHASES.iter().find(|(name, _)| *name == phase).map(|(_, stage)| *stage)
    }

    pub fn label(self) -> &'static str {
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
        for review in ReviewKind::ALL {
            assert_eq!(ReviewKind::from_phase(review.phase()), Some(review));
            assert_eq!(ReviewKind::from_post_phase(review.post_phase()), Some(review));
            assert_eq!(review.post_phase(), format!("post-{}", review.phase()));
            assert_eq!(PlanStage::from_phase(review.phase()), PlanStage::from_phase(review.post_phase()));
        }
        assert_eq!(ReviewKind::from_phase("post-code-review"), None);
        assert_eq!(ReviewKind::from_phase("Code-Review"), None);
        assert_eq!(PlanStage::from_phase("ready"), None);
    }
}
