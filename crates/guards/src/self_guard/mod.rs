//! Pack `self`: no agent switches the guards off.
//!
//! Four guards: [`tools`] checks what tools may not change, [`registration`] what a changed settings file may not do
//! to a running session, [`config_check`] reports mistakes in the configuration, and [`override_prompt`] records the
//! user's overrides. None of them sees what the user changes in an editor.

mod commands;
pub mod config_check;
mod instructions;
pub mod override_prompt;
mod patches;
mod patterns;
mod protected;
mod refusal;
pub mod registration;
pub mod tools;
mod work_tree;

/// A larger settings file is not read.
const LARGEST_SETTINGS: u64 = 4 << 20;
