//! Snapshots of what the user sees: every command, in a pipe and in a terminal.
//!
//! A case is one line of the table in [`cases`]; a command without one fails the test. The snapshots are `NAME.pipe.txt` and
//! `NAME.terminal.txt` beside this file, with escape codes in words, and with fixed texts for what differs from run to run.
//! `PROVOST_BLESS=1 cargo test --test behaviour screens::` updates them; read them before you commit them.

mod cases;
mod demo;
mod manual;
mod stage;
mod steady;
mod terminal;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cases::{CASES, Case, On};
use similar::TextDiff;
use stage::Stage;

/// The snapshot of a terminal that shows the same bytes as the pipe.
const SAME: &str = "The same as in a pipe.\n";

#[test]
fn every_command_shows_its_snapshot() {
    let bless = std::env::var_os("PROVOST_BLESS").is_some();
    let common = Stage::worked_in();
    let mut differences = Vec::new();
    for case in CASES {
        let show = |run: stage::Run| {
            let own = match case.on {
                On::Shared => None,
                On::Own => Some(Stage::worked_in()),
                On::Nothing => Some(Stage::empty()),
                On::Bare => Some(Stage::bare()),
                On::Installed => Some(Stage::installed()),
                On::Recorded => Some(Stage::recorded()),
            };
            let stage = own.as_ref().unwrap_or(&common);
            steady::replace_volatile(
                &format!("$ provost {}\n{}", quote_arguments(case), run(stage, case)),
                stage,
            )
        };
        let mut screens = Vec::new();
        let mut terminal = show(terminal::run_in_terminal);
        if case.is_in_pipe() {
            let pipe = show(stage::run_in_pipe);
            if terminal == pipe {
                terminal = SAME.into();
            }
            screens.push(("pipe", pipe));
        }
        screens.push(("terminal", terminal));
        for (kind, screen) in screens {
            let path = directory().join(format!("{}.{kind}.txt", case.name));
            if bless {
                fs::write(&path, &screen).unwrap();
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            if kept != screen {
                differences.push(format!("{}\n{}", path.display(), unified_diff(&kept, &screen)));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{}\nIf this is intended: PROVOST_BLESS=1 cargo test --test behaviour screens::",
        differences.join("\n")
    );
}

#[test]
fn every_command_has_a_case() {
    let commands = manual::commands();
    assert!(commands.len() >= 25, "{commands:?}");
    // `provost gate status` is a case of `gate status`, not of `gate`, and help is no case of its command.
    let is_named = |case: &Case, path: &[String]| {
        case.arguments.len() >= path.len() && path.iter().zip(case.arguments).all(|(name, word)| name == word)
    };
    let shown: BTreeSet<&Vec<String>> = CASES
        .iter()
        .filter(|case| !case.arguments.contains(&"--help"))
        .filter_map(|case| commands.iter().filter(|path| is_named(case, path)).max_by_key(|path| path.len()))
        .collect();
    let missing: Vec<String> =
        commands.iter().filter(|path| !shown.contains(path)).map(|path| path.join(" ")).collect();
    assert!(missing.is_empty(), "without a case in tests/behaviour/screens/cases.rs: {missing:?}");
}

#[test]
fn every_snapshot_belongs_to_a_case() {
    let names = |case: &Case| {
        let kinds = if case.is_in_pipe() { &["pipe", "terminal"][..] } else { &["terminal"] };
        kinds.iter().map(|kind| format!("{}.{kind}.txt", case.name)).collect::<Vec<_>>()
    };
    let expected: Vec<String> = CASES.iter().flat_map(names).collect();
    let unique: BTreeSet<&String> = expected.iter().collect();
    assert_eq!(unique.len(), expected.len(), "two cases have one name");
    let files = fs::read_dir(directory()).unwrap().map(|file| file.unwrap().path());
    let texts = files.filter(|path| path.extension().is_some_and(|kind| kind == "txt"));
    let names = texts.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let lost: Vec<String> = names.filter(|name| !unique.contains(name)).collect();
    assert!(lost.is_empty(), "snapshots without a case: {lost:?}");
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/behaviour/screens")
}

/// The arguments as the user would type them.
fn quote_arguments(case: &Case) -> String {
    let quoted = |word: &&str| match (word.contains(' '), word.contains('\'')) {
        (false, _) => (*word).to_owned(),
        (true, false) => format!("'{word}'"),
        (true, true) => format!("\"{word}\""),
    };
    case.arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn unified_diff(old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().to_string()
}
