//! What a state claims without evidence in its own counters.
//!
//! A requirement that is marked as completed has a counter of its tries. Completed without a single try is a
//! claim of something that did not happen.

use crate::phases::prelude::*;
use crate::phases::requirements::{
    CONSTITUTION_COUNTER, CONSTITUTION_RECORD, ELICITATION_COUNTER, ELICITATION_RECORD, TEST_COUNTER,
    TEST_RECORD,
};
use crate::phases::state::{WorkflowState, find_value};
use provost_core::text;

/// The counter of a requirement's tries.
#[derive(Debug, PartialEq, Eq)]
pub struct TryCounter {
    /// Where the requirement's record is in its phase.
    record: &'static [&'static str],
    pub field: &'static str,
}

pub static TRY_COUNTERS: [TryCounter; 3] = [
    TryCounter { record: CONSTITUTION_RECORD, field: CONSTITUTION_COUNTER },
    TryCounter { record: ELICITATION_RECORD, field: ELICITATION_COUNTER },
    TryCounter { record: TEST_RECORD, field: TEST_COUNTER },
];

/// A requirement that is marked as completed and was never tried.
#[derive(Debug, PartialEq, Eq)]
pub struct UnprovenClaim {
    phase: String,
    counter: &'static TryCounter,
    /// The counter's value, as it is shown.
    count: String,
}

impl TryCounter {
    pub fn requirement(&self) -> &'static str {
        self.record.last().copied().unwrap_or_default()
    }

    /// The number of tries. A counter that is missing or not a number counts as zero.
    pub fn count(&self, phase: &Value) -> f64 {
        find_value(phase, self.record).and_then(|record| parse_number(record.get(self.field)?)).unwrap_or(0.0)
    }

    fn find_claim(&'static self, name: &str, phase: &Value) -> Option<UnprovenClaim> {
        let record = find_value(phase, self.record)?;
        if record.get("completed") != Some(&Value::Bool(true)) || self.count(phase) >= 1.0 {
            return None;
        }
        let count = record.get(self.field).map_or_else(|| "undefined".to_owned(), Value::to_string);
        Some(UnprovenClaim { phase: name.to_owned(), counter: self, count: shorten_text(&count) })
    }
}

impl UnprovenClaim {
    /// Whether both claims are about one counter of one phase; the values may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        self.phase == other.phase && self.counter == other.counter
    }

    pub fn phase(&self) -> String {
        shorten_text(&self.phase)
    }

    /// Why a change that makes this claim is denied.
    pub fn describe_objection(&self) -> String {
        let (requirement, counter) = (self.counter.requirement(), self.counter.field);
        format!("{requirement} is completed, but {counter} is {} ({})", self.count, self.phase())
    }

    pub fn describe_issue(&self) -> String {
        let (requirement, counter) = (self.counter.requirement(), self.counter.field);
        format!("{requirement}.completed is true but {counter} is {}", self.count)
    }
}

/// All claims of a state that its counters do not prove.
pub fn find_claims(state: &WorkflowState) -> Vec<UnprovenClaim> {
    let phases = state.phases().iter();
    phases
        .flat_map(|(name, phase)| TRY_COUNTERS.iter().filter_map(|counter| counter.find_claim(name, phase)))
        .collect()
}

/// A number, or a text that is one.
fn parse_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}

/// A text from a file, fit for a message.
pub fn shorten_text(text: &str) -> String {
    const LONGEST: usize = 80;
    text::truncate_utf16(&text::make_one_line(text), LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issues(phase: &Value) -> Vec<String> {
        let state = json!({"phases": {"01-requirements": phase}}).to_string();
        find_claims(&WorkflowState::parse(state.as_bytes()).unwrap())
            .iter()
            .map(UnprovenClaim::describe_issue)
            .collect()
    }

    fn claim_validation(count: &Value) -> Value {
        json!({"constitutional_validation": {"completed": true, "iterations_used": count}})
    }

    #[test]
    fn completed_without_a_try_is_an_unproven_claim() {
        for (count, shown) in [
            (json!(0), "0"),
            (json!(null), "null"),
            (json!(-1), "-1"),
            (json!(0.5), "0.5"),
            (json!("0"), "\"0\""),
            (json!("many"), "\"many\""),
            (json!("NaN"), "\"NaN\""),
            (json!(true), "true"),
            (json!([]), "[]"),
        ] {
            let wanted =
                format!("constitutional_validation.completed is true but iterations_used is {shown}");
            assert_eq!(issues(&claim_validation(&count)), [wanted]);
        }
        for count in [json!(1), json!(3), json!(1.5), json!("2"), json!(1e300)] {
            assert!(issues(&claim_validation(&count)).is_empty(), "{count}");
        }
    }

    #[test]
    fn each_requirement_has_its_own_counter() {
        let empty = json!({"completed": true});
        let phase = json!({"constitutional_validation": empty,
            "iteration_requirements": {"interactive_elicitation": empty, "test_iteration": empty}});
        assert_eq!(
            issues(&phase),
            [
                "constitutional_validation.completed is true but iterations_used is undefined",
                "interactive_elicitation.completed is true but menu_interactions is undefined",
                "test_iteration.completed is true but current_iteration is undefined",
            ]
        );
    }

    #[test]
    fn wrong_types_claim_nothing() {
        for phase in [
            json!(null),
            json!([]),
            json!("x"),
            json!({"constitutional_validation": true}),
            json!({"constitutional_validation": [{"completed": true}]}),
            json!({"constitutional_validation": {"completed": "true"}}),
            json!({"constitutional_validation": {"completed": 1}}),
            json!({"constitutional_validation": {"completed": false, "iterations_used": 0}}),
            json!({"iteration_requirements": [1]}),
        ] {
            assert!(issues(&phase).is_empty(), "{phase}");
        }
        for state in [json!({"phases": []}), json!({"phases": null}), json!({})] {
            assert!(find_claims(&WorkflowState::parse(state.to_string().as_bytes()).unwrap()).is_empty());
        }
    }
}
