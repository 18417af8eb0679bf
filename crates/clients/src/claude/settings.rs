//! Claude Code's settings files: which they are, and what in them decides whether Provost runs.
//!
//! Six things in a settings file can silence a hook or undo its decision: its entry under `hooks`, the switches that turn
//! all hooks off, a plugin that is no longer enabled, what controls how hooks are started (some keys, and variables in
//! `env`), any value for which Claude Code ignores the whole file (`settings_schema.rs`), and another hook that could
//! rewrite a checked call. Agents may change every other hook and key.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{has_word, settings_schema};
use crate::Unreadable;
use crate::json::Fields;
use provost_core::places::{CHILD_MARK, Places, is_provost_program};
use provost_core::switches::{Switches, fingerprint, name_with_fingerprint};
use provost_core::text::quote_for_shell;

pub(super) const HOW_TO_EDIT: &str =
    "leave that as it is; other keys, and hooks such as PostToolUse, may be added with Edit or Write";

/// Switches that stop hooks if they are `true`.
pub(super) const OFF_SWITCHES: &[&str] = &[ALL_OFF, ONLY_MANAGED];
pub(super) const ALL_OFF: &str = "disableAllHooks";
/// Claude Code reads it only from the administrator's file. Provost protects it in every file.
pub(super) const ONLY_MANAGED: &str = "allowManagedHooksOnly";

/// Keys that control how Claude Code starts the commands of hooks.
pub(super) const START_KEYS: &[&str] = &["processWrapper", "defaultShell"];

/// Keys whose value, or whose `command`, is a command line that Claude Code runs by itself.
const COMMAND_KEYS: &str = "apiKeyHelper awsAuthRefresh awsCredentialExport fileSuggestion gcpAuthRefresh \
    otelHeadersHelper proxyAuthHelper statusLine subagentStatusLine";

/// Whether a variable controls where Provost looks, what runs in its place, or whether hooks run at all.
fn is_controlling_variable(name: &str) -> bool {
    const NAMES: &str = "HOME PATH ENV BASH_ENV CLAUDE_PROJECT_DIR CLAUDE_CONFIG_DIR CLAUDE_PLUGIN_ROOT \
        CLAUDE_CODE_SAFE_MODE CLAUDE_CODE_SHELL_PREFIX CLAUDE_CODE_SIMPLE";
    const PREFIXES: &[&str] = &["PROVOST_", "XDG_", "LD_", "DYLD_"];
    has_word(NAMES, name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

pub(super) fn is_settings_file(path: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    let (Some(file), Some(parent)) = (name(path), path.parent().and_then(name)) else { return false };
    // `provost uninstall` may rename a backup to a settings file again.
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

pub(super) fn list_files(places: &Places, project: &Path) -> Vec<PathBuf> {
    let user = super::config_directory(places);
    let started = super::start_directory(project);
    let folders = [Some(started.join(".claude")), user].into_iter().flatten();
    let files =
        folders.flat_map(|folder| ["settings.json", "settings.local.json"].map(|file| folder.join(file)));
    std::iter::once(managed_file()).chain(files).collect()
}

/// The administrator's settings file.
pub(super) fn managed_file() -> PathBuf {
    let is_mac = cfg!(target_os = "macos");
    let folder = if is_mac { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };
    Path::new(folder).join("managed-settings.json")
}

pub(super) fn parse_switches(text: Option<&str>) -> Result<Switches, String> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}");
    let file = Fields::parse(text.as_bytes()).map_err(|error| match error {
        Unreadable::NotJson(why) => format!("the file cannot be read as settings ({why})"),
        other => other.to_string(),
    })?;
    let file = file.0;
    if let Some(place) = settings_schema::find_invalid_value(&file) {
        return Err(format!("`{place}` is invalid, so the client drops the file"));
    }
    let mut switches = Switches::default();
    for (event, groups) in fields(file.get("hooks")) {
        for (matcher, hook) in list_hooks(groups) {
            if invokes_provost(hook, &["hook", "compat"]) {
                let name = name_with_fingerprint(
                    &format!("the {event} entry for `{matcher}` that calls Provost"),
                    hook,
                );
                switches.required.insert(name.clone(), fingerprint(hook));
                switches
                    .reserved_hooks
                    .insert(name, "the client makes one of two equal calls, with the limits of either");
                continue;
            }
            switches.hook_commands.extend(command_line(hook));
            if let Some(why) = reserved_because(event, hook) {
                let name = format!("a hook for {event} (`{matcher}`)");
                switches.reserved_hooks.insert(name_with_fingerprint(&name, &without_limits(hook)), why);
            }
        }
    }
    for (plugin, enabled) in fields(file.get("enabledPlugins")) {
        if *enabled != Value::Bool(false) {
            switches.required.insert(format!("plugin `{plugin}`"), fingerprint(enabled));
        }
    }
    for (name, value) in fields(file.get("env")) {
        if is_controlling_variable(name) {
            switches.fixed_variables.insert(format!("`env.{name}`"), fingerprint(value));
        }
        if name == CHILD_MARK {
            switches.disabling_switches.push(format!("`env.{name}`"));
        }
    }
    for (key, value) in &file {
        if has_word(COMMAND_KEYS, key) {
            switches.hook_commands.extend(value.as_str().map(str::to_owned).or_else(|| command_line(value)));
        }
    }
    for key in START_KEYS {
        if let Some(value) = file.get(*key) {
            switches.fixed_variables.insert(format!("`{key}`"), fingerprint(value));
        }
    }
    for (key, value) in file.iter().filter(|(key, value)| !settings_schema::is_fully_checked(key, value)) {
        switches.other_keys.insert(key.clone(), fingerprint(value));
    }
    let off = OFF_SWITCHES
        .iter()
        .filter(|switch| file.get(**switch).is_some_and(|value| *value != Value::Bool(false)));
    switches.disabling_switches.extend(off.map(|switch| format!("`{switch}`")));
    Ok(switches)
}

/// The hooks of one event, each with its matcher.
fn list_hooks(groups: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let groups = groups.as_array().into_iter().flatten();
    groups.flat_map(|group| {
        let matcher = group["matcher"].as_str().filter(|matcher| !matches_all(matcher)).unwrap_or("*");
        group["hooks"].as_array().into_iter().flatten().map(move |hook| (matcher, hook))
    })
}

/// Whether a matcher limits nothing. A missing matcher does not either.
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
        is_provost_program(name) || name == "provost.sh"
    };
    line.split([';', '|', '&', '(', ')', '\n']).any(|part| {
        let is_between = |c: char| c.is_whitespace() || "\"'<>".contains(c);
        let mut words = part.split(is_between).filter(|word| !word.is_empty());
        words.any(is_program) && words.any(|word| commands.contains(&word))
    })
}

/// Why only the user may add a hook of this event: what it could do to a guard.
pub(super) fn reserved_because(event: &str, hook: &Value) -> Option<&'static str> {
    // Prompts and agents only answer yes or no, and Claude Code does not wait for an asynchronous hook.
    let can_rewrite =
        !matches!(hook["type"].as_str(), Some("prompt" | "agent")) && hook["async"] != Value::Bool(true);
    match event {
        "PreToolUse" | "PermissionRequest" if can_rewrite => Some(REWRITES),
        "SubagentStart" => Some("it could speak to judges"),
        _ => None,
    }
}

/// What a hook that answers before a call could do.
pub(super) const REWRITES: &str = "it could change checked calls";

/// The command line that a hook runs.
fn command_line(hook: &Value) -> Option<String> {
    let command = hook["command"].as_str()?;
    let Some(arguments) = hook["args"].as_array() else { return Some(command.to_owned()) };
    let words = std::iter::once(command).chain(arguments.iter().filter_map(Value::as_str));
    Some(words.map(quote_for_shell).collect::<Vec<_>>().join(" "))
}

/// A hook without the fields that only say how long and how visibly it runs.
fn without_limits(hook: &Value) -> Value {
    let mut hook = hook.clone();
    for field in ["timeout", "onFailure", "statusMessage"] {
        hook.as_object_mut().and_then(|hook| hook.remove(field));
    }
    hook
}

/// The fields of a value that may be missing, or no object.
fn fields(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests;
