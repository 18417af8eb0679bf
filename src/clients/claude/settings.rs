//! Claude Code's settings files: which they are, and what in them decides whether Provost runs.
//!
//! Six things in a settings file can silence a hook or undo what it decided: its entry under `hooks`, the
//! switches that turn all hooks off, a plugin that is no longer enabled, what steers how hooks are started (some
//! keys, and variables in `env`), any value for which the client drops the whole file (see `shape.rs`), and
//! another hook that could rewrite a call that has been judged. Every other hook and key is open to tools.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::shape;
use crate::clients::Unreadable;
use crate::clients::json::Fields;
use crate::clients::switches::{Switches, distinct, fingerprint};
use crate::text::shell_word;
use crate::workspace::{CHILD_MARK, Places, is_provost};

pub(super) const HOW_TO_EDIT: &str =
    "leave that as it is; other keys, and hooks such as PostToolUse, may be added with Edit or Write";

/// Switches that keep hooks from running when they are `true`.
pub(super) const OFF_SWITCHES: &[&str] = &[ALL_OFF, ONLY_MANAGED];
pub(super) const ALL_OFF: &str = "disableAllHooks";
/// Of all files, the client looks for it in the administrator's; the others are held to it all the same.
pub(super) const ONLY_MANAGED: &str = "allowManagedHooksOnly";

/// Keys that decide how the commands of hooks are started.
const STARTERS: &[&str] = &["processWrapper", "defaultShell"];

/// Keys whose value is a command line, or has one as its `command`, that the client runs by itself.
const COMMANDS: &[&str] = &[
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "fileSuggestion",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "proxyAuthHelper",
    "statusLine",
    "subagentStatusLine",
];

/// Variables that decide where Provost looks, what runs in its place, or whether hooks run at all.
fn steers_provost(variable: &str) -> bool {
    const NAMES: &[&str] = &[
        "HOME",
        "PATH",
        "ENV",
        "BASH_ENV",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_CODE_SAFE_MODE",
        "CLAUDE_CODE_SHELL_PREFIX",
        "CLAUDE_CODE_SIMPLE",
    ];
    const STARTS: &[&str] = &["PROVOST_", "XDG_", "LD_", "DYLD_"];
    NAMES.contains(&variable) || STARTS.iter().any(|start| variable.starts_with(start))
}

pub(super) fn is_settings_file(path: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    let (Some(file), Some(parent)) = (name(path), path.parent().and_then(name)) else { return false };
    // What is kept of one from before Provost may become one again.
    let file = file.split(".before-provost").next().unwrap_or_default();
    if Path::new(file).extension().is_none_or(|extension| extension != "json") {
        return false;
    }
    match parent.as_str() {
        ".claude" => file.starts_with("settings"),
        "claude-code" | "claudecode" => file.starts_with("managed-settings"),
        "managed-settings.d" => true,
        _ => false,
    }
}

pub(super) fn files(places: &Places, project: &Path) -> Vec<PathBuf> {
    let user = super::own_directory(places);
    let started = super::absolute_variable("CLAUDE_PROJECT_DIR").unwrap_or_else(|| project.to_owned());
    let folders = [Some(started.join(".claude")), user];
    let mut files = vec![managed_file()];
    for folder in folders.into_iter().flatten() {
        files.push(folder.join("settings.json"));
        files.push(folder.join("settings.local.json"));
    }
    files
}

/// The settings of an administrator.
pub(super) fn managed_file() -> PathBuf {
    let file = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode/managed-settings.json"
    } else {
        "/etc/claude-code/managed-settings.json"
    };
    file.into()
}

pub(super) fn read(text: Option<&str>) -> Result<Switches, String> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}");
    let file = Fields::parse(text.as_bytes()).map_err(|error| match error {
        Unreadable::NotJson(why) => format!("the file cannot be read as settings ({why})"),
        other => other.to_string(),
    })?;
    let file = file.0;
    if let Some(place) = shape::fault(&file) {
        return Err(format!("`{place}` is invalid, so the client drops the file"));
    }
    let mut switches = Switches::default();
    let hooks = file.get("hooks");
    for (event, groups) in hooks.map(object).into_iter().flatten() {
        for (matcher, hook) in entries(groups) {
            if invokes_provost(hook, &["hook", "compat"]) {
                let name = distinct(&format!("the {event} entry for `{matcher}` that calls Provost"), hook);
                switches.kept.insert(name.clone(), fingerprint(hook));
                switches
                    .reserved
                    .insert(name, "the client makes one of two equal calls, with the limits of either");
                continue;
            }
            switches.commands.extend(command_line(hook));
            if let Some(why) = reserved(event, hook) {
                let name = format!("a hook for {event} (`{matcher}`)");
                switches.reserved.insert(distinct(&name, &without_limits(hook)), why);
            }
        }
    }
    for (plugin, enabled) in file.get("enabledPlugins").map(object).into_iter().flatten() {
        if *enabled != Value::Bool(false) {
            switches.kept.insert(format!("plugin `{plugin}`"), fingerprint(enabled));
        }
    }
    for (name, value) in file.get("env").map(object).into_iter().flatten() {
        if steers_provost(name) {
            switches.fixed.insert(format!("`env.{name}`"), fingerprint(value));
        }
        if name == CHILD_MARK {
            switches.off.push(format!("`env.{name}`"));
        }
    }
    for (key, value) in &file {
        if COMMANDS.contains(&key.as_str()) {
            switches.commands.extend(value.as_str().map(str::to_owned).or_else(|| command_line(value)));
        }
    }
    for key in STARTERS {
        if let Some(value) = file.get(*key) {
            switches.fixed.insert(format!("`{key}`"), fingerprint(value));
        }
    }
    for (key, value) in file.iter().filter(|(key, value)| !shape::is_known(key, value)) {
        switches.others.insert(key.clone(), fingerprint(value));
    }
    let off = OFF_SWITCHES
        .iter()
        .filter(|switch| file.get(**switch).is_some_and(|value| *value != Value::Bool(false)));
    switches.off.extend(off.map(|switch| format!("`{switch}`")));
    Ok(switches)
}

/// The hooks of one event, each with its matcher.
fn entries(groups: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let groups = groups.as_array().into_iter().flatten();
    groups.flat_map(|group| {
        let matcher = group["matcher"].as_str().filter(|matcher| !matches_all(matcher)).unwrap_or("*");
        group["hooks"].as_array().into_iter().flatten().map(move |hook| (matcher, hook))
    })
}

/// Spellings of a matcher that is no limit; to leave it out is another.
pub(super) fn matches_all(matcher: &str) -> bool {
    matches!(matcher, "" | "*" | ".*")
}

/// Whether a hook entry runs `provost hook`, in exec or shell form, directly or by a wrapper.
pub(super) fn calls_provost(hook: &Value) -> bool {
    invokes_provost(hook, &["hook"])
}

fn invokes_provost(hook: &Value, commands: &[&str]) -> bool {
    let texts = [&hook["command"]].into_iter().chain(hook["args"].as_array().into_iter().flatten());
    let line = texts.filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    let is_program = |word: &str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
        is_provost(name) || name == "provost.sh"
    };
    line.split([';', '|', '&', '(', ')', '\n']).any(|part| {
        let is_between = |c: char| c.is_whitespace() || "\"'<>".contains(c);
        let mut words = part.split(is_between).filter(|word| !word.is_empty());
        words.any(is_program) && words.any(|word| commands.contains(&word))
    })
}

/// What a hook of this event could do to a guard, so that only the user adds it.
pub(super) fn reserved(event: &str, hook: &Value) -> Option<&'static str> {
    // These only answer yes or no, and an asynchronous hook is not waited for.
    let is_heard =
        !matches!(hook["type"].as_str(), Some("prompt" | "agent")) && hook["async"] != Value::Bool(true);
    match event {
        "PreToolUse" | "PermissionRequest" if is_heard => Some(REWRITES),
        "SubagentStart" => Some("it could speak to judges"),
        _ => None,
    }
}

/// What an agent could do with a hook that answers before a call.
pub(super) const REWRITES: &str = "it could change checked calls";

/// The command line that a hook runs.
fn command_line(hook: &Value) -> Option<String> {
    let command = hook["command"].as_str()?;
    let Some(arguments) = hook["args"].as_array() else { return Some(command.to_owned()) };
    let words = std::iter::once(command).chain(arguments.iter().filter_map(Value::as_str));
    Some(words.map(shell_word).collect::<Vec<_>>().join(" "))
}

/// A hook without the fields that say how long and how loudly it runs.
fn without_limits(hook: &Value) -> Value {
    let mut hook = hook.clone();
    for field in ["timeout", "onFailure", "statusMessage"] {
        hook.as_object_mut().and_then(|hook| hook.remove(field));
    }
    hook
}

fn object(value: &Value) -> &Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.as_object().unwrap_or(&EMPTY)
}

#[cfg(test)]
mod tests;
