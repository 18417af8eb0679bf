//! One event, one answer, where each of several plugins has an entry that calls Provost.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::{Value, json};

use super::forbidden;
use super::surroundings::replace_by_pipe;
use crate::support::{Answer, TestProject, collect_answer};

pub(crate) const PLUGINS: [&str; 4] = ["isdlc", "rodin", "taskie", "tdd-planner"];
/// So many of them have self-guard judge a call.
const GUARDING: usize = PLUGINS.len();
const PROMPT: &str = "provost override planner-bash-guard the cache is stale";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins")
}

/// The call of Provost that a plugin's entry makes for an event.
fn entry(project: &TestProject, plugin: &str, event: &Value) -> Command {
    let root = root().join(plugin);
    let text = fs::read_to_string(root.join("hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&text).unwrap();
    let arguments = &hooks["hooks"][event["hook_event_name"].as_str().unwrap()][0]["hooks"][0]["args"];
    let arguments: Vec<&str> = arguments.as_array().unwrap()[1..].iter().filter_map(Value::as_str).collect();
    let mut command = project.command(&arguments);
    command.env("CLAUDE_PLUGIN_ROOT", root);
    command
}

fn start(mut command: Command, event: &Value) -> Child {
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    child
}

fn end(child: Child, event: &Value) -> Answer {
    collect_answer(child, event["hook_event_name"].as_str().map(str::to_owned))
}

/// What the entries of all plugins answer, started at once.
fn at_once(project: &TestProject, event: &Value) -> Vec<Answer> {
    let children = PLUGINS.map(|plugin| start(entry(project, plugin, event), event));
    children.into_iter().map(|child| end(child, event)).collect()
}

/// What they answer, each started when the one before has ended.
fn in_turn(project: &TestProject, event: &Value) -> Vec<Answer> {
    PLUGINS.iter().map(|plugin| end(start(entry(project, plugin, event), event), event)).collect()
}

pub(crate) const WAYS: [fn(&TestProject, &Value) -> Vec<Answer>; 2] = [at_once, in_turn];

fn prompt(project: &TestProject) -> Value {
    let mut event = project.recorded_event("UserPromptSubmit");
    event["prompt"] = PROMPT.into();
    event
}

/// The answers with a message to the user.
pub(crate) fn with_message(answers: &[Answer]) -> Vec<&Answer> {
    answers.iter().filter(|answer| answer.stdout.contains("systemMessage")).collect()
}

/// The decisions of the journal, oldest first.
fn decisions(project: &TestProject) -> Vec<String> {
    project.read_journal().iter().map(|line| line["decision"].as_str().unwrap().to_owned()).collect()
}

/// The reasons of the denials: every entry that asks self-guard denies, and no other answers.
#[track_caller]
fn reasons(answers: &[Answer]) -> Vec<String> {
    let reasons: Vec<String> =
        answers.iter().filter(|answer| !answer.is_silent()).map(Answer::expect_denial).collect();
    assert_eq!(reasons.len(), GUARDING, "{answers:?}");
    reasons
}

#[track_caller]
fn acknowledged_once(answers: &[Answer]) {
    let [answer] = with_message(answers)[..] else { panic!("{answers:?}") };
    assert!(answer.expect_note().contains("planner-bash-guard"), "{answer:?}");
    let silent = answers.iter().filter(|answer| answer.is_silent()).count();
    assert_eq!(silent, answers.len() - 1, "{answers:?}");
}

#[test]
fn an_override_is_acknowledged_once() {
    for way in WAYS {
        let project = TestProject::new();
        acknowledged_once(&way(&project, &prompt(&project)));
        assert_eq!(fs::read_dir(project.state_directory().join("overrides")).unwrap().count(), 1);
        assert_eq!(project.read_journal().len(), 1, "{}", project.read_journal_text());
        // The user can send the same words again.
        acknowledged_once(&way(&project, &prompt(&project)));
        assert_eq!(project.read_journal().len(), 2, "{}", project.read_journal_text());
    }
}

#[test]
fn a_denial_is_told_and_kept_once_and_given_by_all() {
    for way in WAYS {
        let project = TestProject::new();
        let answers = way(&project, &forbidden(&project));
        let reasons = reasons(&answers);
        // The client passes on the reason of the process that ends last, whichever that is.
        assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{reasons:?}");
        assert_eq!(with_message(&answers).len(), 1, "{answers:?}");
        assert_eq!(decisions(&project), ["deny"], "{}", project.read_journal_text());
    }
}

/// `provost status` shows a denied call once, however many entries denied it.
#[test]
fn a_denial_is_one_entry_in_status() {
    for way in WAYS {
        let project = TestProject::new();
        way(&project, &forbidden(&project));
        let mut planner = project.bash("rm -r cache");
        planner["agent_id"] = "a1".into();
        planner["agent_type"] = "tdd-planner".into();
        way(&project, &planner);
        let output = project.provost_command("status", &["--json"]).output().unwrap();
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        let guards: Vec<&str> = status["denials"]
            .as_array()
            .unwrap()
            .iter()
            .map(|denial| denial["guard"].as_str().unwrap())
            .collect();
        assert_eq!(guards, ["planner-bash-guard", "self-guard"], "{status:#}");
        let shown = project.provost_command("status", &[]).output().unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        for words in [" planner-bash-guard: `rm -r cache` BLOCKED", " self-guard: "] {
            assert_eq!(shown.matches(words).count(), 1, "{shown}");
        }
    }
}

#[test]
fn an_allowed_call_is_one_line_of_the_journal() {
    for way in WAYS {
        let project = TestProject::new();
        assert!(way(&project, &project.bash("ls")).iter().all(Answer::is_silent));
        assert_eq!(decisions(&project), ["silence"], "{}", project.read_journal_text());
    }
}

/// Settings files hold one set of entries, so most calls pay nothing for the case of several.
#[test]
fn a_silent_call_of_a_settings_file_shares_no_answer() {
    let project = TestProject::new();
    assert!(project.hook(&project.bash("ls")).is_silent());
    assert_eq!(decisions(&project), ["silence"]);
    assert!(!project.state_directory().join("answers").exists());
    project.hook(&forbidden(&project)).expect_denial();
    assert!(project.state_directory().join("answers").exists());
}

/// A guard that only one entry asks is reported beside those that all entries ask.
#[test]
fn what_one_entry_alone_finds_is_told_too() {
    for way in WAYS {
        let project = TestProject::new();
        let mut event = project.bash("rm -r cache");
        event["agent_id"] = "a1".into();
        event["agent_type"] = "tdd-planner".into();
        let answers = way(&project, &event);
        let denied: Vec<&Answer> = answers.iter().filter(|answer| answer.find_denial().is_ok()).collect();
        let [denied] = denied[..] else { panic!("{answers:?}") };
        assert!(denied.expect_denial().contains("'rm' is not in the planner's allowlist"), "{denied:?}");
        assert!(denied.stdout.contains("systemMessage"), "{denied:?}");
        let guards = project.read_journal();
        let guards = guards.iter().flat_map(|line| line["guards"].as_array().unwrap());
        let mut guards: Vec<&str> = guards.map(|said| said["guard"].as_str().unwrap()).collect();
        guards.sort_unstable();
        assert_eq!(guards, ["planner-bash-guard", "self-guard"], "{}", project.read_journal_text());
        assert_eq!(decisions(&project).iter().filter(|word| *word == "deny").count(), 1);
    }
}

#[test]
fn two_calls_are_two_decisions() {
    let project = TestProject::new();
    let calls = ["one", "two", "three"].map(|id| {
        let mut event = forbidden(&project);
        event["tool_use_id"] = id.into();
        event
    });
    let started = calls.iter().flat_map(|event| PLUGINS.map(|plugin| (plugin, event)));
    let started: Vec<_> =
        started.map(|(plugin, event)| (start(entry(&project, plugin, event), event), event)).collect();
    let answers: Vec<Answer> = started.into_iter().map(|(child, event)| end(child, event)).collect();
    answers.chunks(PLUGINS.len()).for_each(|answers| drop(reasons(answers)));
    assert_eq!(with_message(&answers).len(), 3, "{answers:?}");
    let mut ids: Vec<String> =
        project.read_journal().iter().map(|line| line["call"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["one", "three", "two"]);
    assert_eq!(decisions(&project), ["deny"; 3]);
}

#[test]
fn other_sessions_events_and_words_are_other_events() {
    let project = TestProject::new();
    let [first, second, ..] = PLUGINS;
    let given = prompt(&project);
    end(start(entry(&project, first, &given), &given), &given).expect_note();
    for (field, value) in [
        ("session_id", json!("another")),
        ("prompt_id", json!("another")),
        ("prompt", json!("provost override planner-bash-guard another reason")),
        ("agent_id", json!("another")),
    ] {
        let mut other = given.clone();
        other[field] = value;
        end(start(entry(&project, second, &other), &other), &other).expect_note();
    }
}

/// A recorded id may come again with another input.
#[test]
fn another_call_under_the_same_id_is_another_event() {
    let project = TestProject::new();
    let [first, second, ..] = PLUGINS;
    for (plugin, command) in [(first, "echo > provost.toml"), (second, "rm provost.toml"), (first, "ls")] {
        let event = project.bash(command);
        end(start(entry(&project, plugin, &event), &event), &event);
    }
    assert_eq!(decisions(&project), ["deny", "deny", "silence"], "{}", project.read_journal_text());
}

#[test]
fn an_event_that_cannot_be_named_is_answered_by_each() {
    for field in ["session_id", "tool_use_id"] {
        let project = TestProject::new();
        let mut event = forbidden(&project);
        event.as_object_mut().unwrap().remove(field);
        assert_eq!(with_message(&in_turn(&project, &event)).len(), GUARDING, "{field}");
    }
}

#[test]
fn without_a_usable_directory_each_answers_alone() {
    let project = TestProject::new();
    project.write_home_file(".local/state/provost/answers", "a file where a directory should be");
    assert_eq!(with_message(&in_turn(&project, &forbidden(&project))).len(), GUARDING);
    assert_eq!(decisions(&project), ["deny"; GUARDING]);
}

#[test]
fn a_process_that_is_stopped_while_it_answers_blocks_no_other() {
    let project = TestProject::new().with_real_limits();
    let event = forbidden(&project);
    let [first, second, ..] = PLUGINS;
    end(start(entry(&project, first, &event), &event), &event).expect_denial();
    // Its lock, which is all that the others see of it.
    let mut files = fs::read_dir(project.state_directory().join("answers")).unwrap();
    let held = File::open(files.next().unwrap().unwrap().path()).unwrap();
    held.lock().unwrap();
    let answer = end(start(entry(&project, second, &event), &event), &event);
    answer.expect_denial();
    assert_eq!(with_message(&[answer]).len(), 1);
}

#[test]
fn what_a_file_holds_by_mistake_takes_nothing_away() {
    let project = TestProject::new();
    let event = forbidden(&project);
    in_turn(&project, &event);
    let file =
        fs::read_dir(project.state_directory().join("answers")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&file).unwrap();
    let digests = whole.len() / 17;
    for content in
        [&vec![0xff; 100_000][..], b"\n\n\n", &whole[..20], b"", &[&whole[..17], &[b'z'; 400]].concat()]
    {
        fs::write(&file, content).unwrap();
        let answers = in_turn(&project, &event);
        reasons(&answers);
        assert_eq!(with_message(&answers).len(), 1, "{content:?}");
        assert_eq!(fs::read(&file).unwrap().len() / 17, digests);
    }
    replace_by_pipe(&file);
    assert_eq!(with_message(&in_turn(&project, &event)).len(), GUARDING);
    assert!(!project.read_journal_text().contains("no answer within"), "{}", project.read_journal_text());
}

#[cfg(debug_assertions)]
mod killed {
    use super::*;

    /// The first entry is killed at each change of the disk: the others answer as if it had never been.
    #[test]
    fn what_a_killed_process_has_not_said_is_said_by_another() {
        let mut stops = 0;
        for (number, is_prompt) in (1..40).flat_map(|number| [(number, true), (number, false)]) {
            let project = TestProject::new();
            let event = if is_prompt { prompt(&project) } else { forbidden(&project) };
            let mut first = entry(&project, PLUGINS[0], &event);
            first.env("PROVOST_STOP_AT", number.to_string());
            if end(start(first, &event), &event).code.is_some() {
                continue;
            }
            stops += 1;
            let rest = PLUGINS[1..].iter();
            let rest: Vec<Answer> =
                rest.map(|plugin| end(start(entry(&project, plugin, &event), &event), &event)).collect();
            if is_prompt {
                acknowledged_once(&rest);
            } else {
                for answer in &rest {
                    answer.expect_denial();
                }
                assert_eq!(with_message(&rest).len(), 1, "stopped at {number}: {rest:?}");
            }
        }
        assert!(stops > 10, "{stops}");
    }

    #[test]
    fn a_process_that_hangs_while_it_judges_blocks_no_other() {
        let project = TestProject::new().with_real_limits();
        let event = forbidden(&project);
        let mut hanging = entry(&project, PLUGINS[0], &event);
        hanging.env("PROVOST_FAULT", "self-guard=hang");
        let hanging = start(hanging, &event);
        let other = end(start(entry(&project, PLUGINS[1], &event), &event), &event);
        other.expect_denial();
        assert_eq!(with_message(&[other]).len(), 1);
        end(hanging, &event).expect_closed_failure();
    }
}
