//! Pack `review-loop`: finished work is reviewed by an independent reviewer until two reviews in a row are clean.
//!
//! `state.json` in the plan's directory holds the state of a plan ([`state`]), and one pure function decides what
//! comes next ([`transition`]). [`due_review`] carries it out: it starts the reviewer and writes the state. The guard
//! ([`stop`]) does that at the end of a turn, and `provost review` on the user's request.

pub mod due_review;
pub mod file_names;
pub mod ground_rules;
pub mod ledger;
pub mod messages;
pub mod next_action;
mod notices;
mod open_findings;
pub mod phase;
pub mod plan;
#[cfg(test)]
mod plugin_tests;
pub mod prompts;
pub mod state;
pub mod stop;
pub mod tasks;
pub mod transition;
