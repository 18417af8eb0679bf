//! The tool calls that the examples of rules stand for.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::tools::{find_other_name, parse_tool};
use provost_core::rules::examples::ExampleSubject;
use provost_core::text::quote_for_shell;
use provost_core::tool::{ToolCall, ToolOutcome};

/// The call of an example in a project; `None` for the end of a turn.
pub fn make_example_call(subject: &ExampleSubject, project: &Path, home: Option<&Path>) -> Option<ToolCall> {
    let place = |path: &str| -> PathBuf {
        match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            (None, Some(home)) if path == "~" => home.to_owned(),
            _ => project.join(path),
        }
    };
    let (name, input) = match subject {
        ExampleSubject::Line(line) => ("Bash", json!({"command": line})),
        ExampleSubject::Write { path, text } => ("Write", json!({"file_path": place(path), "content": text})),
        ExampleSubject::Read(path) => ("Read", json!({"file_path": place(path)})),
        ExampleSubject::Delete(path) => {
            let path = quote_for_shell(&place(path).to_string_lossy());
            ("Bash", json!({"command": format!("rm -rf -- {path}")}))
        }
        ExampleSubject::Tool { name, input } => (name.as_str(), Value::Object(input.clone())),
        ExampleSubject::Stop { .. } => return None,
    };
    let tool = parse_tool(name, input);
    let other_name = find_other_name(name);
    Some(ToolCall { native_tool: name.into(), other_name, id: None, tool, outcome: ToolOutcome::default() })
}
