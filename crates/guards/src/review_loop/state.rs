//! `state.json`: the state of a plan in the review loop. The agent, the user and the guard all write it.
//!
//! A field that is missing or has another type counts as the document's default. A change touches only the fields
//! that it names: all others, known or not, keep their order and their exact text.

use crate::prelude::*;
use serde_json::{Value, json};

use super::phase::ReviewKind;
use provost_core::raw_object::RawObject;

pub const FILE: &str = "state.json";
/// A larger file of a plan is an error.
pub const LARGEST_FILE: u64 = 4 << 20;

const DEFAULT_MAX_REVIEWS: u64 = 8;
/// The stronger model reviews first.
pub const FIRST_MODEL: &str = "opus";
pub const SECOND_MODEL: &str = "sonnet";

/// Whether a model is one of the two that take turns.
pub fn is_known_model(model: &str) -> bool {
    [FIRST_MODEL, SECOND_MODEL].contains(&model)
}

pub const MAX_REVIEWS: &str = "max_reviews";
pub const CURRENT_TASK: &str = "current_task";
pub const PHASE: &str = "phase";
pub const ITERATION: &str = "phase_iteration";
pub const NEXT_PHASE: &str = "next_phase";
pub const MODEL: &str = "review_model";
pub const CLEAN: &str = "consecutive_clean";
pub const TDD: &str = "tdd";

/// The fields that the document defines, in its order.
pub const FIELDS: [&str; 8] = [MAX_REVIEWS, CURRENT_TASK, PHASE, ITERATION, NEXT_PHASE, MODEL, CLEAN, TDD];

/// The meaning of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopState {
    pub max_reviews: u64,
    pub current_task: Option<String>,
    pub phase: Option<String>,
    /// The number of reviews in this cycle; `None`: this is no review cycle.
    pub iteration: Option<u64>,
    pub next_phase: Option<String>,
    /// The model for the next review.
    pub model: String,
    /// The number of clean reviews in a row.
    pub clean: u64,
    pub tdd: bool,
}

impl Default for LoopState {
    fn default() -> Self {
        Self {
            max_reviews: DEFAULT_MAX_REVIEWS,
            current_task: None,
            phase: None,
            iteration: None,
            next_phase: None,
            model: FIRST_MODEL.into(),
            clean: 0,
            tdd: false,
        }
    }
}

impl LoopState {
    /// Whether a review, or the answer to one, is next.
    pub fn is_in_loop(&self) -> bool {
        let next = self.next_phase.as_deref();
        next.is_some_and(|next| ReviewKind::from_phase(next).or(ReviewKind::from_post_phase(next)).is_some())
    }
}

/// The exact text of the file.
#[derive(Debug, Default)]
pub struct StateFile {
    object: RawObject,
}

/// Why a file is not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub String);

impl StateFile {
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        RawObject::parse(bytes).map(|object| Self { object }).map_err(Malformed)
    }

    pub fn has(&self, name: &str) -> bool {
        self.object.has_field(name)
    }

    /// The value of a field; `None`: there is no such field.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.object.get(name)
    }

    /// The meaning of the file, with defaults for missing and invalid values.
    pub fn state(&self) -> LoopState {
        let default = LoopState::default();
        let count = |field| self.get(field).as_ref().and_then(read_count);
        let name = |field| self.get(field).as_ref().and_then(read_name);
        LoopState {
            max_reviews: count(MAX_REVIEWS).unwrap_or(default.max_reviews),
            current_task: name(CURRENT_TASK),
            phase: name(PHASE),
            iteration: count(ITERATION),
            next_phase: name(NEXT_PHASE),
            model: name(MODEL).unwrap_or(default.model),
            clean: count(CLEAN).unwrap_or(default.clean),
            tdd: self.get(TDD).as_ref().is_some_and(is_true),
        }
    }

    /// The fields with invalid values, for which the defaults count.
    pub fn find_invalid_fields(&self) -> Vec<&'static str> {
        let fits = |field: &str, value: &Value| match field {
            MAX_REVIEWS | CLEAN => read_count(value).is_some(),
            ITERATION => value.is_null() || read_count(value).is_some(),
            TDD => value.is_boolean() || is_true(value) || value == "false",
            MODEL => read_name(value).is_some(),
            _ => value.is_null() || read_name(value).is_some(),
        };
        let misfit = |field: &&str| self.get(field).is_some_and(|value| !fits(field, &value));
        FIELDS.into_iter().filter(misfit).collect()
    }

    pub fn set(&mut self, name: &str, value: &Value) {
        self.object.set(name, value);
    }

    /// Sets the fields that differ between two states.
    pub fn set_changed_fields(&mut self, before: &LoopState, after: &LoopState) {
        let values = |state: &LoopState| {
            [
                (PHASE, json!(state.phase)),
                (NEXT_PHASE, json!(state.next_phase)),
                (ITERATION, json!(state.iteration)),
                (MODEL, json!(state.model)),
                (CLEAN, json!(state.clean)),
                (CURRENT_TASK, json!(state.current_task)),
                (MAX_REVIEWS, json!(state.max_reviews)),
                (TDD, json!(state.tdd)),
            ]
        };
        for ((name, old), (_, new)) in values(before).into_iter().zip(values(after)) {
            if old != new {
                self.set(name, &new);
            }
        }
    }

    pub fn text(&self) -> String {
        self.object.to_text()
    }
}

/// A whole number or its text; negative numbers count as 0.
fn read_count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number
            .as_u64()
            .or_else(|| number.as_i64().map(|_| 0))
            // Other programs write whole numbers as `3.0`.
            .or_else(|| {
                number.as_f64().filter(|n| n.fract() == 0.0).and_then(|n| format!("{n:.0}").parse().ok())
            }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A text that is not blank, or a number as text.
fn read_name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_true(value: &Value) -> bool {
    *value == Value::Bool(true) || value == "true"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &Value) -> LoopState {
        StateFile::parse(value.to_string().as_bytes()).unwrap().state()
    }

    #[test]
    fn an_empty_state_is_all_defaults() {
        assert_eq!(read(&json!({})), LoopState::default());
        assert_eq!(LoopState::default().max_reviews, 8);
        assert_eq!(LoopState::default().model, "opus");
    }

    #[test]
    fn every_field_is_read() {
        let state = read(&json!({
            "max_reviews": 4, "current_task": "3", "phase": "code-review", "phase_iteration": 2,
            "next_phase": "post-code-review", "review_model": "sonnet", "consecutive_clean": 1, "tdd": true,
        }));
        let expected = LoopState {
            max_reviews: 4,
            current_task: Some("3".into()),
            phase: Some("code-review".into()),
            iteration: Some(2),
            next_phase: Some("post-code-review".into()),
            model: "sonnet".into(),
            clean: 1,
            tdd: true,
        };
        assert_eq!(state, expected);
    }

    /// Each of these made the document's script fail, some of them only after a review.
    #[test]
    fn wrong_types_count_as_the_default() {
        let state = read(&json!({
            "max_reviews": "many", "current_task": ["2"], "phase": 5, "phase_iteration": "abc",
            "next_phase": false, "review_model": null, "consecutive_clean": {}, "tdd": "yes",
        }));
        assert_eq!(state, LoopState { phase: Some("5".into()), ..LoopState::default() });
        let state = read(
            &json!({"max_reviews": "3", "phase_iteration": 2.0, "consecutive_clean": -1, "current_task": 7}),
        );
        assert_eq!((state.max_reviews, state.iteration, state.clean), (3, Some(2), 0));
        assert_eq!(state.current_task.as_deref(), Some("7"));
        assert_eq!(read(&json!({"max_reviews": 1.5})).max_reviews, 8);
        assert_eq!(read(&json!({"current_task": " ", "next_phase": ""})), LoopState::default());
    }

    #[test]
    fn invalid_fields_are_named() {
        let file = |value: Value| StateFile::parse(value.to_string().as_bytes()).unwrap();
        let odd = json!({"max_reviews": "many", "phase_iteration": "abc", "next_phase": [], "tdd": 1, "phase": "x"});
        assert_eq!(file(odd).find_invalid_fields(), [MAX_REVIEWS, ITERATION, NEXT_PHASE, TDD]);
        let usual = json!({"max_reviews": 0, "phase_iteration": null, "next_phase": null, "current_task": 3});
        assert_eq!(file(usual).find_invalid_fields(), [""; 0]);
    }

    #[test]
    fn a_change_leaves_everything_else_as_it_was_written() {
        let text = concat!(
            "{\n  \"zeta\": 1234567890123456789012345678901234567890.10,\n  \"phase\": \"post-code-review\",\n",
            "  \"nested\": {\"b\": 1, \"a\": [1,  2]},\n  \"current_task\": 3,\n  \"phase_iteration\": 1,\n",
            "  \"caf\\u00e9\": \"\\u00fc\",\n  \"next_phase\": null\n}\n"
        );
        let mut file = StateFile::parse(text.as_bytes()).unwrap();
        let before = file.state();
        file.set_changed_fields(&before, &before.clone());
        // Only the names of fields lose their escapes.
        assert_eq!(file.text(), text.replace("caf\\u00e9", "café"));
        let after = LoopState {
            iteration: Some(2),
            next_phase: Some("code-review".into()),
            clean: 1,
            ..before.clone()
        };
        file.set_changed_fields(&before, &after);
        let expected = text
            .replace("caf\\u00e9", "café")
            .replace("\"phase_iteration\": 1", "\"phase_iteration\": 2")
            .replace(
                "\"next_phase\": null\n",
                "\"next_phase\": \"code-review\",\n  \"consecutive_clean\": 1\n",
            );
        assert_eq!(file.text(), expected);
        assert_eq!(StateFile::parse(file.text().as_bytes()).unwrap().state(), after);
    }
}
