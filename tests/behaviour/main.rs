//! What hooks and commands do: the real program in a project of its own, on recorded events of the client.
//!
//! One program for all of it, because linking one takes longer than running most of its modules. A module is a
//! pack, a command, or a way in which things go wrong; `cargo test --test behaviour planner::` runs one.

#![cfg(unix)]

#[path = "../support/mod.rs"]
mod support;

mod adversary;
mod assessment;
mod change_review;
mod cli;
mod clients;
mod commands;
#[cfg(target_os = "linux")]
mod crash;
mod doctor;
mod events;
mod hook_process;
mod install;
mod journal_config;
mod overrides;
mod phases;
mod phases_cli;
mod plan_gate;
mod plan_gate_sidecar;
mod planner;
#[cfg(all(target_os = "linux", debug_assertions))]
mod reliability;
mod replay;
mod report;
mod review_loop;
mod review_loop_cli;
mod rules;
mod screens;
mod self_guard;
#[cfg(target_os = "linux")]
mod soak;
mod status;
mod workflow;
mod workflow_ticks;
mod workflow_tools;
