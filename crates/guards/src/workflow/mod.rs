//! Spec-driven workflows.

mod archive_task;
pub mod finish;
pub mod ticks;
mod tool_commands;
mod work;
