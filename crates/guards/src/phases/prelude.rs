//! The names that nearly every file of this pack uses.

pub(super) use super::workflow_context::{ActiveWorkflow, CurrentPhase, WorkflowContext};
pub(super) use super::{PhaseDenial, phase_names, quote_name};
pub(super) use crate::prelude::*;
pub(super) use provost_core::event::{Event, EventKind};
pub(super) use provost_core::opinion::{Fault, Opinion};
pub(super) use provost_core::tool::Tool;
pub(super) use provost_core::workspace::Workspace;
pub(super) use serde_json::{Map, Value, json};
