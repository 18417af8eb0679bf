//! `iteration-corridor`: while tests fail, or the constitution is being checked, the work stays in its phase.
//! Calls that serve the work are allowed; calls that would hand it over or leave the phase are denied.

use super::phase_change::{DelegationText, find_phase_change};
use super::prelude::*;
use super::requirements::{EscalationStatus, RequirementRecord, list_articles};

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let find = |text: &DelegationText| text.find_advance().or_else(|| text.find_handover());
    let (phase, words) = find_phase_change(event, workspace, find)?;
    let denial = find_unfinished(&phase, &words)?;
    let heading = &denial.heading;
    phase.record_escalation(
        "corridor_blocked",
        "iteration-corridor",
        &format!("{heading}; the call says `{words}`"),
    );
    let evidence = vec![format!("the call says `{words}`"), heading.clone()];
    Some(denial.deny(event, evidence))
}

/// What the work is in the middle of: failing tests, or a check of the constitution.
fn find_unfinished(phase: &CurrentPhase, words: &str) -> Option<PhaseDenial> {
    let (demands, progress) = (phase.demands()?, phase.progress());
    let (name, quoted) = (&phase.name, quote_name(&phase.name));
    let tests = progress.tests.as_ref();
    if let (Some(demand), Some(tests)) = (&demands.tests, tests)
        && !tests.is_completed
        && tests.escalation == EscalationStatus::None
        && tests.last_test_failed
    {
        let iteration = format!("iteration {}/{}", tests.tries_used, tests.max_tries.unwrap_or(demand.tries));
        return Some(PhaseDenial {
            heading: format!("ITERATION CORRIDOR: Tests are failing ({iteration})"),
            why: format!("the tests of {quoted} fail ({iteration})"),
            fix: format!(
                "fix them and run them again; agents of this phase can do it. The call says `{words}`, which hands \
                 the work on"
            ),
        });
    }
    let articles = list_articles(&demands.constitution?.articles);
    let have_passed = tests.is_some_and(RequirementRecord::is_enough);
    let is_due = match &progress.constitution {
        _ if demands.tests.is_some() && !have_passed => false,
        Some(checks) => !checks.is_completed && checks.escalation == EscalationStatus::None,
        // After the tests, the constitution comes next.
        None => have_passed,
    };
    is_due.then(|| PhaseDenial {
        heading: format!("ITERATION CORRIDOR: Constitutional validation in progress for Articles {articles}"),
        why: format!("the constitution check of {quoted} is not finished"),
        fix: format!(
            "finish it first: check the artifacts against Articles {articles} and record the result in \
             `phases.{name}.constitutional_validation`. The call says `{words}`, which hands the work on"
        ),
    })
}
