//! Moves the record of a plan from one store to the other.
//!
//! The plan, the gaps and the verdict stay the same, so the seal fits in the new store. The new record is
//! whole before the old one is removed. A process that is killed in between leaves at least one record, and
//! a second move finishes the work.

use crate::prelude::*;
use std::path::Path;

use super::Store;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::plan_files::Session;
use crate::plan_gate::plan_record::{Gaps, PlanRecord, SettledVerdict};
use crate::plan_gate::verdict::{PlanVerdict, VerdictStatus};
use crate::plan_gate::{Declined, split_fault};
use provost_core::opinion::Fault;
use provost_core::workspace::Workspace;

/// The record that is moved.
#[derive(Debug)]
pub struct MovedRecord {
    pub session: Session,
    /// All gaps, from the gaps file and from the gaps block.
    pub gaps: Option<String>,
    pub settled: SettledVerdict,
    /// The hashes of the plan and of the gaps.
    pub hashes: (Digest, Digest),
}

impl MovedRecord {
    /// Whether a record is about the same plan and gaps.
    pub fn is_same_plan(&self, record: &PlanRecord<'_>) -> bool {
        self.hashes == record.hashes() && matches!(record.gaps, Gaps::Present(_)) == self.gaps.is_some()
    }
}

/// Moves the record of a plan, with its gaps, to another store. The inner error says why it stays.
pub fn move_plan(
    plan: &Path,
    from: &dyn Store,
    to: &dyn Store,
    workspace: &Workspace,
) -> Result<Result<MovedRecord, String>, Fault> {
    split_fault(try_move(&workspace.resolve(plan), from, to, workspace))
}

fn try_move(
    plan: &Path,
    from: &dyn Store,
    to: &dyn Store,
    workspace: &Workspace,
) -> Result<MovedRecord, Declined<String>> {
    let stay = |why: String| Err(Declined::Reason(why));
    let already_there = || stay(format!("it is in the store `{}` already", to.name()));
    if from.name() == to.name() {
        return already_there();
    }
    let Some(text) = super::read_plan(plan, workspace)? else { return stay("there is no such plan".into()) };
    let (here, there) = (from.read_record(plan, &text, workspace)?, to.read_record(plan, &text, workspace)?);
    // An earlier move was killed between its two steps. Only the second step is left.
    let is_there = there.is_current() && !here.is_current();
    let (record, keeper) = if is_there { (&there, to) } else { (&here, from) };
    let moved = pack_record(record, keeper, workspace).map_err(Declined::Reason)?;
    super::remove_leftovers(plan, &moved.session, workspace);
    if !is_there {
        to.import(plan, &moved, workspace)?;
    }
    if !from.remove_moved(plan, &moved, workspace)? {
        let nothing_left = is_there && here.session.is_none();
        return if nothing_left {
            already_there()
        } else {
            stay("the plan or its gaps have changed meanwhile, move it again".into())
        };
    }
    Ok(moved)
}

/// Collects what is moved. The error says why the record cannot be moved.
pub(super) fn pack_record(
    record: &PlanRecord<'_>,
    store: &dyn Store,
    workspace: &Workspace,
) -> Result<MovedRecord, String> {
    let session = record.session.as_deref().and_then(Session::new);
    let session = session.ok_or_else(|| store.messages().unassessed.to_owned())?;
    if let Some(damage) = &record.damage {
        return Err(damage.what.clone());
    }
    let gaps = match &record.gaps {
        Gaps::Missing => None,
        Gaps::Present(text) => Some(text.clone()),
        Gaps::Broken(how) => return Err(format!("the gaps block is broken: {how}")),
    };
    if gaps.as_deref().is_some_and(|gaps| Digest::hash_text(&[gaps.as_bytes()]) != record.gaps_hash) {
        return Err("the gaps are not UTF-8".into());
    }
    // A verdict on other texts becomes pending.
    let validation = match &record.validation {
        Some(validation) if record.is_current() => validation.clone(),
        Some(_) => {
            PlanVerdict::new(VerdictStatus::Pending, store.messages().plan_changed, workspace.format_now())
        }
        None => PlanVerdict::new(VerdictStatus::Pending, "Assessment not yet run", workspace.format_now()),
    };
    let settled = SettledVerdict { validation, seal: record.seals.first().cloned() };
    Ok(MovedRecord { session, gaps, settled, hashes: record.hashes() })
}
