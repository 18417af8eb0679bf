//! `state.json`: where a plan stands, as the agent, the person and the guard all write it.
//!
//! Nothing in the file is required, and nothing in it is lost: a field that is missing or of another
//! type counts as the document's default, and a change touches only the fields that it names. The
//! values of all others, known or not, stay as they were written, digit by digit, in their order.

use serde_json::Value;

use super::phase::Review;
use crate::json_object::JsonObject;

pub const FILE: &str = "state.json";
/// No state that anybody writes is larger.
pub const LARGEST: u64 = 4 << 20;

const DEFAULT_MAX_REVIEWS: u64 = 8;
/// The strongest model begins.
pub const FIRST_MODEL: &str = "opus";
pub const SECOND_MODEL: &str = "sonnet";

/// Whether a model is one of the two that review in turn.
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

/// What the file means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub max_reviews: u64,
    pub current_task: Option<String>,
    pub phase: Option<String>,
    /// How many reviews of this cycle have been made; `None`: this is no review cycle.
    pub iteration: Option<u64>,
    pub next_phase: Option<String>,
    /// Who makes the next review.
    pub model: String,
    /// How many of the last reviews were clean.
    pub clean: u64,
    pub tdd: bool,
}

impl Default for State {
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

impl State {
    /// Whether reviews go on by themselves.
    pub fn is_in_loop(&self) -> bool {
        let next = self.next_phase.as_deref();
        next.is_some_and(|next| Review::in_phase(next).or(Review::before_phase(next)).is_some())
    }
}

/// The file as it is written.
#[derive(Debug, Default)]
pub struct StateFile {
    object: JsonObject,
}

/// Why a file is no state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub String);

impl StateFile {
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        JsonObject::read(bytes).map(|object| Self { object }).map_err(Malformed)
    }

    pub fn has(&self, name: &str) -> bool {
        self.object.has(name)
    }

    /// The value of a field; `None`: there is no such field.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.object.get(name)
    }

    /// What it means; what is missing or makes no sense counts as the default.
    pub fn state(&self) -> State {
        let default = State::default();
        State {
            max_reviews: self.get(MAX_REVIEWS).and_then(|value| count(&value)).unwrap_or(default.max_reviews),
            current_task: self.get(CURRENT_TASK).and_then(|value| name(&value)),
            phase: self.get(PHASE).and_then(|value| name(&value)),
            iteration: self.get(ITERATION).and_then(|value| count(&value)),
            next_phase: self.get(NEXT_PHASE).and_then(|value| name(&value)),
            model: self.get(MODEL).and_then(|value| name(&value)).unwrap_or(default.model),
            clean: self.get(CLEAN).and_then(|value| count(&value)).unwrap_or(default.clean),
            tdd: self.get(TDD).is_some_and(|value| is_true(&value)),
        }
    }

    /// Names of fields whose value is not of the document's type, so that the default counts.
    pub fn misfits(&self) -> Vec<&'static str> {
        let fits = |field: &str, value: &Value| match field {
            MAX_REVIEWS | CLEAN => count(value).is_some(),
            ITERATION => value.is_null() || count(value).is_some(),
            TDD => value.is_boolean() || is_true(value) || value == "false",
            MODEL => name(value).is_some(),
            _ => value.is_null() || name(value).is_some(),
        };
        let misfit = |field: &&str| self.get(field).is_some_and(|value| !fits(field, &value));
        FIELDS.into_iter().filter(misfit).collect()
    }

    pub fn set(&mut self, name: &str, value: &Value) {
        self.object.set(name, value);
    }

    /// Writes down what has changed between two meanings, and nothing else.
    pub fn change(&mut self, before: &State, after: &State) {
        let number = |count: Option<u64>| count.map_or(Value::Null, Value::from);
        let word = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
        let values = |state: &State| {
            [
                (PHASE, word(&state.phase)),
                (NEXT_PHASE, word(&state.next_phase)),
                (ITERATION, number(state.iteration)),
                (MODEL, state.model.clone().into()),
                (CLEAN, state.clean.into()),
                (CURRENT_TASK, word(&state.current_task)),
                (MAX_REVIEWS, state.max_reviews.into()),
                (TDD, state.tdd.into()),
            ]
        };
        for ((name, old), (_, new)) in values(before).into_iter().zip(values(after)) {
            if old != new {
                self.set(name, &new);
            }
        }
    }

    pub fn text(&self) -> String {
        self.object.text()
    }
}

/// A whole number, also as a text; below zero is zero.
fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number
            .as_u64()
            .or_else(|| number.as_i64().map(|_| 0))
            // A whole number that another program has written as `3.0`.
            .or_else(|| {
                number.as_f64().filter(|n| n.fract() == 0.0).and_then(|n| format!("{n:.0}").parse().ok())
            }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A text that says something; a number is one, too.
fn name(value: &Value) -> Option<String> {
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
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> State {
        StateFile::read(value.to_string().as_bytes()).unwrap().state()
    }

    #[test]
    fn an_empty_state_is_all_defaults() {
        assert_eq!(of(&json!({})), State::default());
        assert_eq!(State::default().max_reviews, 8);
        assert_eq!(State::default().model, "opus");
    }

    #[test]
    fn every_field_is_read() {
        let state = of(&json!({
            "max_reviews": 4, "current_task": "3", "phase": "code-review", "phase_iteration": 2,
            "next_phase": "post-code-review", "review_model": "sonnet", "consecutive_clean": 1, "tdd": true,
        }));
        let expected = State {
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

    /// Each of these ended the shell script, some of them after a review that was paid for.
    #[test]
    fn wrong_types_count_as_the_default() {
        let state = of(&json!({
            "max_reviews": "many", "current_task": ["2"], "phase": 5, "phase_iteration": "abc",
            "next_phase": false, "review_model": null, "consecutive_clean": {}, "tdd": "yes",
        }));
        assert_eq!(state, State { phase: Some("5".into()), ..State::default() });
        let state = of(
            &json!({"max_reviews": "3", "phase_iteration": 2.0, "consecutive_clean": -1, "current_task": 7}),
        );
        assert_eq!((state.max_reviews, state.iteration, state.clean), (3, Some(2), 0));
        assert_eq!(state.current_task.as_deref(), Some("7"));
        assert_eq!(of(&json!({"max_reviews": 1.5})).max_reviews, 8);
        assert_eq!(of(&json!({"current_task": " ", "next_phase": ""})), State::default());
    }

    #[test]
    fn misfits_are_named() {
        let file = |value: Value| StateFile::read(value.to_string().as_bytes()).unwrap();
        let odd = json!({"max_reviews": "many", "phase_iteration": "abc", "next_phase": [], "tdd": 1, "phase": "x"});
        assert_eq!(file(odd).misfits(), [MAX_REVIEWS, ITERATION, NEXT_PHASE, TDD]);
        let usual = json!({"max_reviews": 0, "phase_iteration": null, "next_phase": null, "current_task": 3});
        assert_eq!(file(usual).misfits(), [""; 0]);
    }

    #[test]
    fn a_change_leaves_everything_else_as_it_was_written() {
        let text = concat!(
            "{\n  \"zeta\": 1234567890123456789012345678901234567890.10,\n  \"phase\": \"post-code-review\",\n",
            "  \"nested\": {\"b\": 1, \"a\": [1,  2]},\n  \"current_task\": 3,\n  \"phase_iteration\": 1,\n",
            "  \"caf\\u00e9\": \"\\u00fc\",\n  \"next_phase\": null\n}\n"
        );
        let mut file = StateFile::read(text.as_bytes()).unwrap();
        let before = file.state();
        file.change(&before, &before.clone());
        // The name of a field is written plainly; that is all.
        assert_eq!(file.text(), text.replace("caf\\u00e9", "café"));
        let after =
            State { iteration: Some(2), next_phase: Some("code-review".into()), clean: 1, ..before.clone() };
        file.change(&before, &after);
        let expected = text
            .replace("caf\\u00e9", "café")
            .replace("\"phase_iteration\": 1", "\"phase_iteration\": 2")
            .replace(
                "\"next_phase\": null\n",
                "\"next_phase\": \"code-review\",\n  \"consecutive_clean\": 1\n",
            );
        assert_eq!(file.text(), expected);
        assert_eq!(StateFile::read(file.text().as_bytes()).unwrap().state(), after);
    }
}
