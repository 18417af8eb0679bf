//! Files that drop out of the journal, and what is left of them.

use std::fs;

use serde_json::json;

use super::*;
use crate::journal::lines::hash_subject;
use crate::journal::visit_lines;

/// A silent line of a call about `subject`, or one that was denied.
fn line(id: usize, time: &str, subject: &str, is_denied: bool) -> String {
    let word = if is_denied { "deny" } else { "silence" };
    let mut line = json!({"id": format!("{id:013}"), "time": time, "version": "0.1.0", "client": "claude",
        "project": "/p", "event": "before", "session": "s", "tool": "Bash", "call": "c",
        "subject_hash": hash_subject(subject), "guards": [{"guard": "self-guard", "opinion": word, "micros": 5}],
        "decision": word, "micros": 1000 + id});
    if is_denied {
        line["subject"] = subject.into();
    }
    format!("{line}\n")
}

fn put(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name != LOCK);
    names.sort();
    names
}

/// How many events all files have, and the ids of those that are whole lines.
fn count(directory: &Path) -> (u64, Vec<String>) {
    let (mut events, mut ids) = (0, Vec::new());
    let errors = visit_lines(directory, |line| match JournalLine::parse(line.unwrap()) {
        JournalLine::Totals(totals) => events += totals.count(),
        JournalLine::Silent(_) | JournalLine::Record(_) => {
            events += 1;
            let record = crate::journal::JournalRecord::parse_bytes(line.unwrap()).unwrap();
            ids.push(record.text("id").to_owned());
        }
        JournalLine::Header(_) => {}
        JournalLine::Broken => panic!("{}", String::from_utf8_lossy(line.unwrap())),
    });
    assert!(errors.is_empty());
    (events, ids)
}

#[test]
fn silent_lines_become_totals_and_all_others_stay_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let denied = line(2, "2026-11-01T10:00:00.000Z", "rm x", true);
    let of_tomorrow = line(3, "2026-11-01T10:00:01.000Z", "ls", false)
        .replace("\"mode\"", "\"new\"")
        .replace("{\"id\"", "{ \"id\"");
    let unknown = line(4, "2026-11-01T10:00:02.000Z", "ls", false)
        .replace("\"tool\"", "\"field_of_tomorrow\":[1],\"tool\"");
    let text = [
        line(1, "2026-11-01T09:00:00.000Z", "ls", false),
        denied.clone(),
        of_tomorrow.clone(),
        unknown.clone(),
        line(5, "2026-11-02T09:00:00.000Z", "ls", false),
        "\u{0}\u{1} torn\n".into(),
    ];
    let path = put(dir.path(), "journal.archive.000001.jsonl", &text.concat());
    compact(dir.path()).unwrap();
    let compacted = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = compacted.lines().collect();
    assert!(lines[0].starts_with("{\"archive\":1,") && lines[0].contains("\"broken\":1"), "{compacted}");
    assert_eq!(lines[1..3], [denied.trim_end(), unknown.trim_end()]);
    assert!(
        lines[3].starts_with("{\"day\":\"2026-11-01\"") && lines[4].starts_with("{\"day\":\"2026-11-02\"")
    );
    assert_eq!(lines.len(), 5, "{compacted}");
    // It is done once.
    compact(dir.path()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), compacted);
}

#[test]
fn the_call_that_ends_a_denial_stays() {
    let dir = tempfile::tempdir().unwrap();
    let text = [
        line(1, "2026-11-01T09:00:00.000Z", "make", false),
        line(2, "2026-11-01T10:00:00.000Z", "make", true),
        line(3, "2026-11-01T10:00:01.000Z", "ls", false),
        line(4, "2026-11-01T10:00:02.000Z", "make", false),
        line(5, "2026-11-01T10:00:03.000Z", "make", false),
        line(6, "2026-11-01T10:00:04.000Z", "cargo", true),
    ];
    put(dir.path(), "journal.archive.000001.jsonl", &text.concat());
    compact(dir.path()).unwrap();
    assert_eq!(count(dir.path()), (6, ["2", "4", "6"].map(|id| format!("{id:0>13}")).to_vec()));
    // Also in the next file, whether the first one is merged with it or not.
    put(dir.path(), "journal.archive.000002.jsonl", &line(7, "2026-11-01T10:00:05.000Z", "cargo", false));
    compact(dir.path()).unwrap();
    assert_eq!(count(dir.path()), (7, ["2", "4", "6", "7"].map(|id| format!("{id:0>13}")).to_vec()));
}

#[test]
fn small_files_are_merged_and_an_included_file_does_not_count() {
    let dir = tempfile::tempdir().unwrap();
    let first =
        put(dir.path(), "journal.archive.000001.jsonl", &line(1, "2026-11-01T09:00:00.000Z", "ls", true));
    compact(dir.path()).unwrap();
    let kept = fs::read(&first).unwrap();
    put(
        dir.path(),
        "journal.archive.000002.jsonl",
        &line(2, "2026-11-01T09:30:00.000Z", "ls", false).repeat(3),
    );
    compact(dir.path()).unwrap();
    assert_eq!((names(dir.path()), count(dir.path()).0), (vec!["journal.archive.000002.jsonl".into()], 4));
    // A process that is killed leaves the first file.
    fs::write(&first, kept).unwrap();
    assert_eq!(count(dir.path()).0, 4);
    assert_eq!(next_path(dir.path()), dir.path().join("journal.archive.000003.jsonl"));
    compact(dir.path()).unwrap();
    assert_eq!((names(dir.path()).len(), count(dir.path()).0), (1, 4));
    // The number of a file that was included is not used again.
    let header = fs::read_to_string(dir.path().join("journal.archive.000002.jsonl")).unwrap();
    put(dir.path(), "journal.archive.000001.jsonl", header.lines().next().unwrap());
    fs::remove_file(dir.path().join("journal.archive.000002.jsonl")).unwrap();
    assert_eq!(next_path(dir.path()), dir.path().join("journal.archive.000002.jsonl"));
}

#[test]
fn a_file_of_another_version_is_not_merged() {
    let dir = tempfile::tempdir().unwrap();
    let of_tomorrow = "{\"archive\":2,\"new\":1}\n{\"day\":\"2026-11-01\",\"of\":\"tomorrow\"}\n";
    let first = put(dir.path(), "journal.archive.000001.jsonl", of_tomorrow);
    put(dir.path(), "journal.archive.000002.jsonl", &line(2, "2026-11-01T09:30:00.000Z", "ls", false));
    compact(dir.path()).unwrap();
    assert_eq!((names(dir.path()).len(), fs::read_to_string(first).unwrap()), (2, of_tomorrow.into()));
    // Nor is one with a line that this version does not understand.
    let odd = "{\"archive\":1}\n{\"day\":\"2026-11-01\",\"of\":\"tomorrow\"}\n";
    let third = put(dir.path(), "journal.archive.000003.jsonl", odd);
    put(dir.path(), "journal.archive.000004.jsonl", &line(3, "2026-11-01T09:30:00.000Z", "ls", false));
    compact(dir.path()).unwrap();
    assert_eq!((names(dir.path()).len(), fs::read_to_string(third).unwrap()), (4, odd.into()));
}

/// A compact file of this size whose decisions are from this day.
fn put_compact(directory: &Path, number: u32, day: &str, size: usize) {
    let header =
        json!({"archive": 1, "from": format!("{day}T00:00:00.000Z"), "to": format!("{day}T23:59:59.999Z")});
    let denied = line(9, &format!("{day}T12:00:00.000Z"), &"x".repeat(1000), true);
    let text = format!("{header}\n{}", denied.repeat(size / denied.len()));
    put(directory, &format!("journal.archive.{number:06}.jsonl"), &text);
}

#[test]
fn ninety_days_are_kept_and_more_in_a_small_archive() {
    let dir = tempfile::tempdir().unwrap();
    put_compact(dir.path(), 1, "2026-01-01", 6 << 20);
    put_compact(dir.path(), 2, "2026-08-10", 6 << 20);
    put_compact(dir.path(), 3, "2026-08-20", 6 << 20);
    // All of them are too many, but the first day that is kept is 90 days before the oldest new line.
    put(dir.path(), "journal.archive.000004.jsonl", &line(1, "2026-11-12T09:00:00.000Z", "ls", true));
    let before = names(dir.path());
    assert_eq!(before.len(), 4);
    compact(dir.path()).unwrap();
    assert_eq!(names(dir.path()), before[1..], "one file less is enough");
    // A line in the far future does not make the others old.
    let text =
        line(2, "2026-11-13T09:00:00.000Z", "ls", true) + &line(3, "2199-01-01T00:00:00.000Z", "ls", true);
    put_compact(dir.path(), 5, "2026-08-21", 6 << 20);
    put(dir.path(), "journal.archive.000006.jsonl", &text);
    compact(dir.path()).unwrap();
    assert_eq!(names(dir.path()).len(), 4, "{:?}", names(dir.path()));
}

#[test]
fn an_archive_has_a_largest_size_whatever_is_in_it() {
    let dir = tempfile::tempdir().unwrap();
    // The files take no room on the disk.
    let enlarge = |number: u32, size: u64| {
        let file = dir.path().join(format!("journal.archive.{number:06}.jsonl"));
        fs::File::options().append(true).create(true).open(file).unwrap().set_len(size).unwrap();
    };
    for number in 1..=5 {
        put_compact(dir.path(), number, "2026-11-01", 10_000);
        enlarge(number, 60 << 20);
    }
    // This one is too large to be compacted.
    enlarge(6, 133 << 20);
    compact(dir.path()).unwrap();
    let size: u64 =
        names(dir.path()).iter().map(|name| fs::metadata(dir.path().join(name)).unwrap().len()).sum();
    assert!(size <= LARGEST_ARCHIVE && names(dir.path()).len() == 3, "{size}: {:?}", names(dir.path()));
}

#[test]
fn nothing_is_done_while_another_process_does_it() {
    let dir = tempfile::tempdir().unwrap();
    let text = line(1, "2026-11-01T09:00:00.000Z", "ls", false);
    let path = put(dir.path(), "journal.archive.000001.jsonl", &text);
    let held = files::try_lock(&dir.path().join(LOCK)).unwrap();
    compact(dir.path()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    drop(held);
    compact(dir.path()).unwrap();
    assert_ne!(fs::read_to_string(&path).unwrap(), text);
}
