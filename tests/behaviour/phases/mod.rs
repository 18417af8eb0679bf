//! The phases of a workflow: every test of document 004 by its number, and the mistakes of its scripts.
//!
//! Each decision is tested twice: with the stand-in for the original script, and with `provost
//! hook`. Both must agree.

mod agent_names;
pub(crate) mod branch_guard;
mod branch_guard_lines;
mod branch_guard_repositories;
mod branch_guard_updates;
mod constitution_validator;
mod delegation_detection;
mod delegation_gate;
mod discover_menu_guard;
mod gate_blocker;
mod guards_together;
mod hostile_files;
mod iteration_corridor;
mod large_files;
mod menu_tracker;
mod ordinary_work;
mod phase_loop_controller;
mod phase_sequence_guard;
mod plan_surfacer;
mod records;
mod review_reminder;
mod runner_outputs;
mod scripts;
mod skills;
mod state_write_before;
mod state_write_validator;
mod test_watcher;
mod walkthrough_tracker;
mod workflow_context;

use std::fs;

use crate::support::Answer;
use crate::support::workflow_project::{
    WorkflowProject, default_owners, read_denial, read_user_message, started_workflow,
};
use serde_json::{Value, json};
