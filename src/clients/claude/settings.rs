//! Claude Code's settings files: which they are, and what in them decides whether Provost runs.
//!
//! Four things in a settings file can silence a hook: its entry under `hooks`, the switches that
//! turn all hooks off, a plugin that is no longer enabled, and variables in `env` that every hook
//! inherits. The rest of the file is nobody's business here.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::clients::json::Fields;
use crate::clients::{Registrations, Unreadable};
use crate::hook::CHILD_MARK;
use crate::workspace::Places;

/// Switches that keep hooks from running when they are `true`.
const OFF_SWITCHES: &[&str] = &["disableAllHooks", "allowManagedHooksOnly"];

/// Variables that decide where Provost looks, or what runs in its place.
fn steers_provost(variable: &str) -> bool {
    const NAMES: &[&str] = &["HOME", "PATH", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"];
    const STARTS: &[&str] = &["PROVOST_", "XDG_", "LD_", "DYLD_"];
    NAMES.contains(&variable) || STARTS.iter().any(|start| variable.starts_with(start))
}

pub(super) fn is_settings_file(path: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    let (Some(file), Some(parent)) = (name(path), path.parent().and_then(name)) else { return false };
    if Path::new(&file).extension().is_none_or(|extension| extension != "json") {
        return false;
    }
    match parent.as_str() {
        ".claude" => file.starts_with("settings"),
        "claude-code" => file.starts_with("managed-settings"),
        "managed-settings.d" => true,
        _ => false,
    }
}

pub(super) fn files(places: &Places, project: &Path) -> Vec<PathBuf> {
    let user = super::absolute_variable("CLAUDE_CONFIG_DIR")
        .or_else(|| places.home.as_ref().map(|home| home.join(".claude")));
    let started = super::absolute_variable("CLAUDE_PROJECT_DIR").unwrap_or_else(|| project.to_owned());
    let folders = [Some(started.join(".claude")), user];
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders.into_iter().flatten() {
        files.push(folder.join("settings.json"));
        files.push(folder.join("settings.local.json"));
    }
    files
}

pub(super) fn weakened(before: Option<&str>, after: Option<&str>) -> Vec<String> {
    let read =
        |text: Option<&str>| text.filter(|text| !text.trim().is_empty()).map_or(Ok(Fields::default()), parse);
    let (before, after) = match (read(before), read(after)) {
        (Ok(before), Ok(after)) => (before.0, after.0),
        (_, Err(_)) => {
            return vec!["the file would no longer be JSON, and the client would drop its hooks".into()];
        }
        (Err(_), _) => {
            return vec![
                "the file is not JSON now, so what the change does to its hooks cannot be told".into(),
            ];
        }
    };
    let mut found = Vec::new();
    let nothing = Value::Null;
    let old = |key: &str| before.get(key).unwrap_or(&nothing);
    let new = |key: &str| after.get(key).unwrap_or(&nothing);
    if old("hooks") != new("hooks") {
        found.push(changed_hooks(old("hooks"), new("hooks")));
    }
    for switch in OFF_SWITCHES {
        if old(switch) != new(switch) {
            found.push(format!("`{switch}` would change"));
        }
    }
    for (plugin, enabled) in object(old("enabledPlugins")) {
        if *enabled != Value::Bool(false) && new("enabledPlugins")[plugin] != *enabled {
            found.push(format!("plugin `{plugin}` would no longer be enabled"));
        }
    }
    let (old_env, new_env) = (object(old("env")), object(new("env")));
    for name in old_env.keys().chain(new_env.keys().filter(|name| !old_env.contains_key(*name))) {
        if steers_provost(name) && old_env.get(name) != new_env.get(name) {
            found.push(format!("`env.{name}` would change"));
        }
    }
    found
}

/// Which event's hooks change, where that can be said.
fn changed_hooks(old: &Value, new: &Value) -> String {
    let events =
        object(old).keys().chain(object(new).keys()).find(|event| old[event.as_str()] != new[event.as_str()]);
    match events {
        Some(event) => format!("`hooks.{event}` would change"),
        None => "`hooks` would change".into(),
    }
}

pub(super) fn registrations(text: &str) -> Result<Registrations, Unreadable> {
    let file = match parse(text) {
        Err(Unreadable::Empty) => return Ok(Registrations::default()),
        read => read?.0,
    };
    if let Some(fault) = voiding_entry(&file) {
        return Err(Unreadable::NotJson(fault));
    }
    let mut entries = Vec::new();
    for (event, groups) in file.get("hooks").map(object).into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            for hook in group["hooks"].as_array().into_iter().flatten() {
                if calls_provost(hook) {
                    let matcher = group["matcher"].as_str().unwrap_or("*");
                    entries.push(format!("{event} {matcher} {hook}"));
                }
            }
        }
    }
    let switched_off_by = OFF_SWITCHES.iter().find(|switch| file.get(**switch) == Some(&Value::Bool(true)));
    let marked = file.get("env").is_some_and(|variables| variables.get(CHILD_MARK).is_some());
    let switched_off_by = match switched_off_by {
        Some(switch) => Some((*switch).to_owned()),
        None => marked.then(|| format!("env.{CHILD_MARK}")),
    };
    Ok(Registrations { entries, switched_off_by })
}

/// An entry for which the client drops the whole file, with all its hooks and without a word.
fn voiding_entry(file: &Map<String, Value>) -> Option<String> {
    const TYPES: &[&str] = &["command", "prompt", "agent", "http", "mcp_tool"];
    for event in ["PreToolUse", "PermissionRequest"] {
        let groups = file.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
        for hook in groups.into_iter().flatten().filter_map(|group| group["hooks"].as_array()).flatten() {
            let is_fine = hook["type"].as_str().is_some_and(|kind| TYPES.contains(&kind))
                && (hook["timeout"].is_null() || hook["timeout"].is_number())
                && (hook["onFailure"].is_null()
                    || matches!(hook["onFailure"].as_str(), Some("continue" | "block")));
            if !is_fine {
                return Some(format!("the client would drop the file because of the {event} entry {hook}"));
            }
        }
    }
    None
}

/// Whether a hook entry runs `provost hook`, in exec or shell form, directly or by a wrapper.
fn calls_provost(hook: &Value) -> bool {
    let arguments = hook["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let command = hook["command"].as_str().unwrap_or_default();
    let mut words: Vec<&str> = if hook["args"].is_array() {
        vec![command]
    } else {
        command.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect()
    };
    words.extend(arguments);
    words.windows(2).any(|pair| {
        let program = pair[0].rsplit(['/', '\\']).next().unwrap_or_default();
        matches!(program, "provost" | "provost.exe") && pair[1] == "hook"
    })
}

fn parse(text: &str) -> Result<Fields, Unreadable> {
    Fields::parse(text.as_bytes())
}

fn object(value: &Value) -> &Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.as_object().unwrap_or(&EMPTY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOKED: &str = r#"{"model":"x","hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/usr/bin/provost","args":["hook"]}]}]}}"#;

    #[test]
    fn settings_files_are_known_by_place_and_name() {
        for yes in [
            "/p/.claude/settings.json",
            "/h/.claude/settings.local.json",
            "/p/.Claude/Settings.JSON",
            "/etc/claude-code/managed-settings.json",
        ] {
            assert!(is_settings_file(Path::new(yes)), "{yes}");
        }
        for no in [
            "/p/settings.json",
            "/p/.claude/agents.json",
            "/p/.claude/settings.md",
            "/p/.claude/x/settings.json",
            "settings.json",
        ] {
            assert!(!is_settings_file(Path::new(no)), "{no}");
        }
    }

    #[test]
    fn other_parts_of_the_file_may_change() {
        let after = HOOKED.replace(r#""model":"x""#, r#""model":"y","permissions":{"allow":["Bash(ls)"]},"env":{"FOO":"1"},"enabledPlugins":{"a@b":true}"#);
        assert_eq!(weakened(Some(HOOKED), Some(&after)), [""; 0]);
        assert_eq!(weakened(None, Some(r#"{"model":"y"}"#)), [""; 0]);
        assert_eq!(weakened(Some("{}"), None), [""; 0]);
    }

    #[test]
    fn what_silences_a_hook_is_found() {
        let cases = [
            (Some(HOOKED), Some("{}"), "`hooks.PreToolUse` would change"),
            (Some(HOOKED), None, "`hooks.PreToolUse` would change"),
            (Some(HOOKED), Some("{"), "no longer be JSON"),
            (Some("{"), Some("{}"), "cannot be told"),
            (None, Some(r#"{"disableAllHooks":true}"#), "`disableAllHooks` would change"),
            (None, Some(r#"{"allowManagedHooksOnly":true}"#), "`allowManagedHooksOnly` would change"),
            (None, Some(r#"{"env":{"PROVOST_CHILD":"1"}}"#), "`env.PROVOST_CHILD` would change"),
            (None, Some(r#"{"env":{"XDG_CONFIG_HOME":"/tmp"}}"#), "`env.XDG_CONFIG_HOME` would change"),
            (Some(r#"{"env":{"PATH":"/bin"}}"#), Some("{}"), "`env.PATH` would change"),
            (
                Some(r#"{"enabledPlugins":{"a@b":true}}"#),
                Some(r#"{"enabledPlugins":{"a@b":false}}"#),
                "plugin `a@b`",
            ),
            (Some(r#"{"enabledPlugins":{"a@b":true}}"#), Some("{}"), "plugin `a@b`"),
            (None, Some(r#"{"hooks":{"Stop":[]}}"#), "`hooks.Stop` would change"),
            (None, Some(r#"{"hooks":5}"#), "`hooks` would change"),
        ];
        for (before, after, expected) in cases {
            let found = weakened(before, after);
            assert!(found.len() == 1 && found[0].contains(expected), "{before:?} -> {after:?}: {found:?}");
        }
    }

    #[test]
    fn entries_that_call_provost_are_found_in_every_form() {
        for hook in [
            r#"{"command":"/usr/bin/provost","args":["hook"]}"#,
            r#"{"command":"provost hook --pack self"}"#,
            r#"{"command":"\"/opt/a/provost\" hook"}"#,
            r#"{"command":"/usr/bin/env","args":["provost","hook"]}"#,
        ] {
            assert!(calls_provost(&serde_json::from_str(hook).unwrap()), "{hook}");
        }
        for hook in
            [r#"{"command":"echo provost"}"#, r#"{"command":"notprovost hook"}"#, "5", r#"{"command":7}"#]
        {
            assert!(!calls_provost(&serde_json::from_str(hook).unwrap()), "{hook}");
        }
    }

    #[test]
    fn registrations_are_total() {
        assert_eq!(registrations(HOOKED).unwrap().entries.len(), 1);
        for odd in [
            "",
            "{}",
            r#"{"hooks":[]}"#,
            r#"{"hooks":{"Stop":5}}"#,
            r#"{"hooks":{"Stop":[5,{"hooks":{}},{"hooks":[null]}]}}"#,
        ] {
            assert_eq!(registrations(odd).unwrap().entries, [""; 0], "{odd}");
        }
        assert!(registrations("{").is_err());
        assert_eq!(
            registrations(r#"{"disableAllHooks":true}"#).unwrap().switched_off_by.as_deref(),
            Some("disableAllHooks")
        );
    }
}
