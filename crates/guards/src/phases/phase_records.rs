//! Writes what the other guards of the pack want to record in the state.
//!
//! A guard leaves a change while it judges. This guard comes last and applies all of them in one step: it
//! holds the file's lock, works on the state as it is then, and replaces the file, so that nothing is lost
//! when two processes write at once.

use super::prelude::*;
use std::sync::{Mutex, PoisonError};

use super::workflow_context::{MAX_FILE_BYTES, WORKFLOW_FOLDER};
use provost_core::clock;
use provost_core::raw_object::RawObject;

/// It gets the state as it is when it is written, which may differ from what the guard saw.
type StateChange = Box<dyn Fn(&mut RawObject) + Send>;

/// The changes that guards of this event have left.
#[derive(Default)]
pub struct PendingChanges(Mutex<Vec<StateChange>>);

impl PendingChanges {
    pub fn add(&self, change: impl Fn(&mut RawObject) + Send + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(change));
    }

    fn take(&self) -> Vec<StateChange> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    /// A program that does not use the lock may write at the same time.
    const TRIES: usize = 5;
    let Some(context) = WorkflowContext::find(event, workspace) else { return Ok(Opinion::unconcerned()) };
    let changes = context.changes.take();
    if changes.is_empty() {
        return Ok(Opinion::unconcerned());
    }
    let file = workspace.resolve(&context.state_file());
    // A link may lead elsewhere, as in a second working tree, but only to a state of a workflow: else a
    // repository could make Provost write to any JSON file of the user.
    let is_state = file.file_name().is_some_and(|name| name == "state.json");
    if !is_state || !file.components().any(|part| part.as_os_str() == WORKFLOW_FOLDER) {
        return Err(Fault::Error(format!("{} is not the state of a workflow", file.display())));
    }
    let _lock = workspace.lock(&file)?;
    for _ in 0..TRIES {
        let Some(before) = workspace.read_bytes(&file, MAX_FILE_BYTES)? else {
            return Ok(Opinion::unconcerned());
        };
        let mut state = RawObject::parse(&before).map_err(Fault::Error)?;
        for change in &changes {
            change(&mut state);
        }
        if workspace.replace_unless_changed(&file, Some(&before), state.to_text().as_bytes())? {
            return Ok(Opinion { evidence: vec!["kept in the state".into()], ..Opinion::default() });
        }
    }
    Err(Fault::Error(format!("{}: another program keeps writing to it", file.display())))
}

/// Changes a record of a phase, or creates it. A value that is not a record, or cannot be read, stays.
pub fn change_record(
    state: &mut RawObject,
    phase: &str,
    record: &[&str],
    change: impl FnOnce(&mut Map<String, Value>),
) {
    let phases = state.get_object("phases").unwrap_or_default();
    let other_name = || phases.field_names().find(|name| phase_names::is_same_phase(name, phase));
    let name = if phases.has_field(phase) { phase } else { other_name().unwrap_or(phase) };
    let path: Vec<&str> = ["phases", name].into_iter().chain(record.iter().copied()).collect();
    let mut fields = match read_for_change(state, &path) {
        Some(Value::Object(fields)) => fields,
        Some(Value::Null) => Map::new(),
        _ => return,
    };
    change(&mut fields);
    state.set_at(&path, &Value::Object(fields));
}

/// Sets a field of a record, unless it has a value of another type.
pub fn set_field(record: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    let value = value.into();
    let old = record.get(name).unwrap_or(&Value::Null);
    if old.is_null() || value.is_null() || std::mem::discriminant(old) == std::mem::discriminant(&value) {
        record.insert(name.to_owned(), value);
    }
}

/// Appends to a list of a record, of which only the last `most` entries stay.
pub fn append_to_field(record: &mut Map<String, Value>, name: &str, entry: Value, most: usize) {
    if let Value::Array(list) = record.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
        append_bounded(list, entry, most);
    }
}

/// Appends to a list of the state, of which only the last `most` entries stay. A value that is not a list, or
/// cannot be read, stays.
pub fn append_to_list(state: &mut RawObject, path: &[&str], entry: Value, most: usize) {
    let mut list = match read_for_change(state, path) {
        Some(Value::Array(list)) => list,
        Some(Value::Null) => Vec::new(),
        _ => return,
    };
    append_bounded(&mut list, entry, most);
    state.set_at(path, &Value::Array(list));
}

/// A value of the state, or null if it is missing; `None`: it cannot be read.
fn read_for_change(state: &RawObject, path: &[&str]) -> Option<Value> {
    state.get_at(path).or_else(|| (!state.is_unreadable(path)).then_some(Value::Null))
}

fn append_bounded(list: &mut Vec<Value>, entry: Value, most: usize) {
    list.push(entry);
    list.drain(..list.len().saturating_sub(most));
}

/// The number of seconds between two times of the state.
pub fn seconds_between(then: Option<&str>, now: &str) -> Option<i64> {
    Some(clock::parse_utc(now)? - clock::parse_utc(then?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_seconds() {
        assert_eq!(seconds_between(Some("2026-11-15T20:29:28Z"), "2026-11-15T21:29:29.9Z"), Some(3601));
        assert_eq!(
            (
                seconds_between(None, "2026-11-15T21:29:29Z"),
                seconds_between(Some("x"), "2026-11-15T21:29:29Z")
            ),
            (None, None)
        );
    }

    #[test]
    fn a_list_is_bounded_and_other_values_stay() {
        let mut state =
            RawObject::parse(br#"{"text": "x", "list": null, "half": ["\ud83d", 1e999]}"#).unwrap();
        for number in 0..5 {
            append_to_list(&mut state, &["half"], json!(number), 3);
            append_to_list(&mut state, &["list"], json!(number), 3);
            append_to_list(&mut state, &["text"], json!(number), 3);
        }
        assert_eq!((state.get("list"), state.get("text")), (Some(json!([2, 3, 4])), Some(json!("x"))));
        assert!(state.to_text().contains(r#""half": ["\ud83d", 1e999]"#), "{}", state.to_text());
    }

    #[test]
    fn a_record_of_another_type_is_not_overwritten() {
        let mut state = RawObject::parse(
            br#"{"phases": {"05-implementation": {"a": {"n": "x", "m": 1}, "b": 5, "c": {"o": 1e999}}}}"#,
        )
        .unwrap();
        for at in [&["a"], &["b"], &["c"]] {
            change_record(&mut state, "06-implementation", at, |record| {
                set_field(record, "n", json!(1));
                set_field(record, "m", json!(2));
                append_to_field(record, "n", json!(1), 1);
                append_to_field(record, "l", json!(1), 1);
                append_to_field(record, "l", json!(2), 1);
            });
        }
        assert_eq!(
            state.get_readable(&["phases"]),
            Some(json!({"05-implementation": {"a": {"n": "x", "m": 2, "l": [2]}, "b": 5, "c": {"o": null}}}))
        );
        assert!(state.to_text().contains("1e999"));
    }
}
