//! What the last review of a plan really came to, in a place that agents do not write to.
//!
//! `state.json` belongs to everybody, and whoever is reviewed could write a better result into it. So
//! the guard keeps the last one for itself. A state that claims more clean reviews is corrected, in the
//! same cycle and in those that follow, and a loop that was left before its end is told to the person. A
//! person's own word always counts: `provost review set` outside an agent strikes the entry out.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::messages;
use super::phase::Review;
use super::plan::Plan;
use super::state::State;
use super::transition::{Answer, ENOUGH, Step};
use crate::config::settings;
use crate::text::one_line;
use crate::workspace::{Workspace, fnv1a};

const FOLDER: &str = "rounds";
const LARGEST: u64 = 4 << 10;

/// The last entry of a plan, if there is one.
pub struct Ledger(Option<Entry>);

struct Entry {
    review: Review,
    task: Option<String>,
    number: u64,
    clean: u64,
    /// How many were clean before this round.
    clean_before: u64,
    /// It was the last one of its cycle: what comes is a new one, which begins with none.
    over: bool,
}

impl Ledger {
    pub fn read(plan: &Plan, workspace: &Workspace) -> Self {
        if workspace.config.word(settings::REVIEW_LOOP_STATE) == "believed" {
            return Self(None);
        }
        let bytes =
            place(plan, workspace).and_then(|place| workspace.read_bytes(&place, LARGEST).ok().flatten());
        let value: Option<Value> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self(value.as_ref().and_then(Entry::read))
    }

    /// Writes down what a review came to. Without a place for it, nothing is corrected later.
    pub fn keep(before: &State, step: &Step, plan: &Plan, workspace: &Workspace) {
        let Some(place) = place(plan, workspace) else { return };
        let round = match &step.answer {
            Answer::Hold { round, .. } | Answer::Advance { round, .. } => round,
            Answer::Skip { .. } => return Self::strike_out(plan, workspace),
            _ => return,
        };
        let entry = json!({
            "review": round.review.phase(),
            "task": step.state.current_task,
            "number": round.number,
            "clean": step.state.clean,
            "clean_before": before.clean,
            "over": matches!(step.answer, Answer::Advance { .. }),
        });
        let _ = workspace.replace_own(&place, entry.to_string().as_bytes());
    }

    /// From now on the state counts as it is.
    pub fn strike_out(plan: &Plan, workspace: &Workspace) {
        if let Some(place) = place(plan, workspace) {
            let _ = workspace.remove(&place);
        }
    }

    /// The state without what was not earned in this round.
    pub fn corrected(&self, state: &State) -> State {
        match &self.0 {
            Some(entry) if entry.claims_too_much(state) => {
                State { clean: entry.earned(state), ..state.clone() }
            }
            _ => state.clone(),
        }
    }

    /// What the person should know about a state.
    pub fn remarks(&self, state: &State, plan: &Plan) -> Option<String> {
        let entry = self.0.as_ref()?;
        if entry.claims_too_much(state) {
            return Some(format!(
                "Warning: state.json claims {} clean in a row, but the reviews so far give {}; that counts",
                state.clean,
                entry.earned(state)
            ));
        }
        if entry.over || entry.goes_on(state) {
            return None;
        }
        let next = state.next_phase.as_deref();
        let next = next.map_or("null".into(), |phase| format!("`{}`", one_line(phase)));
        let set = format!("set {} next_phase={}", plan.argument(), entry.review.post_phase());
        Some(entry.left(&format!("state.json has next_phase {next}"), &set))
    }

    /// What the person should know about a plan that has no state any more.
    pub fn remarks_without_state(&self, plan: &Plan) -> Option<String> {
        let entry = self.0.as_ref().filter(|entry| !entry.over)?;
        let task = entry.task.as_deref().filter(|_| entry.review == Review::Code);
        let task = task.map_or(String::new(), |task| format!(" current_task={}", one_line(task)));
        let (phase, next) = (entry.review.phase(), entry.review.post_phase());
        let number = entry.number;
        let set = format!(
            "set {} --new phase={phase} next_phase={next} phase_iteration={number}{task}",
            plan.argument()
        );
        Some(entry.left("state.json is gone", &set))
    }
}

impl Entry {
    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            review: Review::in_phase(value["review"].as_str()?)?,
            task: value["task"].as_str().map(str::to_owned),
            number: value["number"].as_u64()?,
            clean: value["clean"].as_u64()?,
            clean_before: value["clean_before"].as_u64()?,
            // Entries of earlier versions were struck out at the end of a cycle.
            over: value["over"].as_bool().unwrap_or(false),
        })
    }

    /// That the loop was left, how, and what takes it up again.
    fn left(&self, how: &str, set: &str) -> String {
        let of = State { current_task: self.task.clone(), ..State::default() };
        format!(
            "Warning: the {} was left after round {}, before {ENOUGH} reviews in a row were clean: {how}. To take \
             it up again: `provost review {set}`",
            messages::of(self.review, &of),
            self.number
        )
    }

    /// Whether this state has more clean reviews than there were.
    fn claims_too_much(&self, state: &State) -> bool {
        let next = state.next_phase.as_deref();
        let in_cycle = if self.over {
            next.is_some_and(|next| Review::in_phase(next).or(Review::before_phase(next)).is_some())
        } else {
            self.goes_on(state) && self.is_same_task(state)
        };
        in_cycle && state.clean > self.earned(state)
    }

    fn is_same_task(&self, state: &State) -> bool {
        self.review != Review::Code || self.task == state.current_task
    }

    fn goes_on(&self, state: &State) -> bool {
        let next = state.next_phase.as_deref();
        next == Some(self.review.phase()) || next == Some(self.review.post_phase())
    }

    /// How many clean reviews in a row a state of this cycle, or of the one after it, can have.
    fn earned(&self, state: &State) -> u64 {
        let same_cycle = self.goes_on(state) && self.is_same_task(state);
        match state.iteration {
            Some(number) if number == self.number && !self.over => self.clean,
            // A process that was killed before it wrote the state.
            Some(number) if number.checked_add(1) == Some(self.number) && same_cycle => self.clean_before,
            _ => 0,
        }
    }
}

fn place(plan: &Plan, workspace: &Workspace) -> Option<PathBuf> {
    let name = format!("{:016x}.json", fnv1a(plan.path.as_os_str().as_encoded_bytes()));
    workspace.own_file(FOLDER, &name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_round_two() -> Ledger {
        let value = json!({"review": "code-review", "task": "3", "number": 2, "clean": 0, "clean_before": 1});
        Ledger(Entry::read(&value))
    }

    fn plan() -> Plan {
        Plan { id: "x".into(), path: "/x".into(), root: "/".into() }
    }

    fn state(next: &str, number: u64, clean: u64) -> State {
        State {
            current_task: Some("3".into()),
            next_phase: Some(next.into()),
            iteration: Some(number),
            clean,
            ..State::default()
        }
    }

    #[test]
    fn a_better_result_than_the_last_review_gave_is_not_believed() {
        for next in ["code-review", "post-code-review"] {
            let claimed = state(next, 2, 1);
            assert_eq!(after_round_two().corrected(&claimed), state(next, 2, 0));
            let told = after_round_two().remarks(&claimed, &plan()).unwrap();
            assert!(told.contains("claims 1 clean in a row, but the reviews so far give 0"), "{told}");
        }
        // Nor is one of another round, which nobody has seen.
        for (number, clean) in [(0, 1), (1, 2), (3, 1)] {
            assert!(after_round_two().corrected(&state("code-review", number, clean)).clean < clean);
        }
        // The state of before, where the new one was not written any more.
        assert_eq!(after_round_two().corrected(&state("code-review", 1, 1)).clean, 1);
    }

    #[test]
    fn another_task_or_cycle_is_believed() {
        let other_task = State { current_task: Some("4".into()), ..state("code-review", 2, 1) };
        for other in
            [state("code-review", 2, 0), state("code-review", 1, 1), state("plan-review", 2, 1), other_task]
        {
            assert_eq!(after_round_two().corrected(&other), other);
        }
        let nothing_known = Ledger(None);
        let claimed = state("code-review", 2, 1);
        assert_eq!(nothing_known.corrected(&claimed), claimed);
        assert_eq!(nothing_known.remarks(&claimed, &plan()), None);
    }

    #[test]
    fn a_new_cycle_begins_with_no_clean_review() {
        let value = json!({"review": "code-review", "task": "3", "number": 3, "clean": 2, "clean_before": 1, "over": true});
        let after = || Ledger(Entry::read(&value));
        let other_task =
            |number, clean| State { current_task: Some("4".into()), ..state("code-review", number, clean) };
        for claimed in [
            state("code-review", 0, 1),
            other_task(0, 1),
            other_task(3, 2),
            other_task(2, 1),
            state("all-code-review", 3, 2),
        ] {
            assert_eq!(after().corrected(&claimed).clean, 0, "{claimed:?}");
            assert!(after().remarks(&claimed, &plan()).is_some(), "{claimed:?}");
        }
        // The state of before, where the new one was not written any more.
        assert_eq!(after().corrected(&state("code-review", 2, 1)).clean, 1);
        // The end itself, and what is no cycle.
        for next in ["complete-task", "complete"] {
            assert_eq!(after().corrected(&state(next, 3, 2)).clean, 2);
            assert_eq!(after().remarks(&state(next, 3, 2), &plan()), None);
        }
        assert_eq!(after().remarks_without_state(&plan()), None);
    }

    #[test]
    fn a_loop_whose_state_is_gone_is_told() {
        assert_eq!(
            after_round_two().remarks_without_state(&plan()).unwrap(),
            "Warning: the code review of task 3 was left after round 2, before 2 reviews in a row were clean: \
             state.json is gone. To take it up again: `provost review set --plan x --new phase=code-review \
             next_phase=post-code-review phase_iteration=2 current_task=3`"
        );
        assert_eq!(Ledger(None).remarks_without_state(&plan()), None);
    }

    #[test]
    fn a_loop_that_was_left_is_told() {
        let left = State { next_phase: None, ..state("", 2, 0) };
        let told = after_round_two().remarks(&left, &plan()).unwrap();
        assert_eq!(
            told,
            "Warning: the code review of task 3 was left after round 2, before 2 reviews in a row were clean: \
             state.json has next_phase null. To take it up again: `provost review set --plan x next_phase=post-code-review`"
        );
        assert!(after_round_two().remarks(&state("complete-task", 2, 0), &plan()).is_some());
        assert_eq!(after_round_two().remarks(&state("post-code-review", 2, 0), &plan()), None);
    }
}
