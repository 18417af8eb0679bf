//! `iteration-corridor`: while tests fail, or the constitution is being checked, the work stays where
//! it is. Everything that serves it goes on; only what would hand it on or leave the phase is held.

use super::advance::{Attempt, Told};
use super::records;
use super::requirements::{self, Demands, Escalation, Progress};
use super::{Refused, named};
use crate::decision::{Fault, Opinion};
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
    let refused = corridor.refused(&phase, &said);
    let escalation = records::Escalation {
        kind: "corridor_blocked",
        hook: "iteration-corridor",
        phase,
        detail: format!("{}; the call says `{said}`", refused.heading),
    };
    escalation.note(ground, workspace);
    let evidence = vec![format!("the call says `{said}`"), refused.heading.clone()];
    Some(super::deny(event, refused, evidence))
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

    fn refused(&self, phase: &str, said: &str) -> Refused {
        match self {
            Self::Tests { iteration, tries } => Refused {
                heading: format!("ITERATION CORRIDOR: Tests are failing (iteration {iteration}/{tries})"),
                why: format!("the tests of {} fail (iteration {iteration}/{tries})", named(phase)),
                fix: format!(
                    "fix them and run them again; agents of this phase can do it. The call says `{said}`, which \
                     hands the work on"
                ),
            },
            Self::Constitution { articles } => {
                let articles = requirements::articles(articles);
                Refused {
                    heading: format!(
                        "ITERATION CORRIDOR: Constitutional validation in progress for Articles {articles}"
                    ),
                    why: format!("the constitution check of {} is not finished", named(phase)),
                    fix: format!(
                        "finish it first: check the artifacts against Articles {articles} and record the result in \
                         `phases.{phase}.constitutional_validation`. The call says `{said}`, which hands the work on"
                    ),
                }
            }
        }
    }
}
