//! Judges past sessions by the guards and rules of now, or of another file.
//!
//! [`selection`] finds the records of sessions, [`session_reader`] reads one session with its agents, [`judge`] asks the
//! guards, and [`claims`] counts what several files repeat once. [`run`] does that on several threads. A record stays
//! where it is as it is: nothing here writes.
//!
//! Others that need past sessions ([`crate::clients::past`]) select files with [`selection::select`], and read them with
//! [`session_reader::SessionReader`].

mod branch_tracker;
pub mod claims;
pub mod judge;
pub mod result;
pub mod selection;
pub mod session_reader;
mod session_run;
mod workers;

pub use result::{DecisionChange, PastDecision, ReplayResult, Unjudged};
pub use workers::{Progress, ReplayRequest, run};

use std::collections::BTreeMap;

/// What was skipped, and how often.
pub type Skipped = BTreeMap<&'static str, u64>;
