//! Pack `plan-gate`: an agent leaves plan mode only with a plan whose serious weaknesses are listed as gaps.
//!
//! A plan is a Markdown file with [`marks`] at its end ([`document`]). A [`store`] keeps the record of its
//! assessment, and the [`keeper`] updates that record after every write. A critic reads the plan without
//! its gaps, and a validator compares the findings with the gaps ([`entries`]). [`brief`] gives both exactly
//! these texts. The [`witness`] reads their answers and seals a pass ([`crate::seal`]) for them. The [`gate`] lets
//! only a sealed text through. [`assessment`] runs the same steps without an agent, by command or when
//! plan mode is left ([`exit_assessment`]). [`plan_status`] reports all of it to the user.

pub mod assessment;
pub mod brief;
mod code_fences;
pub mod digest;
pub mod document;
pub mod entries;
pub mod evidence;
mod exit_assessment;
pub mod gate;
mod judge_notes;
pub mod keeper;
mod leakage;
mod marks;
pub mod plan_files;
pub mod plan_record;
pub mod plan_status;
pub mod prerequisites;
pub mod prompts;
pub mod store;
pub mod verdict;
mod verdict_search;
pub mod witness;

use provost_core::opinion::Fault;

/// The largest plan that is read.
const LARGEST_PLAN: u64 = 64 << 20;

/// Why a step has no result: a reason to report, or a fault of the guard itself.
pub enum Declined<R> {
    Reason(R),
    Fault(Fault),
}

impl<R> From<Fault> for Declined<R> {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Separates faults from reasons.
fn split_fault<T, R>(result: Result<T, Declined<R>>) -> Result<Result<T, R>, Fault> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Declined::Reason(reason)) => Ok(Err(reason)),
        Err(Declined::Fault(fault)) => Err(fault),
    }
}
