//! `state.json`, of the review loop and of the phases: files that agents, people and guards all write.

use std::time::Duration;

use provost::json_object::{self, JsonObject};
use provost::phases::state as phases;
use provost::phases::state_write::objections;
use provost::review_loop::state::{self, State, StateFile};
use provost::review_loop::tasks::Left;
use provost::review_loop::transition::{Found, Verdict, transition};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Target, holds, same, texts};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "state",
    promise: "every JSON object is read; a change touches only the fields that it names, all others keep every \
              byte; what is written is read back as what was meant; no step goes beyond `max_reviews`; to leave a \
              state as it is takes nothing back",
    findings: &[],
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
    texts(&[
        r#"{"max_reviews": 8, "current_task": null, "phase": "new-plan", "phase_iteration": 0, "next_phase": "plan-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false}"#,
        "{\n  \"zeta\": 1234567890123456789012345678901234567890.10,\n  \"phase\": \"post-code-review\",\n  \"nested\": {\"b\": 1, \"a\": [1,  2]},\n  \"current_task\": 3,\n  \"phase_iteration\": 1,\n  \"caf\\u00e9\": \"\\u00fc\",\n  \"next_phase\": \"code-review\"\n}\n",
        r#"{"max_reviews":"3","phase_iteration":2.0,"consecutive_clean":-1,"tdd":"true","next_phase":"post-all-code-review"}"#,
        r#"{"current_phase":"01-requirements","active_workflow":{"type":"feature","started_at":"2026-01-01T00:00:00Z","current_phase":"06-implementation","current_phase_index":1,"phases":["05-test-strategy","06-implementation"],"atdd_mode":true,"git_branch":{"name":"feature/x","status":"active"}},"phases":{"05-test-strategy":{"status":"completed","iteration_requirements":{"interactive_elicitation":{"completed":true,"menu_interactions":3}}},"06-implementation":{"status":"in_progress","iteration_requirements":{"test_iteration":{"current_iteration":2,"completed":false,"history":[{"iteration":1,"result":"FAILED"}]}}}},"skill_usage_log":[{"agent":"x"}]}"#,
        r#"{"phases": {"07-testing": {"status": "completed", "last_error": "x \ud83d"}}, "active_workflow": {"current_phase": "07-testing", "description": "\udc00"}}"#,
    ])
}

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    let body = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    let is_object = serde_json::from_slice::<Value>(body).is_ok_and(|value| value.is_object());
    let Ok(file) = StateFile::read(input) else {
        holds(!is_object, "a JSON object is no state of a plan")?;
        return holds(phases::State::read(input).is_none(), "a state of one pack only");
    };
    let state = file.state();
    seen.add_shown(&(&state, file.misfits()));
    review_loop(input, &state, seen)?;
    of_phases(input, seen)
}

/// Every step that a stop can make from here is written and read back.
fn review_loop(input: &[u8], state: &State, seen: &mut Seen) -> Result<(), String> {
    let verdicts = [None, Some(Verdict::Clean), Some(Verdict::Issues), Some(Verdict::Missing)];
    let before = fields(input)?;
    for (number, verdict) in verdicts.into_iter().enumerate() {
        let tasks = [Left::Some, Left::None, Left::Unknown][number % 3];
        let step = transition(state, Found { post_review: number % 2 == 0, tasks, verdict });
        seen.add(step.answer.to_string());
        let most = state.max_reviews.max(state.iteration.unwrap_or(0));
        holds(step.state.iteration.unwrap_or(0) <= most, "more reviews than there may be")?;
        let mut file = StateFile::read(input).map_err(|why| why.0)?;
        file.change(state, &step.state);
        let text = file.text();
        let again =
            StateFile::read(text.as_bytes()).map_err(|why| format!("written, and no state: {}", why.0))?;
        same(&again.state(), &step.state, "written and read again")?;
        same(&again.text(), &text, "written twice")?;
        untouched(&before, &fields(text.as_bytes())?, |name| state::FIELDS.contains(&name))?;
    }
    Ok(())
}

fn of_phases(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    let state = phases::State::read(input).ok_or("a state of one pack only")?;
    seen.add_shown(&(state.workflow(), state.current_phase(), state.phases().len()));
    let found: Vec<String> =
        objections(Some(&state), Some(&state)).into_iter().map(|found| found.what).collect();
    same(&found, &Vec::new(), "a state that stays as it is takes something back")?;
    let before = fields(input)?;
    let mut object = JsonObject::read(input)?;
    let value = json!({"list": ["x\ny", 1.5, null], "text": "\u{1b}"});
    let path = ["phases", "06-implementation", "seen"];
    let is_set = object.set_at(&path, &value);
    let text = object.text();
    let again = JsonObject::read(text.as_bytes()).map_err(|why| format!("written, and no object: {why}"))?;
    if is_set {
        same(&again.get_at(&path), &Some(value), "a field of a field")?;
    }
    same(&again.text(), &text, "written twice")?;
    // A field that is named may be an object, whose other fields are laid out anew.
    untouched(&before, &fields(text.as_bytes())?, |name| is_set && name == path[0])
}

type Fields = Vec<(String, String)>;

/// The fields of an object, each value as it is written.
fn fields(bytes: &[u8]) -> Result<Fields, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let json_object::Fields(fields): json_object::Fields<Box<RawValue>> =
        serde_json::from_slice(bytes).map_err(|error| format!("no object: {error}"))?;
    Ok(fields.into_iter().map(|(name, raw)| (name, raw.get().to_owned())).collect())
}

/// All fields but some are the same, in their order, however often a name stands there.
fn untouched(before: &Fields, after: &Fields, may_change: impl Fn(&str) -> bool) -> Result<(), String> {
    let others = |fields: &Fields| -> Fields {
        fields.iter().filter(|(name, _)| !may_change(name)).cloned().collect()
    };
    same(&others(after), &others(before), "fields that nobody named")
}
