//! Claude Code as a reviewer without a terminal: no settings, hooks, MCP servers or transcript, but the user's login.
//!
//! A question is one turn without tools that sees only the prompt. The prompt goes through stdin, because arguments are
//! limited and every process of the machine can read them. A review has tools and needs no permission. Its prompt is an
//! argument, and only says what to read and to write.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::has_word;
use crate::json::Fields;
use provost_core::client::Reviewer;
use provost_core::places::Places;
use provost_core::review_verdict::{NoAnswer, ReviewResult, ReviewUsage, ReviewVerdict};

/// The schema of a review's answer.
const VERDICT: &str = r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]}},"required":["verdict"]}"#;
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;
const NO_PERMISSIONS: &str = "--dangerously-skip-permissions";
/// One argument: of two, the client would also take the arguments behind them for tools.
const NAMED_TOOLS: &str = "--allowedTools=Bash,Read,Write,Edit,Grep,Glob";

pub(super) const REVIEWER: Reviewer = Reviewer {
    program: "claude",
    install_directories: &[".local/bin", ".claude/local"],
    question_arguments: &[
        "-p",
        // A result has only the last part of an answer; the stream has all of them.
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
    review_arguments: &review_arguments(NO_PERMISSIONS),
    permitted_review_arguments: &review_arguments(NAMED_TOOLS),
    is_permission_refused: is_refused,
    parse_answer,
    parse_verdict,
    parse_report,
    is_session_variable,
    list_project_variables: project_variables,
    list_user_variables: users_variables,
    is_model_variable: |variable| is_steering_variable(variable) && !matches!(variable, "HOME" | "PATH"),
    process_variable: "CLAUDE_PID",
};

/// A larger settings file is not read.
const LARGEST_SETTINGS: u64 = 4 << 20;

/// The arguments of a review with these permissions.
const fn review_arguments(permissions: &'static str) -> [&'static str; 16] {
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

/// Whether Claude Code refused to skip permissions. As root, it does so outside of a sandbox.
fn is_refused(stderr: &[u8]) -> bool {
    let refusal = format!("{NO_PERMISSIONS} cannot be used with root");
    String::from_utf8_lossy(stderr).contains(&refusal)
}

/// Whether Claude Code sets a variable for the processes of a session. Its other variables belong to the user:
/// configuration, login, provider.
fn is_session_variable(name: &str) -> bool {
    const NAMES: &str = "AI_AGENT CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT CLAUDE_EFFORT \
        CLAUDE_ENV_FILE CLAUDE_PID CLAUDE_PROJECT_DIR";
    const PREFIXES: &str = "CLAUDE_CODE_MESSAGING_ CLAUDE_CODE_SESSION_ CLAUDE_PLUGIN_";
    has_word(NAMES, name) || PREFIXES.split(' ').any(|prefix| name.starts_with(prefix))
}

fn project_variables(project: &Path) -> Vec<String> {
    let folder = super::start_directory(project).join(".claude");
    list_steering_variables(&["settings.json", "settings.local.json"].map(|file| folder.join(file)))
}

fn users_variables(places: &Places) -> Vec<String> {
    let own = super::config_directory(places).map(|own| own.join("settings.json"));
    list_steering_variables(&own.into_iter().chain([super::settings::managed_file()]).collect::<Vec<_>>())
}

fn list_steering_variables(settings_files: &[PathBuf]) -> Vec<String> {
    let mut names = Vec::new();
    for settings in settings_files.iter().filter_map(|file| super::read_json(file, LARGEST_SETTINGS)) {
        let variables = settings["env"].as_object().into_iter().flat_map(|variables| variables.keys());
        names.extend(variables.filter(|name| is_steering_variable(name)).cloned());
    }
    names
}

/// Whether a variable can choose the model, its address, the login or the program.
fn is_steering_variable(name: &str) -> bool {
    const PREFIXES: &str =
        "ANTHROPIC_ AWS_ AZURE_ BUN_ CLAUDE_ CLOUD_ML_ DYLD_ GCLOUD_ GOOGLE_ LD_ NODE_ SSL_ VERTEX_";
    const NAMES: &str = "ALL_PROXY BASH_ENV ENV HOME HTTPS_PROXY HTTP_PROXY NO_PROXY PATH";
    let name = name.to_ascii_uppercase();
    has_word(NAMES, &name) || PREFIXES.split(' ').any(|prefix| name.starts_with(prefix))
}

/// The whole answer in a result, or in a stream that ends with one. `is_error` counts: the subtype of a failed result may
/// still be `success`.
fn parse_answer(stdout: &[u8]) -> Option<Result<String, NoAnswer>> {
    let (before, mut fields) = parse_stream(stdout)?;
    if fields.text("type") != Some("result") {
        return None;
    }
    let answered = before.iter().filter(|line| line.text("type") == Some("assistant"));
    let parts: Vec<String> = answered
        .filter_map(|line| {
            let blocks = line.0.get("message")?.get("content")?.as_array()?;
            Some(blocks.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"))
        })
        .collect();
    // Claude Code made it continue, for example at the token limit.
    let is_continued = fields.0.get("num_turns").and_then(Value::as_u64).is_some_and(|turns| turns > 1);
    let text = fields.take_text("result");
    Some(match (fields.flag("is_error"), text) {
        (Some(false), _) if is_continued => Err(NoAnswer::Unreadable("it was cut off and continued".into())),
        (Some(false), Some(_)) if !parts.is_empty() => Ok(parts.join("\n")),
        (Some(false), Some(text)) => Ok(text),
        (Some(false), None) => Err(NoAnswer::Unreadable("a result without a text".into())),
        (Some(true), text) => Err(NoAnswer::Failed(text.unwrap_or_else(|| describe_error(fields)))),
        (None, _) => Err(NoAnswer::Unreadable("a result that does not say whether it is an error".into())),
    })
}

/// One JSON object, or one on each line: those before the last, and the last.
fn parse_stream(stdout: &[u8]) -> Option<(Vec<Fields>, Fields)> {
    if let Ok(fields) = Fields::parse(stdout) {
        return Some((Vec::new(), fields));
    }
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let mut lines = lines.map(Fields::parse).collect::<Result<Vec<_>, _>>().ok()?;
    let last = lines.pop()?;
    Some((lines, last))
}

/// The verdict of a result.
fn parse_verdict(stdout: &[u8]) -> Option<ReviewResult> {
    let mut fields = find_result(stdout)?;
    Some(match fields.0.get("is_error") {
        None | Some(Value::Bool(false)) => Ok(read_judgement(&fields)),
        Some(Value::Bool(true)) => {
            let text = fields.take_text("result");
            Err(NoAnswer::Failed(text.unwrap_or_else(|| describe_error(fields))))
        }
        Some(_) => Ok(None),
    })
}

fn parse_report(stdout: &[u8]) -> Option<(String, ReviewUsage)> {
    let mut fields = find_result(stdout)?;
    let text = fields.take_text("result").unwrap_or_default();
    Some((text, ReviewUsage::from_value(&Value::Object(fields.0))))
}

/// Claude Code puts the verdict in a field of its own, and as a text in the result. Older versions put it in the result
/// as an object.
fn read_judgement(fields: &Fields) -> Option<ReviewVerdict> {
    let structured = fields.0.get("structured_output");
    // A verdict counts even if it is an unknown word.
    if let Some(structured) = structured.filter(|value| value.get("verdict").is_some()) {
        return ReviewVerdict::from_value(structured);
    }
    match fields.0.get("result")? {
        Value::String(text) => ReviewVerdict::from_json(text),
        value => ReviewVerdict::from_value(value),
    }
}

/// The result in the output: all of it, what follows a warning, or the last result of a stream.
fn find_result(stdout: &[u8]) -> Option<Fields> {
    let is_result = |fields: &Fields| fields.text("type") == Some("result");
    let looks_like_result = |fields: &Fields| {
        let has = |name: &str| fields.0.contains_key(name);
        is_result(fields) || (!has("type") && (has("result") || has("structured_output")))
    };
    let lines = || stdout.split_inclusive(|byte| *byte == b'\n');
    let warnings = lines().take_while(|line| !line.starts_with(b"{")).map(<[u8]>::len).sum::<usize>();
    let parsed = |bytes: &[u8]| Fields::parse(bytes).ok();
    parsed(stdout)
        .or_else(|| parsed(&stdout[warnings..]))
        .filter(looks_like_result)
        .or_else(|| lines().rev().filter(|line| line.starts_with(b"{")).filter_map(parsed).find(is_result))
}

fn describe_error(mut fields: Fields) -> String {
    let errors = fields.take_list("errors");
    let errors: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
    if errors.is_empty() { fields.take_text("subtype").unwrap_or_default() } else { errors.join("; ") }
}

#[cfg(test)]
mod tests;
