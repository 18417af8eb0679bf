//! The user at a terminal, with a small program in the client's place: what is typed, seen, waited for and cleaned up.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rehearsal::{Playback, Scenario, ScenarioPlayer, Silent};

use crate::assert_nothing_runs_in;

/// Greets, answers each line, and leaves when it is told to.
const ANSWERING: &str = r#"
printf '\033]0;✳ Stand-in\007❯ '
while read -r line; do
    case $line in /exit) exit 0 ;; esac
    answer "$line"
    printf '❯ '
done
"#;

fn answering(answer: &str) -> String {
    format!("answer() {{ {answer}\n}}\n{ANSWERING}")
}

const SCENARIO: &str = "title = 't'\ntimeout = 60\nterminal = { columns = 40, rows = 10 }\n[[route]]\n[[route.step]]\ntext = 'unused'\n";

/// Plays `rest` of a scenario on a program, and returns what did not turn out as expected.
fn play(program: &str, rest: &str) -> (Playback, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let client = dir.path().join("client");
    fs::write(&client, format!("#!/bin/sh\n{program}")).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let recorder = PathBuf::from(env!("CARGO_BIN_EXE_rehearse"));
    let stage = ScenarioPlayer { client, variables: [].into(), recorder, keep: false };
    let scenario = Scenario::parse(&format!("{SCENARIO}{rest}"), "t.toml").unwrap();
    let playback = stage.play(&scenario, &mut Silent).unwrap();
    let mismatches = scenario.check(&playback).iter().map(ToString::to_string).collect();
    (playback, mismatches)
}

fn play_well(program: &str, rest: &str) -> Playback {
    let (playback, mismatches) = play(program, rest);
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
    playback
}

#[test]
fn prompts_are_typed_and_what_scrolled_off_is_still_found() {
    let program = answering("seq -f 'row %g' 1 60; echo \"you said $1\"");
    let playback = play_well(
        &program,
        "[[do]]\nprompt = 'first thing'\n[[do]]\nprompt = 'second thing'\n\
         [expect]\nexit = 0\n\
         [[expect.screen]]\ncontains = ['row 1 row 2 row 3', 'you said second thing']\nlacks = ['row 61']\n\
         count = { 'row 60' = 2 }\n\
         [[expect.screen]]\nafter = 1\ncontains = ['you said first thing']\nlacks = ['second']\n",
    );
    assert_eq!(playback.exit, Some(0));
}

#[test]
fn the_program_has_a_terminal_of_its_own_and_of_the_given_size() {
    let program = answering("stty size < /dev/tty; tty | cut -c1-9");
    play_well(&program, "[[do]]\nprompt = 'size'\n[[expect.screen]]\ncontains = ['10 40', '/dev/pts/']\n");
}

#[test]
fn a_long_sentence_and_wide_characters_are_found_across_line_breaks() {
    let text = "the quick brown fox jumps over 日本語 and a/path/without/any/space/in/it until the end";
    let program = answering(&format!("echo '{text}'"));
    play_well(
        &program,
        &format!(
            "[[do]]\nprompt = 'go'\n[[expect.screen]]\ncontains = ['{text}']\ncount = {{ '日本語' = 1 }}\n"
        ),
    );
}

#[test]
fn keys_arrive_as_a_terminal_sends_them() {
    let program = "stty raw -echo; printf 'ready '\nfor i in 1 2 3 4; do\n\
                   dd bs=16 count=1 2>/dev/null | od -An -c | tr -d '\\n'; done; stty sane\n";
    play_well(
        program,
        "[[do]]\nwait_for = 'ready'\n[[do]]\npress = ['Down', 'Shift-Tab', 'Ctrl-C']\n[[do]]\npress = 'Enter'\n\
         [expect]\nexit = 0\n[[expect.screen]]\nmatches = ['033 \\[ B 033 \\[ Z 003 \\\\r']\n",
    );
}

/// Shows each byte that it reads after `delay`, until 2 s pass without one.
fn play_slow_reader(delay: &str) {
    let program = format!(
        "stty raw -echo min 0 time 20; printf 'ready '; {delay}\n\
         while byte=$(dd bs=1 count=1 2>/dev/null | od -An -c); [ -n \"$byte\" ]; do printf 'got %s ' $byte; done\n\
         stty sane; printf 'over'\n"
    );
    play_well(
        &program,
        "[[do]]\nwait_for = 'ready'\n[[do]]\npress = 'x'\n[[do]]\nwait_for = 'over'\n\
         [[expect.screen]]\ncount = { 'got x' = 1 }\n",
    );
}

#[test]
fn a_key_is_not_pressed_again_before_the_client_has_read_it() {
    play_slow_reader("sleep 8");
}

#[test]
fn a_key_is_not_pressed_again_while_the_client_is_at_work() {
    play_slow_reader(
        "dd bs=1 count=1 of=key 2>/dev/null; trap 'over=1' USR1; (sleep 8; kill -USR1 $$) &\n\
         while [ -z \"$over\" ]; do :; done; printf 'got %s ' $(cat key)",
    );
}

#[test]
fn a_busy_client_is_waited_for() {
    // The title says that it is at work while the screen stands still.
    let program = answering(
        "printf '\\033]0;◐ Stand-in\\007'; sleep 1; echo 'late answer'; printf '\\033]0;✳ Stand-in\\007'",
    );
    let playback = play_well(
        &program,
        "[[do]]\nprompt = 'go'\n[[do]]\nwait_idle = true\n[[do]]\ntype = 'more'\n[[do]]\npress = 'Enter'\n\
         [[expect.screen]]\ncount = { 'late answer' = 2 }\n",
    );
    assert!(playback.screens[1].contains("late answer"), "{}", playback.screens[1]);
    assert!(!playback.screens[1].contains("more"), "{}", playback.screens[1]);
}

#[test]
fn a_mismatch_shows_the_screen() {
    // Expected text is waited for, so only `lacks` fails at once.
    let (_, mismatches) = play(
        &answering("echo \"you said $1\""),
        "[[do]]\nprompt = 'hello'\n[[expect.screen]]\nlacks = ['you said hello']\n",
    );
    let [mismatch] = mismatches.as_slice() else { panic!("{mismatches:?}") };
    assert!(mismatch.contains("the screen contains"), "{mismatch}");
    assert!(mismatch.contains("❯ hello\n"), "{mismatch}");
}

#[test]
fn waiting_in_vain_names_the_step_and_shows_the_screen() {
    let rest = "[[do]]\nprompt = 'hello'\n[[do]]\nwait_for = 'goodbye'\n[[expect.screen]]\nafter = 2\ncontains = ['x']\n";
    let limited = format!("{SCENARIO}{rest}").replace("timeout = 60", "timeout = 4");
    let dir = tempfile::tempdir().unwrap();
    let client = dir.path().join("client");
    fs::write(&client, format!("#!/bin/sh\n{}", answering("sleep 1000 & echo \"you said $1\""))).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let recorder = PathBuf::from(env!("CARGO_BIN_EXE_rehearse"));
    let stage = ScenarioPlayer { client, variables: [].into(), recorder, keep: false };
    let scenario = Scenario::parse(&limited, "t.toml").unwrap();
    let playback = stage.play(&scenario, &mut Silent).unwrap();
    let mismatch = scenario.check(&playback)[0].to_string();
    assert!(
        mismatch.contains("step 2 (waits for \"goodbye\" on the screen): the time limit of 4 s"),
        "{mismatch}"
    );
    assert!(mismatch.contains("you said hello"), "{mismatch}");
    assert_eq!(playback.exit, None);
    assert_nothing_runs_in(&playback.home);
}

#[test]
fn a_client_that_ends_early_is_told_and_one_that_is_left_is_not() {
    let program = answering("exit 3");
    let (playback, mismatches) = play(&program, "[[do]]\nprompt = 'a'\n[[do]]\nwait_for = 'b'\n");
    assert_eq!(playback.exit, Some(3));
    assert!(mismatches[0].contains("): the client has ended with exit status 3"), "{mismatches:?}");
    let playback =
        play_well(&program, "[[do]]\nwait_idle = true\n[[do]]\nprompt = 'a'\n[expect]\nexit = 3\n");
    assert!(playback.stall.is_none());
}

#[test]
fn the_user_may_act_outside_between_two_steps() {
    play_well(
        &answering("cat note; echo"),
        "[[do]]\noutside = [{ write = 'note', text = 'from outside' }]\n[[do]]\nprompt = 'read it'\n\
         [[expect.screen]]\ncontains = ['from outside']\n",
    );
}
