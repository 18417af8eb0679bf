//! Reads the table of labelled commands from the text files in this directory.
//!
//! Each line is `label ⇒ command ⇒ why`, with a fourth column if the test cannot always run the command:
//! `needs PROGRAM` (it runs if that program is installed) or `not run: REASON`. In a command, `⏎` is a newline and
//! `⟨hex⟩` any other invisible character.

// The oracles and the fuzzer use other parts of this module.
#![allow(dead_code)]

use std::fs;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Label {
    /// A planner may run it, and the guard must allow it.
    Safe,
    /// It changes something, or runs something that is not known to be harmless.
    Unsafe,
    /// It changes nothing, but its program is not on the planner's list unless the configuration adds it.
    Unlisted,
    /// It changes nothing, but is blocked, for the reason in the table.
    Strict,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Mark {
    Runnable,
    Needs(String),
    NotRun(String),
}

#[derive(Debug)]
pub struct Line {
    /// `file:number`, as editors understand it.
    pub place: String,
    pub section: String,
    pub label: Label,
    pub command: String,
    pub why: String,
    pub mark: Mark,
}

/// All lines of all files, in order. Panics with the position of a malformed line.
pub fn read_lines() -> Vec<Line> {
    let directory = find_directory();
    let mut files: Vec<PathBuf> = fs::read_dir(&directory)
        .expect("the table's directory")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "txt"))
        .collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let mut section = String::new();
        for (number, text) in fs::read_to_string(&file).expect("a text").lines().enumerate() {
            if let Some(title) = text.strip_prefix("## ") {
                title.clone_into(&mut section);
            } else if text.contains(" ⇒ ") && !section.is_empty() {
                let place = format!("{name}:{}", number + 1);
                lines.push(parse_line(text, place, section.clone()));
            } else {
                assert!(text.is_empty() || section.is_empty(), "{name}:{}: not a line: {text}", number + 1);
            }
        }
    }
    lines
}

/// The directory of the table, for any package of the workspace.
pub fn find_directory() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut up = package.ancestors().map(|root| root.join("tests/behaviour/commands"));
    up.find(|path| path.is_dir()).expect("tests/behaviour/commands")
}

fn parse_line(text: &str, place: String, section: String) -> Line {
    let columns: Vec<&str> = text.split(" ⇒ ").collect();
    let (label, command, why, mark) = match columns[..] {
        [label, command, why] => (label, command, why, None),
        [label, command, why, mark] => (label, command, why, Some(mark)),
        _ => panic!("{place}: expected three or four columns: {text}"),
    };
    let label = match label {
        "safe" => Label::Safe,
        "unsafe" => Label::Unsafe,
        "unlisted" => Label::Unlisted,
        "strict" => Label::Strict,
        _ => panic!("{place}: unknown label {label}"),
    };
    let mark = match mark {
        None => Mark::Runnable,
        Some(mark) => match (mark.strip_prefix("needs "), mark.strip_prefix("not run: ")) {
            (Some(program), _) => Mark::Needs(program.to_owned()),
            (_, Some(reason)) => Mark::NotRun(reason.to_owned()),
            _ => panic!("{place}: unknown mark {mark}"),
        },
    };
    let command = decode_command(command).unwrap_or_else(|| panic!("{place}: a malformed ⟨hex⟩"));
    Line { place, section, label, command, why: why.to_owned(), mark }
}

fn decode_command(text: &str) -> Option<String> {
    let text = text.replace('⏎', "\n");
    let mut parts = text.split('⟨');
    let mut command = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.split_once('⟩')?;
        command.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        command.push_str(rest);
    }
    Some(command)
}
