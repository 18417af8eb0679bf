//! The guards, one module for each pack, and the [`registry`] that lists them.
//!
//! A guard reads an event and the workspace, and returns an opinion. Two guards may also start a reviewer and wait
//! for it; the registry marks them with [`registry::TimeLimit::Reviewer`]. This crate is built without the standard
//! library: [`guard_std`] takes its place, so that a guard cannot open a file, read the environment, start a process
//! or print. It reaches the world through the workspace only.

#![cfg_attr(not(test), no_std)]

#[cfg(not(test))]
extern crate guard_std as std;

mod branch_finder;
pub mod change_review;
mod guard_selection;
mod override_target;
mod patched_files;
pub mod phases;
pub mod plan_gate;
pub mod planner;
mod prelude;
pub mod registry;
pub mod review_loop;
pub mod review_round;
pub mod rules;
pub mod seal;
pub mod self_guard;
mod shell_words;
pub mod workflow;
