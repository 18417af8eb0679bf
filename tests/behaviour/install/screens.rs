//! Whole screens, as a person reads them in a pipe and in a terminal.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use super::Desk;
use crate::support::program;

/// A desk with the program on the PATH and a client beside it.
fn furnished(client: &str) -> Desk {
    let desk = Desk::with(
        "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"beep\" }] }]\n  }\n}\n",
    );
    let bin = desk.project.home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(program(), bin.join("provost")).unwrap();
    // Another process writes it: what this one has open for writing cannot be run.
    let script = desk.project.write_home_file("script", client);
    let done = Command::new("install").args(["-m", "755"]).arg(script).arg(bin.join("claude")).status();
    assert!(done.unwrap().success());
    desk
}

fn command(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = desk.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", desk.project.home.join("bin").display()));
    command
}

fn told(desk: &Desk, arguments: &[&str]) -> String {
    desk.answered(command(desk, arguments)).stdout
}

#[test]
fn init_and_uninstall_as_a_person_sees_them() {
    let desk = furnished("#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    assert_eq!(
        told(&desk, &["init", "--yes", "--scope", "project", "--pack", "self"]),
        include_str!("init.txt")
    );
    assert_eq!(told(&desk, &["uninstall", "--yes"]), include_str!("uninstall.txt"));
}

#[test]
fn a_client_that_does_not_answer_is_not_waited_for() {
    let desk = furnished("#!/bin/sh\nexec sleep 100000\n");
    let mut command = command(&desk, &["init", "--dry-run"]);
    command.env_remove(crate::support::PATIENCE.0);
    let shown = desk.answered(command).stdout;
    assert!(shown.contains("\nclient     <home>/bin/claude\n"), "{shown}");
    let desk = furnished("#!/bin/sh\nprintf '\\033[2J9.9\\n'\n");
    assert!(told(&desk, &["init", "--dry-run"]).contains("client     \\u{1b}[2J9.9, <home>/bin/claude\n"));
}

/// What a terminal of this width shows, and the exit code, if the person answers so.
#[cfg(target_os = "linux")]
fn in_terminal(desk: &Desk, command: &str, columns: usize, answer: &str) -> (String, i32) {
    let line = format!("stty rows 50 cols {columns}; exec '{}' {command}", program().to_str().unwrap());
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env_clear().current_dir(&desk.project.path);
    script.env("HOME", &desk.project.home).env("PATH", "/usr/bin:/bin").env("TERM", "xterm");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
    (text, output.status.code().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn in_a_terminal_the_person_is_asked() {
    let desk = Desk::with("{}\n");
    let (text, code) = in_terminal(&desk, "init --scope project", 60, "n\n");
    assert!(text.contains("Write this? [y/N] ") && text.ends_with("Nothing was changed.\n"), "{text}");
    assert_eq!((code, desk.now().as_str()), (1, "{}\n"));
    let (_, code) = in_terminal(&desk, "init --scope project", 80, "y\n");
    assert_eq!((code, desk.entries().len()), (0, 8));
    let (text, code) = in_terminal(&desk, "uninstall", 60, "yes\n");
    assert_eq!((code, desk.now().as_str()), (0, "{}\n"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_said_fits_a_narrow_terminal() {
    let desk = Desk::empty();
    let (text, _) = in_terminal(&desk, "init --dry-run", 60, "");
    assert!(text.contains("\u{1b}[32m"), "there are colours: {text}");
    let is_said = |line: &&str| !line.starts_with(['+', '-', '@', '{']) && !line.contains('/');
    let plain = |line: &str| {
        let mut parts = line.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
    };
    for line in text.lines().map(plain).collect::<Vec<_>>().iter().map(String::as_str).filter(is_said) {
        assert!(line.chars().count() <= 60, "{line}");
    }
}
