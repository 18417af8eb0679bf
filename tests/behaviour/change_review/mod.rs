//! Reviews of what a session has changed, in any project.

mod session;
mod turns;
