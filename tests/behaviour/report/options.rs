//! The options of `provost report`: how far back, which projects, at which time, for whom.

use std::fs;

use super::{NOW, Room};

#[test]
fn the_period_ends_now_and_begins_as_long_ago_as_asked() {
    let room = Room::new();
    let times = ["2026-10-17T12:00:00", "2026-10-19T11:59:00", "2026-10-19T12:01:00", "2026-11-17T11:00:00"];
    room.put("journal.jsonl", &times.map(|time| room.denied(time, "x")));
    let denied = |arguments: &[&str]| room.report(arguments)["summary"]["denied"].as_u64().unwrap();
    // 29 days before `NOW` is 2026-10-19T12:00:00.
    assert_eq!(
        [denied(&[]), denied(&["--last", "29d"]), denied(&["--last", "1h"]), denied(&["--last", "9w"])],
        [3, 2, 1, 4]
    );
    // In a client's hook, wrong usage would be a mistake of the hook entry.
    let room = Room { project: room.project.without_variable("CLAUDE_PROJECT_DIR") };
    for wrong in ["30", "d", "-1d", "soon", "30y", ""] {
        let answer = room.provost("report", &["--last", wrong]);
        assert_eq!(answer.code, Some(64), "{wrong}: {answer:?}");
    }
}

#[test]
fn each_day_that_the_journal_covers_is_listed() {
    let room = Room::new();
    let dates = |arguments: &[&str]| -> Vec<String> {
        let report = room.report(arguments);
        let days = report["days"].as_array().unwrap();
        days.iter().map(|day| format!("{} {}", day["date"].as_str().unwrap(), day["denied"])).collect()
    };
    assert_eq!(dates(&[]), [""; 0]);
    room.put(
        "journal.jsonl",
        &[room.denied("2026-11-14T13:00:00", "x"), room.denied("2026-11-16T10:00:00", "x")],
    );
    let covered = ["2026-11-14 1", "2026-11-15 0", "2026-11-16 1", "2026-11-17 0"];
    assert_eq!(dates(&[]), covered);
    // A journal that is older covers the whole period.
    room.put("journal.1.jsonl", &[room.silent("2026-08-01T10:00:00", "x")]);
    assert_eq!(dates(&["--last", "3d"]), covered);
    assert_eq!(dates(&["--last", "30d"]).len(), 31);
    // Years are not listed day by day.
    room.put("journal.2.jsonl", &[room.denied("1970-01-01T00:00:00", "x")]);
    assert_eq!(dates(&["--last", "99999w"]).len(), 4);
}

#[test]
fn a_report_can_be_made_for_another_time() {
    let room = Room::new();
    let times = ["2026-11-10T10:00:00", "2026-11-12T10:00:00"];
    room.put("journal.jsonl", &times.map(|time| room.denied(time, "x")));
    let report = |seconds: Option<&str>, arguments: &[&str]| {
        let mut command = room.project.provost_command("report", &[&["--json"], arguments].concat());
        command.envs(seconds.map(|seconds| ("SOURCE_DATE_EPOCH", seconds)));
        crate::support::collect_answer(command.spawn().unwrap(), None)
    };
    // 2026-11-11T00:00:00Z.
    let old = report(Some("1794355200"), &[]);
    assert!(
        old.stdout.contains("\"to\": \"2026-11-11T00:00:00Z\"") && old.stdout.contains("\"denied\": 1"),
        "{old:?}"
    );
    assert!(old.stdout.contains("decisions in the future"), "{old:?}");
    let named = report(Some("1794355200"), &["--now", NOW]);
    assert!(named.stdout.contains("\"to\": \"2026-11-17T12:00:00Z\""), "{named:?}");
    // The same input gives the same bytes.
    assert_eq!(report(None, &["--now", NOW]).stdout, report(None, &["--now", NOW]).stdout);
    let wrong = report(Some("yesterday"), &[]);
    assert!(wrong.code == Some(74) && wrong.stderr.contains("SOURCE_DATE_EPOCH"), "{wrong:?}");
    assert!(report(None, &["--now", "yesterday"]).stdout.contains("it is a time in UTC"));
}

#[test]
fn all_projects_of_the_user_are_added_up() {
    let room = Room::new();
    room.put(
        "journal.jsonl",
        &[room.denied("2026-11-10T10:00:00", "x"), room.silent("2026-11-10T11:00:00", "x")],
    );
    let other = room.state().with_file_name("other-0123456789abcdef");
    fs::create_dir_all(&other).unwrap();
    let line =
        room.denied("2026-11-11T10:00:00", "x").with("project", "/work/other").with("session", "session-b");
    fs::write(other.join("journal.jsonl"), format!("{}\n", line.0)).unwrap();
    // Not a journal, and one that cannot be read.
    fs::write(room.state().with_file_name("stray"), "x").unwrap();
    let broken = room.state().with_file_name("broken-0123456789abcdef");
    fs::create_dir_all(broken.join("journal.jsonl")).unwrap();
    let here = room.report(&[]);
    assert_eq!(
        (here["summary"]["events"].as_u64(), here["projects"].as_array().unwrap().len()),
        (Some(2), 1)
    );
    let all = room.report(&["--all"]);
    assert_eq!(all["summary"]["events"], 3);
    assert_eq!(all["summary"]["sessions"], 2);
    let names: Vec<_> =
        all["projects"].as_array().unwrap().iter().map(|project| project["name"].clone()).collect();
    assert_eq!(names, ["project", "other"]);
    assert!(all["left_out"].to_string().contains("broken-0123456789abcdef"), "{:#}", all["left_out"]);
    let screen = room.screen(&["--all"]);
    assert!(screen.contains("of 2 projects") && screen.contains("/work/other"), "{screen}");
}

#[test]
fn a_redacted_report_names_nobody() {
    let room = Room::new();
    let mut denied = room.denied("2026-11-10T10:00:00", "cat /home/me/plans.md");
    denied.0["guards"][0]["evidence"] =
        serde_json::json!(["/home/me/plans.md", "overridden by the user: I, Me, asked"]);
    let overridden = room.spoken("2026-11-10T10:01:00", "cat /home/me/x", "self-guard", "overridden");
    room.put("journal.jsonl", &[denied, overridden]);
    let path = room.project.path.to_str().unwrap();
    for arguments in [&["--redact"][..], &["--redact", "--json"]] {
        let answer = room.provost("report", &[&["--now", NOW], arguments].concat());
        for hidden in [path, "/home/me", "plans.md", "session-a", "toolu_1", "I, Me"] {
            assert!(!answer.stdout.contains(hidden), "{hidden}: {}", answer.stdout);
        }
        assert!(answer.stdout.contains("rule:no-force-push") && answer.code == Some(0), "{answer:?}");
    }
    let open = room.provost("report", &["--now", NOW, "--json"]).stdout;
    assert!(open.contains(path) && open.contains("session-a"), "{open}");
}

#[test]
fn without_a_home_or_a_journal_there_is_an_empty_report() {
    let room = Room::new();
    let report = room.report(&[]);
    assert_eq!(report["summary"]["events"], 0);
    assert_eq!(report["period"]["covered_from"], serde_json::Value::Null);
    assert!(room.screen(&[]).starts_with("There are no decisions in the last 30d."), "{}", room.screen(&[]));
    let room = Room { project: room.project.without_variable("HOME") };
    assert_eq!(room.report(&[])["summary"]["events"], 0);
    assert_eq!(room.report(&["--all"])["projects"].as_array().unwrap().len(), 0);
}
