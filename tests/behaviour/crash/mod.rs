//! Whatever writes is ended at every step, as by `kill -9`, and nothing is torn, lost or left behind.
//!
//! Each writer runs once to the end, and its steps are listed. Then it is ended at each of them, in the same
//! project made anew: every file holds what it held before or what it becomes, with its mode. Then it runs
//! again, and all is as after a run without a stop, to the last file and mode. A writer that does more
//! each time (a count) may also have done it twice, because its first run may have been ended after that.

mod coverage;
mod gate;
mod reviews;
pub mod scene;
mod snapshot;
mod table;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::with_separate_locks;
use scene::Step;
use snapshot::Snapshot;
use writers::{WRITERS, Writer};

/// The rows of the table: each writer with its steps.
fn proved(writers: &'static [Writer], is_plain: bool) -> Vec<(&'static Writer, Vec<Step>)> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let (rows, wrong) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(writer) = writers.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if is_plain && !writer.also_plain {
                        continue;
                    }
                    let mut scene = with_separate_locks(writer.scene);
                    scene.is_plain = is_plain;
                    match scene.prove(writer.may_leave) {
                        Ok(steps) if steps.is_empty() => {
                            wrong.lock().unwrap().push(format!("{}: no step", writer.what));
                        }
                        Ok(steps) => rows.lock().unwrap().push((writer, steps)),
                        Err(why) => wrong.lock().unwrap().push(format!("{}: {why}", writer.what)),
                    }
                }
            });
        }
    });
    let wrong: Vec<String> = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(writer, _)| writers.iter().position(|other| other.what == writer.what));
    rows
}

#[test]
fn every_writer_can_be_ended_at_every_step() {
    let rows = proved(WRITERS, false);
    coverage::only_declared_guards_write(&rows);
    table::compare(&rows);
}

#[test]
fn on_a_disk_that_knows_only_plain_files_too() {
    let rows = proved(WRITERS, true);
    assert!(rows.len() > 5);
}

/// What the security page says of Provost's own files, against what the writers leave.
#[test]
fn the_page_has_every_file_of_provosts_own_with_its_mode() {
    const STATE: &str = ".local/state/provost";
    let page = include_str!("../../../docs/security.md");
    let rows = page.lines().skip_while(|line| *line != "## Files").filter_map(|line| {
        let [_, file, mode, ..] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else { return None };
        let name = file.trim_matches('`').strip_prefix("…/")?;
        Some((name.split('/').next().unwrap().to_owned(), mode.to_owned()))
    });
    let declared: BTreeMap<String, String> = rows.collect();
    let mut left = BTreeSet::new();
    for writer in WRITERS {
        let scene = with_separate_locks(writer.scene);
        let before = Snapshot::of(&scene.home());
        scene.started(None);
        for (path, thing) in Snapshot::of(&scene.home()).0 {
            // What the scene put there itself has the modes that the scene gave it.
            let Some(own) = path.strip_prefix(STATE).filter(|_| !before.0.contains_key(&path)) else {
                continue;
            };
            let expected = if thing.bytes.is_none() { 0o700 } else { 0o600 };
            // A review that had to make room is a file of the project, and stays as it was.
            let is_moved =
                own.starts_with("/reviews/") && Path::new(&path).extension() == Some("md".as_ref());
            // Git makes its objects read-only.
            let is_object = own.starts_with("/changes/") && own.contains("/objects/") && thing.mode == 0o400;
            assert!(
                is_moved || is_object || thing.mode == expected,
                "{}: {path}: {:o}",
                writer.what,
                thing.mode
            );
            let name = own.trim_start_matches('/').split('/').next().unwrap();
            left.extend((!name.is_empty()).then(|| name.to_owned()));
        }
    }
    assert_eq!(left, declared.keys().cloned().collect(), "files of Provost's own, against the page");
    for (name, mode) in &declared {
        let is_file = name.contains('.') || name == "projects";
        assert_eq!(mode, if is_file { "0600" } else { "0700" }, "{name}");
    }
}
