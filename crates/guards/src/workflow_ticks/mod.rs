//! Ticks of task files need work.

mod commands;
mod new_ticks;
