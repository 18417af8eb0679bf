//! The record in comments at the end of the plan: the plan file is the only state.

use std::path::{Path, PathBuf};

use super::{Judged, Moved, Store, Words, change};
use crate::decision::Fault;
use crate::plan_gate::document::{GapsBlock, Overgrown, PlanDocument, Record};
use crate::plan_gate::dossier::{Dossier, Gaps, Policy, Recorded, Settled};
use crate::plan_gate::place::{Session, Written};
use crate::workspace::Workspace;

pub struct Embedded;

const ROUNDS: usize = 3;

const WORDS: Words = Words {
    nothing: "No assessment found for this session",
    plan_changed: "Plan content changed since assessment",
    gaps_changed: "Gaps changed since assessment",
    no_gaps: "Plan must have gaps block",
    cover: "Update gaps to cover findings",
};

impl Store for Embedded {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn plan_of(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf> {
        let plans = workspace.plans_directory()?;
        let mark = format!("<!-- rodin:session={} -->", session.id());
        // Of several plans of one session, the last one that was worked on is meant.
        workspace.latest_ending_with(&plans, mark.as_bytes(), |plan| {
            let text = super::read(plan, workspace).ok().flatten();
            let document = text.as_deref().and_then(|text| PlanDocument::read(text).ok());
            document.is_some_and(|document| document.record().session.as_deref() == Some(session.id()))
        })
    }

    fn dossier<'t>(&self, _plan: &Path, text: &'t [u8], _: &Workspace) -> Result<Dossier<'t>, Fault> {
        let document = read(text)?;
        let record = document.record();
        let (plan_hash, gaps_hash) = (document.content().hash(), document.gaps_content().hash());
        let gaps = match document.gaps() {
            GapsBlock::Missing => Gaps::Missing,
            GapsBlock::Broken(how) => Gaps::Broken(how),
            GapsBlock::Present(_) => Gaps::Present(document.gaps_content().to_text()),
        };
        Ok(Dossier {
            gaps,
            plan_hash,
            gaps_hash,
            plan_recorded: Recorded::of(record.plan_hash.as_deref(), plan_hash),
            gaps_recorded: Recorded::of(record.gaps_hash.as_deref(), gaps_hash),
            session: record.session,
            validation: record.validation,
            seals: document.seals().map(str::to_owned).collect(),
            damage: record.doubled.map(|mark| format!("the plan has the mark `rodin:{mark}` more than once")),
            document,
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
        })
    }

    fn record(&self, plan: &Path, judged: &Judged<'_>, workspace: &Workspace) -> Result<bool, Fault> {
        let mut recorded = false;
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let dossier = self.dossier(plan, text, workspace)?;
            recorded = (dossier.plan_hash, dossier.gaps_hash) == (judged.plan, judged.gaps);
            if !recorded || dossier.already_says(judged) {
                return Ok(None);
            }
            Ok(Some(dossier.document.with(&record(&dossier, judged.session, judged.settled.clone()))))
        })?;
        Ok(recorded)
    }

    fn add_gaps(&self, plan: &Path, added: &str, workspace: &Workspace) -> Result<bool, Fault> {
        let mut has_place = false;
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let after = read(text)?.with_gaps(added);
            has_place = after.is_some();
            Ok(after)
        })?;
        Ok(has_place)
    }

    fn take_out(&self, plan: &Path, workspace: &Workspace) -> Result<(), Fault> {
        change(plan, workspace, |text| match text {
            Some(text) => Ok(Some(read(text)?.without_record())),
            None => Ok(None),
        })
    }

    fn put_in(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<(), Fault> {
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok(None) };
            let mut text = read(text)?.without_record();
            if let (Some(gaps), GapsBlock::Missing) = (&moved.gaps, read(&text)?.gaps()) {
                let newline = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
                let gaps_end = if gaps.is_empty() || gaps.ends_with('\n') { "" } else { "\n" };
                text.extend(
                    format!("{newline}<!-- rodin:gaps:start -->\n{gaps}{gaps_end}<!-- rodin:gaps:end -->\n")
                        .bytes(),
                );
            }
            let dossier = self.dossier(plan, &text, workspace)?;
            Ok(Some(dossier.document.with(&record(&dossier, &moved.session, moved.settled.clone()))))
        })
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
        let settled = dossier.settle(session.id(), policy, now);
        Ok(dossier.document.with(&record(&dossier, session, settled)))
    }
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

fn read(text: &[u8]) -> Result<PlanDocument<'_>, Fault> {
    PlanDocument::read(text).map_err(|Overgrown| {
        Fault::Error("the plan has more marks than anybody writes; take them out".into())
    })
}
