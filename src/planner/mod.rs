//! Pack `planner`: an agent that plans reads, writes only plans, and does not stop without one.
//!
//! Two guards. [`bash_guard`] judges every tool of a planner by what the call would do: a listed
//! program that is told to delete is not a reader any more, and a file tool may write no more than
//! a redirection may. [`plan_output`] looks at the plan when the planner stops. Which agents are
//! planners is data of the registry, so neither asks who called.

pub mod bash_guard;
mod plan_document;
pub mod plan_output;
mod planning;
