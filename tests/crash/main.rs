//! Whatever writes is ended at every step, as by `kill -9`, and nothing is torn, lost or left behind.
//!
//! Each writer runs once to the end, and its steps are listed. Then it is ended at each of them, in the same
//! project made anew: every file holds what it held before or what it becomes, with its mode. Then it runs
//! again, and all is as after a run that nobody stopped, to the last file and mode. A writer that does more
//! each time (a count) may also have done it twice, because its first run may have been ended after that.

#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod support;

mod coverage;
mod gate;
mod reviews;
mod scene;
mod snapshot;
mod table;
mod writers;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use scene::Step;
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
                    let mut scene = (writer.scene)();
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
