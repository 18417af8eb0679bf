//! Pack `workflow`: work waits until the user has approved the plan that it carries out.
//!
//! [`gate`] judges every change of a file that is work and not planning. [`approval`] records the user's prompt
//! `provost approve NAME`, bound to the meaning of the texts and sealed ([`record`]). [`standing`] says what governs the
//! work in a project: the open instance that is approved, or why none is. The tables and readers of the tools' files
//! are in [`provost_core::workflow`].

pub mod approval;
mod changed_files;
pub mod gate;
mod places;
pub mod record;
pub mod standing;
mod unchanged;
pub mod waiting;

pub use places::{find_record_place, list_roots_below};
