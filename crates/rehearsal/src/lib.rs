//! Rehearses hooks: plays the real Claude Code client against a scripted model on loopback,
//! records what every hook was given and answered, and checks what came of it.
//!
//! A hook is a contract with a program that changes every week, so a test with a made-up client
//! proves little. Here the client is real and only the model is played, which costs no token and
//! says the same thing every time. A [`Scenario`] is a file; a [`Stage`] plays it; a [`Playback`]
//! is what can be held against it. See the crate's README for all keys of a scenario.

mod check;
mod client;
mod difference;
mod error;
mod hooks;
mod host;
mod mismatch;
mod model;
mod observer;
mod outside;
mod playback;
mod results;
mod scenario;
mod scenery;
mod stage;
mod subset;
mod terminal;
mod variables;
mod versions;
mod watch;

pub use check::Verdict;
pub use client::CLIENT_VARIABLE;
pub use error::{Error, Result};
pub use hooks::{HookEnd, HookRecord, record};
pub use mismatch::Mismatch;
pub use model::Request;
pub use observer::{Moment, Observer, Silent};
pub use playback::Playback;
pub use results::{Outcome, Results, Words};
pub use scenario::Scenario;
pub use stage::Stage;
pub use terminal::{Frame, Stall, attach};
pub use versions::Versions;
