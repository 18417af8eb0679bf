//! Claude Code as a reviewer, headless: no settings, no hooks, no MCP servers, no transcript; the login
//! stays.
//!
//! A question is one turn that sees a prompt and nothing else, not even tools. It goes through stdin,
//! because arguments are bounded and every process of the machine can read them. A review has the tools
//! and is asked for no permission; its prompt is an argument, and says only what to read and to write.

use std::path::Path;

use serde_json::Value;

use crate::clients::Reviewer;
use crate::clients::json::Fields;
use crate::files;
use crate::reviewer::{Judgement, Silence, Verdict};

/// What a review's last words are held to.
const VERDICT: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]}},"required":["verdict"]}"#;
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;
const NO_PERMISSIONS: &str = "--dangerously-skip-permissions";
/// As one word: as two, it would also take the words after it for tools.
const NAMED_TOOLS: &str = "--allowedTools=Bash,Read,Write,Edit,Grep,Glob";

pub(super) const REVIEWER: Reviewer = Reviewer {
    program: "claude",
    installed: &[".local/bin", ".claude/local"],
    question: &[
        "-p",
        // A result holds only the last part of an answer; the stream holds every part.
        "--output-format",
        "stream-json",
        "--verbose",
        "--setting-sources",
        "",
        "--settings",
        NO_HOOKS,
        "--strict-mcp-config",
        "--tools",
        "",
        "--no-session-persistence",
        "--max-turns",
        "1",
        "--model",
        "{model}",
    ],
    review: &review(NO_PERMISSIONS),
    permitted_review: &review(NAMED_TOOLS),
    is_refused,
    answer,
    verdict,
    of_session,
    project_variables,
    process_variable: "CLAUDE_PID",
};

/// A settings file beyond this is not read.
const LARGEST_SETTINGS: u64 = 4 << 20;

/// How a review is started, given what it may do.
const fn review(permissions: &'static str) -> [&'static str; 16] {
    [
        "--print",
        "--model",
        "{model}",
        "--output-format",
        "json",
        "--json-schema",
        VERDICT,
        permissions,
        "--setting-sources",
        "",
        "--settings",
        NO_HOOKS,
        "--strict-mcp-config",
        "--no-session-persistence",
        // A prompt may begin with a hyphen.
        "--",
        "{prompt}",
    ]
}

/// The client does not start without permissions as root, unless it believes to be in a sandbox.
fn is_refused(stderr: &[u8]) -> bool {
    let refusal = format!("{NO_PERMISSIONS} cannot be used with root");
    String::from_utf8_lossy(stderr).contains(&refusal)
}

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

/// The variables of the project's settings files that steer a client.
fn project_variables(project: &Path) -> Vec<String> {
    let folder = super::absolute_variable("CLAUDE_PROJECT_DIR").unwrap_or_else(|| project.to_owned());
    let mut names = Vec::new();
    for file in ["settings.json", "settings.local.json"] {
        let bytes = files::read(&folder.join(".claude").join(file), LARGEST_SETTINGS).ok().flatten();
        let settings: Value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let variables = settings["env"].as_object().into_iter().flat_map(|variables| variables.keys());
        names.extend(variables.filter(|name| steers(name)).cloned());
    }
    names
}

/// Whether a variable can choose the model, its address, the login or the program.
fn steers(variable: &str) -> bool {
    const STARTS: &[&str] = &[
        "ANTHROPIC_",
        "AWS_",
        "AZURE_",
        "BUN_",
        "CLAUDE_",
        "CLOUD_ML_",
        "DYLD_",
        "GCLOUD_",
        "GOOGLE_",
        "LD_",
        "NODE_",
        "SSL_",
        "VERTEX_",
    ];
    const NAMES: &[&str] =
        &["ALL_PROXY", "BASH_ENV", "ENV", "HOME", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "PATH"];
    let name = variable.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || STARTS.iter().any(|start| name.starts_with(start))
}

/// The whole answer in a result, or in a stream that ends with one. An error is marked as one in a result that
/// is a success by its subtype.
fn answer(stdout: &[u8]) -> Option<Result<String, Silence>> {
    let (before, mut fields) = stream(stdout)?;
    if fields.text("type") != Some("result") {
        return None;
    }
    let said = |line: &Fields| match line.0.get("message")?.get("content")? {
        Value::Array(parts) => {
            Some(parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    };
    let parts: Vec<String> =
        before.iter().filter(|line| line.text("type") == Some("assistant")).filter_map(said).collect();
    // It was told to go on, for example at the token limit.
    let is_continued = fields.0.get("num_turns").and_then(Value::as_u64).is_some_and(|turns| turns > 1);
    let text = fields.take_text("result");
    Some(match (fields.flag("is_error"), text) {
        (Some(false), _) if is_continued => Err(Silence::Unreadable("it was cut off and continued".into())),
        (Some(false), Some(_)) if !parts.is_empty() => Ok(parts.join("\n")),
        (Some(false), Some(text)) => Ok(text),
        (Some(false), None) => Err(Silence::Unreadable("a result without a text".into())),
        (Some(true), text) => Err(Silence::Failed(text.unwrap_or_else(|| complaint(fields)))),
        (None, _) => Err(Silence::Unreadable("a result that does not say whether it is an error".into())),
    })
}

/// One JSON object, or one on each line: those before the last, and the last.
fn stream(stdout: &[u8]) -> Option<(Vec<Fields>, Fields)> {
    if let Ok(fields) = Fields::parse(stdout) {
        return Some((Vec::new(), fields));
    }
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let mut lines = lines.map(Fields::parse).collect::<Result<Vec<_>, _>>().ok()?;
    let last = lines.pop()?;
    Some((lines, last))
}

/// The verdict of a result. The client puts what its schema asks for in a field of its own, and as a
/// text in the result; other versions have put it there as an object.
fn verdict(stdout: &[u8]) -> Option<Verdict> {
    let mut fields = result_in(stdout)?;
    Some(match fields.0.get("is_error") {
        None | Some(Value::Bool(false)) => Ok(verdict_of(&fields)),
        Some(Value::Bool(true)) => {
            let text = fields.take_text("result");
            Err(Silence::Failed(text.unwrap_or_else(|| complaint(fields))))
        }
        Some(_) => Ok(None),
    })
}

fn verdict_of(fields: &Fields) -> Option<Judgement> {
    let structured = fields.0.get("structured_output");
    // One that is there counts, also if it is none of the two words.
    if let Some(structured) = structured.filter(|value| value.get("verdict").is_some()) {
        return Judgement::from_value(structured);
    }
    match fields.0.get("result")? {
        Value::String(text) => Judgement::from_json(text),
        value => Judgement::from_value(value),
    }
}

/// The result in what was printed: all of it, what is below a warning, or the last one of a stream.
fn result_in(stdout: &[u8]) -> Option<Fields> {
    let says_so = |fields: &Fields| fields.text("type") == Some("result");
    let looks_so = |fields: &Fields| {
        let has = |name: &str| fields.0.contains_key(name);
        says_so(fields) || (!has("type") && (has("result") || has("structured_output")))
    };
    let lines = || stdout.split_inclusive(|byte| *byte == b'\n');
    let warnings = lines().take_while(|line| !line.starts_with(b"{")).map(<[u8]>::len).sum::<usize>();
    let parsed = |bytes: &[u8]| Fields::parse(bytes).ok();
    parsed(stdout)
        .or_else(|| parsed(&stdout[warnings..]))
        .filter(looks_so)
        .or_else(|| lines().rev().filter(|line| line.starts_with(b"{")).filter_map(parsed).find(says_so))
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

    /// Measured: a result holds the last block of text only, also where the model was told to go on.
    #[test]
    fn an_answer_is_whole_or_none() {
        let said = |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
        let result =
            |turns: u64| json!({"type": "result", "is_error": false, "result": "PASS", "num_turns": turns});
        let of = |lines: &[Value]| {
            answer(lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").as_bytes())
        };
        let start = json!({"type": "system", "subtype": "init"});
        assert_eq!(of(&[start.clone(), said("PASS"), result(1)]), Some(Ok("PASS".into())));
        assert_eq!(
            of(&[start.clone(), said("FAIL"), said("PASS"), result(1)]),
            Some(Ok("FAIL\nPASS".into()))
        );
        for continued in [vec![start, said("FAIL"), said("PASS"), result(2)], vec![result(2)]] {
            assert!(matches!(of(&continued), Some(Err(Silence::Unreadable(_)))), "{continued:?}");
        }
    }

    #[test]
    fn what_is_no_result_is_not_read() {
        for other in [&b"PASS"[..], b"", b"{\"result\":\"PASS\"}", b"[]", b"{\"type\":\"result\"} more"] {
            assert_eq!(answer(other), None, "{other:?}");
        }
    }

    fn verdict_in(fields: &Value) -> Option<Judgement> {
        verdict(fields.to_string().as_bytes()).unwrap().unwrap()
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
                assert_eq!(verdict_in(&fields), Some(Judgement::Pass), "{fields}");
            }
        }
        let only = json!({"type": "result", "structured_output": {"verdict": "FAIL"}});
        assert_eq!(verdict_in(&only), Some(Judgement::Fail));
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
    fn a_failed_review_has_no_verdict_but_a_complaint() {
        let failed = |words: &str| Some(Err(Silence::Failed(words.into())));
        let both = json!({"type": "result", "is_error": true, "result": "API Error", "structured_output": {"verdict": "PASS"}});
        assert_eq!(verdict(both.to_string().as_bytes()), failed("API Error"));
        let retries =
            json!({"type": "result", "is_error": true, "subtype": "error_max_structured_output_retries"});
        assert_eq!(verdict(retries.to_string().as_bytes()), failed("error_max_structured_output_retries"));
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
            assert_eq!(verdict(stdout.as_bytes()), Some(Ok(Some(Judgement::Pass))), "{stdout}");
        }
        for other in
            ["", "PASS", "VERDICT: PASS", "{\"verdict\":\"PASS\"}", "{\"type\":\"system\",\"result\":{}}"]
        {
            assert_eq!(verdict(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_review_does_without_permissions_or_has_its_tools_by_name() {
        let (person, root) = (review(NO_PERMISSIONS), review(NAMED_TOOLS));
        assert!(person.contains(&NO_PERMISSIONS) && !person.contains(&NAMED_TOOLS), "{person:?}");
        assert!(root.contains(&NAMED_TOOLS) && !root.contains(&NO_PERMISSIONS), "{root:?}");
        let line = person.join(" ");
        for part in [
            "--print ",
            " --model {model} ",
            " --output-format json ",
            " --json-schema {\"type\":\"object\",",
        ] {
            assert!(format!(" {line}").contains(part), "{line}");
        }
        assert!(line.ends_with(" -- {prompt}"), "{line}");
        let schema: Value = serde_json::from_str(VERDICT).unwrap();
        assert_eq!(schema["properties"]["verdict"]["enum"], json!(["PASS", "FAIL"]));
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
