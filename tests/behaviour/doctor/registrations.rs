//! Faults of settings files, plugins and matchers.

use std::fs;
use std::os::unix::fs::symlink;

use provost::clients::{self, InstallRequest, ProgramName};
use serde_json::{Value, json};

use super::{Patient, entry, hooks};
use crate::support::assert_shown;

const PACKS: &[&str] = &["self", "plan-gate", "planner", "review-loop", "phases"];

#[test]
fn a_healthy_project_has_no_findings() {
    Patient::healthy().doctor(&[]).is_healthy();
    Patient::healthy().doctor(&["--all"]).is_healthy();
}

#[test]
fn a_healthy_project_with_all_packs_has_no_findings() {
    let patient = Patient::with_packs(PACKS);
    patient.project.write_file(".isdlc/state.json", "{}");
    patient.project.write_file(".taskie/plans/one/plan.md", "# One");
    patient.project.write_file("provost.toml", "[plan_gate]\nenabled = true\nassess = \"exit\"\n");
    patient.project.write_file(".claude/agents/tdd-planner.md", "---\nname: tdd-planner\n---\n");
    let diagnosis = patient.doctor(&[]);
    diagnosis.is_healthy();
    let runs = diagnosis.report["runs"].as_array().unwrap();
    let denied: Vec<&str> = runs
        .iter()
        .filter(|run| run["answer"] == "denied")
        .map(|run| run["event"].as_str().unwrap())
        .collect();
    assert_eq!(denied, ["Bash: a write to provost.toml", "a plan that nobody assessed"]);
    assert_eq!(runs.len(), 10, "{runs:#?}");
}

/// Entries that a team shares look for the program where the doctor looks, too.
#[test]
fn shared_entries_are_tested_like_others() {
    let patient = Patient::healthy();
    let packs = &["self", "plan-gate"];
    let entries = (clients::DEFAULT_CLIENT.installation().list_needed_entries)(
        &provost::registry::list_guards_in(packs),
        false,
    );
    let wanted = InstallRequest { program: ProgramName::Shared, packs, entries: &entries };
    let text = (clients::DEFAULT_CLIENT.installation().install_entries)(None, &wanted).unwrap().text.unwrap();
    patient.project.write_file(".claude/settings.json", &text);
    let found = patient.finds("program-missing");
    assert!(found["why"].as_str().unwrap().contains("there is no program `provost` on the PATH"), "{found}");
    let bin = patient.project.home.join(".cargo/bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(crate::support::program(), bin.join("provost")).unwrap();
    let diagnosis = patient.doctor(&[]);
    diagnosis.is_healthy();
    let runs = diagnosis.report["runs"].as_array().unwrap();
    assert_eq!(runs.iter().filter(|run| run["answer"] == "denied").count(), 2, "{runs:#?}");
}

#[test]
fn no_entry_calls_provost() {
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["hooks"] = json!({}));
    assert!(patient.finds("no-hooks")["fix"].as_str().unwrap().contains("provost init"));
    fs::remove_dir_all(patient.project.path.join(".claude")).unwrap();
    patient.finds("no-hooks");
}

/// An entry of another kind has no command for the client, whatever is written there.
#[test]
fn only_commands_call_provost() {
    let mut patient = Patient::healthy();
    patient.change_entries(|entry| (entry["type"], entry["prompt"]) = ("prompt".into(), "x".into()));
    patient.finds("no-hooks");
}

/// Below a package, the package is looked at, as `init` does; and a client would have to be started there.
#[test]
fn a_client_that_is_started_below_reads_no_settings_of_the_project() {
    let patient = Patient::healthy();
    let package = patient.project.path.join("packages/one");
    fs::create_dir_all(package.join("src/deep")).unwrap();
    let findings = |below: &std::path::Path| {
        let output = patient.command(&["--json"]).current_dir(below).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["findings"].as_array().unwrap().clone()
    };
    let found = findings(&package.join("src/deep"));
    assert_eq!((found.len(), &found[0]["id"]), (1, &json!("started-below")), "{found:#?}");
    fs::rename(patient.project.path.join(".claude"), package.join(".claude")).unwrap();
    let found = findings(&package.join("src/deep"));
    assert_eq!((found.len(), &found[0]["id"]), (1, &json!("started-below")), "{found:#?}");
    assert!(found[0]["fix"].as_str().unwrap().contains("packages/one,"), "{found:#?}");
    assert!(findings(&package).is_empty());
    fs::create_dir_all(patient.project.home.join(".claude")).unwrap();
    fs::rename(package.join(".claude/settings.json"), patient.project.home.join(".claude/settings.json"))
        .unwrap();
    assert!(findings(&package.join("src/deep")).is_empty());
}

#[test]
fn all_hooks_are_switched_off_in_any_scope() {
    let patient = Patient::healthy();
    let off = r#"{"disableAllHooks": true}"#;
    for file in [".claude/settings.local.json", "../.claude/settings.json"] {
        let path = patient.project.write_file(file, off);
        let found = patient.finds("hooks-off");
        let name = if file.starts_with("..") { "~/.claude/settings.json" } else { file };
        assert!(found["why"].as_str().unwrap().contains(name), "{found}");
        fs::remove_file(path).unwrap();
    }
    patient.project.write_home_file("../managed/managed-settings.json", off);
    patient.finds("hooks-off");
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["disableAllHooks"] = true.into()).finds("hooks-off");
}

#[test]
fn only_hooks_of_an_administrator_are_run() {
    let patient = Patient::healthy();
    let mut managed = json!({"allowManagedHooksOnly": true});
    patient.project.write_home_file("../managed/managed-settings.json", &managed.to_string());
    assert!(patient.finds("managed-only")["fix"].as_str().unwrap().contains("administrator"));
    managed["hooks"] = hooks(&["self"], &["hook"]);
    patient.project.write_home_file("../managed/managed-settings.json", &managed.to_string());
    patient.doctor(&[]).is_healthy();
    // The client takes it from no other file.
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["allowManagedHooksOnly"] = true.into()).doctor(&[]).is_healthy();
}

#[test]
fn one_wrong_value_voids_the_whole_file() {
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = "10".into());
    let diagnosis = patient.doctor(&[]);
    let found = diagnosis.has("file-void");
    assert!(found["why"].as_str().unwrap().contains("`hooks.PreToolUse[0].hooks[0].timeout`"), "{found}");
    assert_eq!(found["severity"], "error");
    diagnosis.has("no-hooks");
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["permissions"] = 5.into()).finds("file-void");
}

#[test]
fn a_settings_file_is_not_json() {
    for broken in [&b"{\"hooks\": {"[..], b"[]", b"\xff\xfe{}", b"{\"a\": 1,}"] {
        let patient = Patient::healthy();
        fs::write(patient.project.path.join(".claude/settings.json"), broken).unwrap();
        patient.finds("not-json");
    }
}

#[test]
fn the_same_guards_are_registered_twice() {
    let patient = Patient::with_packs(PACKS);
    patient.project.write_file(".isdlc/state.json", "{}");
    let other = json!({"hooks": hooks(&["phases"], &["hook", "--pack", "phases"])});
    patient.project.write_file(".claude/settings.local.json", &other.to_string());
    let found = patient.finds("twice");
    assert_shown!("doctor-twice", found["message"].as_str().unwrap());
    // Of equal entries, the client runs one.
    patient.project.write_file(".claude/settings.local.json", &patient.settings.to_string());
    assert!(!patient.doctor(&[]).ids().contains(&"twice"));
}

#[test]
fn a_matcher_lets_nothing_or_too_little_through() {
    for matcher in ["bash", "Write", "Bash(touch *)", "Bas", "^(?!Bash$)"] {
        let mut patient = Patient::healthy();
        patient.change(|settings| settings["hooks"]["PreToolUse"][0]["matcher"] = matcher.into());
        let found = patient.finds("matcher");
        assert_eq!(found["severity"], "error", "{matcher}");
        assert!(found["what"].as_str().unwrap().contains("`Bash`"), "{found}");
    }
    let mut patient = Patient::healthy();
    patient.change(|settings| {
        settings["hooks"]["PreToolUse"][0]["matcher"] = "Bash|Write|Edit|NotebookEdit".into();
    });
    assert_eq!(patient.finds("matcher")["severity"], "warning");
    let mut patient = Patient::healthy();
    patient.add("PreToolUse", json!({"matcher": "bash", "hooks": [entry(&["hook", "--pack", "self"])]}));
    assert_eq!(patient.finds("matcher")["severity"], "warning");
}

#[test]
fn a_pack_in_use_needs_its_events() {
    let patient = Patient::healthy();
    patient.project.write_file(".taskie/plans/one/plan.md", "# One");
    assert!(patient.finds("event-missing")["why"].as_str().unwrap().contains("`Stop`"));
    let patient = Patient::healthy();
    patient.project.write_file(".isdlc/state.json", "{}");
    assert!(patient.finds("event-missing")["why"].as_str().unwrap().contains("`PostToolUse`"));
    let mut patient = Patient::healthy();
    patient.change(|settings| {
        settings["hooks"].as_object_mut().unwrap().remove("ConfigChange");
    });
    assert_eq!(patient.finds("event-missing")["severity"], "warning");
}

#[test]
fn the_client_ends_an_entry_too_soon() {
    let mut patient = Patient::with_packs(PACKS);
    patient.project.write_file(".taskie/plans/one/plan.md", "# One");
    patient.change(|settings| {
        settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 60.into();
    });
    let found = patient.finds("timeout-short");
    assert!(found["message"].as_str().unwrap().contains("after 60 s"), "{found}");
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 3.into());
    assert!(patient.finds("timeout-short")["why"].as_str().unwrap().contains("unchecked"));
}

#[test]
fn the_gate_fails_open() {
    let mut patient = Patient::with_packs(PACKS);
    patient.project.write_file("provost.toml", "[plan_gate]\nenabled = true\n");
    patient.doctor(&[]).is_healthy();
    patient.change_entries(|entry| drop(entry.as_object_mut().unwrap().remove("onFailure")));
    assert!(patient.finds("fails-open")["fix"].as_str().unwrap().contains("onFailure"));
}

#[test]
fn an_entry_is_weak_or_never_run() {
    for (key, value) in [("async", json!(true)), ("if", json!("Bash(git *)"))] {
        let mut patient = Patient::healthy();
        patient.change(|settings| settings["hooks"]["PreToolUse"][0]["hooks"][0][key] = value.clone());
        patient.finds("entry-weak");
    }
    for command in ["./tools/provost", "tools/provost"] {
        let mut patient = Patient::healthy();
        let tools = patient.project.path.join("tools");
        fs::create_dir(&tools).unwrap();
        std::os::unix::fs::symlink(crate::support::program(), tools.join("provost")).unwrap();
        patient.change_entries(|entry| entry["command"] = command.into());
        assert!(patient.finds("entry-weak")["fix"].as_str().unwrap().contains("full path"));
    }
    let mut patient = Patient::healthy();
    patient.add("PreTooluse", json!({"hooks": [entry(&["hook"])]})).finds("event-unknown");
}

#[test]
fn variables_and_wrappers_steer_provost() {
    for (settings, severity) in [
        (json!({"env": {"PROVOST_CHILD": "1"}}), "error"),
        (json!({"env": {"CLAUDE_CODE_SAFE_MODE": "1"}}), "error"),
        (json!({"env": {"XDG_CONFIG_HOME": "/tmp"}}), "warning"),
        (json!({"processWrapper": "/usr/bin/env"}), "warning"),
    ] {
        let patient = Patient::healthy();
        patient.project.write_file(".claude/settings.local.json", &settings.to_string());
        assert_eq!(patient.finds("environment")["severity"], severity, "{settings}");
    }
    let mut patient = Patient::healthy();
    patient.project = patient.project.with_variable("PROVOST_CHILD", "1");
    let diagnosis = patient.doctor(&[]);
    diagnosis.has("environment");
    diagnosis.has("no-denial");
}

#[test]
fn scripts_of_the_phases_are_still_registered() {
    let mut patient = Patient::with_packs(PACKS);
    let script =
        json!({"type": "command", "command": "node $CLAUDE_PROJECT_DIR/.claude/hooks/gate-blocker.cjs"});
    patient.add("PreToolUse", json!({"matcher": "Task", "hooks": [script]}));
    assert!(patient.finds("old-scripts")["fix"].as_str().unwrap().contains("provost phases migrate"));
}

fn market(patient: &Patient, settings: &Value) {
    let root = env!("CARGO_MANIFEST_DIR");
    let known = json!({"provost": {"source": {"source": "directory"}, "installLocation": root}});
    patient.project.write_home_file(".claude/plugins/known_marketplaces.json", &known.to_string());
    patient.project.write_home_file(".claude/settings.json", &settings.to_string());
}

#[test]
fn plugins_alone_are_healthy_and_their_program_may_be_missing() {
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["hooks"] = json!({}));
    patient.project.write_file(".isdlc/state.json", "{}");
    patient.project.write_file(".taskie/plans/one/plan.md", "# One");
    let plugins = json!({"rodin@provost": true, "taskie@provost": true, "isdlc@provost": true, "tdd-planner@provost": true});
    market(&patient, &json!({"enabledPlugins": plugins}));
    let diagnosis = patient.doctor(&[]);
    assert_eq!(diagnosis.ids()[..1], ["program-missing"], "{:#}", diagnosis.report);
    diagnosis.has("program-missing");
    std::os::unix::fs::symlink(crate::support::program(), patient.project.home.join("bin/provost")).unwrap();
    patient.doctor(&[]).is_healthy();
}

/// One of them has the guards of `self` asked about prompts only, as the way out of its own guards.
#[test]
fn each_plugin_by_itself_is_healthy() {
    for plugin in ["rodin", "taskie", "isdlc", "tdd-planner"] {
        let mut patient = Patient::healthy();
        patient.change(|settings| settings["hooks"] = json!({}));
        let name = format!("{plugin}@provost");
        market(&patient, &json!({"enabledPlugins": {name: true}}));
        std::os::unix::fs::symlink(crate::support::program(), patient.project.home.join("bin/provost"))
            .unwrap();
        patient.doctor(&[]).is_healthy();
    }
}

#[test]
fn a_plugin_and_the_settings_register_the_same() {
    let patient = Patient::with_packs(PACKS);
    patient.project.write_file(".isdlc/state.json", "{}");
    std::os::unix::fs::symlink(crate::support::program(), patient.project.home.join("bin/provost")).unwrap();
    market(&patient, &json!({"enabledPlugins": {"isdlc@provost": true}}));
    let found = patient.finds("twice");
    assert!(found["why"].as_str().unwrap().contains("the plugin `isdlc@provost`"), "{found}");
}

#[test]
fn a_plugin_is_enabled_but_not_there_or_broken() {
    let patient = Patient::healthy();
    market(&patient, &json!({"enabledPlugins": {"none@provost": true}}));
    patient.finds("plugin-missing");
    let copy = patient.project.home.join("copy");
    let installed = json!({"plugins": {"one@other": [{"installPath": copy}]}});
    patient.project.write_home_file(".claude/plugins/installed_plugins.json", &installed.to_string());
    patient.project.write_home_file(".claude/settings.json", r#"{"enabledPlugins": {"one@other": true}}"#);
    patient.project.write_home_file("copy/.claude-plugin/plugin.json", r#"{"name": "one"}"#);
    patient.project.write_home_file("copy/hooks/hooks.json", "{");
    patient.finds("plugin-void");
    patient.project.write_home_file("copy/hooks/hooks.json", "{}");
    patient.doctor(&[]).is_healthy();
}
