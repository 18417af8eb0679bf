//! Every guard, command and source file that writes is in the table of writers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::scene::Step;
use super::writers::{APART, READERS, WRITERS, Writer};

/// The calls with which code outside `files` changes the disk.
const CALLS: &[&str] = &[
    "replace_unless_changed(",
    "replace_own(",
    "write_state_file(",
    ".remember(session",
    ".remember_session(session",
    "overrides::permit(",
    "overrides::store_permission(",
    ".keep_seal_key(",
    ".save_seal_key(",
    ".move_file(",
    ".new_own_file(",
    ".new_state_file(",
    ".make_directory(",
    "workspace.create(",
    "workspace.create_file(",
    "workspace.remove(",
    "workspace.remove_file(",
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

/// The files that only pass these calls on.
const WRAPPERS: &[&str] = &["workspace/disk.rs", "workspace/state_files.rs"];

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

/// A new guard or command must be in `WRITERS`, `READERS` or `APART`.
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
    let pages = provost::reference::generate_pages();
    let (_, page) = pages.iter().find(|(name, _)| *name == "docs/cli.md").unwrap();
    let heads = page.lines().filter_map(|line| line.trim_start_matches('#').trim().strip_prefix("`provost "));
    let names: Vec<String> = heads.filter_map(|rest| Some(rest.split_once('`')?.0.to_owned())).collect();
    assert!(names.len() > 15, "{names:?}");
    let has_parts = |name: &String| names.iter().any(|other| other.starts_with(&format!("{name} ")));
    names.iter().filter(|name| !has_parts(name)).cloned().collect()
}

/// A new source file that writes must belong to a row of the table.
#[test]
fn every_source_file_that_writes_belongs_to_a_writer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut writing = BTreeSet::new();
    let crates = ["src", "crates/clients/src", "crates/core/src", "crates/guards/src", "crates/shell/src"];
    let named = crates.iter().flat_map(|directory| {
        let directory = root.join(directory);
        let mut files = Vec::new();
        sources(&directory, &mut files);
        files.into_iter().map(move |file| {
            let name = file.strip_prefix(&directory).unwrap().to_str().unwrap().to_owned();
            (name, file)
        })
    });
    for (name, file) in named {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let is_wrapper = WRAPPERS.contains(&name.as_str());
        if !is_wrapper && !name.contains("/tests/") && CALLS.iter().any(|call| code.contains(call)) {
            writing.insert(name);
        }
    }
    // It sets modes, one at a time.
    writing.remove("cli/doctor/state.rs");
    let named: BTreeSet<String> =
        WRITERS.iter().flat_map(|writer| writer.from).map(|name| (*name).to_owned()).collect();
    assert_eq!(writing, named, "left: files that write; right: files that the table names");
}

/// Only the guards of a writer write in its runs.
pub fn only_declared_guards_write(rows: &[(&Writer, Vec<Step>)]) {
    for (writer, steps) in rows {
        for Step { guard, name, path } in steps {
            let is_own = ["/journal.", "/.journal.", "/overrides/", "/answers/", "/messages/"]
                .iter()
                .any(|own| path.contains(own));
            let is_above = name == "make the directory";
            if guard != "-" && !is_own && !is_above {
                assert!(writer.who.contains(&guard.as_str()), "{}: {guard} does {name} {path}", writer.what);
            }
        }
    }
}
