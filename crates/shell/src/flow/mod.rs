//! Finds out on which branch each git command runs, by following the control flow of a line with all its outcomes.
//!
//! The walk over a line records what matters for branches as [`FlowStep`]s: switches, git commands, and the constructs
//! around them. Texts that are command lines themselves are scripts of their own. [`machine`] then runs the steps once,
//! and keeps the states after a success and after a failure apart. Whether a switch succeeds is unknown; if both
//! outcomes lead to a command, the switch [may have happened](BranchSwitch::is_certain).

mod machine;
mod state;

use std::rc::Rc;

use super::grammar::{ControlOperator, StructureEvent};
use crate::effect::Effect;
use crate::effect::git::{BranchSwitch, SwitchTarget};

/// One step that matters for branches.
pub(super) enum FlowStep {
    Structure(StructureEvent),
    /// A switch, which succeeds or fails.
    Switch(Rc<BranchSwitch>),
    /// The effect with this index needs its branch.
    Site(usize),
    /// The commands of this script run.
    Run(usize, ScriptTime),
    /// The current command may not run, or only in part.
    Doubt,
    /// `true`, `false`: the outcome is known.
    Outcome(bool),
    /// `exit` or `exec`: the shell ends here. `break`, `return`: the construct does.
    Leave {
        shell: bool,
    },
    /// `set -e`, `set +e`.
    ExitOnError(bool),
}

/// When the commands of a text run that a line contains.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ScriptTime {
    /// As the current command, whose status is theirs.
    Now,
    /// Before the current command, or perhaps not at all.
    Before,
    /// At any time from here on.
    Later,
}

/// The scripts of a line. The line itself is the first one.
#[derive(Default)]
pub(super) struct Flow {
    scripts: Vec<Vec<FlowStep>>,
    has_switches: bool,
}

impl Flow {
    /// Adds a script, which is filled when its text is parsed.
    pub(super) fn new_script(&mut self) -> usize {
        self.scripts.push(Vec::new());
        self.scripts.len() - 1
    }

    pub(super) fn record(&mut self, script: usize, step: FlowStep) {
        self.has_switches |= matches!(step, FlowStep::Switch(_));
        let steps = &mut self.scripts[script];
        // Skip commands that do nothing to branches.
        let is_idle = |step: &FlowStep| {
            matches!(step, FlowStep::Structure(StructureEvent::Joined { behind: ControlOperator::Next, .. }))
        };
        if is_idle(&step)
            && (steps.is_empty() || steps.iter().rev().take(2).filter(|step| is_idle(step)).count() == 2)
        {
            return;
        }
        steps.push(step);
    }

    /// Writes into every effect that needs it which switches come before it.
    pub(super) fn resolve(&self, effects: &mut [Effect]) {
        if !self.has_switches {
            return;
        }
        for (at, switches) in machine::find_switches(&self.scripts) {
            match effects.get_mut(at) {
                Some(Effect::Commit { site, .. }) => site.switches = switches,
                Some(Effect::UpdateBranch(update)) => update.site.switches = switches,
                Some(Effect::Push(push)) => push.site.switches = switches,
                _ => {}
            }
        }
    }
}

/// A switch to something unknown, in any repository.
fn unknown_switch() -> BranchSwitch {
    BranchSwitch { places: Vec::new(), target: SwitchTarget::Unknown, is_certain: false }
}
