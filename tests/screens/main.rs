//! What a person sees: every command, in a pipe and in a terminal, compared with a file.
//!
//! A case is one line of the table in [`cases`]; a command without one fails the test. The snapshots are
//! `NAME.pipe.txt` and `NAME.terminal.txt` beside this file, with escape codes written out and with whatever
//! differs from run to run replaced. `PROVOST_BLESS=1 cargo test --test screens` writes them anew; look at
//! them as a person would before they are kept.

#![cfg(unix)]

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
use stage::Stage;

/// Stands for a screen that is shown in a terminal as in a pipe, byte for byte.
const SAME: &str = "The same as in a pipe.\n";

#[test]
fn every_command_looks_as_it_did() {
    let bless = std::env::var_os("PROVOST_BLESS").is_some();
    let common = Stage::worked_in();
    let mut wrong = Vec::new();
    for case in CASES {
        let shown = |run: stage::Run| {
            let own = match case.on {
                On::Shared => None,
                On::Own => Some(Stage::worked_in()),
                On::Nothing => Some(Stage::empty()),
                On::Bare => Some(Stage::bare()),
                On::Installed => Some(Stage::installed()),
            };
            let stage = own.as_ref().unwrap_or(&common);
            steady::made(&format!("$ provost {}\n{}", spelt(case), run(stage, case)), stage)
        };
        let mut screens = Vec::new();
        let mut terminal = shown(terminal::in_terminal);
        if case.is_in_pipe() {
            let pipe = shown(stage::in_pipe);
            if terminal == pipe {
                terminal = SAME.into();
            }
            screens.push(("pipe", pipe));
        }
        screens.push(("terminal", terminal));
        for (kind, seen) in screens {
            let path = directory().join(format!("{}.{kind}.txt", case.name));
            if bless {
                fs::write(&path, &seen).unwrap();
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            if kept != seen {
                wrong.push(format!("{}\n{}", path.display(), difference(&kept, &seen)));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\nIf that is as it should look: PROVOST_BLESS=1 cargo test --test screens",
        wrong.join("\n")
    );
}

#[test]
fn every_command_has_a_case() {
    let commands = manual::commands();
    assert!(commands.len() >= 25, "{commands:?}");
    // `provost gate status` is a case of `gate status`, and none of `gate`; help is none of what it is about.
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
    assert!(missing.is_empty(), "without a case in tests/screens/cases.rs: {missing:?}");
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
    assert!(lost.is_empty(), "nobody compares with {lost:?}");
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens")
}

/// The arguments as a person would type them.
fn spelt(case: &Case) -> String {
    let quoted = |word: &&str| match (word.contains(' '), word.contains('\'')) {
        (false, _) => (*word).to_owned(),
        (true, false) => format!("'{word}'"),
        (true, true) => format!("\"{word}\""),
    };
    case.arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The lines that differ, old ones first.
fn difference(kept: &str, seen: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), seen.lines().collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let behind =
        old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(|(a, b)| a == b).count();
    let part = |mark: char, lines: &[&str]| {
        let changed = &lines[before..lines.len() - behind];
        changed.iter().take(15).map(|line| format!("  {mark} {line}")).collect::<Vec<_>>().join("\n")
    };
    format!("  from line {}:\n{}\n{}", before + 1, part('-', &old), part('+', &new))
}
