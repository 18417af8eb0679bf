//! `state.json` of the review loop and of the phases, which agents, users and guards write.

use std::time::Duration;

use provost::phases::state as phases;
use provost::phases::state_write_validator::find_objections;
use provost::raw_object::{self, RawObject};
use provost::review_loop::state::{self, LoopState, StateFile};
use provost::review_loop::tasks::Remaining;
use provost::review_loop::transition::{ReviewOutcome, StopFacts, transition};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Target, ensure, ensure_equal, text_seeds};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "state",
    promise: "every JSON object is read; a change touches only the fields that it names, and all others keep every \
              byte; a written value is read back unchanged; no step exceeds `max_reviews`; an unchanged state \
              reverts nothing",
    patience: Duration::from_millis(200),
    seeds,
    tokens: &[
        "\"max_reviews\":",
        "\"current_task\":",
        "\"phase\":",
        "\"phase_iteration\":",
        "\"next_phase\":",
        "\"review_model\":",
        "\"consecutive_clean\":",
        "\"tdd\":",
        "\"code-review\"",
        "\"post-code-review\"",
        "\"plan-review\"",
        "\"all-code-review\"",
        "\"active_workflow\":",
        "\"phases\":",
        "\"current_phase\":",
        "\"06-implementation\"",
        "\"status\":\"completed\"",
        "\"skill_usage_log\":[",
        "\"test_iteration\":",
        "null",
        "0",
        "8",
        "\"opus\"",
        ",",
        ":",
        "{",
        "}",
        "[",
        "]",
        "\u{feff}",
        "\\u0070hase",
        "\n",
        "\"iteration_requirements\":",
    ],
    brackets: &[("[", "]"), ("{\"a\":", "}"), ("{\"phases\":", "}"), ("{\"active_workflow\":", "}")],
    is_json: true,
    check,
};

fn seeds() -> Vec<Vec<u8>> {
    text_seeds(&[
        r#"{"max_reviews": 8, "current_task": null, "phase": "new-plan", "phase_iteration": 0, "next_phase": "plan-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false}"#,
        "{\n  \"zeta\": 1234567890123456789012345678901234567890.10,\n  \"phase\": \"post-code-review\",\n  \"nested\": {\"b\": 1, \"a\": [1,  2]},\n  \"current_task\": 3,\n  \"phase_iteration\": 1,\n  \"caf\\u00e9\": \"\\u00fc\",\n  \"next_phase\": \"code-review\"\n}\n",
        r#"{"max_reviews":"3","phase_iteration":2.0,"consecutive_clean":-1,"tdd":"true","next_phase":"post-all-code-review"}"#,
        r#"{"current_phase":"01-requirements","active_workflow":{"type":"feature","started_at":"2026-01-01T00:00:00Z","current_phase":"06-implementation","current_phase_index":1,"phases":["05-test-strategy","06-implementation"],"atdd_mode":true,"git_branch":{"name":"feature/x","status":"active"}},"phases":{"05-test-strategy":{"status":"completed","iteration_requirements":{"interactive_elicitation":{"completed":true,"menu_interactions":3}}},"06-implementation":{"status":"in_progress","iteration_requirements":{"test_iteration":{"current_iteration":2,"completed":false,"history":[{"iteration":1,"result":"FAILED"}]}}}},"skill_usage_log":[{"agent":"x"}]}"#,
        r#"{"phases": {"07-testing": {"status": "completed", "last_error": "x \ud83d"}}, "active_workflow": {"current_phase": "07-testing", "description": "\udc00"}}"#,
    ])
}

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    let body = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    let is_object = serde_json::from_slice::<Value>(body).is_ok_and(|value| value.is_object());
    let Ok(file) = StateFile::parse(input) else {
        ensure(!is_object, "a JSON object is no state of a plan")?;
        return ensure(phases::WorkflowState::parse(input).is_none(), "a state of one pack only");
    };
    let state = file.state();
    digest.add_debug(&(&state, file.find_invalid_fields()));
    check_review_state(input, &state, digest)?;
    check_phases_state(input, digest)
}

/// Every state that a stop can lead to is written and read back.
fn check_review_state(input: &[u8], state: &LoopState, digest: &mut AnswerDigest) -> Result<(), String> {
    let verdicts =
        [None, Some(ReviewOutcome::Clean), Some(ReviewOutcome::Issues), Some(ReviewOutcome::Missing)];
    let before = read_fields(input)?;
    for (number, verdict) in verdicts.into_iter().enumerate() {
        let tasks = [Remaining::Some, Remaining::None, Remaining::Unknown][number % 3];
        let step = transition(state, StopFacts { post_review: number % 2 == 0, tasks, verdict });
        digest.add(step.answer.to_string());
        let most = state.max_reviews.max(state.iteration.unwrap_or(0));
        ensure(step.state.iteration.unwrap_or(0) <= most, "more reviews than there may be")?;
        let mut file = StateFile::parse(input).map_err(|why| why.0)?;
        file.set_changed_fields(state, &step.state);
        let text = file.text();
        let again =
            StateFile::parse(text.as_bytes()).map_err(|why| format!("written, and no state: {}", why.0))?;
        ensure_equal(&again.state(), &step.state, "written and read again")?;
        ensure_equal(&again.text(), &text, "written twice")?;
        check_untouched(&before, &read_fields(text.as_bytes())?, |name| state::FIELDS.contains(&name))?;
    }
    Ok(())
}

fn check_phases_state(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    let state = phases::WorkflowState::parse(input).ok_or("a state of one pack only")?;
    digest.add_debug(&(state.workflow(), state.current_phase(), state.phases().len()));
    let found: Vec<String> =
        find_objections(Some(&state), Some(&state)).into_iter().map(|found| found.what).collect();
    ensure_equal(&found, &Vec::new(), "a state that stays as it is takes something back")?;
    let before = read_fields(input)?;
    let mut object = RawObject::parse(input)?;
    let value = json!({"list": ["x\ny", 1.5, null], "text": "\u{1b}"});
    let path = ["phases", "06-implementation", "seen"];
    let is_set = object.set_at(&path, &value);
    let text = object.to_text();
    let again = RawObject::parse(text.as_bytes()).map_err(|why| format!("written, and no object: {why}"))?;
    if is_set {
        ensure_equal(&again.get_at(&path), &Some(value), "a field of a field")?;
    }
    ensure_equal(&again.to_text(), &text, "written twice")?;
    // A field that is named may be an object, whose other fields are laid out anew.
    check_untouched(&before, &read_fields(text.as_bytes())?, |name| is_set && name == path[0])
}

type Fields = Vec<(String, String)>;

/// The fields of an object, with their values as text.
fn read_fields(bytes: &[u8]) -> Result<Fields, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let raw_object::OrderedFields(fields): raw_object::OrderedFields<Box<RawValue>> =
        serde_json::from_slice(bytes).map_err(|error| format!("no object: {error}"))?;
    Ok(fields.into_iter().map(|(name, raw)| (name, raw.get().to_owned())).collect())
}

/// All other fields are the same and in the same order, also duplicates.
fn check_untouched(before: &Fields, after: &Fields, may_change: impl Fn(&str) -> bool) -> Result<(), String> {
    let others = |fields: &Fields| -> Fields {
        fields.iter().filter(|(name, _)| !may_change(name)).cloned().collect()
    };
    ensure_equal(&others(after), &others(before), "fields that nobody named")
}
