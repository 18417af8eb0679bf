//! The result of a plan's last review, in Provost's own directory, which agents cannot write to.
//!
//! Agents write to `state.json`, so an agent could claim a better result there. A state that claims more clean
//! reviews than this entry allows is corrected, in the same cycle and in the next one, and the user is warned about a
//! loop that was left early. The user may set any state: `provost review set` outside an
//! agent removes the entry.

use crate::prelude::*;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::messages;
use super::open_findings;
use super::phase::ReviewKind;
use super::plan::Plan;
use super::state::{FIRST_MODEL, LoopState, is_known_model};
use super::transition::{CLEAN_NEEDED, LoopStep, StopAnswer};
use provost_core::config::settings;
use provost_core::places::fnv1a;
use provost_core::text::shorten_name;
use provost_core::workspace::Workspace;

const FOLDER: &str = "rounds";
const LARGEST: u64 = 4 << 10;

pub struct Ledger {
    /// The last review of the plan.
    entry: Option<LedgerEntry>,
    /// `false`: every state counts as it is, as in `compat`.
    checks: bool,
}

#[derive(Clone, PartialEq)]
struct LedgerEntry {
    review: ReviewKind,
    task: Option<String>,
    number: u64,
    clean: u64,
    /// The number of clean reviews before this one, until the state is known to contain this one.
    clean_before: Option<u64>,
    /// It ended its cycle, so the next cycle starts without clean reviews.
    over: bool,
}

impl Ledger {
    pub fn read(plan: &Plan, workspace: &Workspace) -> Self {
        if workspace.config.word(settings::REVIEW_LOOP_STATE) == "believed" {
            return Self { entry: None, checks: false };
        }
        let bytes =
            entry_file(plan, workspace).and_then(|file| workspace.read_bytes(&file, LARGEST).ok().flatten());
        let value: Option<Value> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { entry: value.as_ref().and_then(LedgerEntry::from_json), checks: true }
    }

    /// Records the result of a step. `before`: the state that the step started from, as long as the new state may not
    /// have been written; with `None`, the review cannot be repeated from there. A failure to write only means that
    /// nothing is corrected later.
    pub fn record_step(before: Option<&LoopState>, step: &LoopStep, plan: &Plan, workspace: &Workspace) {
        if matches!(step.answer, StopAnswer::Block { clean: true, .. } | StopAnswer::Advance { .. }) {
            open_findings::close(plan, workspace);
        }
        let round = match &step.answer {
            StopAnswer::Block { round, .. } | StopAnswer::Advance { round, .. } => round,
            StopAnswer::Skip { .. } => return Self::erase(plan, workspace),
            _ => return,
        };
        let entry = LedgerEntry {
            review: round.review,
            task: step.state.current_task.clone(),
            number: round.number,
            clean: step.state.clean,
            clean_before: before.map(|before| before.clean),
            over: matches!(step.answer, StopAnswer::Advance { .. }),
        };
        entry.write(plan, workspace);
    }

    /// Marks the entry as entered into the state, if the state shows that. A process that was killed right after
    /// writing the state could not do so.
    pub fn mark_entered(&self, state: &LoopState, plan: &Plan, workspace: &Workspace) {
        let Some(entry) = &self.entry else { return };
        let is_unmarked = entry.clean_before.is_some() && !entry.is_before(state);
        // Read again, because another process may have recorded a later review since this event began.
        if is_unmarked && Self::read(plan, workspace).entry.as_ref() == Some(entry) {
            LedgerEntry { clean_before: None, ..entry.clone() }.write(plan, workspace);
        }
    }

    /// Removes the entry, so that the state counts as it is.
    pub fn erase(plan: &Plan, workspace: &Workspace) {
        open_findings::close(plan, workspace);
        if let Some(file) = entry_file(plan, workspace) {
            let _ = workspace.remove_file(&file);
        }
    }

    /// The state without clean reviews that did not happen, and with one of the two models: agents write to the
    /// state, but may not choose the reviewer.
    pub fn correct_state(&self, state: &LoopState) -> LoopState {
        let mut corrected = state.clone();
        if let Some(entry) = self.entry.as_ref().filter(|entry| entry.claims_too_much(state)) {
            corrected.clean = entry.count_earned(state);
        }
        if self.checks && !is_known_model(&state.model) {
            corrected.model = FIRST_MODEL.into();
        }
        corrected
    }

    /// The warning to the user about a state.
    pub fn find_warning(&self, state: &LoopState, plan: &Plan) -> Option<String> {
        let claim = format!("Warning: state.json claims {} clean in a row", state.clean);
        let Some(entry) = &self.entry else {
            let is_unseen = self.checks && state.clean > 0 && state.is_in_loop();
            return is_unseen.then(|| format!("{claim}, which Provost has not seen; Provost trusts it"));
        };
        if entry.claims_too_much(state) {
            let earned = entry.count_earned(state);
            return Some(format!("{claim}, but Provost counts {earned} after its own reviews"));
        }
        if entry.over || entry.is_same_cycle(state) {
            return None;
        }
        let quote =
            |value: Option<&str>| value.map_or("null".into(), |value| format!("`{}`", shorten_name(value)));
        let mut how = format!("state.json has next_phase {}", quote(state.next_phase.as_deref()));
        if entry.task != state.current_task {
            how += &format!(" and current_task {}", quote(state.current_task.as_deref()));
        }
        Some(entry.describe_left(&how) + &entry.describe_return(plan, ""))
    }

    /// The warning to the user about a missing state, or with `is_gone` false, a malformed one.
    pub fn find_missing_state_warning(&self, plan: &Plan, is_gone: bool) -> Option<String> {
        let entry = self.entry.as_ref().filter(|entry| !entry.over)?;
        if !is_gone {
            return Some(entry.describe_left("state.json cannot be read"));
        }
        Some(entry.describe_left("state.json is gone") + &entry.describe_return(plan, " --new"))
    }
}

impl LedgerEntry {
    fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            review: ReviewKind::from_phase(value["review"].as_str()?)?,
            task: value["task"].as_str().map(str::to_owned),
            number: value["number"].as_u64()?,
            clean: value["clean"].as_u64()?,
            clean_before: value["clean_before"].as_u64(),
            over: value["over"].as_bool().unwrap_or(false),
        })
    }

    fn write(&self, plan: &Plan, workspace: &Workspace) {
        let Self { review, task, number, clean, clean_before, over } = self;
        let value = json!({"review": review.phase(), "task": task, "number": number, "clean": clean,
            "clean_before": clean_before, "over": over});
        if let Some(file) = entry_file(plan, workspace) {
            let _ = workspace.write_state_file(&file, value.to_string().as_bytes());
        }
    }

    /// Whether a state has more clean reviews than there were.
    fn claims_too_much(&self, state: &LoopState) -> bool {
        let counts = if self.over { state.is_in_loop() } else { self.is_same_cycle(state) };
        counts && state.clean > self.count_earned(state)
    }

    fn describe_left(&self, how: &str) -> String {
        format!(
            "Warning: the {} was left after round {}, before {CLEAN_NEEDED} reviews in a row were clean: {how}",
            messages::name_review(self.review, self.task.as_deref()),
            self.number
        )
    }

    /// The command that returns to the cycle.
    fn describe_return(&self, plan: &Plan, new: &str) -> String {
        let (phase, post, number) = (self.review.phase(), self.review.post_phase(), self.number);
        let task = self.task.as_deref().filter(|_| self.review == ReviewKind::Code);
        let task = task.map_or(String::new(), |task| format!(" current_task={}", shorten_name(task)));
        format!(
            ". To continue it: `provost review set {}{new} phase={phase} next_phase={post} \
             phase_iteration={number}{task}`",
            plan.argument()
        )
    }

    /// Whether a state is the one that this review started from.
    fn is_before(&self, state: &LoopState) -> bool {
        let number = state.iteration.and_then(|number| number.checked_add(1));
        number == Some(self.number) && self.is_same_cycle(state)
    }

    fn is_same_cycle(&self, state: &LoopState) -> bool {
        let next = state.next_phase.as_deref();
        let same_task = self.review != ReviewKind::Code || self.task == state.current_task;
        same_task && (next == Some(self.review.phase()) || next == Some(self.review.post_phase()))
    }

    /// The number of clean reviews in a row that a state of this cycle, or of the next one, can have.
    fn count_earned(&self, state: &LoopState) -> u64 {
        match state.iteration {
            Some(number) if number == self.number && !self.over => self.clean,
            // A process was killed before it wrote the state.
            Some(_) if self.is_before(state) => self.clean_before.unwrap_or(0),
            _ => 0,
        }
    }
}

fn entry_file(plan: &Plan, workspace: &Workspace) -> Option<PathBuf> {
    let name = format!("{:016x}.json", fnv1a(plan.path.as_os_str().as_encoded_bytes()));
    workspace.state_file(FOLDER, &name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_round_two() -> Ledger {
        let value = json!({"review": "code-review", "task": "3", "number": 2, "clean": 0, "clean_before": 1});
        Ledger { entry: LedgerEntry::from_json(&value), checks: true }
    }

    fn plan() -> Plan {
        Plan { id: "x".into(), path: "/x".into(), root: "/".into() }
    }

    fn state(next: &str, number: u64, clean: u64) -> LoopState {
        LoopState {
            current_task: Some("3".into()),
            next_phase: Some(next.into()),
            iteration: Some(number),
            clean,
            ..LoopState::default()
        }
    }

    #[test]
    fn a_better_result_than_the_last_review_gave_does_not_count() {
        for next in ["code-review", "post-code-review"] {
            let claimed = state(next, 2, 1);
            assert_eq!(after_round_two().correct_state(&claimed), state(next, 2, 0));
            let warning = after_round_two().find_warning(&claimed, &plan()).unwrap();
            assert!(
                warning.contains("claims 1 clean in a row, but Provost counts 0 after its own reviews"),
                "{warning}"
            );
        }
        // Neither does the result of another round, which did not happen.
        for (number, clean) in [(0, 1), (1, 2), (3, 1)] {
            assert!(after_round_two().correct_state(&state("code-review", number, clean)).clean < clean);
        }
        // The old state counts, if a killed process did not write the new one.
        assert_eq!(after_round_two().correct_state(&state("code-review", 1, 1)).clean, 1);
    }

    /// Otherwise an agent could repeat a review that found something until one finds nothing.
    #[test]
    fn a_round_that_is_in_the_state_is_not_undone() {
        let value =
            json!({"review": "code-review", "task": "3", "number": 2, "clean": 0, "clean_before": null});
        let entered = Ledger { entry: LedgerEntry::from_json(&value), checks: true };
        assert_eq!(entered.correct_state(&state("code-review", 1, 1)).clean, 0);
        assert_eq!(entered.correct_state(&state("post-code-review", 2, 0)), state("post-code-review", 2, 0));
    }

    #[test]
    fn another_task_or_cycle_counts_as_it_is() {
        let other_task = LoopState { current_task: Some("4".into()), ..state("code-review", 2, 1) };
        for other in
            [state("code-review", 2, 0), state("code-review", 1, 1), state("plan-review", 2, 1), other_task]
        {
            assert_eq!(after_round_two().correct_state(&other), other);
        }
        let nothing_known = Ledger { entry: None, checks: true };
        let claimed = state("code-review", 2, 1);
        assert_eq!(nothing_known.correct_state(&claimed), claimed);
        let warning = nothing_known.find_warning(&claimed, &plan()).unwrap();
        assert!(warning.contains("claims 1 clean in a row, which Provost has not seen"), "{warning}");
        for fine in [state("code-review", 2, 0), state("complete-task", 2, 2)] {
            assert_eq!(nothing_known.find_warning(&fine, &plan()), None);
        }
        assert_eq!(Ledger { checks: false, ..nothing_known }.find_warning(&claimed, &plan()), None);
    }

    #[test]
    fn a_new_cycle_begins_with_no_clean_review() {
        let value = json!({"review": "code-review", "task": "3", "number": 3, "clean": 2, "clean_before": 1, "over": true});
        let after = || Ledger { entry: LedgerEntry::from_json(&value), checks: true };
        let other_task = |number, clean| LoopState {
            current_task: Some("4".into()),
            ..state("code-review", number, clean)
        };
        for claimed in [
            state("code-review", 0, 1),
            other_task(0, 1),
            other_task(3, 2),
            other_task(2, 1),
            state("all-code-review", 3, 2),
        ] {
            assert_eq!(after().correct_state(&claimed).clean, 0, "{claimed:?}");
            assert!(after().find_warning(&claimed, &plan()).is_some(), "{claimed:?}");
        }
        // The old state counts, if a killed process did not write the new one.
        assert_eq!(after().correct_state(&state("code-review", 2, 1)).clean, 1);
        // The end of the cycle, and phases outside of one.
        for next in ["complete-task", "complete"] {
            assert_eq!(after().correct_state(&state(next, 3, 2)).clean, 2);
            assert_eq!(after().find_warning(&state(next, 3, 2), &plan()), None);
        }
        assert_eq!(after().find_missing_state_warning(&plan(), true), None);
    }

    #[test]
    fn a_loop_whose_state_is_gone_causes_a_warning() {
        assert_eq!(
            after_round_two().find_missing_state_warning(&plan(), true).unwrap(),
            "Warning: the code review of task 3 was left after round 2, before 2 reviews in a row were clean: \
             state.json is gone. To continue it: `provost review set --plan x --new phase=code-review \
             next_phase=post-code-review phase_iteration=2 current_task=3`"
        );
        assert_eq!(Ledger { entry: None, checks: true }.find_missing_state_warning(&plan(), true), None);
    }

    #[test]
    fn a_loop_that_was_left_causes_a_warning() {
        let left = LoopState { next_phase: None, ..state("", 2, 0) };
        let warning = after_round_two().find_warning(&left, &plan()).unwrap();
        assert_eq!(
            warning,
            "Warning: the code review of task 3 was left after round 2, before 2 reviews in a row were clean: \
             state.json has next_phase null. To continue it: `provost review set --plan x phase=code-review \
             next_phase=post-code-review phase_iteration=2 current_task=3`"
        );
        assert!(after_round_two().find_warning(&state("complete-task", 2, 0), &plan()).is_some());
        let other_task = LoopState { current_task: Some("4".into()), ..state("code-review", 0, 0) };
        let warning = after_round_two().find_warning(&other_task, &plan()).unwrap();
        assert!(
            warning.contains("state.json has next_phase `code-review` and current_task `4`. To continue"),
            "{warning}"
        );
        assert_eq!(after_round_two().find_warning(&state("post-code-review", 2, 0), &plan()), None);
    }
}
