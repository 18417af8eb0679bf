//! Fills the model of a report from the journals of one or several projects, line by line.
//!
//! Every line is counted into the totals of its day, as the archive counts it, and what said something is also counted by
//! guard and kept as a decision. Only the totals and a bounded number of decisions stay in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::decisions::{DecisionList, describe_decision, word_of_opinion};
use super::left_out::LeftOutCounts;
use super::model::{Day, GuardCount, GuardTotals, Project, Provenance, Report, SCHEMA};
use super::outcomes::CallOutcomes;
use super::reviews::ReviewerWork;
use super::summary;
use super::totals::{KnownGuard, list_guards, sum_cost};
use crate::clock;
use crate::journal::JournalRecord;
use crate::journal::day_totals::{DayTotals, EventFacts};
use crate::journal::lines::{JournalLine, find_day};
use crate::registry::{FailureMode, find_guard};

const DAY_SECONDS: u64 = 86_400;
/// The most days that are listed without a gap.
const MOST_DAYS: u64 = 400;
/// A hostile journal can contain any number of guards.
const MOST_GUARDS: usize = 1_000;

/// What a report is about.
pub struct Scope {
    /// The time of the report, in seconds since 1970.
    pub now: u64,
    /// How many seconds it goes back.
    pub seconds: u64,
    /// The words for that: `30d`.
    pub asked: String,
    pub made: Provenance,
}

/// Collects the lines of some journals.
pub struct Collector {
    scope: Scope,
    days: BTreeMap<String, (DayTotals, Day)>,
    guards: BTreeMap<String, GuardTotals>,
    decisions: DecisionList,
    outcomes: CallOutcomes,
    work: ReviewerWork,
    projects: Vec<Project>,
    /// The project whose lines are being added, and digests of its sessions.
    current: (Project, BTreeSet<String>),
    left_out: LeftOutCounts,
    /// Whether a journal begins before the period.
    is_covered: bool,
}

impl Collector {
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            days: BTreeMap::new(),
            guards: BTreeMap::new(),
            decisions: DecisionList::default(),
            outcomes: CallOutcomes::default(),
            work: ReviewerWork::default(),
            projects: Vec::new(),
            current: Default::default(),
            left_out: LeftOutCounts::default(),
            is_covered: false,
        }
    }

    /// Begins the journal of a project. Its lines say which one it is, if `path` does not.
    pub fn begin_project(&mut self, path: Option<&str>) {
        path.unwrap_or_default().clone_into(&mut self.current.0.path);
    }

    /// Ends the journal of a project. One without decisions in the period is listed if it is `wanted`.
    pub fn end_project(&mut self, is_wanted: bool) {
        let (mut project, sessions) = std::mem::take(&mut self.current);
        self.outcomes.forget_calls();
        if project.events > 0 || is_wanted {
            project.sessions = sessions.len() as u64;
            project.path.rsplit(['/', '\\']).next().unwrap_or_default().clone_into(&mut project.name);
            self.projects.push(project);
        }
    }

    /// The projects so far.
    pub fn project_paths(&self) -> impl Iterator<Item = &str> {
        self.projects.iter().map(|project| project.path.as_str())
    }

    /// Notes that a file could not be read.
    pub fn add_problem(&mut self, problem: &str) {
        self.left_out.add_file(problem);
    }

    /// Why nothing at all could be read, if files could not be read.
    pub fn only_problem(&self) -> Option<&str> {
        self.left_out.first_file().filter(|_| self.days.is_empty() && !self.is_covered)
    }

    /// Adds a line of the current project's journal; `None` for one that is too long to be read.
    pub fn add_line(&mut self, line: Option<&[u8]>) {
        match line.map(JournalLine::parse) {
            Some(JournalLine::Silent(silent)) => {
                self.name_project(&silent.project);
                let facts = silent.facts();
                if let Some(day) = self.open_day(facts.time) {
                    let day = day.to_owned();
                    if let Some(call) = silent.allowed_call() {
                        self.outcomes.note_allowed(&call);
                    }
                    self.count_event(&day, &facts, silent.guard_names());
                }
            }
            Some(JournalLine::Record(record)) => self.add_record(&record.masked()),
            Some(JournalLine::Header(header)) => {
                self.name_project(&header.project);
                self.left_out.broken += header.broken;
            }
            Some(JournalLine::Totals(totals)) => self.add_totals(totals),
            Some(JournalLine::Broken) if line.is_some_and(|line| line.trim_ascii().is_empty()) => {}
            Some(JournalLine::Broken) | None => self.left_out.broken += 1,
        }
    }

    fn name_project(&mut self, path: &str) {
        if self.current.0.path.is_empty() {
            path.clone_into(&mut self.current.0.path);
        }
    }

    /// The day of a time in the period. Of any other time, it notes why it does not count.
    fn open_day<'t>(&mut self, time: &'t str) -> Option<&'t str> {
        let seconds = clock::parse_utc(time).and_then(|seconds| u64::try_from(seconds).ok());
        let (Some(seconds), Some(day)) = (seconds, find_day(time)) else {
            self.left_out.undated += 1;
            return None;
        };
        if seconds > self.scope.now {
            self.left_out.future += 1;
            return None;
        }
        if seconds < self.start() {
            self.is_covered = true;
            return None;
        }
        Some(day)
    }

    fn start(&self) -> u64 {
        self.scope.now.saturating_sub(self.scope.seconds)
    }

    fn count_event<'g>(
        &mut self,
        day: &str,
        facts: &EventFacts<'_>,
        guards: impl Iterator<Item = &'g str>,
    ) -> &mut Day {
        let (totals, counts) = self.days.entry(day.to_owned()).or_insert_with(|| new_day(day));
        totals.add(facts, guards);
        let (project, sessions) = &mut self.current;
        project.events += 1;
        if !facts.session.is_empty() {
            sessions.insert(DayTotals::digest_session(facts.session));
        }
        counts
    }

    fn add_record(&mut self, record: &JournalRecord) {
        self.name_project(record.text("project"));
        let facts = record.facts();
        let Some(day) = self.open_day(facts.time).map(str::to_owned) else { return };
        let decision = describe_decision(record);
        let is_denied = record.is_denial();
        self.current.0.denied += u64::from(is_denied);
        let names: Vec<String> = record.guards().map(|guard| guard.text("guard").to_owned()).collect();
        let counts = self.count_event(&day, &facts, names.iter().map(String::as_str));
        match decision {
            "deny" | "deny (fault)" => counts.denied += 1,
            "ask" => counts.asked += 1,
            "overridden" => counts.overridden += 1,
            "would deny" => counts.would_deny += 1,
            "warn" => counts.warned += 1,
            _ => {}
        }
        counts.denied_calls += u64::from(is_denied && facts.is_before_call);
        counts.faults += u64::from(record.guards().any(|guard| guard.text("opinion") == "fault"));
        for guard in record.guards() {
            let (name, opinion) = (guard.text("guard"), guard.text("opinion"));
            self.count_opinion(name, opinion, facts.time);
            if opinion == "deny" || (is_denied && opinion == "fault" && fails_closed(name)) {
                self.count_denial(&day, name);
            }
        }
        let project = self.current.0.path.clone();
        self.work.add(&project, record);
        let denial = if decision == "silence" {
            self.note_allowed(record);
            None
        } else {
            let number = self.decisions.add(&project, record, decision);
            (is_denied && facts.is_before_call).then_some(number)
        };
        if let Some(number) = denial {
            self.outcomes.note_denied(record.call_key(), number, record.text("subject_hash").is_empty());
        } else if record.is_overridden()
            && let Some(call) = record.call_key()
        {
            self.outcomes.note_overridden(&call);
        } else if matches!(decision, "warn" | "fault" | "would deny" | "would ask" | "would warn") {
            self.note_allowed(record);
        }
    }

    fn note_allowed(&mut self, record: &JournalRecord) {
        if let Some(call) = record.call_key() {
            self.outcomes.note_allowed(&call);
        }
    }

    fn count_denial(&mut self, day: &str, guard: &str) {
        let Some((_, counts)) = self.days.get_mut(day) else { return };
        let is_full = counts.denied_by.len() >= MOST_GUARDS;
        match counts.denied_by.iter_mut().find(|entry| entry.guard == guard) {
            Some(entry) => entry.count += 1,
            None if is_full => {}
            None => counts.denied_by.push(GuardCount { guard: guard.to_owned(), count: 1 }),
        }
    }

    fn count_opinion(&mut self, name: &str, opinion: &str, time: &str) {
        let is_known = self.guards.contains_key(name);
        let Some(word) = word_of_opinion(opinion) else { return };
        if !is_known && self.guards.len() >= MOST_GUARDS {
            self.left_out.guards += 1;
            return;
        }
        let totals = self.guards.entry(name.to_owned()).or_default();
        let count = match word {
            "deny" => &mut totals.denied,
            "ask" => &mut totals.asked,
            "warn" => &mut totals.warned,
            "would deny" => &mut totals.would_deny,
            "would ask" => &mut totals.would_ask,
            "would warn" => &mut totals.would_warn,
            "overridden" => &mut totals.overridden,
            _ => &mut totals.faults,
        };
        *count += 1;
        if totals.last.as_deref().is_none_or(|last| last < time) {
            totals.last = Some(time.to_owned());
        }
    }

    /// Adds the silent decisions of a day, from the archive. A day at the start of the period counts as a whole.
    fn add_totals(&mut self, totals: DayTotals) {
        let seconds = |time: &str| clock::parse_utc(time).and_then(|seconds| u64::try_from(seconds).ok());
        let (Some(first), Some(last)) = (seconds(&totals.first), seconds(&totals.last)) else {
            self.left_out.undated += totals.count();
            return;
        };
        let start = self.start();
        self.is_covered |= first < start;
        if first > self.scope.now {
            self.left_out.future += totals.count();
        }
        if last < start || first > self.scope.now {
            return;
        }
        if first < start {
            self.left_out.note_whole_day(&totals.day);
        }
        let (project, sessions) = &mut self.current;
        project.events += totals.count();
        sessions.extend(totals.sessions.iter().cloned());
        let (day, _) = self.days.entry(totals.day.clone()).or_insert_with(|| new_day(&totals.day));
        day.merge(totals);
    }

    /// The report. `known` are the guards and rules of the configuration.
    pub fn finish(mut self, known: &[KnownGuard]) -> Report {
        let mut report = Report { schema: SCHEMA, made: self.scope.made.clone(), ..Report::default() };
        let totals: Vec<&DayTotals> = self.days.values().map(|(totals, _)| totals).collect();
        report.cost = sum_cost(&totals);
        let sessions: BTreeSet<&String> = totals.iter().flat_map(|day| &day.sessions).collect();
        report.summary.sessions = sessions.len() as u64;
        let mut judged: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, count) in totals.iter().flat_map(|day| &day.guards) {
            *judged.entry(name).or_default() += count;
        }
        report.guards = list_guards(std::mem::take(&mut self.guards), &judged, known);
        self.fill_period(&mut report);
        report.days = self.list_days(report.period.covered_from.as_deref());
        (report.outcomes, report.decisions) =
            std::mem::take(&mut self.decisions).finish(self.outcomes, &mut self.left_out);
        (report.reviews, report.plans) = self.work.finish();
        self.projects.sort_by(|a, b| a.path.cmp(&b.path));
        report.projects = self.projects;
        report.left_out = self.left_out.list();
        summary::summarize(&mut report);
        report
    }

    fn fill_period(&self, report: &mut Report) {
        let start = format_seconds(self.start());
        let times = |choose: fn(&DayTotals) -> &str| self.days.values().map(move |(day, _)| choose(day));
        let first = times(|day| &day.first).min().map(str::to_owned);
        let period = &mut report.period;
        period.asked.clone_from(&self.scope.asked);
        period.covered_from = if self.is_covered { Some(start.clone()) } else { first.clone() };
        period.from = start;
        period.to = format_seconds(self.scope.now);
        period.last = times(|day| &day.last).max().map(str::to_owned);
        period.first = first;
    }

    /// The days from a time until now.
    fn list_days(&mut self, covered_from: Option<&str>) -> Vec<Day> {
        let days = std::mem::take(&mut self.days);
        let mut found: BTreeMap<String, Day> = days
            .into_iter()
            .map(|(date, (totals, mut day))| {
                day.events = totals.count();
                day.denied_by.sort_by(|a, b| b.count.cmp(&a.count).then(a.guard.cmp(&b.guard)));
                (date, day)
            })
            .collect();
        let first = covered_from.and_then(clock::parse_utc).and_then(|first| u64::try_from(first).ok());
        if let Some(first) = first {
            let (first, last) = (first / DAY_SECONDS, self.scope.now / DAY_SECONDS);
            let is_short = last.saturating_sub(first) < MOST_DAYS;
            for number in (first..=last).filter(|_| is_short) {
                let time = format_seconds(number * DAY_SECONDS);
                let date = find_day(&time).unwrap_or_default();
                found.entry(date.to_owned()).or_insert_with(|| new_day(date).1);
            }
        }
        found.into_values().collect()
    }
}

/// Whether the fault of a guard is a denial.
fn fails_closed(guard: &str) -> bool {
    find_guard(guard).is_none_or(|guard| guard.failure_mode == FailureMode::Closed)
}

fn new_day(date: &str) -> (DayTotals, Day) {
    (DayTotals::new(date), Day { date: date.to_owned(), ..Day::default() })
}

/// A time as RFC 3339.
pub fn format_seconds(seconds: u64) -> String {
    clock::format_utc_seconds(Duration::from_secs(seconds))
}
