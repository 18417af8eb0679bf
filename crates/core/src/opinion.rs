//! The opinion of one guard about an event, or how the guard failed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::disk_use::DiskUse;
use crate::review_verdict::ReviewUsage;

/// The opinion of one guard about an event.
#[derive(Debug, Default, Clone)]
pub struct Opinion {
    pub verdict: Verdict,
    /// The facts behind the opinion, for the journal and `explain`. Never file contents.
    pub evidence: Vec<String>,
    pub to_model: Option<String>,
    pub to_user: Option<String>,
    /// The prompt that an agent gets instead of the one in the call.
    pub agent_prompt: Option<String>,
    /// The guard found that the event is not its business, so the journal does not mention it.
    pub is_unconcerned: bool,
    /// The denial that the user lifted with a prompt.
    pub lifted_denial: Option<Denial>,
    /// What single rules say. Each becomes a finding of its own.
    pub by_rule: Vec<RuleOpinion>,
    /// No prompt lifts this denial, even if the guard's other denials can be overridden.
    pub is_final: bool,
    /// What reviewers did before the guard answered.
    pub reviewer_work: Option<ReviewerWork>,
    /// What it has asked of the disk, in a workspace of the past.
    pub disk_use: DiskUse,
}

/// What reviewers did, for the journal and for reports.
#[derive(Debug, Clone)]
pub enum ReviewerWork {
    Round(RoundRecord),
    Assessment(AssessmentRecord),
}

/// One round of a review.
#[derive(Debug, Clone)]
pub struct RoundRecord {
    pub plan: String,
    /// `code-review`, for example.
    pub review: &'static str,
    /// The task, if one task is reviewed.
    pub task: Option<String>,
    pub number: u64,
    pub model: String,
    /// `clean`, `issues` or `none`.
    pub verdict: &'static str,
    /// Whether the cycle of reviews is over.
    pub is_last: bool,
    pub took: Duration,
    /// What the reviewer says it has used.
    pub usage: ReviewUsage,
}

/// A recorded assessment of a plan.
#[derive(Debug, Clone)]
pub struct AssessmentRecord {
    pub plan: String,
    pub is_passed: bool,
    /// How long critic and validator took; `None` if other agents did it.
    pub took: Option<Duration>,
}

/// The opinion of one rule.
#[derive(Debug, Clone)]
pub struct RuleOpinion {
    /// `rule:NAME`.
    pub name: Arc<str>,
    /// It is recorded, but not enforced.
    pub is_watched: bool,
    pub opinion: Opinion,
}

/// The part of an opinion that can stop a call.
#[derive(Debug, Default, Clone)]
pub enum Verdict {
    #[default]
    Silence,
    Ask(Denial),
    Deny(Denial),
}

/// A denial: what was denied, why, how to fix it. An empty part is covered by the parts before it.
///
/// A terminal shows about 200 characters, so `what` begins with the command, file or agent, and all three begin short.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Denial {
    pub what: String,
    pub why: String,
    pub fix: String,
    /// The words of the guard's document for `what`. A replacement for the document's own script begins with them;
    /// otherwise they come last.
    pub document_wording: Option<String>,
}

/// How a guard can fail.
#[derive(Debug, Clone)]
pub enum Fault {
    Error(String),
    Panic(String),
    Deadline(Duration),
}

impl Opinion {
    pub fn silent() -> Self {
        Self::default()
    }

    /// The guard has nothing to judge here: treated as if Provost had not asked it.
    pub fn unconcerned() -> Self {
        Self { is_unconcerned: true, ..Self::default() }
    }

    /// Whether neither the user nor the model nor an agent gets anything.
    pub fn is_silent(&self) -> bool {
        let has_words = self.to_model.is_some() || self.to_user.is_some() || self.agent_prompt.is_some();
        matches!(self.verdict, Verdict::Silence) && !has_words
    }

    pub fn deny(denial: Denial, evidence: Vec<String>) -> Self {
        Self { verdict: Verdict::Deny(denial), evidence, ..Self::default() }
    }
}

impl From<Option<Opinion>> for Opinion {
    /// A guard without an opinion is not concerned.
    fn from(opinion: Option<Opinion>) -> Self {
        opinion.unwrap_or_else(Self::unconcerned)
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A prescribed text has a tag of its own.
        let tag = if self.what.starts_with('[') { "" } else { "[provost] " };
        let colon = if self.why.is_empty() { "" } else { ": " };
        let why = self.why.trim_end_matches('.');
        write!(f, "{tag}{}{colon}{why}", self.what)?;
        if !self.fix.is_empty() {
            let end = if why.ends_with('?') { "" } else { "." };
            write!(f, "{end} To fix: {}.", self.fix)?;
        }
        match &self.document_wording {
            Some(heading) if !self.what.ends_with(heading) => write!(f, " ({heading})"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(text) => f.write_str(text),
            Self::Panic(text) => write!(f, "internal error ({text})"),
            Self::Deadline(limit) => write!(f, "no answer within {:.1} s", limit.as_secs_f32()),
        }
    }
}
