//! A mistake in a hook entry: reported to the user, never a block.

use std::io::Write;

use super::{forbidden, unread};
use crate::support::{TestProject, collect_answer};

const MISTAKES: &[(&[&str], &str)] = &[
    (&["--of-tomorrow"], "unknown argument `--of-tomorrow`"),
    (&["extra"], "unknown argument `extra`"),
    (&["--client", "vim"], "unknown client `vim`"),
    (&["--client=vim"], "unknown client `vim`"),
    (&["--pack", "self", "--pack"], "`--pack` needs a value"),
    (&["--client"], "`--client` needs a value"),
    (&["--pack=self", "--pack=tomorrow"], "unknown pack `tomorrow`"),
];

#[test]
fn a_mistake_is_told_to_the_person_and_never_blocks() {
    let project = TestProject::new();
    for (arguments, mistake) in MISTAKES {
        let answer = project.hook_with(arguments, &project.bash("ls"));
        assert_eq!(
            answer.expect_note(),
            format!(
                "[provost] the hook entry has a mistake: {mistake}. To fix: correct the entry in the \
                 settings file; `provost guards` lists all guards and packs."
            )
        );
    }
}

#[test]
fn a_mistake_is_told_on_every_recorded_event_without_a_block() {
    let project = TestProject::new();
    for event in ["Stop.active_false", "UserPromptSubmit", "SessionStart.startup", "ConfigChange"] {
        let answer = project.hook_with(&["--of-tomorrow"], &project.recorded_event(event));
        assert!(answer.expect_note().contains("unknown argument"), "{event}");
    }
}

#[test]
fn what_is_known_beside_a_mistake_still_judges() {
    let project = TestProject::new();
    for (arguments, mistake) in MISTAKES {
        let answer = project.hook_with(arguments, &forbidden(&project));
        answer.expect_denial();
        assert!(answer.json()["systemMessage"].as_str().unwrap().contains(mistake), "{answer:?}");
    }
}

#[test]
fn an_unknown_pack_alone_names_no_guard_and_blocks_nothing() {
    let project = TestProject::new();
    let unknown = &["--pack", "tomorrow"];
    assert!(
        project.hook_with(unknown, &forbidden(&project)).expect_note().contains("unknown pack `tomorrow`")
    );
    for input in [&b""[..], b"garbage"] {
        assert!(project.hook_bytes(unknown, input).expect_note().contains("unknown pack `tomorrow`"));
    }
}

#[test]
fn an_unknown_pack_alone_does_not_block_an_input_that_never_ends() {
    let project = TestProject::new().with_real_limits();
    let mut child = project.command(&["--pack", "tomorrow"]).spawn().unwrap();
    let stdin = child.stdin.take();
    let answer = collect_answer(child, None);
    drop(stdin);
    answer.expect_note();
}

#[test]
fn both_spellings_of_an_argument_mean_the_same() {
    let project = TestProject::new();
    for arguments in [&["--client", "claude", "--pack", "self"][..], &["--client=claude", "--pack=self"]] {
        assert!(project.hook_with(arguments, &project.bash("ls")).is_silent());
        project.hook_with(arguments, &forbidden(&project)).expect_denial();
    }
}

#[test]
fn a_mistake_does_not_soften_an_unreadable_input() {
    let project = TestProject::new();
    project.hook_bytes(&["--of-tomorrow"], b"").expect_closed_failure();
}

#[test]
fn a_mistake_that_cannot_be_told_is_still_no_block() {
    let project = TestProject::new();
    assert_eq!(unread(&project, &["--of-tomorrow"], &project.bash("ls")), Some(0));
}

#[test]
fn an_argument_that_is_not_text_is_a_mistake_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let project = TestProject::new();
    let mut command = project.command(&[]);
    let mut child = command.arg(std::ffi::OsStr::from_bytes(b"--\xff")).spawn().unwrap();
    child.stdin.take().unwrap().write_all(project.bash("ls").to_string().as_bytes()).unwrap();
    assert!(collect_answer(child, None).expect_note().contains("unknown argument"));
}

#[test]
fn an_entry_that_does_not_even_say_hook_blocks_nothing() {
    let project = TestProject::new();
    for arguments in [&[][..], &["hok"], &["compat", "some-hook"], &["--pack", "self", "hook"]] {
        let command = project.command(&[]);
        let mut again = std::process::Command::new(command.get_program());
        again
            .args(arguments)
            .env_clear()
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        again.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
        let output = again.current_dir(&project.path).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(
            answer["systemMessage"].as_str().unwrap().starts_with("[provost] the hook entry has a mistake"),
            "{answer}"
        );
    }
}

#[test]
fn words_of_an_unknown_client_are_no_block() {
    let project = TestProject::new();
    let answer = project.hook_bytes(&["--client", "of-tomorrow"], br#"{"event":"pre_tool"}"#);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.stdout.contains("unknown client `of-tomorrow`"), "{answer:?}");
}
