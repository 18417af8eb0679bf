//! Provost finds every command that an oracle finds, or reports that it does not understand the line.

#[path = "../../../tests/behaviour/commands/table.rs"]
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
use oracles::{CommandNames, brush, tree_sitter};
use provost_shell as shell;
use provost_shell::effect::Effect;

const GENERATED: usize = 20_000;
const REALLY_RUN: usize = 1_000;
/// Names that do not matter: keywords, builtins that only run the words after them, and ends of here-documents that
/// one oracle does not find.
const EXEMPT: &[&str] =
    &["time", "coproc", "!", "[[", "]]", "{", "}", ":", "[", "-p", "command", "builtin", "exec", "EOF"];

/// The programs that Provost finds in a line; `None` if it does not understand all of the line.
fn find_programs(line: &str) -> Option<BTreeSet<String>> {
    let effects = shell::effects(line, Path::new("/p"), Some(Path::new("/home/x")));
    if effects.iter().any(|effect| matches!(effect, Effect::Unparsed { .. } | Effect::TooLarge { .. })) {
        return None;
    }
    let runs = effects.into_iter().filter_map(|effect| match effect {
        Effect::Run { program, .. } => Some(program),
        _ => None,
    });
    Some(runs.collect())
}

/// The names that an oracle finds and Provost misses. There is nothing to compare if Provost does not understand the
/// line.
fn list_missed(line: &str, names: &CommandNames) -> Vec<String> {
    let Some(programs) = find_programs(line) else { return Vec::new() };
    let is_missed = |name: &&String| {
        !programs.contains(*name) && !EXEMPT.contains(&name.as_str()) && !is_misread(line, name)
    };
    names.iter().filter(is_missed).cloned().collect()
}

/// Whether an oracle is known to be wrong about this name.
fn is_misread(line: &str, name: &str) -> bool {
    // After `time` and `!`, tree-sitter takes keywords for programs.
    const GRAMMAR: &[&str] = &[
        "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    ];
    // It ends a word at an escaped line end, takes a carriage return for a blank, and some patterns of `case` for
    // commands.
    let is_near = |text: String| line.contains(&text);
    let is_cut = is_near(format!("{name}\\\n")) || is_near(format!("{name}\r"));
    let is_pattern = is_near(format!("|{name})"));
    // It expects the text of a here-document after the next command, not after the line.
    let is_document = line.lines().any(|line| line.contains("<<") && line.ends_with('|'));
    // brush parses the text after some here-documents twice.
    let is_parsed_twice = name.starts_with('#');
    GRAMMAR.contains(&name)
        || is_cut
        || is_pattern
        || is_document
        || is_parsed_twice
        || line.starts_with('\u{feff}')
}

fn list_lines() -> Vec<String> {
    let mut generator = Generator::new(7);
    let table = table::read_lines().into_iter().map(|line| line.command);
    table.chain((0..GENERATED).map(|_| generator.generate_line())).collect()
}

fn compare(oracle: &str, all: &[String], mut find_names: impl FnMut(&str) -> Option<CommandNames>) {
    let (mut understood, mut failures) = (0, Vec::new());
    for line in all {
        let Some(names) = find_names(line) else { continue };
        understood += 1;
        let missed = list_missed(line, &names);
        if !missed.is_empty() {
            failures.push(format!("{missed:?} in {line:?}"));
        }
    }
    println!("{oracle}: understands {understood} of {} lines", all.len());
    assert!(understood * 3 > all.len(), "{oracle} understands too little to be an oracle");
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        failures.is_empty(),
        "{oracle} finds commands in {} lines that Provost misses:\n{shown}",
        failures.len()
    );
}

#[test]
fn provost_finds_every_command_that_tree_sitter_finds() {
    let mut finder = tree_sitter::CommandFinder::default();
    compare("tree-sitter-bash", &list_lines(), |line| finder.find_names(line));
}

#[test]
fn provost_finds_every_command_that_brush_finds() {
    // The parser panics on some lines. The panics are caught, and need no message.
    panic::set_hook(Box::new(|info| {
        if info.location().is_none_or(|place| !place.file().contains("brush-parser")) {
            eprintln!("{info}");
        }
    }));
    compare("brush-parser", &list_lines(), brush::find_names);
}

/// A real bash runs the lines, with only the markers in its path.
#[test]
fn provost_finds_every_command_that_bash_runs() {
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
    let lines: Vec<String> = (0..REALLY_RUN).map(|_| generator.generate_line()).collect();
    let (next, ran, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for worker in 0..thread::available_parallelism().map_or(2, usize::from) {
            let (lines, programs, next, ran, failures) = (&lines, &programs, &next, &ran, &failures);
            let directory = root.path().join(worker.to_string());
            scope.spawn(move || {
                fs::create_dir(&directory).unwrap();
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let names = run_line(line, programs, &directory);
                    ran.fetch_add(names.len(), Ordering::Relaxed);
                    let missed = list_missed(line, &names);
                    if !missed.is_empty() {
                        failures.lock().unwrap().push(format!("{missed:?} in {line:?}"));
                    }
                }
            });
        }
    });
    println!("bash: {REALLY_RUN} lines ran {} markers", ran.load(Ordering::Relaxed));
    assert!(ran.load(Ordering::Relaxed) > REALLY_RUN, "the lines run too few commands");
    let failures = failures.into_inner().unwrap();
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        failures.is_empty(),
        "bash runs commands in {} lines that Provost misses:\n{shown}",
        failures.len()
    );
}

/// The markers that bash runs for a line.
fn run_line(line: &str, programs: &Path, directory: &Path) -> CommandNames {
    let log = directory.join("marks");
    let _ = fs::remove_file(&log);
    // The pipes end with the last job of the line, so no marker is missed.
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
