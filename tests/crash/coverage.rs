//! No writer is forgotten: guards, commands and source files are held against the table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::scene::Step;
use crate::writers::{APART, READERS, WRITERS, Writer};

/// The calls by which anything outside of `files` has the disk changed.
const CALLS: &[&str] = &[
    "replace_unless_changed(",
    "replace_own(",
    ".remember(session",
    ".permit(",
    ".keep_seal_key(",
    ".move_file(",
    ".new_own_file(",
    ".make_directory(",
    "workspace.create(",
    "workspace.remove(",
    "files::create",
    "files::replace",
    "files::remove",
    "files::rename",
    "files::move_file",
    "files::append",
    "files::lock_and_read",
    "files::make_",
    "files::set_mode",
    "files::private_directory",
];

/// Where these calls are only passed on.
const PASSING_ON: &[&str] = &["workspace/disk.rs", "workspace/own.rs"];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// A guard or command that is new is a row of the table, or is said not to write.
#[test]
fn every_guard_and_command_is_in_the_table_or_does_not_write() {
    let named: Vec<&str> = WRITERS.iter().flat_map(|writer| writer.who).copied().collect();
    let others: Vec<&str> = READERS.iter().copied().chain(APART.iter().map(|(name, _)| *name)).collect();
    let known: BTreeSet<&str> = named.iter().chain(&others).copied().collect();
    let mut all: BTreeSet<String> =
        provost::registry::GUARDS.iter().map(|guard| guard.name.to_owned()).collect();
    all.extend(commands());
    let missing: Vec<_> = all.iter().filter(|name| !known.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "neither in WRITERS nor in READERS: {missing:?}");
    let gone: Vec<_> = known.iter().filter(|name| !all.contains(**name)).collect();
    assert!(gone.is_empty(), "not there any more: {gone:?}");
}

/// Every command that can be called, from the generated reference.
fn commands() -> Vec<String> {
    let pages = provost::reference::pages();
    let (_, page) = pages.iter().find(|(name, _)| *name == "docs/cli.md").unwrap();
    let heads = page.lines().filter_map(|line| line.trim_start_matches('#').trim().strip_prefix("`provost "));
    let names: Vec<String> = heads.filter_map(|rest| Some(rest.split_once('`')?.0.to_owned())).collect();
    assert!(names.len() > 15, "{names:?}");
    let has_parts = |name: &String| names.iter().any(|other| other.starts_with(&format!("{name} ")));
    names.iter().filter(|name| !has_parts(name)).cloned().collect()
}

/// A source file that begins to write belongs to a row of the table.
#[test]
fn every_source_file_that_writes_belongs_to_a_writer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut writing = BTreeSet::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let is_passing_on = name.starts_with("files/") || PASSING_ON.contains(&name.as_str());
        if !is_passing_on && !name.contains("/tests/") && CALLS.iter().any(|call| code.contains(call)) {
            writing.insert(name);
        }
    }
    // It sets modes, one at a time.
    writing.remove("cli/doctor/state.rs");
    let named: BTreeSet<String> =
        WRITERS.iter().flat_map(|writer| writer.from).map(|name| (*name).to_owned()).collect();
    assert_eq!(writing, named, "left: files that write; right: files that the table names");
}

/// In none of the runs, a guard wrote that is said not to.
pub fn only_declared_guards_write(rows: &[(&Writer, Vec<Step>)]) {
    for (writer, steps) in rows {
        for Step { guard, name, path } in steps {
            let is_own =
                ["/journal.", "/overrides/", "/answers/", "/messages/"].iter().any(|own| path.contains(own));
            let is_above = name == "make the directory";
            if guard != "-" && !is_own && !is_above {
                assert!(writer.who.contains(&guard.as_str()), "{}: {guard} does {name} {path}", writer.what);
            }
        }
    }
}
