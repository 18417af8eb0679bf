//! The record in comments at the end of the plan: the plan file is the only state.

use std::path::{Path, PathBuf};

use super::{ADD_GAPS_BLOCK, Judged, Moved, RERUN, Store, Words, change, document};
use crate::decision::Fault;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::document::{GapsBlock, PlanDocument, Record};
use crate::plan_gate::dossier::{Damage, Dossier, Policy, Recorded, Settled};
use crate::plan_gate::floor::NO_GAPS;
use crate::plan_gate::place::{Session, Written};
use crate::workspace::{Workspace, fnv1a};

pub struct Embedded;

const ROUNDS: usize = 3;
const LONGEST_PATH: u64 = 16 << 10;

const WORDS: Words = Words {
    nothing: "No assessment found for this session",
    plan_changed: "Plan content changed since assessment",
    gaps_changed: "Gaps changed since assessment",
    no_gaps: "Plan must have gaps block",
    add_gaps: |_| ADD_GAPS_BLOCK.to_owned(),
    floor_gaps: NO_GAPS,
    cover: "Update gaps to cover findings",
    unreadable: None,
};

impl Store for Embedded {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn plan_of(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf> {
        let plans = workspace.resolve(&workspace.plans_directory()?);
        let mark = format!("<!-- rodin:session={} -->", session.id());
        let is_its = |plan: &Path| {
            // A link out of the plans leads to no plan.
            if workspace.resolve(plan).parent() != Some(&plans) {
                return false;
            }
            let text = super::read(plan, workspace).ok().flatten();
            let document = text.as_deref().and_then(|text| PlanDocument::read(text).ok());
            document.is_some_and(|document| document.record().session.as_deref() == Some(session.id()))
        };
        let last =
            last_plan(session, workspace).and_then(|note| workspace.read_text(&note, LONGEST_PATH).ok()?);
        // Of several plans of one session, the last one that was worked on is meant.
        last.map(PathBuf::from)
            .filter(|plan| is_its(plan))
            .or_else(|| workspace.latest_ending_with(&plans, mark.as_bytes(), is_its))
    }

    fn dossier<'t>(&self, _plan: &Path, text: &'t [u8], _: &Workspace) -> Result<Dossier<'t>, Fault> {
        let known = Dossier::unrecorded(super::document(text)?);
        let record = known.document.record();
        Ok(Dossier {
            plan_recorded: Recorded::of(record.plan_hash.as_deref(), known.plan_hash),
            gaps_recorded: Recorded::of(record.gaps_hash.as_deref(), known.gaps_hash),
            session: record.session,
            validation: record.validation,
            seals: known.document.seals().map(str::to_owned).collect(),
            damage: damage(record.doubled, &known.document),
            ..known
        })
    }

    fn keep(
        &self,
        written: &Written,
        session: &Session,
        policy: &Policy,
        workspace: &Workspace,
    ) -> Result<(), Fault> {
        let Written::Plan(plan) = written else { return Ok(()) };
        let now = workspace.now();
        change(plan, workspace, |text| {
            // An empty file is one that somebody is about to write.
            let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
            let mut kept = self.kept(text, session, policy, &now, workspace)?;
            // Where marks stand in odd places, taking one out can change what another one is.
            for _ in 0..ROUNDS {
                let again = self.kept(&kept, session, policy, &now, workspace)?;
                if again == kept {
                    break;
                }
                kept = again;
            }
            Ok(Some(kept))
        })?;
        note_last_plan(&workspace.resolve(plan), session, workspace);
        Ok(())
    }

    fn record(&self, plan: &Path, judged: &Judged<'_>, workspace: &Workspace) -> Result<bool, Fault> {
        let mut recorded = false;
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let dossier = self.dossier(plan, text, workspace)?;
            recorded = dossier.texts() == (judged.plan, judged.gaps);
            if !recorded || dossier.already_says(judged) {
                return Ok(None);
            }
            Ok(Some(dossier.document.with(&record(&dossier, judged.session, judged.settled.clone()))))
        })?;
        Ok(recorded)
    }

    fn add_gaps(
        &self,
        plan: &Path,
        known: Digest,
        added: &str,
        workspace: &Workspace,
    ) -> Result<bool, Fault> {
        let mut is_added = false;
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let dossier = self.dossier(plan, text, workspace)?;
            let after = dossier.document.with_gaps(added).filter(|_| dossier.gaps_hash == known);
            is_added = after.is_some();
            Ok(after)
        })?;
        Ok(is_added)
    }

    fn put_in(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<Result<(), String>, Fault> {
        let mut outcome = Ok(());
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let text = document(text)?.without_record();
            let document = super::document(&text)?;
            let held = document.gaps_content().to_text();
            let added = moved.gaps.as_deref().and_then(|gaps| gaps.strip_suffix(&held));
            let text = match added {
                Some("") if *document.gaps() != GapsBlock::Missing => Some(text.clone()),
                Some(added) => document.with_gaps_in_front(added.as_bytes()),
                None => moved.gaps.is_none().then(|| text.clone()),
            };
            let dossier = text.as_deref().map(|text| self.dossier(plan, text, workspace)).transpose()?;
            let Some(dossier) = dossier.filter(|dossier| moved.is_of(dossier)) else {
                outcome = Err("its texts would not be the same with the gaps in the plan itself".to_owned());
                return Ok(None);
            };
            Ok(Some(dossier.document.with(&record(&dossier, &moved.session, moved.settled.clone()))))
        })?;
        Ok(outcome)
    }

    fn forget(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<bool, Fault> {
        let mut forgotten = false;
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let dossier = self.dossier(plan, text, workspace)?;
            forgotten = moved.is_of(&dossier);
            Ok(forgotten.then(|| dossier.document.content().to_vec()))
        })?;
        Ok(forgotten)
    }
}

impl Embedded {
    /// The file as it should be after a write.
    fn kept(
        &self,
        text: &[u8],
        session: &Session,
        policy: &Policy,
        now: &str,
        workspace: &Workspace,
    ) -> Result<Vec<u8>, Fault> {
        let dossier = self.dossier(Path::new(""), text, workspace)?;
        let signal = dossier.document.signal();
        let settled = dossier.settle(session.id(), signal, "Content changed, re-run assessment", policy, now);
        Ok(dossier.document.with(&record(&dossier, session, settled)))
    }
}

/// Where it is noted which plan a session has written last. It spares a search, and is believed only
/// if the plan says the same.
fn last_plan(session: &Session, workspace: &Workspace) -> Option<PathBuf> {
    workspace.own_file("plans", &format!("{:016x}", fnv1a(session.id().as_bytes()))).ok()
}

fn note_last_plan(plan: &Path, session: &Session, workspace: &Workspace) {
    let (Some(note), Some(plan)) = (last_plan(session, workspace), plan.to_str()) else { return };
    if workspace.read_text(&note, LONGEST_PATH).ok().flatten().as_deref() != Some(plan) {
        // Without the note, the plan is searched for.
        let _ = workspace.replace_own(&note, plan.as_bytes());
    }
}

fn damage(doubled: Option<&str>, document: &PlanDocument<'_>) -> Option<Damage> {
    let how = match doubled {
        Some(mark) => format!("the plan has the mark `rodin:{mark}` more than once"),
        None if document.has_text_in_a_mark() => "a mark has text of the plan in it".into(),
        None => return None,
    };
    Some(Damage { what: format!("The record of the plan is damaged: {how}"), fix: RERUN })
}

fn record(dossier: &Dossier<'_>, session: &Session, settled: Settled) -> Record {
    Record {
        session: Some(session.id().to_owned()),
        plan_hash: Some(dossier.plan_hash.to_string()),
        gaps_hash: Some(dossier.gaps_hash.to_string()),
        validation: Some(settled.validation),
        seal: settled.seal,
        doubled: None,
    }
}
