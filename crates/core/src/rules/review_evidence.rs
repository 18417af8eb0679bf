//! What a session's record says about the reviews of its changes.
//!
//! The changes of a session are reviewed for a rule from one place of the record on: where it was settled, because all
//! changes before were found clean. Where it was *looked at*, its reviews are over until the next change: the changes
//! were too small, or had all the reviews that they may have.

use serde_json::{Value, json};

use super::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};
use crate::review_verdict::{ReviewOutcome, ReviewUsage};

/// One review of the changes of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewRecord {
    pub rule: String,
    pub outcome: ReviewOutcome,
    /// Identifies the content of the reviewed files.
    pub content: String,
    pub model: String,
    /// The file with what the reviewer found.
    pub file: String,
    /// How long it took, in seconds.
    pub seconds: u64,
    pub usage: ReviewUsage,
    /// Identifies the event that it was made for, and the hook entry.
    pub occasion: u64,
    pub entry: u64,
}

impl ReviewRecord {
    pub(super) fn to_json(&self) -> Value {
        let Self { rule, outcome, content, model, file, seconds, usage, occasion, entry } = self;
        json!({"rule": rule, "verdict": outcome.name(), "content": content, "model": model, "file": file,
            "seconds": seconds, "tokens": usage.tokens, "cost": usage.cost, "occasion": occasion, "entry": entry})
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Self {
            rule: text("rule")?,
            outcome: ReviewOutcome::from_name(value["verdict"].as_str()?)?,
            content: text("content")?,
            model: text("model")?,
            file: text("file")?,
            seconds: value["seconds"].as_u64()?,
            usage: ReviewUsage { tokens: value["tokens"].as_u64(), cost: value["cost"].as_f64() },
            occasion: value["occasion"].as_u64()?,
            entry: value["entry"].as_u64()?,
        })
    }
}

/// How far the reviews of a rule are.
#[derive(Debug)]
pub struct ReviewProgress<'s> {
    /// All changes that no clean reviews cover.
    pub changes: Vec<&'s ChangedPath>,
    /// Those of them that nobody has looked at.
    pub new_changes: Vec<&'s ChangedPath>,
    /// The reviews that are not over.
    pub reviews: Vec<&'s ReviewRecord>,
}

impl ReviewProgress<'_> {
    /// The reviews with a verdict.
    pub fn count_reviews(&self) -> u64 {
        self.with_verdict().count() as u64
    }

    /// How many of the last reviews in a row found this content clean.
    pub fn count_clean(&self, content: &str) -> u64 {
        let is_clean =
            |review: &&&ReviewRecord| review.outcome == ReviewOutcome::Clean && review.content == content;
        self.with_verdict().rev().take_while(is_clean).count() as u64
    }

    pub fn last(&self) -> Option<&ReviewRecord> {
        self.reviews.last().copied()
    }

    fn with_verdict(&self) -> impl DoubleEndedIterator<Item = &&ReviewRecord> {
        self.reviews.iter().filter(|review| review.outcome != ReviewOutcome::Missing)
    }
}

impl SessionEvidence {
    /// How far the reviews of a rule are.
    pub fn review_progress(&self, name: &str) -> ReviewProgress<'_> {
        let settled = self.find_settled(name).map_or(0, |at| at + 1);
        let is_look =
            |record: &EvidenceRecord| matches!(record, EvidenceRecord::Looked { rule } if rule == name);
        let looked = self.records().iter().rposition(is_look).map_or(0, |at| at + 1).max(settled);
        let list_changes = |from: usize| {
            self.records()[from..].iter().filter_map(|record| match record {
                EvidenceRecord::Changed { change, .. } => Some(change),
                _ => None,
            })
        };
        let reviews = self.records()[looked..].iter().filter_map(|record| match record {
            EvidenceRecord::Reviewed(review) if review.rule == name => Some(&**review),
            _ => None,
        });
        ReviewProgress {
            changes: list_changes(settled).collect(),
            new_changes: list_changes(looked).collect(),
            reviews: reviews.collect(),
        }
    }

    /// Whether the user has ended the reviews of this turn.
    pub fn are_reviews_skipped(&self) -> bool {
        let last = self
            .records()
            .iter()
            .rev()
            .find(|record| matches!(record, EvidenceRecord::Prompt | EvidenceRecord::SkipReviews));
        last == Some(&EvidenceRecord::SkipReviews)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(outcome: ReviewOutcome, content: &str) -> EvidenceRecord {
        EvidenceRecord::Reviewed(Box::new(ReviewRecord {
            rule: "r".into(),
            outcome,
            content: content.into(),
            model: "m".into(),
            file: "/f".into(),
            seconds: 3,
            usage: ReviewUsage { tokens: Some(7), cost: Some(0.5) },
            occasion: 1,
            entry: 2,
        }))
    }

    fn changed(path: &str) -> EvidenceRecord {
        EvidenceRecord::Changed { change: ChangedPath::File(path.into()), call: String::new() }
    }

    fn read(records: &[EvidenceRecord]) -> SessionEvidence {
        SessionEvidence::parse(&records.iter().map(EvidenceRecord::to_line).collect::<String>())
    }

    #[test]
    fn only_clean_reviews_of_the_same_content_in_a_row_count() {
        let (clean, issues, none) = (ReviewOutcome::Clean, ReviewOutcome::Issues, ReviewOutcome::Missing);
        let count = |records: &[EvidenceRecord]| {
            let evidence = read(records);
            let progress = evidence.review_progress("r");
            (progress.count_reviews(), progress.count_clean("a"))
        };
        assert_eq!(count(&[review(clean, "a"), review(clean, "a")]), (2, 2));
        assert_eq!(count(&[review(clean, "a"), review(issues, "a"), review(clean, "a")]), (3, 1));
        assert_eq!(count(&[review(clean, "a"), review(none, "a"), review(clean, "a")]), (2, 2));
        assert_eq!(count(&[review(clean, "a"), review(clean, "b")]), (2, 0));
        assert_eq!(count(&[review(clean, "a"), EvidenceRecord::Looked { rule: "r".into() }]), (0, 0));
        assert_eq!(count(&[review(clean, "a"), EvidenceRecord::Looked { rule: "other".into() }]), (1, 1));
    }

    #[test]
    fn changes_stay_unreviewed_until_the_rule_is_settled() {
        let (looked, settled) =
            (EvidenceRecord::Looked { rule: "r".into() }, EvidenceRecord::Settled { rule: "r".into() });
        let count = |records: &[EvidenceRecord]| {
            let evidence = read(records);
            let progress = evidence.review_progress("r");
            (progress.changes.len(), progress.new_changes.len())
        };
        assert_eq!(count(&[changed("a"), looked.clone(), changed("b")]), (2, 1));
        assert_eq!(count(&[changed("a"), looked, changed("b"), settled]), (0, 0));
    }

    #[test]
    fn the_next_prompt_ends_a_skip() {
        assert!(
            read(&[EvidenceRecord::Prompt, EvidenceRecord::SkipReviews, changed("a")]).are_reviews_skipped()
        );
        assert!(!read(&[EvidenceRecord::SkipReviews, EvidenceRecord::Prompt]).are_reviews_skipped());
    }
}
