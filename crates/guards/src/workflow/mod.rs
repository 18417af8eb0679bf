//! Pack `workflow`: work waits until the user has approved the plan that it carries out, ticks wait for work, and an end
//! waits for the ticks.
//!
//! [`gate`] judges every change of a file that is work and not planning. [`approval`] records the user's prompt
//! `provost approve NAME`, bound to the meaning of the texts and sealed ([`record`]). [`standing`] says what governs the
//! work in a project: the open instance that is approved, or why none is. [`ticks`] judges what marks tasks as done, and
//! [`finish`] what archives, completes or removes an instance. The tables and readers of the tools' files are in
//! [`provost_core::workflow`].

pub mod approval;
mod archive_task;
mod changed_files;
pub mod finish;
pub mod gate;
mod places;
pub mod record;
pub mod standing;
pub mod ticks;
mod tool_commands;
mod unchanged;
pub mod waiting;
mod work;

pub use places::{find_record_place, list_roots_below};
