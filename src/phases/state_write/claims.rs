//! What a state claims, and whether its own counters bear it out.
//!
//! A part of a phase that is called completed has a counter of how often it was tried. Completed without a
//! single try is a claim of what did not happen.

use serde_json::Value;

use crate::phases::state::State;
use crate::text;

/// A part of a phase that can be completed, and its counter.
pub struct Part {
    /// Where it stands in the phase.
    path: &'static [&'static str],
    counter: &'static str,
}

pub const PARTS: [Part; 3] = [
    Part { path: &["constitutional_validation"], counter: "iterations_used" },
    Part { path: &["iteration_requirements", "interactive_elicitation"], counter: "menu_interactions" },
    Part { path: &["iteration_requirements", "test_iteration"], counter: "current_iteration" },
];

/// A part that is called completed and was never tried.
#[derive(Debug, PartialEq, Eq)]
pub struct Fake {
    phase: String,
    part: &'static str,
    counter: &'static str,
    /// What the counter says, as it is shown.
    count: String,
}

impl Part {
    pub fn name(&self) -> &'static str {
        self.path.last().copied().unwrap_or_default()
    }

    pub fn counter(&self) -> &'static str {
        self.counter
    }

    /// How often it was tried. What is missing or no number is no try.
    pub fn count(&self, phase: &Value) -> f64 {
        at(phase, self.path).and_then(|part| number(part.get(self.counter)?)).unwrap_or(0.0)
    }

    fn fake(&self, name: &str, phase: &Value) -> Option<Fake> {
        let part = at(phase, self.path)?;
        if part.get("completed") != Some(&Value::Bool(true)) || self.count(phase) >= 1.0 {
            return None;
        }
        let count = part.get(self.counter).map_or_else(|| "undefined".to_owned(), Value::to_string);
        Some(Fake { phase: name.to_owned(), part: self.name(), counter: self.counter, count: short(&count) })
    }
}

impl Fake {
    /// Whether both are the same claim, whatever the counter says.
    pub fn is(&self, other: &Self) -> bool {
        self.phase == other.phase && self.part == other.part
    }

    pub fn phase(&self) -> String {
        short(&self.phase)
    }

    /// What is wrong with a change that makes this claim.
    pub fn objection(&self) -> String {
        format!("{} is completed, but {} is {} ({})", self.part, self.counter, self.count, self.phase())
    }

    pub fn issue(&self) -> String {
        format!("{}.completed is true but {} is {}", self.part, self.counter, self.count)
    }
}

/// Every claim of a state that its counters do not bear out.
pub fn fakes(state: &State) -> Vec<Fake> {
    let phases = state.phases().iter();
    phases.flat_map(|(name, phase)| PARTS.iter().filter_map(move |part| part.fake(name, phase))).collect()
}

/// A value inside another.
pub fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// A number, also one that is written as a text.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}

/// A name from a file, fit to be shown.
pub fn short(text: &str) -> String {
    const LONGEST: usize = 80;
    text::bounded(&text::one_line(text), LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn issues(phase: &Value) -> Vec<String> {
        let state = json!({"phases": {"01-requirements": phase}}).to_string();
        fakes(&State::read(state.as_bytes()).unwrap()).iter().map(Fake::issue).collect()
    }

    fn validated(count: &Value) -> Value {
        json!({"constitutional_validation": {"completed": true, "iterations_used": count}})
    }

    #[test]
    fn completed_without_a_try_is_a_fake() {
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
            assert_eq!(issues(&validated(&count)), [wanted]);
        }
        for count in [json!(1), json!(3), json!(1.5), json!("2"), json!(1e300)] {
            assert!(issues(&validated(&count)).is_empty(), "{count}");
        }
    }

    #[test]
    fn each_part_has_its_own_counter() {
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
            assert!(fakes(&State::read(state.to_string().as_bytes()).unwrap()).is_empty());
        }
    }
}
