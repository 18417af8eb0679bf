//! A settings file that changes during a session does not silence Provost in that session.
//!
//! The user may edit settings at any time, and the file stays edited; only the running session keeps its
//! configuration. So each case is a session start, a changed file, and the client's report of it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{TestProject, assert_shown, registered_settings};

const SESSION: &str = "one";

/// A session that has started with Provost in the project's settings.
fn started() -> (TestProject, PathBuf) {
    let project = TestProject::new();
    assert!(project.start_session(SESSION).is_silent());
    let settings = project.path.join(".claude/settings.json");
    (project, settings)
}

fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut settings = registered_settings();
    change(&mut settings);
    settings.to_string()
}

#[test]
fn a_lost_entry_is_blocked_like_this() {
    let (project, settings) = started();
    fs::write(&settings, "{}").unwrap();
    let answer = project.report_settings_change(SESSION, &settings);
    answer.expect_denial();
    assert_shown!("self-guard-lost-entry", project.whole(&answer));
}

#[test]
fn an_altered_entry_is_blocked() {
    let hook = |settings: &mut Value, change: fn(&mut Value)| {
        change(&mut settings["hooks"]["PreToolUse"][0]["hooks"][0]);
    };
    let cases = [
        ("program", changed(|s| hook(s, |h| h["command"] = "/tmp/provost".into()))),
        ("arguments", changed(|s| hook(s, |h| h["args"] = json!(["hook", "--pack", "none"])))),
        ("timeout", changed(|s| hook(s, |h| h["timeout"] = 1.into()))),
        ("asynchronous", changed(|s| hook(s, |h| h["async"] = true.into()))),
        ("matcher", changed(|s| s["hooks"]["PreToolUse"][0]["matcher"] = "Never".into())),
        ("event", changed(|s| drop(s["hooks"].as_object_mut().unwrap().remove("ConfigChange")))),
        ("shape", changed(|s| s["hooks"] = json!([]))),
    ];
    for (name, text) in cases {
        let (project, settings) = started();
        fs::write(&settings, text).unwrap();
        assert!(project.report_settings_change(SESSION, &settings).find_denial().is_ok(), "{name}");
    }
}

#[test]
fn a_switch_that_turns_all_hooks_off_is_blocked_in_any_file() {
    for switch in ["disableAllHooks", "allowManagedHooksOnly"] {
        let (project, settings) = started();
        let files = [
            settings,
            project.path.join(".claude/settings.local.json"),
            project.write_home_file(".claude/settings.json", ""),
        ];
        for file in files {
            let before = fs::read_to_string(&file).unwrap_or_default();
            let mut after: Value = serde_json::from_str(&before).unwrap_or_else(|_| json!({}));
            after[switch] = true.into();
            fs::write(&file, after.to_string()).unwrap();
            let reason = project.report_settings_change(SESSION, &file).expect_denial();
            assert!(reason.contains(&format!("`{switch}` would change")), "{reason}");
            fs::write(&file, before).unwrap();
        }
    }
}

#[test]
fn variables_that_control_provost_are_blocked() {
    for name in [
        "PATH",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "LD_PRELOAD",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CODE_SHELL_PREFIX",
    ] {
        let (project, settings) = started();
        fs::write(&settings, changed(|s| s["env"] = json!({name: "/tmp/evil"}))).unwrap();
        let reason = project.report_settings_change(SESSION, &settings).expect_denial();
        assert!(reason.contains(&format!("`env.{name}` would change")), "{reason}");
    }
}

#[test]
fn a_plugin_that_is_no_longer_enabled_is_blocked() {
    let project = TestProject::new();
    let settings =
        project.write_home_file(".claude/settings.json", r#"{"enabledPlugins":{"rodin@provost":true}}"#);
    assert!(project.start_session(SESSION).is_silent());
    fs::write(&settings, r#"{"enabledPlugins":{"rodin@provost":false}}"#).unwrap();
    let reason = project.report_settings_change(SESSION, &settings).expect_denial();
    assert!(reason.contains("plugin `rodin@provost` would be gone"), "{reason}");
}

#[test]
fn another_config_directory_of_the_client_counts() {
    let project = TestProject::new();
    let directory = project.home.join("elsewhere");
    let project = project.with_variable("CLAUDE_CONFIG_DIR", &directory);
    assert!(project.start_session(SESSION).is_silent());
    let settings = project.write_home_file("elsewhere/settings.json", r#"{"disableAllHooks":true}"#);
    project.report_settings_change(SESSION, &settings).expect_denial();
    project.assert_denied(&[("Write", project.write(&settings, r#"{"disableAllHooks":false,"hooks":{}}"#))]);
}

#[test]
fn a_new_repository_below_does_not_hide_the_recorded_hooks() {
    let (project, settings) = started();
    fs::create_dir_all(project.path.join("sub/.git")).unwrap();
    fs::write(&settings, "{}").unwrap();
    let mut event = project.recorded_event("ConfigChange");
    event["session_id"] = SESSION.into();
    event["cwd"] = json!(project.path.join("sub"));
    project.with_variable("CLAUDE_PROJECT_DIR", "").hook(&event).expect_denial();
}

#[test]
fn no_content_of_a_settings_file_is_shown_or_recorded() {
    let (project, settings) = started();
    let entry = json!({"type": "http", "headers": {"X-Auth": "hunter2"}, "timeout": "5"});
    let group = json!({"matcher": "Never", "hooks": [entry]});
    fs::write(&settings, changed(|s| s["hooks"]["PreToolUse"].as_array_mut().unwrap().push(group))).unwrap();
    let answer = project.report_settings_change(SESSION, &settings);
    assert_shown!("self-guard-invalid-entry", project.whole(&answer));
    assert!(!project.read_journal_text().contains("hunter2"));
}

#[test]
fn a_variable_that_marks_a_child_is_blocked() {
    let (project, settings) = started();
    fs::write(&settings, changed(|s| s["env"] = json!({"PROVOST_CHILD": "1"}))).unwrap();
    project.report_settings_change(SESSION, &settings).expect_denial();
}

#[test]
fn an_entry_for_which_the_client_would_drop_the_file_is_blocked() {
    for broken in [
        json!({"type": "explode", "command": "x"}),
        json!({"type": "command", "command": "x", "timeout": "5"}),
        json!({"type": "command", "command": "x", "onFailure": "explode"}),
    ] {
        let (project, settings) = started();
        let group = json!({"matcher": "Never", "hooks": [broken]});
        fs::write(&settings, changed(|s| s["hooks"]["PreToolUse"].as_array_mut().unwrap().push(group)))
            .unwrap();
        assert!(project.report_settings_change(SESSION, &settings).find_denial().is_ok(), "{broken}");
    }
}

#[test]
fn a_value_for_which_the_client_would_drop_the_file_is_blocked() {
    let values = [
        ("permissions", json!(5)),
        ("permissions", json!({"defaultMode": "nonsense"})),
        ("permissions", json!({"allow": "x"})),
        ("model", json!(5)),
        ("model", json!(null)),
        ("cleanupPeriodDays", json!(-1)),
        ("env", json!(5)),
        ("statusLine", json!(5)),
        ("enabledPlugins", json!(5)),
        ("sandbox", json!(5)),
        ("includeCoAuthoredBy", json!("yes")),
    ];
    let reasons = values.map(|(name, value)| {
        let (project, settings) = started();
        fs::write(&settings, changed(|s| s[name] = value)).unwrap();
        project.shorten_paths(&project.report_settings_change(SESSION, &settings).expect_denial())
    });
    assert_shown!("self-guard-invalid-values", reasons.join("\n\n"));
}

#[test]
fn a_change_of_what_starts_hooks_is_blocked() {
    for (name, value) in [("processWrapper", "true"), ("defaultShell", "powershell")] {
        let (project, settings) = started();
        fs::write(&settings, changed(|s| s[name] = value.into())).unwrap();
        let reason = project.report_settings_change(SESSION, &settings).expect_denial();
        assert!(reason.contains(&format!("`{name}` would change")), "{reason}");
    }
}

#[test]
fn another_spelling_of_the_same_entries_passes() {
    let (project, settings) = started();
    fs::write(&settings, super::settings_files::respelled()).unwrap();
    assert!(project.report_settings_change(SESSION, &settings).is_silent());
}

#[test]
fn invalid_values_that_the_client_accepts_pass() {
    for (name, value) in [
        ("novelty", json!(5)),
        ("mcpServers", json!(5)),
        ("env", json!({"A": 5})),
        ("permissions", json!({"allow": [5, "Bash("]})),
    ] {
        let (project, settings) = started();
        fs::write(&settings, changed(|s| s[name] = value)).unwrap();
        assert!(project.report_settings_change(SESSION, &settings).is_silent(), "{name}");
    }
}

#[test]
fn an_unrelated_change_passes() {
    let cases = [
        changed(|s| s["model"] = "two".into()),
        changed(|s| s["permissions"] = json!({"allow": ["Bash(ls)"]})),
        changed(|s| s["hooks"]["Stop"] = json!([{"hooks": [{"type": "command", "command": "true"}]}])),
        changed(|s| {
            let more = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]});
            s["hooks"]["PreToolUse"].as_array_mut().unwrap().insert(0, more);
        }),
        changed(|s| s["disableAllHooks"] = false.into()),
        format!("{:#}\n", registered_settings()),
    ];
    let (project, settings) = started();
    for text in cases {
        fs::write(&settings, &text).unwrap();
        let answer = project.report_settings_change(SESSION, &settings);
        assert!(answer.is_silent(), "{text}: {answer:?}");
    }
}

#[test]
fn a_file_that_can_no_longer_be_read_is_blocked() {
    for broken in ["{", "[]", "not json", "{\"hooks\":"] {
        let (project, settings) = started();
        fs::write(&settings, broken).unwrap();
        let reason = project.report_settings_change(SESSION, &settings).expect_denial();
        assert!(reason.contains("cannot be read as settings"), "{reason}");
    }
}

#[test]
fn a_file_without_provosts_entries_may_be_broken() {
    let (project, _) = started();
    let local = project.write_file(".claude/settings.local.json", "{");
    assert!(project.report_settings_change(SESSION, local).is_silent());
}

#[test]
fn a_removed_file_is_blocked() {
    let (project, settings) = started();
    fs::remove_file(&settings).unwrap();
    project.report_settings_change(SESSION, &settings).expect_denial();
}

#[test]
fn a_file_of_5_megabytes_is_blocked() {
    let (project, settings) = started();
    fs::write(&settings, changed(|s| s["notes"] = "x".repeat(5_000_000).into())).unwrap();
    project.report_settings_change(SESSION, &settings).expect_denial();
}

#[test]
fn an_unknown_file_passes() {
    let (project, _) = started();
    assert!(project.report_settings_change(SESSION, "/nowhere/settings.json").is_silent());
    assert!(project.report_settings_change(SESSION, project.write_file("other.json", "{}")).is_silent());
}

#[test]
fn without_a_file_name_every_settings_file_counts() {
    let (project, settings) = started();
    let mut event = project.recorded_event("ConfigChange");
    event["session_id"] = SESSION.into();
    event.as_object_mut().unwrap().remove("file_path");
    assert!(project.hook(&event).is_silent());
    fs::write(&settings, "{}").unwrap();
    project.hook(&event).expect_denial();
    fs::write(&settings, registered_settings().to_string()).unwrap();
    project.write_home_file(".claude/settings.json", r#"{"disableAllHooks":true}"#);
    project.hook(&event).expect_denial();
}

#[test]
fn a_broken_file_does_not_hide_the_ones_behind_it() {
    let (project, _) = started();
    project.write_file(".claude/settings.local.json", "{");
    project.write_home_file(".claude/settings.json", r#"{"disableAllHooks":true}"#);
    let mut event = project.recorded_event("ConfigChange");
    event["session_id"] = SESSION.into();
    event.as_object_mut().unwrap().remove("file_path");
    project.hook(&event).expect_denial();
}

#[test]
fn entries_in_the_users_settings_are_recorded_too() {
    let project = TestProject::unregistered();
    let user = project.write_home_file(".claude/settings.json", &registered_settings().to_string());
    assert!(project.start_session(SESSION).is_silent());
    fs::write(&user, "{}").unwrap();
    project.report_settings_change(SESSION, &user).expect_denial();
}

#[test]
fn a_session_without_a_record_keeps_at_least_one_entry() {
    let project = TestProject::new();
    let settings = project.path.join(".claude/settings.json");
    fs::write(&settings, changed(|s| drop(s["hooks"].as_object_mut().unwrap().remove("PreToolUse"))))
        .unwrap();
    assert!(
        project.report_settings_change(SESSION, &settings).is_silent(),
        "nothing is known of what was lost"
    );
    fs::write(&settings, "{}").unwrap();
    let reason = project.report_settings_change(SESSION, &settings).expect_denial();
    assert!(reason.contains("no settings file would call Provost any more"), "{reason}");
    fs::write(&settings, "{").unwrap();
    project.report_settings_change(SESSION, &settings).expect_denial();
    fs::write(&settings, changed(|s| s["disableAllHooks"] = true.into())).unwrap();
    project.report_settings_change(SESSION, &settings).expect_denial();
}

#[test]
fn a_session_that_a_plugin_registered_may_have_no_entry() {
    let project = TestProject::unregistered().with_variable("CLAUDE_PLUGIN_ROOT", "/plugin");
    let settings = project.write_file(".claude/settings.json", "{}");
    assert!(project.report_settings_change(SESSION, settings).is_silent());
}

#[test]
fn the_record_of_another_session_is_not_used() {
    let (project, settings) = started();
    let without = changed(|s| drop(s["hooks"].as_object_mut().unwrap().remove("PreToolUse")));
    fs::write(&settings, without).unwrap();
    assert!(project.report_settings_change("two", &settings).is_silent());
    project.report_settings_change(SESSION, &settings).expect_denial();
    assert!(project.start_session("three").is_silent());
    assert!(
        project.report_settings_change("three", &settings).is_silent(),
        "the next session starts with the file as it is"
    );
}

#[test]
fn a_compaction_does_not_renew_the_record() {
    let (project, settings) = started();
    fs::write(&settings, changed(|s| drop(s["hooks"].as_object_mut().unwrap().remove("PreToolUse"))))
        .unwrap();
    for event in ["SessionStart.compact", "SessionStart.clear"] {
        let mut event = project.recorded_event(event);
        event["session_id"] = SESSION.into();
        assert!(project.hook(&event).is_silent());
        project.report_settings_change(SESSION, &settings).expect_denial();
    }
}

#[test]
fn a_cleared_conversation_with_a_new_id_has_its_own_record() {
    let (project, settings) = started();
    let mut event = project.recorded_event("SessionStart.clear");
    event["session_id"] = "another".into();
    assert!(project.hook(&event).is_silent());
    fs::write(&settings, changed(|s| drop(s["hooks"].as_object_mut().unwrap().remove("PreToolUse"))))
        .unwrap();
    project.report_settings_change("another", &settings).expect_denial();
    // Files that were emptied before are not recorded.
    fs::write(&settings, "{}").unwrap();
    event["session_id"] = "third".into();
    assert!(project.hook(&event).is_silent());
    project.report_settings_change("third", &settings).expect_denial();
}

#[test]
fn a_hostile_session_id_stays_inside_the_state_directory() {
    let project = TestProject::new();
    let settings = project.path.join(".claude/settings.json");
    for session in ["../../../../escape", "/absolute", "", "a\u{0}b", &"x".repeat(10_000)] {
        assert!(project.start_session(session).is_silent());
        fs::write(&settings, "{}").unwrap();
        project.report_settings_change(session, &settings).expect_denial();
        fs::write(&settings, registered_settings().to_string()).unwrap();
    }
    assert!(!project.home.join("escape.json").exists());
}

#[test]
fn the_users_own_edit_stays() {
    let (project, settings) = started();
    fs::write(&settings, "{}").unwrap();
    project.report_settings_change(SESSION, &settings).expect_denial();
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{}");
}

#[test]
fn a_file_that_was_unreadable_at_the_start_may_not_change() {
    let project = TestProject::new();
    let settings = project.path.join(".claude/settings.json");
    fs::write(&settings, changed(|s| s["cleanupPeriodDays"] = "a form of tomorrow".into())).unwrap();
    assert!(project.start_session(SESSION).is_silent());
    fs::write(&settings, "{}").unwrap();
    let reason = project.report_settings_change(SESSION, &settings).expect_denial();
    assert!(reason.contains("could not be read when the session started"), "{reason}");
}
