//! What this client tells the command behind its status line, on standard input.
//!
//! An object of many fields, of which only the place and the session count here. It is never trusted:
//! whatever has another form than expected is left out, and the line is shown without it.

use std::path::PathBuf;

use serde_json::Value;

use super::super::Seat;
use super::super::json::Fields;

pub(super) const ENTRY: &str = "In a settings file of Claude Code:
  \"statusLine\": {\"type\": \"command\", \"command\": \"provost statusline\"}";

pub(super) fn seat(input: &[u8]) -> Seat {
    let Ok(mut fields) = Fields::parse(input) else { return Seat::default() };
    let path = |value: Option<&Value>| {
        let path = PathBuf::from(value?.as_str()?);
        path.is_absolute().then_some(path)
    };
    let workspace = fields.0.remove("workspace").unwrap_or_default();
    Seat {
        session: fields.take_text("session_id"),
        start: path(workspace.get("project_dir")),
        cwd: path(workspace.get("current_dir")).or_else(|| path(fields.0.get("cwd"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_and_the_session_are_read() {
        let whole = br#"{"session_id": "s", "cwd": "/c", "model": {"display_name": "M"},
            "workspace": {"current_dir": "/p/sub", "project_dir": "/p"}, "version": "2"}"#;
        let expected =
            Seat { session: Some("s".into()), start: Some("/p".into()), cwd: Some("/p/sub".into()) };
        assert_eq!(seat(whole), expected);
        let older = Seat { cwd: Some("/c".into()), ..Seat::default() };
        assert_eq!(seat(br#"{"cwd": "/c"}"#), older);
        assert_eq!(seat(br#"{"cwd": "/c", "workspace": [], "session_id": 3}"#), older);
    }

    #[test]
    fn what_has_another_form_is_left_out() {
        for odd in [
            &b""[..],
            b"{",
            b"[]",
            b"null",
            b"\xff\xfe",
            br#"{"cwd": "relative", "workspace": {"project_dir": 7, "current_dir": {}}, "session_id": null}"#,
        ] {
            assert_eq!(seat(odd), Seat::default(), "{}", String::from_utf8_lossy(odd));
        }
    }
}
