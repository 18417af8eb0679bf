//! Records hooks: rewrites hook entries, runs hooks through a recorder, and reads the log.
//!
//! The client starts hooks itself, so a recorder runs between the two. Neither may notice it: it passes on the same bytes,
//! and ends with the same exit code or signal as the hook.

mod log;
mod recorder;
mod wrap;

pub use log::{HookEnd, HookRecord};
pub use recorder::record;

pub(crate) use log::HookLog;
pub(crate) use wrap::{Recorder, is_hook_file};
