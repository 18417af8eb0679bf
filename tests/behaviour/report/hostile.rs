//! Journals that nobody should have: broken, binary, huge, from another version or another time.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Line, NOW, Room};

#[test]
fn broken_lines_are_counted_and_hide_no_others() {
    let room = Room::new();
    let good = room.denied("2026-11-10T10:00:00", "x").0.to_string();
    let half = &good[..good.len() / 2];
    let mut bytes = format!("{good}\n[]\nnull\n7\n\"x\"\n{{}}}}\n{half}\n\n\r\n").into_bytes();
    bytes.extend(b"\x00\xff\xfe\x80\n\xed\xa0\x80\n");
    bytes.extend("x".repeat(5 << 20).bytes());
    // The start of a line that a killed process wrote, and the next line behind it.
    bytes.extend(format!("\n{half}{good}\r\n{good}").into_bytes());
    room.put_bytes("journal.jsonl", &bytes);
    let report = room.report(&[]);
    assert_eq!(report["summary"]["denied"], 3);
    let left_out = report["left_out"].as_array().unwrap();
    assert_eq!(
        (left_out.len(), &left_out[0]["what"], &left_out[0]["count"]),
        (1, &"lines of the journal".into(), &9.into())
    );
}

#[test]
fn every_field_may_have_any_type_or_be_missing() {
    let room = Room::new();
    let values =
        [json!(null), json!(7), json!(-1.5e300), json!("x"), json!([1, [2]]), json!({"a": {}}), json!(true)];
    let good = room.denied("2026-11-10T10:00:00", "x").0;
    let mut lines = Vec::new();
    for name in good.as_object().unwrap().keys().filter(|name| *name != "time") {
        for value in &values {
            lines.push(Line(good.clone()).with(name, value.clone()));
        }
        let mut without = good.clone();
        without.as_object_mut().unwrap().remove(name);
        lines.push(Line(without));
    }
    for name in
        ["guard", "opinion", "what", "why", "fix", "evidence", "micros", "review", "assessment", "final"]
    {
        for value in &values {
            let mut line = good.clone();
            line["guards"][0][name] = value.clone();
            lines.push(Line(line));
        }
    }
    let count = lines.len();
    room.put("journal.jsonl", &lines);
    let report = room.report(&[]);
    assert_eq!(report["summary"]["events"], count, "{:#}", report["left_out"]);
    for arguments in [
        &["report", "--now", NOW][..],
        &["journal", "-n", "999"],
        &["journal", "--json", "-n", "999"],
        &["explain"],
    ] {
        let answer = room.provost(arguments[0], &arguments[1..]);
        assert!(answer.code == Some(0) && !answer.stderr.contains("panic"), "{arguments:?}: {answer:?}");
    }
    // The same lines survive the archive.
    room.put("journal.archive.000001.jsonl", &lines);
    room.put("journal.jsonl", &[]);
    assert_eq!(room.report(&[])["summary"], report["summary"]);
}

#[test]
fn lines_of_the_past_and_the_future_change_nothing() {
    let room = Room::new();
    let times = ["1970-01-01T00:00:00", "2026-11-17T11:59:59", "2026-11-17T12:00:01", "9999-12-31T23:59:59"];
    let mut lines: Vec<Line> = times.map(|time| room.denied(time, "x")).into();
    for time in [
        "",
        "now",
        "2026-13-40T00:00:00Z",
        "2026-1-1T00:00:00Z",
        "0000-00-00T00:00:00Z",
        "99999-01-01T00:00:00Z",
    ] {
        lines.push(room.denied("2026-11-10T10:00:00", "x").with("time", time));
    }
    room.put("journal.jsonl", &lines);
    let report = room.report(&[]);
    let counts: Vec<(&Value, &Value)> =
        report["left_out"].as_array().unwrap().iter().map(|part| (&part["what"], &part["count"])).collect();
    assert_eq!(report["summary"]["denied"], 1);
    assert_eq!(
        counts,
        [(&json!("decisions without a time"), &json!(6)), (&json!("decisions in the future"), &json!(2))]
    );
    assert!(report["days"].as_array().unwrap().len() <= 31);
}

#[test]
fn a_clock_that_jumps_loses_no_decision() {
    let room = Room::new();
    let times = [
        "2026-11-10T10:00:00",
        "2031-01-01T00:00:00",
        "2026-11-10T10:00:01",
        "2001-01-01T00:00:00",
        "2026-11-11T00:00:00",
    ];
    room.put("journal.jsonl", &times.map(|time| room.denied(time, "x")));
    assert_eq!(room.report(&[])["summary"]["denied"], 3);
    let dates = &room.report(&[])["decisions"];
    let first = dates[0]["time"].as_str().unwrap();
    assert!(first.starts_with("2026-11-11"), "the newest first: {first}");
}

#[test]
fn lines_of_a_newer_version_are_counted_and_kept() {
    let room = Room::new();
    let denied = room
        .denied("2026-11-10T10:00:00", "x")
        .with("decision", "deny (by tomorrow)")
        .with("of_tomorrow", json!([1]));
    let odd =
        room.spoken("2026-11-10T10:00:01", "x", "guard-of-tomorrow", "approve").with("decision", "approve");
    room.put("journal.jsonl", &[denied, odd]);
    let report = room.report(&[]);
    assert_eq!((&report["summary"]["denied"], &report["summary"]["events"]), (&json!(1), &json!(2)));
    // An archive of tomorrow: what this version does not understand is left out, and said.
    room.put_bytes(
        "journal.archive.000001.jsonl",
        b"{\"archive\":9,\"x\":1}\n{\"day\":\"2026-11-09\",\"sum\":5}\n",
    );
    let report = room.report(&[]);
    assert_eq!((&report["summary"]["events"], &report["left_out"][0]["count"]), (&json!(2), &json!(1)));
}

#[test]
fn links_and_pipes_in_the_place_of_files_are_not_waited_for() {
    let room = Room::new();
    room.put("journal.jsonl", &[room.denied("2026-11-10T10:00:00", "x")]);
    symlink("journal.1.jsonl", room.state().join("journal.1.jsonl")).unwrap();
    symlink("/nowhere", room.state().join("journal.archive.000001.jsonl")).unwrap();
    let made =
        std::process::Command::new("mkfifo").arg(room.state().join("journal.2.jsonl")).status().unwrap();
    assert!(made.success());
    let report = room.report(&[]);
    assert_eq!(report["summary"]["denied"], 1);
    let left_out = report["left_out"].to_string();
    assert!(
        left_out.contains("journal.1.jsonl") && left_out.contains("journal.2.jsonl: not a regular file"),
        "{left_out}"
    );
    // Of nothing that can be read, there is no report.
    fs::remove_file(room.state().join("journal.jsonl")).unwrap();
    let answer = room.provost("report", &[]);
    assert!(
        answer.code == Some(74) && answer.stderr.starts_with("[provost] the journal cannot be read"),
        "{answer:?}"
    );
}

#[test]
fn a_large_journal_takes_little_memory() {
    const MEGABYTE: u64 = 1 << 20;
    let room = Room::new();
    let denied = |number: usize| {
        let mut line =
            room.denied("2026-11-10T10:00:00", &format!("x{number}")).with("session", format!("s{number}"));
        line.0["guards"][0]["evidence"] = json!(vec!["y".repeat(2000); 16]);
        format!("{}\n", line.0)
    };
    // 12 lines of 33 KB and many short ones.
    let silent = format!("{}\n", room.silent("2026-11-10T10:00:00", "x").0);
    let part: String = (0..12).map(denied).collect::<String>() + &silent.repeat(1300);
    room.put_bytes("journal.jsonl", part.repeat(40).as_bytes());
    let size = fs::metadata(room.state().join("journal.jsonl")).unwrap().len();
    assert!(size > 25 * MEGABYTE, "{size}");
    let mut child = room.project.provost_command("report", &["--json", "--now", NOW]).spawn().unwrap();
    let mut peak = 0;
    let output = child.stdout.take().unwrap();
    let reader = thread::spawn(move || std::io::read_to_string(output).unwrap());
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let kilobytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        peak = kilobytes.unwrap_or(0).max(peak);
        thread::sleep(Duration::from_millis(1));
    }
    let report: Value = serde_json::from_str(&reader.join().unwrap()).unwrap();
    assert_eq!(
        (&report["summary"]["denied"], &report["summary"]["events"]),
        (&json!(480), &json!(40 * 1312))
    );
    // The decisions are printed as a whole, so they are in memory a few times.
    assert!(peak > 0 && peak * 1024 < 120 * MEGABYTE, "{peak} KB");
}

/// Characters that a terminal obeys, and ones that a page would.
#[test]
fn hostile_texts_are_shown_as_text() {
    let room = Room::new();
    let hostile = "\u{1b}[2J\u{202e}<script>alert(1)</script>\u{9b}x\r\n\u{7}";
    let mut denied = room.spoken("2026-11-10T10:00:00", hostile, hostile, "deny");
    for name in ["session", "agent", "tool", "project", "id", "event", "remark", "call"] {
        denied.0[name] = hostile.into();
    }
    for name in ["what", "why", "fix"] {
        denied.0["guards"][0][name] = hostile.into();
    }
    denied.0["guards"][0]["review"] =
        json!({"plan": hostile, "review": hostile, "task": hostile, "round": 1, "model": hostile});
    denied.0["guards"][0]["assessment"] = json!({"plan": hostile, "passed": true});
    let mut overridden = room.spoken("2026-11-10T10:00:01", hostile, hostile, "overridden");
    overridden.0["guards"][0]["evidence"] = json!([format!("overridden by the user: {hostile}")]);
    room.put("journal.jsonl", &[denied, overridden]);
    for arguments in [&[][..], &["--all"], &["--json"], &["--redact"]] {
        let answer = room.provost("report", &[&["--now", NOW], arguments].concat());
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let shown = answer.stdout;
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\r', '\u{7}']), "{arguments:?}: {shown:?}");
    }
}
