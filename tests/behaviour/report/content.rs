//! What a report says, from lines of every kind, and that all its forms say the same.

use serde_json::{Value, json};

use super::{Line, Room};
use crate::support::assert_shown;
use crate::support::review_project::started_review;

/// A fortnight with something of every kind.
fn fortnight(room: &Room) -> Vec<Line> {
    let force = "git push --force origin main";
    let mut handover = room.stop("2026-11-10T10:00:00").with("decision", "deny").with("micros", 61_000_000);
    handover.0["guards"] =
        json!([{"guard": "review-loop", "opinion": "deny", "what": "Read the review", "micros": 5}]);
    let mut lines = vec![
        room.denied("2026-11-05T09:00:00", force).with("agent", "tester"),
        room.silent("2026-11-05T09:00:30", "ls").with("micros", 900),
        room.silent("2026-11-05T09:01:00", force).with("micros", 2_100),
        room.denied("2026-11-06T09:00:00", "rm -rf /"),
        room.denied("2026-11-06T09:01:00", "rm -rf /"),
        room.spoken("2026-11-06T10:00:00", "rm provost.toml", "self-guard", "deny"),
        room.spoken("2026-11-06T10:01:00", "rm provost.toml", "self-guard", "overridden"),
        room.spoken("2026-11-07T10:00:00", "cat .env", "rule:no-env", "would deny"),
        room.spoken("2026-11-07T10:00:01", "cat .env", "rule:no-env", "would ask"),
        room.spoken("2026-11-07T10:00:02", "cat .env", "rule:no-env", "would warn"),
        room.spoken("2026-11-08T10:00:00", "make", "rule:ask-first", "ask"),
        room.spoken("2026-11-08T10:01:00", "make", "review-reminder", "note"),
        room.spoken("2026-11-09T10:00:00", "make", "branch-guard", "fault"),
        handover,
        room.stop("2026-11-10T11:00:00"),
    ];
    lines[6].0["guards"][0]["evidence"] = json!(["a fact", "overridden by the user: the file is mine"]);
    let rounds = [(1, "issues", false), (2, "clean", false), (3, "clean", true)];
    for (at, (round, verdict, is_last)) in rounds.into_iter().enumerate() {
        let mut line = room.stop(&format!("2026-11-10T12:0{at}:00"));
        line.0["guards"] = json!([{"guard": "review-loop", "opinion": "note", "micros": 5, "review": {"plan": "login",
            "review": "code-review", "task": "2", "round": round, "model": if round == 2 { "b" } else { "a" },
            "verdict": verdict, "is_last": is_last, "micros": 60_000_000}}]);
        lines.push(line);
    }
    for (time, passed) in [("2026-11-11T10:00:00", false), ("2026-11-11T11:00:00", true)] {
        let mut line = room.silent(time, "");
        line.0["guards"] = json!([{"guard": "plan-gate", "opinion": "silence", "micros": 5,
            "assessment": {"plan": "/p/login.md", "passed": passed}}]);
        lines.push(line);
    }
    // The same command in another session is another call.
    lines.push(room.silent("2026-11-11T12:00:00", "rm -rf /").with("session", "session-b"));
    lines
}

fn filled() -> Room {
    let room = Room::new();
    let rules = "[[rule]]\nname = \"no-env\"\nreads = \".env\"\nmode = \"watch\"\ndeny = \"it has secrets\"\n\n\
                 [[rule]]\nname = \"never\"\nruns = \"nothing\"\ndeny = \"it never runs\"\n\n\
                 [guards]\nplanner-bash-guard = \"off\"\n";
    room.project.write_file("provost.toml", rules);
    let lines = fortnight(&room);
    room.put("journal.jsonl", &lines);
    room
}

fn guard<'r>(report: &'r Value, name: &str) -> &'r Value {
    report["guards"].as_array().unwrap().iter().find(|guard| guard["guard"] == name).unwrap_or(&Value::Null)
}

#[test]
fn every_kind_of_decision_is_counted_once() {
    let report = filled().report(&[]);
    let summary = &report["summary"];
    let counts = [
        "calls",
        "events",
        "sessions",
        "denied_calls",
        "denied",
        "asked",
        "warned",
        "overridden",
        "would_deny",
        "faults",
        "review_rounds",
        "assessments",
    ]
    .map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [16, 21, 2, 4, 5, 1, 4, 1, 1, 1, 3, 2]);
    assert_eq!(
        report["outcomes"],
        json!({"fixed": 1, "overridden": 1, "tried_again": 1, "given_up": 1, "unknown": 0})
    );
    let day = |at: usize, name: &str| report["days"][at][name].clone();
    assert_eq!(
        (day(0, "date"), day(0, "events"), day(0, "denied_by")),
        (json!("2026-11-05"), json!(3), json!([{"guard": "rule:no-force-push", "count": 1}]))
    );
    let sum: u64 = report["days"].as_array().unwrap().iter().map(|day| day["events"].as_u64().unwrap()).sum();
    assert_eq!((sum, report["days"].as_array().unwrap().len()), (21, 13));
}

#[test]
fn each_guard_has_its_numbers_and_its_mode() {
    let report = filled().report(&[]);
    let of = |name: &str, fields: &[&str]| -> Vec<Value> {
        fields.iter().map(|field| guard(&report, name)[*field].clone()).collect()
    };
    assert_eq!(
        of("rule:no-env", &["mode", "judged", "would_deny", "would_ask", "would_warn", "denied"]),
        [json!("watch"), json!(3), json!(1), json!(1), json!(1), json!(0)]
    );
    assert_eq!(
        of("self-guard", &["mode", "denied", "overridden", "last"]),
        [json!("enforce"), json!(1), json!(1), json!("2026-11-06T10:01:00.123Z")]
    );
    assert_eq!(
        of("rule:never", &["mode", "judged", "last", "purpose"]),
        [json!("enforce"), json!(0), Value::Null, json!("deny: it never runs")]
    );
    // A rule that no file has any more.
    assert_eq!(of("rule:no-force-push", &["mode", "denied"]), [json!("unknown"), json!(3)]);
    assert_eq!(of("branch-guard", &["faults", "pack"]), [json!(1), json!("phases")]);
    assert_eq!(guard(&report, "planner-bash-guard"), &Value::Null, "it is off and said nothing");
}

#[test]
fn each_denial_says_all_that_is_known() {
    let room = filled();
    let report = room.report(&[]);
    let decisions = report["decisions"].as_array().unwrap();
    let times: Vec<&str> = decisions.iter().map(|decision| decision["time"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "the newest first: {times:?}");
    let first = decisions.last().unwrap();
    let expected = json!({
        "id": first["id"], "time": "2026-11-05T09:00:00.123Z", "project": room.project.path, "session": "session-a",
        "agent": "tester", "call": "toolu_1", "event": "PreToolUse", "tool": "Bash",
        "subject": "git push --force origin main", "remark": null, "decision": "deny",
        "opinions": [{"guard": "rule:no-force-push", "opinion": "deny",
            "what": "`git push --force origin main` not run", "why": "it is forbidden", "fix": "leave it",
            "evidence": ["a fact"], "reason": null}],
        "outcome": "fixed", "micros": 1234, "explain": format!("provost explain {}", first["id"].as_str().unwrap()),
    });
    assert_eq!(first, &expected);
    let answer = room.provost("explain", &[first["id"].as_str().unwrap()]);
    assert!(answer.stdout.contains("git push --force origin main"), "{answer:?}");
    let overridden = decisions.iter().find(|decision| decision["decision"] == "overridden").unwrap();
    assert_eq!(overridden["opinions"][0]["reason"], "the file is mine");
}

#[test]
fn reviews_say_how_many_rounds_how_long_and_by_whom() {
    let report = filled().report(&[]);
    let review = &report["reviews"][0];
    assert_eq!(
        (&review["plan"], &review["review"], &review["task"], &review["is_clean"]),
        (&json!("login"), &json!("code-review"), &json!("2"), &json!(true))
    );
    assert_eq!((&review["micros"], &review["models"]), (&json!(180_000_000), &json!(["a", "b"])));
    let verdicts: Vec<&Value> =
        review["rounds"].as_array().unwrap().iter().map(|round| &round["verdict"]).collect();
    assert_eq!(verdicts, ["findings", "clean", "clean"]);
    assert_eq!(
        report["plans"],
        json!([{"project": report["projects"][0]["path"], "plan": "/p/login.md", "assessments": 2,
        "passed": 1, "is_passed": true, "last": "2026-11-11T11:00:00.123Z"}])
    );
}

#[test]
fn a_line_of_an_older_version_says_by_its_evidence_that_there_was_a_round() {
    let room = Room::new();
    let round = |time: &str, evidence: &str| {
        let mut line = room.spoken(time, "", "review-loop", "deny").with("event", "Stop");
        line.0["guards"][0]["evidence"] = json!(["plan 2026-login", evidence]);
        line
    };
    room.put(
        "journal.jsonl",
        &[
            round("2026-11-10T10:00:00", "code-review, round 1 by a: issues"),
            round("2026-11-10T10:01:00", "code-review, round 2 by a: b: came to nothing"),
            round("2026-11-10T10:02:00", "code-review, round 2 by b: clean"),
            round(
                "2026-11-10T10:03:00",
                "code-review, round 3 by b: clean, and enough; next is complete-task",
            ),
            round("2026-11-10T10:04:00", "code-review, round 1 by a: issues"),
            round("2026-11-10T10:05:00", "no review is due"),
        ],
    );
    let report = room.report(&[]);
    let reviews: Vec<(usize, &Value)> = report["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| (review["rounds"].as_array().unwrap().len(), &review["is_clean"]))
        .collect();
    assert_eq!(reviews, [(1, &json!(false)), (4, &json!(true))]);
    assert_eq!(report["reviews"][1]["models"], json!(["a", "a: b", "b"]));
}

/// A real loop, with the mock reviewer: the journal has what the report needs.
#[test]
fn the_rounds_of_a_real_loop_are_reported() {
    let mut planned = started_review(json!({}));
    planned.expect_block(&planned.stop());
    planned.write_file("task-1-post-review-1.md", "Mended.\n");
    planned.set("MOCK_CLAUDE_VERDICT", "PASS");
    // The second round is made by the user.
    let answer = planned.run(&["review", "run"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    planned.write_file("task-1-post-review-2.md", "Mended.\n");
    assert!(planned.stop_again().code == Some(0));
    let answer = planned.run(&["report", "--json"], b"");
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let review = &report["reviews"][0];
    assert_eq!(
        (report["reviews"].as_array().unwrap().len(), &review["plan"], &review["is_clean"]),
        (1, &json!("2026-login"), &json!(true))
    );
    let rounds: Vec<String> = review["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| format!("{} {} {}", round["number"], round["verdict"], round["model"]))
        .collect();
    assert_eq!(rounds, ["1 \"findings\" \"opus\"", "2 \"clean\" \"sonnet\"", "3 \"clean\" \"opus\""]);
    assert!(
        review["rounds"].as_array().unwrap().iter().all(|round| round["micros"].as_u64() > Some(0)),
        "{review:#}"
    );
    assert_eq!(report["summary"]["review_rounds"], 3);
}

#[test]
fn the_time_of_each_kind_of_event_is_a_distribution() {
    let room = Room::new();
    let lines: Vec<Line> =
        (1..=200).map(|number| room.silent("2026-11-10T10:00:00", "x").with("micros", number * 50)).collect();
    room.put("journal.jsonl", &lines);
    room.put("journal.1.jsonl", &[room.stop("2026-11-10T09:00:00").with("micros", 7_000_000)]);
    let cost = &room.report(&[])["cost"];
    let time = &cost["per_call"];
    let numbers = ["events", "p50_micros", "p95_micros", "max_micros", "total_micros"]
        .map(|name| time[name].as_u64().unwrap());
    assert_eq!(numbers, [200, 5_000, 9_500, 10_000, 200 * 201 / 2 * 50]);
    let counts: Vec<u64> =
        time["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
    assert_eq!((counts.iter().sum::<u64>(), &counts[..8]), (200, &[2, 2, 6, 10, 20, 60, 100, 0][..]));
    assert_eq!(counts.len(), cost["bounds"].as_array().unwrap().len() + 1);
    let names: Vec<&Value> =
        cost["by_event"].as_array().unwrap().iter().map(|event| &event["event"]).collect();
    assert_eq!(names, ["PreToolUse", "Stop"]);
}

/// The numbers of a line of the screen, without commas.
fn numbers(line: &str) -> Vec<String> {
    let words = line.split_whitespace().map(|word| word.replace(',', ""));
    words.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// A screen without its line breaks.
fn words_of(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_screen_has_the_numbers_of_the_json() {
    let room = filled();
    let (report, screen) = (room.report(&[]), room.screen(&[]));
    let sentence = report["summary"]["sentence"].as_str().unwrap();
    assert!(words_of(&screen).starts_with(sentence), "the answer comes first:\n{screen}");
    for figure in report["summary"]["figures"].as_array().unwrap() {
        let (value, label) = (figure["value"].as_str().unwrap(), figure["label"].as_str().unwrap());
        let mut figures = screen.lines().skip_while(|line| !line.is_empty());
        let line = figures.find(|line| line.contains(label)).unwrap();
        assert!(line.trim_start().starts_with(value), "{label}: {value}\n{line}");
    }
    let find = |start: &str| {
        screen
            .lines()
            .find(|line| line.trim_start().starts_with(start))
            .unwrap_or_else(|| panic!("{start}:\n{screen}"))
    };
    for day in report["days"].as_array().unwrap() {
        let line = find(day["date"].as_str().unwrap());
        assert_eq!(numbers(line)[0], day["denied"].to_string(), "{line}");
    }
    for guard in report["guards"].as_array().unwrap() {
        let name = guard["guard"].as_str().unwrap();
        let words = [
            ("asked", "asked"),
            ("warned", "warned"),
            ("overridden", "overridden"),
            ("would_deny", "would be denied"),
            ("would_ask", "would be asked"),
            ("would_warn", "would be warned"),
            ("faults", "failed"),
        ];
        let counts: Vec<String> = words
            .iter()
            .filter(|(field, _)| guard[*field] != 0)
            .map(|(field, word)| format!("{} {word}", guard[*field]))
            .collect();
        if counts.is_empty() && guard["denied"] == 0 {
            assert!(guard["mode"] == "off" || words_of(&screen).contains(name), "{name}\n{screen}");
            continue;
        }
        let line = find(name);
        assert_eq!(numbers(line)[0], guard["denied"].to_string(), "{line}");
        for count in counts.iter().chain([&format!("of {} judged", guard["judged"])]) {
            assert!(line.contains(count), "{name}: {count}\n{line}");
        }
    }
    for (name, label) in [
        ("fixed", "fixed"),
        ("overridden", "overridden"),
        ("tried_again", "tried again"),
        ("given_up", "given up"),
    ] {
        let line = screen.lines().rfind(|line| line.starts_with(&format!("  {label}"))).unwrap();
        assert_eq!(numbers(line), [report["outcomes"][name].to_string()], "{line}");
    }
    for event in report["cost"]["by_event"].as_array().unwrap() {
        let line = find(event["event"].as_str().unwrap());
        assert_eq!(numbers(line)[0], event["time"]["events"].to_string(), "{line}");
    }
}

#[test]
fn the_screen_shows_everything_that_happened() {
    let room = filled();
    let screen = room.project.shorten_paths(&room.screen(&[]));
    let digest = |text: &str| text.split("configuration ").nth(1).unwrap()[..16].to_owned();
    assert_shown!("report-screen", screen.replace(&digest(&screen), "<digest>"));
}

/// A journal whose silent lines say which call was allowed is needed: an older one does not.
#[test]
fn an_outcome_that_the_journal_does_not_say_is_unknown() {
    let room = Room::new();
    let older = |mut line: Line| {
        line.0.as_object_mut().unwrap().remove("subject_hash");
        line
    };
    room.put(
        "journal.jsonl",
        &[
            older(room.denied("2026-11-10T10:00:00", "a")),
            older(room.denied("2026-11-10T10:01:00", "a")),
            older(room.silent("2026-11-10T10:02:00", "a")),
            older(room.denied("2026-11-10T10:03:00", "b")),
            older(room.spoken("2026-11-10T10:04:00", "b", "self-guard", "overridden")),
            room.denied("2026-11-10T10:05:00", "c").with("session", Value::Null),
            // A still older version recorded no command either, so these two may be different ones.
            older(room.denied("2026-11-10T10:06:00", "d")).with("subject", Value::Null),
            older(room.denied("2026-11-10T10:07:00", "e")).with("subject", Value::Null),
        ],
    );
    let outcomes = &room.report(&[])["outcomes"];
    assert_eq!(
        outcomes,
        &json!({"fixed": 0, "overridden": 1, "tried_again": 1, "given_up": 0, "unknown": 4})
    );
}

/// With the real hook: a call that is denied, changed circumstances, and the same call again.
#[test]
fn a_call_that_is_allowed_later_is_fixed() {
    let room = Room::new();
    let rule = "[[rule]]\nname = \"no-force\"\nruns = \"git push --force\"\ndeny = \"it rewrites history\"\n";
    let config = room.project.write_file("provost.toml", rule);
    let push = room.project.bash("git push --force");
    room.project.hook(&push).expect_denial();
    room.project.hook(&room.project.bash("git push --force --quiet")).expect_denial();
    std::fs::write(config, "").unwrap();
    assert!(room.project.hook(&push).is_silent());
    let answer = room.provost("report", &["--json"]);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let outcomes: Vec<(&Value, &Value)> = report["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|decision| (&decision["subject"], &decision["outcome"]))
        .collect();
    assert_eq!(
        outcomes,
        [
            (&json!("git push --force --quiet"), &json!("given up")),
            (&json!("git push --force"), &json!("fixed"))
        ]
    );
}

/// The recorded transcripts, judged by the same rules: the report has the numbers of the replay.
#[test]
fn transcripts_are_judged_as_the_replay_judges_them() {
    let room = Room::new();
    let rules = "[[rule]]\nname = \"no-rm\"\nruns = \"rm\"\ndeny = \"it deletes\"\n\n\
                 [[rule]]\nname = \"ask-git\"\nruns = \"git\"\nask = \"it is git\"\n";
    room.project.write_file("provost.toml", rules);
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");
    let answer = room.provost("replay", &["--transcripts", directory, "--json"]);
    let replay: Value = serde_json::from_str(&answer.stdout).unwrap();
    let report = room.report(&["--transcripts", directory]);
    let past = &report["without_provost"];
    let decisions = replay["decisions"].as_array().unwrap();
    let count = |field: &str, word: &str| decisions.iter().filter(|decision| decision[field] == word).count();
    assert!(count("decision", "deny") > 0 && count("decision", "ask") > 0, "{:?}", decisions.first());
    assert_eq!((&past["calls"], &past["sessions"]), (&replay["calls"], &replay["sessions"]));
    assert_eq!(
        (&past["denied"], &past["asked"]),
        (&json!(count("decision", "deny")), &json!(count("decision", "ask")))
    );
    let exact = decisions.iter().filter(|decision| decision["exact"] == true).count();
    assert_eq!((&past["exact"], &past["approximate"]), (&json!(exact), &json!(decisions.len() - exact)));
    for guard in past["guards"].as_array().unwrap() {
        let name = guard["guard"].as_str().unwrap();
        let of_guard = decisions.iter().filter(|decision| decision["rule_or_guard"] == name).count();
        let sum: u64 =
            ["denied", "asked", "warned"].iter().map(|field| guard[*field].as_u64().unwrap()).sum();
        assert_eq!(sum, of_guard as u64, "{name}");
    }
    let screen = room.screen(&["--transcripts", directory]);
    assert!(screen.contains("In past sessions") && screen.contains("rule:no-rm"), "{screen}");
    // Without the option, nothing is read.
    assert_eq!(room.report(&[])["without_provost"], Value::Null);
}
