//! The guards of the pack `workflow` about the end of tasks and of what they belong to.

use super::Scene;
use crate::reliability::stage::{Deed, Stage};
use crate::workflow_ticks::denied_calls;

pub const SCENES: &[Scene] = &[("workflow-ticks", workflow_ticks), ("workflow-finish", workflow_finish)];

/// The setting in another file than the one that a fault breaks.
const USED: &str = "[workflow]\nuse = [\"openspec\"]\n";

/// A task is ticked without work.
fn workflow_ticks() -> Stage {
    let [(project, event, tasks), _] = denied_calls();
    project.write_managed_config(USED);
    Stage::new("workflow-ticks", project, event, Deed::Denies("since the last tick")).resting_on([tasks])
}

/// A change with open tasks is archived.
fn workflow_finish() -> Stage {
    let [_, (project, event, tasks)] = denied_calls();
    project.write_managed_config(USED);
    Stage::new("workflow-finish", project, event, Deed::Denies("the change `add-login`")).resting_on([tasks])
}
