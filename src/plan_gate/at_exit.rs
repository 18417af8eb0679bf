//! With `plan_gate.assess = "exit"`, whoever leaves plan mode has the plan assessed by that.
//!
//! What is assessed is the file; what the person is asked to approve is the text of the event. So
//! afterwards the verdict counts only if both are still the same. A plan that has failed as it is
//! fails again without a question: asking until somebody says yes is no assessment.

use std::path::Path;
use std::time::{Duration, Instant};

use super::assessment::{Assessment, QUESTIONS, TRIES};
use super::dossier::Policy;
use super::gate::{block, standing};
use super::place::Session;
use super::store;
use super::verdict::Status;
use crate::config::{Config, settings};
use crate::decision::{Denial, Fault};
use crate::reviewer;
use crate::workspace::Workspace;

/// For locks, files and the end of reviewers. Questions get none of it.
const SLACK: Duration = Duration::from_secs(15);
const AGAIN: &str = "leave plan mode again";

pub fn is_on(config: &Config) -> bool {
    config.word(settings::PLAN_GATE_ASSESS) == "exit"
}

/// As long as every question may take, each as often as it may be asked.
fn questions(config: &Config) -> Duration {
    reviewer::limit(config) * TRIES * QUESTIONS
}

pub fn deadline(config: &Config) -> Option<Duration> {
    is_on(config).then(|| questions(config) + SLACK)
}

/// Has a plan assessed that may not leave as it stands, and says why it still may not; `None`: it may.
/// What was done is added to the evidence.
pub fn assessed(
    plan: &Path,
    text: &[u8],
    session: &Session,
    workspace: &Workspace,
    evidence: &mut Vec<String>,
) -> Result<Option<Denial>, Fault> {
    let store = store::of(workspace);
    let proposed = store.dossier(plan, text, workspace)?;
    let cover = format!("{}, then {AGAIN}", store.words().cover);
    if proposed.has_failed(session.id()) {
        let denial = standing(&proposed, session.id(), &Policy::of(workspace)?, store, workspace)?;
        return Ok(denial.map(|denial| Denial { fix: cover, ..denial }));
    }
    if !store::still_holds(plan, &proposed, workspace)? {
        let why = format!("{} is not the text that is to be approved", plan.display());
        return Ok(Some(block(
            "The plan is not assessed",
            &why,
            &format!("Write the plan there, then {AGAIN}"),
        )));
    }
    let end = Some(Instant::now() + questions(&workspace.config));
    let assessment = Assessment { plan, session, end, workspace };
    let outcome = assessment.run(&mut |step| evidence.push(step.to_owned()))?;
    if let Err(stop) = outcome.result {
        let fix = stop.fix.map_or_else(|| format!("Complete the plan, then {AGAIN}"), str::to_owned);
        return Ok(Some(block("The plan is not assessed", &stop.why, &fix)));
    }
    let Some(kept) = store::read(plan, workspace)? else {
        return Ok(Some(block("The plan is gone", "", &format!("Write it, then {AGAIN}"))));
    };
    let after = store.dossier(plan, &kept, workspace)?;
    // The key may have been made only now.
    if let Some(denial) = standing(&after, session.id(), &Policy::of(workspace)?, store, workspace)? {
        let fix = if after.validation.is_some_and(|verdict| verdict.status == Status::Fail) {
            cover
        } else {
            denial.fix
        };
        return Ok(Some(Denial { fix, ..denial }));
    }
    // Whose plan it is may have been settled only now, and with it where its gaps are kept.
    let proposed = store.dossier(plan, text, workspace)?;
    let (what, why) = if after.plan_hash == proposed.plan_hash && outcome.added > 0 {
        ("Gaps were added to the plan", "phrases in it sound like gaps; the plan with them has passed")
    } else if after.texts() == proposed.texts() {
        return Ok(None);
    } else {
        ("The plan has changed meanwhile", "what is to be approved is not what was assessed")
    };
    Ok(Some(block(what, why, &format!("Read {} again, then {AGAIN}", plan.display()))))
}
