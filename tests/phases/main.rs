//! The phases of a workflow: every test of document 004 by its number, and what its scripts got wrong.
//!
//! Each decision is asked for twice: from the stand-in for the original script, and through `provost
//! hook`. Both must agree.

#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod agent_names;
mod branch_guard;
mod branch_guard_lines;
mod branch_guard_repositories;
mod branch_guard_updates;
mod constitution;
mod corridor;
mod delegation_gate;
mod detection;
mod discover_menu;
mod everyday;
mod gate;
mod ground;
mod hostile;
mod large;
mod matrix;
mod menu;
mod phase_loop;
mod phase_sequence;
mod plan_surfacer;
mod records;
mod reminder;
mod runner_outputs;
mod scripts;
mod skills;
mod state_write;
mod test_watch;
mod walkthrough;

use std::fs;

use serde_json::{Value, json};
use support::Answer;
use support::flow::{Flow, begun, denied, owners, told};
