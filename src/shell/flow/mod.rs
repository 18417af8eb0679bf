//! On which branch each command of git runs: the control flow of a line, followed with all its outcomes.
//!
//! While a line is walked, what matters for branches is recorded as [`Op`]s: switches, the commands whose
//! branch is asked for, and the constructs around them. Texts that are command lines themselves are scripts
//! of their own, run where they stand. [`machine`] then runs the ops once and keeps apart what holds after a
//! success and after a failure. Whether a switch succeeds is not known here; where both are possible, it
//! [may have happened](Switch::is_certain).

mod machine;
mod state;

use std::rc::Rc;

use super::grammar::{Join, Scope, Turn};
use crate::effect::Effect;
use crate::effect::git::{Switch, SwitchTarget};

/// One thing that matters for the branch.
pub(super) enum Op {
    Open(Scope),
    Turn(Turn),
    Close(Scope),
    Join(Join),
    /// `!` stands in front of a pipeline.
    Negate,
    /// A switch, which succeeds or fails.
    Switch(Rc<Switch>),
    /// The effect of this number wants to know the branch.
    Site(usize),
    /// A text of the line's own: its commands run here, and its status is theirs.
    Run(usize),
    /// A text whose commands run before the command in which it stands, or perhaps do.
    RunBefore(usize),
    /// A text whose commands run at any time from here on.
    RunLater(usize),
    /// What the current command does may not happen, or happen in part.
    Doubt,
    /// `true`, `false`: the outcome is known.
    Outcome(bool),
    /// `exit` or `exec`: the shell ends here. `break`, `return`: the construct does.
    Leave {
        shell: bool,
    },
    /// `set -e`, `set +e`.
    ExitOnError(bool),
    /// The next construct is the body of a function or of a coprocess.
    Function,
    /// The structure of the line was not understood.
    Lost,
}

/// The scripts of a call: the line itself is the first.
#[derive(Default)]
pub(super) struct Flow {
    scripts: Vec<Vec<Op>>,
    has_switches: bool,
}

impl Flow {
    /// A new script, to be filled in when its text is read.
    pub(super) fn new_script(&mut self) -> usize {
        self.scripts.push(Vec::new());
        self.scripts.len() - 1
    }

    pub(super) fn record(&mut self, script: usize, op: Op) {
        self.has_switches |= matches!(op, Op::Switch(_));
        let ops = &mut self.scripts[script];
        // Commands that do nothing to branches need no trace of their own.
        let is_idle = |op: &Op| matches!(op, Op::Join(Join::Next));
        if is_idle(&op) && (ops.is_empty() || ops.iter().rev().take(2).filter(|op| is_idle(op)).count() == 2)
        {
            return;
        }
        ops.push(op);
    }

    /// Tells every effect that asked for it which switches came before it.
    pub(super) fn resolve(&self, effects: &mut [Effect]) {
        if !self.has_switches {
            return;
        }
        for (at, switches) in machine::run(&self.scripts) {
            match effects.get_mut(at) {
                Some(Effect::Commit { site, .. }) => site.switches = switches,
                Some(Effect::UpdateBranch(update)) => update.site.switches = switches,
                _ => {}
            }
        }
    }
}

/// A switch to something that cannot be told, anywhere.
fn unknown_switch() -> Switch {
    Switch { places: Vec::new(), target: SwitchTarget::Unknown, is_certain: false }
}
