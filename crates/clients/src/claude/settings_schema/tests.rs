use serde_json::json;

use super::*;

#[track_caller]
fn invalid_path(file: &Value) -> Option<String> {
    find_invalid_value(file.as_object().unwrap())
}

/// A settings file with one more entry for `PreToolUse`.
fn hooked(hook: &Value) -> Value {
    json!({"hooks": {"PreToolUse": [{"hooks": []}, {"matcher": "x", "hooks": [hook]}]}})
}

fn command(name: &str, value: Value) -> Value {
    let mut hook = json!({"type": "command", "command": "x"});
    hook[name] = value;
    hooked(&hook)
}

#[test]
fn an_invalid_value_is_found_and_named() {
    for (file, place) in [
        (json!({"permissions": 5}), "permissions"),
        (json!({"permissions": null}), "permissions"),
        (json!({"permissions": []}), "permissions"),
        (json!({"permissions": {"defaultMode": "nonsense"}}), "permissions.defaultMode"),
        (json!({"permissions": {"allow": "x"}}), "permissions.allow"),
        (json!({"permissions": {"allow": null}}), "permissions.allow"),
        (json!({"permissions": {"additionalDirectories": [5]}}), "permissions.additionalDirectories[0]"),
        (
            json!({"permissions": {"disableBypassPermissionsMode": "x"}}),
            "permissions.disableBypassPermissionsMode",
        ),
        (json!({"model": 5}), "model"),
        (json!({"model": null}), "model"),
        (json!({"$schema": 5}), "$schema"),
        (json!({"cleanupPeriodDays": -1}), "cleanupPeriodDays"),
        (json!({"cleanupPeriodDays": 0}), "cleanupPeriodDays"),
        (json!({"cleanupPeriodDays": 1.5}), "cleanupPeriodDays"),
        (json!({"cleanupPeriodDays": 1e20}), "cleanupPeriodDays"),
        (json!({"env": 5}), "env"),
        (json!({"env": []}), "env"),
        (json!({"statusLine": 5}), "statusLine"),
        (json!({"statusLine": {"type": "command"}}), "statusLine.command"),
        (json!({"statusLine": {"type": "x", "command": "x"}}), "statusLine.type"),
        (json!({"statusLine": {"type": "command", "command": "x", "padding": "1"}}), "statusLine.padding"),
        (json!({"enabledPlugins": 5}), "enabledPlugins"),
        (json!({"enabledPlugins": {"hunter2": 5}}), "enabledPlugins"),
        (json!({"enabledPlugins": {"a@b": [5]}}), "enabledPlugins"),
        (json!({"sandbox": 5}), "sandbox"),
        (json!({"sandbox": {"enabled": 5}}), "sandbox.enabled"),
        (json!({"sandbox": {"network": 5}}), "sandbox.network"),
        (json!({"autoMode": {"allow": [5]}}), "autoMode.allow[0]"),
        (json!({"pluginConfigs": {"hunter2": 5}}), "pluginConfigs"),
        (json!({"outputStyle": 5}), "outputStyle"),
        (json!({"includeCoAuthoredBy": "yes"}), "includeCoAuthoredBy"),
        (json!({"attribution": {"commit": 5}}), "attribution"),
        (json!({"fallbackModel": ["x", 5]}), "fallbackModel[1]"),
        (json!({"defaultShell": "fish"}), "defaultShell"),
        (json!({"tui": "x"}), "tui"),
        (json!({"quietHours": {"start": "24:00"}}), "quietHours.start"),
        (json!({"spinnerVerbs": {"verbs": []}}), "spinnerVerbs.mode"),
        (json!({"skillListingBudgetFraction": 0}), "skillListingBudgetFraction"),
        (json!({"feedbackSurveyRate": 2}), "feedbackSurveyRate"),
        (json!({"strictKnownMarketplaces": 5}), "strictKnownMarketplaces"),
        (json!({"hooks": {"PermissionRequest": 5}}), "hooks.PermissionRequest"),
        (json!({"hooks": {"PreToolUse": {}}}), "hooks.PreToolUse"),
        (json!({"hooks": {"PreToolUse": [5]}}), "hooks.PreToolUse[0]"),
        (json!({"hooks": {"PreToolUse": [{"matcher": "x"}]}}), "hooks.PreToolUse[0].hooks"),
        (json!({"hooks": {"PreToolUse": [{"matcher": 5, "hooks": []}]}}), "hooks.PreToolUse[0].matcher"),
    ] {
        assert_eq!(invalid_path(&file).as_deref(), Some(place), "{file}");
    }
}

#[test]
fn an_invalid_hook_is_found_and_named() {
    for (file, part) in [
        (hooked(&json!(5)), ""),
        (hooked(&json!({"command": "x"})), ".type"),
        (hooked(&json!({"type": "explode"})), ".type"),
        (hooked(&json!({"type": "command"})), ".command"),
        (command("command", json!(5)), ".command"),
        (command("args", json!("x")), ".args"),
        (command("args", json!([5])), ".args[0]"),
        (command("timeout", json!(-1)), ".timeout"),
        (command("timeout", json!(0)), ".timeout"),
        (command("timeout", json!("5")), ".timeout"),
        (command("timeout", json!(null)), ".timeout"),
        (command("shell", json!("fish")), ".shell"),
        (command("if", json!(5)), ".if"),
        (command("once", json!("x")), ".once"),
        (command("async", json!("x")), ".async"),
        (command("statusMessage", json!(5)), ".statusMessage"),
        (command("onFailure", json!("explode")), ".onFailure"),
        (hooked(&json!({"type": "prompt"})), ".prompt"),
        (hooked(&json!({"type": "agent", "prompt": 5})), ".prompt"),
        (hooked(&json!({"type": "http", "url": "x"})), ".url"),
        (hooked(&json!({"type": "http", "url": "http://"})), ".url"),
        (hooked(&json!({"type": "http", "url": "http://a b"})), ".url"),
        (hooked(&json!({"type": "http", "url": "http://x:99999"})), ".url"),
        (hooked(&json!({"type": "http", "url": "http://[::1"})), ".url"),
        (hooked(&json!({"type": "http", "url": "1a:x"})), ".url"),
        (hooked(&json!({"type": "http", "url": "http://x", "headers": {"hunter2": 5}})), ".headers"),
        (hooked(&json!({"type": "mcp_tool", "server": "x"})), ".tool"),
    ] {
        let place = format!("hooks.PreToolUse[1].hooks[0]{part}");
        assert_eq!(invalid_path(&file), Some(place), "{file}");
    }
}

#[test]
fn tolerated_values_are_valid() {
    for file in [
        json!({}),
        json!({"unknownKey": 5}),
        json!({"$schema": "https://json.schemastore.org/claude-code-settings.json"}),
        json!({"env": {"A": 5, "B": null}}),
        json!({"permissions": {"allow": [5], "deny": ["Bash("], "ask": [{}], "unknown": 5}}),
        json!({"permissions": {"defaultMode": "manual", "disableAutoMode": "disable"}}),
        json!({"cleanupPeriodDays": 10.0, "desktopSessionCleanupPeriodDays": 0}),
        json!({"statusLine": {"type": "command", "command": "x", "padding": -1.5, "z": 1, "refreshInterval": "x"}}),
        json!({"enabledPlugins": {"a@b": true, "c": ["x"]}}),
        json!({"attribution": true}),
        json!({"attribution": {"commit": "", "z": 5}}),
        json!({"quietHours": {"start": "7:00", "end": "23:59"}}),
        json!({"sandbox": {"enabled": true, "z": 5}}),
        json!({"mcpServers": 5, "theme": 5, "extraKnownMarketplaces": {"a": 5}}),
        json!({"hooks": {"Stop": 5, "PreToolUse": null, "Unknown": 5}}),
        json!({"hooks": {"PostToolUse": [{"hooks": [{"type": "explode"}]}]}}),
        json!({"hooks": {"PreToolUse": [{"hooks": [], "z": 5}]}}),
        command("command", json!("")),
        command("args", json!([])),
        command("timeout", json!(0.5)),
        command("if", json!("Bash(")),
        command("onFailure", json!("block")),
        command("unknown", json!(5)),
        hooked(&json!({"type": "prompt", "prompt": "", "onFailure": "explode"})),
        hooked(&json!({"type": "http", "url": "https://x.y/z", "headers": {"a": "b"}})),
        hooked(&json!({"type": "http", "url": "http:x"})),
        hooked(&json!({"type": "http", "url": "http://[::1]:80/${X}"})),
        hooked(&json!({"type": "http", "url": " HTTP://u:p@${X}:80?a b"})),
        hooked(&json!({"type": "mcp_tool", "server": "x", "tool": "y", "input": {"a": 5}})),
    ] {
        assert_eq!(invalid_path(&file), None, "{file}");
    }
}

#[test]
fn unmeasured_parts_are_not_fully_checked() {
    for (key, value) in [
        ("model", json!("x")),
        ("permissions", json!({"allow": [], "defaultMode": "plan"})),
        ("env", json!({"A": "b"})),
        ("attribution", json!(true)),
        ("sandbox", json!({"enabled": true})),
        ("sshConfigs", json!([])),
        ("mcpServers", json!(5)),
        ("unknownKey", json!("x")),
    ] {
        assert!(is_fully_checked(key, &value), "{key}");
    }
    for (key, value) in [
        ("permissions", json!({"unknown": 5})),
        ("sandbox", json!({"network": {"unknown": 5}})),
        ("pluginConfigs", json!({"a": {"options": {}}})),
        ("attribution", json!({"unknown": 5})),
        ("sshConfigs", json!([{}])),
        ("__proto__", json!({})),
    ] {
        assert!(!is_fully_checked(key, &value), "{key}");
    }
}

#[test]
fn no_key_is_listed_twice() {
    let mut keys: Vec<&str> = KEYS.iter().flat_map(|(_, keys)| keys.split(' ')).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
}
