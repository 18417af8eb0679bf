//! The spec-driven workflows that people use: what the files of a project say.
//!
//! A workflow is data: a [`WorkflowTable`] says where its instances are (a change, a feature, a spec, a story), which
//! files each needs before work begins, and which file lists its tasks. [`project::WorkflowRoot`] applies a table to a
//! directory, and [`instance::WorkflowInstance`] is what the files of one instance say. Nothing here judges.

mod approve_prompt;
mod file_pattern;
pub mod front_matter;
pub mod instance;
mod layout;
pub mod meaning;
pub mod openspec;
pub mod project;
mod task_master;
pub mod tasks;

pub use crate::workflow_table::{
    ArtefactRule, BUILT_IN, FinishNeed, InstancePointer, WorkflowSystem, WorkflowTable, find_built_in, keys,
};
pub use approve_prompt::{APPROVE_PROMPT, PromptRequest};
