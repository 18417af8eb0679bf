//! Assesses the plan when the agent leaves plan mode, with `plan_gate.assess = "exit"`.
//!
//! The assessment reads the file, but the user approves the text in the event. So a verdict counts only if
//! both are the same afterwards. A plan that has failed fails again without a question: otherwise an agent
//! could repeat the question until it gets a pass.

use crate::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};

use super::assessment::{Assessment, QUESTIONS, TRIES};
use super::gate::{build_denial, find_denial};
use super::plan_files::Session;
use super::plan_record::VerdictPolicy;
use super::store;
use super::verdict::VerdictStatus;
use provost_core::config::{Config, settings};
use provost_core::opinion::{Denial, Fault, ReviewerWork};
use provost_core::reviewer;
use provost_core::workspace::Workspace;

/// Time for locks, files and ending reviewers, beside the time for questions.
const SLACK: Duration = Duration::from_secs(15);
const AGAIN: &str = "leave plan mode again";

pub fn is_on(config: &Config) -> bool {
    config.word(settings::PLAN_GATE_ASSESS) == "exit"
}

/// The time limit of all questions, with all their repetitions.
fn question_time(config: &Config) -> Duration {
    reviewer::configured_limit(config) * TRIES * QUESTIONS
}

/// The time limit of the gate, if it asks reviewers itself.
pub fn deadline(config: &Config) -> Option<Duration> {
    is_on(config).then(|| question_time(config) + SLACK)
}

/// What the journal records of an assessment.
#[derive(Default)]
pub struct AssessmentNotes {
    pub evidence: Vec<String>,
    pub work: Option<ReviewerWork>,
}

/// Assesses a plan. Returns why the agent still may not leave with it; `None` if it may. Notes each step and the verdict.
pub fn assess_plan(
    plan: &Path,
    text: &[u8],
    session: &Session,
    workspace: &Workspace,
    notes: &mut AssessmentNotes,
) -> Result<Option<Denial>, Fault> {
    let store = store::configured_store(workspace);
    let proposed = store.read_record(plan, text, workspace)?;
    let cover = format!("{}, then {AGAIN}", store.messages().cover);
    if proposed.has_failed(session.id()) {
        let denial = find_denial(
            &proposed,
            session.id(),
            &VerdictPolicy::from_settings(workspace)?,
            store,
            workspace,
        )?;
        return Ok(denial.map(|denial| Denial { fix: cover, ..denial }));
    }
    if !store::has_same_texts(plan, &proposed, workspace)? {
        let why = format!("{} is not the text that is to be approved", plan.display());
        let fix = format!("Write the plan there, then {AGAIN}");
        return Ok(Some(build_denial("The plan is not assessed", &why, &fix)));
    }
    let end = Some(Instant::now() + question_time(&workspace.config));
    let assessment = Assessment { plan, session, end, workspace };
    let outcome = assessment.run(&mut |step| notes.evidence.push(step.to_owned()))?;
    notes.work = outcome.record_verdict(plan);
    if let Err(stop) = outcome.result {
        let fix = stop.fix.map_or_else(|| format!("Complete the plan, then {AGAIN}"), str::to_owned);
        return Ok(Some(build_denial("The plan is not assessed", &stop.why, &fix)));
    }
    let Some(text_after) = store::read_plan(plan, workspace)? else {
        return Ok(Some(build_denial("The plan is gone", "", &format!("Write it, then {AGAIN}"))));
    };
    let after = store.read_record(plan, &text_after, workspace)?;
    // The policy is read again, because the key may be new.
    if let Some(denial) =
        find_denial(&after, session.id(), &VerdictPolicy::from_settings(workspace)?, store, workspace)?
    {
        let fix = if after.validation.is_some_and(|verdict| verdict.status == VerdictStatus::Fail) {
            cover
        } else {
            denial.fix
        };
        return Ok(Some(Denial { fix, ..denial }));
    }
    // The record is read again, because the plan's session, and with it the place of its gaps, may be new.
    let proposed = store.read_record(plan, text, workspace)?;
    let (what, why) = if after.plan_hash == proposed.plan_hash && outcome.added > 0 {
        ("Gaps were added to the plan", "phrases in it sound like gaps; the plan with them has passed")
    } else if after.hashes() == proposed.hashes() {
        return Ok(None);
    } else {
        ("The plan has changed meanwhile", "what is to be approved is not what was assessed")
    };
    Ok(Some(build_denial(what, why, &format!("Read {} again, then {AGAIN}", plan.display()))))
}
