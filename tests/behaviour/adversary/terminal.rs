//! Text that an agent wrote cannot control the user's terminal.
//!
//! One project has terminal codes wherever an agent can write: names of files and agents, plans, states, settings, the
//! journal. Then every command that prints is run, in a pipe and with colours, and every character of its output is checked.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use super::Outcome;
use super::plays::undone_or_not_seen;
use super::stage::Stage;
use crate::support::program;
use crate::support::waiting::wait_until;

/// Codes that clear the screen, make a link, fill the clipboard, ring the bell, overwrite the line, reverse it, join and hide
/// characters; C1 codes, a deletion, a line separator, tags.
const CODES: &str = "\u{1b}[2J\u{1b}]8;;x\u{7}\u{1b}]52;c;eA==\u{7}\r\u{202e}\u{200b}\u{9b}31m\u{7f}\u{2028}\u{e0041}\u{feff}evil";

/// Commands, and whether they must show some of the codes, because otherwise the test would check nothing.
const COMMANDS: &[(&[&str], bool)] = &[
    (&["journal"], true),
    (&["journal", "--denied"], true),
    (&["journal", "--json"], true),
    (&["explain"], true),
    (&["status"], true),
    (&["status", "--json"], true),
    (&["statusline"], true),
    (&["doctor"], true),
    (&["doctor", "--json"], true),
    (&["config", "check"], true),
    (&["guards"], false),
    (&["gate", "status"], true),
    (&["gate", "status", "--all"], true),
    (&["gate", "status", "--json"], true),
    (&["gate", "show"], true),
    (&["gate", "move", "--to", "sidecar"], false),
    (&["review", "status"], true),
    (&["review", "status", "--json"], true),
    (&["review", "continue"], false),
    (&["review", "set", "max_reviews=4"], false),
    (&["phases", "status"], true),
    (&["phases", "status", "--json"], true),
    (&["phases", "migrate", "--dry-run"], false),
    (&["init", "--dry-run"], false),
    (&["uninstall", "--dry-run"], false),
    (&["explain", CODES], true),
    (&["gate", "show", CODES], true),
    (&["review", "status", "--plan", CODES], false),
    (&["check", "--", "rm \u{1b}[2J\u{202e}evil\u{200b} > provost.toml"], true),
    (&["check", "--json", "--", "rm \u{1b}[2J\u{202e}evil\u{200b} > provost.toml"], true),
    (&["check", "--agent", CODES, "--", "ls"], false),
    (&[CODES], true),
    (&["demo", CODES], true),
    (&["completions", CODES], true),
    (&["man", CODES], true),
];

/// Whether a terminal obeys or hides a character. Provost's own colours are removed before.
fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Escapes a text for a TOML string.
fn escape_toml(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_graphic() { c.to_string() } else { format!("\\U{:08x}", u32::from(c)) })
        .collect()
}

fn stage_with_codes() -> Stage {
    let stage = Stage::new();
    let project = &stage.project;
    // The key of the other tricks is none.
    fs::remove_file(project.state_directory().join("seal.key")).unwrap();
    let name = CODES.replace('/', "_");
    let config = format!(
        "[plan_gate]\nenabled = true\n\"{0}\" = 1\n[planner]\nagents = [\"{0}\"]\n[guards]\n\"{0}\" = \"off\"\n",
        escape_toml(CODES)
    );
    project.write_file("provost.toml", &config);
    let hook = |command: &str| json!({"type": "command", "command": command, "args": [CODES]});
    let settings = json!({
        "model": CODES,
        "hooks": {
            "PreToolUse": [{"matcher": CODES, "hooks": [hook(CODES), {"type": "command", "command": "provost", "args": ["hook"]}]}],
            CODES: [{"matcher": "*", "hooks": [hook("x")]}],
        },
        "enabledPlugins": {CODES: true},
    });
    project.write_file(".claude/settings.json", &settings.to_string());
    project.write_file(".git/HEAD", &format!("ref: refs/heads/{CODES}\n"));
    let branch = json!({"name": CODES, "status": "active"});
    let phases = json!([CODES, "06-implementation"]);
    let workflow = json!({
        "active_workflow": {"type": CODES, "id": CODES, "current_phase": CODES, "phases": phases, "git_branch": branch,
            "artifact_folder": CODES, "phase_status": {CODES: CODES}},
        "phases": {CODES: {"status": CODES, "iteration_requirements": {"test_iteration": {"current_iteration": 1, "last_error": CODES}}}},
    });
    project.write_file(".isdlc/state.json", &workflow.to_string());
    let plan = ".taskie/plans/login";
    project.write_file(&format!("{plan}/plan.md"), CODES);
    project.write_file(
        &format!("{plan}/tasks.md"),
        &format!("| Id | Status |\n|---|---|\n| {CODES} | {CODES} |\n"),
    );
    let review = json!({
        "max_reviews": 8, "current_task": CODES, "phase": CODES, "phase_iteration": 1, "next_phase": "code-review",
        "review_model": CODES, "consecutive_clean": 0, "tdd": false,
    });
    project.write_file(&format!("{plan}/state.json"), &review.to_string());
    let gaps = format!(
        "# {CODES}\n\n## Goals\n- {CODES}\n\n<!-- rodin:gaps:start -->\n### GAP-1: {CODES}\n- **Severity**: high\n\
         - **Description**: {CODES}\n<!-- rodin:gaps:end -->\n<!-- rodin:session={CODES} -->\n\
         <!-- rodin:validation={} -->\n",
        json!({"status": "fail", "reason": CODES, "ts": CODES})
    );
    let written = project.write_home_file(&format!(".claude/plans/{name}.md"), &gaps);
    let mut event = project.recorded_event("PostToolUse.Write");
    event["permission_mode"] = "plan".into();
    event["session_id"] = CODES.into();
    event["tool_input"] = json!({"file_path": written, "content": "x"});
    project.hook(&event);
    for (tool, input) in [
        ("Bash", json!({"command": format!("rm '{CODES}/provost.toml'")})),
        (CODES, json!({"path": project.path.join(&name).join("provost.toml")})),
        ("Write", json!({"file_path": project.path.join(&name).join("provost.toml"), "content": "x"})),
    ] {
        let mut event = project.call(tool, input);
        event["session_id"] = CODES.into();
        event["agent_type"] = CODES.into();
        event["agent_id"] = CODES.into();
        event["tool_use_id"] = CODES.into();
        event["permission_mode"] = CODES.into();
        let answer = project.hook(&event);
        let shown = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!shown.contains(is_obeyed), "the hook itself: {shown:?}");
    }
    // A journal that somebody else has written to.
    for directory in fs::read_dir(project.state_directory().join("projects")).unwrap() {
        let journal = directory.unwrap().path().join("journal.jsonl");
        let Ok(text) = fs::read_to_string(&journal) else { continue };
        let Some(mut line) = text.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok())
        else {
            continue;
        };
        for field in ["id", "time", "tool", "event", "session", "agent", "decision", "mode", "remark"] {
            line[field] = CODES.into();
        }
        fs::write(&journal, format!("{line}\n{text}")).unwrap();
    }
    stage
}

fn run(stage: &Stage, arguments: &[&str], in_colours: bool) -> String {
    let project = &stage.project;
    let mut command = Command::new(program());
    command.args(arguments).env_clear().current_dir(&project.path);
    command
        .env("HOME", &project.home)
        .env("PATH", "/usr/bin:/bin")
        .env("NO_COLOR", if in_colours { "" } else { "1" });
    if in_colours {
        command.env("CLICOLOR_FORCE", "1").env("TERM", "xterm-256color");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let seat = json!({"session_id": CODES, "cwd": project.path, "workspace": {"current_dir": project.path, "project_dir": project.path}});
    let _ = child.stdin.take().unwrap().write_all(seat.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Removes the colours of the command itself.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        plain += before;
        let end = code.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(code.len());
        if code[end..].starts_with('m') {
            rest = &code[end + 1..];
        } else {
            plain += "\u{1b}[";
            rest = code;
        }
    }
    plain + rest
}

pub fn terminal_codes() -> Vec<(&'static str, Outcome)> {
    let stage = stage_with_codes();
    let mut wrong = Vec::new();
    for (arguments, shows) in COMMANDS {
        for in_colours in [false, true] {
            let shown = run(&stage, arguments, in_colours);
            let plain = without_colours(&shown);
            if let Some(at) = plain.find(is_obeyed) {
                let around: String =
                    plain[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
                let c = plain[at..].chars().next().unwrap();
                wrong.push(format!("provost {arguments:?} sends {c:?} behind {around:?}"));
            }
            if *shows && !plain.contains("evil") {
                wrong.push(format!("provost {arguments:?} shows nothing of it: {plain}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    vec![("every command", undone_or_not_seen(true))]
}

/// Commands that run until they are ended.
const WATCHED: &[&[&str]] = &[
    &["status", "--watch"],
    &["status", "--watch", "--json"],
    &["review", "status", "--watch"],
    &["review", "status", "--watch", "--json"],
    &["journal", "--follow"],
    &["journal", "--follow", "--json"],
];
/// The cursor movements that redraw a screen.
const OWN_MOVES: [&str; 3] = ["\u{1b}[H", "\u{1b}[K", "\u{1b}[J"];
/// How long a command runs after its first output. It checks for changes twice a second.
const LOOKS: Duration = Duration::from_secs(1);

pub fn terminal_codes_watched() -> Vec<(&'static str, Outcome)> {
    let stage = stage_with_codes();
    let mut wrong = Vec::new();
    thread::scope(|scope| {
        let runs: Vec<_> = WATCHED
            .iter()
            .flat_map(|arguments| [(arguments, false), (arguments, true)])
            .map(|(arguments, on_terminal)| {
                let stage = &stage;
                let run = move || run_watched(stage, arguments, on_terminal);
                (arguments, on_terminal, scope.spawn(run))
            })
            .collect();
        for (arguments, on_terminal, run) in runs {
            let plain = without_colours(&run.join().unwrap());
            // A terminal's own line ends.
            let plain = OWN_MOVES.iter().fold(plain.replace("\r\n", "\n"), |text, own| text.replace(own, ""));
            if let Some(at) = plain.find(is_obeyed) {
                let c = plain[at..].chars().next().unwrap();
                wrong.push(format!("provost {arguments:?} ({on_terminal}) sends {c:?}: {plain:?}"));
            }
            if !plain.contains("evil") {
                wrong.push(format!("provost {arguments:?} ({on_terminal}) shows nothing of it: {plain}"));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    vec![("every command that watches", undone_or_not_seen(true))]
}

/// The output of a command in a pipe or a terminal until it is ended.
fn run_watched(stage: &Stage, arguments: &[&str], on_terminal: bool) -> String {
    let project = &stage.project;
    let mut command = Command::new(program());
    command.args(arguments).env_clear();
    command.env("HOME", &project.home).env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color");
    command.current_dir(&project.path).stdin(Stdio::null());
    if !on_terminal {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let pipe = child.stdout.take().unwrap();
        return read_output(child, pipe);
    }
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = fs::File::options().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: 200, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).unwrap();
    let child = command.stdout(slave.try_clone().unwrap()).stderr(slave).spawn().unwrap();
    // While this process holds the other end, reading never comes to an end.
    drop(command);
    read_output(child, fs::File::from(master))
}

/// The output of a command until it has printed something and checked again.
fn read_output(mut child: Child, mut out: impl Read + Send) -> String {
    let seen = Mutex::new(Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut part) {
                seen.lock().unwrap().extend_from_slice(&part[..length]);
            }
        });
        let shows = || String::from_utf8_lossy(&seen.lock().unwrap()).contains("evil");
        wait_until("a look", || shows() || child.try_wait().unwrap().is_some());
        thread::sleep(LOOKS);
        let _ = child.kill();
        child.wait().unwrap();
    });
    String::from_utf8_lossy(&seen.into_inner().unwrap()).into_owned()
}
