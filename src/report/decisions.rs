//! The decisions that said something: their words, and the newest of them.

use super::left_out::LeftOutCounts;
use super::model::{DecisionRecord, OpinionRecord, Outcomes};
use super::outcomes::{CallOutcome, CallOutcomes};
use crate::journal::{GuardRecord, JournalRecord};
use crate::text::truncate_utf16;

/// The most decisions of a report, and the most bytes of their texts.
pub const MOST_DECISIONS: usize = 10_000;
const MOST_BYTES: usize = 32 << 20;
/// The longest texts of a journal line; one that is not Provost's own can have longer ones.
const LONGEST_TEXT: usize = 2_000;
const MOST_EVIDENCE: usize = 16;
const MOST_OPINIONS: usize = 64;
/// The words before the user's reason, in the evidence of an override.
const REASON: &str = "overridden by the user: ";

/// The newest decisions. Each has a number, by which its outcome is found.
#[derive(Default)]
pub struct DecisionList {
    kept: Vec<(usize, DecisionRecord)>,
    bytes: usize,
    added: usize,
}

impl DecisionList {
    /// Adds a decision, and returns its number.
    pub fn add(&mut self, project: &str, record: &JournalRecord, decision: &str) -> usize {
        let record = copy_record(project, record, decision);
        self.bytes += count_bytes(&record);
        self.kept.push((self.added, record));
        self.added += 1;
        // Half of the room again, so that the list is not sorted for each decision.
        if self.kept.len() >= MOST_DECISIONS * 3 / 2 || self.bytes >= MOST_BYTES * 3 / 2 {
            self.drop_oldest();
        }
        self.added - 1
    }

    fn drop_oldest(&mut self) {
        // Of equal times, the later line is newer.
        self.kept.sort_by(|(a, first), (b, second)| second.time.cmp(&first.time).then(b.cmp(a)));
        self.bytes = 0;
        let mut room = MOST_BYTES;
        let fits = self.kept.iter().take(MOST_DECISIONS).take_while(|(_, record)| {
            let size = count_bytes(record);
            self.bytes += size.min(room);
            let is_small = size <= room;
            room = room.saturating_sub(size);
            is_small
        });
        let count = fits.count();
        self.kept.truncate(count);
    }

    /// The decisions with their outcomes, newest first, and how often there was each outcome.
    pub fn finish(
        mut self,
        outcomes: CallOutcomes,
        left_out: &mut LeftOutCounts,
    ) -> (Outcomes, Vec<DecisionRecord>) {
        self.drop_oldest();
        left_out.decisions += (self.added - self.kept.len()) as u64;
        let outcomes = outcomes.finish();
        let mut counts = Outcomes::default();
        for outcome in outcomes.values() {
            let count = match outcome {
                CallOutcome::Fixed => &mut counts.fixed,
                CallOutcome::Overridden => &mut counts.overridden,
                CallOutcome::TriedAgain => &mut counts.tried_again,
                CallOutcome::GivenUp => &mut counts.given_up,
                CallOutcome::Unknown => &mut counts.unknown,
            };
            *count += 1;
        }
        let with_outcome = |(number, record)| {
            let outcome = outcomes.get(&number).map(|outcome| outcome.name().to_owned());
            DecisionRecord { outcome, ..record }
        };
        (counts, self.kept.into_iter().map(with_outcome).collect())
    }
}

/// The decision about a record, in the words of [`DecisionRecord::decision`]; `silence` if nothing was said.
pub fn describe_decision(record: &JournalRecord) -> &'static str {
    const WORDS: &[&str] =
        &["deny", "deny (fault)", "ask", "overridden", "would deny", "would ask", "would warn"];
    let decision = record.shown_decision();
    let says = |word: &str| record.guards().any(|guard| guard.text("opinion") == word);
    match WORDS.iter().find(|word| **word == decision) {
        Some(word) => word,
        // Another version may have more words.
        None if record.is_denial() => "deny",
        None if says("fault") => "fault",
        None if says("note") || !record.text("remark").is_empty() => "warn",
        None => "silence",
    }
}

/// The word for a guard's opinion in a report; `None` if it was silent.
pub fn word_of_opinion(opinion: &str) -> Option<&'static str> {
    const WORDS: &[&str] = &["deny", "ask", "overridden", "fault", "would deny", "would ask", "would warn"];
    match opinion {
        "note" => Some("warn"),
        opinion => WORDS.iter().copied().find(|word| *word == opinion),
    }
}

fn copy_record(project: &str, record: &JournalRecord, decision: &str) -> DecisionRecord {
    let text = |name: &str| shorten(record.text(name));
    let optional = |name: &str| Some(text(name)).filter(|text| !text.is_empty());
    let opinions = record.guards().filter_map(|guard| copy_opinion(&guard));
    DecisionRecord {
        explain: format!("provost explain {}", text("id")),
        id: text("id"),
        time: text("time"),
        project: shorten(project),
        session: optional("session"),
        agent: optional("agent"),
        call: optional("call"),
        event: text("event"),
        tool: optional("tool"),
        subject: optional("subject"),
        remark: optional("remark"),
        decision: decision.to_owned(),
        opinions: opinions.take(MOST_OPINIONS).collect(),
        outcome: None,
        micros: record.micros(),
    }
}

fn copy_opinion(guard: &GuardRecord<'_>) -> Option<OpinionRecord> {
    let opinion = word_of_opinion(guard.text("opinion"))?;
    let evidence: Vec<String> = guard.evidence().take(MOST_EVIDENCE).map(shorten).collect();
    Some(OpinionRecord {
        guard: shorten(guard.text("guard")),
        opinion: opinion.to_owned(),
        what: shorten(guard.text("what")),
        why: shorten(guard.text("why")),
        fix: shorten(guard.text("fix")),
        reason: evidence.iter().find_map(|text| text.strip_prefix(REASON)).map(str::to_owned),
        evidence,
    })
}

fn shorten(text: &str) -> String {
    truncate_utf16(text, LONGEST_TEXT).into_owned()
}

/// About how much memory a decision takes.
fn count_bytes(record: &DecisionRecord) -> usize {
    let of_opinion = |opinion: &OpinionRecord| {
        let evidence: usize = opinion.evidence.iter().map(String::len).sum();
        200 + opinion.what.len() + opinion.why.len() + opinion.fix.len() + evidence
    };
    let optional =
        [&record.subject, &record.session, &record.agent, &record.call, &record.tool, &record.remark];
    let texts: usize = optional.into_iter().flatten().map(String::len).sum();
    500 + texts + record.project.len() + record.opinions.iter().map(of_opinion).sum::<usize>()
}
