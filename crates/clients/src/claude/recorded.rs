//! Recorded events of Claude Code, for `provost doctor` and `provost demo`.

use std::path::Path;

use serde_json::Value;

/// The text of an event in `tests/events`.
macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/events/", $name, ".json"))
    };
}
pub(super) use recorded;

/// A recorded event, as if Claude Code had reported it for this project and home.
pub(super) fn load_event(recorded: &str, project: &Path, home: &Path) -> Value {
    let mut event = serde_json::from_str(recorded).unwrap_or_default();
    replace_paths(&mut event, &project.to_string_lossy(), &home.to_string_lossy());
    event
}

/// Replaces the recorded directories, also if the new ones contain characters that JSON escapes.
fn replace_paths(value: &mut Value, project: &str, home: &str) {
    match value {
        Value::String(text) => {
            *text = text.replace("/home/dev/project", project).replace("/home/dev", home);
        }
        Value::Array(list) => list.iter_mut().for_each(|value| replace_paths(value, project, home)),
        Value::Object(map) => map.values_mut().for_each(|value| replace_paths(value, project, home)),
        _ => {}
    }
}
