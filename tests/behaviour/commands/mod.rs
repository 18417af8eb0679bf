//! More than a thousand labelled commands, and the decision of the planner's guard on each.
//!
//! The table is in the text files of this directory. The tests check that the labels are true, by running the commands
//! in a throwaway project and comparing the disk ([`stage`]), and that the guard decides as the labels say. It allows no
//! unsafe command. It blocks a safe one only if the table gives the reason, and at most one in fifty.

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

use stage::{Stage, StageCopy};
use table::{Label, Line, Mark};

/// At most this many of a hundred safe commands may be blocked.
const BLOCKED_SHARE: usize = 2;

fn count(lines: &[Line], label: Label) -> usize {
    lines.iter().filter(|line| line.label == label).count()
}

/// Runs a function on all lines, on all cores, and returns the answers in order.
fn map_lines<T: Send>(lines: &[&Line], answer_line: impl Fn(&Line) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((number, line)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    lines.get(number).map(|line| (number, line))
                } {
                    let answer = answer_line(line);
                    answers.lock().unwrap().insert(number, answer);
                }
            });
        }
    });
    answers.into_inner().unwrap().into_values().collect()
}

/// The decision of the guard: `Ok` if it allows the command, or else its reason.
fn judge(stage: &StageCopy, command: &str) -> Result<(), String> {
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
    // If the guard does not read all its input, its answer shows that.
    let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    let output = child.wait_with_output().unwrap();
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.code() {
        Some(0) => Ok(()),
        Some(2) if reason.starts_with("BLOCKED") => Err(reason),
        code => panic!("neither allowed nor blocked ({code:?}): {command}\n{reason}"),
    }
}

/// The lines on which the guard decides wrongly, with its decision.
fn list_wrong(lines: &[&Line], stage: &StageCopy, allowed: bool) -> Vec<String> {
    let answers = map_lines(lines, |line| judge(stage, &line.command));
    let wrong = lines.iter().zip(answers).filter(|(_, answer)| answer.is_ok() != allowed);
    wrong
        .map(|(line, answer)| {
            let reason = answer.err().unwrap_or_else(|| "allowed".into());
            format!("{}: {:?} ({}): {reason}", line.place, line.command, line.why)
        })
        .collect()
}

fn select(lines: &[Line], label: Label) -> Vec<&Line> {
    lines.iter().filter(|line| line.label == label).collect()
}

#[test]
fn the_table_is_well_formed() {
    let lines = table::read_lines();
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
    let (lines, stage) = (table::read_lines(), Stage::build().copy());
    let wrong = list_wrong(&select(&lines, Label::Unsafe), &stage, false);
    assert!(wrong.is_empty(), "{} unsafe commands allowed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn safe_commands_are_blocked_only_with_reason() {
    let (lines, stage) = (table::read_lines(), Stage::build().copy());
    let wrong_ones = list_wrong(&select(&lines, Label::Safe), &stage, true);
    let understood = list_wrong(&select(&lines, Label::Strict), &stage, false);
    if !understood.is_empty() {
        println!("understood by now, so they could be `safe`:\n{}", understood.join("\n"));
    }
    assert!(wrong_ones.is_empty(), "{} safe commands blocked:\n{}", wrong_ones.len(), wrong_ones.join("\n"));
}

#[test]
fn unlisted_commands_need_the_configuration() {
    let (lines, stage) = (table::read_lines(), Stage::build().copy());
    let unlisted = select(&lines, Label::Unlisted);
    let allowed = list_wrong(&unlisted, &stage, false);
    assert!(allowed.is_empty(), "allowed by default:\n{}", allowed.join("\n"));
    // The stage is a copy, so the test can write its configuration into it.
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
    let blocked = list_wrong(&unlisted, &stage, true);
    assert!(blocked.is_empty(), "blocked though configured:\n{}", blocked.join("\n"));
    // Options that make these programs write stay blocked.
    let harmful = lines.iter().filter(|line| line.section == "Not listed, with options that write");
    let allowed = list_wrong(&harmful.collect::<Vec<_>>(), &stage, false);
    assert!(allowed.is_empty(), "allowed with the configuration:\n{}", allowed.join("\n"));
}

/// Unsafe commands change something, and all others change nothing but plans.
#[test]
fn the_labels_are_true() {
    if !stage::is_installed("bash") || !stage::is_installed("git") {
        println!("skipped: there is no bash or no git here");
        return;
    }
    let lines = table::read_lines();
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
    let answers = map_lines(&runnable, |line| stage.copy().run(&line.command));
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
                list_paths(&harm)
            ));
        }
    }
    let ran = |label| runnable.iter().filter(|line| line.label == label).count();
    println!(
        "ran {} of {} commands ({} unsafe ones, which all changed something, and {} others, which changed nothing)",
        runnable.len(),
        lines.len(),
        ran(Label::Unsafe),
        runnable.len() - ran(Label::Unsafe),
    );
    for (reason, count) in &skipped {
        println!("  not run: {count:3} × {reason}");
    }
    assert!(untrue.is_empty(), "{} labels are not true:\n{}", untrue.len(), untrue.join("\n"));
    assert!(runnable.len() * 4 >= lines.len() * 3, "too few commands run");
}

fn list_paths(paths: &[&std::path::PathBuf]) -> String {
    if paths.is_empty() {
        return "nothing changed".into();
    }
    paths.iter().take(4).map(|path| Path::new(path).display().to_string()).collect::<Vec<_>>().join(", ")
}
