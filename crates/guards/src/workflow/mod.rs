//! Spec-driven workflows.

pub(crate) mod ticks;
pub(crate) mod tool_commands;
