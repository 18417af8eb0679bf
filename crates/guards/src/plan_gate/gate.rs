//! Judges whether the agent may leave plan mode.
//!
//! Fails closed: a plan that cannot be judged does not leave. The gate judges the text in the event, because
//! that is what the user approves. Only if the event has none does it look for the plan file. If it says
//! nothing, the user still has to approve the plan.

use crate::prelude::*;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::brief::Role;
use super::exit_assessment::AssessmentNotes;
use super::plan_files::Session;
use super::plan_record::{Gaps, PlanRecord, RecordedHash, VerdictPolicy};
use super::store::{self, ADD_GAPS_BLOCK, RERUN, Store};
use super::verdict::{LONGEST_REASON, VerdictStatus};
use super::{evidence, exit_assessment, judge_notes, prerequisites};
use provost_core::byte_search;
use provost_core::config::settings;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{Denial, Fault, Opinion};
use provost_core::overrides;
use provost_core::text::{sanitize_for_model, shorten_line};
use provost_core::tool::{PlanText, Tool};
use provost_core::workspace::Workspace;

pub use super::exit_assessment::deadline;

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let EventKind::BeforeTool(call) = &event.kind else { return Ok(Opinion::silent()) };
    let Tool::LeavePlanMode { plan, path } = &call.tool else { return Ok(Opinion::silent()) };
    let Some(id) = event.session.as_deref().filter(|id| !id.is_empty()) else {
        return Ok(deny(build_denial(NO_SESSION, "", "Update Provost for this version of the client")));
    };
    let Some(session) = Session::new(id) else {
        return Ok(deny(build_denial(
            "Internal error",
            "the session's id is not one",
            "start a new session",
        )));
    };
    let store = store::configured_store(workspace);
    let path = path.as_ref().map(|path| event.make_absolute(path));
    let (file, text) =
        match find_plan(path, plan.as_ref().map(PlanText::as_bytes), &session, store, workspace) {
            Ok(Some(found)) => found,
            Ok(None) => {
                let damage = store.damage_without_plan(&session, workspace);
                let denial = damage.map(|damage| build_denial(&damage.what, "", damage.fix));
                return Ok(deny(denial.unwrap_or_else(|| deny_unassessed(store))));
            }
            Err(fault) => {
                let Some(words) = store.messages().unreadable else { return Err(fault) };
                let what = format!("{words}: {}", sanitize_for_model(&fault.to_string()));
                return Ok(deny(build_denial(&what, "", "Check file permissions")));
            }
        };
    if exit_assessment::is_on(&workspace.config) {
        // The gate writes files only in this mode.
        store::remove_leftovers(&file, &session, workspace);
    }
    let policy = VerdictPolicy::from_settings(workspace)?;
    let mut record = store.read_record(&file, &text, workspace)?;
    let mut notes = AssessmentNotes::default();
    let mut denial = find_denial(&record, id, &policy, store, workspace)?;
    if denial.is_some() && is_assessed_at_exit(&file, &record, event, workspace) {
        denial = exit_assessment::assess_plan(&file, &text, &session, workspace, &mut notes)?;
        record = store.read_record(&file, &text, workspace)?;
    }
    let AssessmentNotes { mut evidence, work } = notes;
    let floor = workspace.config.word(settings::PLAN_GATE_PREREQUISITES);
    let mut missing = match floor.as_str() {
        "off" => Vec::new(),
        _ => prerequisites::list_missing(&record, store.messages()),
    };
    if let Some(mut denial) = denial {
        if record.is_undecided()
            && let Some(role) = judge_notes::find_running(&session, &record, workspace)
        {
            denial = deny_while_running(role);
        }
        missing.retain(|sentence| !includes_sentence(&denial, sentence));
        if !missing.is_empty() {
            denial.fix = format!("{}. Also: {}", denial.fix, missing.join(". "));
        }
        evidence.push(format!("{} is not assessed: {}", file.display(), denial.what));
        return Ok(Opinion { reviewer_work: work, ..Opinion::deny(denial, evidence) });
    }
    let Some(first) = missing.first() else {
        evidence.push(format!("{} is assessed as it is", file.display()));
        return Ok(Opinion { evidence, reviewer_work: work, ..Opinion::default() });
    };
    if floor == "block" {
        return Ok(Opinion { reviewer_work: work, ..Opinion::deny(deny_incomplete(first), missing) });
    }
    let to_person = Some(format!("{TAG}{}.", missing.join(". ")));
    evidence.extend(missing);
    Ok(Opinion { to_user: to_person, evidence, reviewer_work: work, ..Opinion::default() })
}

/// Whether the gate asks reviewers now. It does not for a damaged record, nor for a plan that the user allows
/// with an override.
fn is_assessed_at_exit(file: &Path, record: &PlanRecord<'_>, event: &Event, workspace: &Workspace) -> bool {
    exit_assessment::is_on(&workspace.config)
        && record.damage.is_none()
        && !file.as_os_str().is_empty()
        && !overrides::has_permission("plan-gate", event, workspace)
}

type FoundPlan<'e> = (PathBuf, Cow<'e, [u8]>);

/// The file and the text of the plan that the event names, or else of the session's plan.
fn find_plan<'e>(
    path: Option<PathBuf>,
    text: Option<&'e [u8]>,
    session: &Session,
    store: &dyn Store,
    workspace: &Workspace,
) -> Result<Option<FoundPlan<'e>>, Fault> {
    let is_named = path.is_some();
    let file = path.or_else(|| store.find_plan(session, workspace));
    let (file, text) = match (file, text) {
        (Some(file), Some(text)) => (file, text),
        (Some(file), None) if is_named || workspace.exists(&file) => {
            return Ok(store::read_plan(&file, workspace)?.map(|bytes| (file, Cow::Owned(bytes))));
        }
        (Some(file), None) => {
            return Err(Fault::Error(format!("{}: there is no such file", file.display())));
        }
        (None, text) => return Ok(text.map(|text| (PathBuf::new(), Cow::Borrowed(text)))),
    };
    // A file that is not UTF-8 reaches the event with replacement characters. Then its own bytes count.
    if is_named && byte_search::find_part(text, "\u{fffd}".as_bytes()).is_some() {
        let bytes = store::read_plan(&file, workspace)?
            .filter(|bytes| String::from_utf8_lossy(bytes).as_bytes() == text);
        return Ok(Some((file, bytes.map_or(Cow::Borrowed(text), Cow::Owned))));
    }
    Ok(Some((file, Cow::Borrowed(text))))
}

/// Why the agent may not leave with a plan; `None` if it may. A text that a validator has failed stays failed
/// until a validator passes it, even if its record claims a pass.
pub fn find_denial(
    record: &PlanRecord<'_>,
    session: &str,
    policy: &VerdictPolicy,
    store: &dyn Store,
    workspace: &Workspace,
) -> Result<Option<Denial>, Fault> {
    let failure = match &policy.key {
        Some(key) => evidence::find_failure(record.hashes(), key, workspace)?,
        None => None,
    };
    Ok(match failure {
        Some(reason) => Some(deny_failed(&reason, store)),
        None => find_recorded_denial(record, session, policy, store),
    })
}

/// Why the agent may not leave with a plan, by its record alone; `None` if it may.
pub fn find_recorded_denial(
    record: &PlanRecord<'_>,
    session: &str,
    policy: &VerdictPolicy,
    store: &dyn Store,
) -> Option<Denial> {
    let words = store.messages();
    if record.session.as_deref() != Some(session) {
        return Some(deny_unassessed(store));
    }
    if let Some(damage) = &record.damage {
        return Some(build_denial(&damage.what, "", damage.fix));
    }
    match &record.gaps {
        Gaps::Present(_) => {}
        Gaps::Missing => return Some(build_denial(words.no_gaps, "", &(words.add_gaps)(session))),
        Gaps::Broken(how) => return Some(build_denial("The gaps block is broken", how, ADD_GAPS_BLOCK)),
    }
    if record.plan_recorded != RecordedHash::Same {
        return Some(build_denial(words.plan_changed, "", RERUN));
    }
    if record.gaps_recorded != RecordedHash::Same {
        return Some(build_denial(words.gaps_changed, "", RERUN));
    }
    let Some(validation) = &record.validation else {
        return Some(build_denial("No validation metadata found", "", RUN));
    };
    match &validation.status {
        VerdictStatus::Pass if !policy.needs_witness || record.find_fitting_seal(policy).is_some() => None,
        VerdictStatus::Pass => Some(build_denial(
            "The verdict does not count",
            "no validator was seen to give it for exactly this text",
            RERUN,
        )),
        VerdictStatus::Pending => {
            Some(build_denial("Assessment pending", &shorten_line(&validation.reason, LONGEST_REASON), RUN))
        }
        VerdictStatus::Fail => Some(deny_failed(&validation.reason, store)),
        VerdictStatus::Other(word) => {
            let what = format!("Internal error: unexpected validation status '{}'", sanitize_for_model(word));
            Some(build_denial(&what, "", RERUN))
        }
    }
}

const RUN: &str = "Run /rodin:plan-gate";
/// The client's adapter replaces this by the design document's words.
pub const NO_SESSION: &str = "Internal error: the event names no session";
/// The start of every message in the design documents.
pub const TAG: &str = "[RODIN] ";

pub fn strip_tag(denial: &Denial) -> &str {
    denial.what.strip_prefix(TAG).unwrap_or(&denial.what)
}

/// Whether a denial includes a sentence about a missing prerequisite already.
fn includes_sentence(denial: &Denial, sentence: &str) -> bool {
    sentence.starts_with(strip_tag(denial)) || denial.why.contains(sentence)
}

/// Denies a plan that a validator has failed. The reason is put on one line: it may come from the plan file, and
/// its author could imitate Provost's lines.
pub fn deny_failed(reason: &str, store: &dyn Store) -> Denial {
    let fix = format!("{}, then re-run /rodin:plan-gate", store.messages().cover);
    build_denial("Assessment failed", &shorten_line(reason, LONGEST_REASON), &fix)
}

pub fn deny_incomplete(missing: &str) -> Denial {
    build_denial("The plan is not complete", missing, "complete the plan, then re-run /rodin:plan-gate")
}

/// Denies a plan while a critic or validator still works on it.
fn deny_while_running(role: Role) -> Denial {
    let role = role.word();
    build_denial(
        "Assessment pending",
        &format!("the {role} has not answered yet; wait for it"),
        &format!(
            "End the turn, or go on in plan mode until the {role}'s notification comes. If none is at work, \
             re-run /rodin:plan-gate"
        ),
    )
}

fn deny_unassessed(store: &dyn Store) -> Denial {
    build_denial(store.messages().unassessed, "", "Run /rodin:plan-gate first")
}

pub fn build_denial(what: &str, why: &str, fix: &str) -> Denial {
    Denial { what: format!("{TAG}{what}"), why: why.to_owned(), fix: fix.to_owned(), document_wording: None }
}

fn deny(denial: Denial) -> Opinion {
    let evidence = vec![denial.what.clone()];
    Opinion::deny(denial, evidence)
}
