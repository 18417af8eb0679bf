//! Reviewers that fail, and plans that change during the assessment.

use std::fs;
use std::process::Command;

use super::{FAIL, FINDINGS, NONE, PASS, Room, SESSION, err, is_gone, out, plan_with};

/// Answers that do not count. Each must lead to a second question.
const USELESS: &[(&str, &str)] = &[
    ("unparseable", "echo 'Looks good to me!'"),
    ("empty", "cat > /dev/null"),
    ("failed", "echo overloaded >&2; exit 1"),
    ("killed", "kill -9 $$"),
    (
        "an error in the client's form",
        r#"echo '{"type":"result","is_error":true,"result":"API Error: 529"}'"#,
    ),
    ("a verdict for a critic, a finding for a validator", "echo '### VERDICT: MAYBE'"),
    ("beyond measure", "head -c 5000000 /dev/zero"),
];

#[test]
fn req_peg_007_1_a_useless_answer_is_asked_for_once_more() {
    for (name, script) in USELESS {
        for (model, order) in [("opus", ["opus", "opus", "haiku"]), ("haiku", ["opus", "haiku", "haiku"])] {
            let room = Room::new(FINDINGS, PASS);
            room.does(&format!("{model}.1"), script);
            let output = room.run(&["gate", "assess", "--session", SESSION], 0);
            assert_eq!(room.asked(), order, "{name}");
            assert!(err(&output).contains(": asked again ("), "{name}: {}", err(&output));
            assert!(room.is_sealed(), "{name}");
        }
    }
}

#[test]
fn req_peg_007_2_a_second_useless_answer_fails_closed() {
    for (name, script) in USELESS {
        for (model, who, order) in
            [("opus", "critic", &["opus", "opus"][..]), ("haiku", "validator", &["opus", "haiku", "haiku"])]
        {
            let room = Room::new(FINDINGS, PASS).kept();
            let before = room.text();
            room.does(model, script);
            let told = room.assess(1);
            assert!(
                told.contains(&format!(
                    "The {who} gave no answer that counts, so no verdict is recorded: asked 2 times: "
                )),
                "{name}: {told}"
            );
            assert_eq!(room.asked(), order, "{name}");
            assert_eq!(room.text(), before, "{name}");
            assert_eq!(room.verdict().unwrap()["status"], "pending");
            super::denial(&room.leaves());
        }
    }
}

#[test]
fn two_different_reasons_are_both_named() {
    let room = Room::new(NONE, PASS);
    room.does("opus.1", "echo overloaded >&2; exit 1");
    room.does("opus", "echo no idea");
    assert!(room.assess(1).contains(
        "asked 2 times: the reviewer failed (exit status: 1: overloaded); then it names no finding and does not \
         declare `### NO ISSUES FOUND`. To fix: Check that the reviewer works (`reviewer.command` in provost.toml, or \
         the client's own login), and assess the plan again."
    ));
}

#[test]
fn req_peg_007_1_a_timeout_is_asked_once_more() {
    let room = Room::new(NONE, PASS);
    room.does("opus.1", "echo $$ > \"$room/pid\"; sleep 60");
    let output = room.run(&["gate", "assess", "--session", SESSION], 0);
    assert!(err(&output).contains("the reviewer did not answer within 5 s"), "{}", err(&output));
    let pid = fs::read_to_string(room.project.home.join("reviewer/pid")).unwrap();
    assert!(is_gone(pid.trim()));
}

#[test]
fn req_peg_007_2_a_second_timeout_fails_closed() {
    let room = Room::new(NONE, PASS).kept();
    room.does("haiku", "sleep 60");
    let told = room.assess(1);
    assert!(told.contains("asked 2 times: the reviewer did not answer within 5 s. To fix:"), "{told}");
    assert_eq!(room.verdict().unwrap()["status"], "pending");
}

#[test]
fn a_missing_reviewer_is_reported_at_once() {
    let room = Room::new(NONE, PASS);
    room.project.write_file("provost.toml", "[reviewer]\ncommand = ['no-such-reviewer']\n");
    assert!(room.assess(1).contains("no verdict is recorded: the reviewer `no-such-reviewer` is not found."));
    room.project.write_file("provost.toml", "");
    assert!(room.assess(1).contains("the reviewer `claude` is not found"));
}

#[test]
fn a_plan_that_changes_while_the_critic_reads_gets_no_verdict() {
    let room = Room::new(NONE, PASS).kept();
    let plan = room.plan.display();
    room.does(
        "opus",
        &format!("echo more | cat - '{plan}' > '{plan}.new'; mv '{plan}.new' '{plan}'; echo '{NONE}'"),
    );
    let told = room.assess(1);
    assert!(told.contains("[RODIN] The plan has changed meanwhile, so no verdict is recorded."), "{told}");
    assert_eq!(room.asked(), ["opus"], "nobody is asked about what is gone");
    assert!(!room.is_sealed() && room.text().starts_with("more\n"));
}

#[test]
fn gaps_that_change_while_the_validator_compares_get_no_verdict() {
    for verdict in [PASS, FAIL] {
        let room = Room::new(NONE, PASS).kept();
        let plan = room.plan.display();
        room.does("haiku", &format!("sed -i 's/Database/Whole/' '{plan}'; cat <<'X'\n{verdict}\nX"));
        assert!(room.assess(1).contains("The plan has changed meanwhile"));
        assert!(!room.is_sealed() && room.text().contains("### GAP-1: Whole rollback"));
        assert_eq!(room.verdict().unwrap()["status"], "pending");
    }
}

#[test]
fn a_plan_that_is_deleted_during_the_assessment_gets_no_verdict_and_no_file() {
    let room = Room::new(NONE, PASS);
    room.does("haiku", &format!("rm '{}'; cat <<'X'\n{PASS}\nX", room.plan.display()));
    assert!(room.assess(1).contains("The plan has changed meanwhile"));
    assert!(!room.plan.exists());
}

#[test]
fn gaps_that_were_added_stay_when_the_critic_fails() {
    let room = Room::new(NONE, PASS);
    fs::write(&room.plan, format!("TBD, unclear, hopefully\n{}", plan_with(""))).unwrap();
    room.does("opus", "exit 1");
    room.assess(1);
    assert_eq!(room.text().matches("### GAP-").count(), 3);
    // The record is about the current gaps, so the exit is blocked because they are not assessed.
    assert!(super::denial(&room.leaves()).starts_with("[RODIN] Assessment pending"));
}

#[test]
fn ctrl_c_ends_the_reviewer_and_records_nothing() {
    let room = Room::new(NONE, PASS).kept();
    room.does("opus", "echo $$ > \"$room/pid\"; sleep 60");
    let child = room.command(&["gate", "assess"]).spawn().unwrap();
    let pid = room.reviewer_at_work();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("Interrupted, so no verdict is recorded"), "{}", out(&output));
    assert!(is_gone(&pid));
    assert_eq!(room.asked(), ["opus"], "it is not asked again");
}

#[test]
fn a_key_that_others_can_read_stops_before_the_first_question() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new(NONE, PASS);
    let key = room.project.write_home_file(".local/state/provost/seal.key", &"k".repeat(32));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let output = room.run(&["gate", "assess", "--session", SESSION], 74);
    assert!(err(&output).contains("others can read it"), "{}", err(&output));
    assert!(room.asked().is_empty() && room.verdict().is_none());
}
