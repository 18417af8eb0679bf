//! The client's settings files: no tool may weaken their hooks.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{channels, denies, full, settings};
use crate::support::{TestProject, assert_shown, registered_settings};

#[test]
fn a_denied_settings_edit_is_answered_like_this() {
    let project = full();
    let answer = project.hook(&project.write(project.path.join(".claude/settings.json"), "{}"));
    assert_shown!("self-guard-settings-edit", project.whole(&answer));
}

#[test]
fn a_change_that_cannot_be_known_beforehand_is_denied() {
    let project = full();
    for path in settings(&project) {
        let mut cases = channels(&project, &path);
        if path.exists() {
            cases.push((format!("Edit {}", path.display()), project.edit(&path, "not there", "x")));
            let edits = [("{", "{ "), ("not there", "x")];
            cases.push((format!("MultiEdit {}", path.display()), project.multi_edit(&path, &edits)));
        }
        denies(&project, &cases);
    }
}

#[test]
fn an_edit_that_would_fit_twice_is_denied() {
    let project = full();
    project.assert_denied(&[(
        "twice",
        project.edit(project.path.join(".claude/settings.json"), "Start", "Stop"),
    )]);
}

/// Changes of a settings file that would silence a hook.
fn silencing() -> Vec<(&'static str, Value)> {
    let changed = |change: fn(&mut Value)| {
        let mut settings = registered_settings();
        change(&mut settings);
        settings
    };
    vec![
        ("no entry", changed(|s| drop(s.as_object_mut().unwrap().remove("hooks")))),
        ("one entry less", changed(|s| drop(s["hooks"].as_object_mut().unwrap().remove("PreToolUse")))),
        ("another program", changed(|s| s["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = "true".into())),
        ("another matcher", changed(|s| s["hooks"]["PreToolUse"][0]["matcher"] = "Never".into())),
        ("a short timeout", changed(|s| s["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 0.into())),
        ("no list", changed(|s| s["hooks"]["PreToolUse"] = json!({}))),
        ("null hooks", changed(|s| s["hooks"] = Value::Null)),
        ("the switch", changed(|s| s["disableAllHooks"] = true.into())),
        ("the other switch", changed(|s| s["allowManagedHooksOnly"] = true.into())),
        ("a truthy switch", changed(|s| s["disableAllHooks"] = "true".into())),
        ("the child mark", changed(|s| s["env"] = json!({"PROVOST_CHILD": "1"}))),
        ("the path", changed(|s| s["env"] = json!({"PATH": "/tmp"}))),
        ("a prefix", changed(|s| s["env"] = json!({"CLAUDE_CODE_SHELL_PREFIX": "true"}))),
        ("a wrapper", changed(|s| s["processWrapper"] = "true".into())),
        ("another shell", changed(|s| s["defaultShell"] = "powershell".into())),
        ("void permissions", changed(|s| s["permissions"] = 5.into())),
        ("a void mode", changed(|s| s["permissions"] = json!({"defaultMode": "nonsense"}))),
        ("void rules", changed(|s| s["permissions"] = json!({"allow": "x"}))),
        ("a void model", changed(|s| s["model"] = 5.into())),
        ("a void number", changed(|s| s["cleanupPeriodDays"] = (-1).into())),
        ("a void environment", changed(|s| s["env"] = 5.into())),
        ("a void status line", changed(|s| s["statusLine"] = 5.into())),
        ("void plugins", changed(|s| s["enabledPlugins"] = 5.into())),
        ("null", changed(|s| s["outputStyle"] = Value::Null)),
        ("unknown parts", changed(|s| s["sandbox"] = json!({"network": {"novelty": 5}}))),
    ]
}

#[test]
fn no_tool_silences_a_hook_by_writing() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let cases: Vec<_> = silencing()
        .into_iter()
        .flat_map(|(name, after)| [(name, after.to_string()), (name, format!("{after:#}\n"))])
        .map(|(name, after)| (name, project.write(&path, &after)))
        .collect();
    project.assert_denied(&cases);
}

#[test]
fn no_tool_silences_a_hook_by_editing() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let before = registered_settings().to_string();
    let cases: Vec<_> = silencing()
        .into_iter()
        .flat_map(|(name, after)| {
            let after = after.to_string();
            [
                (name, project.edit(&path, &before, &after)),
                (
                    name,
                    project.multi_edit(
                        &path,
                        &[("\"one\"", "\"two\""), ("\"two\"", "\"one\""), (&before, &after)],
                    ),
                ),
            ]
        })
        .collect();
    project.assert_denied(&cases);
}

#[test]
fn a_settings_file_that_the_client_would_drop_is_answered_like_this() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let values = [
        ("permissions", json!({"defaultMode": "hunter2"})),
        ("sandbox", json!({"network": {"novelty": "hunter2"}})),
    ];
    let answers = values.map(|(name, value)| {
        let mut after = registered_settings();
        after[name] = value;
        project.whole(&project.hook(&project.write(&path, &after.to_string())))
    });
    assert_shown!("self-guard-dropped-file", answers.join("\n"));
}

/// Provost's entries in another order and spelling.
pub fn respelled() -> String {
    let entry =
        r#"{ "timeout": 10.0, "args": ["hook"], "command": "/usr/local/bin/provost", "type": "command" }"#;
    format!(
        r#"{{
  "hooks": {{
    "ConfigChange": [{{ "hooks": [{entry}] }}],
    "SessionStart": [{{ "hooks": [{entry}], "matcher": "" }}],
    "PreToolUse": [{{ "hooks": [{entry}], "matcher": ".*" }}]
  }},
  "model": "two"
}}
"#
    )
}

#[test]
fn a_tool_may_respell_a_settings_file_and_change_what_the_client_takes() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let mut cases = vec![("respelled", project.write(&path, &respelled()))];
    for (name, value) in [
        ("permissions", json!({"allow": ["Bash(ls)", "Bash("], "defaultMode": "plan"})),
        ("env", json!({"A": 5})),
        ("mcpServers", json!(5)),
        ("$schema", json!("https://json.schemastore.org/claude-code-settings.json")),
        ("statusLine", json!({"type": "command", "command": "x", "padding": 0})),
        ("cleanupPeriodDays", json!(30.0)),
        ("enabledPlugins", json!({"a@b": true})),
        ("novelty", json!({"a": 5})),
    ] {
        let mut after = registered_settings();
        after[name] = value;
        cases.push((name, project.write(&path, &after.to_string())));
    }
    project.assert_allowed(&cases);
}

#[test]
fn an_unknown_key_is_free_in_a_file_without_provosts_entries() {
    let project = full();
    let path = project.path.join(".claude/settings.local.json");
    project.assert_allowed(&[("new", project.write(&path, r#"{"novelty":5}"#))]);
}

#[test]
fn no_tool_silences_a_hook_in_a_new_settings_file() {
    let project = TestProject::new();
    for file in [".claude/settings.local.json", ".claude/settings.backup.json"] {
        project.assert_denied(&[
            ("switch", project.write(project.path.join(file), r#"{"disableAllHooks":true}"#)),
            ("mark", project.write(project.path.join(file), r#"{"env":{"PROVOST_CHILD":"1"}}"#)),
            ("by an edit", project.edit(project.path.join(file), "", r#"{"disableAllHooks":true}"#)),
        ]);
    }
    let user = project.home.join(".claude/settings.json");
    project.assert_denied(&[("user", project.write(user, r#"{"disableAllHooks":true}"#))]);
}

#[test]
fn no_tool_removes_protecting_settings() {
    let project = TestProject::new();
    let before = json!({"enabledPlugins": {"provost@house": true}, "env": {"PROVOST_X": "1"}, "hooks": {}});
    let path = project.write_file(".claude/settings.local.json", &before.to_string());
    project.assert_denied(&[
        ("plugin off", project.edit(&path, "\"provost@house\":true", "\"provost@house\":false")),
        ("plugin gone", project.edit(&path, "\"provost@house\":true", "")),
        ("plugins gone", project.write(&path, r#"{"env":{"PROVOST_X":"1"},"hooks":{}}"#)),
        ("variable", project.edit(&path, "\"PROVOST_X\":\"1\"", "\"PROVOST_X\":\"2\"")),
    ]);
}

#[test]
fn no_tool_breaks_a_settings_file() {
    let project = full();
    let path = project.path.join(".claude/settings.json");
    let whole = registered_settings().to_string();
    project.assert_denied(&[
        ("cut", project.write(&path, &whole[..whole.len() - 1])),
        ("empty", project.write(&path, "")),
        ("comment", project.write(&path, &format!("// mine\n{whole}"))),
        ("trailing comma", project.edit(&path, "\"one\"", "\"one\",,")),
        ("a list", project.write(&path, "[]")),
    ]);
}

#[test]
fn a_malformed_settings_file_is_left_to_the_user() {
    let project = TestProject::unregistered();
    let path = project.write_file(".claude/settings.json", "{ not json");
    project.assert_denied(&[
        ("mended", project.write(&path, "{}")),
        ("edited", project.edit(&path, "not", "\"x\":")),
    ]);
}

#[test]
fn no_tool_deletes_or_moves_registered_hooks() {
    let project = full();
    symlink(".claude", project.path.join("link")).unwrap();
    project.assert_lines_denied(&[
        "rm .claude/settings.json",
        "rm -rf .claude",
        "rm -rf .claude/",
        "rm -rf ./sub/../.claude",
        "rm -r link/settings.json",
        "mv .claude elsewhere",
        "mv .claude/settings.json /tmp/",
        "rm ~/.claude/settings.json",
        "rm -rf ~/.claude",
        "cd .claude && rm settings.json",
        "mv ../project ../other",
    ]);
}

#[test]
fn a_settings_file_of_5_megabytes_has_a_defined_answer() {
    let project = TestProject::new();
    let mut large = registered_settings();
    large["notes"] = "x".repeat(5_000_000).into();
    let path = project.write_file(".claude/settings.json", &large.to_string());
    for event in [project.edit(&path, "\"one\"", "\"two\""), project.bash("rm .claude/settings.json")] {
        assert!(project.hook(&event).expect_closed_failure().contains("larger than"));
    }
    project.hook(&project.bash("echo x > .claude/settings.json")).check_form().unwrap();
}

#[test]
fn a_session_in_a_subdirectory_is_guarded_by_its_project() {
    let project = full();
    let below = project.path.join("src");
    fs::create_dir(&below).unwrap();
    let project = project.without_variable("CLAUDE_PROJECT_DIR");
    let mut event = project.bash("rm -rf ../.claude");
    event["cwd"] = json!(below);
    project.assert_denied(&[("below", event)]);
}
