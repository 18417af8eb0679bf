//! What the user sees of a plan.

use std::fs;

use serde_json::Value;

use super::{FAIL, FINDINGS, GAPS, NONE, PASS, Room, err, out, plan_with};
use crate::support::assert_shown;

/// A screen with short paths and without times. Where the first line is broken depends on the path of the plan.
fn screen(room: &Room, arguments: &[&str], code: i32) -> String {
    let text = room.project.shorten_paths(&out(&room.run(arguments, code)));
    let text = text.replace("(changed\n           last)", "(changed last)");
    let steady = |line: &str| {
        let words = line.split(' ').map(|word| {
            let is_time = word.starts_with("20") && word.trim_end_matches(')').ends_with('Z');
            if is_time { if word.ends_with(')') { "TIME)" } else { "TIME" } } else { word }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|line| steady(line) + "\n").collect()
}

#[test]
fn status_of_an_unassessed_plan() {
    let room = Room::new(NONE, PASS).kept();
    assert_eq!(
        screen(&room, &["gate", "status"], 1),
        "\
plan       <home>/.claude/plans/login.md (changed last)
store      embedded
session    cade7541-3bcb-4812-9269-be407af59b19
verdict    pending TIME
           Content changed, re-run assessment
seal       none
gaps       1
           GAP-1       high    Database rollback
findings   no critic has read this text
validator  has not read this text
gate       closed
           Assessment pending: Content changed, re-run assessment
to fix     Run /rodin:plan-gate; or `provost gate assess`
"
    );
}

#[test]
fn status_of_a_plan_that_failed() {
    let room = Room::new(FINDINGS, FAIL).kept();
    room.run(&["gate", "assess"], 1);
    // The line breaks depend on the length of the temporary directory's name.
    let text = screen(&room, &["gate", "status", room.plan.to_str().unwrap()], 1);
    let whole =
        text.replace("\n           <home>", " <home>").replace("`provost\n           gate", "`provost gate");
    assert_eq!(
        whole,
        "\
plan       <home>/.claude/plans/login.md
store      embedded
session    cade7541-3bcb-4812-9269-be407af59b19
verdict    fail TIME
           FINDING-2: Token expiry
seal       none
gaps       1
           GAP-1       high    Database rollback
findings   3, 2 of them need a gap (critic of TIME)
           FINDING-1   high    No rollback
           FINDING-2   medium  Token expiry
           FINDING-3   low     Typo
validator  failed this text
gate       closed
           Assessment failed: FINDING-2: Token expiry
to fix     Update gaps to cover findings, then re-run /rodin:plan-gate; or
           `provost gate assess <home>/.claude/plans/login.md`
"
    );
}

#[test]
fn status_of_a_plan_that_passed_and_of_the_same_plan_changed() {
    let room = Room::new(FINDINGS, PASS).kept();
    room.run(&["gate", "assess"], 0);
    assert_shown!("gate-status-passed", screen(&room, &["gate", "status"], 0));
    fs::write(&room.plan, room.text().replace("Step 1", "Step 2")).unwrap();
    assert_shown!("gate-status-changed", screen(&room, &["gate", "status"], 1));
}

#[test]
fn status_names_what_the_plan_itself_lacks() {
    let room = Room::with("# Plan\n\nTBD\n", "");
    assert_shown!("gate-status-incomplete", screen(&room, &["gate", "status"], 1));
}

#[test]
fn show_prints_all_parts_in_full() {
    let room = Room::new(
        &FINDINGS.replace("FINDING-1: No rollback\n- **Severity**: high", "FINDING-1: No rollback"),
        FAIL,
    )
    .kept();
    room.run(&["gate", "assess"], 1);
    let text = screen(&room, &["gate", "show"], 0);
    let (_, parts) = text.split_once("seal       none\n").unwrap();
    assert_eq!(
        parts,
        "
Findings  3, 2 of them need a gap  (critic of TIME)
  FINDING-1   unsaid  No rollback
              The migration cannot be undone
  FINDING-2   medium  Token expiry
              Nothing is said about tokens
  FINDING-3   low     Typo
              A word is misspelt

Gaps  1
  GAP-1       high    Database rollback
              No way back if the migration fails

Validator  failed this text
  reason   FINDING-2: Token expiry
"
    );
}

#[test]
fn status_as_json_has_everything() {
    let room = Room::new(FINDINGS, FAIL).kept();
    room.run(&["gate", "assess"], 1);
    let all: Value = serde_json::from_str(&out(&room.run(&["gate", "status", "--json"], 1))).unwrap();
    assert_eq!(all["plan"], room.plan.to_str().unwrap());
    assert_eq!(all["verdict"]["status"], "fail");
    assert_eq!((&all["current"], &all["sealed"]), (&true.into(), &false.into()));
    assert_eq!(all["gaps"][0]["title"], "Database rollback");
    assert_eq!(all["critic"]["findings"][2]["serious"], false);
    assert_eq!(all["critic"]["findings"][1]["description"], "Nothing is said about tokens");
    assert_eq!(all["validator"], "fail");
    assert_eq!(all["blocked"]["what"], "[RODIN] Assessment failed");
}

#[test]
fn all_plans_are_listed_one_line_each() {
    let room = Room::new(FINDINGS, PASS).kept();
    room.run(&["gate", "assess"], 0);
    let old = room.project.write_home_file(".claude/plans/old.md", "# Old\n");
    fs::File::options().write(true).open(old).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(
        screen(&room, &["gate", "status", "--all"], 0),
        "\
VERDICT  SEALED  GAPS  LEAVES  SESSION   PLAN
pass     yes     1     yes     cade7541  login.md
none     no      -     no      -         old.md
"
    );
    let all: Value =
        serde_json::from_str(&out(&room.run(&["gate", "status", "--all", "--json"], 0))).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2);
    fs::remove_dir_all(room.plan.parent().unwrap()).unwrap();
    assert_eq!(screen(&room, &["gate", "status", "--all"], 0), "no plans in <home>/.claude/plans\n");
    assert!(screen(&room, &["gate", "status"], 1).contains("there is no plan in <home>/.claude/plans"));
    assert!(screen(&room, &["gate", "show"], 1).contains("there is no plan in <home>/.claude/plans"));
}

#[test]
fn the_text_of_a_plan_cannot_control_the_terminal() {
    let hostile = "### GAP-1: \u{1b}[2J\u{202e}title\n- **Description**: \u{1b}]0;x\u{7}\n";
    let room =
        Room::new(&FINDINGS.replace("Typo", "\u{1b}[31mTypo"), "### VERDICT: FAIL\n**Reason**: \u{1b}[2J");
    fs::write(&room.plan, plan_with(hostile)).unwrap();
    let assess = room.run(&["gate", "assess", "--session", super::SESSION], 1);
    let screens = [
        err(&assess),
        out(&assess),
        out(&room.run(&["gate", "status"], 1)),
        out(&room.run(&["gate", "show"], 0)),
        out(&room.run(&["gate", "status", "--all"], 0)),
    ];
    for text in screens {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    }
}

#[test]
fn colours_appear_only_where_they_are_wanted() {
    let room = Room::with(&plan_with(GAPS), "").kept();
    for arguments in [["gate", "status"], ["gate", "show"]] {
        let escapes =
            |name: &str| room.command(&arguments).env(name, "1").output().unwrap().stdout.contains(&0x1b);
        assert!(escapes("CLICOLOR_FORCE") && !escapes("NO_COLOR") && !escapes("OTHER"));
    }
}

#[test]
fn progress_is_one_line_per_step_on_standard_error() {
    let room = Room::new(FINDINGS, PASS).kept();
    room.does("opus.1", "exit 3");
    let output = room.run(&["gate", "assess"], 0);
    let steps: Vec<String> = err(&output)
        .lines()
        .map(|line| {
            let (time, step) = line.split_once(" s  ").unwrap();
            assert!(time.trim().parse::<f64>().is_ok(), "{line}");
            room.project.shorten_paths(step)
        })
        .collect();
    assert_eq!(
        steps,
        [
            "plan: <home>/.claude/plans/login.md (changed last), session cade7541-3bcb-4812-9269-be407af59b19",
            "goals: there",
            "gaps: 1",
            "leakage: 0 phrases, nothing to add",
            "critic: asked (opus)",
            "critic: no answer that counts: the reviewer failed (exit status: 3)",
            "critic: asked again (opus)",
            "critic: 3 findings, 2 of them to be covered",
            "validator: asked (haiku)",
            "validator: pass",
        ]
    );
}
