//! How often each guard and rule denied on each day, and which fill each of them has in all charts.
//!
//! In a project that only watches, nothing was denied. Then the charts show what would have been denied.

use std::collections::BTreeMap;

use super::chart::{Fill, SERIES};
use super::html::sum;
use crate::report::model::Report;

/// What the charts count.
pub(super) struct Stops<'a> {
    /// Whether nothing was denied, but something would have been.
    pub(super) is_watch_only: bool,
    /// The counts of each guard by date.
    counts: BTreeMap<&'a str, BTreeMap<&'a str, u64>>,
    /// The guards with a fill of their own, the busiest first.
    named: Vec<&'a str>,
    /// How many guards share the last fill.
    pub(super) others: usize,
}

impl<'a> Stops<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        let mut counts: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for day in &report.days {
            for entry in &day.denied_by {
                add(counts.entry(&day.date).or_default(), &entry.guard, entry.count);
            }
        }
        let is_watch_only = counts.is_empty() && report.days.iter().any(|day| day.would_deny > 0);
        if is_watch_only {
            for decision in &report.decisions {
                let date = decision.time.get(..10).unwrap_or_default();
                for opinion in decision.opinions.iter().filter(|opinion| opinion.opinion == "would deny") {
                    add(counts.entry(date).or_default(), &opinion.guard, 1);
                }
            }
        }
        let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
        for (guard, count) in counts.values().flatten() {
            add(&mut totals, guard, *count);
        }
        let mut named: Vec<&str> = totals.keys().copied().collect();
        named.sort_by_key(|guard| std::cmp::Reverse(totals[guard]));
        // The last fill is for all others, unless there is only one.
        let others = if named.len() > SERIES { named.len() - (SERIES - 1) } else { 0 };
        named.truncate(if others > 0 { SERIES - 1 } else { SERIES });
        Self { is_watch_only, counts, named, others }
    }

    /// The fill of a guard. Guards that share a fill have the last one.
    pub(super) fn fill(&self, guard: &str) -> Fill {
        Fill::Series(self.named.iter().position(|named| *named == guard).unwrap_or(SERIES - 1))
    }

    /// The guards with a fill of their own, the busiest first.
    pub(super) fn named(&self) -> &[&'a str] {
        &self.named
    }

    /// The counts of each guard on some days, the busiest over the whole period first.
    pub(super) fn on(&self, dates: &[&str]) -> Vec<(&'a str, u64)> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (guard, count) in dates.iter().filter_map(|date| self.counts.get(date)).flatten() {
            add(&mut sums, guard, *count);
        }
        let mut sums: Vec<(&str, u64)> = sums.into_iter().collect();
        sums.sort_by_key(|(guard, _)| self.named.iter().position(|named| named == guard).unwrap_or(SERIES));
        sums
    }
}

fn add<'a>(counts: &mut BTreeMap<&'a str, u64>, guard: &'a str, count: u64) {
    let known = counts.entry(guard).or_default();
    *known = sum([*known, count]);
}
