//! Faults that only show when a hook is run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::Patient;
use crate::support::waiting::{has_ended, wait_until};

/// Every entry calls this command line in the shell form.
fn by_shell(command: &str) -> Patient {
    let mut patient = Patient::healthy();
    patient.change_entries(|entry| {
        entry.as_object_mut().unwrap().remove("args");
        entry["command"] = command.into();
    });
    patient
}

fn provost() -> String {
    crate::support::program().into_string().unwrap()
}

#[test]
fn the_shell_form_is_healthy_too() {
    by_shell(&format!("{} hook", provost())).doctor(&[]).is_healthy();
    let patient = by_shell("\"$CLAUDE_PROJECT_DIR\"/tools/provost hook");
    fs::create_dir(patient.project.path.join("tools")).unwrap();
    std::os::unix::fs::symlink(provost(), patient.project.path.join("tools/provost")).unwrap();
    patient.doctor(&[]).is_healthy();
}

#[test]
fn the_program_does_not_exist() {
    let mut patient = Patient::healthy();
    patient.change_entries(|entry| entry["command"] = "/nowhere/provost".into());
    let diagnosis = patient.doctor(&[]);
    assert_eq!(diagnosis.ids(), ["program-missing"], "{:#}", diagnosis.report);
    let found = diagnosis.has("program-missing");
    assert!(found["message"].as_str().unwrap().contains("`/nowhere/provost`"), "{found}");
    by_shell("/nowhere/provost hook").finds("program-missing");
    by_shell("provost hook").finds("program-missing");
}

#[test]
fn the_program_cannot_be_run() {
    let mut patient = Patient::healthy();
    let copy = patient.program("provost", "exit 0");
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o644)).unwrap();
    patient.change_entries(|entry| entry["command"] = copy.to_str().unwrap().into());
    patient.finds("program-missing");
}

#[test]
fn another_version_is_called() {
    let mut patient = Patient::healthy();
    let script = format!("[ \"$1\" = --version ] && echo 'provost 0.0.9' && exit; exec {} \"$@\"", provost());
    let other = patient.program("provost", &script);
    patient.change_entries(|entry| entry["command"] = other.to_str().unwrap().into());
    let found = patient.finds("other-version");
    assert!(found["why"].as_str().unwrap().contains("0.0.9"), "{found}");
    patient.change(|settings| settings["hooks"]["SessionStart"][0]["hooks"][0]["command"] = provost().into());
    patient.finds("two-programs");
}

#[test]
fn text_before_the_answer_hides_it() {
    let patient = by_shell(&format!("echo checking; {} hook", provost()));
    let found = patient.finds("answer-unreadable");
    assert!(found["why"].as_str().unwrap().contains("checking"), "{found}");
}

#[test]
fn a_script_that_calls_provost_counts_as_a_call() {
    let script = |talk: &str| {
        let patient = by_shell("\"$CLAUDE_PROJECT_DIR\"/tools/guard.sh");
        let text = format!("#!/bin/sh\n# calls Provost\n{talk}exec {} hook --pack self\n", provost());
        let file = patient.project.write_file("tools/guard.sh", &text);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        patient
    };
    script("").doctor(&[]).is_healthy();
    script("echo checking\n").finds("answer-unreadable");
    // A trace goes to the other stream, and does no harm.
    script("set -x\n").doctor(&[]).is_healthy();
}

#[test]
fn a_hook_that_fails_or_says_something_else_is_found() {
    by_shell(&format!("{} hook >/dev/null; exit 1", provost())).finds("hook-fails");
    // Without standard output the exit code denies, unless that is lost as well.
    by_shell(&format!("{} hook >/dev/null; true", provost())).finds("no-denial");
    let patient = by_shell(&format!("{} hook | sed 's/.*/{{\"decision\":\"approve\"}}/'", provost()));
    patient.finds("no-denial");
    by_shell("echo '{\"decision\":\"block\",\"reason\":\"no\"}'; true provost hook").finds("not-silent");
}

#[test]
fn a_mistake_in_the_entry_is_reported() {
    let mut patient = Patient::healthy();
    patient.change_entries(|entry| entry["args"] = json!(["hook", "--pack", "self", "--fast"]));
    let found = patient.finds("not-silent");
    assert!(found["why"].as_str().unwrap().contains("`--fast`"), "{found}");
}

#[test]
fn an_interrupted_doctor_ends_what_it_started() {
    let patient = by_shell("echo $$ > \"$HOME/pid\"; pwd > \"$HOME/place\"; sleep 3126; provost hook");
    patient.program("provost", "exit 0");
    let mut doctor = patient.command(&[]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let place = patient.project.home.join("place");
    wait_until("a hook", || fs::read_to_string(&place).is_ok_and(|text| text.ends_with('\n')));
    let signalled = Command::new("kill").args(["-INT", &doctor.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    assert_eq!(doctor.wait().unwrap().code(), Some(74));
    assert!(!has_process(&patient), "the hook still runs");
    let place = fs::read_to_string(place).unwrap();
    assert!(!Path::new(place.trim()).exists(), "{place} is left");
}

/// Whether the process still runs whose number a hook has written down.
fn has_process(patient: &Patient) -> bool {
    let pid = fs::read_to_string(patient.project.home.join("pid")).unwrap();
    !has_ended(&pid)
}

#[test]
fn a_hanging_hook_is_killed_with_its_children() {
    let mut patient =
        by_shell(&format!("sleep 3123 & echo $! > \"$HOME/pid\"; {} hook; sleep 3124", provost()));
    patient.change_entries(|entry| entry["timeout"] = 1.into());
    patient.finds("too-slow");
    assert!(!has_process(&patient), "what the hook started still runs");
}

/// A command that hangs with some events would hang with all, and the user waits.
#[test]
fn a_hanging_command_is_started_only_twice() {
    let mut patient = by_shell(&format!("sleep 3125; {} hook", provost()));
    patient.change_entries(|entry| entry["timeout"] = 1.into());
    let diagnosis = patient.doctor(&[]);
    diagnosis.has("too-slow");
    let count = |part: &str| diagnosis.report[part].as_array().unwrap().len();
    assert_eq!((count("runs"), count("not_run")), (2, 2), "{:#}", diagnosis.report);
}
