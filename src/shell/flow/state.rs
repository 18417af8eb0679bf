//! What may have been checked out at one point of a line: the switches on the way there, in order.

use std::rc::Rc;

use super::unknown_switch;
use crate::effect::git::{Switch, SwitchTarget};

/// More switches are one to an unknown branch.
const MOST: usize = 16;

/// The switches so far, each with whether it happened in any case.
#[derive(Clone, Default)]
pub(super) struct State(Rc<Vec<Entry>>);

type Entry = (Rc<Switch>, bool);

/// A point of the line; `None` if it is never reached.
pub(super) type Point = Option<State>;

impl State {
    /// Behind this switch, which has succeeded.
    pub(super) fn after(&self, switch: &Rc<Switch>) -> Self {
        let switch = self.without_previous(switch);
        self.with(&switch, true)
    }

    /// With switches of which each may have happened or not.
    pub(super) fn perhaps_after(&self, switches: &[Rc<Switch>]) -> Self {
        switches.iter().fold(self.clone(), |state, switch| {
            let is_known = state.0.iter().any(|(known, certain)| !certain && Rc::ptr_eq(known, switch));
            let switch = match switch.target {
                SwitchTarget::Previous(_) => &Rc::new(unknown_switch()),
                _ => switch,
            };
            if is_known { state } else { state.with(switch, false) }
        })
    }

    fn with(&self, switch: &Rc<Switch>, certain: bool) -> Self {
        let mut switches = (*self.0).clone();
        if switches.len() >= MOST {
            switches = vec![(Rc::new(unknown_switch()), false)];
        }
        switches.push((switch.clone(), certain));
        Self(Rc::new(switches))
    }

    /// `git switch -` behind another switch of the line goes back to what was there before that.
    fn without_previous(&self, switch: &Rc<Switch>) -> Rc<Switch> {
        let SwitchTarget::Previous(steps) = switch.target else { return switch.clone() };
        let is_here = |(other, certain): &&Entry| *certain && other.places == switch.places;
        // Only what checks something out counts.
        let is_move = |(other, _): &&Entry| {
            !matches!(other.target, SwitchTarget::Made(_) | SwitchTarget::WorkTree { .. })
        };
        let moves: Vec<&Entry> = self.0.iter().filter(is_move).collect();
        let target = match (steps, &*moves) {
            (_, []) => return switch.clone(),
            (1, [only]) if is_here(only) => SwitchTarget::Start,
            (1, [.., before, last]) if is_here(before) && is_here(last) => before.0.target.clone(),
            _ => SwitchTarget::Unknown,
        };
        Rc::new(Switch { target, ..(**switch).clone() })
    }

    /// Whether both are the same by their origin.
    pub(super) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    fn joined(&self, other: &Self) -> Self {
        if self.is(other) {
            return self.clone();
        }
        let is_same = |((a, x), (b, y)): &(&Entry, &Entry)| Rc::ptr_eq(a, b) && x == y;
        let common = self.0.iter().zip(other.0.iter()).take_while(is_same).count();
        let start = Self(Rc::new(self.0[..common].to_vec()));
        let (ours, theirs) = (&self.0[common..], &other.0[common..]);
        let mut rest: Vec<_> = ours.iter().chain(theirs).map(|(one, _)| one.clone()).collect();
        // Where both ways end behind a switch in the same place, none leads to what was there before.
        let end = |switches: &[Entry]| {
            switches
                .last()
                .filter(|(last, certain)| *certain && last.places.len() == 1)
                .map(|(last, _)| last.clone())
        };
        match (end(ours), end(theirs)) {
            (Some(a), Some(b)) if a.places == b.places => {
                rest.retain(|one| !Rc::ptr_eq(one, &a));
                start.with(&a, true).perhaps_after(&rest)
            }
            _ => start.perhaps_after(&rest),
        }
    }

    pub(super) fn switches(&self) -> Vec<Switch> {
        let tell = |(switch, certain): &Entry| Switch { is_certain: *certain, ..(**switch).clone() };
        self.0.iter().map(tell).collect()
    }
}

/// Either of two points.
pub(super) fn either(a: &Point, b: &Point) -> Point {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.joined(b)),
        (a, b) => a.clone().or_else(|| b.clone()),
    }
}

/// What holds behind a command that has succeeded, and behind one that has failed.
#[derive(Clone, Default)]
pub(super) struct Outcome {
    pub(super) yes: Point,
    pub(super) no: Point,
}

impl Outcome {
    pub(super) fn at(point: &Point) -> Self {
        Self { yes: point.clone(), no: point.clone() }
    }

    pub(super) fn any(&self) -> Point {
        either(&self.yes, &self.no)
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Self { yes: either(&self.yes, &other.yes), no: either(&self.no, &other.no) }
    }

    pub(super) fn perhaps_after(&self, switches: &[Rc<Switch>]) -> Self {
        let widen = |point: &Point| point.as_ref().map(|state| state.perhaps_after(switches));
        Self { yes: widen(&self.yes), no: widen(&self.no) }
    }
}
