//! How the client's output as a reviewer is read.

use serde_json::json;

use super::*;

#[cfg(target_os = "linux")]
mod running;

fn of(fields: &Value) -> Option<Result<String, NoAnswer>> {
    parse_answer(fields.to_string().as_bytes())
}

#[test]
fn a_result_counts_only_without_an_error() {
    let success = json!({"type": "result", "subtype": "success", "is_error": false, "result": "fine"});
    assert_eq!(of(&success), Some(Ok("fine".into())));
    let failed = |words: &str| Some(Err(NoAnswer::Failed(words.into())));
    let overloaded = json!({"type": "result", "subtype": "success", "is_error": true, "result": "API Error"});
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
        assert!(matches!(of(&unclear), Some(Err(NoAnswer::Unreadable(_)))), "{unclear}");
    }
}

/// Measured: a result has only the last block of text, even if Claude Code made the model continue.
#[test]
fn an_answer_is_complete_or_missing() {
    let said =
        |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
    let result =
        |turns: u64| json!({"type": "result", "is_error": false, "result": "PASS", "num_turns": turns});
    let of = |lines: &[Value]| {
        parse_answer(lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").as_bytes())
    };
    let start = json!({"type": "system", "subtype": "init"});
    assert_eq!(of(&[start.clone(), said("PASS"), result(1)]), Some(Ok("PASS".into())));
    assert_eq!(of(&[start.clone(), said("FAIL"), said("PASS"), result(1)]), Some(Ok("FAIL\nPASS".into())));
    for continued in [vec![start, said("FAIL"), said("PASS"), result(2)], vec![result(2)]] {
        assert!(matches!(of(&continued), Some(Err(NoAnswer::Unreadable(_)))), "{continued:?}");
    }
}

#[test]
fn only_a_result_is_read() {
    for other in [&b"PASS"[..], b"", b"{\"result\":\"PASS\"}", b"[]", b"{\"type\":\"result\"} more"] {
        assert_eq!(parse_answer(other), None, "{other:?}");
    }
}

fn verdict_in(fields: &Value) -> Option<ReviewVerdict> {
    parse_verdict(fields.to_string().as_bytes()).unwrap().unwrap()
}

#[test]
fn a_verdict_is_read_from_every_form_of_a_result() {
    let pass = json!({"verdict": "PASS"});
    for (structured, result) in [
        (Some(&pass), json!("{\"verdict\":\"PASS\"}")),
        (Some(&pass), json!("")),
        (Some(&pass), json!("{\"verdict\":\"FAIL\"}")),
        (None, pass.clone()),
        (None, json!("{\"verdict\":\"pass\"}")),
        (None, json!("```json\n{\"verdict\": \"PASS\"}\n```")),
        (Some(&Value::Null), pass.clone()),
        (Some(&json!({})), pass.clone()),
    ] {
        let typed = json!({"type": "result"});
        for mut fields in [json!({"type": "result", "is_error": false}), typed, json!({})] {
            fields["result"] = result.clone();
            if let Some(structured) = structured {
                fields["structured_output"] = structured.clone();
            }
            assert_eq!(verdict_in(&fields), Some(ReviewVerdict::Pass), "{fields}");
        }
    }
    let only = json!({"type": "result", "structured_output": {"verdict": "FAIL"}});
    assert_eq!(verdict_in(&only), Some(ReviewVerdict::Fail));
}

#[test]
fn a_result_without_a_verdict_has_none() {
    for fields in [
        json!({"type": "result", "is_error": false, "result": "I wrote the review."}),
        json!({"type": "result", "is_error": false, "result": "VERDICT: PASS"}),
        json!({"type": "result", "is_error": false, "result": ""}),
        json!({"type": "result", "is_error": false}),
        json!({"type": "result", "is_error": "true", "structured_output": {"verdict": "PASS"}}),
        json!({"type": "result", "structured_output": {"verdict": "MAYBE"}, "result": {"verdict": "PASS"}}),
        json!({"type": "result", "structured_output": "PASS", "result": "PASS"}),
        json!({"type": "result", "verdict": "PASS"}),
    ] {
        assert_eq!(verdict_in(&fields), None, "{fields}");
    }
}

#[test]
fn a_failed_review_has_an_error_instead_of_a_verdict() {
    let failed = |words: &str| Some(Err(NoAnswer::Failed(words.into())));
    let both = json!({"type": "result", "is_error": true, "result": "API Error", "structured_output": {"verdict": "PASS"}});
    assert_eq!(parse_verdict(both.to_string().as_bytes()), failed("API Error"));
    let retries =
        json!({"type": "result", "is_error": true, "subtype": "error_max_structured_output_retries"});
    assert_eq!(parse_verdict(retries.to_string().as_bytes()), failed("error_max_structured_output_retries"));
}

#[test]
fn a_result_is_found_among_other_lines() {
    let pass = json!({"type": "result", "is_error": false, "structured_output": {"verdict": "PASS"}});
    let fail = json!({"type": "result", "is_error": false, "structured_output": {"verdict": "FAIL"}});
    let untyped = json!({"result": {"verdict": "PASS"}});
    for stdout in [
        format!("warning: slow\n{pass}\n"),
        format!("warning: slow\n\n{pass:#}\n"),
        format!("warning: slow\n{untyped}\n"),
        format!("{{\"type\":\"system\"}}\n{fail}\n{pass}\n"),
        format!("{{not json\n{pass}\nbye\n"),
    ] {
        assert_eq!(parse_verdict(stdout.as_bytes()), Some(Ok(Some(ReviewVerdict::Pass))), "{stdout}");
    }
    for other in
        ["", "PASS", "VERDICT: PASS", "{\"verdict\":\"PASS\"}", "{\"type\":\"system\",\"result\":{}}"]
    {
        assert_eq!(parse_verdict(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn a_review_does_without_permissions_or_has_its_tools_by_name() {
    let (person, root) = (review_arguments(NO_PERMISSIONS), review_arguments(NAMED_TOOLS));
    assert!(person.contains(&NO_PERMISSIONS) && !person.contains(&NAMED_TOOLS), "{person:?}");
    assert!(root.contains(&NAMED_TOOLS) && !root.contains(&NO_PERMISSIONS), "{root:?}");
    let line = person.join(" ");
    for part in
        ["--print ", " --model {model} ", " --output-format json ", " --json-schema {\"type\":\"object\","]
    {
        assert!(format!(" {line}").contains(part), "{line}");
    }
    assert!(line.ends_with(" -- {prompt}"), "{line}");
    let schema: Value = serde_json::from_str(VERDICT).unwrap();
    assert_eq!(schema["properties"]["verdict"]["enum"], json!(["PASS", "FAIL"]));
}

#[test]
fn the_users_variables_reach_the_reviewer() {
    for kept in [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "HOME",
        "PATH",
    ] {
        assert!(!is_session_variable(kept), "{kept}");
    }
    for dropped in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PLUGIN_ROOT", "AI_AGENT"] {
        assert!(is_session_variable(dropped), "{dropped}");
    }
}
