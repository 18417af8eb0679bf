//! Runs commands in a pseudo-terminal, and writes its escape codes in words.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{self, Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{self, LocalModes, OptionalActions, Winsize};

use super::cases::Case;
use super::stage::{self, Stage};

/// A command that takes longer hangs.
const TIMEOUT: Duration = Duration::from_mins(10);
/// Ends the input of a terminal (Ctrl-D).
const END: &str = "\u{4}";

/// Runs a command in a terminal, and returns the screen and the exit code.
pub fn run_in_terminal(stage: &Stage, case: &Case) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: 24, ws_col: case.width, ws_xpixel: 0, ws_ypixel: 0 };
    termios::tcsetwinsize(&slave, size).unwrap();
    // Typed text would be echoed before or after the question, depending on timing.
    let mut modes = termios::tcgetattr(&slave).unwrap();
    modes.local_modes.remove(LocalModes::ECHO);
    termios::tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    let end = || Stdio::from(slave.try_clone().unwrap());
    let mut command = stage.command(case.arguments);
    command.env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end());
    let mut child = command.spawn().unwrap();
    // Reading ends only after this process has closed the terminal's other end.
    drop((command, slave));
    let mut master = File::from(master);
    let mut keyboard = master.try_clone().unwrap();
    if !case.input.is_empty() {
        keyboard.write_all(format!("{}{END}{END}", stage.fill_paths(case.input)).as_bytes()).unwrap();
    }
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut part = [0; 4096];
        // Linux reports an error when no process has the other end open.
        while let Ok(length @ 1..) = master.read(&mut part) {
            let _ = send.send(part[..length].to_vec());
        }
    });
    let began = Instant::now();
    let (mut seen, mut interrupted) = (Vec::new(), case.until.is_empty());
    loop {
        match receive.recv_timeout(TIMEOUT.saturating_sub(began.elapsed())) {
            Ok(part) => seen.extend(part),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("`provost {}` did not end", case.arguments.join(" "));
            }
        }
        if !interrupted && String::from_utf8_lossy(&seen).contains(case.until) {
            interrupted = true;
            // Background processes of a shell, and their children, ignore SIGINT.
            process::kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        }
    }
    let status = child.wait().unwrap();
    let seen = name_escape_codes(&String::from_utf8(seen).unwrap().replace("\r\n", "\n"));
    stage::add_exit_code(seen, status)
}

/// Replaces escape codes with words: `⟨bold⟩`, and `⟨/⟩` for a reset.
fn name_escape_codes(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        words += before;
        let end = code.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(code.len() - 1);
        let (parameters, behind) = code.split_at(end);
        let kind = &behind[..1];
        rest = &behind[1..];
        let parts = parameters.split(';').filter(|_| kind == "m");
        for part in parts {
            words += &match part {
                "" | "0" => "⟨/⟩".into(),
                "1" => "⟨bold⟩".into(),
                "2" => "⟨dim⟩".into(),
                "4" => "⟨underlined⟩".into(),
                "31" => "⟨red⟩".into(),
                "32" => "⟨green⟩".into(),
                "33" => "⟨yellow⟩".into(),
                "36" => "⟨cyan⟩".into(),
                other => format!("⟨style {other}⟩"),
            };
        }
        if kind != "m" {
            words += &format!("⟨code {parameters}{kind}⟩");
        }
    }
    (words + rest).replace('\u{1b}', "⟨escape⟩")
}

#[test]
fn escape_codes_are_told_name_escape_codes() {
    assert_eq!(
        name_escape_codes("a\u{1b}[1m\u{1b}[31mb\u{1b}[0m c\u{1b}[2Jd\u{1b}7"),
        "a⟨bold⟩⟨red⟩b⟨/⟩ c⟨code 2J⟩d⟨escape⟩7"
    );
}
