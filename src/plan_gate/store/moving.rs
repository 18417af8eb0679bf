//! A plan changes its store, and nothing is lost on the way.
//!
//! What goes along is the verdict and the very texts that it is about: the seal fits on the other
//! side because they are the same there. The new record is whole before the old one goes, so whoever
//! is killed in between leaves at least one; moving again finishes the work.

use std::path::Path;

use super::Store;
use crate::decision::Fault;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::dossier::{Dossier, Gaps, Settled};
use crate::plan_gate::place::Session;
use crate::plan_gate::verdict::{Status, Verdict};
use crate::workspace::Workspace;

/// What goes along when a plan changes its store.
#[derive(Debug)]
pub struct Moved {
    pub session: Session,
    /// All of the gaps, wherever they were kept.
    pub gaps: Option<String>,
    pub settled: Settled,
    pub plan_hash: Digest,
    pub gaps_hash: Digest,
}

impl Moved {
    /// Whether these are the texts that the verdict is about.
    pub fn is_of(&self, dossier: &Dossier<'_>) -> bool {
        (self.plan_hash, self.gaps_hash) == dossier.texts()
            && matches!(dossier.gaps, Gaps::Present(_)) == self.gaps.is_some()
    }
}

/// Moves the record of a plan, with its gaps, to another store. The inner error says why it stays.
pub fn move_plan(
    plan: &Path,
    from: &dyn Store,
    to: &dyn Store,
    workspace: &Workspace,
) -> Result<Result<Moved, String>, Fault> {
    let plan = workspace.resolve(plan);
    if from.name() == to.name() {
        return Ok(Err(format!("it is in the store `{}` already", to.name())));
    }
    let Some(text) = super::read(&plan, workspace)? else { return Ok(Err("there is no such plan".into())) };
    let (here, there) = (from.dossier(&plan, &text, workspace)?, to.dossier(&plan, &text, workspace)?);
    // Somebody was ended between the two steps: what is left to do is the second one.
    let is_there = there.is_current() && !here.is_current();
    let (dossier, keeper) = if is_there { (&there, to) } else { (&here, from) };
    let moved = match packed(dossier, keeper, workspace) {
        Ok(moved) => moved,
        Err(why) => return Ok(Err(why)),
    };
    super::tidy(&plan, &moved.session, workspace);
    if !is_there && let Err(why) = to.put_in(&plan, &moved, workspace)? {
        return Ok(Err(why));
    }
    if !from.forget(&plan, &moved, workspace)? {
        let nothing_left = is_there && here.session.is_none();
        return Ok(Err(if nothing_left {
            format!("it is in the store `{}` already", to.name())
        } else {
            "the plan or its gaps have changed meanwhile, move it again".into()
        }));
    }
    Ok(Ok(moved))
}

pub(super) fn packed(
    dossier: &Dossier<'_>,
    store: &dyn Store,
    workspace: &Workspace,
) -> Result<Moved, String> {
    let session = dossier.session.as_deref().and_then(Session::new);
    let session = session.ok_or_else(|| store.words().nothing.to_owned())?;
    if let Some(damage) = &dossier.damage {
        return Err(damage.what.clone());
    }
    let gaps = match &dossier.gaps {
        Gaps::Missing => None,
        Gaps::Present(text) => Some(text.clone()),
        Gaps::Broken(how) => return Err(format!("the gaps block is broken: {how}")),
    };
    if gaps.as_deref().is_some_and(|gaps| Digest::of(&[gaps.as_bytes()]) != dossier.gaps_hash) {
        return Err("the gaps are not UTF-8".into());
    }
    // A verdict on other texts must not look like one on these.
    let validation = match &dossier.validation {
        Some(validation) if dossier.is_current() => validation.clone(),
        Some(_) => Verdict::new(Status::Pending, store.words().plan_changed, workspace.now()),
        None => Verdict::new(Status::Pending, "Assessment not yet run", workspace.now()),
    };
    let settled = Settled { validation, seal: dossier.seals.first().cloned() };
    Ok(Moved { session, gaps, settled, plan_hash: dossier.plan_hash, gaps_hash: dossier.gaps_hash })
}
