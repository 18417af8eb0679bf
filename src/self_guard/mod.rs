//! Pack `self`: nobody switches the guards off from inside.
//!
//! Four guards: what tools may not touch ([`tools`]), what a changed settings file may not do to
//! a running session ([`registration`]), mistakes in the configuration told to the person
//! ([`config_check`]), and the person's own way past a guard ([`override_prompt`]). A person's own
//! edit in an editor passes through none of them.

mod commands;
pub mod config_check;
mod instructions;
pub mod override_prompt;
mod patches;
mod protected;
mod refusal;
pub mod registration;
mod seal_key;
mod starts;
pub mod tools;
mod unfolded;
mod work_tree;

/// No settings file that a person writes is larger than this.
const LARGEST_SETTINGS: u64 = 4 << 20;
