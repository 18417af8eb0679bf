//! What may be checked out at one point of a line: the switches on the way there, in order.

use std::rc::Rc;

use super::unknown_switch;
use crate::effect::git::{BranchSwitch, SwitchTarget};

/// More switches become one to an unknown branch.
const MOST: usize = 16;

/// The switches so far, each with whether it has certainly happened.
#[derive(Clone, Default)]
pub(super) struct SwitchHistory(Rc<Vec<Entry>>);

type Entry = (Rc<BranchSwitch>, bool);

/// The state at a point of the line; `None` if the line never reaches it.
pub(super) type FlowPoint = Option<SwitchHistory>;

impl SwitchHistory {
    /// The state after this switch has succeeded.
    pub(super) fn after(&self, switch: &Rc<BranchSwitch>) -> Self {
        let switch = self.resolve_previous(switch);
        self.with(&switch, true)
    }

    /// The state after switches of which each may have happened or not.
    pub(super) fn perhaps_after(&self, switches: &[Rc<BranchSwitch>]) -> Self {
        switches.iter().fold(self.clone(), |state, switch| {
            let is_known = state.0.iter().any(|(known, certain)| !certain && Rc::ptr_eq(known, switch));
            let switch = match switch.target {
                SwitchTarget::Previous(_) => &Rc::new(unknown_switch()),
                _ => switch,
            };
            if is_known { state } else { state.with(switch, false) }
        })
    }

    fn with(&self, switch: &Rc<BranchSwitch>, certain: bool) -> Self {
        let mut switches = (*self.0).clone();
        if switches.len() >= MOST {
            switches = vec![(Rc::new(unknown_switch()), false)];
        }
        switches.push((switch.clone(), certain));
        Self(Rc::new(switches))
    }

    /// `git switch -` after another switch of the line returns to what was checked out before that.
    fn resolve_previous(&self, switch: &Rc<BranchSwitch>) -> Rc<BranchSwitch> {
        let SwitchTarget::Previous(steps) = switch.target else { return switch.clone() };
        let is_here = |(other, certain): &&Entry| *certain && other.places == switch.places;
        // Only switches that check something out count.
        let is_move = |(other, _): &&Entry| {
            !matches!(other.target, SwitchTarget::Created(_) | SwitchTarget::WorkTree { .. })
        };
        let moves: Vec<&Entry> = self.0.iter().filter(is_move).collect();
        let target = match (steps, &*moves) {
            (_, []) => return switch.clone(),
            (1, [only]) if is_here(only) => SwitchTarget::Start,
            (1, [.., before, last]) if is_here(before) && is_here(last) => before.0.target.clone(),
            _ => SwitchTarget::Unknown,
        };
        Rc::new(BranchSwitch { target, ..(**switch).clone() })
    }

    /// Whether both are the same object.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    fn merge(&self, other: &Self) -> Self {
        if self.is_same_as(other) {
            return self.clone();
        }
        let is_same = |((a, x), (b, y)): &(&Entry, &Entry)| Rc::ptr_eq(a, b) && x == y;
        let common = self.0.iter().zip(other.0.iter()).take_while(is_same).count();
        let start = Self(Rc::new(self.0[..common].to_vec()));
        let (ours, theirs) = (&self.0[common..], &other.0[common..]);
        let mut rest: Vec<_> = ours.iter().chain(theirs).map(|(one, _)| one.clone()).collect();
        // If both ways end after a switch in the same place, neither leads to what was checked out before.
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

    pub(super) fn to_switches(&self) -> Vec<BranchSwitch> {
        let to_switch =
            |(switch, certain): &Entry| BranchSwitch { is_certain: *certain, ..(**switch).clone() };
        self.0.iter().map(to_switch).collect()
    }
}

/// The state if either of two points leads here.
pub(super) fn merge_points(a: &FlowPoint, b: &FlowPoint) -> FlowPoint {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.merge(b)),
        (a, b) => a.clone().or_else(|| b.clone()),
    }
}

/// The states after a command has succeeded and after it has failed.
#[derive(Clone, Default)]
pub(super) struct Outcome {
    pub(super) yes: FlowPoint,
    pub(super) no: FlowPoint,
}

impl Outcome {
    pub(super) fn at(point: &FlowPoint) -> Self {
        Self { yes: point.clone(), no: point.clone() }
    }

    pub(super) fn either(&self) -> FlowPoint {
        merge_points(&self.yes, &self.no)
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Self { yes: merge_points(&self.yes, &other.yes), no: merge_points(&self.no, &other.no) }
    }

    pub(super) fn perhaps_after(&self, switches: &[Rc<BranchSwitch>]) -> Self {
        let widen = |point: &FlowPoint| point.as_ref().map(|state| state.perhaps_after(switches));
        Self { yes: widen(&self.yes), no: widen(&self.no) }
    }
}
