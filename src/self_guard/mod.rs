//! Pack `self`: nobody switches the guards off from inside.
//!
//! Three guards: what tools may not touch ([`tools`]), what a changed settings file may not do to
//! a running session ([`registration`]), and mistakes in the configuration told to the person
//! ([`config_check`]). A person's own edit in an editor passes through none of them.

pub mod config_check;
mod protected;
pub mod registration;
pub mod tools;

/// No settings file that a person writes is larger than this.
const LARGEST_SETTINGS: u64 = 4 << 20;
