//! What came of an event, in one word.

use std::fmt;

use serde_json::Value;

use crate::faults::Fault;
use crate::stage::{Stage, denial};
use crate::support::Answer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Acts,
    Denied,
    GoesOn,
    Told,
    Unheard,
    Ends,
    Silent,
    /// Held back for another reason than the guard's own or its failure: never declared.
    Odd,
}

impl Word {
    pub const DECLARED: [Self; 7] =
        [Self::Acts, Self::Denied, Self::GoesOn, Self::Told, Self::Unheard, Self::Ends, Self::Silent];

    pub fn meaning(self) -> &'static str {
        match self {
            Self::Acts => "the guard does what it does in health",
            Self::Denied => {
                "what the guard could not judge is held back, and the answer says so; a process that is told to end says it by its exit code alone"
            }
            Self::GoesOn => "it goes on without the guard, and the journal says why",
            Self::Told => "it goes on without the guard, and the person or the model is told why",
            Self::Unheard => {
                "the guard judges, and the journal keeps it, but nobody reads what it has to say"
            }
            Self::Ends => "the process ends at once, without an answer, and the client goes on",
            Self::Silent => "it goes on without a word: what the guard would judge is not there",
            Self::Odd => "something else held it back",
        }
    }

    /// What an answer in this scene came to.
    pub fn of(stage: &Stage, fault: Fault, answer: &Answer) -> Self {
        let failed = format!("`{}` could not judge this", stage.guard.name);
        if let Some(reason) = denial(answer) {
            // A process that is told to end has no time for words.
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
        let journal = stage.project.journal();
        let said = journal.last().and_then(|line| line["guards"].as_array().cloned()).unwrap_or_default();
        let is_fault = |said: &Value| said["opinion"] == "fault";
        let own = said.iter().find(|said| said["guard"] == stage.guard.name);
        if said.iter().any(is_fault) {
            Self::GoesOn
        } else if !answer.stdout.is_empty() {
            Self::Told
        } else if !fault.is_read() && own.is_some() {
            Self::Unheard
        } else if own.is_some_and(|own| !own["evidence"].is_null()) {
            Self::GoesOn
        } else {
            Self::Silent
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Acts => "acts",
            Self::Denied => "denied",
            Self::GoesOn => "goes on",
            Self::Told => "told",
            Self::Unheard => "unheard",
            Self::Ends => "ends",
            Self::Silent => "silent",
            Self::Odd => "odd",
        })
    }
}
