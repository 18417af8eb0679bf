//! The assessment with the sidecar store, and moves between the stores.

use std::fs;
use std::path::PathBuf;

use super::{FAIL, FINDINGS, GAPS, NONE, PASS, PLAN, Room, SESSION, denial, out, plan_with};

impl Room {
    fn beside(&self, name: &str) -> PathBuf {
        self.plan.with_file_name("rodin-plan-gate").join(name)
    }

    fn gaps_file(&self) -> PathBuf {
        self.beside(&format!("{SESSION}.gaps.md"))
    }

    fn gate_file(&self) -> String {
        fs::read_to_string(self.beside(&format!("{SESSION}.gate.yml"))).unwrap_or_default()
    }
}

fn sidecar(critic: &str, validator: &str, settings: &str) -> Room {
    let room = Room::with(PLAN, &format!("store = 'sidecar'\n{settings}"));
    room.says("opus", critic);
    room.says("haiku", validator);
    fs::create_dir(room.plan.with_file_name("rodin-plan-gate")).unwrap();
    fs::write(room.gaps_file(), GAPS).unwrap();
    room
}

#[test]
fn a_plan_with_a_sidecar_record_is_assessed() {
    let room = sidecar(FINDINGS, PASS, "");
    room.assess(0);
    assert_eq!(room.text(), PLAN);
    assert!(room.given("haiku").contains("### GAP-1: Database rollback"));
    assert!(room.gate_file().contains("status: pass"), "{}", room.gate_file());
    assert!(room.leaves().is_silent());
    let status = out(&room.run(&["gate", "status"], 0));
    assert!(status.contains("store      sidecar") && status.contains("for exactly this text"), "{status}");
}

#[test]
fn leaked_doubts_are_added_to_the_gaps_file() {
    let room = sidecar(NONE, PASS, "");
    fs::write(&room.plan, format!("{PLAN}\nunclear, TBD, hopefully\n")).unwrap();
    room.assess(0);
    let gaps = fs::read_to_string(room.gaps_file()).unwrap();
    assert!(gaps.starts_with(GAPS) && gaps.contains("\n### GAP-4: \"hopefully\" in line 9\n"), "{gaps}");
    // If the critic fails, the record is about the current gaps.
    fs::write(&room.plan, format!("{PLAN}\nunclear, TBD, hopefully, assuming\n")).unwrap();
    room.does("opus", "exit 1");
    room.assess(1);
    assert!(fs::read_to_string(room.gaps_file()).unwrap().contains("### GAP-5: \"assuming\""));
    assert!(denial(&room.leaves()).starts_with("[RODIN] Assessment pending"));
}

#[test]
fn messages_use_the_words_of_the_store() {
    let room = sidecar(FINDINGS, FAIL, "");
    assert!(room.assess(1).contains("To fix: Update gaps.md to cover findings"));
    fs::remove_file(room.gaps_file()).unwrap();
    assert!(room.assess(1).ends_with("[RODIN] Plan must have gaps. Write gaps.md and re-run."));
}

#[test]
fn the_exit_assesses_a_plan_with_a_sidecar_record() {
    let room = sidecar(NONE, PASS, "assess = 'exit'\n");
    assert!(room.leaves().is_silent());
    assert_eq!(room.asked(), ["opus", "haiku"]);
    assert!(room.leaves().is_silent());
    assert_eq!(room.asked().len(), 2);
    // The text of the event has only the plan, so the added gaps count.
    fs::write(&room.plan, format!("{PLAN}\nunclear, TBD, hopefully\n")).unwrap();
    assert!(denial(&room.leaves()).starts_with("[RODIN] Gaps were added to the plan"));
    // A TBD is a warning by default.
    assert!(room.leaves().expect_note().contains("still says TBD"));
}

#[test]
fn a_plan_moves_to_the_other_store_and_back_with_its_pass() {
    let room = Room::new(FINDINGS, PASS).kept();
    room.run(&["gate", "assess"], 0);
    let before = room.text();
    let moved = room.project.shorten_paths(&out(&room.run(&["gate", "move", "--to", "sidecar"], 0)));
    assert_eq!(
        moved,
        "\
moved  <home>/.claude/plans/login.md
  The record is now in the store `sidecar`, for session cade7541-3bcb-4812-9269-be407af59b19:
  pass.
  `plan_gate.store` is \"embedded\" here, so the plan counts as unassessed until you set it to
  \"sidecar\" in provost.toml.
"
    );
    assert!(!room.text().contains("rodin:") && room.gate_file().contains("status: pass"));
    denial(&room.leaves());
    let settings = fs::read_to_string(room.project.path.join("provost.toml")).unwrap();
    room.project.write_file("provost.toml", &settings.replace("enabled", "store = 'sidecar'\nenabled"));
    assert!(room.leaves().is_silent());
    room.project.write_file("provost.toml", &settings);
    let moved = out(&room.run(&["gate", "move", room.plan.to_str().unwrap(), "--to", "embedded"], 0));
    assert!(!moved.contains("counts as unassessed"), "{moved}");
    assert!(room.leaves().is_silent());
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&room.text()), words(&before));
}

#[test]
fn a_plan_that_cannot_move_stays() {
    let room = Room::with(&plan_with(GAPS), "");
    let told = room.project.shorten_paths(&out(&room.run(&["gate", "move", "--to", "sidecar"], 1)));
    assert_eq!(told, "stays  <home>/.claude/plans/login.md\n  No assessment found for this session\n");
    assert_eq!(room.text(), plan_with(GAPS));
    fs::remove_file(&room.plan).unwrap();
    assert!(out(&room.run(&["gate", "move", "--to", "sidecar"], 1)).contains("there is no plan in"));
    room.run(&["gate", "move"], 64);
    room.run(&["gate", "move", "--to", "elsewhere"], 64);
}

#[test]
fn a_second_move_says_that_the_plan_was_moved() {
    let room = Room::with(&plan_with(GAPS), "");
    room.says("opus", FINDINGS);
    room.says("haiku", PASS);
    room.assess(0);
    room.run(&["gate", "move", "--to", "sidecar"], 0);
    let told = out(&room.run(&["gate", "move", "--to", "sidecar"], 1));
    assert!(told.contains("it is in the store `sidecar` already"), "{told}");
    room.run(&["gate", "move", "--to", "embedded"], 0);
    assert!(room.leaves().is_silent());
}
