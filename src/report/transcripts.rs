//! What would have happened in the sessions of the transcripts, as a part of a report: the numbers of `provost replay`.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{LeftOut, TranscriptGuard, TranscriptTotals};
use crate::past_judgement::Outcome;
use crate::replay::{PastDecision, ReplayResult};

/// The most commands that are named for one guard or rule.
const MOST_SUBJECTS: usize = 20;

/// Adds up a replay. `directory` is where the transcripts are, or whose they are.
pub fn sum_replay(result: &ReplayResult, directory: &str) -> TranscriptTotals {
    let count = |outcome| result.count(outcome) as u64;
    let (exact, approximate) = result.count_exact();
    TranscriptTotals {
        directory: directory.to_owned(),
        sessions: result.sessions as u64,
        calls: result.calls as u64,
        denied: count(Outcome::Denied),
        asked: count(Outcome::Asked),
        warned: count(Outcome::Warned),
        exact: exact as u64,
        approximate: approximate as u64,
        guards: sum_guards(&result.decisions),
        left_out: list_left_out(result),
    }
}

/// The decisions of each guard and rule, the busiest first. The decisions are sorted, the newest first.
fn sum_guards(decisions: &[PastDecision]) -> Vec<TranscriptGuard> {
    let mut guards: BTreeMap<&str, (TranscriptGuard, BTreeSet<&str>)> = BTreeMap::new();
    for decision in decisions {
        let (guard, seen) = guards.entry(&decision.judge).or_default();
        let count = match decision.outcome {
            Outcome::Denied => &mut guard.denied,
            Outcome::Asked => &mut guard.asked,
            Outcome::Warned => &mut guard.warned,
        };
        *count += 1;
        if guard.subjects.len() < MOST_SUBJECTS && seen.insert(&decision.what) {
            guard.subjects.push(decision.what.to_string());
        }
    }
    let named =
        guards.into_iter().map(|(name, (guard, _))| TranscriptGuard { guard: name.to_owned(), ..guard });
    let mut all: Vec<TranscriptGuard> = named.collect();
    let order = |guard: &TranscriptGuard| (guard.denied, guard.asked + guard.warned);
    all.sort_by(|a, b| order(b).cmp(&order(a)).then(a.guard.cmp(&b.guard)));
    all
}

fn list_left_out(result: &ReplayResult) -> Vec<LeftOut> {
    let skipped = result.skipped.iter().map(|(what, count)| LeftOut {
        what: format!("skipped in the transcripts ({what})"),
        count: *count,
        why: "it is no call that can be judged".into(),
    });
    let unjudged = result.unjudged.iter().map(|(guard, unjudged)| LeftOut {
        what: format!("events of the transcripts, for `{guard}`"),
        count: unjudged.events as u64,
        why: unjudged.why.to_owned(),
    });
    let unread = result.interrupted_after.map(|files| LeftOut {
        what: "files of the transcripts".into(),
        count: result.files.saturating_sub(files) as u64,
        why: "you interrupted the reading".into(),
    });
    skipped.chain(unjudged).chain(unread).collect()
}
