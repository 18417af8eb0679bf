//! Claude Code's settings files: which they are, and what in them decides whether Provost runs.
//!
//! Five things in a settings file can silence a hook: its entry under `hooks`, the switches that
//! turn all hooks off, a plugin that is no longer enabled, what steers how hooks are started (some
//! keys, and variables in `env`), and any value for which the client drops the whole file (see
//! `shape.rs`). The rest of the file is nobody's business here.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::shape;
use crate::clients::Unreadable;
use crate::clients::json::Fields;
use crate::clients::switches::{Switches, distinct, fingerprint};
use crate::workspace::{CHILD_MARK, Places, is_provost};

pub(super) const HOW_TO_EDIT: &str = "change other parts of the file with the Edit tool and leave `hooks`, its switches and plugins as they are";

/// Switches that keep hooks from running when they are `true`.
pub(super) const OFF_SWITCHES: &[&str] = &[ALL_OFF, ONLY_MANAGED];
pub(super) const ALL_OFF: &str = "disableAllHooks";
/// Of all files, the client looks for it in the administrator's; the others are held to it all the same.
pub(super) const ONLY_MANAGED: &str = "allowManagedHooksOnly";

/// Keys that decide how the commands of hooks are started.
const STARTERS: &[&str] = &["processWrapper", "defaultShell"];

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
        return Err(format!("`{place}` is of a form for which the client drops the whole file"));
    }
    let mut switches = Switches::default();
    let hooks = file.get("hooks");
    for (event, groups) in hooks.map(object).into_iter().flatten() {
        switches.hooks.insert(format!("hooks.{event}"), fingerprint(&plain(groups)));
        for (matcher, hook) in entries(groups).filter(|(_, hook)| calls_provost(hook)) {
            let name = format!("the {event} entry for `{matcher}` that calls Provost");
            switches.kept.insert(distinct(&name, hook), fingerprint(hook));
        }
    }
    if let Some(odd) = hooks.filter(|hooks| !hooks.is_object()) {
        switches.hooks.insert("hooks".into(), fingerprint(odd));
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

/// The groups of one event, without matchers that are no limit.
fn plain(groups: &Value) -> Value {
    let mut groups = groups.clone();
    for group in groups.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if group.get("matcher").and_then(Value::as_str).is_some_and(matches_all) {
            group.remove("matcher");
        }
    }
    groups
}

/// Whether a hook entry runs `provost hook`, in exec or shell form, directly or by a wrapper.
pub(super) fn calls_provost(hook: &Value) -> bool {
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
        is_provost(program) && pair[1] == "hook"
    })
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
            "/p/.claude/settings.json.before-provost",
            "/p/.claude/settings.local.json.before-provost-2",
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

    fn altered(before: Option<&str>, after: Option<&str>) -> Vec<String> {
        read(before).unwrap().altered_by(&read(after).unwrap())
    }

    #[test]
    fn other_parts_of_the_file_may_change() {
        let after = HOOKED.replace(
            r#""model":"x""#,
            r#""model":"y","permissions":{"allow":["Bash(ls)"]},"env":{"FOO":"1"},"enabledPlugins":{"a@b":true}"#,
        );
        assert_eq!(altered(Some(HOOKED), Some(&after)), [""; 0]);
        assert_eq!(altered(None, Some(r#"{"model":"y","disableAllHooks":false}"#)), [""; 0]);
        assert_eq!(altered(Some("{}"), None), [""; 0]);
    }

    #[test]
    fn what_silences_a_hook_is_found() {
        let cases = [
            (Some(HOOKED), Some("{}"), "`hooks.PreToolUse` would change"),
            (Some(HOOKED), None, "`hooks.PreToolUse` would change"),
            (None, Some(r#"{"disableAllHooks":true}"#), "`disableAllHooks` would change"),
            (Some(r#"{"disableAllHooks":true}"#), None, "`disableAllHooks` would change"),
            (None, Some(r#"{"allowManagedHooksOnly":true}"#), "`allowManagedHooksOnly` would change"),
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
            let found = altered(before, after);
            assert!(found.len() == 1 && found[0].contains(expected), "{before:?} -> {after:?}: {found:?}");
        }
        let marked = altered(None, Some(r#"{"env":{"PROVOST_CHILD":"1"}}"#));
        assert!(marked[0].contains("`env.PROVOST_CHILD` would change"), "{marked:?}");
    }

    #[test]
    fn a_changed_file_may_add_hooks_but_not_lose_provosts() {
        let before = read(Some(HOOKED)).unwrap();
        let more = HOOKED
            .replace(r#""hooks":{"#, r#""hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}],"#);
        assert_eq!(before.silenced_by(&read(Some(&more)).unwrap()), [""; 0]);
        let altered = HOOKED.replace(r#"["hook"]"#, r#"["hook","--pack","none"]"#);
        assert_eq!(
            before.silenced_by(&read(Some(&altered)).unwrap()),
            ["the PreToolUse entry for `*` that calls Provost would be gone"]
        );
        let remembered = Switches::from_json(&before.to_json());
        assert_eq!(remembered.silenced_by(&before), [""; 0]);
        assert_eq!(remembered.silenced_by(&read(None).unwrap()).len(), 1);
    }

    #[test]
    fn a_file_that_the_client_would_drop_is_told_without_its_content() {
        let file = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"http","headers":{"X":"hunter2"},"timeout":"5"}]}]}}"#;
        let why = read(Some(file)).unwrap_err();
        assert!(why.contains("`hooks.PreToolUse[0].hooks[0].url`") && !why.contains("hunter2"), "{why}");
        assert!(read(Some("{")).is_err());
    }

    #[test]
    fn a_key_that_nobody_knows_is_closed_only_beside_provosts_entries() {
        let with = |text: &str| HOOKED.replace(r#""model":"x""#, text);
        let doubt = |key: &str| {
            format!("whether the client would still read the file with `{key}` changed cannot be told")
        };
        for (before, after, key) in [
            (r#""model":"x""#, r#""novelty":5"#, "novelty"),
            (r#""novelty":5"#, r#""novelty":6"#, "novelty"),
            (r#""model":"x""#, r#""sandbox":{"network":{"x":5}}"#, "sandbox"),
        ] {
            assert_eq!(altered(Some(&with(before)), Some(&with(after))), [doubt(key)]);
            let (before, after) = (format!("{{{before}}}"), format!("{{{after}}}"));
            assert_eq!(altered(Some(&before), Some(&after)), [""; 0]);
        }
        for (before, after) in [
            (r#""novelty":5"#, r#""novelty":5.0,"model":"y""#),
            (r#""novelty":5"#, r#""model":"x""#),
            (r#""model":"x""#, r#""sandbox":{"enabled":true}"#),
        ] {
            assert_eq!(altered(Some(&with(before)), Some(&with(after))), [""; 0], "{before} -> {after}");
        }
        let (before, after) = (with(r#""model":"x""#), with(r#""novelty":5"#));
        assert_eq!(read(Some(&before)).unwrap().silenced_by(&read(Some(&after)).unwrap()), [""; 0]);
    }

    #[test]
    fn another_spelling_of_the_same_file_is_no_change() {
        let before = r#"{"hooks":{"Stop":[],"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"provost","args":["hook"],"timeout":10}]}]},"novelty":{"a":1,"b":2}}"#;
        for matcher in [r#""matcher":"*","#, r#""matcher":"","#, r#""matcher":".*","#, ""] {
            let after = format!(
                r#"{{ "novelty": {{"b": 2.0, "a": 1}}, "hooks": {{ "PreToolUse": [{{ {matcher}
                "hooks": [{{"timeout": 10.0, "args": ["hook"], "command": "provost", "type": "command"}}] }}], "Stop": [] }} }}"#
            );
            assert_eq!(altered(Some(before), Some(&after)), [""; 0], "{after}");
        }
        let other = before.replace(r#""*""#, r#""Bash""#);
        assert_eq!(altered(Some(before), Some(&other)), ["`hooks.PreToolUse` would change"]);
        assert_eq!(
            altered(Some(before), Some(&before.replace("10", "11"))),
            ["`hooks.PreToolUse` would change"]
        );
    }

    #[test]
    fn what_starts_hooks_may_not_change() {
        for (text, name) in [
            (r#"{"processWrapper":"true"}"#, "`processWrapper`"),
            (r#"{"defaultShell":"powershell"}"#, "`defaultShell`"),
            (r#"{"env":{"CLAUDE_CODE_SHELL_PREFIX":"true"}}"#, "`env.CLAUDE_CODE_SHELL_PREFIX`"),
        ] {
            assert_eq!(altered(None, Some(text)), [format!("{name} would change")]);
            assert_eq!(altered(Some(text), None), [format!("{name} would change")]);
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
    fn odd_files_are_read_as_far_as_they_go() {
        for odd in [
            "",
            "{}",
            r#"{"hooks":[]}"#,
            r#"{"hooks":{"Stop":5}}"#,
            r#"{"hooks":{"Stop":[5,{"hooks":{}},{"hooks":[null]}]}}"#,
        ] {
            assert!(read(Some(odd)).unwrap().kept.is_empty(), "{odd}");
        }
    }
}
