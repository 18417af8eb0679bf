//! Provost: a program that a coding agent's hooks call, with one decision per event.
//!
//! This crate is the program: it reads an event from standard input ([`hook`]), writes the [`journal`], and has the
//! commands for users ([`cli`]). The path from event to decision is in `provost_core`, the guards in `provost_guards`,
//! the clients in `provost_clients`, and the effects of command lines in `provost_shell`.

pub mod cli;
pub mod environment;
pub mod hook;
pub mod journal;
pub mod reference;
pub mod replay;
pub mod report;
mod signals;
pub mod suggest;
#[cfg(target_os = "linux")]
pub mod supervisor;

pub use provost_clients as clients;
pub use provost_core::{
    client, clock, config, decision, effect, engine, event, glob, guard, opinion, overrides, past_judgement,
    places, process, raw_object, review_verdict, reviewer, rules, text, tool, workflow, workflow_table,
    workspace, yaml,
};
pub use provost_files as files;
pub use provost_guards::{
    change_review, phases, plan_gate, planner, registry, review_loop, review_round, rules as rules_guard,
    seal, self_guard, workflow as workflow_guard,
};
pub use provost_shell as shell;
