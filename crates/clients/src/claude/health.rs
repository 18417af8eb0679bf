//! How Claude Code starts a hook and reads its answer, so that `provost doctor` can try hooks.
//!
//! The rules were measured on the client: an answer that Claude Code ignores is reported as ignored. `samples.rs` has the
//! events to try a hook with.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use super::settings::START_KEYS;
use super::{EXIT, has_word, matcher, samples, shared_entry};
use crate::{
    Health, HookProgram, HookReply, HookSource, RegisteredHook, SettingsScope, SteeringValue, ToolNames,
};
use provost_core::places::{CHILD_MARK, Places, is_provost_program};
use provost_core::text::truncate_utf16;

pub(super) const HEALTH: Health = Health {
    // The first version that starts a program with arguments, without a shell.
    oldest_version: [2, 1, 139],
    parse_version,
    list_samples: samples::list_samples,
    build_command,
    list_variables,
    parse_answer,
    matches_tool: |hook, tool| {
        if is_tool_event(&hook.event) {
            matcher::matches_name(hook.matcher.as_deref(), tool)
        } else {
            Some(true)
        }
    },
    list_judged_tools,
    default_timeout: |event| match event {
        "UserPromptSubmit" => 30.0,
        "SessionEnd" => 1.5,
        _ => 600.0,
    },
    is_event: |event| has_word(EVENTS, event),
    prompt_event: "UserPromptSubmit",
    block_on_failure: r#""onFailure": "block""#,
    blocks_since: [2, 1, 295],
    find_weakness,
    find_steering,
    find_steering_variables: || {
        let set = SILENCING.iter().filter(|name| env::var_os(name).is_some());
        set.map(|name| SteeringValue { name: (*name).to_owned(), silences: true }).collect()
    },
    find_program,
    list_agent_files: |name, project, places| {
        let folders = [Some(project.join(".claude")), super::config_directory(places)];
        folders.into_iter().flatten().map(|folder| folder.join("agents").join(format!("{name}.md"))).collect()
    },
};

/// The events of Claude Code 2.1.325.
pub(super) const EVENTS: &str = "PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit \
    UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact \
    PostCompact PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle \
    TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove \
    InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay";

/// Variables that stop every hook, or silence Provost.
const SILENCING: &[&str] = &[CHILD_MARK, "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"];
/// Variables that change where Provost looks, or how it is started.
const CHANGING: &[&str] =
    &["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SHELL_PREFIX"];

/// Where plugins and shared entries look for Provost besides the `PATH`.
const ALSO_INSTALLED: &[&str] = &[".cargo/bin", ".local/bin"];

fn is_tool_event(event: &str) -> bool {
    matches!(event, "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PermissionRequest")
}

/// Claude Code prints `2.1.325 (Claude Code)`.
fn parse_version(stdout: &str) -> Option<[u32; 3]> {
    let mut parts = stdout.split_whitespace().next()?.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

fn list_judged_tools(event: &str, pack: &str) -> (ToolNames, ToolNames) {
    const WRITING: &[&str] = &["Bash", "Write", "Edit", "NotebookEdit"];
    const WORK: &[&str] = &["Bash", "Write", "Edit", "Agent", "Skill"];
    match (event, pack) {
        ("PreToolUse", "plan-gate") => (&[EXIT], &[]),
        ("PreToolUse", "self") => (WRITING, &["Read", "mcp__server__tool"]),
        ("PreToolUse", "planner") => (WRITING, &["mcp__server__tool"]),
        ("PreToolUse" | "PostToolUse", "phases") => (WORK, &[]),
        ("PostToolUse", "plan-gate") => (&["Write", "Edit"], &["Bash"]),
        ("PostToolUseFailure", "phases") => (&["Bash"], &[]),
        _ => (&[], &[]),
    }
}

fn find_weakness(hook: &RegisteredHook) -> Option<(&'static str, &'static str)> {
    const FIX: &str = "remove that key from the entry";
    let is_on = |key: &str| hook.entry[key] == true;
    if is_on("async") || is_on("asyncRewake") {
        return Some(("with `async`, the client runs the call before the answer is there", FIX));
    }
    if hook.entry["if"].is_string() {
        return Some((
            "with `if`, it does not see all calls, and the client reads the condition loosely",
            FIX,
        ));
    }
    (shared_entry::parse_arguments(&hook.command).is_none() && is_relative(&hook.command)).then_some((
        "its command is relative to the working directory, which changes with every `cd`",
        "run `provost init`, or use the full path of the program",
    ))
}

/// Whether a command begins with a path that depends on the working directory.
fn is_relative(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
    program.contains('/') && !program.starts_with(['/', '$', '~', '`'])
}

fn find_steering(source: &HookSource) -> Vec<SteeringValue> {
    let mut found = Vec::new();
    for name in source.settings["env"].as_object().into_iter().flatten().map(|(name, _)| name) {
        let silences = SILENCING.contains(&name.as_str());
        if silences || CHANGING.contains(&name.as_str()) || name.starts_with("PROVOST_") {
            found.push(SteeringValue { name: format!("env.{name}"), silences });
        }
    }
    let keys = START_KEYS.iter().filter(|key| source.settings.get(**key).is_some());
    found.extend(keys.map(|key| SteeringValue { name: (*key).to_owned(), silences: false }));
    found
}

fn list_variables(sources: &[HookSource]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for source in sources.iter().rev().filter(|source| source.ignored_because.is_none()) {
        for (name, value) in source.settings["env"].as_object().into_iter().flatten() {
            if let Some(value) = value.as_str().filter(|_| !name.is_empty() && !name.contains(['=', '\0'])) {
                all.push((name.clone(), value.replace('\0', "")));
            }
        }
    }
    all
}

/// A text with Claude Code's own variables replaced.
fn expand_variables(text: &str, scope: &SettingsScope, project: &Path, places: &Places) -> String {
    let mut text = text.replace("${CLAUDE_PROJECT_DIR}", &project.to_string_lossy());
    for (name, value) in plugin_variables(scope, places) {
        text = text.replace(&format!("${{{name}}}"), &value.to_string_lossy());
    }
    text
}

fn plugin_variables(scope: &SettingsScope, places: &Places) -> Vec<(&'static str, PathBuf)> {
    let SettingsScope::Plugin { name, root } = scope else { return Vec::new() };
    let own = super::config_directory(places).unwrap_or_default();
    let folder = own.join("plugins/data").join(name.replace('@', "-"));
    vec![("CLAUDE_PLUGIN_ROOT", root.clone()), ("CLAUDE_PLUGIN_DATA", folder)]
}

fn build_command(hook: &RegisteredHook, scope: &SettingsScope, project: &Path, places: &Places) -> Command {
    // The system refuses a zero byte in an argument.
    let expand = |text: &str| expand_variables(text, scope, project, places).replace('\0', "");
    let mut command = if let Some(arguments) = &hook.arguments {
        let mut command = Command::new(expand(&hook.command));
        command.args(arguments.iter().map(|argument| expand(argument)));
        command
    } else {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(expand(&hook.command));
        command
    };
    command.current_dir(project).env("CLAUDE_PROJECT_DIR", project);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_CHILD_SESSION", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
    command.env("CLAUDE_CODE_SESSION_ID", samples::SESSION).envs(plugin_variables(scope, places));
    command
}

fn find_program(
    hook: &RegisteredHook,
    scope: &SettingsScope,
    project: &Path,
    places: &Places,
) -> Option<HookProgram> {
    let expand = |text: &str| expand_variables(text, scope, project, places);
    let is_shared = hook.arguments.is_none() && shared_entry::parse_arguments(&hook.command).is_some();
    let words: Vec<String> = match &hook.arguments {
        None if is_shared => vec!["provost".to_owned()],
        Some(arguments) => std::iter::once(&hook.command).chain(arguments).map(|word| expand(word)).collect(),
        // Only a shell knows which program this starts.
        None if hook.command.contains(['$', '`', ';', '|', '&', '<', '>', '(', '\n']) => return None,
        None => hook.command.split_whitespace().map(|word| expand(word.trim_matches(['"', '\'']))).collect(),
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let is_wrapper = words.first()?.ends_with("/provost.sh");
    let named = match words.iter().find(|word| is_provost_program(word)) {
        Some(word) => word.as_str(),
        None if is_wrapper => "provost",
        None => return None,
    };
    if is_wrapper || is_shared {
        folders.extend(ALSO_INSTALLED.iter().filter_map(|below| Some(places.home.as_ref()?.join(below))));
    }
    let mut candidates = if named.contains('/') {
        vec![project.join(named)]
    } else {
        folders.iter().map(|folder| folder.join(named)).collect()
    };
    candidates.retain(|candidate| provost_core::reviewer::is_executable(candidate));
    Some(
        candidates
            .into_iter()
            .next()
            .map_or_else(|| HookProgram::Missing(named.to_owned()), HookProgram::Found),
    )
}

/// The longest part of an answer that a report quotes.
const LONGEST_QUOTE: usize = 300;

fn parse_answer(event: &str, code: Option<i32>, stdout: &str, stderr: &str) -> HookReply {
    let quote = |text: &str| truncate_utf16(text.trim(), LONGEST_QUOTE).into_owned();
    if code == Some(2) {
        return HookReply { denied: Some(quote(stderr)), ..HookReply::default() };
    }
    let text = stdout.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{')
        && let Ok(Value::Object(answer)) = serde_json::from_str(text)
    {
        return interpret_answer(event, &answer);
    }
    if code != Some(0) {
        return HookReply {
            failed: Some(code.unwrap_or(-1)),
            message: Some(quote(stderr)),
            ..HookReply::default()
        };
    }
    let unreadable = match (text.starts_with('{'), text.contains('{')) {
        (true, _) => Some("its output is not one JSON object".to_owned()),
        (false, true) => Some(format!("there is text before the JSON (`{}`)", first_line(text))),
        (false, false) => None,
    };
    let remark = (unreadable.is_none() && !text.is_empty()).then(|| quote(text));
    HookReply { message: remark, ignored_because: unreadable, ..HookReply::default() }
}

fn first_line(text: &str) -> String {
    truncate_utf16(text.lines().next().unwrap_or_default(), 60).into_owned()
}

/// What an answer means, by the schema that Claude Code checks it against.
fn interpret_answer(event: &str, answer: &Map<String, Value>) -> HookReply {
    let ignored = |why: String| HookReply { ignored_because: Some(why), ..HookReply::default() };
    let mut reply = HookReply::default();
    for name in ["reason", "stopReason", "systemMessage"] {
        if answer.get(name).is_some_and(|value| !value.is_string()) {
            return ignored(format!("`{name}` is not a text"));
        }
    }
    let text = |value: Option<&Value>| {
        value.and_then(Value::as_str).map(|t| truncate_utf16(t, LONGEST_QUOTE).into_owned())
    };
    reply.message = text(answer.get("systemMessage"));
    match answer.get("decision") {
        None => {}
        // For permissions, `decision` is an object below. Elsewhere it is a word.
        Some(word) if word == "approve" => reply.allows = event != "Stop" && event != "SubagentStop",
        Some(word) if word == "block" => reply.denied = Some(text(answer.get("reason")).unwrap_or_default()),
        Some(_) => return ignored("`decision` is neither `approve` nor `block`".to_owned()),
    }
    let Some(specific) = answer.get("hookSpecificOutput") else { return reply };
    if specific["hookEventName"] != event {
        return ignored(format!("`hookEventName` is not `{event}`"));
    }
    match specific.get("permissionDecision").map(Value::as_str) {
        None => {}
        Some(Some("allow")) => reply.allows = true,
        Some(Some("deny")) => {
            let reason = text(specific.get("permissionDecisionReason"));
            reply.denied = Some(reply.denied.take().or(reason).unwrap_or_default());
        }
        Some(Some("ask" | "defer")) => reply.asks = true,
        Some(_) => return ignored("`permissionDecision` has an unknown value".to_owned()),
    }
    let decision = &specific["decision"];
    reply.allows |= decision["behavior"] == "allow";
    reply.rewrites = [specific, decision].iter().any(|place| place.get("updatedInput").is_some());
    reply.message = reply.message.or_else(|| text(specific.get("additionalContext")));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_means_what_it_means_to_the_client() {
        let specific =
            |rest: &str| format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{rest}}}}}"#);
        let parse = |code, stdout: &str| parse_answer("PreToolUse", Some(code), stdout, "why");
        assert_eq!(parse(0, ""), HookReply::default());
        assert_eq!(parse(2, "{}").denied.as_deref(), Some("why"));
        assert_eq!(parse(1, r#"{"decision":"block","reason":"R"}"#).denied.as_deref(), Some("R"));
        assert_eq!(parse(1, "").failed, Some(1));
        assert!(parse(0, r#"{"decision":"approve"}"#).allows);
        assert!(parse(0, &specific(r#""permissionDecision":"allow""#)).allows);
        assert!(parse(0, &specific(r#""permissionDecision":"ask""#)).asks);
        assert!(parse(0, &specific(r#""updatedInput":{}"#)).rewrites);
        assert!(parse(0, &specific(r#""permissionDecision":"deny""#)).denied.is_some());
        for dropped in [
            r#"{"decision":"deny"}"#,
            r#"{"decision":"block","reason":null}"#,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            r#"starting {"decision":"block"}"#,
            r#"{"decision":"block"} trailing"#,
            &specific(r#""permissionDecision":"no""#),
        ] {
            let reply = parse(0, dropped);
            assert!(reply.ignored_because.is_some() && reply.denied.is_none(), "{dropped}: {reply:?}");
        }
        assert_eq!(parse(0, "only words").message.as_deref(), Some("only words"));
    }

    #[test]
    fn a_version_is_three_numbers() {
        assert_eq!(parse_version("2.1.325 (Claude Code)\n"), Some([2, 1, 325]));
        for odd in ["", "claude", "2.1", "v2.1.3", "2.x.1"] {
            assert_eq!(parse_version(odd), None, "{odd}");
        }
    }
}
