//! The totals of one day: how many events there were, and how long they took.
//!
//! The archive keeps these in place of the lines of silent decisions, and a report adds up all lines in the same way. So a
//! report says the same before and after its lines are archived.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::places::fnv1a;
use crate::text::truncate_utf16;

/// A hostile journal can contain any number of names. Those beyond these limits are counted together, or not at all.
const MOST_NAMES: usize = 500;
const MOST_SESSIONS: usize = 10_000;
const LONGEST_NAME: usize = 120;
/// The name of everything beyond [`MOST_NAMES`].
const OTHERS: &str = "(others)";

/// What a line says about an event, whatever was decided.
pub struct EventFacts<'a> {
    /// RFC 3339, and valid.
    pub time: &'a str,
    /// Empty if the line has none.
    pub session: &'a str,
    /// The client's name of the event.
    pub event: &'a str,
    /// Whether a tool was about to run.
    pub is_before_call: bool,
    pub micros: u64,
}

/// The events of one day.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DayTotals {
    /// `2026-11-17`.
    pub day: String,
    /// The times of the first and the last event.
    pub first: String,
    pub last: String,
    /// By the client's name.
    pub events: BTreeMap<String, EventTimes>,
    /// How many events each guard and rule judged.
    pub guards: BTreeMap<String, u64>,
    /// Digests of the sessions' ids.
    pub sessions: BTreeSet<String>,
}

/// How long the events of one name took.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventTimes {
    /// Whether a tool was about to run.
    pub is_before_call: bool,
    pub count: u64,
    /// In microseconds, like `longest` and the keys of `times`.
    pub sum: u64,
    pub longest: u64,
    /// How often each time occurred, rounded up to two significant digits.
    pub times: BTreeMap<u64, u64>,
}

impl DayTotals {
    pub fn new(day: &str) -> Self {
        Self { day: day.to_owned(), ..Self::default() }
    }

    /// Counts an event of this day, and the guards that judged it.
    pub fn add<'g>(&mut self, facts: &EventFacts<'_>, guards: impl Iterator<Item = &'g str>) {
        self.extend_to(facts.time, facts.time);
        entry(&mut self.events, facts.event).add(facts);
        for guard in guards {
            *entry(&mut self.guards, guard) += 1;
        }
        if !facts.session.is_empty() {
            self.add_session(Self::digest_session(facts.session));
        }
    }

    /// Adds other totals of the same day.
    pub fn merge(&mut self, other: Self) {
        self.extend_to(&other.first, &other.last);
        for (name, times) in other.events {
            entry(&mut self.events, &name).merge(times);
        }
        for (name, count) in other.guards {
            let sum = entry(&mut self.guards, &name);
            *sum = sum.saturating_add(count);
        }
        other.sessions.into_iter().for_each(|session| self.add_session(session));
    }

    /// How many events there were.
    pub fn count(&self) -> u64 {
        self.events.values().fold(0, |sum, times| sum.saturating_add(times.count))
    }

    /// A digest of a session's id. It only says whether two sessions are the same.
    pub fn digest_session(session: &str) -> String {
        format!("{:016x}", fnv1a(session.as_bytes()))
    }

    fn add_session(&mut self, digest: String) {
        if self.sessions.len() < MOST_SESSIONS {
            self.sessions.insert(digest);
        }
    }

    fn extend_to(&mut self, first: &str, last: &str) {
        if self.first.is_empty() || first < self.first.as_str() {
            first.clone_into(&mut self.first);
        }
        if last > self.last.as_str() {
            last.clone_into(&mut self.last);
        }
    }
}

impl EventTimes {
    fn add(&mut self, facts: &EventFacts<'_>) {
        self.is_before_call |= facts.is_before_call;
        self.count += 1;
        self.sum = self.sum.saturating_add(facts.micros);
        self.longest = self.longest.max(facts.micros);
        *self.times.entry(round_up(facts.micros)).or_default() += 1;
    }

    pub fn merge(&mut self, other: Self) {
        self.is_before_call |= other.is_before_call;
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.longest = self.longest.max(other.longest);
        for (time, count) in other.times {
            let sum = self.times.entry(round_up(time)).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// The time that this many of 100 events did not exceed.
    pub fn percentile(&self, hundredths: u64) -> u64 {
        let all: u128 = self.times.values().map(|count| u128::from(*count)).sum();
        let wanted = (all * u128::from(hundredths)).div_ceil(100).max(1);
        let mut seen = 0;
        let reaches = |(_, count): &(&u64, &u64)| {
            seen += u128::from(**count);
            seen >= wanted
        };
        self.times.iter().find(reaches).map_or(0, |(time, _)| *time)
    }
}

/// The value of a name, or that of all others if there are too many names.
fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    let name = truncate_utf16(name, LONGEST_NAME);
    let name = if map.len() >= MOST_NAMES && !map.contains_key(&*name) { OTHERS } else { &name };
    map.entry(name.to_owned()).or_default()
}

/// Rounds up to two significant digits.
pub fn round_up(micros: u64) -> u64 {
    let mut unit = 1;
    while micros / unit >= 100 {
        unit *= 10;
    }
    micros.div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(time: &'static str, micros: u64) -> EventFacts<'static> {
        EventFacts { time, session: "s", event: "Stop", is_before_call: false, micros }
    }

    #[test]
    fn times_are_rounded_up_and_stay_so() {
        for (micros, rounded) in [(0, 0), (99, 99), (100, 100), (101, 110), (1999, 2000), (12_345, 13_000)] {
            assert_eq!((round_up(micros), round_up(rounded)), (rounded, rounded));
        }
        assert!(round_up(u64::MAX) >= u64::MAX / 100);
    }

    #[test]
    fn merged_totals_are_those_of_all_events() {
        let times = ["2026-11-17T08:00:00.000Z", "2026-11-17T09:00:00.000Z", "2026-11-17T07:00:00.000Z"];
        let (mut whole, mut first, mut second) =
            (DayTotals::new("2026-11-17"), DayTotals::new("2026-11-17"), DayTotals::new("2026-11-17"));
        for (at, time) in times.into_iter().enumerate() {
            let part = if at == 1 { &mut second } else { &mut first };
            part.add(&facts(time, 1_500 * at as u64), ["a", "b"].into_iter());
            whole.add(&facts(time, 1_500 * at as u64), ["a", "b"].into_iter());
        }
        let text = serde_json::to_string(&second).unwrap();
        first.merge(serde_json::from_str(&text).unwrap());
        assert_eq!(first, whole);
        assert_eq!((whole.count(), whole.guards["a"], whole.sessions.len()), (3, 3, 1));
        assert_eq!((whole.first.as_str(), whole.last.as_str()), (times[2], times[1]));
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        let mut times = EventTimes::default();
        (1..=100).for_each(|micros| times.add(&facts("t", micros * 1000)));
        assert_eq!([50, 95, 100, 0].map(|at| times.percentile(at)), [50_000, 95_000, 100_000, 1000]);
        assert_eq!((EventTimes::default().percentile(50), times.longest, times.count), (0, 100_000, 100));
    }

    #[test]
    fn any_number_of_names_takes_little_room() {
        let mut totals = DayTotals::new("d");
        for number in 0..3000 {
            let name = format!("{number}{}", "x".repeat(1000));
            totals.add(&EventFacts { event: &name, ..facts("t", 1) }, [name.as_str()].into_iter());
        }
        assert_eq!(
            (totals.count(), totals.events.len(), totals.guards.len()),
            (3000, MOST_NAMES + 1, MOST_NAMES + 1)
        );
        assert!(serde_json::to_string(&totals).unwrap().len() < 200_000);
    }
}
