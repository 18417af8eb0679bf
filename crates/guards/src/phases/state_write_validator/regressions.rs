//! What a change of the state undoes.
//!
//! Agents write the whole file, often from a copy that they read long ago. Within one workflow the state only
//! grows: what is completed stays completed, the phase moves forward, counters count up, logs get longer. If
//! a workflow ends or another one begins, everything may start again.

use super::unproven_claims::{TRY_COUNTERS, find_claims, shorten_text};
use crate::phases::log_skill_usage::LOG;
use crate::phases::prelude::*;
use crate::phases::requirements::TEST_RECORD;
use crate::phases::state::{Workflow, WorkflowState, find_value};

/// What is wrong with a change, and how to fix it.
#[derive(Debug, PartialEq, Eq)]
pub struct Objection {
    pub what: String,
    pub fix: &'static str,
}

const FAKED: &str = "do the work first, and mark it as completed then; Provost counts the tries";
const TAKEN_BACK: &str =
    "read the state file again, which may be newer than your copy, and change only what has to change";

/// A log may drop its oldest entries if so many remain.
const SHORTEST_LOG: usize = 20;

/// What is wrong with replacing one state with another. `None` is no file, or no JSON object.
pub fn find_objections(before: Option<&WorkflowState>, after: Option<&WorkflowState>) -> Vec<Objection> {
    let undone = |what: String| Objection { what, fix: TAKEN_BACK };
    let Some(after) = after else {
        let lost = |_| undone("the new content is no JSON object, so the state would be lost".into());
        return before.map(lost).into_iter().collect();
    };
    let known = before.map(find_claims).unwrap_or_default();
    let claims = find_claims(after);
    let new = claims.iter().filter(|claim| !known.iter().any(|known| known.is_same(claim)));
    let mut found: Vec<Objection> =
        new.map(|claim| Objection { what: claim.describe_objection(), fix: FAKED }).collect();
    if let Some(before) = before
        && let (Some(was), Some(is)) = (before.workflow(), after.workflow())
        && is_same_workflow(before, after)
    {
        found.extend(find_moves_back(was, is).into_iter().map(undone));
        found.extend(find_phase_losses(before, after).into_iter().map(undone));
        // Not the pending escalations: an agent that has dealt with them removes them.
        let log = find_log_loss(LOG[0], &before.read_list(LOG), &after.read_list(LOG));
        found.extend(log.map(undone));
    }
    found
}

/// Another kind or another start means another workflow. A field that is only left out does not.
fn is_same_workflow(before: &WorkflowState, after: &WorkflowState) -> bool {
    ["type", "started_at"].iter().all(|field| {
        let path = ["active_workflow", field];
        let is = after.read_value(&path).filter(|is| !is.is_null());
        is.is_none() || is == before.read_value(&path)
    })
}

/// How the workflow goes back to an earlier phase.
fn find_moves_back(was: &Workflow, is: &Workflow) -> Vec<String> {
    let mut found = Vec::new();
    let order = if was.phases.is_empty() { &is.phases } else { &was.phases };
    let position = |phase: &str| order.iter().position(|other| phase_names::is_same_phase(other, phase));
    if let Some(from) = was.current_phase.as_deref()
        && let Some(at) = position(from)
    {
        let to = is.current_phase.as_deref();
        let is_back = to.map_or(at > 0, |to| position(to).is_some_and(|to| to < at));
        if is_back {
            let to = to.map_or_else(|| "none".to_owned(), shorten_text);
            found.push(format!("current_phase would go back from {} to {to}", shorten_text(from)));
        }
    }
    let index = is.current_phase_index;
    if let Some(from) = was.current_phase_index
        && index.unwrap_or(0) < from
    {
        // If phases are removed from the workflow, the numbers of later ones change.
        let in_list = index.and_then(|index| is.phases.get(index)).zip(is.current_phase.as_ref());
        let is_renumbered = is.phases != was.phases
            && in_list.is_some_and(|(there, phase)| phase_names::is_same_phase(there, phase));
        if !is_renumbered {
            let to = index.map_or_else(|| "none".to_owned(), |index| index.to_string());
            found.push(format!("current_phase_index would go back from {from} to {to}"));
        }
    }
    found
}

/// What phases lose: their completion, their counts, their history.
fn find_phase_losses(before: &WorkflowState, after: &WorkflowState) -> Vec<String> {
    let mut found = Vec::new();
    for (name, was) in before.phases() {
        let is = after.find_phase_record(name).map_or(&Value::Null, |(_, is)| is);
        let name = shorten_text(name);
        if was["status"] == "completed" && is["status"] != "completed" {
            let to = is.get("status").map_or_else(|| "none".to_owned(), |to| shorten_text(&to.to_string()));
            found.push(format!("the status of {name} would go back from \"completed\" to {to}"));
        }
        for counter in &TRY_COUNTERS {
            let (from, to) = (counter.count(was), counter.count(is));
            if to < from {
                let counter = format!("{}.{}", counter.requirement(), counter.field);
                found.push(format!("in {name}, {counter} would go back from {from} to {to}"));
            }
        }
        let [was, is] = [was, is].map(|phase| {
            let history = find_value(phase, TEST_RECORD).and_then(|tests| tests.get("history")?.as_array());
            history.map_or(&[][..], Vec::as_slice)
        });
        let loss = find_log_loss("test_iteration.history", was, is);
        found.extend(loss.map(|loss| format!("in {name}, {loss}")));
    }
    found
}

/// How a log loses entries, other than by dropping its oldest ones when it is long.
fn find_log_loss(name: &str, was: &[Value], is: &[Value]) -> Option<String> {
    /// At most so many entries may be new when others are dropped.
    const MOST_NEW: usize = 100;
    let (from, to) = (was.len(), is.len());
    let drops_oldest = |new: usize| {
        let kept = to.checked_sub(new).filter(|kept| *kept > 0);
        kept.is_some_and(|kept| is[..kept] == was[from - kept..])
    };
    if to >= from || to >= SHORTEST_LOG && (0..=MOST_NEW).any(drops_oldest) {
        return None;
    }
    Some(format!("{name} would lose entries ({from} now, {to} then)"))
}

#[cfg(test)]
mod tests;
