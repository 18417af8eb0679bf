//! Claude Code as a reviewer, headless: no settings, no hooks, no MCP servers, no transcript; the login
//! stays.
//!
//! A question is one turn that sees a prompt and nothing else, not even tools. It goes through stdin,
//! because arguments are bounded and every process of the machine can read them. A review has the tools
//! and is asked for no permission; its prompt is an argument, and says only what to read and to write.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::clients::Reviewer;
use crate::clients::json::Fields;
use crate::files;
use crate::reviewer::{Judgement, Silence, Verdict};
use crate::workspace::Places;

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
    users_variables,
    steers: |variable| steers(variable) && !matches!(variable, "HOME" | "PATH"),
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
    let files = ["settings.json", "settings.local.json"].map(|file| folder.join(".claude").join(file));
    variables_in(files.iter())
}

/// The variables that the user's and the administrator's settings files set.
fn users_variables() -> Vec<String> {
    let places = Places::from_environment();
    let own = super::own_directory(&places).map(|own| own.join("settings.json"));
    variables_in(own.iter().chain(&[super::settings::managed_file()]))
}

fn variables_in<'a>(settings_files: impl Iterator<Item = &'a PathBuf>) -> Vec<String> {
    let mut names = Vec::new();
    for file in settings_files {
        let bytes = files::read(file, LARGEST_SETTINGS).ok().flatten();
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
mod tests;
