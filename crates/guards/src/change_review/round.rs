//! One review of a diff: the files around it, the prompt, the reviewer, and the record of the round.

use crate::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::prompts::{build_prompt, find_place};
use crate::review_loop::state::{FIRST_MODEL, SECOND_MODEL};
use crate::review_round::{FinishedReview, LARGEST_REVIEW, ReviewRequest};
use provost_core::config::settings;
use provost_core::opinion::{Fault, ReviewerWork, RoundRecord};
use provost_core::review_verdict::{ReviewOutcome, ReviewUsage};
use provost_core::reviewer::ReviewLogs;
use provost_core::text::{make_printable, truncate_utf16};
use provost_core::workspace::Workspace;
use provost_core::workspace::change_diff::ChangeDiff;

/// The folder in Provost's own directory for diffs, findings and the output of reviewers.
const FOLDER: &str = "reviews";
/// How much of a review is given to the agent.
const LONGEST_FINDINGS: usize = 6_000;
/// What journals and reports call these reviews.
pub const REVIEW_NAME: &str = "change-review";

/// A review of a diff to make.
pub struct ChangeReview<'a> {
    pub diff: &'a ChangeDiff,
    /// What the diff is, for the prompt.
    pub about: &'a str,
    pub model: &'a str,
    pub limit: Duration,
    /// Starts at 1.
    pub number: u64,
}

/// A review of a diff that has ended.
pub struct FinishedChangeReview {
    pub finished: FinishedReview,
    /// The file with what the reviewer found.
    pub file: PathBuf,
}

impl ChangeReview<'_> {
    /// Starts the reviewer and waits for its verdict.
    pub fn run(&self, workspace: &Workspace) -> Result<FinishedChangeReview, Fault> {
        let project = &workspace.project;
        let own_file = |ending: &str| {
            workspace.new_state_file(FOLDER, project, &format!("{REVIEW_NAME}-{}{ending}", self.number))
        };
        let text = own_file(".diff")?;
        workspace.write_diff_text(self.diff, &text)?;
        let file = match workspace.config.word(settings::REVIEWER_FINDINGS) {
            directory if directory.is_empty() => own_file(".md")?,
            directory => {
                let directory = find_place(&directory, workspace);
                workspace.make_directory(&directory)?;
                // The name in the state directory is unique.
                directory.join(own_file(".md")?.file_name().unwrap_or_default())
            }
        };
        let prompt = build_prompt(self.diff, self.about, &text, &file, workspace)?;
        let request = ReviewRequest {
            prompt: &prompt,
            model: self.model,
            limit: self.limit,
            directory: project,
            file: &file,
            logs: ReviewLogs { out: own_file(".out")?, err: own_file(".err")? },
            may_only_answer: true,
        };
        let finished = request.run(workspace);
        Ok(FinishedChangeReview { finished, file })
    }
}

impl FinishedChangeReview {
    pub fn outcome(&self) -> ReviewOutcome {
        self.finished.verdict.as_ref().copied().unwrap_or(ReviewOutcome::Missing)
    }

    /// The round for the journal. `of` is what was reviewed for: a rule, for example.
    pub fn record(&self, of: &str, review: &ChangeReview<'_>, is_last: bool) -> ReviewerWork {
        ReviewerWork::Round(RoundRecord {
            plan: of.to_owned(),
            review: REVIEW_NAME,
            task: None,
            number: review.number,
            model: review.model.to_owned(),
            verdict: self.outcome().name(),
            is_last,
            took: self.finished.took,
            usage: self.finished.usage,
        })
    }
}

/// The model of a review after so many others: two take turns.
pub fn choose_model(reviews_before: u64) -> &'static str {
    if reviews_before.is_multiple_of(2) { FIRST_MODEL } else { SECOND_MODEL }
}

/// What a reviewer found, for the agent.
pub fn read_findings(file: &Path, workspace: &Workspace) -> String {
    let text = workspace.read_start(file, LARGEST_REVIEW).map(|(text, _)| text).unwrap_or_default();
    make_printable(&truncate_utf16(text.trim(), LONGEST_FINDINGS)).into_owned()
}

/// What reviews have cost: `3 reviews, 12 min, 81000 tokens, $0.42`.
pub fn describe_cost(reviews: u64, seconds: u64, usage: ReviewUsage) -> String {
    let mut parts = Vec::new();
    if reviews > 1 {
        parts.push(format!("{reviews} reviews"));
    }
    parts.push(if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds / 60) });
    parts.extend(usage.tokens.map(|tokens| format!("{tokens} tokens")));
    parts.extend(usage.cost.map(|cost| format!("${cost:.2}")));
    parts.join(", ")
}

/// The size of a diff: `2 files, 31 lines`.
pub fn describe_size(diff: &ChangeDiff) -> String {
    let count = |number: u64, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
    format!("{}, {}", count(diff.files.len() as u64, "file"), count(diff.count_lines(), "line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_shown_as_far_as_they_are_known() {
        assert_eq!(describe_cost(1, 3, ReviewUsage::default()), "3 s");
        let usage = ReviewUsage { tokens: Some(81_000), cost: Some(0.4249) };
        assert_eq!(describe_cost(3, 720, usage), "3 reviews, 12 min, 81000 tokens, $0.42");
    }
}
