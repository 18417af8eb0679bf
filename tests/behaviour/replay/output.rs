//! What a replay prints.

use std::io::Read;
use std::time::Duration;

use serde_json::json;

use super::{Transcript, recorded_transcripts, replay, replay_json, transcripts_of};
use crate::support::{TestProject, assert_shown};

const RULES: &str = "[[rule]]\nname = \"push\"\nruns = \"git push\"\ndeny = \"CI pushes\"\n\
                     [[rule]]\nname = \"keys\"\ndeletes = \"*.key\"\nask = \"sure?\"\n";

fn project() -> TestProject {
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    project.write_file("keys/a.key", "x");
    let transcript = Transcript::new(&project, "s1")
        .prompt("go")
        .bash("t1", "git push origin x")
        .bash("t2", "rm -rf keys")
        .bash("t3", "git push origin x")
        .bash("t4", "git push\necho done")
        .raw(json!({"type": "brand-new"}));
    transcript.write(&transcripts_of(&project, &project.path));
    transcript.agent("a1").bash("t5", "git push -f").write(&transcripts_of(&project, &project.path));
    project
}

#[test]
fn a_person_sees_the_commands_behind_each_rule() {
    let project = project();
    let shown = project.shorten_paths(&replay(&project, &[]).stdout);
    assert_shown!("replay", shown);
}

#[test]
fn one_rule_is_shown_call_by_call() {
    let project = project();
    let by_name = replay(&project, &["--show", "push"]).stdout;
    assert_eq!(by_name, replay(&project, &["--show", "rule:push"]).stdout);
    assert_shown!("replay-show", project.shorten_paths(&by_name));
    for silent in ["rule:keys", "branch-guard"] {
        project.write_file("provost.toml", &RULES.replace("*.key", "*.pem"));
        let none = replay(&project, &["--show", silent]).stdout;
        assert!(none.contains(&format!("No call was stopped or warned about by `{silent}`.")), "{none}");
    }
}

/// A misspelt name must not read like a rule that never matched.
#[test]
fn a_name_that_no_rule_has_is_a_mistake() {
    let project = project();
    for (name, hint) in [
        ("rule:psh", "did you mean `push`?"),
        ("self-gard", "did you mean `self-guard`?"),
        ("nobody-at-all", "`provost rules` and `provost guards` list all"),
        ("rule:self-guard", "did you mean `self-guard`?"),
    ] {
        let answer = replay(&project, &["--show", name]);
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), ""), "{name}");
        assert!(answer.stderr.contains(name) && answer.stderr.contains(hint), "{answer:?}");
    }
    // A rule of the other file counts too.
    project.write_file("new.toml", "");
    let answer = replay(&project, &["--config", "new.toml", "--against", "current", "--show", "push"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

/// A reader of JSON gets a whole object or nothing.
#[test]
fn a_place_that_cannot_be_read_prints_no_half_object() {
    let project = project();
    let pipe = project.path.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for place in ["nowhere", pipe.to_str().unwrap(), "/dev/null"] {
        let answer = replay(&project, &["--json", "--transcripts", place]);
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(74), ""), "{place}");
        assert!(answer.stderr.contains(place), "{answer:?}");
    }
}

#[test]
fn there_may_be_nothing_to_replay() {
    let project = TestProject::new();
    let answer = replay(&project, &[]);
    assert_eq!(answer.code, Some(1));
    assert_shown!("replay-nothing", project.shorten_paths(&answer.stdout));
}

#[test]
fn tools_without_a_command_or_file_show_their_address_or_query() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[[rule]]\nname = \"all\"\nuses = \"*\"\nask = \"sure?\"\n");
    Transcript::new(&project, "s1")
        .call("t1", "WebFetch", &json!({"prompt": "p", "url": "https://me:pw123@example.invalid/a"}))
        .call("t2", "WebSearch", &json!({"query": "how to"}))
        // Another text could be a secret.
        .call("t3", "mcp__x__login", &json!({"user": "me", "pin": "4711"}))
        .call("t4", "mcp__x__list", &json!({"query": ["a"]}))
        .write(&transcripts_of(&project, &project.path));
    let result = replay_json(&project, &[]);
    let what: Vec<&str> = result["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|one| one["what"].as_str().unwrap())
        .collect();
    assert_eq!(
        what,
        ["WebFetch https://me:••••@example.invalid/a", "WebSearch how to", "mcp__x__login", "mcp__x__list"]
    );
}

#[test]
fn secrets_are_masked_everywhere() {
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    let secret = "ghp_abcdefghij0123456789";
    Transcript::new(&project, "s1")
        .bash("t1", &format!("git push https://me:{secret}@host/x && export TOKEN={secret}"))
        .call(secret, secret, &json!({"command": "git push"}))
        .write(&transcripts_of(&project, &project.path));
    for arguments in [&[][..], &["--show", "push"], &["--json"]] {
        let shown = replay(&project, arguments).stdout;
        assert!(!shown.contains("abcdefghij0123456789"), "{shown}");
        assert!(shown.contains("••••") || shown.contains("\\u2022"), "{shown}");
    }
}

#[test]
fn characters_that_a_terminal_obeys_are_made_visible() {
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    Transcript::new(&project, "s\u{1b}[2J")
        .bash("t1\u{1b}]0;x\u{7}", "git push \u{1b}[31m\u{202e}evil\u{9b}2J")
        .write(&transcripts_of(&project, &project.path));
    for arguments in [&[][..], &["--show", "push"], &["--json"]] {
        let shown = replay(&project, arguments).stdout;
        let is_hostile = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{9b}');
        assert!(!shown.contains(is_hostile), "{shown:?}");
    }
    let result = replay_json(&project, &[]);
    assert_eq!(result["decisions"][0]["what"], "git push \u{1b}[31m\u{202e}evil\u{9b}2J");
}

#[test]
fn the_output_is_the_same_each_time() {
    let project = TestProject::new();
    project.write_file("provost.toml", "[[rule]]\nname = \"any\"\nruns = \"*\"\ndeny = \"no\"\n");
    let place = recorded_transcripts();
    let arguments = ["--json", "--transcripts", place.to_str().unwrap()];
    let first = replay(&project, &arguments).stdout;
    assert!(first.len() > 10_000);
    for _ in 0..3 {
        assert_eq!(replay(&project, &arguments).stdout, first);
    }
}

/// A reader that stops early is no error.
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let project = project();
    let mut child = project.provost_command("replay", &[]).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stdin.take());
    let answer = crate::support::collect_answer(child, None);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
}

/// Ctrl-C gives what is there so far.
#[test]
fn an_interrupted_replay_shows_what_it_has() {
    let project = TestProject::new();
    project.write_file("provost.toml", RULES);
    let all = tempfile::tempdir().unwrap();
    for session in 0..100 {
        let filler = "x".repeat(1 << 19);
        Transcript::new(&project, &format!("s{session}"))
            .bash(&format!("t{session}"), "git push")
            .says(&filler)
            .write(all.path());
    }
    for json in [false, true] {
        let mut arguments = vec!["--transcripts", all.path().to_str().unwrap()];
        if json {
            arguments.push("--json");
        }
        let mut child = project.provost_command("replay", &arguments).spawn().unwrap();
        drop(child.stdin.take());
        // The first words come before anything is read.
        let mut start = [0; 1];
        child.stdout.as_mut().unwrap().read_exact(&mut start).unwrap();
        std::thread::sleep(Duration::from_millis(30));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let answer = crate::support::collect_answer(child, None);
        let shown = String::from_utf8_lossy(&start).into_owned() + &answer.stdout;
        // A very fast machine may have been done before.
        if answer.code == Some(0) {
            continue;
        }
        assert_eq!(answer.code, Some(1), "{answer:?}");
        if json {
            let result: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(result["interrupted"], true);
        } else {
            assert!(shown.contains("Interrupted: "), "{shown}");
        }
    }
}
