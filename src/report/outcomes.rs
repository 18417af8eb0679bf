//! How denied tool calls went on: what the same session did with the same call later.

use std::collections::{BTreeMap, HashMap};

use crate::journal::lines::CallKey;

/// A hostile journal can contain any number of denied calls. Of more than these, it is unknown how they went on.
const MOST_OPEN: usize = 100_000;

/// How a denied call went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    Fixed,
    Overridden,
    TriedAgain,
    GivenUp,
    Unknown,
}

impl CallOutcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Overridden => "overridden",
            Self::TriedAgain => "tried again",
            Self::GivenUp => "given up",
            Self::Unknown => "unknown",
        }
    }
}

/// The outcomes of denied calls, by their numbers.
#[derive(Default)]
pub struct CallOutcomes {
    known: BTreeMap<usize, CallOutcome>,
    /// The denials of calls that were not allowed since.
    open: HashMap<CallKey, Vec<usize>>,
}

impl CallOutcomes {
    /// Adds a denial. If `is_old`, later lines of its version do not say which call was allowed.
    pub fn note_denied(&mut self, call: Option<CallKey>, number: usize, is_old: bool) {
        let Some(call) = call.filter(|_| self.known.len() < MOST_OPEN) else {
            self.known.insert(number, CallOutcome::Unknown);
            return;
        };
        let denials = self.open.entry(call).or_default();
        if let Some(last) = denials.last() {
            self.known.insert(*last, CallOutcome::TriedAgain);
        }
        denials.push(number);
        self.known.insert(number, if is_old { CallOutcome::Unknown } else { CallOutcome::GivenUp });
    }

    pub fn note_allowed(&mut self, call: &CallKey) {
        self.close(call, CallOutcome::Fixed);
    }

    pub fn note_overridden(&mut self, call: &CallKey) {
        self.close(call, CallOutcome::Overridden);
    }

    fn close(&mut self, call: &CallKey, outcome: CallOutcome) {
        // Nearly always, nothing is open.
        if self.open.is_empty() {
            return;
        }
        for number in self.open.remove(call).into_iter().flatten() {
            self.known.insert(number, outcome);
        }
    }

    /// Ends a project. Its sessions do not go on in another one.
    pub fn forget_calls(&mut self) {
        self.open.clear();
    }

    pub fn finish(self) -> BTreeMap<usize, CallOutcome> {
        self.known
    }
}
