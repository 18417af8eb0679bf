//! What a report does not contain, and why.

use std::collections::BTreeSet;

use super::decisions::MOST_DECISIONS;
use super::model::LeftOut;

/// The most files that are named.
const MOST_FILES: usize = 20;
const MOST_WHOLE_DAYS: usize = 10;

#[derive(Default)]
pub struct LeftOutCounts {
    /// Lines that are no decisions.
    pub broken: u64,
    /// Decisions without a time.
    pub undated: u64,
    /// Decisions after the time of the report.
    pub future: u64,
    /// Decisions that are counted, but not listed.
    pub decisions: u64,
    /// Opinions of guards that are not listed.
    pub guards: u64,
    files: Vec<String>,
    more_files: u64,
    /// Days of which the archive has only the totals, while the period begins within them.
    whole_days: BTreeSet<String>,
}

impl LeftOutCounts {
    pub fn add_file(&mut self, problem: &str) {
        if self.files.len() < MOST_FILES {
            self.files.push(problem.to_owned());
        } else {
            self.more_files += 1;
        }
    }

    pub fn first_file(&self) -> Option<&str> {
        self.files.first().map(String::as_str)
    }

    pub fn note_whole_day(&mut self, day: &str) {
        if self.whole_days.len() < MOST_WHOLE_DAYS {
            self.whole_days.insert(day.to_owned());
        }
    }

    pub fn list(self) -> Vec<LeftOut> {
        let mut all = Vec::new();
        let mut add = |what: &str, count: u64, why: String| {
            if count > 0 {
                all.push(LeftOut { what: what.to_owned(), count, why });
            }
        };
        for problem in self.files {
            add("a file of the journal", 1, format!("it cannot be read: {problem}"));
        }
        add("more files of the journal", self.more_files, "they cannot be read".into());
        add("lines of the journal", self.broken, "they are damaged or longer than 4 MB".into());
        add("decisions without a time", self.undated, "it is unknown whether they are in the period".into());
        add(
            "decisions in the future",
            self.future,
            "they are dated after the time of this report: a clock was or is wrong, or the report is made for an earlier \
             time"
                .into(),
        );
        add(
            "older decisions",
            self.decisions,
            format!(
                "they are counted, but only the last {MOST_DECISIONS} are listed; a shorter period (`--last`), or \
                 `provost journal --json`, shows them"
            ),
        );
        add("opinions of further guards", self.guards, "the journal names too many guards".into());
        for day in self.whole_days {
            let why = "the archive keeps only its total of silent decisions, so those before the period are counted too";
            add(&format!("the start of {day}"), 1, why.into());
        }
        all
    }
}
