//! What a session has done, as far as rules ask for it: changed files, and runs of commands with their results.
//!
//! The record is one file for each session, with one JSON array for each line, in the order in which things happened.
//! Only the end of a run tells its result, but files may change while it runs, so its start is recorded too: a run
//! proves nothing about a change that came after its start. A line that cannot be read may have been any change.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::review_evidence::ReviewRecord;

/// One line of a session's record.
#[derive(Debug, Clone, PartialEq)]
pub enum EvidenceRecord {
    /// A call with a run that a rule asks for is about to start.
    Started { call: String },
    /// A call has changed a file.
    Changed { change: ChangedPath, call: String },
    /// A command that a rule asks for has ended.
    Ran { pattern: String, has_succeeded: bool, call: String },
    /// A command line that rules ask for, or that changes files, runs in the background.
    Background { task: String, patterns: Vec<String>, call: String },
    /// A rule has stopped a turn from ending. `occasion` and `entry` identify the event and the hook entry.
    Held { rule: String, agent: String, occasion: u64, entry: u64 },
    /// A rule has found its evidence, or has warned about the changes so far.
    Settled { rule: String },
    /// The changes of a session were reviewed for a rule.
    Reviewed(Box<ReviewRecord>),
    /// The reviews of a rule are over until the next change.
    Looked { rule: String },
    /// The user has typed a prompt.
    Prompt,
    /// The user has ended the reviews of the turn.
    SkipReviews,
    /// A call that marks tasks of a workflow as done is about to start. `root`: the directory of the workflow.
    Ticking { root: String, session: String, call: String },
    /// A call that marks tasks of a workflow as done has ended.
    Ticked { root: String, session: String },
}

/// A file that a session has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedPath {
    File(PathBuf),
    /// A directory, with anything in it.
    Tree(PathBuf),
    /// Any file.
    Any,
}

impl EvidenceRecord {
    pub fn to_line(&self) -> String {
        let value = match self {
            Self::Started { call } => json!(["started", call]),
            Self::Changed { change, call } => match change {
                ChangedPath::File(path) => json!(["changed", path.to_string_lossy(), call]),
                ChangedPath::Tree(path) => json!(["changed tree", path.to_string_lossy(), call]),
                ChangedPath::Any => json!(["changed any", call]),
            },
            Self::Ran { pattern, has_succeeded: true, call } => json!(["passed", pattern, call]),
            Self::Ran { pattern, has_succeeded: false, call } => json!(["failed", pattern, call]),
            Self::Background { task, patterns, call } => json!(["background", task, patterns, call]),
            Self::Held { rule, agent, occasion, entry } => json!(["held", rule, agent, occasion, entry]),
            Self::Settled { rule } => json!(["settled", rule]),
            Self::Reviewed(review) => json!(["reviewed", review.to_json()]),
            Self::Looked { rule } => json!(["looked", rule]),
            Self::Prompt => json!(["prompt"]),
            Self::SkipReviews => json!(["skip reviews"]),
            Self::Ticking { root, session, call } => json!(["ticking", root, session, call]),
            Self::Ticked { root, session } => json!(["ticked", root, session]),
        };
        format!("{value}\n")
    }

    fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |at: usize| value[at].as_str().map(str::to_owned);
        let changed = |change, at| Some(Self::Changed { change, call: text(at)? });
        Some(match value[0].as_str()? {
            "started" => Self::Started { call: text(1)? },
            "changed" => return changed(ChangedPath::File(text(1)?.into()), 2),
            "changed tree" => return changed(ChangedPath::Tree(text(1)?.into()), 2),
            "changed any" => return changed(ChangedPath::Any, 1),
            word @ ("passed" | "failed") => {
                Self::Ran { pattern: text(1)?, has_succeeded: word == "passed", call: text(2)? }
            }
            "background" => {
                let patterns = value[2].as_array()?.iter().filter_map(Value::as_str).map(str::to_owned);
                Self::Background { task: text(1)?, patterns: patterns.collect(), call: text(3)? }
            }
            "held" => Self::Held {
                rule: text(1)?,
                agent: text(2)?,
                occasion: value[3].as_u64()?,
                entry: value[4].as_u64()?,
            },
            "settled" => Self::Settled { rule: text(1)? },
            "reviewed" => Self::Reviewed(Box::new(ReviewRecord::from_json(&value[1])?)),
            "looked" => Self::Looked { rule: text(1)? },
            "prompt" => Self::Prompt,
            "skip reviews" => Self::SkipReviews,
            "ticking" => Self::Ticking { root: text(1)?, session: text(2)?, call: text(3)? },
            "ticked" => Self::Ticked { root: text(1)?, session: text(2)? },
            _ => return None,
        })
    }
}

/// The record of a session.
#[derive(Debug, Default)]
pub struct SessionEvidence {
    records: Vec<EvidenceRecord>,
}

/// A run of a command that a rule asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessedRun<'a> {
    pub has_succeeded: bool,
    call: &'a str,
    /// The index of the record from which on changes are not covered.
    start: usize,
    end: usize,
}

impl SessionEvidence {
    pub fn parse(text: &str) -> Self {
        let unknown = || EvidenceRecord::Changed { change: ChangedPath::Any, call: String::new() };
        let lines = text.lines().filter(|line| !line.is_empty());
        Self { records: lines.map(|line| EvidenceRecord::parse(line).unwrap_or_else(unknown)).collect() }
    }

    pub fn from_records(records: Vec<EvidenceRecord>) -> Self {
        Self { records }
    }

    /// The last run of the command that a pattern describes.
    pub fn find_last_run(&self, wanted: &str) -> Option<WitnessedRun<'_>> {
        self.list_runs(wanted).next()
    }

    /// The runs of the command that a pattern describes, the last one first.
    pub fn list_runs<'s>(&'s self, wanted: &str) -> impl Iterator<Item = WitnessedRun<'s>> {
        self.records.iter().enumerate().rev().filter_map(move |(end, record)| match record {
            EvidenceRecord::Ran { pattern, has_succeeded, call } if pattern == wanted => {
                let start = self.find_start(end, call);
                Some(WitnessedRun { has_succeeded: *has_succeeded, call, start, end })
            }
            _ => None,
        })
    }

    fn find_start(&self, end: usize, call: &str) -> usize {
        let is_start = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Started { call: started } if started == call);
        self.records[..end].iter().rposition(is_start).unwrap_or(end)
    }

    /// The changes that other calls made during a run.
    pub fn list_changes_during(&self, run: WitnessedRun<'_>) -> impl Iterator<Item = &ChangedPath> {
        self.records[run.start..run.end].iter().filter_map(move |record| match record {
            EvidenceRecord::Changed { change, call } if call != run.call => Some(change),
            _ => None,
        })
    }

    /// The changes that no run covers: since the start of a successful run, or all. What the run's own command line has
    /// changed before is covered.
    pub fn list_changes_since(&self, run: Option<WitnessedRun<'_>>) -> impl Iterator<Item = &ChangedPath> {
        let run = run.filter(|run| run.has_succeeded);
        let is_covered = move |at: usize, changer: &str| {
            run.is_some_and(|run| {
                at < run.start || at < run.end && changer == run.call && !changer.is_empty()
            })
        };
        self.records.iter().enumerate().filter_map(move |(at, record)| match record {
            EvidenceRecord::Changed { change, call } if !is_covered(at, call) => Some(change),
            _ => None,
        })
    }

    /// The changes since a rule was settled.
    pub fn list_changes_since_settled(&self, name: &str) -> impl Iterator<Item = &ChangedPath> {
        let from = self.find_settled(name).map_or(0, |at| at + 1);
        self.records[from..].iter().filter_map(|record| match record {
            EvidenceRecord::Changed { change, .. } => Some(change),
            _ => None,
        })
    }

    /// All records, in the order in which they were written.
    pub fn records(&self) -> &[EvidenceRecord] {
        &self.records
    }

    pub(super) fn find_settled(&self, name: &str) -> Option<usize> {
        self.records
            .iter()
            .rposition(|record| matches!(record, EvidenceRecord::Settled { rule } if rule == name))
    }

    /// The call that started a background task, and the patterns of its commands.
    pub fn find_background(&self, wanted: &str) -> Option<(&str, &[String])> {
        self.records.iter().rev().find_map(|record| match record {
            EvidenceRecord::Background { task, patterns, call } if task == wanted => {
                Some((call.as_str(), patterns.as_slice()))
            }
            _ => None,
        })
    }

    /// What a background task changes, as it was recorded when the task was started.
    pub fn list_changes_by<'s>(&'s self, wanted: &str) -> impl Iterator<Item = &'s ChangedPath> {
        self.records.iter().filter_map(move |record| match record {
            EvidenceRecord::Changed { change, call } if call == wanted => Some(change),
            _ => None,
        })
    }

    /// The background tasks whose end is not known yet.
    pub fn list_running_tasks(&self) -> Vec<&str> {
        let has_ended = |at: usize, started: &str| {
            self.records[at..].iter().any(|record| match record {
                EvidenceRecord::Ran { call, .. } | EvidenceRecord::Changed { call, .. } => call == started,
                _ => false,
            })
        };
        let running = self.records.iter().enumerate().filter_map(|(at, record)| match record {
            EvidenceRecord::Background { task, call, .. } if !has_ended(at, call) => Some(task.as_str()),
            _ => None,
        });
        running.collect()
    }

    /// How often in a row a rule has stopped an agent's turn from ending: since the user's last prompt, and since it
    /// found its evidence or `run` gave it. Several hook entries can answer one event, which counts once.
    pub fn count_rounds(&self, name: &str, wanted: &str, run: Option<WitnessedRun<'_>>) -> u64 {
        let ends_count = |record: &EvidenceRecord| match record {
            EvidenceRecord::Prompt => true,
            EvidenceRecord::Settled { rule } => rule == name,
            _ => false,
        };
        let counted_anew = self.records.iter().rposition(ends_count).max(run.map(|run| run.end));
        let from = counted_anew.map_or(0, |at| at + 1);
        let (mut rounds, mut current, mut entries) = (0, None, Vec::new());
        for record in &self.records[from..] {
            let EvidenceRecord::Held { rule, agent, occasion, entry } = record else { continue };
            if rule != name || agent != wanted {
                continue;
            }
            if current != Some(*occasion) || entries.contains(entry) {
                rounds += 1;
                current = Some(*occasion);
                entries.clear();
            }
            entries.push(*entry);
        }
        rounds
    }

    /// Adds a record to this value only.
    pub fn push(&mut self, record: EvidenceRecord) {
        self.records.push(record);
    }

    /// Whether a turn was stopped since the user's last prompt, or the user has ended its reviews.
    pub fn has_rounds(&self) -> bool {
        let is_prompt = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Prompt);
        let from = self.records.iter().rposition(is_prompt).map_or(0, |at| at + 1);
        self.records[from..]
            .iter()
            .any(|record| matches!(record, EvidenceRecord::Held { .. } | EvidenceRecord::SkipReviews))
    }
}

impl ChangedPath {
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Tree(path) => Some(path),
            Self::Any => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str, call: &str) -> EvidenceRecord {
        EvidenceRecord::Changed { change: ChangedPath::File(path.into()), call: call.into() }
    }

    fn ran(has_succeeded: bool, call: &str) -> EvidenceRecord {
        EvidenceRecord::Ran { pattern: "cargo test".into(), has_succeeded, call: call.into() }
    }

    fn started(call: &str) -> EvidenceRecord {
        EvidenceRecord::Started { call: call.into() }
    }

    fn held(occasion: u64, entry: u64) -> EvidenceRecord {
        EvidenceRecord::Held { rule: "r".into(), agent: String::new(), occasion, entry }
    }

    fn uncovered(records: &[EvidenceRecord]) -> usize {
        let text: String = records.iter().map(EvidenceRecord::to_line).collect();
        let evidence = SessionEvidence::parse(&text);
        evidence.list_changes_since(evidence.find_last_run("cargo test")).count()
    }

    #[test]
    fn a_run_covers_what_changed_before_its_start_and_by_its_own_line() {
        assert_eq!(uncovered(&[changed("a", "1"), started("2"), ran(true, "2")]), 0);
        assert_eq!(uncovered(&[started("2"), changed("a", "1"), ran(true, "2")]), 1);
        assert_eq!(uncovered(&[started("2"), changed("a", "2"), ran(true, "2")]), 0);
        assert_eq!(uncovered(&[started("2"), ran(true, "2"), changed("a", "2")]), 1);
        assert_eq!(uncovered(&[changed("a", "1"), ran(true, "2"), ran(false, "3")]), 1);
        assert_eq!(uncovered(&[changed("a", "1"), ran(true, "2")]), 0);
    }

    #[test]
    fn a_damaged_line_may_have_been_any_change() {
        let text = format!("{}[\"chang\n", ran(true, "1").to_line());
        let evidence = SessionEvidence::parse(&text);
        let run = evidence.find_last_run("cargo test");
        assert_eq!(evidence.list_changes_since(run).collect::<Vec<_>>(), [&ChangedPath::Any]);
    }

    #[test]
    fn rounds_count_events_and_not_hook_entries() {
        let rounds = |records: &[EvidenceRecord]| {
            let text: String = records.iter().map(EvidenceRecord::to_line).collect();
            SessionEvidence::parse(&text).count_rounds("r", "", None)
        };
        assert_eq!(rounds(&[held(1, 1), held(1, 2), held(1, 1), held(2, 1)]), 3);
        assert_eq!(rounds(&[held(1, 1), EvidenceRecord::Prompt, held(2, 1)]), 1);
        assert_eq!(rounds(&[held(1, 1), EvidenceRecord::Settled { rule: "r".into() }]), 0);
        assert_eq!(rounds(&[held(1, 1), EvidenceRecord::Settled { rule: "other".into() }]), 1);
    }
}
