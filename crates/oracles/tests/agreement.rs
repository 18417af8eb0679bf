//! What any oracle sees, Provost sees too, or says that it does not understand the line.

#[path = "../../../tests/commands/table.rs"]
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use oracles::generator::Generator;
use oracles::{Names, brush, tree};
use provost::effect::Effect;
use provost::shell;

const GENERATED: usize = 20_000;
const REALLY_RUN: usize = 1_000;
/// What an oracle may take for the name of a command though it is none that matters: words of the
/// grammar, builtins that only run the words behind them, and ends of here-documents that one
/// oracle does not find.
const EXEMPT: &[&str] =
    &["time", "coproc", "!", "[[", "]]", "{", "}", ":", "[", "-p", "command", "builtin", "exec", "EOF"];

/// What Provost sees in a line; `None` where it says that it does not understand all of it.
fn seen(line: &str) -> Option<BTreeSet<String>> {
    let effects = shell::effects(line, Path::new("/p"), Some(Path::new("/home/x")));
    if effects.iter().any(|effect| matches!(effect, Effect::Obscure { .. } | Effect::TooLarge { .. })) {
        return None;
    }
    let runs = effects.into_iter().filter_map(|effect| match effect {
        Effect::Run { program, .. } => Some(program),
        _ => None,
    });
    Some(runs.collect())
}

/// The names that an oracle saw and Provost passed over in silence. Without an oracle's answer, or
/// where Provost does not understand the line, there is nothing to compare.
fn missed(line: &str, names: &Names) -> Vec<String> {
    let Some(seen) = seen(line) else { return Vec::new() };
    let is_missed =
        |name: &&String| !seen.contains(*name) && !EXEMPT.contains(&name.as_str()) && !is_misread(line, name);
    names.iter().filter(is_missed).cloned().collect()
}

/// Whether an oracle is known to be wrong about this name.
fn is_misread(line: &str, name: &str) -> bool {
    // Behind `time` and `!`, tree-sitter takes the words of the grammar for programs.
    const GRAMMAR: &[&str] = &[
        "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    ];
    // It ends a word where the line goes on, takes a carriage return for a blank, and some patterns
    // of `case` for commands.
    let is_near = |text: String| line.contains(&text);
    let is_cut = is_near(format!("{name}\\\n")) || is_near(format!("{name}\r"));
    let is_pattern = is_near(format!("|{name})"));
    // It looks for the text of a here-document behind the next command, not behind the line.
    let is_document = line.lines().any(|line| line.contains("<<") && line.ends_with('|'));
    // brush takes what stands behind some here-documents apart a second time.
    let is_second = name.starts_with('#');
    GRAMMAR.contains(&name)
        || is_cut
        || is_pattern
        || is_document
        || is_second
        || line.starts_with('\u{feff}')
}

fn lines() -> Vec<String> {
    let mut generator = Generator::new(7);
    let table = table::read().into_iter().map(|line| line.command);
    table.chain((0..GENERATED).map(|_| generator.line())).collect()
}

fn report(oracle: &str, all: &[String], mut names: impl FnMut(&str) -> Option<Names>) {
    let (mut understood, mut failures) = (0, Vec::new());
    for line in all {
        let Some(names) = names(line) else { continue };
        understood += 1;
        let missed = missed(line, &names);
        if !missed.is_empty() {
            failures.push(format!("{missed:?} in {line:?}"));
        }
    }
    println!("{oracle}: understands {understood} of {} lines", all.len());
    assert!(understood * 3 > all.len(), "{oracle} understands too little to be an oracle");
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        failures.is_empty(),
        "{oracle} sees commands in {} lines that were passed over:\n{shown}",
        failures.len()
    );
}

#[test]
fn tree_sitter_sees_no_command_that_is_passed_over() {
    let mut reader = tree::Reader::default();
    report("tree-sitter-bash", &lines(), |line| reader.names(line));
}

#[test]
fn brush_sees_no_command_that_is_passed_over() {
    // The parser panics on some lines; that is caught, and need not be told each time.
    panic::set_hook(Box::new(|info| {
        if info.location().is_none_or(|place| !place.file().contains("brush-parser")) {
            eprintln!("{info}");
        }
    }));
    report("brush-parser", &lines(), brush::names);
}

/// The truth: a bash that has nothing but markers in its path runs the lines.
#[test]
fn bash_runs_no_command_that_is_passed_over() {
    if !Path::new("/bin/bash").exists() {
        println!("skipped: there is no bash here");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let programs = root.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let script = programs.join("m1");
    fs::write(&script, "#!/bin/sh\necho \"${0##*/}\" >> \"$MARKS\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for number in 2..10 {
        symlink("m1", programs.join(format!("m{number}"))).unwrap();
    }
    let mut generator = Generator::new(11);
    let lines: Vec<String> = (0..REALLY_RUN).map(|_| generator.line()).collect();
    let (next, ran, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for worker in 0..thread::available_parallelism().map_or(2, usize::from) {
            let (lines, programs, next, ran, failures) = (&lines, &programs, &next, &ran, &failures);
            let directory = root.path().join(worker.to_string());
            scope.spawn(move || {
                fs::create_dir(&directory).unwrap();
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let names = marks(line, programs, &directory);
                    ran.fetch_add(names.len(), Ordering::Relaxed);
                    let missed = missed(line, &names);
                    if !missed.is_empty() {
                        failures.lock().unwrap().push(format!("{missed:?} in {line:?}"));
                    }
                }
            });
        }
    });
    println!("bash: {REALLY_RUN} lines ran {} markers", ran.load(Ordering::Relaxed));
    assert!(ran.load(Ordering::Relaxed) > REALLY_RUN, "the lines run too little to tell anything");
    let failures = failures.into_inner().unwrap();
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        failures.is_empty(),
        "bash runs commands in {} lines that were passed over:\n{shown}",
        failures.len()
    );
}

/// The markers that bash runs for a line.
fn marks(line: &str, programs: &Path, directory: &Path) -> Names {
    let log = directory.join("marks");
    let _ = fs::remove_file(&log);
    // The pipes end with the last job of the line, so no marker comes late.
    let output = Command::new("/usr/bin/timeout")
        .args(["-k", "1", "5", "/bin/bash", "--noprofile", "--norc", "-c", line])
        .current_dir(directory)
        .env_clear()
        .env("PATH", programs)
        .env("MARKS", &log)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    drop(output);
    fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect()
}
