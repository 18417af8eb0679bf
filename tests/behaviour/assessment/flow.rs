//! The assessment step by step, with reviewers that answer.

use std::fs;

use super::{FAIL, FINDINGS, GAPS, NONE, PASS, PLAN, Room, SESSION, err, out, plan_with};
use crate::support::assert_shown;

#[test]
fn req_peg_001_1_without_a_plan_it_must_be_invoked_in_plan_mode() {
    let room = Room::new(NONE, PASS);
    fs::remove_file(&room.plan).unwrap();
    let told = room.assess(1);
    assert_eq!(
        told,
        "[RODIN] Must be invoked in plan mode, or with the file of a plan: there is no plan in <home>/.claude/plans. \
         To fix: Write the plan, or name its file."
    );
    let named = room.run(&["gate", "assess", "none.md"], 1);
    assert!(out(&named).contains("/none.md` is not there"), "{}", out(&named));
    assert!(room.asked().is_empty());
}

#[test]
fn req_peg_001_2_a_plan_file_is_the_one_that_is_assessed() {
    let room = Room::new(NONE, PASS);
    let older = room.project.write_home_file(".claude/plans/older.md", "# Other\n");
    fs::File::options().write(true).open(&older).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let output = room.run(&["gate", "assess", "--session", SESSION], 0);
    let first = room.project.shorten_paths(err(&output).lines().next().unwrap());
    assert!(
        first.ends_with(&format!("plan: <home>/.claude/plans/login.md (changed last), session {SESSION}"))
    );
    assert_eq!(fs::read_to_string(older).unwrap(), "# Other\n");
    // By its path, from another directory.
    let named = room.project.write_file("docs/plan.md", &plan_with(GAPS));
    room.run(&["gate", "assess", "docs/plan.md", "--session", SESSION], 0);
    assert!(fs::read_to_string(named).unwrap().contains("<!-- rodin:seal="));
}

#[test]
fn req_peg_002_1_goals_section_missing_stops_assessment() {
    let room = Room::with(&plan_with(GAPS).replace("## Goals", "## Aims"), "");
    let before = room.text();
    let told = room.assess(1);
    assert!(
        told.ends_with("[RODIN] Plan must have ## Goals section. Add success criteria and re-run."),
        "{told}"
    );
    assert!(room.asked().is_empty() && room.text() == before);
}

#[test]
fn req_peg_002_2_goals_of_any_content_pass() {
    let room = Room::new(NONE, PASS);
    fs::write(&room.plan, "## Goals\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n").unwrap();
    room.assess(0);
}

#[test]
fn req_peg_003_1_gaps_block_missing_stops_assessment() {
    let room = Room::with(PLAN, "");
    let told = room.assess(1);
    let sentence = "[RODIN] Plan must have gaps block. Add <!-- rodin:gaps:start/end --> markers and re-run.";
    assert!(told.ends_with(sentence), "{told}");
    fs::write(&room.plan, plan_with(GAPS).replace("<!-- rodin:gaps:end -->", "")).unwrap();
    assert!(
        room.assess(1).contains("The gaps block is broken: it is never closed. Plan must have gaps block.")
    );
    assert!(room.asked().is_empty());
}

#[test]
fn req_peg_003_2_a_gaps_block_passes() {
    Room::new(NONE, PASS).assess(0);
}

#[test]
fn req_peg_003_3_an_empty_gaps_block_proceeds_and_covers_nothing() {
    let room = Room::new(FINDINGS, PASS);
    fs::write(&room.plan, plan_with("")).unwrap();
    let told = room.assess(1);
    assert_eq!(room.asked(), ["opus", "haiku"]);
    assert!(
        told.contains("No gap is written down, so nothing covers No rollback (high), Token expiry (medium)")
    );
}

const DOUBTFUL: &str = "It is unclear. TBD.\nIt might\nfail, hopefully not.\n\n```\nTODO\n```\n";

#[test]
fn req_peg_004_1_phrases_outside_the_block_appear_in_it() {
    let room = Room::new(NONE, PASS);
    fs::write(&room.plan, format!("{DOUBTFUL}{}", plan_with(GAPS))).unwrap();
    let output = room.run(&["gate", "assess", "--session", SESSION], 0);
    assert!(err(&output).contains("leakage: 4 phrases, 4 gaps added"), "{}", err(&output));
    let text = room.text();
    let (block, _) = text.split_once("<!-- rodin:gaps:end -->").unwrap();
    assert!(
        block.ends_with(
            "\
<!-- rodin:gaps:start -->
### GAP-1: Database rollback
- **Severity**: high
- **Description**: No way back if the migration fails

### GAP-2: \"unclear\" in line 1
- **Severity**: medium
- **Description**: Line 1 of the plan says \"unclear\": \"It is unclear. TBD.\"

### GAP-3: \"might fail\" in line 2
- **Severity**: medium
- **Description**: Line 2 of the plan says \"might fail\": \"It might\"

### GAP-4: \"TBD\" in line 1
- **Severity**: medium
- **Description**: Line 1 of the plan says \"TBD\": \"It is unclear. TBD.\"

### GAP-5: \"hopefully\" in line 3
- **Severity**: medium
- **Description**: Line 3 of the plan says \"hopefully\": \"fail, hopefully not.\"
"
        ),
        "{text}"
    );
    // The validator compares the current gaps, and the verdict is about them.
    assert!(room.given("haiku").contains("### GAP-5: "));
    assert!(room.is_sealed() && room.leaves().code == Some(0));
    assert!(!room.leaves().stdout.contains("deny"));
    // A second run adds nothing and has the same verdict.
    room.assess(0);
    assert_eq!(room.text(), text);
}

#[test]
fn req_peg_004_2_below_the_threshold_nothing_changes() {
    let room = Room::new(NONE, PASS);
    fs::write(&room.plan, format!("TBD\n{}", plan_with(GAPS))).unwrap();
    let output = room.run(&["gate", "assess", "--session", SESSION], 0);
    assert!(err(&output).contains("leakage: 1 phrase, nothing to add"), "{}", err(&output));
    assert!(room.text().starts_with(&format!("TBD\n{}", plan_with(GAPS))));
}

#[test]
fn req_peg_004_3_exactly_two_append_nothing_and_4_exactly_three_append_three() {
    let room = Room::new(NONE, PASS);
    fs::write(&room.plan, format!("TBD, unclear\n{}", plan_with(""))).unwrap();
    room.assess(0);
    assert!(!room.text().contains("### GAP-"));
    fs::write(&room.plan, format!("TBD, unclear, risk  of\n{}", plan_with(""))).unwrap();
    room.assess(0);
    let text = room.text();
    assert_eq!(
        (text.matches("### GAP-").count(), text.matches("**Severity**: medium").count()),
        (3, 3),
        "{text}"
    );
}

#[test]
fn req_peg_004_5_five_append_five_of_medium_severity() {
    let room = Room::new(NONE, PASS);
    fs::write(&room.plan, format!("TBD, unclear, risk of, assuming, hopefully\n{}", plan_with(""))).unwrap();
    room.assess(0);
    let text = room.text();
    let counts = (text.matches("### GAP-").count(), text.matches("**Severity**: medium").count());
    assert_eq!(counts, (5, 5), "{text}");
}

#[test]
fn the_phrases_are_a_setting() {
    let room = Room::with(
        &format!("alpha BETA gamma\n{}", plan_with("")),
        "gap_phrases = ['alpha', 'beta', 'gamma']\n",
    );
    room.says("opus", NONE);
    room.says("haiku", PASS);
    room.assess(0);
    assert!(room.text().contains("### GAP-2: \"beta\" in line 1"), "{}", room.text());
}

#[test]
fn req_peg_005_1_the_critic_is_given_the_plan_without_its_gaps() {
    let room = Room::new(NONE, PASS).kept();
    room.assess(0);
    assert_shown!("gate-assess-critic", room.given("opus"));
}

#[test]
fn req_peg_005_2_findings_have_severities_and_the_critic_knows_what_to_look_for() {
    let room = Room::new(FINDINGS, FAIL);
    let output = room.run(&["gate", "assess", "--session", SESSION], 1);
    assert!(err(&output).contains("critic: 3 findings, 2 of them to be covered"), "{}", err(&output));
    assert_shown!("gate-assess-critic", room.given("opus"));
}

#[test]
fn req_peg_005_3_a_clean_plan_is_declared_to_be_one() {
    let room = Room::new(NONE, PASS);
    let output = room.run(&["gate", "assess", "--session", SESSION], 0);
    assert!(err(&output).contains("critic: 0 findings, 0 of them to be covered"), "{}", err(&output));
    assert!(room.given("haiku").ends_with("The findings:\n\n### NO ISSUES FOUND\n"));
}

#[test]
fn req_peg_006_1_all_serious_findings_covered_is_a_pass() {
    let room = Room::new(FINDINGS, PASS);
    let told = room.assess(0);
    assert_eq!(
        told,
        "pass <home>/.claude/plans/login.md [RODIN] Ready to exit plan mode: the verdict is recorded for exactly \
         this text."
    );
    let verdict = room.verdict().unwrap();
    assert_eq!(verdict["status"], "pass");
    assert_eq!(verdict["reason"], "All HIGH and MEDIUM findings covered by documented gaps.");
    assert!(room.is_sealed() && room.leaves().is_silent());
    assert_shown!("gate-assess-validator", room.given("haiku"));
}

#[test]
fn req_peg_006_2_an_uncovered_serious_finding_is_a_failure_that_lists_it() {
    let room = Room::new(FINDINGS, FAIL);
    let told = room.assess(1);
    assert_eq!(
        told,
        "blocked <home>/.claude/plans/login.md [RODIN] Assessment failed: FINDING-2: Token expiry. To fix: Update \
         gaps to cover findings, then re-run /rodin:plan-gate."
    );
    assert_eq!(room.verdict().unwrap()["reason"], "FINDING-2: Token expiry");
    assert!(!room.is_sealed());
    assert!(super::denial(&room.leaves()).starts_with("[RODIN] Assessment failed: FINDING-2: Token expiry."));
}

#[test]
fn req_peg_006_3_the_prompt_says_that_a_plausible_match_counts() {
    let room = Room::new(FINDINGS, PASS);
    room.assess(0);
    assert!(room.given("haiku").contains("a plausible match counts"));
}

#[test]
fn req_peg_006_4_low_findings_alone_do_not_count() {
    let low = "### FINDING-1: Typo\n- **Severity**: low\n- **Description**: A word\n";
    let room = Room::new(low, PASS);
    fs::write(&room.plan, plan_with("")).unwrap();
    room.assess(0);
    assert!(room.is_sealed());
    assert!(room.given("haiku").contains("Findings of severity low do not count"));
}

#[test]
fn req_peg_008_1_a_pass_becomes_the_plans_validation_with_a_time() {
    let room = Room::new(NONE, PASS).kept();
    assert_eq!(room.verdict().unwrap()["status"], "pending");
    room.run(&["gate", "assess"], 0);
    let text = room.text();
    assert!(text.starts_with(&plan_with(GAPS)), "not a byte of the author's text changes: {text}");
    assert!(!text.contains("rodin:verdict:signal"), "{text}");
    assert!(room.verdict().unwrap()["ts"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn req_peg_008_2_a_failure_becomes_it_with_what_is_uncovered() {
    let room = Room::new(FINDINGS, "### VERDICT: FAIL\n**Reason**:\n- FINDING-1 --> x\n- FINDING-2").kept();
    room.run(&["gate", "assess"], 1);
    assert_eq!(room.verdict().unwrap()["status"], "fail");
    assert_eq!(room.verdict().unwrap()["reason"], "- FINDING-1 --> x - FINDING-2");
}

#[test]
fn req_peg_013_1_no_gaps_and_no_issues_is_a_pass() {
    let room = Room::new(NONE, PASS);
    fs::write(&room.plan, plan_with("")).unwrap();
    room.assess(0);
    assert!(room.given("haiku").contains("The gaps:\n\n(none)\n"));
    assert!(room.leaves().is_silent());
}

#[test]
fn req_peg_013_2_no_gaps_and_a_serious_finding_is_a_failure_whatever_the_validator_says() {
    let room = Room::new(FINDINGS, PASS);
    fs::write(&room.plan, plan_with("")).unwrap();
    room.assess(1);
    assert_eq!(room.verdict().unwrap()["status"], "fail");
    assert!(!room.is_sealed());
}

#[test]
fn models_are_settings_and_plain_text_is_an_answer() {
    let room = Room::with(&plan_with(GAPS), "critic_model = 'great'\nvalidator_model = 'quick'\n");
    room.does("great", "echo '### NO ISSUES FOUND'");
    room.does("quick", "printf '### VERDICT: PASS\\n'");
    room.assess(0);
    assert_eq!(room.asked(), ["great", "quick"]);
    assert_eq!(room.verdict().unwrap()["reason"], "All findings covered");
}

#[test]
fn the_plan_with_its_assessment_counts_for_its_session_only() {
    let room = Room::new(NONE, PASS);
    room.run(&["gate", "assess", "--session", "another"], 0);
    assert!(super::denial(&room.leaves()).starts_with("[RODIN] No assessment found for this session."));
    // For this session, the same plan is assessed again.
    room.assess(0);
    assert!(room.leaves().is_silent());
}
