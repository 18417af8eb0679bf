//! What the last review of a plan really came to, in a place that agents do not write to.
//!
//! `state.json` belongs to everybody, and whoever is reviewed could write a better result into it. So
//! the guard keeps the last one for itself. A state that claims more clean reviews is corrected, in the
//! same cycle and in the one that follows, and a loop that was left before its end is told to the person.
//! A person's own word about where a plan stands always counts: `provost review set` outside an agent
//! strikes the entry out.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::messages;
use super::open_findings;
use super::phase::Review;
use super::plan::Plan;
use super::state::{FIRST_MODEL, State, is_known_model};
use super::transition::{Answer, ENOUGH, Step};
use crate::config::settings;
use crate::text::short;
use crate::workspace::{Workspace, fnv1a};

const FOLDER: &str = "rounds";
const LARGEST: u64 = 4 << 10;

pub struct Ledger {
    /// The last one of a plan.
    entry: Option<Entry>,
    /// Whether a state is held against it.
    checks: bool,
}

#[derive(Clone)]
struct Entry {
    review: Review,
    task: Option<String>,
    number: u64,
    clean: u64,
    /// How many were clean before this round, as long as the round may be missing in the state.
    clean_before: Option<u64>,
    /// It was the last one of its cycle: what comes is a new one, which begins with none.
    over: bool,
}

impl Ledger {
    pub fn read(plan: &Plan, workspace: &Workspace) -> Self {
        if workspace.config.word(settings::REVIEW_LOOP_STATE) == "believed" {
            return Self { entry: None, checks: false };
        }
        let bytes =
            place(plan, workspace).and_then(|place| workspace.read_bytes(&place, LARGEST).ok().flatten());
        let value: Option<Value> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { entry: value.as_ref().and_then(Entry::read), checks: true }
    }

    /// Writes down what a review came to. `before`: the state in which that is not entered yet; without
    /// it, nobody goes back to where the round could be made again. Without a place for it, nothing is
    /// corrected later.
    pub fn keep(before: Option<&State>, step: &Step, plan: &Plan, workspace: &Workspace) {
        let Some(place) = place(plan, workspace) else { return };
        if matches!(step.answer, Answer::Hold { clean: true, .. } | Answer::Advance { .. }) {
            open_findings::close(plan, workspace);
        }
        let round = match &step.answer {
            Answer::Hold { round, .. } | Answer::Advance { round, .. } => round,
            Answer::Skip { .. } => return Self::strike_out(plan, workspace),
            _ => return,
        };
        let entry = Entry {
            review: round.review,
            task: step.state.current_task.clone(),
            number: round.number,
            clean: step.state.clean,
            clean_before: before.map(|before| before.clean),
            over: matches!(step.answer, Answer::Advance { .. }),
        };
        let _ = workspace.replace_own(&place, entry.text().as_bytes());
    }

    /// Where the state is no longer that of before the round, nobody goes back to it. A process that was
    /// killed behind the state has not written that down any more.
    pub fn confirm(&self, state: &State, plan: &Plan, workspace: &Workspace) {
        let (Some(entry), Some(place)) = (&self.entry, place(plan, workspace)) else { return };
        if entry.clean_before.is_some() && !entry.is_before(state) {
            let entry = Entry { clean_before: None, ..entry.clone() };
            let _ = workspace.replace_own(&place, entry.text().as_bytes());
        }
    }

    /// From now on the state counts as it is.
    pub fn strike_out(plan: &Plan, workspace: &Workspace) {
        open_findings::close(plan, workspace);
        if let Some(place) = place(plan, workspace) {
            let _ = workspace.remove(&place);
        }
    }

    /// The state without what was not earned in this round, and with one of the two models: agents write to
    /// the state, and who reviews is not for them to choose.
    pub fn corrected(&self, state: &State) -> State {
        let mut corrected = state.clone();
        if let Some(entry) = self.entry.as_ref().filter(|entry| entry.claims_too_much(state)) {
            corrected.clean = entry.earned(state);
        }
        if self.checks && !is_known_model(&state.model) {
            corrected.model = FIRST_MODEL.into();
        }
        corrected
    }

    /// What the person should know about a state.
    pub fn remarks(&self, state: &State, plan: &Plan) -> Option<String> {
        let Some(entry) = &self.entry else {
            let is_new = self.checks && state.clean > 0 && state.is_in_loop();
            return is_new.then(|| {
                format!(
                    "Warning: state.json claims {} clean in a row, which Provost has not seen; that counts",
                    state.clean
                )
            });
        };
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
        let shown = |value: Option<&str>| value.map_or("null".into(), |value| format!("`{}`", short(value)));
        let task = if entry.task == state.current_task {
            String::new()
        } else {
            format!(" and current_task {}", shown(state.current_task.as_deref()))
        };
        let how = format!("state.json has next_phase {}{task}", shown(state.next_phase.as_deref()));
        Some(format!("{}. {}", entry.left(&how), entry.taken_up(plan, "")))
    }

    /// The same where there is no state, or none that can be read.
    pub fn remarks_without_state(&self, plan: &Plan, is_gone: bool) -> Option<String> {
        let entry = self.entry.as_ref().filter(|entry| !entry.over)?;
        if !is_gone {
            return Some(entry.left("state.json cannot be read"));
        }
        Some(format!("{}. {}", entry.left("state.json is gone"), entry.taken_up(plan, " --new")))
    }
}

impl Entry {
    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            review: Review::in_phase(value["review"].as_str()?)?,
            task: value["task"].as_str().map(str::to_owned),
            number: value["number"].as_u64()?,
            clean: value["clean"].as_u64()?,
            clean_before: value["clean_before"].as_u64(),
            over: value["over"].as_bool().unwrap_or(false),
        })
    }

    /// Whether this state has more clean reviews than there were.
    fn claims_too_much(&self, state: &State) -> bool {
        let in_cycle = if self.over { state.is_in_loop() } else { self.goes_on(state) };
        in_cycle && state.clean > self.earned(state)
    }

    /// What is said where the cycle was left.
    fn left(&self, how: &str) -> String {
        let state = State { current_task: self.task.clone(), ..State::default() };
        format!(
            "Warning: the {} was left after round {}, before {ENOUGH} reviews in a row were clean: {how}",
            messages::of(self.review, &state),
            self.number
        )
    }

    /// What takes it up again.
    fn taken_up(&self, plan: &Plan, new: &str) -> String {
        let (phase, post, number) = (self.review.phase(), self.review.post_phase(), self.number);
        let task = self.task.as_deref().filter(|_| self.review == Review::Code);
        let task = task.map_or(String::new(), |task| format!(" current_task={}", short(task)));
        format!(
            "To take it up again: `provost review set {}{new} phase={phase} next_phase={post} \
             phase_iteration={number}{task}`",
            plan.argument()
        )
    }

    /// Whether a state is the one of before this round.
    fn is_before(&self, state: &State) -> bool {
        let number = state.iteration.and_then(|number| number.checked_add(1));
        number == Some(self.number) && self.goes_on(state)
    }

    /// As it is written down.
    fn text(&self) -> String {
        let Self { review, task, number, clean, clean_before, over } = self;
        json!({"review": review.phase(), "task": task, "number": number, "clean": clean,
            "clean_before": clean_before, "over": over})
        .to_string()
    }

    /// Whether a state is in the same cycle.
    fn goes_on(&self, state: &State) -> bool {
        let next = state.next_phase.as_deref();
        let same_task = self.review != Review::Code || self.task == state.current_task;
        same_task && (next == Some(self.review.phase()) || next == Some(self.review.post_phase()))
    }

    /// How many clean reviews in a row a state of this cycle, or of the one after it, can have.
    fn earned(&self, state: &State) -> u64 {
        match state.iteration {
            Some(number) if number == self.number && !self.over => self.clean,
            // A process that was killed before it wrote the state.
            Some(_) if self.is_before(state) => self.clean_before.unwrap_or(0),
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
        Ledger { entry: Entry::read(&value), checks: true }
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

    /// Otherwise a review that found something could be made again until it finds nothing.
    #[test]
    fn a_round_that_stands_in_the_state_is_not_undone() {
        let value =
            json!({"review": "code-review", "task": "3", "number": 2, "clean": 0, "clean_before": null});
        let entered = Ledger { entry: Entry::read(&value), checks: true };
        assert_eq!(entered.corrected(&state("code-review", 1, 1)).clean, 0);
        assert_eq!(entered.corrected(&state("post-code-review", 2, 0)), state("post-code-review", 2, 0));
    }

    #[test]
    fn another_task_or_cycle_is_believed() {
        let other_task = State { current_task: Some("4".into()), ..state("code-review", 2, 1) };
        for other in
            [state("code-review", 2, 0), state("code-review", 1, 1), state("plan-review", 2, 1), other_task]
        {
            assert_eq!(after_round_two().corrected(&other), other);
        }
        let nothing_known = Ledger { entry: None, checks: true };
        let claimed = state("code-review", 2, 1);
        assert_eq!(nothing_known.corrected(&claimed), claimed);
        let told = nothing_known.remarks(&claimed, &plan()).unwrap();
        assert!(told.contains("claims 1 clean in a row, which Provost has not seen"), "{told}");
        for fine in [state("code-review", 2, 0), state("complete-task", 2, 2)] {
            assert_eq!(nothing_known.remarks(&fine, &plan()), None);
        }
        assert_eq!(Ledger { checks: false, ..nothing_known }.remarks(&claimed, &plan()), None);
    }

    #[test]
    fn a_new_cycle_begins_with_no_clean_review() {
        let value = json!({"review": "code-review", "task": "3", "number": 3, "clean": 2, "clean_before": 1, "over": true});
        let after = || Ledger { entry: Entry::read(&value), checks: true };
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
        assert_eq!(after().remarks_without_state(&plan(), true), None);
    }

    #[test]
    fn a_loop_whose_state_is_gone_is_told() {
        assert_eq!(
            after_round_two().remarks_without_state(&plan(), true).unwrap(),
            "Warning: the code review of task 3 was left after round 2, before 2 reviews in a row were clean: \
             state.json is gone. To take it up again: `provost review set --plan x --new phase=code-review \
             next_phase=post-code-review phase_iteration=2 current_task=3`"
        );
        assert_eq!(Ledger { entry: None, checks: true }.remarks_without_state(&plan(), true), None);
    }

    #[test]
    fn a_loop_that_was_left_is_told() {
        let left = State { next_phase: None, ..state("", 2, 0) };
        let told = after_round_two().remarks(&left, &plan()).unwrap();
        assert_eq!(
            told,
            "Warning: the code review of task 3 was left after round 2, before 2 reviews in a row were clean: \
             state.json has next_phase null. To take it up again: `provost review set --plan x phase=code-review \
             next_phase=post-code-review phase_iteration=2 current_task=3`"
        );
        assert!(after_round_two().remarks(&state("complete-task", 2, 0), &plan()).is_some());
        let other_task = State { current_task: Some("4".into()), ..state("code-review", 0, 0) };
        let told = after_round_two().remarks(&other_task, &plan()).unwrap();
        assert!(
            told.contains("state.json has next_phase `code-review` and current_task `4`. To take"),
            "{told}"
        );
        assert_eq!(after_round_two().remarks(&state("post-code-review", 2, 0), &plan()), None);
    }
}
