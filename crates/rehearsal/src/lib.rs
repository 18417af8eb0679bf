//! Tests hooks with the real Claude Code: plays it against a scripted model on loopback, records what every hook was
//! given and answered, and checks the result.
//!
//! Claude Code changes every week, so a test with an imitation of it proves little. Here the client is real and only
//! the model is scripted, which costs no tokens and gives the same answers every time. A [`Scenario`] is a file; a
//! [`ScenarioPlayer`] plays it; a [`Playback`] is the record that expectations are checked against. The README lists
//! all keys of a scenario.

mod actions;
mod check;
mod client;
mod error;
mod hooks;
mod host;
mod json_subset;
mod mismatch;
mod model;
mod observer;
mod playback;
mod player;
mod results;
mod run_directory;
mod run_monitor;
mod scenario;
mod terminal;
mod text_diff;
mod variables;
mod versions;

pub use check::Verdict;
pub use client::CLIENT_VARIABLE;
pub use error::{Error, Result};
pub use hooks::{HookEnd, HookRecord, record};
pub use mismatch::Mismatch;
pub use model::Request;
pub use observer::{Observer, RunEvent, Silent};
pub use playback::Playback;
pub use player::ScenarioPlayer;
pub use results::{Results, ScenarioResult, WordSet};
pub use scenario::Scenario;
pub use terminal::{Frame, Stall, attach};
pub use versions::Versions;
