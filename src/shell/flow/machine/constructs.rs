//! The constructs of a line: where their parts start, and what they come to when they end.

use std::rc::Rc;

use super::super::Op;
use super::super::state::{Outcome, either};
use super::{Call, MOST, Machine, bounded};
use crate::effect::git::Switch;
use crate::shell::grammar::{Join, Scope, Turn};

impl Machine<'_> {
    pub(super) fn enter(&mut self, scope: Scope) {
        let mut input = self.frame().input.clone();
        let is_function = std::mem::take(&mut self.is_function_next);
        if scope == Scope::Loop || is_function {
            // The end of a round is the start of the next; a function may be called from anywhere.
            let switches = if is_function { self.switches_of(0, 0, false) } else { self.switches_ahead() };
            input = Outcome::at(&input).perhaps_after(&switches).yes;
        }
        self.open(Some(scope), input);
        let frame = self.frame();
        frame.is_function = is_function;
        if scope == Scope::If {
            frame.otherwise = frame.input.clone();
        }
    }

    fn switches_ahead(&self) -> Vec<Rc<Switch>> {
        let (script, at) = *self.calls.last().expect("a script is running");
        self.switches_of(script, at, true)
    }

    /// The switches from here on: to the end of the innermost construct, or of everything.
    fn switches_of(&self, script: usize, at: usize, is_within: bool) -> Vec<Rc<Switch>> {
        let mut found: Vec<Rc<Switch>> = Vec::new();
        let mut open = vec![(script, at, is_within)];
        while let Some((script, at, is_within)) = open.pop() {
            let mut depth = 1;
            for op in self.scripts[script].get(at..).unwrap_or_default() {
                match op {
                    Op::Open(_) => depth += 1,
                    Op::Close(_) => depth -= 1,
                    Op::Switch(switch) => found.push(switch.clone()),
                    Op::Run(inner) | Op::RunBefore(inner) | Op::RunLater(inner) => {
                        open.push((*inner, 0, false));
                    }
                    _ => {}
                }
                if found.len() > MOST {
                    return bounded(found);
                }
                if is_within && depth == 0 {
                    break;
                }
            }
        }
        found
    }

    pub(super) fn turn(&mut self, turn: Turn) {
        let frame = self.frame();
        match turn {
            Turn::Until => frame.is_until = true,
            Turn::Do => {
                let Outcome { mut yes, mut no } = frame.outcome.clone();
                if frame.is_until {
                    std::mem::swap(&mut yes, &mut no);
                }
                frame.input = yes;
                frame.exits = either(&frame.exits, &no);
                frame.has_condition = true;
            }
            Turn::Then => {
                frame.input = frame.outcome.yes.clone();
                frame.otherwise = frame.outcome.no.clone();
            }
            Turn::Elif | Turn::Else => {
                frame.ends = frame.ends.or(&frame.outcome);
                frame.input = frame.otherwise.clone();
                if turn == Turn::Else {
                    frame.otherwise = None;
                }
            }
            Turn::Clause => frame.input = either(&frame.otherwise, &frame.entry),
            Turn::ClauseEnd { falls_through } => {
                frame.ends = frame.ends.or(&frame.outcome);
                frame.otherwise = if falls_through { frame.outcome.any() } else { None };
            }
        }
        frame.outcome = Outcome::at(&frame.input);
        self.mark_start();
    }

    /// Ends a command behind which nothing stands.
    pub(super) fn settle(&mut self) {
        let frame = self.frame();
        if frame.last.is_some() || frame.before.is_some() || frame.stages > 0 {
            self.join(Join::Next);
        }
    }

    pub(super) fn close(&mut self, scope: Scope) {
        if self.frame().scope != Some(scope) {
            return;
        }
        self.settle();
        let Some(mut frame) = self.frames.pop() else { return };
        let mut outcome = std::mem::take(&mut frame.outcome);
        match scope {
            Scope::If => {
                outcome = frame.ends.or(&outcome);
                outcome.yes = either(&outcome.yes, &frame.otherwise);
            }
            Scope::Case => {
                outcome = frame.ends.or(&outcome);
                outcome.yes = either(&outcome.yes, &frame.entry);
            }
            // Behind its body, a `while` goes back to its condition.
            Scope::Loop if frame.has_condition => outcome = Outcome::at(&frame.exits),
            Scope::Loop => {
                let any = either(&either(&outcome.any(), &frame.entry), &frame.exits);
                outcome = Outcome::at(&any);
            }
            Scope::Subshell | Scope::Substitution => outcome = outcome.or(&Outcome::at(&frame.exits)),
            Scope::Group => {}
        }
        if frame.is_function {
            let switches = bounded(self.met[frame.start.switches..].to_vec());
            return self.postpone(switches);
        }
        let outer = self.frame();
        if scope == Scope::Substitution {
            outer.input = outcome.any();
        } else {
            outer.last = Some(outcome);
        }
    }

    pub(super) fn end_script(&mut self) {
        while self.frame().scope.is_some() {
            let scope = self.frame().scope.expect("it is no script");
            self.close(scope);
        }
        self.settle();
        self.calls.pop();
        let Some(frame) = self.frames.pop() else { return };
        let outcome = frame.outcome.or(&Outcome::at(&frame.exits));
        match frame.call {
            None => {}
            Some(Call::Inline) => self.frame().last = Some(outcome),
            Some(Call::Before) => {
                // A text without a command of its own may still have had substitutions.
                let end = either(&outcome.any(), &frame.input);
                let outer = self.frame();
                outer.input = either(&outer.input, &end);
            }
            Some(Call::Later) => {
                let switches = bounded(self.met[frame.start.switches..].to_vec());
                self.sites[frame.start.sites..].iter_mut().for_each(|site| site.is_open = true);
                self.postpone(switches);
            }
        }
    }
}
