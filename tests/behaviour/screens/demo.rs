//! The demo shows real decisions, runs anywhere, and leaves nothing behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::stage::Stage;

/// How often each outcome is shown: denied, must continue, allowed, the turn ends.
fn count_outcomes(text: &str) -> [usize; 4] {
    ["denied", "must continue", "allowed", "the turn ends"]
        .map(|word| text.matches(&format!("\n    {word}  ")).count())
}

fn count_files(directory: &PathBuf) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// Runs the demo in a temporary directory of this name.
fn run_demo_in(name: &std::ffi::OsStr) -> String {
    let stage = Stage::empty();
    let scratch = stage.home.join(name);
    fs::create_dir(&scratch).unwrap();
    let output = stage.command(&["demo"]).env("TMPDIR", &scratch).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{text}");
    assert_eq!(count_files(&scratch), 0, "{}", name.display());
    assert!(!stage.home.join(".local").exists(), "the demo uses its own home directories");
    text
}

#[test]
fn it_shows_real_decisions_of_every_pack_and_leaves_nothing_behind() {
    let text = run_demo_in("tmp".as_ref());
    assert_eq!(count_outcomes(&text), [14, 3, 15, 2], "{text}");
    for (number, pack) in (1..).zip(provost::registry::PACKS) {
        assert!(text.contains(&format!("\n── {number}. {} ─", pack.name)), "{}", pack.name);
    }
    assert!(text.contains("\n    blocked  ~/.claude/plans/login.md"), "{text}");
    assert!(text.contains("\n    pass  ~/.claude/plans/login.md"), "{text}");
    assert_eq!(text.matches("A script plays").count(), 2, "the story says who is played");
    assert!(text.contains("\nbranch-guard  deny  "), "it ends with an explanation: {text}");
}

#[test]
fn it_runs_in_directories_with_odd_names() {
    for name in ["a b", "quote\" and \\ and '", "$HOME `x` ; #", "ärger"] {
        assert_eq!(count_outcomes(&run_demo_in(name.as_ref())), [14, 3, 15, 2], "{name}");
    }
    // An event cannot contain this name, so the demo uses another directory.
    let broken = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    assert_eq!(count_outcomes(&run_demo_in(broken)), [14, 3, 15, 2]);
}

#[test]
fn its_reviewer_runs_without_a_path_variable() {
    let stage = Stage::empty();
    for path in ["", "/nowhere"] {
        let output = stage.command(&["demo"]).env("PATH", path).output().unwrap();
        assert_eq!(count_outcomes(&String::from_utf8(output.stdout).unwrap()), [14, 3, 15, 2], "{path:?}");
    }
}

#[test]
fn files_above_the_temporary_directory_have_no_effect() {
    let stage = Stage::empty();
    fs::write(stage.project.join("provost.toml"), "[guards]\nself-guard = \"off\"\nbranch-guard = \"off\"\n")
        .unwrap();
    let output = stage.command(&["demo"]).env("TMPDIR", &stage.project).output().unwrap();
    assert_eq!(count_outcomes(&String::from_utf8(output.stdout).unwrap()), [14, 3, 15, 2]);
}

#[test]
fn a_managed_reviewer_is_not_called() {
    let stage = Stage::empty();
    let called = stage.home.join("called");
    let managed = stage.home.join("managed");
    fs::create_dir(&managed).unwrap();
    let config = format!("[reviewer]\ncommand = ['touch', '{}']\n", called.display());
    fs::write(managed.join("provost.toml"), config).unwrap();
    let output = stage.command(&["demo"]).env("PROVOST_MANAGED", &managed).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("Not played: ").count(), 2, "{text}");
    assert!(output.status.success() && !called.exists());
}

#[test]
fn pack_plays_one_act() {
    let stage = Stage::empty();
    for pack in provost::registry::PACKS {
        let output = stage.command(&["demo", "--pack", pack.name]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.matches("\n── ").count() == 1, "{text}");
        assert!(count_outcomes(&text)[..2].iter().sum::<usize>() > 0, "{text}");
    }
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let stage = Stage::empty();
        let scratch = stage.home.join("tmp");
        fs::create_dir(&scratch).unwrap();
        let mut command = stage.command(&["demo"]);
        let mut child = command.env("TMPDIR", &scratch).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().starts_with("    denied")));
        assert_eq!(count_files(&scratch), 1);
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
        assert!(sent.unwrap().success());
        let _ = lines.count();
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        assert_eq!(count_files(&scratch), 0, "{signal}");
    }
}

#[test]
fn a_closed_pipe_leaves_nothing_behind() {
    let stage = Stage::empty();
    let scratch = stage.home.join("tmp");
    fs::create_dir(&scratch).unwrap();
    let mut command = stage.command(&["demo"]);
    let mut child = command.env("TMPDIR", &scratch).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(count_files(&scratch), 0);
}
