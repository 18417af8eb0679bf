//! One review by one reviewer, of whatever: starts it, waits for its end, and reads its verdict.
//!
//! A verdict counts only with a review: a file that the reviewer has written, or where that is enough, what it has said.

use crate::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant};

use provost_core::opinion::Fault;
use provost_core::review_verdict::{ReviewOutcome, ReviewResult, ReviewUsage, ReviewVerdict};
use provost_core::reviewer::{self, ReviewLogs, ReviewerTask};
use provost_core::workspace::Workspace;

/// A verdict is searched for in this many bytes at the start of a review.
pub const LARGEST_REVIEW: u64 = 4 << 20;

/// A review to make.
pub struct ReviewRequest<'a> {
    pub prompt: &'a str,
    pub model: &'a str,
    pub limit: Duration,
    /// The directory in which the reviewer starts.
    pub directory: &'a Path,
    /// The file that the reviewer is asked to write.
    pub file: &'a Path,
    pub logs: ReviewLogs,
    /// What the reviewer says may take the place of the file.
    pub may_only_answer: bool,
}

/// A review that has ended.
pub struct FinishedReview {
    /// The error says why there is no verdict.
    pub verdict: Result<ReviewOutcome, Fault>,
    pub usage: ReviewUsage,
    pub took: Duration,
}

impl ReviewRequest<'_> {
    /// Starts the reviewer and waits for its verdict.
    pub fn run(&self, workspace: &Workspace) -> FinishedReview {
        let Self { prompt, model, limit, directory, .. } = *self;
        let began = Instant::now();
        let task = ReviewerTask { prompt, model, limit, directory };
        let run = reviewer::run_review(&task, &self.logs, workspace);
        let verdict = self.read_verdict(run.result, &run.words, workspace);
        FinishedReview { verdict, usage: run.usage, took: began.elapsed() }
    }

    fn read_verdict(
        &self,
        result: ReviewResult,
        words: &str,
        workspace: &Workspace,
    ) -> Result<ReviewOutcome, Fault> {
        let verdict = result.map_err(|no_answer| Fault::Error(no_answer.to_string()))?;
        if self.may_only_answer
            && verdict.is_some()
            && !workspace.has_content(self.file)
            && !words.trim().is_empty()
        {
            workspace.create_file(self.file, words.as_bytes(), None)?;
        }
        if !workspace.has_content(self.file) {
            return Err(Fault::Error(format!("the reviewer wrote no review to {}", self.file.display())));
        }
        let verdict = match verdict {
            Some(verdict) => Some(verdict),
            None => ReviewVerdict::from_last_line(&workspace.read_start(self.file, LARGEST_REVIEW)?.0),
        };
        match verdict {
            Some(ReviewVerdict::Pass) => Ok(ReviewOutcome::Clean),
            Some(ReviewVerdict::Fail) => Ok(ReviewOutcome::Issues),
            None => Err(Fault::Error("the reviewer gave no verdict".into())),
        }
    }
}
