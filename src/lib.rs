//! Provost: one process that a coding agent's hooks call, and one decision per event.
//!
//! The path through the house: a client's JSON becomes an [`event::Event`]; what it would do are
//! its [`effect::Effect`]s; the [`engine`] asks every guard of the [`registry`] that the event
//! concerns; their opinions fold into one [`decision::Decision`]; the client's adapter renders it,
//! and the [`journal`] keeps a line. Data goes one way.

pub mod cli;
pub mod clients;
mod clock;
pub mod config;
pub mod decision;
pub mod effect;
pub mod engine;
pub mod event;
mod faults;
pub mod files;
pub mod glob;
pub mod hook;
pub mod journal;
pub mod json_object;
mod json_text;
pub mod overrides;
pub mod phases;
pub mod plan_gate;
mod planner;
pub mod reference;
pub mod registry;
pub mod review_loop;
pub mod reviewer;
mod search;
mod self_guard;
pub mod shell;
mod text;
pub mod workspace;
