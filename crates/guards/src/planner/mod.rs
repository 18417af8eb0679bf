//! Pack `planner`: a planning agent may read and write plans, and does not stop without a plan.
//!
//! [`bash_guard`] judges every tool call of a planner by its effects: a listed program with an option
//! that deletes is not a reader, and file tools may write only where a redirection may. [`plan_output`]
//! checks the plan when the planner stops. The registry decides which agents are planners, so neither
//! guard checks who called.

pub mod bash_guard;
mod plan_outline;
pub mod plan_output;
mod planning;
