//! The journal survives a month of heavy use: nothing that a report needs is lost, whoever is killed and whatever else runs.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::{Line, Room};
use crate::support::TestProject;

/// The smallest journal that the settings allow.
const SMALL: &str = "[journal]\nmax_kilobytes = 64\n";

fn day(number: usize) -> String {
    // From 2026-08-19 on: 90 days until 2026-11-16.
    let months = [(8, 19..=31), (9, 1..=30), (10, 1..=31), (11, 1..=16)];
    let days =
        months.into_iter().flat_map(|(month, days)| days.map(move |day| format!("2026-{month:02}-{day:02}")));
    days.take(number + 1).last().unwrap()
}

/// Three months of work with something of every kind, in order.
fn quarter(room: &Room) -> Vec<Line> {
    let mut lines = Vec::new();
    for number in 0..90 {
        let at = |time: &str| format!("{}T{time}", day(number));
        for call in 0..8 {
            let line = room.silent(&at(&format!("09:{call:02}:00")), "ls");
            lines.push(
                line.with("session", format!("session-{}", number / 3))
                    .with("micros", 900 + 37 * number * call),
            );
        }
        lines.push(room.stop(&at("10:00:00")).with("micros", 77_777));
        if number % 9 == 0 {
            let subject = format!("git push --force origin {number}");
            lines.push(room.denied(&at("11:00:00"), &subject));
            if number % 2 == 0 {
                lines.push(room.silent(&at("11:30:00"), &subject));
            }
            lines.push(room.spoken(&at("12:00:00"), "cat x", "branch-guard", "would deny"));
            lines.push(room.spoken(&at("12:01:00"), "cat x", "review-reminder", "note"));
            lines.push(room.spoken(&at("12:02:00"), "cat x", "delegation-gate", "fault"));
            lines.push(room.spoken(&at("12:03:00"), "cat x", "rule:ask", "ask"));
            lines.push(room.spoken(&at("12:04:00"), "cat x", "self-guard", "overridden"));
        }
    }
    lines
}

/// The three files of a journal that is full, so that the next event rotates them.
fn fill(room: &Room) {
    room.project.write_file("provost.toml", SMALL);
    let lines = quarter(room);
    let size = |lines: &[Line]| lines.iter().map(|Line(line)| line.to_string().len() + 1).sum::<usize>();
    // The last file must be full.
    let last = (0..lines.len()).rev().find(|start| size(&lines[*start..]) > 64 << 10).unwrap();
    room.put("journal.2.jsonl", &lines[..last / 2]);
    room.put("journal.1.jsonl", &lines[last / 2..last]);
    room.put("journal.jsonl", &lines[last..]);
}

/// What a report says, without what it left out: the events of the test itself are in the future.
fn counted(room: &Room) -> Value {
    let mut report = room.report(&["--last", "120d"]);
    report["left_out"] = Value::Null;
    report
}

fn archives(room: &Room) -> Vec<String> {
    let entries = fs::read_dir(room.state()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("journal.archive."));
    names.sort();
    names
}

fn rotate(room: &Room) {
    let answer = room.project.hook(&room.project.bash("ls"));
    assert!(answer.is_silent(), "{answer:?}");
}

/// Makes the current file full, with lines that no report of `NOW` counts.
fn fill_up(room: &Room) {
    let line = room.silent("2026-12-01T00:00:00", "ls");
    let text = format!("{}\n", line.0);
    let mut journal = fs::read(room.state().join("journal.jsonl")).unwrap_or_default();
    journal.extend(text.repeat((64 << 10) / text.len()).into_bytes());
    fs::write(room.state().join("journal.jsonl"), journal).unwrap();
}

#[test]
fn a_report_says_the_same_before_and_after_its_lines_are_archived() {
    let room = Room::new();
    fill(&room);
    let before = counted(&room);
    assert_eq!((&before["summary"]["denied_calls"], &before["outcomes"]["fixed"]), (&10.into(), &5.into()));
    assert!(before["summary"]["events"].as_u64().unwrap() > 800, "{before:#}");
    let whole = fs::metadata(room.state().join("journal.2.jsonl")).unwrap().len();
    for turn in 0..4 {
        rotate(&room);
        assert_eq!(archives(&room).len(), 1, "small files are merged");
        let after = counted(&room);
        assert_eq!(after, before, "after {} rotations", turn + 1);
        fill_up(&room);
    }
    let archive = fs::metadata(room.state().join(&archives(&room)[0])).unwrap().len();
    assert!(archive < whole, "{archive} of {whole} bytes of one file, and it holds two");
}

#[test]
fn denials_of_ninety_days_ago_are_explained_and_listed() {
    let room = Room::new();
    fill(&room);
    for _ in 0..3 {
        rotate(&room);
        fill_up(&room);
    }
    let id = room.denied("2026-08-19T11:00:00", "git push --force origin 0").id();
    let answer = room.provost("explain", &[&id]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(
        answer.stdout.contains("git push --force origin 0") && answer.stdout.contains("rule:no-force-push")
    );
    let listed = room.provost("journal", &["--denied", "-n", "100000"]).stdout;
    assert!(listed.contains(&id) && listed.matches("  deny  ").count() == 10, "{listed}");
    // Of a rule that only the archive has.
    let rules = room.provost("journal", &["--json", "-n", "100000"]).stdout;
    assert!(
        !rules.contains("\"archive\"") && !rules.contains("\"day\""),
        "the archive's own lines are no decisions"
    );
}

#[test]
fn killed_at_any_step_it_loses_nothing_and_counts_nothing_twice() {
    let template = Room::new();
    fill(&template);
    // The second rotation also merges two files.
    for turn in 0..2 {
        if turn == 1 {
            rotate(&template);
            fill_up(&template);
        }
        let before = counted(&template);
        let mut step = 0;
        loop {
            step += 1;
            let room = copy(&template);
            let room = Room { project: room.project.with_variable("PROVOST_STOP_AT", step.to_string()) };
            let killed = room.project.hook(&room.project.bash("ls")).code.is_none();
            let room = Room { project: room.project.without_variable("PROVOST_STOP_AT") };
            assert_eq!(counted(&room), moved(&before, &template, &room), "killed at step {step}");
            if !killed {
                break;
            }
            fill_up(&room);
            rotate(&room);
            assert_eq!(
                counted(&room),
                moved(&before, &template, &room),
                "after the next rotation, step {step}"
            );
            assert_eq!(archives(&room).len(), 1, "step {step}: {:?}", archives(&room));
            let names = fs::read_dir(room.state()).unwrap().map(|entry| entry.unwrap().file_name());
            let left: Vec<_> = names.filter(|name| name.to_str().unwrap().ends_with("tmp")).collect();
            assert!(left.is_empty(), "step {step}: {left:?}");
        }
        assert!(step > 8, "{step} steps");
    }
}

/// The same journal in another project.
fn copy(template: &Room) -> Room {
    let room = Room::new();
    room.project.write_file("provost.toml", SMALL);
    for entry in fs::read_dir(template.state()).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let text = text.replace(template.project.path.to_str().unwrap(), room.project.path.to_str().unwrap());
        room.put_bytes(entry.file_name().to_str().unwrap(), text.as_bytes());
    }
    room
}

/// The report of another project with the same journal.
fn moved(report: &Value, from: &Room, to: &Room) -> Value {
    let (from, to) = (from.project.path.to_str().unwrap(), to.project.path.to_str().unwrap());
    serde_json::from_str(&report.to_string().replace(from, to)).unwrap()
}

#[test]
fn many_at_once_lose_nothing() {
    const THREADS: usize = 6;
    const CALLS: usize = 120;
    let project = TestProject::new();
    project.write_file("provost.toml", SMALL);
    let room = Room { project };
    // Nearly full, so that rotations happen early.
    let line = format!("{}\n", room.silent("2026-12-01T00:00:00", "ls").0);
    room.put_bytes("journal.jsonl", line.repeat((60 << 10) / line.len()).as_bytes());
    let (denied, reports) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (room, denied) = (&room, &denied);
            scope.spawn(move || {
                for call in 0..CALLS {
                    let command = if call % 10 == 0 { "rm provost.toml" } else { "ls" };
                    let mut event = room.project.bash(command);
                    event["tool_use_id"] = format!("toolu_{thread}_{call}").into();
                    if room.project.hook(&event).find_denial().is_ok() {
                        denied.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        // Meanwhile, reports are made.
        let (room, reports) = (&room, &reports);
        scope.spawn(move || {
            for _ in 0..10 {
                let answer = room.provost("report", &["--json"]);
                assert_eq!(answer.code, Some(0), "{answer:?}");
                reports.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    assert!(room.state().join("journal.2.jsonl").exists(), "there were not enough rotations");
    let answer = room.provost("report", &["--json", "--last", "1d"]);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let denied = denied.into_inner();
    assert_eq!(denied, THREADS * CALLS / 10);
    assert_eq!(report["summary"]["denied_calls"], denied, "{:#}", report["summary"]);
    assert_eq!(report["summary"]["calls"], THREADS * CALLS, "{:#}", report["summary"]);
    assert_eq!(report["decisions"].as_array().unwrap().len(), denied);
}

#[test]
fn a_file_that_cannot_be_compacted_is_kept_and_counted() {
    let room = Room::new();
    fill(&room);
    let before = counted(&room);
    fs::create_dir(room.state().join("journal.archive.000001.jsonl")).unwrap();
    rotate(&room);
    let names = archives(&room);
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(counted(&room), before);
    let left_out = room.report(&["--last", "120d"])["left_out"].to_string();
    assert!(left_out.contains("journal.archive.000001.jsonl: not a regular file"), "{left_out}");
}

#[test]
fn the_answer_comes_before_the_archive_is_written() {
    let room = Room::new();
    fill(&room);
    let event = room.project.bash("rm provost.toml");
    let list = room.project.home.with_file_name("steps");
    let project = room.project.with_variable("PROVOST_STEPS", &list);
    project.hook(&event).expect_denial();
    let steps = fs::read_to_string(&list).unwrap();
    let first = steps.lines().position(|line| line.contains("journal.archive.") && line.contains("rename"));
    assert!(first.is_some(), "{steps}");
    // A reader that never reads the answer: then the archive is not begun either.
    let room = Room { project: TestProject::new() };
    fill(&room);
    let room = Room { project: room.project.with_variable("PROVOST_STOP_AT", "1") };
    let answer = room.project.hook(&event_of(&room));
    assert!(answer.stdout.contains("\"deny\"") && answer.code.is_none(), "{answer:?}");
}

fn event_of(room: &Room) -> Value {
    let mut event = room.project.bash("rm provost.toml");
    // Without a session, no answer is shared, so the first step is one of the journal.
    event.as_object_mut().unwrap().remove("session_id");
    event
}
