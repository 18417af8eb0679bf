//! `iteration-corridor`: while tests fail, or the constitution is being checked, the work stays where
//! it is. Everything that serves it goes on; only what would hand it on or leave the phase is held.

use super::advance::{Attempt, Told};
use super::records;
use super::requirements::{self, Demands, Escalation, Progress};
use crate::decision::{Denial, Fault, Opinion};
use crate::event::Event;
use crate::workspace::Workspace;

/// What the work is in the middle of.
enum Corridor {
    Tests { iteration: u64, tries: u64 },
    Constitution { articles: Vec<String> },
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(held(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn held(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let said = |told: &Told| told.moves_on().or_else(|| told.hands_over());
    let Attempt { ground, state, phase, said } = Attempt::of(event, workspace, said)?;
    let demands = Demands::of(&phase, state, ground, workspace)?;
    let corridor = Corridor::of(demands, &Progress::of(&phase, state))?;
    let denial = corridor.denial(&phase, &said);
    let escalation = records::Escalation {
        kind: "corridor_blocked",
        hook: "iteration-corridor",
        phase,
        detail: format!("{}; the call says `{said}`", denial.what),
    };
    escalation.note(ground, workspace);
    let evidence = vec![format!("the call says `{said}`"), denial.what.clone()];
    Some(super::deny(denial, evidence))
}

impl Corridor {
    fn of(demands: Demands, progress: &Progress) -> Option<Self> {
        let tests = progress.tests.as_ref();
        if let (Some(demand), Some(tests)) = (&demands.tests, tests)
            && !tests.is_completed
            && tests.escalation == Escalation::None
            && tests.failed_last
        {
            let tries = tests.tries.unwrap_or(demand.tries);
            return Some(Self::Tests { iteration: tests.iteration, tries });
        }
        let articles = demands.constitution?.articles;
        if demands.tests.is_some() && !tests.is_some_and(requirements::TestRecord::is_enough) {
            return None;
        }
        let is_due = match &progress.constitution {
            Some(checks) => !checks.is_completed && checks.escalation == Escalation::None,
            // After the tests, the constitution comes next.
            None => tests.is_some_and(requirements::TestRecord::is_enough),
        };
        is_due.then_some(Self::Constitution { articles })
    }

    fn denial(&self, phase: &str, said: &str) -> Denial {
        match self {
            Self::Tests { iteration, tries } => Denial {
                what: format!("ITERATION CORRIDOR: Tests are failing (iteration {iteration}/{tries})"),
                why: format!("the call says `{said}`, but the tests of {phase} fail"),
                fix: "fix the failing tests and run them again; agents of this phase can do it".into(),
            },
            Self::Constitution { articles } => {
                let articles = requirements::articles(articles);
                Denial {
                    what: format!(
                        "ITERATION CORRIDOR: Constitutional validation in progress for Articles {articles}"
                    ),
                    why: format!("the call says `{said}`"),
                    fix: format!(
                        "check the artifacts against these articles and record the result in \
                         `phases.{phase}.constitutional_validation`"
                    ),
                }
            }
        }
    }
}
