//! Whole screens, as a person reads them in a pipe.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::Desk;
use crate::support::program;

/// A desk with the program on the PATH and a client beside it.
fn furnished(client: &str) -> Desk {
    let desk = Desk::with(
        "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"beep\" }] }]\n  }\n}\n",
    );
    let bin = desk.project.home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(program(), bin.join("provost")).unwrap();
    let file = desk.project.home_file("bin/claude", client);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    desk
}

fn told(desk: &Desk, arguments: &[&str]) -> String {
    let mut command = desk.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", desk.project.home.join("bin").display()));
    desk.answered(command).stdout
}

#[test]
fn init_and_uninstall_as_a_person_sees_them() {
    let desk = furnished("#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    assert_eq!(told(&desk, &["init", "--yes", "--pack", "self"]), include_str!("init.txt"));
    assert_eq!(told(&desk, &["uninstall", "--yes"]), include_str!("uninstall.txt"));
}

#[test]
fn a_client_that_does_not_answer_is_not_waited_for() {
    let began = std::time::Instant::now();
    let desk = furnished("#!/bin/sh\nexec sleep 60\n");
    let shown = told(&desk, &["init", "--dry-run"]);
    assert!(shown.contains("\nclient     <home>/bin/claude\n"), "{shown}");
    assert!(began.elapsed().as_secs() < 20);
    let desk = furnished("#!/bin/sh\nprintf '\\033[2J9.9\\n'\n");
    assert!(told(&desk, &["init", "--dry-run"]).contains("client     \\u{1b}[2J9.9, <home>/bin/claude\n"));
}
