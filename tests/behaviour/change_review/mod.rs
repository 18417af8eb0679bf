//! Reviews of what a session has changed, in any project.

mod diffs;
mod run;
mod session;
mod setup;
mod turns;
mod workflow_end;
