//! Where the record of a plan is kept.
//!
//! Two stores, one behaviour: in comments at the end of the plan itself ([`embedded`]), or in files
//! beside it ([`sidecar`]). What is written to a plan is written under its lock, on top of exactly
//! what was read, and all at once.

mod embedded;

use std::path::{Path, PathBuf};

use super::LARGEST_PLAN;
use super::digest::Digest;
use super::dossier::{Dossier, Policy, Settled};
use super::place::{Session, Written};
use crate::config::settings;
use crate::decision::Fault;
use crate::workspace::Workspace;

pub use embedded::Embedded;

pub trait Store {
    /// The name of the setting's value.
    fn name(&self) -> &'static str;

    /// How this store's document tells what is wrong.
    fn words(&self) -> &'static Words;

    /// The plan of a session.
    fn plan_of(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf>;

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

    /// Adds a text to the gaps of a plan; `false`: it has no place for them.
    fn add_gaps(&self, plan: &Path, text: &str, workspace: &Workspace) -> Result<bool, Fault>;

    /// Takes the record of a plan away and gives the plan's own text with its gaps block. The gaps
    /// that were kept elsewhere come back with it.
    fn take_out(&self, plan: &Path, workspace: &Workspace) -> Result<(), Fault>;

    /// Puts a record under a plan that has none in this store.
    fn put_in(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<(), Fault>;
}

/// A verdict and what it is about.
pub struct Judged<'a> {
    pub session: &'a Session,
    pub plan: Digest,
    pub gaps: Digest,
    pub settled: Settled,
}

/// What goes along when a plan changes its store.
pub struct Moved {
    pub session: Session,
    pub gaps: Option<String>,
    pub settled: Settled,
}

/// A document's wording of what blocks.
pub struct Words {
    pub nothing: &'static str,
    pub plan_changed: &'static str,
    pub gaps_changed: &'static str,
    pub no_gaps: &'static str,
    pub cover: &'static str,
}

/// The store that the settings name.
pub fn of(workspace: &Workspace) -> &'static dyn Store {
    named(&workspace.config.word(settings::PLAN_GATE_STORE))
}

pub fn named(name: &str) -> &'static dyn Store {
    let _ = name;
    &Embedded
}

/// The bytes of a plan.
pub fn read(plan: &Path, workspace: &Workspace) -> Result<Option<Vec<u8>>, Fault> {
    Ok(workspace.read_with_stamp(plan, LARGEST_PLAN)?.0)
}

/// Changes a file under its lock, on top of what it holds at that moment. `None`: it stays.
fn change(
    file: &Path,
    workspace: &Workspace,
    mut to: impl FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Fault>,
) -> Result<(), Fault> {
    const TRIES: usize = 8;
    let _lock = workspace.lock(file)?;
    for _ in 0..TRIES {
        let (before, stamp) = workspace.read_with_stamp(file, LARGEST_PLAN)?;
        match to(before.as_deref())? {
            Some(after) if before.as_deref() != Some(after.as_slice()) => {
                if workspace.replace_unless_changed(file, &stamp, &after)? {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        }
    }
    Err(Fault::Error(format!("{}: somebody else keeps writing to it", file.display())))
}
