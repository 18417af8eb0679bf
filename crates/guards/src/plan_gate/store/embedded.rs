//! Keeps the record in comments at the end of the plan, so that the plan file is the only state.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::{
    ADD_GAPS_BLOCK, ImportResult, JudgedPlan, MovedRecord, RERUN, Store, StoreMessages, add_to_gaps_block,
    change, parse_plan,
};
use crate::plan_gate::Declined;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::document::{GapsBlock, MarkRecord, PlanDocument};
use crate::plan_gate::plan_files::{Session, WrittenFile};
use crate::plan_gate::plan_record::{Damage, PlanRecord, RecordedHash, SettledVerdict, VerdictPolicy};
use crate::plan_gate::prerequisites::NO_GAPS;
use provost_core::opinion::Fault;
use provost_core::places::fnv1a;
use provost_core::workspace::Workspace;

pub struct Embedded;

/// How often an update is repeated until it changes nothing more.
const MOST_REPEATS: usize = 3;
const LONGEST_PATH: u64 = 16 << 10;

const WORDS: StoreMessages = StoreMessages {
    store: "embedded",
    unassessed: "No assessment found for this session",
    plan_changed: "Plan content changed since assessment",
    gaps_changed: "Gaps changed since assessment",
    no_gaps: "Plan must have gaps block",
    add_gaps: |_| ADD_GAPS_BLOCK.to_owned(),
    floor_gaps: NO_GAPS,
    cover: "Update gaps to cover findings",
    unreadable: None,
};

impl Store for Embedded {
    fn messages(&self) -> &'static StoreMessages {
        &WORDS
    }

    fn find_plan(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf> {
        let plans = workspace.resolve(&workspace.plans_directory()?);
        let mark = format!("<!-- rodin:session={} -->", session.id());
        let belongs_to_session = |plan: &Path| {
            // A link to a file outside the plans directory is not a plan.
            if workspace.resolve(plan).parent() != Some(&plans) {
                return false;
            }
            let text = super::read_plan(plan, workspace).ok().flatten();
            let document = text.as_deref().and_then(|text| PlanDocument::parse(text).ok());
            document.is_some_and(|document| document.record().session.as_deref() == Some(session.id()))
        };
        // Of several plans of a session, the last one that it wrote counts.
        let last = last_plan_note(session, workspace)
            .and_then(|note| workspace.read_text(&note, LONGEST_PATH).ok()?)
            .map(PathBuf::from);
        last.filter(|plan| belongs_to_session(plan))
            .or_else(|| workspace.find_latest_ending_with(&plans, mark.as_bytes(), belongs_to_session))
    }

    fn read_record<'t>(&self, _plan: &Path, text: &'t [u8], _: &Workspace) -> Result<PlanRecord<'t>, Fault> {
        read_record(text)
    }

    fn update(&self, written: &WrittenFile, session: &Session, workspace: &Workspace) -> Result<(), Fault> {
        let WrittenFile::Plan(plan) = written else { return Ok(()) };
        let (now, policy) = (workspace.format_now(), VerdictPolicy::from_settings(workspace)?);
        let update = |text: &[u8]| -> Result<Vec<u8>, Fault> {
            let record = read_record(text)?;
            let signal = record.document.signal();
            let changed = "Content changed, re-run assessment";
            let settled = record.settle_verdict(session.id(), signal, changed, &policy, &now);
            Ok(write_record(&record, session, settled))
        };
        change(plan, workspace, |text| {
            // An empty file is about to be written.
            let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok((None, ())) };
            let mut updated = update(text)?;
            // If marks are in odd places, removing one can change the meaning of another.
            for _ in 0..MOST_REPEATS {
                let again = update(&updated)?;
                if again == updated {
                    break;
                }
                updated = again;
            }
            Ok((Some(updated), ()))
        })?;
        note_last_plan(&workspace.resolve(plan), session, workspace);
        Ok(())
    }

    fn record_verdict(
        &self,
        plan: &Path,
        judged: &JudgedPlan<'_>,
        workspace: &Workspace,
    ) -> Result<bool, Fault> {
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok((None, false)) };
            let record = read_record(text)?;
            let is_judged = record.hashes() == judged.hashes;
            let is_new = is_judged && !record.has_verdict(judged);
            let after = is_new.then(|| write_record(&record, judged.session, judged.settled.clone()));
            Ok((after, is_judged))
        })
    }

    fn add_gaps(&self, plan: &Path, known: Digest, gaps: &str, workspace: &Workspace) -> Result<bool, Fault> {
        add_to_gaps_block(self, plan, known, gaps, workspace)
    }

    fn import(&self, plan: &Path, moved: &MovedRecord, workspace: &Workspace) -> ImportResult {
        let is_imported = change(plan, workspace, |text| {
            let Some(text) = text else { return Ok((None, true)) };
            let text = parse_plan(text)?.without_record();
            let document = parse_plan(&text)?;
            let held = document.gaps_content().to_text();
            let added = moved.gaps.as_deref().and_then(|gaps| gaps.strip_suffix(&held));
            let text = match added {
                Some("") if *document.gaps_block() != GapsBlock::Missing => Some(text.clone()),
                Some(added) => document.with_gaps_in_front(added.as_bytes()),
                None => moved.gaps.is_none().then(|| text.clone()),
            };
            let record = text.as_deref().map(read_record).transpose()?;
            let record = record.filter(|record| moved.is_same_plan(record));
            let after = record.map(|record| write_record(&record, &moved.session, moved.settled.clone()));
            let is_imported = after.is_some();
            Ok((after, is_imported))
        })?;
        if is_imported {
            return Ok(());
        }
        let why = "its texts would not be the same with the gaps in the plan itself";
        Err(Declined::Reason(why.to_owned()))
    }

    fn remove_moved(&self, plan: &Path, moved: &MovedRecord, workspace: &Workspace) -> Result<bool, Fault> {
        change(plan, workspace, |text| {
            let Some(text) = text else { return Ok((None, false)) };
            let record = read_record(text)?;
            let is_removed = moved.is_same_plan(&record);
            Ok((is_removed.then(|| record.document.content().to_vec()), is_removed))
        })
    }
}

fn read_record(text: &[u8]) -> Result<PlanRecord<'_>, Fault> {
    let known = PlanRecord::without_record(parse_plan(text)?);
    let record = known.document.record();
    Ok(PlanRecord {
        plan_recorded: RecordedHash::compare(record.plan_hash.as_deref(), known.plan_hash),
        gaps_recorded: RecordedHash::compare(record.gaps_hash.as_deref(), known.gaps_hash),
        session: record.session,
        validation: record.validation,
        seals: known.document.seals().map(str::to_owned).collect(),
        damage: find_damage(record.doubled, &known.document),
        ..known
    })
}

/// The file of a plan with this verdict on its current texts.
fn write_record(record: &PlanRecord<'_>, session: &Session, settled: SettledVerdict) -> Vec<u8> {
    record.document.with_record(&MarkRecord {
        session: Some(session.id().to_owned()),
        plan_hash: Some(record.plan_hash.to_string()),
        gaps_hash: Some(record.gaps_hash.to_string()),
        validation: Some(settled.validation),
        seal: settled.seal,
        doubled: None,
    })
}

/// The note of the plan that a session wrote last. It saves a search, and counts only if the plan names the
/// session.
fn last_plan_note(session: &Session, workspace: &Workspace) -> Option<PathBuf> {
    workspace.state_file("plans", &format!("{:016x}", fnv1a(session.id().as_bytes()))).ok()
}

fn note_last_plan(plan: &Path, session: &Session, workspace: &Workspace) {
    let (Some(note), Some(plan)) = (last_plan_note(session, workspace), plan.to_str()) else { return };
    if workspace.read_text(&note, LONGEST_PATH).ok().flatten().as_deref() != Some(plan) {
        // Without the note, the plan is found by a search.
        let _ = workspace.write_state_file(&note, plan.as_bytes());
    }
}

fn find_damage(doubled: Option<&str>, document: &PlanDocument<'_>) -> Option<Damage> {
    let how = match doubled {
        Some(mark) => format!("the plan has the mark `rodin:{mark}` more than once"),
        None if document.has_text_in_mark() => "a mark has text of the plan in it".into(),
        None => return None,
    };
    Some(Damage { what: format!("The record of the plan is damaged: {how}"), fix: RERUN })
}
