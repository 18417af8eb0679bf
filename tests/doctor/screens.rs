//! What a person sees: whole screens in a pipe, and colours where they are wanted.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::{Patient, support};

/// A healthy project whose entries call `provost` by its name.
fn patient() -> Patient {
    let mut patient = Patient::healthy();
    symlink(support::program(), patient.project.home.join("bin/provost")).unwrap();
    patient.change_entries(|entry| entry["command"] = "provost".into());
    patient
}

fn screen(patient: &Patient, arguments: &[&str], code: i32) -> String {
    let output = patient.command(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let guards = format!("6 of {} guards", provost::registry::GUARDS.len());
    let text = String::from_utf8(output.stdout).unwrap().replace(&guards, "<some> guards");
    patient.project.shown(&text.replace(env!("CARGO_PKG_VERSION"), "<version>"))
}

#[test]
fn a_healthy_project_is_told_what_was_checked() {
    assert_eq!(
        screen(&patient(), &[], 0),
        "\
Provost <version> in <project>

ok       registration   1 settings file read; 4 entries call Provost
ok       coverage       events, matchers and time limits for `self`
ok       answers        4 entries started as the client does, with 6 events
ok       programs       Provost <version> as ~/bin/provost, client `claude` 2.1.325
ok       configuration  no configuration file, so all is by default; <some> guards on here
ok       state          ~/.local/state/provost: rights, seal key, journal, locks, clock

Nothing is wrong with what was checked.
"
    );
}

#[test]
fn a_finding_is_told_with_its_fix() {
    let mut patient = patient();
    patient.change(|settings| {
        settings["disableAllHooks"] = json!(true);
        settings["hooks"]["PreToolUse"][0]["matcher"] = "bash".into();
        settings["hooks"].as_object_mut().unwrap().remove("ConfigChange");
    });
    patient.add("Stop", json!({"hooks": [{"type": "command", "command": "say done"}]}));
    assert_eq!(
        screen(&patient, &[], 1),
        "\
Provost <version> in <project>

error    registration   1 settings file read; 3 entries call Provost
error    coverage       events, matchers and time limits for `self`
ok       answers        2 entries started as the client does, with 2 events; 1 hook of others
                        not run (`--all` runs them); 1 hook cannot be tried (`--json` says why)
ok       programs       Provost <version> as ~/bin/provost, client `claude` 2.1.325
ok       configuration  no configuration file, so all is by default; <some> guards on here
ok       state          ~/.local/state/provost: rights, seal key, journal, locks, clock

error  hooks-off
  The client runs no hooks: .claude/settings.json says `disableAllHooks`.
  To fix: take `disableAllHooks` out of .claude/settings.json in an editor.

error  matcher
  The guards of `self` are not asked about `Bash`, `Write`, `Edit` and `NotebookEdit`: the
  PreToolUse entries are limited to `bash`, which the client reads letter by letter.
  To fix: run `provost init`, or give the entry the matcher `*`.

warning  event-missing
  The guards of `self` are not asked about all that they judge: no entry is registered for
  `ConfigChange`.
  To fix: run `provost init`.

2 errors, 1 warning.
"
    );
}

#[test]
fn an_unregistered_project_is_told_what_to_do() {
    let mut patient = patient();
    patient.change(|settings| settings["hooks"] = json!({}));
    assert_eq!(
        screen(&patient, &[], 1),
        "\
Provost <version> in <project>

error    registration   1 settings file read; 0 entries call Provost
skipped  coverage       events, matchers and time limits for `self`
skipped  answers        0 entries started as the client does, with 0 events
ok       programs       no program of Provost in the entries, client `claude` 2.1.325
ok       configuration  no configuration file, so all is by default; <some> guards on here
ok       state          ~/.local/state/provost: rights, seal key, journal, locks, clock

error  no-hooks
  No guard is asked here: no hook entry that the client takes calls Provost.
  To fix: run `provost init`.

1 error.
"
    );
}

#[test]
fn what_was_mended_is_told() {
    let patient = patient();
    patient.project.home_file(".local/state/provost/x", "");
    assert_eq!(
        screen(&patient, &["--fix"], 0),
        "\
Provost <version> in <project>

ok       registration   1 settings file read; 4 entries call Provost
ok       coverage       events, matchers and time limits for `self`
ok       answers        4 entries started as the client does, with 6 events
ok       programs       Provost <version> as ~/bin/provost, client `claude` 2.1.325
ok       configuration  no configuration file, so all is by default; <some> guards on here
ok       state          ~/.local/state/provost: rights, seal key, journal, locks, clock

warning  state-open
  Others can read what is remembered: everybody on this machine can look into
  ~/.local/state/provost.
  Fixed: only you can open ~/.local/state/provost now.

Nothing else is wrong with what was checked.
"
    );
}

#[test]
fn colours_come_where_they_are_wanted() {
    let mut patient = patient();
    patient.change(|settings| settings["disableAllHooks"] = json!(true));
    let coloured = patient.command(&[]).env("CLICOLOR_FORCE", "1").output().unwrap().stdout;
    assert!(String::from_utf8(coloured).unwrap().contains("\x1b[1m\x1b[31merror"));
    let plain = patient.command(&[]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap().stdout;
    assert!(!plain.contains(&0x1b));
}
