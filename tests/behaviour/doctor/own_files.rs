//! Faults of programs, of the configuration and of Provost's own files.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use super::Patient;

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_client_is_old_unknown_or_missing() {
    let patient = Patient::healthy();
    patient.program("claude", "echo '2.1.138 (Claude Code)'");
    assert_eq!(patient.finds("client-old")["severity"], "error");
    patient.program("claude", "echo '2.1.139 (Claude Code)'");
    patient.doctor(&[]).is_healthy();
    patient.program("claude", "echo hello");
    assert_eq!(patient.finds("client-unknown")["severity"], "warning");
    fs::remove_file(patient.project.home.join("bin/claude")).unwrap();
    assert_eq!(patient.finds("client-missing")["severity"], "warning");
}

#[test]
fn an_old_client_ignores_block_on_failure() {
    let patient = Patient::with_packs(&["self", "plan-gate"]);
    patient.program("claude", "echo '2.1.294 (Claude Code)'");
    let found = patient.finds("client-goes-on");
    assert_eq!(found["severity"], "warning");
    assert!(
        found["why"].as_str().unwrap().contains("it knows `\"onFailure\": \"block\"` only since 2.1.295"),
        "{found}"
    );
    patient.program("claude", "echo '2.1.295 (Claude Code)'");
    patient.doctor(&[]).is_healthy();
}

#[test]
fn the_reviewer_is_missing() {
    let patient = Patient::with_packs(&["self", "review-loop"]);
    patient.project.write_file(".taskie/plans/one/plan.md", "# One");
    patient
        .project
        .write_file("provost.toml", "[reviewer]\ncommand = [\"no-such-reviewer\", \"{prompt}\"]\n");
    let found = patient.finds("reviewer-missing");
    assert!(found["why"].as_str().unwrap().contains("`no-such-reviewer`"), "{found}");
    patient.program("no-such-reviewer", "exit 0");
    patient.doctor(&[]).is_healthy();
    patient.project.write_file("provost.toml", "");
    fs::remove_file(patient.project.home.join("bin/claude")).unwrap();
    patient.finds("reviewer-missing");
}

/// A session remembered the reviewer, and then another program took its place.
#[test]
fn the_reviewer_has_changed() {
    let patient = Patient::with_packs(&["self", "review-loop"]);
    patient.project.write_file(".taskie/plans/one/plan.md", "# One");
    patient.project.hook(&patient.project.recorded_event("SessionStart.startup"));
    patient.doctor(&[]).is_healthy();
    patient.program("claude", "echo '2.1.325 (Claude Code)'; echo PASS");
    let found = patient.finds("reviewer-changed");
    assert_eq!(found["severity"], "error");
    let text = found.to_string();
    assert!(text.contains("bin/claude` has changed since Provost remembered it"), "{text}");
    assert!(found["fix"].as_str().unwrap().contains("`provost init`"), "{text}");
}

#[test]
fn the_configuration_has_mistakes() {
    let patient = Patient::healthy();
    patient.project.write_file("provost.toml", "[guards]\nself-gard = \"off\"\n");
    let found = patient.finds("config");
    assert!(found["message"].as_str().unwrap().contains("provost.toml line 2"), "{found}");
    patient.project.write_file("provost.toml", "[guards\n");
    patient.finds("config");
}

#[test]
fn guards_are_off() {
    let patient = Patient::healthy();
    patient.project.write_home_file(".config/provost/provost.toml", "[guards]\nself-guard = \"off\"\n");
    let diagnosis = patient.doctor(&[]);
    assert_eq!(diagnosis.has("guard-off")["severity"], "warning");
    assert_eq!(diagnosis.ids(), ["guard-off"]);
}

#[test]
fn the_state_cannot_be_written() {
    let patient = Patient::healthy();
    patient.project.write_home_file(".local/state", "a file");
    patient.finds("state-unwritable");
}

#[test]
fn the_journal_cannot_be_written() {
    let patient = Patient::healthy();
    let event = patient.project.recorded_event("SessionStart.startup");
    patient.project.hook(&event);
    let projects = fs::read_dir(patient.project.state_directory().join("projects")).unwrap();
    let journal = projects.map(|project| project.unwrap().path().join("journal.jsonl")).next().unwrap();
    patient.doctor(&[]).is_healthy();
    let soon = SystemTime::now() + Duration::from_hours(3);
    File::options()
        .append(true)
        .open(&journal)
        .unwrap()
        .set_times(FileTimes::new().set_modified(soon))
        .unwrap();
    let found = patient.finds("clock-behind");
    assert!(found["why"].as_str().unwrap().contains("179 min"), "{found}");
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    patient.finds("journal-unwritable");
}

#[test]
fn fix_closes_files_that_other_users_can_open() {
    let patient = Patient::healthy();
    let key = patient.project.write_home_file(".local/state/provost/seal.key", "0123456789abcdef");
    let state = patient.project.state_directory();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let diagnosis = patient.doctor(&[]);
    diagnosis.has("key-open");
    assert_eq!(diagnosis.has("state-open")["severity"], "error");
    assert_eq!((mode(&state), mode(&key)), (0o777, 0o644), "nothing changes unasked");
    let fixed = patient.doctor(&["--fix"]);
    assert_eq!(fixed.code, 0, "{:#}", fixed.report);
    assert!(fixed.has("key-open")["fixed"]["done"].as_str().unwrap().contains("seal.key"));
    assert_eq!((mode(&state), mode(&key)), (0o700, 0o600));
    patient.doctor(&[]).is_healthy();
    assert_eq!(fs::read_to_string(key).unwrap(), "0123456789abcdef");
}

#[test]
fn fix_follows_no_link() {
    let patient = Patient::healthy();
    let elsewhere = patient.project.home.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(patient.project.home.join(".local/state")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, patient.project.state_directory()).unwrap();
    let diagnosis = patient.doctor(&["--fix"]);
    let found = &diagnosis.report["findings"][0];
    assert_eq!(found["id"], "state-open", "{:#}", diagnosis.report);
    assert!(found["fixed"]["failed"].is_string(), "{found}");
    assert_eq!(mode(&elsewhere), 0o755);
}

#[test]
fn a_lock_is_held() {
    let patient = Patient::healthy();
    let lock = patient.project.write_home_file(".local/state/provost/locks/07.lock", "");
    fs::set_permissions(patient.project.state_directory(), fs::Permissions::from_mode(0o700)).unwrap();
    patient.doctor(&[]).is_healthy();
    let held = File::open(&lock).unwrap();
    held.lock().unwrap();
    let found = patient.finds("lock-held");
    assert!(found["message"].as_str().unwrap().contains("07.lock"), "{found}");
}
