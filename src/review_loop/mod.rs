//! The review loop: finished work is reviewed by somebody else until two reviews in a row are clean.
//!
//! `state.json` in the plan's directory says where a plan stands ([`state`]); one pure function says
//! where it goes ([`transition`]); [`rounds`] does it on the disk, reviews included; the guard
//! ([`stop`]) asks for it at the end of a turn, and `provost review` wherever a person wants it.

#[cfg(test)]
mod agreement;
pub mod ground_rules;
pub mod ledger;
mod memory;
pub mod messages;
pub mod names;
mod open_findings;
pub mod phase;
pub mod plan;
pub mod prompts;
pub mod rounds;
pub mod route;
pub mod state;
pub mod stop;
pub mod tasks;
pub mod transition;
