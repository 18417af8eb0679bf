//! Hooks under observation: how entries are rewritten, what is recorded, and how it is read back.
//!
//! The client starts hooks itself, so the only way to see what one was given and answered is to
//! stand between the two. The recorder does that, and must not be noticed: same bytes, same exit,
//! same death.

mod log;
mod recorder;
mod wrap;

pub use log::{HookEnd, HookRecord};
pub use recorder::record;

pub(crate) use log::HookLog;
pub(crate) use wrap::{Recorder, holds_hooks};
