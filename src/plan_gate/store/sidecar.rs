//! The record in files beside the plans: `rodin-plan-gate/` with `<slug>.session`,
//! `<session>.gaps.md` and `<session>.gate.yml`.
//!
//! The hashes in `gate.yml` are those of whole files, as anybody's `shasum` gives them. A seal is over
//! the same digests as in the other store, so it goes along when a plan is moved. The gaps are what
//! stands in `gaps.md` and then in a gaps block of the plan, because in plan mode an agent can write
//! its plan unasked, but no other file.

use std::path::{Path, PathBuf};

use super::folder::{Folder, no_plan_file, set_verdict};
use super::gate_file::{GateFile, Key};
use super::{Judged, Moved, Store, Words, change};
use crate::decision::Fault;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::document::{GapsBlock, Signal};
use crate::plan_gate::dossier::{Damage, Dossier, Policy};
use crate::plan_gate::place::{self, SIDECAR, Session, Written};
use crate::workspace::Workspace;

pub struct Sidecar;

const WORDS: Words = Words {
    nothing: "No assessment found",
    plan_changed: "Plan hash mismatch",
    gaps_changed: "Gaps hash mismatch",
    no_gaps: "Plan must have gaps",
    add_gaps: |session| {
        format!(
            "Write gaps.md ({SIDECAR}/{session}{} beside the plan), or a gaps block in the plan between \
             <!-- rodin:gaps:start --> and <!-- rodin:gaps:end -->, with what is not known, and re-run \
             /rodin:plan-gate",
            place::GAPS
        )
    },
    floor_gaps: "Plan must have gaps. Write gaps.md and re-run",
    cover: "Update gaps.md to cover findings",
    unreadable: Some("Cannot read plan file"),
};

impl Store for Sidecar {
    fn name(&self) -> &'static str {
        "sidecar"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn plan_of(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf> {
        let plans = workspace.resolve(&workspace.plans_directory()?);
        let folder = Folder::in_directory(&plans, workspace);
        let gate = folder.gate(session).ok()??;
        let plan = workspace.resolve(Path::new(&gate.get(Key::PlanFile)?));
        (plan.parent() == Some(&*plans) && place::is_markdown(&plan)).then_some(plan)
    }

    fn damage_without_plan(&self, session: &Session, workspace: &Workspace) -> Option<Damage> {
        let plans = workspace.resolve(&workspace.plans_directory()?);
        let gate = Folder::in_directory(&plans, workspace).gate(session).ok()??;
        gate.get(Key::PlanFile).is_none().then(no_plan_file)
    }

    fn dossier<'t>(&self, plan: &Path, text: &'t [u8], workspace: &Workspace) -> Result<Dossier<'t>, Fault> {
        let plan = workspace.resolve(plan);
        let document = super::document(text)?;
        let Some(folder) = Folder::beside(&plan, workspace) else { return Ok(Dossier::unrecorded(document)) };
        match folder.owner(&plan) {
            Some(session) => folder.dossier(&plan, text, document, &session),
            None => Ok(Dossier::unrecorded(document)),
        }
    }

    fn keep(
        &self,
        written: &Written,
        session: &Session,
        policy: &Policy,
        workspace: &Workspace,
    ) -> Result<(), Fault> {
        match written {
            Written::Plan(plan) => keep_plan(&workspace.resolve(plan), session, policy, workspace),
            // Whoever wrote them: they are the gaps of the session in their name.
            Written::Gaps(file, owner) => keep_gaps(file, owner, policy, workspace),
        }
    }

    fn record(&self, plan: &Path, judged: &Judged<'_>, workspace: &Workspace) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = Folder::beside(&plan, workspace) else { return Ok(false) };
        let lock = folder.lock()?;
        let Some(text) = super::read(&plan, workspace)? else { return Ok(false) };
        let dossier = folder.dossier(&plan, &text, super::document(&text)?, judged.session)?;
        if dossier.texts() != (judged.plan, judged.gaps) {
            return Ok(false);
        }
        if !dossier.already_says(judged) {
            folder.write(&lock, &plan, &text, judged.session, &judged.settled)?;
        }
        Ok(true)
    }

    fn add_gaps(
        &self,
        plan: &Path,
        known: Digest,
        added: &str,
        workspace: &Workspace,
    ) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let is_known = |text: &[u8]| -> Result<bool, Fault> {
            Ok(self.dossier(&plan, text, workspace)?.gaps_hash == known)
        };
        if let Some(folder) = Folder::beside(&plan, workspace)
            && let Some(session) = folder.owner(&plan)
            && folder.gaps(&session)?.is_some()
        {
            let lock = folder.lock()?;
            let Some(text) = super::read(&plan, workspace)? else { return Ok(false) };
            let mut is_added = is_known(&text)?;
            folder.change(&lock, &folder.gaps_file(&session), |text| {
                is_added &= text.is_some();
                let text = text.filter(|_| is_added)?;
                let newline: &[u8] = if text.is_empty() || text.ends_with(b"\n") { b"" } else { b"\n" };
                Some([text, newline, added.as_bytes()].concat())
            })?;
            return Ok(is_added);
        }
        let mut is_added = false;
        change(&plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let document = super::document(text)?;
            let after = if is_known(text)? { document.with_gaps(added) } else { None };
            is_added = after.is_some();
            Ok(after)
        })?;
        Ok(is_added)
    }

    fn put_in(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<Result<(), String>, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = Folder::beside(&plan, workspace) else {
            return Ok(Err("it lies in no directory".into()));
        };
        let Some(text) = super::read(&plan, workspace)? else {
            return Ok(Err("there is no such plan".into()));
        };
        // What will be left of the plan when its marks and its block are taken out.
        let text = super::document(&text)?.content().to_vec();
        let left = super::document(&text)?;
        if left.content().hash() != moved.plan_hash || *left.gaps() != GapsBlock::Missing {
            return Ok(Err("its text would not be the same without its marks".into()));
        }
        let lock = folder.lock()?;
        if folder.gate(&moved.session)?.is_some_and(|gate| !folder.names(&gate, &plan)) {
            return Ok(Err("the session has another plan in the store `sidecar`".into()));
        }
        let known = folder.gaps(&moved.session)?;
        if known.is_some() && known.as_deref() != moved.gaps.as_deref().map(str::as_bytes) {
            let file = folder.gaps_file(&moved.session);
            return Ok(Err(format!("there are other gaps already in {}", file.display())));
        }
        if let Some(gaps) = &moved.gaps {
            folder.change(&lock, &folder.gaps_file(&moved.session), |_| Some(gaps.clone().into_bytes()))?;
        }
        folder.write(&lock, &plan, &text, &moved.session, &moved.settled)?;
        Ok(Ok(()))
    }

    fn forget(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = Folder::beside(&plan, workspace) else { return Ok(true) };
        let lock = folder.lock()?;
        let gaps = folder.gaps(&moved.session)?.unwrap_or_default();
        if !moved.gaps.as_deref().unwrap_or_default().as_bytes().starts_with(&gaps) {
            return Ok(false);
        }
        folder.remove(&lock, &plan, &moved.session)?;
        Ok(true)
    }
}

fn keep_plan(plan: &Path, session: &Session, policy: &Policy, workspace: &Workspace) -> Result<(), Fault> {
    let Some(folder) = Folder::beside(plan, workspace) else { return Ok(()) };
    let lock = folder.lock()?;
    // Read under the lock: whoever comes last has seen the last text.
    let Some(text) = super::read(plan, workspace)? else { return Ok(()) };
    let signal = super::document(&text)?.signal();
    let text = if signal == Signal::None { text } else { without_signals(plan, workspace)?.unwrap_or(text) };
    let mut dossier = folder.dossier(plan, &text, super::document(&text)?, session)?;
    if let Some(before) = folder.owner(plan).filter(|before| before != session) {
        // Another session goes on with the plan: a verdict on these very texts goes on, too.
        dossier.seals.extend(folder.gate(&before)?.and_then(|gate| gate.get(Key::Seal)));
    }
    let changed = match dossier.session {
        Some(_) => "Plan edited, re-run assessment",
        None => "Assessment not yet run",
    };
    // With `witness = "off"`, agents write the verdict into `gate.yml` themselves, as this store's document says.
    let signal = if policy.witnessed { signal } else { Signal::None };
    let settled = dossier.settle(session.id(), signal, changed, policy, &workspace.now());
    folder.write(&lock, plan, &text, session, &settled)
}

/// Takes the signals out of a plan: the verdict stands in `gate.yml`, and the user is shown the plan as it is.
fn without_signals(plan: &Path, workspace: &Workspace) -> Result<Option<Vec<u8>>, Fault> {
    let mut left = None;
    change(plan, workspace, |text| {
        left = text.map(|text| super::document(text).map(|plan| plan.without_signals())).transpose()?;
        Ok(left.clone())
    })?;
    Ok(left)
}

fn keep_gaps(file: &Path, owner: &Session, policy: &Policy, workspace: &Workspace) -> Result<(), Fault> {
    let Some(plans) = file.parent().and_then(Path::parent) else { return Ok(()) };
    let folder = Folder::in_directory(plans, workspace);
    let lock = folder.lock()?;
    // Gaps that are written before the plan are looked at when the plan is.
    let Some(plan) = folder.gate(owner)?.and_then(|gate| gate.get(Key::PlanFile)) else { return Ok(()) };
    let plan = workspace.resolve(Path::new(&plan));
    if plan.parent() != Some(plans) {
        return Ok(());
    }
    let text = super::read(&plan, workspace)?.unwrap_or_default();
    let dossier = folder.dossier(&plan, &text, super::document(&text)?, owner)?;
    let changed = "Gaps edited, re-run assessment";
    let settled = dossier.settle(owner.id(), Signal::None, changed, policy, &workspace.now());
    let gaps = folder.gaps(owner)?;
    folder.change(&lock, &folder.gate_file(owner), |bytes| {
        let mut gate = GateFile::read(bytes?);
        folder.set_gaps(&mut gate, owner, gaps.as_deref());
        set_verdict(&mut gate, &settled);
        Some(gate.to_bytes())
    })
}
