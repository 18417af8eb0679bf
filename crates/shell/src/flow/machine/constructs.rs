//! The constructs of a line: where their parts start, and their outcomes.

use std::rc::Rc;

use super::super::state::{Outcome, merge_points};
use super::super::{FlowStep, ScriptTime};
use super::{MOST, Machine, limit_switches};
use crate::effect::git::BranchSwitch;
use crate::grammar::{CompoundPart, ControlOperator, Scope, StructureEvent};

impl Machine<'_> {
    pub(super) fn open_construct(&mut self, scope: Scope) {
        let mut input = self.frame().input.clone();
        let is_function = std::mem::take(&mut self.is_function_next);
        if scope == Scope::Loop || is_function {
            // A round of a loop starts where the last one ended; a function may be called from anywhere.
            let switches =
                if is_function { self.collect_switches(0, 0, false) } else { self.switches_ahead() };
            input = Outcome::at(&input).perhaps_after(&switches).yes;
        }
        self.open_frame(Some(scope), input);
        let frame = self.frame();
        frame.is_function = is_function;
        if scope == Scope::If {
            frame.otherwise = frame.input.clone();
        }
    }

    fn switches_ahead(&self) -> Vec<Rc<BranchSwitch>> {
        let (script, at) = *self.calls.last().expect("a script is running");
        self.collect_switches(script, at, true)
    }

    /// The switches from here on, to the end of the innermost construct, or of the whole script.
    fn collect_switches(&self, script: usize, at: usize, is_within: bool) -> Vec<Rc<BranchSwitch>> {
        let mut found: Vec<Rc<BranchSwitch>> = Vec::new();
        let mut open = vec![(script, at, is_within)];
        while let Some((script, at, is_within)) = open.pop() {
            let mut depth = 1;
            for step in self.scripts[script].get(at..).unwrap_or_default() {
                match step {
                    FlowStep::Structure(StructureEvent::Open(_)) => depth += 1,
                    FlowStep::Structure(StructureEvent::Close(_)) => depth -= 1,
                    FlowStep::Switch(switch) => found.push(switch.clone()),
                    FlowStep::Run(inner, _) => open.push((*inner, 0, false)),
                    _ => {}
                }
                if found.len() > MOST {
                    return limit_switches(found);
                }
                if is_within && depth == 0 {
                    break;
                }
            }
        }
        found
    }

    pub(super) fn change_part(&mut self, part: CompoundPart) {
        let frame = self.frame();
        match part {
            CompoundPart::Until => frame.is_until = true,
            CompoundPart::Do => {
                let Outcome { mut yes, mut no } = frame.outcome.clone();
                if frame.is_until {
                    std::mem::swap(&mut yes, &mut no);
                }
                frame.input = yes;
                frame.exits = merge_points(&frame.exits, &no);
                frame.has_condition = true;
            }
            CompoundPart::Then => {
                frame.input = frame.outcome.yes.clone();
                frame.otherwise = frame.outcome.no.clone();
            }
            CompoundPart::Elif | CompoundPart::Else => {
                frame.ends = frame.ends.or(&frame.outcome);
                frame.input = frame.otherwise.clone();
                if part == CompoundPart::Else {
                    frame.otherwise = None;
                }
            }
            CompoundPart::Clause => frame.input = merge_points(&frame.otherwise, &frame.entry),
            CompoundPart::ClauseEnd { falls_through } => {
                frame.ends = frame.ends.or(&frame.outcome);
                frame.otherwise = if falls_through { frame.outcome.either() } else { None };
            }
        }
        frame.outcome = Outcome::at(&frame.input);
        self.mark_start();
    }

    /// Ends a command that no operator follows.
    fn end_pending_command(&mut self) {
        let frame = self.frame();
        if frame.last.is_some() || frame.before.is_some() || frame.stages > 0 {
            self.end_command(ControlOperator::Next);
        }
    }

    pub(super) fn close_construct(&mut self, scope: Scope) {
        if self.frame().scope != Some(scope) {
            return;
        }
        self.end_pending_command();
        let Some(mut frame) = self.frames.pop() else { return };
        let mut outcome = std::mem::take(&mut frame.outcome);
        match scope {
            Scope::If => {
                outcome = frame.ends.or(&outcome);
                outcome.yes = merge_points(&outcome.yes, &frame.otherwise);
            }
            Scope::Case => {
                outcome = frame.ends.or(&outcome);
                outcome.yes = merge_points(&outcome.yes, &frame.entry);
            }
            // After its body, a `while` returns to its condition.
            Scope::Loop if frame.has_condition => outcome = Outcome::at(&frame.exits),
            Scope::Loop => {
                let any = merge_points(&merge_points(&outcome.either(), &frame.entry), &frame.exits);
                outcome = Outcome::at(&any);
            }
            Scope::Subshell | Scope::Substitution => outcome = outcome.or(&Outcome::at(&frame.exits)),
            Scope::Group => {}
        }
        if frame.is_function {
            let switches = self.switches_since(frame.start.switches);
            return self.postpone_switches(switches);
        }
        let outer = self.frame();
        if scope == Scope::Substitution {
            outer.input = outcome.either();
        } else {
            outer.last = Some(outcome);
        }
    }

    pub(super) fn end_script(&mut self) {
        while self.frame().scope.is_some() {
            let scope = self.frame().scope.expect("it is no script");
            self.close_construct(scope);
        }
        self.end_pending_command();
        self.calls.pop();
        let Some(frame) = self.frames.pop() else { return };
        let outcome = frame.outcome.or(&Outcome::at(&frame.exits));
        match frame.call {
            None => {}
            Some(ScriptTime::Now) => self.frame().last = Some(outcome),
            Some(ScriptTime::Before) => {
                // A text without a command may still contain substitutions.
                let end = merge_points(&outcome.either(), &frame.input);
                let outer = self.frame();
                outer.input = merge_points(&outer.input, &end);
            }
            Some(ScriptTime::Later) => {
                let switches = self.switches_since(frame.start.switches);
                self.sites[frame.start.sites..].iter_mut().for_each(|site| site.is_open = true);
                self.postpone_switches(switches);
            }
        }
    }
}
