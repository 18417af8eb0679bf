//! A world that is not as it should be: no reader, no home, no disk, no time.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::{forbidden, unread};
use crate::support::{TestProject, collect_answer};

#[test]
fn a_denial_that_cannot_be_printed_is_one_by_its_exit_code() {
    let project = TestProject::new();
    assert_eq!(unread(&project, &[], &forbidden(&project)), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_denial_onto_a_full_device_is_one_by_its_exit_code() {
    let project = TestProject::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = project.command(&[]).stdout(full).spawn().unwrap();
    child.stdin.take().unwrap().write_all(forbidden(&project).to_string().as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_denial_that_is_thrown_away_is_one_by_its_exit_code() {
    let project = TestProject::new();
    for before in [">/dev/null", ">&-"] {
        let mut command = Command::new("/bin/sh");
        let hook = project.command(&[]);
        command.args(["-c", &format!("exec \"$0\" hook {before}")]).arg(hook.get_program());
        command.env_clear().envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(&project.path).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(forbidden(&project).to_string().as_bytes()).unwrap();
        let answer = collect_answer(child, None);
        assert!(answer.expect_closed_failure().contains("provost.toml"), "{before}: {answer:?}");
    }
}

#[test]
fn a_denial_that_is_not_read_in_time_denies_by_its_exit_code() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[engine]\ndeadline_seconds = 1\n");
    // A full pipe that no process reads.
    let (reader, mut writer) = std::io::pipe().unwrap();
    let full = writer.try_clone().unwrap();
    let filling = std::thread::spawn(move || while writer.write(&[b' '; 4096]).is_ok() {});
    std::thread::sleep(std::time::Duration::from_millis(500));
    let mut child = project.command(&[]).stdout(full).spawn().unwrap();
    child.stdin.take().unwrap().write_all(forbidden(&project).to_string().as_bytes()).unwrap();
    let code = child.wait().unwrap().code();
    drop(reader);
    filling.join().unwrap();
    assert_eq!(code, Some(2));
}

#[test]
fn without_a_home_the_guards_still_judge() {
    let project = TestProject::new().without_variable("HOME");
    assert!(project.hook(&project.bash("cat ~/x > $HOME/y")).is_silent());
    assert!(project.hook(&project.recorded_event("SessionStart.startup")).is_silent());
    project.hook(&forbidden(&project)).expect_denial();
    assert!(!project.state_directory().exists());
}

#[test]
fn with_no_environment_at_all_the_guards_still_judge() {
    let project = TestProject::new();
    for (event, code) in [(project.bash("ls"), 0), (forbidden(&project), 0)] {
        let mut child = project.command(&[]).env_clear().spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        let answer = collect_answer(child, Some("PreToolUse".into()));
        assert_eq!(answer.code, Some(code), "{answer:?}");
        assert_eq!(answer.find_denial().is_ok(), event == forbidden(&project), "{answer:?}");
    }
}

#[test]
fn a_project_that_is_gone_is_still_guarded() {
    let project = TestProject::new();
    let mut child = project.command(&[]).spawn().unwrap();
    let call = forbidden(&project);
    fs::remove_dir_all(&project.path).unwrap();
    child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
    collect_answer(child, Some("PreToolUse".into())).expect_denial();
}

#[test]
fn a_state_directory_that_cannot_be_made_changes_no_answer() {
    let project = TestProject::new();
    project.write_home_file(".local/state", "a file where a directory should be");
    assert!(project.hook(&project.bash("ls")).is_silent());
    project.hook(&forbidden(&project)).expect_denial();
}

#[cfg(target_os = "linux")]
#[test]
fn a_state_directory_where_nothing_can_be_made_changes_no_answer() {
    let project = TestProject::new().with_variable("XDG_STATE_HOME", "/proc/state");
    assert!(project.hook(&project.bash("ls")).is_silent());
    project.hook(&forbidden(&project)).expect_denial();
}

#[test]
fn the_user_is_warned_of_a_registration_that_cannot_be_remembered() {
    let project = TestProject::new();
    project.write_home_file(".local/state", "a file where a directory should be");
    let note = project.hook(&project.recorded_event("SessionStart.startup")).expect_note();
    assert!(note.starts_with("[provost] the registered hooks could not be recorded: "), "{note}");
}

#[test]
fn a_journal_that_cannot_be_written_changes_no_answer() {
    let project = TestProject::new();
    project.hook(&project.bash("ls"));
    let journal = journal_of(&project);
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    assert!(project.hook(&project.bash("ls")).is_silent());
    project.hook(&forbidden(&project)).expect_denial();
}

#[test]
fn a_pipe_in_the_place_of_the_journal_does_not_hold_the_hook() {
    let project = TestProject::new();
    project.hook(&project.bash("ls"));
    replace_by_pipe(&journal_of(&project));
    let answer = project.hook(&project.bash("ls"));
    assert!(answer.is_silent(), "{answer:?}");
    let answer = project.hook(&forbidden(&project));
    answer.expect_denial();
}

#[test]
fn a_pipe_in_the_place_of_a_file_that_is_read_does_not_hold_the_hook() {
    let project = TestProject::new();
    let config = project.write_file("provost.toml", "");
    let settings = project.write_file(".claude/settings.json", "");
    replace_by_pipe(&config);
    replace_by_pipe(&settings);
    let answers = [
        project.hook(&project.bash("ls")),
        project.hook(&project.recorded_event("SessionStart.startup")),
        project.hook(&project.recorded_event("ConfigChange")),
        project.hook(&project.write(settings, "{}")),
    ];
    for answer in answers {
        answer.check_form().unwrap();
    }
    assert!(!project.read_journal_text().contains("no answer within"), "{}", project.read_journal_text());
}

#[test]
fn processes_at_once_leave_whole_journal_lines() {
    let project = TestProject::new();
    let event = project.bash("ls");
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| assert!(project.hook(&event).is_silent()));
        }
    });
    let journal = project.read_journal();
    assert_eq!(journal.len(), 32);
    let ids: std::collections::BTreeSet<_> = journal.iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(ids.len(), 32, "each line has a name of its own");
}

#[test]
fn processes_at_once_on_a_full_journal_lose_no_more_than_the_oldest_lines() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[journal]\nmax_kilobytes = 64\n");
    let event = project.bash("ls");
    project.hook(&event);
    let journal = journal_of(&project);
    let line = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, line.repeat(64 * 1024 / line.len())).unwrap();
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| assert!(project.hook(&event).is_silent()));
        }
    });
    let kept: String = ["journal.1.jsonl", "journal.jsonl"]
        .iter()
        .map(|name| fs::read_to_string(journal.with_file_name(name)).unwrap())
        .collect();
    assert!(kept.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert_eq!(kept.lines().count(), 64 * 1024 / line.len() + 32);
}

fn journal_of(project: &TestProject) -> PathBuf {
    let of_projects = fs::read_dir(project.state_directory().join("projects")).unwrap();
    of_projects.map(|entry| entry.unwrap().path().join("journal.jsonl")).next().unwrap()
}

pub fn replace_by_pipe(path: &Path) {
    fs::remove_file(path).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
