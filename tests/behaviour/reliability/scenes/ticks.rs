//! The guards of the pack `workflow` about the end of tasks and of what they belong to.

use super::Scene;
use crate::reliability::stage::{Deed, Stage};
use crate::workflow_ticks::denied_calls;

pub const SCENES: &[Scene] = &[("workflow-ticks", workflow_ticks), ("workflow-finish", workflow_finish)];

/// A task is ticked without work.
fn workflow_ticks() -> Stage {
    let [(project, event, tasks), _] = denied_calls();
    let mut stage = Stage::new("workflow-ticks", project, event, Deed::Denies("since the last tick"));
    stage.config.push(("workflow", "use = [\"openspec\"]".into()));
    stage.resting_on([tasks])
}

/// A change with open tasks is archived.
fn workflow_finish() -> Stage {
    let [_, (project, event, tasks)] = denied_calls();
    let mut stage = Stage::new("workflow-finish", project, event, Deed::Denies("the change `add-login`"));
    stage.config.push(("workflow", "use = [\"openspec\"]".into()));
    stage.resting_on([tasks])
}
