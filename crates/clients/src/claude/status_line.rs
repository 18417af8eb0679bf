//! Reads what Claude Code sends to the command of its status line.
//!
//! Only the session and its directories matter here. A field with an unexpected form is left out, and the line is shown
//! without it.

use std::path::PathBuf;

use serde_json::Value;

use crate::StatusLineSession;
use crate::json::Fields;

pub(super) const ENTRY: &str = "In a settings file of Claude Code:
  \"statusLine\": {\"type\": \"command\", \"command\": \"provost statusline\"}";

pub(super) fn parse_session(input: &[u8]) -> StatusLineSession {
    let Ok(mut fields) = Fields::parse(input) else { return StatusLineSession::default() };
    let path = |value: Option<&Value>| {
        let path = PathBuf::from(value?.as_str()?);
        path.is_absolute().then_some(path)
    };
    let workspace = fields.0.remove("workspace").unwrap_or_default();
    StatusLineSession {
        session: fields.take_text("session_id"),
        start: path(workspace.get("project_dir")),
        cwd: path(workspace.get("current_dir")).or_else(|| path(fields.0.get("cwd"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_and_directories_are_read() {
        // As Claude Code sent it, with another directory.
        let whole = br#"{"session_id":"a3a5461b-afe2-47c0-834e-982ccc64af95",
            "transcript_path":"/home/dev/.claude/projects/-p/a3a5461b-afe2-47c0-834e-982ccc64af95.jsonl",
            "cwd":"/p/sub","effort":{"level":"medium"},"model":{"id":"claude-opus-5-5","display_name":"Opus 5.5"},
            "workspace":{"current_dir":"/p/sub","project_dir":"/p","added_dirs":[]},"version":"2.1.325",
            "output_style":{"name":"default"},"cost":{"total_cost_usd":0,"total_duration_ms":4370,
            "total_api_duration_ms":0,"total_lines_added":0,"total_lines_removed":0},"context_window":
            {"total_input_tokens":0,"total_output_tokens":0,"context_window_size":1000000,"current_usage":null,
            "used_percentage":null,"remaining_percentage":null},"exceeds_200k_tokens":false,"fast_mode":false,
            "thinking":{"enabled":true}}"#;
        let expected = StatusLineSession {
            session: Some("a3a5461b-afe2-47c0-834e-982ccc64af95".into()),
            start: Some("/p".into()),
            cwd: Some("/p/sub".into()),
        };
        assert_eq!(parse_session(whole), expected);
        let older = StatusLineSession { cwd: Some("/c".into()), ..StatusLineSession::default() };
        assert_eq!(parse_session(br#"{"cwd": "/c"}"#), older);
        assert_eq!(parse_session(br#"{"cwd": "/c", "workspace": [], "session_id": 3}"#), older);
    }

    #[test]
    fn a_field_of_another_form_is_left_out() {
        for odd in [
            &b""[..],
            b"{",
            b"[]",
            b"null",
            b"\xff\xfe",
            br#"{"cwd": "relative", "workspace": {"project_dir": 7, "current_dir": {}}, "session_id": null}"#,
        ] {
            assert_eq!(parse_session(odd), StatusLineSession::default(), "{}", String::from_utf8_lossy(odd));
        }
    }
}
