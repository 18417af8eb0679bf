//! What a replay has found.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Skipped;
use crate::past_judgement::Outcome;

#[derive(Debug, Default)]
pub struct ReplayResult {
    pub sessions: usize,
    pub files: usize,
    pub records: u64,
    pub bytes: u64,
    /// All calls of tools, also of agents.
    pub calls: usize,
    /// Those about which the client asked its hooks.
    pub asked_calls: usize,
    pub agent_calls: usize,
    pub calls_by_tool: BTreeMap<String, usize>,
    pub prompts: usize,
    pub notifications: usize,
    pub stops: usize,
    /// The times of the first and the last event.
    pub times: Option<(u64, u64)>,
    pub skipped: Skipped,
    pub unjudged: BTreeMap<Arc<str>, Unjudged>,
    /// Newest first. With two configurations, only those of calls that they judge differently.
    pub decisions: Vec<PastDecision>,
    /// It ended early: so many files were read.
    pub interrupted_after: Option<usize>,
}

/// A guard or a rule that could not judge.
#[derive(Debug, Clone)]
pub struct Unjudged {
    pub why: &'static str,
    pub events: usize,
}

/// What a guard or a rule would have done.
#[derive(Debug, Clone)]
pub struct PastDecision {
    pub session: Option<Arc<str>>,
    /// `None`: it is about the end of a turn.
    pub call: Option<Arc<str>>,
    /// Milliseconds since 1970.
    pub time: Option<u64>,
    /// The kind of the agent, or its id.
    pub agent: Option<Arc<str>>,
    pub tool: Option<Arc<str>>,
    /// The name of the guard, or `rule:NAME`.
    pub judge: Arc<str>,
    pub outcome: Outcome,
    pub is_exact: bool,
    /// It would only be recorded.
    pub is_watched: bool,
    /// The command, file or agent, without secrets.
    pub what: Arc<str>,
    pub why: Arc<str>,
    /// How it differs from the other configuration.
    pub change: Option<DecisionChange>,
}

/// How two configurations differ about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionChange {
    /// Only the new one would have stopped the call or warned.
    New,
    /// Only the old one would have.
    Gone,
    /// Both would have, in another way. What the old one would have done.
    Changed(Outcome),
}

impl DecisionChange {
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Changed(_) => "changed",
        }
    }
}

impl ReplayResult {
    /// How many decisions are exact, and how many are not.
    pub fn count_exact(&self) -> (usize, usize) {
        let exact = self.decisions.iter().filter(|decision| decision.is_exact).count();
        (exact, self.decisions.len() - exact)
    }

    pub fn count(&self, outcome: Outcome) -> usize {
        self.decisions.iter().filter(|decision| decision.outcome == outcome).count()
    }
}
