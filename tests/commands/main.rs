//! More than a thousand labelled commands, and what the planner's guard says to each.
//!
//! The table lies in the text files of this directory. Two things are tested: that the labels are
//! true, by running the commands on a stage and looking at the disk ([`stage`]), and that the guard
//! decides by them. No unsafe command is allowed; a safe one is blocked only where the table says
//! why, and that is at most one in fifty.

mod stage;
mod table;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use stage::{Copy, Stage};
use table::{Label, Line, Mark};

/// Of a hundred safe commands, so many may be blocked.
const BLOCKED_SHARE: usize = 2;

fn count(lines: &[Line], label: Label) -> usize {
    lines.iter().filter(|line| line.label == label).count()
}

/// Asks about all lines on as many threads as the machine has, and keeps the answers in order.
fn each<T: Send>(lines: &[&Line], ask: impl Fn(&Line) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((number, line)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    lines.get(number).map(|line| (number, line))
                } {
                    let answer = ask(line);
                    answers.lock().unwrap().insert(number, answer);
                }
            });
        }
    });
    answers.into_inner().unwrap().into_values().collect()
}

/// What the guard says: `Ok` to let it run, or the reason why not.
fn judge(stage: &Copy, command: &str) -> Result<(), String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_provost"))
        .args(["compat", "planner-bash-guard"])
        .current_dir(stage.project())
        .env_clear()
        .env("HOME", stage.home())
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let event = serde_json::json!({"tool_input": {"command": command}});
    // A guard that does not read to the end is seen by its answer.
    let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.code() {
        Some(0) => Ok(()),
        Some(2) if reason.starts_with("BLOCKED") => Err(reason),
        code => panic!("neither allowed nor blocked ({code:?}): {command}\n{reason}"),
    }
}

/// The lines for which the guard does not say what it should, with what it said.
fn wrong(lines: &[&Line], stage: &Copy, allowed: bool) -> Vec<String> {
    let answers = each(lines, |line| judge(stage, &line.command));
    let wrong = lines.iter().zip(answers).filter(|(_, answer)| answer.is_ok() != allowed);
    wrong
        .map(|(line, answer)| {
            let said = answer.err().unwrap_or_else(|| "allowed".into());
            format!("{}: {:?} ({}): {said}", line.place, line.command, line.why)
        })
        .collect()
}

fn labelled(lines: &[Line], label: Label) -> Vec<&Line> {
    lines.iter().filter(|line| line.label == label).collect()
}

#[test]
fn the_table_is_well_formed() {
    let lines = table::read();
    let mut seen = HashMap::new();
    for line in &lines {
        if let Some(before) = seen.insert(&line.command, &line.place) {
            panic!("{} and {before} are the same command: {:?}", line.place, line.command);
        }
        assert!(!line.why.is_empty(), "{}", line.place);
    }
    let (safe, strict) = (count(&lines, Label::Safe), count(&lines, Label::Strict));
    let harmful = count(&lines, Label::Unsafe);
    println!(
        "{} commands: {safe} safe, {strict} safe but blocked with reason, {} not listed, {harmful} unsafe",
        lines.len(),
        count(&lines, Label::Unlisted),
    );
    assert!(lines.len() >= 650 && safe >= 325 && harmful >= 325);
    assert!(strict * 100 <= (safe + strict) * BLOCKED_SHARE, "{strict} of {safe}");
    let git = lines.iter().filter(|line| line.command.contains("git ")).count();
    assert!(git >= 120, "{git} lines about git");
}

#[test]
fn no_unsafe_command_is_allowed() {
    let (lines, stage) = (table::read(), Stage::build().copy());
    let wrong = wrong(&labelled(&lines, Label::Unsafe), &stage, false);
    assert!(wrong.is_empty(), "{} unsafe commands allowed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn safe_commands_are_blocked_only_with_reason() {
    let (lines, stage) = (table::read(), Stage::build().copy());
    let wrong_ones = wrong(&labelled(&lines, Label::Safe), &stage, true);
    let understood = wrong(&labelled(&lines, Label::Strict), &stage, false);
    if !understood.is_empty() {
        println!("understood by now, so they could be `safe`:\n{}", understood.join("\n"));
    }
    assert!(wrong_ones.is_empty(), "{} safe commands blocked:\n{}", wrong_ones.len(), wrong_ones.join("\n"));
}

#[test]
fn unlisted_commands_need_the_configuration() {
    let (lines, stage) = (table::read(), Stage::build().copy());
    let unlisted = labelled(&lines, Label::Unlisted);
    let allowed = wrong(&unlisted, &stage, false);
    assert!(allowed.is_empty(), "allowed by default:\n{}", allowed.join("\n"));
    // The stage is thrown away, so the configuration may simply be laid into it.
    let mut config = String::from("[planner]\nallow = [\n");
    for program in [
        "sort",
        "sed",
        "awk",
        "cut",
        "tr",
        "uniq",
        "nl",
        "jq",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "date",
        "printf",
        "uname",
        "id",
        "seq",
        "diff",
        "cmp",
        "comm",
        "md5sum",
        "sha256sum",
        "tac",
        "od",
        "egrep",
        "paste",
    ] {
        let _ = writeln!(config, "  \"{program}\",");
    }
    std::fs::write(stage.project().join("provost.toml"), config + "]\n").unwrap();
    let blocked = wrong(&unlisted, &stage, true);
    assert!(blocked.is_empty(), "blocked though configured:\n{}", blocked.join("\n"));
    // What an option makes them write stays blocked.
    let harmful = lines.iter().filter(|line| line.section == "Not listed, and told to write");
    let allowed = wrong(&harmful.collect::<Vec<_>>(), &stage, false);
    assert!(allowed.is_empty(), "allowed with the configuration:\n{}", allowed.join("\n"));
}

/// The labels are true: unsafe commands change something, all others change nothing but plans.
#[test]
fn ground_truth() {
    if !stage::is_installed("bash") || !stage::is_installed("git") {
        println!("skipped: there is no bash or no git here");
        return;
    }
    let lines = table::read();
    let stage = Stage::build();
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    let mut runnable = Vec::new();
    for line in &lines {
        match &line.mark {
            Mark::NotRun(reason) => *skipped.entry(reason.clone()).or_default() += 1,
            Mark::Needs(program) if !stage::is_installed(program) => {
                *skipped.entry(format!("no `{program}` here")).or_default() += 1;
            }
            _ => runnable.push(line),
        }
    }
    let answers = each(&runnable, |line| stage.copy().run(&line.command));
    let mut untrue = Vec::new();
    for (line, changed) in runnable.iter().zip(answers) {
        let is_unsafe = line.label == Label::Unsafe;
        let harm: Vec<_> = changed.iter().filter(|path| is_unsafe || !stage::may_change(path)).collect();
        if is_unsafe == harm.is_empty() {
            untrue.push(format!(
                "{}: {:?} is not {:?}: {}",
                line.place,
                line.command,
                line.label,
                shown(&harm)
            ));
        }
    }
    let ran = |label| runnable.iter().filter(|line| line.label == label).count();
    println!(
        "really run: {} of {} commands ({} unsafe, each changed something; {} others, none did)",
        runnable.len(),
        lines.len(),
        ran(Label::Unsafe),
        runnable.len() - ran(Label::Unsafe),
    );
    for (reason, count) in &skipped {
        println!("  not run: {count:3} × {reason}");
    }
    assert!(untrue.is_empty(), "{} labels are not true:\n{}", untrue.len(), untrue.join("\n"));
    assert!(runnable.len() * 4 >= lines.len() * 3, "too few commands are really run");
}

fn shown(paths: &[&std::path::PathBuf]) -> String {
    if paths.is_empty() {
        return "nothing changed".into();
    }
    paths.iter().take(4).map(|path| Path::new(path).display().to_string()).collect::<Vec<_>>().join(", ")
}
