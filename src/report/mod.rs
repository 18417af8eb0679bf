//! What Provost did in a period: collected from the journal into one model, and shown in several forms.
//!
//! [`model`] is what a report says. [`collect`] fills it from the journals of one or all projects, as a stream, so that a
//! journal of any size needs little memory. The forms (terminal tables, JSON, the HTML page) only print the model.

pub mod collect;
mod decisions;
mod left_out;
pub mod model;
mod outcomes;
pub mod page;
pub mod redact;
mod reviews;
pub mod summary;
pub mod totals;
pub mod transcripts;
