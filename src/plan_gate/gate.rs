//! The way out of plan mode.
//!
//! Closed: whatever cannot be judged stays in. What is judged is the text that the event carries,
//! because that is what the person is asked to approve; only where the event has none, the plan is
//! looked for. To let through is to say nothing: the person still approves.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::brief::Role;
use super::dossier::{Dossier, Gaps, Policy, Recorded};
use super::place::Session;
use super::store::{self, ADD_GAPS_BLOCK, RERUN, Store};
use super::verdict::{LONGEST_REASON, Status};
use super::{at_exit, evidence, floor, judges};
use crate::config::{Config, settings};
use crate::decision::{Denial, Fault, Opinion};
use crate::event::{Event, Kind, Text, Tool};
use crate::overrides;
use crate::search;
use crate::text::{brief, repeated};
use crate::workspace::Workspace;

/// How long it may take where it asks reviewers itself.
pub fn deadline(config: &Config) -> Option<Duration> {
    at_exit::deadline(config)
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Kind::BeforeTool(call) = &event.kind else { return Ok(Opinion::silence()) };
    let Tool::LeavePlanMode { plan, path } = &call.tool else { return Ok(Opinion::silence()) };
    let Some(id) = event.session.as_deref().filter(|id| !id.is_empty()) else {
        return Ok(denied(block(NO_SESSION, "", "Update Provost for this version of the client")));
    };
    let store = store::of(workspace);
    let Some(session) = Session::new(id) else {
        return Ok(denied(block("Internal error", "the session's id is not one", "start a new session")));
    };
    let path = path.as_ref().map(|path| event.absolute(path));
    let found = find(path, plan.as_ref().map(Text::as_bytes), &session, store, workspace);
    let (file, text) = match found {
        Ok(Some(found)) => found,
        Ok(None) => {
            let damage = store.damage_without_plan(&session, workspace);
            let denial = damage.map(|damage| block(&damage.what, "", damage.fix));
            return Ok(denied(denial.unwrap_or_else(|| unassessed(store))));
        }
        Err(fault) => match store.words().unreadable {
            Some(words) => {
                let what = format!("{words}: {}", repeated(&fault.to_string()));
                return Ok(denied(block(&what, "", "Check file permissions")));
            }
            None => return Err(fault),
        },
    };
    if at_exit::is_on(&workspace.config) {
        // Only then this guard writes anything.
        store::tidy(&file, &session, workspace);
    }
    let policy = Policy::of(workspace)?;
    let mut dossier = store.dossier(&file, &text, workspace)?;
    let mut evidence = Vec::new();
    let mut standing = standing(&dossier, id, &policy, store, workspace)?;
    if standing.is_some() && is_assessed_here(&file, &dossier, event, workspace) {
        standing = at_exit::assessed(&file, &text, &session, workspace, &mut evidence)?;
        dossier = store.dossier(&file, &text, workspace)?;
    }
    let mut missing = match workspace.config.word(settings::PLAN_GATE_FLOOR).as_str() {
        "off" => Vec::new(),
        _ => floor::missing(&dossier, store.words()),
    };
    if let Some(denial) = &mut standing
        && dossier.is_undecided()
        && let Some(role) = judges::at_work(&session, &dossier, workspace)
    {
        *denial = waiting(role);
    }
    if let Some(mut denial) = standing {
        missing.retain(|sentence| !tells(&denial, sentence));
        if !missing.is_empty() {
            denial.fix = format!("{}. Also: {}", denial.fix, missing.join(". "));
        }
        evidence.push(format!("{} is not assessed: {}", file.display(), denial.what));
        return Ok(Opinion::deny(denial, evidence));
    }
    if let Some(first) = missing.first() {
        let all = missing.join(". ");
        if workspace.config.word(settings::PLAN_GATE_FLOOR) == "block" {
            return Ok(Opinion::deny(incomplete(first), missing));
        }
        evidence.extend(missing);
        return Ok(Opinion { to_person: Some(format!("{TAG}{all}.")), evidence, ..Opinion::default() });
    }
    evidence.push(format!("{} is assessed as it is", file.display()));
    Ok(Opinion { evidence, ..Opinion::default() })
}

/// Whether reviewers are asked now. A damaged record is no reason to ask anybody, and neither is a
/// plan that the person lets pass.
fn is_assessed_here(file: &Path, dossier: &Dossier<'_>, event: &Event, workspace: &Workspace) -> bool {
    at_exit::is_on(&workspace.config)
        && dossier.damage.is_none()
        && !file.as_os_str().is_empty()
        && !overrides::is_permitted("plan-gate", event, workspace)
}

/// A plan's file and what it holds.
type Found<'e> = (PathBuf, Cow<'e, [u8]>);

/// The plan that is meant: by the event, or else by the session.
fn find<'e>(
    path: Option<PathBuf>,
    text: Option<&'e [u8]>,
    session: &Session,
    store: &dyn Store,
    workspace: &Workspace,
) -> Result<Option<Found<'e>>, Fault> {
    let read = |file: PathBuf| -> Result<_, Fault> {
        Ok(store::read(&file, workspace)?.map(|bytes| (file, Cow::Owned(bytes))))
    };
    match (path, text) {
        // A file whose bytes are no text cannot stand in an event as it is.
        (Some(file), Some(text)) if is_repaired(text) => {
            let known = store::read(&file, workspace)?
                .filter(|bytes| String::from_utf8_lossy(bytes).as_bytes() == text);
            Ok(Some((file, known.map_or(Cow::Borrowed(text), Cow::Owned))))
        }
        (Some(file), Some(text)) => Ok(Some((file, Cow::Borrowed(text)))),
        (Some(file), None) => read(file),
        (None, text) => {
            let Some(file) = store.plan_of(session, workspace) else {
                return Ok(text.map(|text| (PathBuf::new(), Cow::Borrowed(text))));
            };
            match text {
                Some(text) => Ok(Some((file, Cow::Borrowed(text)))),
                None if workspace.exists(&file) => read(file),
                None => Err(Fault::Error(format!("{}: there is no such file", file.display()))),
            }
        }
    }
}

/// Whether a text may have been other bytes.
fn is_repaired(text: &[u8]) -> bool {
    search::part(text, "\u{fffd}".as_bytes()).is_some()
}

/// Why a plan may not leave; `None`: it may. A text that a validator has failed stays failed until one passes
/// it, whatever its record claims.
pub fn standing(
    dossier: &Dossier<'_>,
    session: &str,
    policy: &Policy,
    store: &dyn Store,
    workspace: &Workspace,
) -> Result<Option<Denial>, Fault> {
    let failure = match &policy.key {
        Some(key) => evidence::failure(dossier.texts(), key, workspace)?,
        None => None,
    };
    Ok(match failure {
        Some(reason) => Some(failed(&reason, store)),
        None => recorded_standing(dossier, session, policy, store),
    })
}

/// Why a plan may not leave by its record; `None`: it may.
pub fn recorded_standing(
    dossier: &Dossier<'_>,
    session: &str,
    policy: &Policy,
    store: &dyn Store,
) -> Option<Denial> {
    let words = store.words();
    if dossier.session.as_deref() != Some(session) {
        return Some(unassessed(store));
    }
    if let Some(damage) = &dossier.damage {
        return Some(block(&damage.what, "", damage.fix));
    }
    match &dossier.gaps {
        Gaps::Present(_) => {}
        Gaps::Missing => return Some(block(words.no_gaps, "", &(words.add_gaps)(session))),
        Gaps::Broken(how) => return Some(block("The gaps block is broken", how, ADD_GAPS_BLOCK)),
    }
    if dossier.plan_recorded != Recorded::Same {
        return Some(block(words.plan_changed, "", RERUN));
    }
    if dossier.gaps_recorded != Recorded::Same {
        return Some(block(words.gaps_changed, "", RERUN));
    }
    let Some(validation) = &dossier.validation else {
        return Some(block("No validation metadata found", "", RUN));
    };
    match &validation.status {
        Status::Pass if !policy.witnessed || dossier.fitting_seal(policy).is_some() => None,
        Status::Pass => Some(block(
            "The verdict does not count",
            "no validator was seen to give it for exactly this text",
            RERUN,
        )),
        Status::Pending => Some(block("Assessment pending", &brief(&validation.reason, LONGEST_REASON), RUN)),
        Status::Fail => Some(failed(&validation.reason, store)),
        Status::Other(word) => {
            let what = format!("Internal error: unexpected validation status '{}'", repeated(word));
            Some(block(&what, "", RERUN))
        }
    }
}

const RUN: &str = "Run /rodin:plan-gate";
/// The client's adapter has the document's words for it.
pub const NO_SESSION: &str = "Internal error: the event names no session";
/// What every message of the documents begins with.
pub const TAG: &str = "[RODIN] ";

/// What a denial says, for a place where its tag is clear.
pub fn untagged(denial: &Denial) -> &str {
    denial.what.strip_prefix(TAG).unwrap_or(&denial.what)
}

/// Whether a denial says already what a sentence of the floor says.
fn tells(denial: &Denial, sentence: &str) -> bool {
    sentence.starts_with(untagged(denial)) || denial.why.contains(sentence)
}

/// Why a plan may not leave that a validator has failed. The reason may stand in the plan only, where its
/// author can have written it: on lines of its own it would speak as Provost does.
pub fn failed(reason: &str, store: &dyn Store) -> Denial {
    let fix = format!("{}, then re-run /rodin:plan-gate", store.words().cover);
    block("Assessment failed", &brief(reason, LONGEST_REASON), &fix)
}

/// Why a plan may not leave where the floor blocks.
pub fn incomplete(missing: &str) -> Denial {
    block("The plan is not complete", missing, "complete the plan, then re-run /rodin:plan-gate")
}

/// Why a plan may not leave while it is being judged.
fn waiting(role: Role) -> Denial {
    let role = role.word();
    block(
        "Assessment pending",
        &format!("the {role} has not answered yet; wait for it"),
        &format!(
            "End the turn, or go on in plan mode until the {role}'s notification comes. If none is at work, \
             re-run /rodin:plan-gate"
        ),
    )
}

fn unassessed(store: &dyn Store) -> Denial {
    block(store.words().nothing, "", "Run /rodin:plan-gate first")
}

pub fn block(what: &str, why: &str, fix: &str) -> Denial {
    Denial { what: format!("{TAG}{what}"), why: why.to_owned(), fix: fix.to_owned(), heading: None }
}

fn denied(denial: Denial) -> Opinion {
    let evidence = vec![denial.what.clone()];
    Opinion::deny(denial, evidence)
}
