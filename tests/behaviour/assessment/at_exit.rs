//! `plan_gate.assess = "exit"`: the hook assesses the plan when plan mode is left.

use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{FAIL, FINDINGS, GAPS, NONE, PASS, PLAN, Room, denial, out, plan_with};
use crate::support::{Answer, assert_shown};

fn room(critic: &str, validator: &str, plan: &str) -> Room {
    let room = Room::with(plan, "assess = 'exit'\n");
    room.says("opus", critic);
    room.says("haiku", validator);
    room
}

#[test]
fn a_pending_plan_that_passes_leaves_without_a_message() {
    let room = room(FINDINGS, PASS, &plan_with(GAPS)).kept();
    assert!(room.leaves().is_silent());
    assert_eq!(room.asked(), ["opus", "haiku"]);
    assert!(room.is_sealed());
    // The verdict is in the file now, so no reviewer is asked again.
    assert!(room.leaves().is_silent());
    assert_eq!(room.asked().len(), 2);
}

#[test]
fn a_plan_without_a_record_is_assessed() {
    let room = room(NONE, PASS, &plan_with(GAPS));
    assert!(room.leaves().is_silent());
    assert!(room.is_sealed());
}

#[test]
fn a_plan_is_found_by_its_session_where_the_event_names_none() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    let mut event = room.project.recorded_event("PreToolUse.ExitPlanMode");
    event["tool_input"] = json!({});
    assert!(room.project.hook(&event).is_silent());
    assert_eq!(room.asked(), ["opus", "haiku"]);
}

#[test]
fn a_plan_that_fails_is_denied_with_the_reason() {
    let room = room(FINDINGS, FAIL, &plan_with(GAPS)).kept();
    let expected = "[RODIN] Assessment failed: FINDING-2: Token expiry. To fix: Update gaps to cover findings, then \
                    leave plan mode again.";
    assert!(denial(&room.leaves()).starts_with(expected));
    // Repeating the question until a reviewer says yes is not an assessment.
    room.says("haiku", PASS);
    assert!(denial(&room.leaves()).starts_with(expected));
    assert_eq!(room.asked(), ["opus", "haiku"]);
    // A change that covers the findings is assessed.
    fs::write(&room.plan, room.text().replace("### GAP-1", "### GAP-2: Tokens\n### GAP-1")).unwrap();
    assert!(room.leaves().is_silent());
    assert_eq!(room.asked(), ["opus", "haiku", "opus", "haiku"]);
}

#[test]
fn added_gaps_are_shown_first_and_pass_at_the_second_exit() {
    let room = room(NONE, PASS, &format!("unclear, if this works, risk of\n{}", plan_with(GAPS))).kept();
    let denied = denial(&room.leaves());
    let plan = room.plan.display();
    let expected = format!(
        "[RODIN] Gaps were added to the plan: phrases in it sound like gaps; the plan with them has passed. To fix: Read \
         {plan} again, then leave plan mode again."
    );
    assert!(denied.starts_with(&expected), "{denied}");
    assert_eq!(room.text().matches("### GAP-").count(), 4);
    assert!(room.leaves().is_silent());
    assert_eq!(room.asked(), ["opus", "haiku"]);
}

#[test]
fn a_text_that_is_not_the_files_is_not_assessed() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    let denied = denial(&room.leaves_with(&room.text().replace("Step 1", "Step 2")));
    assert!(denied.contains("is not the text that is to be approved"), "{denied}");
    assert!(room.asked().is_empty() && !room.is_sealed());
}

#[test]
fn an_incomplete_plan_is_denied_without_a_question() {
    for (plan, sentence) in [
        (
            plan_with(GAPS).replace("## Goals", "## Aims"),
            "Plan must have ## Goals section. Add success criteria",
        ),
        (PLAN.to_owned(), "Plan must have gaps block."),
    ] {
        let room = room(NONE, PASS, &plan).kept();
        let denied = denial(&room.leaves());
        assert!(denied.starts_with(&format!("[RODIN] The plan is not assessed: {sentence}")), "{denied}");
        assert_eq!(denied.matches(sentence).count(), 1, "{denied}");
        assert!(room.asked().is_empty());
    }
}

#[test]
fn a_damaged_record_is_denied_without_a_question() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    let session = format!("<!-- rodin:session={} -->\n", super::SESSION);
    fs::write(&room.plan, format!("{}{session}", room.text())).unwrap();
    assert!(denial(&room.leaves()).starts_with("[RODIN] The record of the plan is damaged"));
    assert!(room.asked().is_empty());
}

#[test]
fn a_plan_without_an_answer_of_the_reviewer_is_denied() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    room.does("haiku", "echo I would rather not");
    let denied = denial(&room.leaves());
    assert!(
        denied.starts_with("[RODIN] The plan is not assessed: The validator gave no answer that counts"),
        "{denied}"
    );
    assert_eq!(room.asked(), ["opus", "haiku", "haiku"]);
    assert_eq!(room.verdict().unwrap()["status"], "pending");
}

/// Reviewers may take much longer than the common deadline of the guards.
#[test]
fn slow_reviewers_get_their_whole_time() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    room.project.write_file("provost.toml", &format!("[engine]\ndeadline_seconds = 1\n{}", settings(&room)));
    room.does("opus.1", "sleep 60");
    room.does("haiku", &format!("sleep 2; cat <<'X'\n{PASS}\nX"));
    let began = Instant::now();
    let answer: Answer = room.leaves();
    assert!(answer.is_silent(), "{answer:?}");
    assert!(began.elapsed() > Duration::from_secs(6), "{:?}", began.elapsed());
}

fn settings(room: &Room) -> String {
    fs::read_to_string(room.project.path.join("provost.toml")).unwrap()
}

#[test]
fn reviewers_that_never_answer_end_in_a_denial_in_time() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    room.does("opus", "sleep 60");
    let answer = room.leaves();
    assert!(denial(&answer).contains("asked 2 times: the reviewer did not answer within 5 s"), "{answer:?}");
}

#[test]
fn a_fault_in_the_assessment_is_a_denial() {
    use std::os::unix::fs::PermissionsExt;
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    let key = room.project.write_home_file(".local/state/provost/seal.key", "short");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(room.leaves().expect_closed_failure().contains("the seal key is damaged"));
    assert!(room.asked().is_empty());
}

#[test]
fn a_hook_that_the_client_ends_also_ends_its_reviewer() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    room.does("opus", "echo $$ > \"$room/pid\"; sleep 60");
    let mut event = room.project.recorded_event("PreToolUse.ExitPlanMode");
    event["tool_input"] = json!({"plan": room.text(), "planFilePath": room.plan});
    let mut child = room.project.command(&[]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let pid = room.reviewer_at_work();
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(super::out(&output).contains("Interrupted, so no verdict is recorded"), "{output:?}");
    assert!(super::is_gone(&pid));
}

#[test]
fn status_says_that_leaving_is_enough_unless_the_plan_has_failed() {
    let room = room(NONE, PASS, &plan_with(GAPS)).kept();
    let told = super::out(&room.run(&["gate", "status"], 1));
    assert!(
        told.contains("to fix     Run /rodin:plan-gate; or leave plan mode, which starts the assessment\n"),
        "{told}"
    );
    room.says("haiku", FAIL);
    denial(&room.leaves());
    let told = super::out(&room.run(&["gate", "status"], 1));
    assert!(
        told.contains("to fix     Update gaps to cover findings, then re-run /rodin:plan-gate\n"),
        "{told}"
    );
}

#[test]
fn a_plan_that_the_user_allows_is_not_assessed_first() {
    let room = room(FINDINGS, FAIL, &plan_with(GAPS)).kept();
    let mut prompt = room.project.recorded_event("UserPromptSubmit");
    prompt["session_id"] = super::SESSION.into();
    prompt["prompt"] = "provost override plan-gate a spike".into();
    room.project.hook(&prompt);
    let answer = room.leaves();
    assert!(answer.expect_note().contains("allowed this once"), "{answer:?}");
    assert!(room.asked().is_empty());
}

#[test]
fn the_journal_has_the_steps() {
    let room = room(FINDINGS, PASS, &plan_with(GAPS)).kept();
    room.leaves();
    let journal = room.project.read_journal();
    let evidence = format!("{:#}", journal.last().unwrap()["guards"][1]["evidence"]);
    assert_shown!("gate-assess-journal", room.project.shorten_paths(&evidence));
}

#[test]
fn by_default_no_reviewer_is_asked() {
    let room = Room::new(NONE, PASS).kept();
    assert!(denial(&room.leaves()).starts_with("[RODIN] Assessment pending"));
    assert!(room.asked().is_empty());
}

/// The client names the plan by the path that it knows.
#[test]
fn a_plan_behind_a_link_is_the_same_plan() {
    for store in ["embedded", "sidecar"] {
        let room = Room::with(&plan_with(GAPS), &format!("assess = 'exit'\nstore = '{store}'\n"));
        room.says("opus", NONE);
        room.says("haiku", PASS);
        let link = room.project.home.with_file_name("way");
        std::os::unix::fs::symlink(&room.project.home, &link).unwrap();
        let room = Room { plan: link.join(".claude/plans/login.md"), ..room };
        let answer = room.leaves();
        assert!(answer.is_silent(), "{store}: {answer:?}");
        assert!(room.leaves().is_silent());
        assert_eq!(room.asked(), ["opus", "haiku"], "{store}");
    }
}

#[test]
fn a_link_instead_of_a_plan_stays_a_link() {
    let room = room(NONE, PASS, "");
    let plan = room.plan.with_file_name("real.md");
    fs::write(&plan, plan_with(GAPS)).unwrap();
    fs::remove_file(&room.plan).unwrap();
    std::os::unix::fs::symlink("real.md", &room.plan).unwrap();
    assert!(room.leaves().is_silent());
    assert!(fs::symlink_metadata(&room.plan).unwrap().is_symlink());
    assert!(fs::read_to_string(&plan).unwrap().contains("<!-- rodin:seal="));
}

#[test]
fn each_assessment_is_in_the_report() {
    let room = room(FINDINGS, FAIL, &plan_with(GAPS)).kept();
    denial(&room.leaves());
    room.says("haiku", PASS);
    fs::write(&room.plan, room.text().replace("### GAP-1", "### GAP-2: Tokens\n### GAP-1")).unwrap();
    assert!(room.leaves().is_silent());
    // One that the user starts.
    fs::write(&room.plan, room.text().replace("### GAP-2", "### GAP-3: Names\n### GAP-2")).unwrap();
    assert!(room.assess(0).contains("pass"));
    let report: serde_json::Value = serde_json::from_str(&out(&room.run(&["report", "--json"], 0))).unwrap();
    let plan = &report["plans"][0];
    assert_eq!(
        (&plan["plan"], &plan["assessments"], &plan["passed"]),
        (&json!(room.plan), &json!(3), &json!(2))
    );
}
