//! Where the record of a plan is kept.
//!
//! Two stores, one behaviour: in comments at the end of the plan itself ([`embedded`]), or in files
//! beside it ([`sidecar`]). What is written to a plan is written under its lock, on top of exactly
//! what was read, and all at once.

mod embedded;
mod folder;
pub mod gate_file;
mod moving;
mod sidecar;

use std::path::{Path, PathBuf};

use super::LARGEST_PLAN;
use super::digest::Digest;
use super::document::{Overgrown, PlanDocument};
use super::dossier::{Damage, Dossier, Policy, Settled};
use super::place::{Session, Written};
use crate::config::settings;
use crate::decision::Fault;
use crate::files::Lock;
use crate::workspace::Workspace;

pub use embedded::Embedded;
pub use moving::{Moved, move_plan};
pub use sidecar::Sidecar;

pub trait Store {
    /// The name of the setting's value.
    fn name(&self) -> &'static str;

    /// How this store's document tells what is wrong.
    fn words(&self) -> &'static Words;

    /// The plan of a session.
    fn plan_of(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf>;

    /// Why no plan of a session is found, if its record is damaged.
    fn damage_without_plan(&self, _session: &Session, _workspace: &Workspace) -> Option<Damage> {
        None
    }

    /// What is known about a plan whose file holds this text.
    fn dossier<'t>(&self, plan: &Path, text: &'t [u8], workspace: &Workspace) -> Result<Dossier<'t>, Fault>;

    /// Brings the record up to date after a write by a session.
    fn keep(
        &self,
        written: &Written,
        session: &Session,
        policy: &Policy,
        workspace: &Workspace,
    ) -> Result<(), Fault>;

    /// Records a verdict on these texts; `false`: they are no longer the plan's.
    fn record(&self, plan: &Path, judged: &Judged<'_>, workspace: &Workspace) -> Result<bool, Fault>;

    /// Adds a text to the gaps of a plan; `false`: they are no longer those with this hash, or the plan
    /// has no place for them.
    fn add_gaps(&self, plan: &Path, known: Digest, text: &str, workspace: &Workspace) -> Result<bool, Fault>;

    /// Puts a record, and the gaps, under a plan that has none in this store. The inner error says
    /// why they have no place here; then nothing has been changed.
    fn put_in(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<Result<(), String>, Fault>;

    /// Takes away what another store has by now: the record, and the gaps that were kept here;
    /// `false`: they are no longer those that were moved.
    fn forget(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<bool, Fault>;
}

/// A verdict and what it is about.
pub struct Judged<'a> {
    pub session: &'a Session,
    pub plan: Digest,
    pub gaps: Digest,
    pub settled: Settled,
}

/// A document's wording of what blocks.
pub struct Words {
    pub nothing: &'static str,
    pub plan_changed: &'static str,
    pub gaps_changed: &'static str,
    pub no_gaps: &'static str,
    /// How the gaps of a session are written down.
    pub add_gaps: fn(session: &str) -> String,
    /// The same as one sentence of what a plan needs.
    pub floor_gaps: &'static str,
    pub cover: &'static str,
    /// What is said of a plan that is known and cannot be read; `None`: the guard has failed.
    pub unreadable: Option<&'static str>,
}

pub const RERUN: &str = "Re-run /rodin:plan-gate";
pub const ADD_GAPS_BLOCK: &str = "Add <!-- rodin:gaps:start --> and <!-- rodin:gaps:end --> on lines of their \
                                  own, with what is not known between them, and re-run /rodin:plan-gate";

/// The store that the settings name.
pub fn of(workspace: &Workspace) -> &'static dyn Store {
    named(&workspace.config.word(settings::PLAN_GATE_STORE))
}

pub fn named(name: &str) -> &'static dyn Store {
    match name {
        "sidecar" => &Sidecar,
        _ => &Embedded,
    }
}

/// The bytes of a plan.
pub fn read(plan: &Path, workspace: &Workspace) -> Result<Option<Vec<u8>>, Fault> {
    workspace.read_bytes(plan, LARGEST_PLAN)
}

/// Whether a plan's file holds these texts, marks aside.
pub fn still_holds(plan: &Path, known: &Dossier<'_>, workspace: &Workspace) -> Result<bool, Fault> {
    let Some(text) = read(plan, workspace)? else { return Ok(false) };
    Ok(of(workspace).dossier(plan, &text, workspace)?.texts() == known.texts())
}

/// Takes away what a killed process has left beside a plan and its record, where nothing else is to be done.
pub fn tidy(plan: &Path, session: &Session, workspace: &Workspace) {
    let plan = workspace.resolve(plan);
    workspace.tidy(&plan);
    if let Some(folder) = folder::Folder::beside(&plan, workspace) {
        folder.tidy(&plan, session);
    }
}

fn document(text: &[u8]) -> Result<PlanDocument<'_>, Fault> {
    PlanDocument::read(text).map_err(|Overgrown| {
        Fault::Error("the plan has more marks than anybody writes; take them out".into())
    })
}

/// Changes a file under its lock, on top of what it holds at that moment. `None`: it stays. By whatever
/// links it is named, it is one file with one lock.
fn change(
    file: &Path,
    workspace: &Workspace,
    to: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Fault>,
) -> Result<(), Fault> {
    let file = workspace.resolve(file);
    change_under(&workspace.lock(&file)?, &file, workspace, to)
}

/// The same under a lock that covers more than this file.
fn change_under(
    _lock: &Lock,
    file: &Path,
    workspace: &Workspace,
    mut to: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Fault>,
) -> Result<(), Fault> {
    const TRIES: usize = 8;
    for _ in 0..TRIES {
        let before = workspace.read_bytes(file, LARGEST_PLAN)?;
        match to(before.as_deref())? {
            Some(after) if before.as_deref() != Some(after.as_slice()) => {
                if workspace.replace_unless_changed(file, before.as_deref(), &after)? {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        }
    }
    Err(Fault::Error(format!("{}: somebody else keeps writing to it", file.display())))
}

#[cfg(test)]
mod tests;
