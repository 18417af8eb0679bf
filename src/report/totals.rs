//! The totals of a report that are added up at its end: each guard and rule, and the time that events took.

use std::collections::BTreeMap;

use super::model::{Cost, Distribution, EventCost, GuardTotals};
use crate::journal::day_totals::{DayTotals, EventTimes};
use crate::registry::RULES;

/// The upper bounds of the classes of a distribution, in microseconds. All of them have one significant digit, so a time that
/// was rounded up to two is in the class that it was in before.
pub const BOUNDS: [u64; 16] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
    2_000_000, 5_000_000, 10_000_000,
];

/// A guard or rule of the configuration.
pub struct KnownGuard {
    /// `rule:NAME` for a rule.
    pub name: String,
    pub pack: String,
    pub purpose: String,
    /// `enforce`, `watch` or `off`.
    pub mode: &'static str,
    /// Whether it is listed even if it never judged anything.
    pub is_on: bool,
}

/// The guards that spoke or judged, and those that are on: the busiest first.
pub(super) fn list_guards(
    mut spoke: BTreeMap<String, GuardTotals>,
    judged: &BTreeMap<&str, u64>,
    known: &[KnownGuard],
) -> Vec<GuardTotals> {
    for name in
        judged.keys().copied().chain(known.iter().filter(|guard| guard.is_on).map(|guard| &*guard.name))
    {
        // This guard asks all rules, and each of them speaks for itself.
        if name != RULES {
            spoke.entry(name.to_owned()).or_default();
        }
    }
    let mut all: Vec<GuardTotals> = spoke
        .into_iter()
        .map(|(name, mut totals)| {
            let of_config = known.iter().filter(|guard| guard.name == name);
            totals.mode = "unknown".into();
            for guard in of_config {
                totals.pack.clone_from(&guard.pack);
                totals.purpose.clone_from(&guard.purpose);
                totals.mode = match totals.mode.as_str() {
                    "unknown" => guard.mode.into(),
                    mode if mode == guard.mode => mode.into(),
                    _ => "mixed".into(),
                };
            }
            totals.judged = judged.get(name.as_str()).copied().unwrap_or(0);
            totals.guard = name;
            totals
        })
        .collect();
    let order = |totals: &GuardTotals| (totals.denied, totals.count_spoken(), totals.judged);
    all.sort_by(|a, b| order(b).cmp(&order(a)).then(a.guard.cmp(&b.guard)));
    all
}

pub(super) fn sum_cost(days: &[&DayTotals]) -> Cost {
    let mut by_event: BTreeMap<&str, EventTimes> = BTreeMap::new();
    let mut per_call = EventTimes::default();
    for (name, times) in days.iter().flat_map(|day| &day.events) {
        by_event.entry(name).or_default().merge(times.clone());
        if times.is_before_call {
            per_call.merge(times.clone());
        }
    }
    let events = by_event.into_iter();
    Cost {
        per_call: describe_times(&per_call),
        by_event: events
            .map(|(event, times)| EventCost { event: event.to_owned(), time: describe_times(&times) })
            .collect(),
        bounds: BOUNDS.to_vec(),
    }
}

fn describe_times(times: &EventTimes) -> Distribution {
    let mut counts = vec![0_u64; BOUNDS.len() + 1];
    for (micros, count) in &times.times {
        let class = &mut counts[BOUNDS.partition_point(|bound| bound < micros)];
        *class = class.saturating_add(*count);
    }
    Distribution {
        events: times.count,
        // The longest time is known exactly.
        p50_micros: times.percentile(50).min(times.longest),
        p95_micros: times.percentile(95).min(times.longest),
        max_micros: times.longest,
        total_micros: times.sum,
        counts,
    }
}
