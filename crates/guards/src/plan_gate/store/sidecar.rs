//! Keeps the record in files beside the plans: `rodin-plan-gate/` with `<slug>.session`,
//! `<session>.gaps.md` and `<session>.gate.yml`.
//!
//! The hashes in `gate.yml` are those of whole files, as `shasum` prints them. A seal is over the same
//! digests as in the embedded store, so it stays valid when a plan is moved. The gaps are those of `gaps.md`
//! and then those of a gaps block in the plan, because in plan mode an agent may write only its plan without
//! a permission prompt.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::gate_file::{GateFile, GateKey};
use super::sidecar_folder::{SidecarFolder, describe_missing_plan_file, set_verdict};
use super::{
    ImportResult, JudgedPlan, MovedRecord, Store, StoreMessages, add_to_gaps_block, change, parse_plan,
};
use crate::plan_gate::Declined;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::document::{GapsBlock, Signal, missing_newline};
use crate::plan_gate::plan_files::{self, SIDECAR, Session, WrittenFile};
use crate::plan_gate::plan_record::{Damage, PlanRecord, VerdictPolicy};
use provost_core::opinion::Fault;
use provost_core::workspace::Workspace;

pub struct Sidecar;

const WORDS: StoreMessages = StoreMessages {
    store: "sidecar",
    unassessed: "No assessment found",
    plan_changed: "Plan hash mismatch",
    gaps_changed: "Gaps hash mismatch",
    no_gaps: "Plan must have gaps",
    add_gaps: |session| {
        format!(
            "Write gaps.md ({SIDECAR}/{session}{} beside the plan), or a gaps block in the plan between \
             <!-- rodin:gaps:start --> and <!-- rodin:gaps:end -->, with what is not known, and re-run \
             /rodin:plan-gate",
            plan_files::GAPS_SUFFIX
        )
    },
    floor_gaps: "Plan must have gaps. Write gaps.md and re-run",
    cover: "Update gaps.md to cover findings",
    unreadable: Some("Cannot read plan file"),
};

impl Store for Sidecar {
    fn messages(&self) -> &'static StoreMessages {
        &WORDS
    }

    fn find_plan(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf> {
        let plans = workspace.resolve(&workspace.plans_directory()?);
        let gate = SidecarFolder::in_directory(&plans, workspace).read_gate(session).ok()??;
        let plan = workspace.resolve(Path::new(&gate.get(GateKey::PlanFile)?));
        (plan.parent() == Some(&*plans) && plan_files::is_markdown(&plan)).then_some(plan)
    }

    fn damage_without_plan(&self, session: &Session, workspace: &Workspace) -> Option<Damage> {
        let plans = workspace.resolve(&workspace.plans_directory()?);
        let gate = SidecarFolder::in_directory(&plans, workspace).read_gate(session).ok()??;
        gate.get(GateKey::PlanFile).is_none().then(describe_missing_plan_file)
    }

    fn read_record<'t>(
        &self,
        plan: &Path,
        text: &'t [u8],
        workspace: &Workspace,
    ) -> Result<PlanRecord<'t>, Fault> {
        let plan = workspace.resolve(plan);
        if let Some(folder) = SidecarFolder::beside(&plan, workspace)
            && let Some(session) = folder.find_owner(&plan)
        {
            return folder.read_record(&plan, text, &session);
        }
        Ok(PlanRecord::without_record(parse_plan(text)?))
    }

    fn update(&self, written: &WrittenFile, session: &Session, workspace: &Workspace) -> Result<(), Fault> {
        match written {
            WrittenFile::Plan(plan) => update_plan(&workspace.resolve(plan), session, workspace),
            // The gaps belong to the session in the file's name, even if another session wrote them.
            WrittenFile::Gaps(file, owner) => update_gaps(file, owner, workspace),
        }
    }

    fn record_verdict(
        &self,
        plan: &Path,
        judged: &JudgedPlan<'_>,
        workspace: &Workspace,
    ) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = SidecarFolder::beside(&plan, workspace) else { return Ok(false) };
        let lock = folder.lock()?;
        let Some(text) = super::read_plan(&plan, workspace)? else { return Ok(false) };
        let record = folder.read_record(&plan, &text, judged.session)?;
        if record.hashes() != judged.hashes {
            return Ok(false);
        }
        if !record.has_verdict(judged) {
            folder.write_record(&lock, &plan, &text, judged.session, &judged.settled)?;
        }
        Ok(true)
    }

    fn add_gaps(&self, plan: &Path, known: Digest, gaps: &str, workspace: &Workspace) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        if let Some(folder) = SidecarFolder::beside(&plan, workspace)
            && let Some(session) = folder.find_owner(&plan)
            && folder.read_gaps(&session)?.is_some()
        {
            let lock = folder.lock()?;
            let Some(text) = super::read_plan(&plan, workspace)? else { return Ok(false) };
            let is_known = self.read_record(&plan, &text, workspace)?.gaps_hash == known;
            return folder.change(&lock, &folder.gaps_file(&session), |known| {
                let known = known.filter(|_| is_known);
                let after = known.map(|known| [known, missing_newline(known), gaps.as_bytes()].concat());
                (after, known.is_some())
            });
        }
        add_to_gaps_block(self, &plan, known, gaps, workspace)
    }

    fn import(&self, plan: &Path, moved: &MovedRecord, workspace: &Workspace) -> ImportResult {
        let decline = |why: &str| Err(Declined::Reason(why.to_owned()));
        let plan = workspace.resolve(plan);
        let Some(folder) = SidecarFolder::beside(&plan, workspace) else {
            return decline("it lies in no directory");
        };
        let Some(text) = super::read_plan(&plan, workspace)? else { return decline("there is no such plan") };
        // The plan as it will be without its marks and its gaps block.
        let text = parse_plan(&text)?.content().to_vec();
        let left = parse_plan(&text)?;
        if left.content().hash() != moved.hashes.0 || *left.gaps_block() != GapsBlock::Missing {
            return decline("its text would not be the same without its marks");
        }
        let lock = folder.lock()?;
        if folder.read_gate(&moved.session)?.is_some_and(|gate| !folder.is_record_for(&gate, &plan)) {
            return decline("the session has another plan in the store `sidecar`");
        }
        let known = folder.read_gaps(&moved.session)?;
        let gaps_file = folder.gaps_file(&moved.session);
        if known.is_some() && known.as_deref() != moved.gaps.as_deref().map(str::as_bytes) {
            return decline(&format!("there are other gaps already in {}", gaps_file.display()));
        }
        if let Some(gaps) = &moved.gaps {
            folder.change(&lock, &gaps_file, |_| (Some(gaps.clone().into_bytes()), ()))?;
        }
        Ok(folder.write_record(&lock, &plan, &text, &moved.session, &moved.settled)?)
    }

    fn remove_moved(&self, plan: &Path, moved: &MovedRecord, workspace: &Workspace) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = SidecarFolder::beside(&plan, workspace) else { return Ok(true) };
        let lock = folder.lock()?;
        let gaps = folder.read_gaps(&moved.session)?.unwrap_or_default();
        if !moved.gaps.as_deref().unwrap_or_default().as_bytes().starts_with(&gaps) {
            return Ok(false);
        }
        folder.remove(&lock, &plan, &moved.session)?;
        Ok(true)
    }
}

fn update_plan(plan: &Path, session: &Session, workspace: &Workspace) -> Result<(), Fault> {
    let Some(folder) = SidecarFolder::beside(plan, workspace) else { return Ok(()) };
    let policy = VerdictPolicy::from_settings(workspace)?;
    let lock = folder.lock()?;
    // Read under the lock, so that the last writer has seen the last text.
    let Some(mut text) = super::read_plan(plan, workspace)? else { return Ok(()) };
    let signal = parse_plan(&text)?.signal();
    if signal != Signal::None
        && let Some(left) = remove_signals(plan, workspace)?
    {
        text = left;
    }
    let mut record = folder.read_record(plan, &text, session)?;
    if let Some(before) = folder.find_owner(plan).filter(|before| before != session) {
        // Another session continues with the plan. A verdict on exactly these texts stays valid.
        record.seals.extend(folder.read_gate(&before)?.and_then(|gate| gate.get(GateKey::Seal)));
    }
    let changed = match record.session {
        Some(_) => "Plan edited, re-run assessment",
        None => "Assessment not yet run",
    };
    // With `witness = "off"`, agents write the verdict into `gate.yml` themselves, as this store's document says.
    let signal = if policy.needs_witness { signal } else { Signal::None };
    let settled = record.settle_verdict(session.id(), signal, changed, &policy, &workspace.format_now());
    folder.write_record(&lock, plan, &text, session, &settled)
}

/// Removes the signals from a plan, because the verdict is in `gate.yml` and the user sees the plan as it is.
/// Returns the text without them.
fn remove_signals(plan: &Path, workspace: &Workspace) -> Result<Option<Vec<u8>>, Fault> {
    change(plan, workspace, |text| {
        let left = text.map(parse_plan).transpose()?.map(|plan| plan.without_signals());
        Ok((left.clone(), left))
    })
}

fn update_gaps(file: &Path, owner: &Session, workspace: &Workspace) -> Result<(), Fault> {
    let Some(plans) = file.parent().and_then(Path::parent) else { return Ok(()) };
    let folder = SidecarFolder::in_directory(plans, workspace);
    let policy = VerdictPolicy::from_settings(workspace)?;
    let lock = folder.lock()?;
    // Gaps that are written before the plan are recorded with the plan.
    let Some(plan) = folder.read_gate(owner)?.and_then(|gate| gate.get(GateKey::PlanFile)) else {
        return Ok(());
    };
    let plan = workspace.resolve(Path::new(&plan));
    if plan.parent() != Some(plans) {
        return Ok(());
    }
    let text = super::read_plan(&plan, workspace)?.unwrap_or_default();
    let record = folder.read_record(&plan, &text, owner)?;
    let changed = "Gaps edited, re-run assessment";
    let settled = record.settle_verdict(owner.id(), Signal::None, changed, &policy, &workspace.format_now());
    let gaps = folder.read_gaps(owner)?;
    folder.change(&lock, &folder.gate_file(owner), |bytes| {
        let after = bytes.map(|bytes| {
            let mut gate = GateFile::parse(bytes);
            folder.set_gaps(&mut gate, owner, gaps.as_deref());
            set_verdict(&mut gate, &settled);
            gate.to_bytes()
        });
        (after, ())
    })
}
