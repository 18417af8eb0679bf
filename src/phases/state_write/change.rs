//! What a change of the state takes back.
//!
//! Agents write the whole file, often from a copy that they read long ago. Within one workflow the state
//! only grows: what is completed stays so, the phase moves on, counters count up, logs get longer. Where
//! a workflow ends or another one begins, everything may start anew.

use serde_json::Value;

use super::claims::{PARTS, at, fakes, short};
use crate::phases::state::{State, Workflow};
use crate::phases::table;

/// What is wrong with a change, and how to make it right.
#[derive(Debug, PartialEq, Eq)]
pub struct Objection {
    pub what: String,
    pub fix: &'static str,
}

const FAKED: &str = "do the work first, and mark it as completed then; Provost counts the tries";
const TAKEN_BACK: &str =
    "read the state file again, which may be newer than your copy, and change only what has to change";

/// A log that is kept short has at least so many entries.
const SHORTEST_LOG: usize = 20;
/// Not the pending escalations: who has dealt with them takes them away.
const LOG: &str = "skill_usage_log";
const HISTORY: &[&str] = &["iteration_requirements", "test_iteration", "history"];

/// What is wrong with putting one state in the place of another. `None` is no file, or no JSON object.
pub fn objections(before: Option<&State>, after: Option<&State>) -> Vec<Objection> {
    let Some(after) = after else {
        let destroyed = || taken_back("the new content is no JSON object, so the state would be lost".into());
        return before.map(|_| destroyed()).into_iter().collect();
    };
    let known = before.map(fakes).unwrap_or_default();
    let is_new = |fake: &super::claims::Fake| !known.iter().any(|known| known.is(fake));
    let mut found: Vec<Objection> = fakes(after)
        .iter()
        .filter(|fake| is_new(fake))
        .map(|fake| Objection { what: fake.objection(), fix: FAKED })
        .collect();
    if let Some(before) = before
        && let (Some(was), Some(is)) = (before.workflow(), after.workflow())
        && is_same_workflow(before, after)
    {
        found.extend(moved_back(was, is).into_iter().map(taken_back));
        found.extend(phases(before, after).into_iter().map(taken_back));
        let (was, is) = (before.value(&[LOG]), after.value(&[LOG]));
        found.extend(shortened(LOG, was.as_ref(), is.as_ref()).map(taken_back));
    }
    found
}

fn taken_back(what: String) -> Objection {
    Objection { what, fix: TAKEN_BACK }
}

/// Another kind or another start is another workflow. What is only left out makes none.
fn is_same_workflow(before: &State, after: &State) -> bool {
    ["type", "started_at"].iter().all(|field| {
        let path = ["active_workflow", field];
        let is = after.value(&path).filter(|is| !is.is_null());
        is.is_none() || is == before.value(&path)
    })
}

/// Whether the workflow goes back to an earlier phase.
fn moved_back(was: &Workflow, is: &Workflow) -> Vec<String> {
    let mut found = Vec::new();
    let order = if was.phases.is_empty() { &is.phases } else { &was.phases };
    let position = |phase: &str| order.iter().position(|other| table::is_same(other, phase));
    if let Some(from) = was.current_phase.as_deref()
        && let Some(at) = position(from)
    {
        let to = is.current_phase.as_deref();
        let is_back = to.map_or(at > 0, |to| position(to).is_some_and(|to| to < at));
        if is_back {
            let to = to.map_or_else(|| "none".to_owned(), short);
            found.push(format!("current_phase would go back from {} to {to}", short(from)));
        }
    }
    let index = is.current_phase_index;
    if let Some(from) = was.current_phase_index
        && index.unwrap_or(0) < from
    {
        // Where phases are taken out of the workflow, those behind them get other numbers.
        let in_list = index.and_then(|index| is.phases.get(index)).zip(is.current_phase.as_ref());
        let is_renumbered =
            is.phases != was.phases && in_list.is_some_and(|(there, phase)| table::is_same(there, phase));
        if !is_renumbered {
            let to = index.map_or_else(|| "none".to_owned(), |index| index.to_string());
            found.push(format!("current_phase_index would go back from {from} to {to}"));
        }
    }
    found
}

/// What phases lose: that they are completed, their counts, their history.
fn phases(before: &State, after: &State) -> Vec<String> {
    let mut found = Vec::new();
    for (name, was) in before.phases() {
        let is = after.phase(name).map_or(&Value::Null, |(_, is)| is);
        let name = short(name);
        if was["status"] == "completed" && is["status"] != "completed" {
            let to = is.get("status").map_or_else(|| "none".to_owned(), |to| short(&to.to_string()));
            found.push(format!("the status of {name} would go back from \"completed\" to {to}"));
        }
        for part in &PARTS {
            let (from, to) = (part.count(was), part.count(is));
            if to < from {
                let part = format!("{}.{}", part.name(), part.counter());
                found.push(format!("in {name}, {part} would go back from {from} to {to}"));
            }
        }
        let history = shortened("test_iteration.history", at(was, HISTORY), at(is, HISTORY));
        found.extend(history.map(|what| format!("in {name}, {what}")));
    }
    found
}

/// Whether a log gets shorter, other than by dropping its oldest entries when it is long.
fn shortened(name: &str, was: Option<&Value>, is: Option<&Value>) -> Option<String> {
    /// So many entries may be new when others are dropped.
    const MOST_NEW: usize = 100;
    let list = |value: Option<&'_ Value>| value.and_then(Value::as_array).map(Vec::len).unwrap_or_default();
    let (from, to) = (list(was), list(is));
    if to >= from {
        return None;
    }
    let (was, is) = (was?.as_array()?, is.and_then(Value::as_array).map_or(&[][..], Vec::as_slice));
    let drops_oldest = |new: usize| {
        let kept = to.checked_sub(new).filter(|kept| *kept > 0);
        kept.is_some_and(|kept| is[..kept] == was[from - kept..])
    };
    if to >= SHORTEST_LOG && (0..=MOST_NEW).any(drops_oldest) {
        return None;
    }
    Some(format!("{name} would lose entries ({from} now, {to} then)"))
}

#[cfg(test)]
mod tests;
