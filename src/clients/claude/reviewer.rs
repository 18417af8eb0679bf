//! Claude Code as a reviewer: one headless turn that sees a prompt and nothing else.
//!
//! No settings, no hooks, no MCP servers, no tools, no transcript; the login stays. The prompt goes
//! through stdin, because arguments are bounded and every process of the machine can read them.

use serde_json::Value;

use crate::clients::Reviewer;
use crate::clients::json::Fields;
use crate::reviewer::Silence;

pub(super) const REVIEWER: Reviewer = Reviewer {
    program: "claude",
    installed: &[".local/bin", ".claude/local"],
    arguments: &[
        "-p",
        "--output-format",
        "json",
        "--setting-sources",
        "",
        "--settings",
        r#"{"disableAllHooks":true}"#,
        "--strict-mcp-config",
        "--tools",
        "",
        "--no-session-persistence",
        "--max-turns",
        "1",
        "--model",
        "{model}",
    ],
    answer,
    of_session,
};

/// What the client sets for the processes of a session. Its other variables are the person's:
/// where it is configured, how it logs in, which provider it asks.
fn of_session(variable: &str) -> bool {
    const NAMES: &[&str] = &[
        "AI_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
    ];
    const STARTS: &[&str] = &["CLAUDE_CODE_MESSAGING_", "CLAUDE_CODE_SESSION_", "CLAUDE_PLUGIN_"];
    NAMES.contains(&variable) || STARTS.iter().any(|start| variable.starts_with(start))
}

/// The text of a result. An error is marked as one in a result that is a success by its subtype.
fn answer(stdout: &[u8]) -> Option<Result<String, Silence>> {
    let mut fields = Fields::parse(stdout).ok()?;
    if fields.text("type") != Some("result") {
        return None;
    }
    let text = fields.take_text("result");
    Some(match (fields.flag("is_error"), text) {
        (Some(false), Some(text)) => Ok(text),
        (Some(false), None) => Err(Silence::Unreadable("a result without a text".into())),
        (Some(true), text) => Err(Silence::Failed(text.unwrap_or_else(|| complaint(fields)))),
        (None, _) => Err(Silence::Unreadable("a result that does not say whether it is an error".into())),
    })
}

fn complaint(mut fields: Fields) -> String {
    let errors = fields.take_list("errors");
    let errors: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
    if errors.is_empty() { fields.take_text("subtype").unwrap_or_default() } else { errors.join("; ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(fields: &Value) -> Option<Result<String, Silence>> {
        answer(fields.to_string().as_bytes())
    }

    #[test]
    fn a_result_counts_only_without_an_error() {
        let success = json!({"type": "result", "subtype": "success", "is_error": false, "result": "fine"});
        assert_eq!(of(&success), Some(Ok("fine".into())));
        let failed = |words: &str| Some(Err(Silence::Failed(words.into())));
        let overloaded =
            json!({"type": "result", "subtype": "success", "is_error": true, "result": "API Error"});
        assert_eq!(of(&overloaded), failed("API Error"));
        let turns = json!({"type": "result", "subtype": "error_max_turns", "is_error": true});
        assert_eq!(of(&turns), failed("error_max_turns"));
        let errors = json!({"type": "result", "is_error": true, "errors": ["one", 2, "three"]});
        assert_eq!(of(&errors), failed("one; three"));
        for unclear in [
            json!({"type": "result", "result": "fine"}),
            json!({"type": "result", "is_error": "false", "result": "fine"}),
            json!({"type": "result", "is_error": false, "result": {"verdict": "PASS"}}),
            json!({"type": "result", "is_error": false}),
        ] {
            assert!(matches!(of(&unclear), Some(Err(Silence::Unreadable(_)))), "{unclear}");
        }
    }

    #[test]
    fn what_is_no_result_is_not_read() {
        for other in [&b"PASS"[..], b"", b"{\"result\":\"PASS\"}", b"[]", b"{\"type\":\"result\"} more"] {
            assert_eq!(answer(other), None, "{other:?}");
        }
    }

    #[test]
    fn what_belongs_to_the_person_reaches_the_reviewer() {
        for kept in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "HOME",
            "PATH",
        ] {
            assert!(!of_session(kept), "{kept}");
        }
        for dropped in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PLUGIN_ROOT", "AI_AGENT"] {
            assert!(of_session(dropped), "{dropped}");
        }
    }
}
