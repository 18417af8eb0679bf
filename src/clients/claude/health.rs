//! How Claude Code starts a hook and what it makes of the answer, so that `provost doctor` can try it.
//!
//! What an answer means follows the rules that were measured on the client: a denial that it would drop is
//! told as one that it drops. The events to try a hook with are in `samples.rs`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use super::{EXIT, matcher, samples, shared_entry};
use crate::clients::{Health, Heard, Hook, Program, Scope, Source, Steering, Tools};
use crate::text::bounded;
use crate::workspace::{CHILD_MARK, Places, is_provost};

pub(super) const HEALTH: Health = Health {
    // The first one that starts a program with arguments, without a shell.
    oldest: [2, 1, 139],
    version,
    samples: samples::of,
    command,
    variables,
    heard,
    lets_through: |hook, tool| {
        if is_about_tools(&hook.event) {
            matcher::lets_through(hook.matcher.as_deref(), tool)
        } else {
            Some(true)
        }
    },
    tools,
    seconds: |event| match event {
        "UserPromptSubmit" => 30.0,
        "SessionEnd" => 1.5,
        _ => 600.0,
    },
    knows: |event| EVENTS.contains(&event),
    prompt: "UserPromptSubmit",
    block_on_failure: r#""onFailure": "block""#,
    blocks_since: [2, 1, 295],
    weakness,
    steering,
    steering_here: || {
        let set = SILENCING.iter().filter(|name| env::var_os(name).is_some());
        set.map(|name| Steering { name: (*name).to_owned(), silences: true }).collect()
    },
    program,
    agent_files: |name, project, places| {
        let folders = [Some(project.join(".claude")), super::own_directory(places)];
        folders.into_iter().flatten().map(|folder| folder.join("agents").join(format!("{name}.md"))).collect()
    },
};

/// The events of the client's version 2.1.325.
pub(super) const EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
];

/// Variables that keep every hook from running, or Provost from saying anything.
const SILENCING: &[&str] = &[CHILD_MARK, "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"];
/// Variables that change where Provost looks or how it is started.
const CHANGING: &[&str] =
    &["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SHELL_PREFIX"];
/// Keys of a settings file that do.
const STARTERS: &[&str] = &["processWrapper", "defaultShell"];

/// Where plugins and shared entries look for Provost besides the `PATH`.
const ALSO_INSTALLED: &[&str] = &[".cargo/bin", ".local/bin"];

fn is_about_tools(event: &str) -> bool {
    matches!(event, "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PermissionRequest")
}

/// The client prints `2.1.325 (Claude Code)`.
fn version(stdout: &str) -> Option<[u32; 3]> {
    let mut parts = stdout.split_whitespace().next()?.split('.').map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

fn tools(event: &str, pack: &str) -> (Tools, Tools) {
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

fn weakness(hook: &Hook) -> Option<(&'static str, &'static str)> {
    const KEY: &str = "take that key out of the entry";
    let is_on = |key: &str| hook.entry[key] == true;
    if is_on("async") || is_on("asyncRewake") {
        return Some(("`async` lets the call go on before the answer is there", KEY));
    }
    if hook.entry["if"].is_string() {
        return Some(("`if` keeps it from seeing some calls, and the client reads it loosely", KEY));
    }
    (shared_entry::parse_arguments(&hook.command).is_none() && is_relative(&hook.command)).then_some((
        "its command is looked for where the session is, which moves with every `cd`",
        "run `provost init`, or name the program by its whole path",
    ))
}

/// Whether a command begins with a path that is not meant from a fixed place.
fn is_relative(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
    program.contains('/') && !program.starts_with(['/', '$', '~', '`'])
}

fn steering(source: &Source) -> Vec<Steering> {
    let mut found = Vec::new();
    for name in source.settings["env"].as_object().into_iter().flatten().map(|(name, _)| name) {
        let silences = SILENCING.contains(&name.as_str());
        if silences || CHANGING.contains(&name.as_str()) || name.starts_with("PROVOST_") {
            found.push(Steering { name: format!("env.{name}"), silences });
        }
    }
    let keys = STARTERS.iter().filter(|key| source.settings.get(**key).is_some());
    found.extend(keys.map(|key| Steering { name: (*key).to_owned(), silences: false }));
    found
}

fn variables(sources: &[Source]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for source in sources.iter().rev().filter(|source| source.void.is_none()) {
        for (name, value) in source.settings["env"].as_object().into_iter().flatten() {
            if let Some(value) = value.as_str().filter(|_| !name.is_empty() && !name.contains(['=', '\0'])) {
                all.push((name.clone(), value.replace('\0', "")));
            }
        }
    }
    all
}

/// A text with what the client puts in the place of its own variables.
fn filled(text: &str, scope: &Scope, project: &Path, places: &Places) -> String {
    let mut text = text.replace("${CLAUDE_PROJECT_DIR}", &project.to_string_lossy());
    for (name, value) in plugin_variables(scope, places) {
        text = text.replace(&format!("${{{name}}}"), &value.to_string_lossy());
    }
    text
}

fn plugin_variables(scope: &Scope, places: &Places) -> Vec<(&'static str, PathBuf)> {
    let Scope::Plugin { name, root } = scope else { return Vec::new() };
    let own = super::own_directory(places).unwrap_or_default();
    let folder = own.join("plugins/data").join(name.replace('@', "-"));
    vec![("CLAUDE_PLUGIN_ROOT", root.clone()), ("CLAUDE_PLUGIN_DATA", folder)]
}

fn command(hook: &Hook, scope: &Scope, project: &Path, places: &Places) -> Command {
    // The system takes no zero in a word.
    let filled = |text: &str| filled(text, scope, project, places).replace('\0', "");
    let mut command = if let Some(arguments) = &hook.arguments {
        let mut command = Command::new(filled(&hook.command));
        command.args(arguments.iter().map(|argument| filled(argument)));
        command
    } else {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(filled(&hook.command));
        command
    };
    command.current_dir(project).env("CLAUDE_PROJECT_DIR", project);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_CHILD_SESSION", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
    command.env("CLAUDE_CODE_SESSION_ID", samples::SESSION).envs(plugin_variables(scope, places));
    command
}

fn program(hook: &Hook, scope: &Scope, project: &Path, places: &Places) -> Option<Program> {
    let filled = |text: &str| filled(text, scope, project, places);
    let is_shared = hook.arguments.is_none() && shared_entry::parse_arguments(&hook.command).is_some();
    let words: Vec<String> = match &hook.arguments {
        None if is_shared => vec!["provost".to_owned()],
        Some(arguments) => std::iter::once(&hook.command).chain(arguments).map(|word| filled(word)).collect(),
        // What a shell would make of anything else is not known here.
        None if hook.command.contains(['$', '`', ';', '|', '&', '<', '>', '(', '\n']) => return None,
        None => hook.command.split_whitespace().map(|word| filled(word.trim_matches(['"', '\'']))).collect(),
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let is_wrapper = words.first()?.ends_with("/provost.sh");
    let named = match words.iter().find(|word| is_provost(word)) {
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
    candidates.retain(|candidate| crate::reviewer::is_program(candidate));
    Some(candidates.into_iter().next().map_or_else(|| Program::Missing(named.to_owned()), Program::Found))
}

/// The longest part of an answer that is told.
const MOST_WORDS: usize = 300;

fn heard(event: &str, code: Option<i32>, stdout: &str, stderr: &str) -> Heard {
    let told = |text: &str| bounded(text.trim(), MOST_WORDS).into_owned();
    if code == Some(2) {
        return Heard { denied: Some(told(stderr)), ..Heard::default() };
    }
    let text = stdout.trim_start_matches('\u{feff}').trim();
    if text.starts_with('{')
        && let Ok(Value::Object(answer)) = serde_json::from_str(text)
    {
        return meaning(event, &answer);
    }
    if code != Some(0) {
        return Heard { failed: Some(code.unwrap_or(-1)), remark: Some(told(stderr)), ..Heard::default() };
    }
    let unreadable = match (text.starts_with('{'), text.contains('{')) {
        (true, _) => Some("what it prints is not one JSON object".to_owned()),
        (false, true) => Some(format!("text stands before the JSON (`{}`)", first_line(text))),
        (false, false) => None,
    };
    let remark = (unreadable.is_none() && !text.is_empty()).then(|| told(text));
    Heard { remark, unreadable, ..Heard::default() }
}

fn first_line(text: &str) -> String {
    bounded(text.lines().next().unwrap_or_default(), 60).into_owned()
}

/// What an answer says, by the schema that the client checks it against.
fn meaning(event: &str, answer: &Map<String, Value>) -> Heard {
    let dropped = |why: String| Heard { unreadable: Some(why), ..Heard::default() };
    let mut heard = Heard::default();
    for name in ["reason", "stopReason", "systemMessage"] {
        if answer.get(name).is_some_and(|value| !value.is_string()) {
            return dropped(format!("`{name}` is no text"));
        }
    }
    let text =
        |value: Option<&Value>| value.and_then(Value::as_str).map(|t| bounded(t, MOST_WORDS).into_owned());
    heard.remark = text(answer.get("systemMessage"));
    match answer.get("decision") {
        None => {}
        // Permissions are decided by an object below, and elsewhere by a word here.
        Some(word) if word == "approve" => heard.allows = event != "Stop" && event != "SubagentStop",
        Some(word) if word == "block" => heard.denied = Some(text(answer.get("reason")).unwrap_or_default()),
        Some(_) => return dropped("`decision` is neither `approve` nor `block`".to_owned()),
    }
    let Some(specific) = answer.get("hookSpecificOutput") else { return heard };
    if specific["hookEventName"] != event {
        return dropped(format!("`hookEventName` is not `{event}`"));
    }
    match specific.get("permissionDecision").map(Value::as_str) {
        None => {}
        Some(Some("allow")) => heard.allows = true,
        Some(Some("deny")) => {
            let reason = text(specific.get("permissionDecisionReason"));
            heard.denied = Some(heard.denied.take().or(reason).unwrap_or_default());
        }
        Some(Some("ask" | "defer")) => heard.asks = true,
        Some(_) => return dropped("`permissionDecision` has an unknown word".to_owned()),
    }
    let decision = &specific["decision"];
    heard.allows |= decision["behavior"] == "allow";
    heard.rewrites = [specific, decision].iter().any(|place| place.get("updatedInput").is_some());
    heard.remark = heard.remark.or_else(|| text(specific.get("additionalContext")));
    heard
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_means_what_the_client_makes_of_it() {
        let specific =
            |rest: &str| format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{rest}}}}}"#);
        let heard = |code, stdout: &str| heard("PreToolUse", Some(code), stdout, "told");
        assert_eq!(heard(0, ""), Heard::default());
        assert_eq!(heard(2, "{}").denied.as_deref(), Some("told"));
        assert_eq!(heard(1, r#"{"decision":"block","reason":"R"}"#).denied.as_deref(), Some("R"));
        assert_eq!(heard(1, "").failed, Some(1));
        assert!(heard(0, r#"{"decision":"approve"}"#).allows);
        assert!(heard(0, &specific(r#""permissionDecision":"allow""#)).allows);
        assert!(heard(0, &specific(r#""permissionDecision":"ask""#)).asks);
        assert!(heard(0, &specific(r#""updatedInput":{}"#)).rewrites);
        assert!(heard(0, &specific(r#""permissionDecision":"deny""#)).denied.is_some());
        for dropped in [
            r#"{"decision":"deny"}"#,
            r#"{"decision":"block","reason":null}"#,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            r#"starting {"decision":"block"}"#,
            r#"{"decision":"block"} trailing"#,
            &specific(r#""permissionDecision":"no""#),
        ] {
            let heard = heard(0, dropped);
            assert!(heard.unreadable.is_some() && heard.denied.is_none(), "{dropped}: {heard:?}");
        }
        assert_eq!(heard(0, "only words").remark.as_deref(), Some("only words"));
    }

    #[test]
    fn versions_are_numbers() {
        assert_eq!(version("2.1.325 (Claude Code)\n"), Some([2, 1, 325]));
        for odd in ["", "claude", "2.1", "v2.1.3", "2.x.1"] {
            assert_eq!(version(odd), None, "{odd}");
        }
    }
}
