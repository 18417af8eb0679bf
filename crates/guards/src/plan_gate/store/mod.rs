//! The stores that keep the record of a plan.
//!
//! Two stores behave the same: [`embedded`] keeps the record in comments at the end of the plan, and
//! [`sidecar`] keeps it in files beside the plan. Every write to a plan happens under its lock, replaces the
//! file at once, and applies only if the file still holds what was read.

mod embedded;
pub mod gate_file;
mod move_plan;
mod sidecar;
mod sidecar_folder;

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::document::PlanDocument;
use super::marks::Overgrown;
use super::plan_files::{Session, WrittenFile};
use super::plan_record::{Damage, PlanRecord, SettledVerdict};
use super::{Declined, LARGEST_PLAN};
use provost_core::config::settings;
use provost_core::opinion::Fault;
use provost_core::workspace::{Lock, Workspace};

pub use embedded::Embedded;
pub use move_plan::{MovedRecord, move_plan};
pub use sidecar::Sidecar;

pub trait Store {
    fn messages(&self) -> &'static StoreMessages;

    fn name(&self) -> &'static str {
        self.messages().store
    }

    fn find_plan(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf>;

    /// The damage of a record because of which no plan of a session is found.
    fn damage_without_plan(&self, _session: &Session, _workspace: &Workspace) -> Option<Damage> {
        None
    }

    /// The record of a plan whose file holds this text.
    fn read_record<'t>(
        &self,
        plan: &Path,
        text: &'t [u8],
        workspace: &Workspace,
    ) -> Result<PlanRecord<'t>, Fault>;

    /// Updates the record after a write by a session.
    fn update(&self, written: &WrittenFile, session: &Session, workspace: &Workspace) -> Result<(), Fault>;

    /// Records a verdict; `false` if the plan no longer has the judged texts.
    fn record_verdict(
        &self,
        plan: &Path,
        judged: &JudgedPlan<'_>,
        workspace: &Workspace,
    ) -> Result<bool, Fault>;

    /// Adds gaps to a plan; `false` if its gaps no longer have the known hash, or it has no place for more.
    fn add_gaps(&self, plan: &Path, known: Digest, gaps: &str, workspace: &Workspace) -> Result<bool, Fault>;

    /// Adds a record with its gaps to a plan that has none in this store. Changes nothing if it declines.
    fn import(&self, plan: &Path, moved: &MovedRecord, workspace: &Workspace)
    -> Result<(), Declined<String>>;

    /// Removes a record with its gaps, after another store has imported them; `false` if they have changed
    /// since.
    fn remove_moved(&self, plan: &Path, moved: &MovedRecord, workspace: &Workspace) -> Result<bool, Fault>;
}

/// Nothing, or why a record cannot be imported.
type ImportResult = Result<(), Declined<String>>;

/// A verdict, and the hashes of the plan and the gaps that it is about.
pub struct JudgedPlan<'a> {
    pub session: &'a Session,
    pub hashes: (Digest, Digest),
    pub settled: SettledVerdict,
}

/// The messages of a store's design document.
pub struct StoreMessages {
    /// The value of the setting `plan_gate.store`.
    pub store: &'static str,
    pub unassessed: &'static str,
    pub plan_changed: &'static str,
    pub gaps_changed: &'static str,
    pub no_gaps: &'static str,
    /// How to write down the gaps of a session.
    pub add_gaps: fn(session: &str) -> String,
    /// The sentence about missing gaps in the list of prerequisites.
    pub floor_gaps: &'static str,
    pub cover: &'static str,
    /// The message about a plan that cannot be read. Without one, it is a fault of the guard.
    pub unreadable: Option<&'static str>,
}

pub const RERUN: &str = "Re-run /rodin:plan-gate";
pub const ADD_GAPS_BLOCK: &str = "Add <!-- rodin:gaps:start --> and <!-- rodin:gaps:end --> on lines of their \
                                  own, with what is not known between them, and re-run /rodin:plan-gate";

pub fn configured_store(workspace: &Workspace) -> &'static dyn Store {
    find_store(&workspace.config.word(settings::PLAN_GATE_STORE))
}

pub fn find_store(name: &str) -> &'static dyn Store {
    match name {
        "sidecar" => &Sidecar,
        _ => &Embedded,
    }
}

pub fn read_plan(plan: &Path, workspace: &Workspace) -> Result<Option<Vec<u8>>, Fault> {
    workspace.read_bytes(plan, LARGEST_PLAN)
}

/// Adds gaps to the gaps block of a plan, if its gaps still have the known hash.
fn add_to_gaps_block(
    store: &dyn Store,
    plan: &Path,
    known: Digest,
    gaps: &str,
    workspace: &Workspace,
) -> Result<bool, Fault> {
    change(plan, workspace, |text| {
        let Some(text) = text else { return Ok((None, false)) };
        let record = store.read_record(plan, text, workspace)?;
        let after = record.document.with_gaps(gaps).filter(|_| record.gaps_hash == known);
        let is_added = after.is_some();
        Ok((after, is_added))
    })
}

/// Whether the file of a plan still has the texts of this record.
pub fn has_same_texts(plan: &Path, known: &PlanRecord<'_>, workspace: &Workspace) -> Result<bool, Fault> {
    let Some(text) = read_plan(plan, workspace)? else { return Ok(false) };
    Ok(configured_store(workspace).read_record(plan, &text, workspace)?.hashes() == known.hashes())
}

/// Removes what a killed process has left beside a plan and its record.
pub fn remove_leftovers(plan: &Path, session: &Session, workspace: &Workspace) {
    let plan = workspace.resolve(plan);
    workspace.remove_leftovers(&plan);
    if let Some(folder) = sidecar_folder::SidecarFolder::beside(&plan, workspace) {
        folder.remove_leftovers(&plan, session);
    }
}

fn parse_plan(text: &[u8]) -> Result<PlanDocument<'_>, Fault> {
    PlanDocument::parse(text).map_err(|Overgrown| {
        Fault::Error("the plan has more marks than anybody writes; take them out".into())
    })
}

/// What to do with a file, and the result of the change.
type FileEdit<T> = Result<(Option<Vec<u8>>, T), Fault>;

/// Changes a file under its lock. `edit` gets the current bytes and returns the new ones; `None` leaves the file.
fn change<T>(
    file: &Path,
    workspace: &Workspace,
    edit: impl FnMut(Option<&[u8]>) -> FileEdit<T>,
) -> Result<T, Fault> {
    // Resolved, so that all names of a file share one lock.
    let file = workspace.resolve(file);
    change_locked(&workspace.lock(&file)?, &file, workspace, edit)
}

/// Like [`change`], under a lock that covers more than this file.
fn change_locked<T>(
    _lock: &Lock,
    file: &Path,
    workspace: &Workspace,
    mut edit: impl FnMut(Option<&[u8]>) -> FileEdit<T>,
) -> Result<T, Fault> {
    const TRIES: usize = 8;
    for _ in 0..TRIES {
        let before = workspace.read_bytes(file, LARGEST_PLAN)?;
        let (after, result) = edit(before.as_deref())?;
        match after.filter(|after| before.as_ref() != Some(after)) {
            Some(after) if !workspace.replace_unless_changed(file, before.as_deref(), &after)? => {}
            _ => return Ok(result),
        }
    }
    Err(Fault::Error(format!("{}: somebody else keeps writing to it", file.display())))
}

#[cfg(test)]
mod tests;
