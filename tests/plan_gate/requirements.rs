//! REQ-PEG 009 to 014: what the hooks do. 001 to 008 are the assessment's: `tests/assessment.rs`.

use super::*;

#[test]
fn req_peg_009_1_an_edit_outside_plan_mode_is_left_alone() {
    let planning = Planning::new();
    fs::write(&planning.plan, PLAN).unwrap();
    for mode in [json!("default"), json!("acceptEdits"), json!(null), json!(5), json!("Plan")] {
        let mut event = planning.written();
        event["permission_mode"] = mode;
        assert!(planning.hook(&event).is_silent());
        assert!(planning.script_after(&event).is_silent());
        assert_eq!(planning.text(), PLAN);
    }
}

#[test]
fn req_peg_009_2_a_file_outside_the_plans_is_left_alone() {
    let planning = Planning::new();
    for place in [
        ".claude/plan.md",
        ".claude/plans.md",
        ".claude/plans/sub/x.md",
        ".claude/plans/x.txt",
        "project/x.md",
    ] {
        let path = planning.project.home_file(place, PLAN);
        let mut event = planning.written();
        event["tool_input"]["file_path"] = json!(path);
        event["tool_response"]["filePath"] = json!(path);
        assert!(planning.hook(&event).is_silent());
        assert!(planning.script_after(&event).is_silent());
        assert_eq!(fs::read_to_string(&path).unwrap(), PLAN, "{place}");
    }
}

#[test]
fn req_peg_009_3_a_plan_file_in_plan_mode_gets_its_metadata() {
    let planning = Planning::new();
    planning.write(PLAN);
    let text = planning.text();
    assert!(text.starts_with(PLAN), "{text}");
    let names: Vec<&str> = text[PLAN.len()..].lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(
        names,
        ["<!-- rodin:session", "<!-- rodin:plan:hash", "<!-- rodin:gaps:hash", "<!-- rodin:validation"]
    );
}

#[test]
fn req_peg_010_1_a_missing_session_marker_is_appended_at_the_end() {
    let planning = Planning::new();
    planning.write("# Plan");
    assert!(planning.text().starts_with(&format!("# Plan\n<!-- rodin:session={SESSION} -->\n")));
}

#[test]
fn req_peg_010_2_both_hashes_are_recomputed() {
    let planning = Planning::new();
    planning.write(PLAN);
    let (plan, gaps) = (planning.mark("plan:hash").unwrap(), planning.mark("gaps:hash").unwrap());
    planning.edit("1. Form", "1. Form and link");
    assert_ne!(planning.mark("plan:hash").unwrap(), plan);
    assert_eq!(planning.mark("gaps:hash").unwrap(), gaps);
    planning.edit("is open", "is still open");
    assert_ne!(planning.mark("gaps:hash").unwrap(), gaps);
}

#[test]
fn req_peg_010_3_a_signal_becomes_a_validation_with_a_time_and_is_removed() {
    let planning = Planning::new();
    let signal = "<!-- rodin:verdict:signal={\"status\":\"fail\",\"reason\":\"Uncovered {a} > b\"} -->\n";
    planning.write_by_script(format!("{PLAN}{signal}"));
    assert!(!planning.text().contains("verdict:signal"));
    let validation: Value = serde_json::from_str(&planning.mark("validation").unwrap()).unwrap();
    assert_eq!((&validation["status"], &validation["reason"]), (&json!("fail"), &json!("Uncovered {a} > b")));
    let time = validation["ts"].as_str().unwrap();
    assert!(time.len() == 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
}

#[test]
fn req_peg_010_4_without_a_signal_the_validation_is_pending() {
    let planning = Planning::new();
    planning.write(PLAN);
    assert_eq!(planning.status(), "pending");
    let other = Planning::new();
    other.write_by_script(PLAN);
    assert_eq!(other.status(), "pending");
}

#[test]
fn req_peg_011_1_no_file_with_this_session_blocks() {
    let planning = Planning::new();
    fs::write(&planning.plan, PLAN).unwrap();
    planning.stays("No assessment found for this session. To fix: Run /rodin:plan-gate first.");
    fs::remove_file(&planning.plan).unwrap();
    planning.stays("No assessment found for this session. To fix: Run /rodin:plan-gate first.");
}

#[test]
fn req_peg_011_2_a_plan_hash_that_differs_blocks() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, planning.text().replace("1. Form", "1. Nothing")).unwrap();
    planning.stays("Plan content changed since assessment. To fix: Re-run /rodin:plan-gate.");
}

#[test]
fn req_peg_011_3_a_gaps_hash_that_differs_blocks() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, planning.text().replace("is open", "is closed")).unwrap();
    planning.stays("Gaps changed since assessment. To fix: Re-run /rodin:plan-gate.");
}

#[test]
fn req_peg_011_4_equal_hashes_and_a_pass_go_through_in_silence() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    assert_eq!(planning.status(), "pass");
    planning.leaves();
    assert!(planning.text().starts_with(PLAN), "the text is the author's own");
    // The document's flow lets the agent write the signal as well.
    planning.signal("pass", "All findings covered");
    assert_eq!(planning.status(), "pass");
    assert!(!planning.text().contains("verdict:signal"));
    planning.leaves();
}

#[test]
fn req_peg_011_5_pending_blocks_and_says_what_to_run() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.stays("Assessment pending");
    planning.stays("To fix: Run /rodin:plan-gate");
}

#[test]
fn req_peg_011_6_a_failed_assessment_blocks_with_its_reason() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.critic(FINDINGS);
    planning.validator(FAIL);
    planning.stays(
        "Assessment failed: FINDING-1 (No limit on tries) has no gap. To fix: Update gaps to cover findings, then \
         re-run /rodin:plan-gate.",
    );
}

#[test]
fn req_peg_011_7_missing_metadata_is_no_assessment() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, PLAN).unwrap();
    planning.stays("No assessment found for this session");
    planning.write(PLAN);
    planning.assess();
    for (name, words) in [
        ("plan:hash", "Plan content changed"),
        ("gaps:hash", "Gaps changed"),
        ("validation", "No validation metadata found. To fix: Run /rodin:plan-gate"),
        ("seal", "The verdict does not count"),
    ] {
        let whole = planning.text();
        let start = format!("<!-- rodin:{name}=");
        let without: String = whole.split_inclusive('\n').filter(|line| !line.starts_with(&start)).collect();
        assert_ne!(whole, without);
        fs::write(&planning.plan, without).unwrap();
        planning.stays(words);
        fs::write(&planning.plan, whole).unwrap();
    }
    planning.leaves();
}

#[test]
fn req_peg_012_1_to_3_the_plan_is_found_by_its_session() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    for name in ["aaa.md", "zzz.md"] {
        let other = planning.text().replace(SESSION, OTHER_SESSION);
        planning.project.home_file(&format!(".claude/plans/{name}"), &other);
    }
    let mut event = planning.leaving();
    event["tool_input"] = json!({});
    assert!(planning.hook(&event).is_silent());
    assert_eq!(planning.script_before(&event), Ok(()));
    event["session_id"] = "another".into();
    assert!(planning.hook(&event).denial().contains("No assessment found"));
    assert!(planning.script_before(&event).unwrap_err().contains("No assessment found"));
}

#[test]
fn req_peg_013_1_no_gaps_and_no_issues_pass() {
    let planning = Planning::new();
    planning.write("# P\n\n## Goals\n- x\n\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n");
    planning.critic(NO_ISSUES);
    planning.validator(PASS);
    planning.leaves();
}

#[test]
fn req_peg_013_2_no_gaps_and_a_serious_finding_fail_whatever_a_validator_says() {
    let planning = Planning::new();
    planning.write("# P\n\n## Goals\n- x\n\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n");
    planning.critic(FINDINGS);
    planning.validator(PASS);
    planning.stays("No limit on tries (high)");
    let low = FINDINGS.replace("high", "low");
    planning.critic(&low);
    planning.validator(PASS);
    planning.leaves();
}

#[test]
fn req_peg_014_1_a_deleted_marker_blocks() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    let text = planning.text();
    fs::write(&planning.plan, text.replace(&format!("<!-- rodin:session={SESSION} -->\n"), "")).unwrap();
    planning.stays("No assessment found for this session");
}

#[test]
fn req_peg_014_2_a_plan_that_is_edited_after_a_pass_is_pending() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    planning.edit("2. Check", "2. Check twice");
    assert_eq!((planning.status().as_str(), planning.mark("seal")), ("pending", None));
    planning.stays("Assessment pending");
    planning.assess();
    planning.leaves();
}

#[test]
fn req_peg_014_3_gaps_that_are_edited_after_a_pass_are_pending() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    planning.edit("is open", "is mostly open");
    assert_eq!(planning.status(), "pending");
    planning.stays("Assessment pending");
}

#[test]
fn req_peg_014_4_a_marker_of_another_session_blocks_until_this_one_has_edited() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    let second = Planning { session: OTHER_SESSION.into(), ..planning };
    second.stays("No assessment found for this session");
    second.edit("2. Check", "2. Check twice");
    assert_eq!(second.mark("session").unwrap(), OTHER_SESSION);
    second.stays("Assessment pending");
    second.assess();
    second.leaves();
}

/// Every scenario of the table by the stand-ins for the scripts, which believe the agent's word.
#[test]
fn the_scripts_stand_ins_block_and_let_through_as_the_document_has_it() {
    let planning = Planning::new();
    let before = |words: &str| {
        let said = planning.script_before(&planning.leaving()).unwrap_err();
        assert!(said.starts_with("[RODIN] ") && said.contains(words), "{said}");
    };
    before("No assessment found for this session. To fix: Run /rodin:plan-gate first.");
    planning.write_by_script(PLAN);
    before("Assessment pending");
    let signal = |status: &str, reason: &str| {
        let signal = json!({"status": status, "reason": reason});
        planning.write_by_script(format!("{}<!-- rodin:verdict:signal={signal} -->\n", planning.text()));
    };
    signal("fail", "Uncovered FINDING-2");
    before(
        "Assessment failed: Uncovered FINDING-2\nTo fix: Update gaps to cover findings, then re-run /rodin:plan-gate.",
    );
    signal("pass", "All covered");
    assert_eq!(planning.script_before(&planning.leaving()), Ok(()));
    assert_eq!(planning.script_before(&json!({"session_id": SESSION})), Ok(()), "by the session alone");
    planning.stays("The verdict does not count");
    planning.write_by_script(planning.text().replace("1. Form", "1. Other"));
    before("Assessment pending");
    fs::write(&planning.plan, planning.text().replace("1. Other", "1. Form")).unwrap();
    before("Plan content changed since assessment. To fix: Re-run /rodin:plan-gate.");
    fs::write(
        &planning.plan,
        planning.text().replace("1. Form", "1. Other").replace("\"pending\"", "\"fine\""),
    )
    .unwrap();
    before("Internal error: unexpected validation status 'fine'. To fix: Re-run /rodin:plan-gate.");
}

/// The document takes a validation for one only if it is an object, and an empty session for none.
#[test]
fn the_stand_in_has_the_documents_words_for_what_is_damaged() {
    let planning = Planning::new();
    planning.write_by_script(PLAN);
    let whole = planning.text();
    let validation = planning.mark("validation").unwrap();
    for (value, words) in [
        ("", "[RODIN] No validation metadata found. To fix: Run /rodin:plan-gate."),
        ("pass", "[RODIN] No validation metadata found. To fix: Run /rodin:plan-gate."),
        (r#"["pass"]"#, "[RODIN] No validation metadata found. To fix: Run /rodin:plan-gate."),
        (
            r#"{"reason":"x"}"#,
            "[RODIN] Internal error: unexpected validation status 'null'. To fix: Re-run /rodin:plan-gate.",
        ),
        (
            "{pass}",
            "[RODIN] Internal error: unexpected validation status ''. To fix: Re-run /rodin:plan-gate.",
        ),
    ] {
        fs::write(&planning.plan, whole.replace(&validation, value)).unwrap();
        let said = planning.script_before(&planning.leaving()).unwrap_err();
        assert_eq!(said.trim_end(), words, "{value}");
    }
    let said = planning.script_before(&json!({"session_id": ""})).unwrap_err();
    assert!(said.starts_with("[RODIN] Internal error: session_id not found in hook input."), "{said}");
}

/// The document's scripts stop with "jq required". Here is nothing to be installed.
#[test]
fn req_peg_015_1_no_other_program_is_needed() {
    let mut planning = Planning::new();
    planning.project = planning.project.set("PATH", "/nowhere");
    planning.write_by_script(PLAN);
    planning.write_by_script(format!(
        "{}<!-- rodin:verdict:signal={{\"status\":\"pass\",\"reason\":\"r\"}} -->\n",
        planning.text()
    ));
    assert_eq!(planning.status(), "pass");
    assert_eq!(planning.script_before(&planning.leaving()), Ok(()));
}
