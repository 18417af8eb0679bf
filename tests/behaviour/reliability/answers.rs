//! The outcome of an event, in one word.

use std::fmt;

use serde_json::Value;

use super::faults::Fault;
use super::stage::{Stage, denial};
use crate::support::Answer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Acts,
    Denied,
    Allowed,
    Warned,
    Unseen,
    Ends,
    Silent,
    /// Denied for another reason than the guard's own or its failure. Never declared.
    Odd,
}

impl Outcome {
    pub const DECLARED: [Self; 7] =
        [Self::Acts, Self::Denied, Self::Allowed, Self::Warned, Self::Unseen, Self::Ends, Self::Silent];

    pub fn meaning(self) -> &'static str {
        match self {
            Self::Acts => "the guard works as without the fault",
            Self::Denied => {
                "the guard could not judge the call, so the call is denied, and the answer says so; after SIGTERM, the exit code alone denies it"
            }
            Self::Allowed => "the call is allowed without the guard, and the journal says why",
            Self::Warned => "the call is allowed without the guard, and the user or the model reads why",
            Self::Unseen => "the guard judges, and the journal records it, but its answer cannot be read",
            Self::Ends => "the process ends at once, without an answer, and the client allows the call",
            Self::Silent => {
                "the call is allowed without a message, because the file that the guard would judge does not exist"
            }
            Self::Odd => "another guard denied the call",
        }
    }

    /// The outcome of an answer in this scene.
    pub fn classify(stage: &Stage, fault: Fault, answer: &Answer) -> Self {
        let failed = format!("`{}` could not judge this", stage.guard.name);
        if let Some(reason) = denial(answer) {
            // After SIGTERM there is no time for a text.
            if reason.contains(&failed) || fault == Fault::Terminated && answer.stderr.is_empty() {
                return Self::Denied;
            }
            return if stage.is_done(answer) { Self::Acts } else { Self::Odd };
        }
        if stage.is_done(answer) {
            return Self::Acts;
        }
        if answer.code.is_none_or(|code| code == 128 + 15) {
            return Self::Ends;
        }
        let journal = stage.project.read_journal();
        let said = journal.last().and_then(|line| line["guards"].as_array().cloned()).unwrap_or_default();
        let is_fault = |said: &Value| said["opinion"] == "fault";
        let own = said.iter().find(|said| said["guard"] == stage.guard.name);
        if said.iter().any(is_fault) {
            Self::Allowed
        } else if !answer.stdout.is_empty() {
            Self::Warned
        } else if !fault.is_read() && own.is_some() {
            Self::Unseen
        } else if own.is_some_and(|own| !own["evidence"].is_null()) {
            Self::Allowed
        } else {
            Self::Silent
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Acts => "acts",
            Self::Denied => "denied",
            Self::Allowed => "allowed",
            Self::Warned => "warned",
            Self::Unseen => "unseen",
            Self::Ends => "ends",
            Self::Silent => "silent",
            Self::Odd => "odd",
        })
    }
}
