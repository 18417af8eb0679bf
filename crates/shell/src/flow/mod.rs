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
use crate::effect::git::{BranchSwitch, GitSite, SwitchTarget};

/// One step that matters for branches.
pub(super) enum FlowStep {
    Structure(StructureEvent),
    /// A switch, which succeeds or fails.
    Switch(Rc<BranchSwitch>),
    /// An effect or a command needs its branch.
    Site(SiteOwner),
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

/// What needs to know its branch.
#[derive(Clone, Copy)]
pub(super) enum SiteOwner {
    /// The effect with this index.
    Effect(usize),
    /// A command: this index in the sites of the line.
    Command(usize),
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

    /// Whether the branch may change somewhere in the line, or in a text that is not read yet.
    pub(super) fn may_switch(&self) -> bool {
        self.has_switches || self.scripts.len() > 1
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

    /// Writes into every effect and every site of a command which switches come before it.
    pub(super) fn resolve(&self, effects: &mut [Effect], sites: &mut [(u32, GitSite)]) {
        if !self.has_switches {
            return;
        }
        for (owner, switches) in machine::find_switches(&self.scripts) {
            let site = match owner {
                SiteOwner::Effect(at) => effects.get_mut(at).and_then(find_effect_site),
                SiteOwner::Command(at) => sites.get_mut(at).map(|(_, site)| site),
            };
            if let Some(site) = site {
                site.switches = switches;
            }
        }
    }
}

fn find_effect_site(effect: &mut Effect) -> Option<&mut GitSite> {
    match effect {
        Effect::Commit { site, .. } => Some(site),
        Effect::UpdateBranch(update) => Some(&mut update.site),
        Effect::Push(push) => Some(&mut push.site),
        _ => None,
    }
}

/// A switch to something unknown, in any repository.
fn unknown_switch() -> BranchSwitch {
    BranchSwitch { places: Vec::new(), target: SwitchTarget::Unknown, is_certain: false }
}
