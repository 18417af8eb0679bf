//! What the user sees: whole screens in a pipe, and colours where they are wanted.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::Patient;
use crate::support::assert_shown;

/// A healthy project whose entries call `provost` by its name.
fn patient() -> Patient {
    let mut patient = Patient::healthy();
    symlink(crate::support::program(), patient.project.home.join("bin/provost")).unwrap();
    patient.change_entries(|entry| entry["command"] = "provost".into());
    patient
}

fn screen(patient: &Patient, arguments: &[&str], code: i32) -> String {
    let output = patient.command(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let guards = format!("6 of {} guards", provost::registry::GUARDS.len());
    let text = String::from_utf8(output.stdout).unwrap().replace(&guards, "<some> guards");
    patient.project.shorten_paths(&text.replace(env!("CARGO_PKG_VERSION"), "<version>"))
}

#[test]
fn a_healthy_project_shows_what_was_checked() {
    assert_shown!("doctor-healthy", screen(&patient(), &[], 0));
}

#[test]
fn each_finding_shows_its_fix() {
    let mut patient = patient();
    patient.change(|settings| {
        settings["disableAllHooks"] = json!(true);
        settings["hooks"]["PreToolUse"][0]["matcher"] = "bash".into();
        settings["hooks"].as_object_mut().unwrap().remove("ConfigChange");
    });
    patient.add("Stop", json!({"hooks": [{"type": "command", "command": "say done"}]}));
    assert_shown!("doctor-findings", screen(&patient, &[], 1));
}

#[test]
fn a_project_without_hooks_shows_what_to_do() {
    let mut patient = patient();
    patient.change(|settings| settings["hooks"] = json!({}));
    assert_shown!("doctor-no-hooks", screen(&patient, &[], 1));
}

#[test]
fn fix_shows_what_it_fixed() {
    let patient = patient();
    patient.project.write_home_file(".local/state/provost/x", "");
    assert_shown!("doctor-fixed", screen(&patient, &["--fix"], 0));
}

#[test]
fn colours_appear_only_where_they_are_wanted() {
    let mut patient = patient();
    patient.change(|settings| settings["disableAllHooks"] = json!(true));
    let coloured = patient.command(&[]).env("CLICOLOR_FORCE", "1").output().unwrap().stdout;
    assert!(String::from_utf8(coloured).unwrap().contains("\x1b[1m\x1b[31merror"));
    let plain = patient.command(&[]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap().stdout;
    assert!(!plain.contains(&0x1b));
}
