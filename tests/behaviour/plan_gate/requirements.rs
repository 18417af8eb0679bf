//! REQ-PEG 009 to 014: the hooks. 001 to 008 are the assessment: `tests/behaviour/assessment/flow.rs`.

use super::*;

#[test]
fn req_peg_009_1_an_edit_outside_plan_mode_is_left_alone() {
    let planning = PlanSession::new();
    fs::write(&planning.plan, PLAN).unwrap();
    for mode in [json!("default"), json!("acceptEdits"), json!(null), json!(5), json!("Plan")] {
        let mut event = planning.write_event();
        event["permission_mode"] = mode;
        assert!(planning.hook(&event).is_silent());
        assert!(planning.script_after(&event).is_silent());
        assert_eq!(planning.read_plan(), PLAN);
    }
}

#[test]
fn req_peg_009_2_a_file_outside_the_plans_is_left_alone() {
    let planning = PlanSession::new();
    for place in [
        ".claude/plan.md",
        ".claude/plans.md",
        ".claude/plans/sub/x.md",
        ".claude/plans/x.txt",
        "project/x.md",
    ] {
        let path = planning.project.write_home_file(place, PLAN);
        let mut event = planning.write_event();
        event["tool_input"]["file_path"] = json!(path);
        event["tool_response"]["filePath"] = json!(path);
        assert!(planning.hook(&event).is_silent());
        assert!(planning.script_after(&event).is_silent());
        assert_eq!(fs::read_to_string(&path).unwrap(), PLAN, "{place}");
    }
}

#[test]
fn req_peg_009_3_a_plan_file_in_plan_mode_gets_its_metadata() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let text = planning.read_plan();
    assert!(text.starts_with(PLAN), "{text}");
    let names: Vec<&str> = text[PLAN.len()..].lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(
        names,
        ["<!-- rodin:session", "<!-- rodin:plan:hash", "<!-- rodin:gaps:hash", "<!-- rodin:validation"]
    );
}

#[test]
fn req_peg_010_1_a_missing_session_marker_is_appended_at_the_end() {
    let planning = PlanSession::new();
    planning.write("# Plan");
    assert!(planning.read_plan().starts_with(&format!("# Plan\n<!-- rodin:session={SESSION} -->\n")));
}

#[test]
fn req_peg_010_2_both_hashes_are_recomputed() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let (plan, gaps) = (planning.read_mark("plan:hash").unwrap(), planning.read_mark("gaps:hash").unwrap());
    planning.edit("1. Form", "1. Form and link");
    assert_ne!(planning.read_mark("plan:hash").unwrap(), plan);
    assert_eq!(planning.read_mark("gaps:hash").unwrap(), gaps);
    planning.edit("is open", "is still open");
    assert_ne!(planning.read_mark("gaps:hash").unwrap(), gaps);
}

#[test]
fn req_peg_010_3_a_signal_becomes_a_validation_with_a_time_and_is_removed() {
    let planning = PlanSession::new();
    let signal = "<!-- rodin:verdict:signal={\"status\":\"fail\",\"reason\":\"Uncovered {a} > b\"} -->\n";
    planning.write_by_script(format!("{PLAN}{signal}"));
    assert!(!planning.read_plan().contains("verdict:signal"));
    let validation: Value = serde_json::from_str(&planning.read_mark("validation").unwrap()).unwrap();
    assert_eq!((&validation["status"], &validation["reason"]), (&json!("fail"), &json!("Uncovered {a} > b")));
    let time = validation["ts"].as_str().unwrap();
    assert!(time.len() == 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
}

#[test]
fn req_peg_010_4_without_a_signal_the_validation_is_pending() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    assert_eq!(planning.status(), "pending");
    let other = PlanSession::new();
    other.write_by_script(PLAN);
    assert_eq!(other.status(), "pending");
}

#[test]
fn req_peg_011_1_no_file_with_this_session_blocks() {
    let planning = PlanSession::new();
    fs::write(&planning.plan, PLAN).unwrap();
    planning.assert_cannot_leave("No assessment found for this session. To fix: Run /rodin:plan-gate first.");
    fs::remove_file(&planning.plan).unwrap();
    planning.assert_cannot_leave("No assessment found for this session. To fix: Run /rodin:plan-gate first.");
}

#[test]
fn req_peg_011_2_a_plan_hash_that_differs_blocks() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, planning.read_plan().replace("1. Form", "1. Nothing")).unwrap();
    planning.assert_cannot_leave("Plan content changed since assessment. To fix: Re-run /rodin:plan-gate.");
}

#[test]
fn req_peg_011_3_a_gaps_hash_that_differs_blocks() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, planning.read_plan().replace("is open", "is closed")).unwrap();
    planning.assert_cannot_leave("Gaps changed since assessment. To fix: Re-run /rodin:plan-gate.");
}

#[test]
fn req_peg_011_4_equal_hashes_and_a_pass_go_through_in_silence() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    assert_eq!(planning.status(), "pass");
    planning.assert_can_leave();
    assert!(planning.read_plan().starts_with(PLAN), "the text is the author's own");
    // The document's flow lets the agent write the signal as well.
    planning.write_signal("pass", "All findings covered");
    assert_eq!(planning.status(), "pass");
    assert!(!planning.read_plan().contains("verdict:signal"));
    planning.assert_can_leave();
}

#[test]
fn req_peg_011_5_pending_blocks_and_says_what_to_run() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assert_cannot_leave("Assessment pending");
    planning.assert_cannot_leave("To fix: Run /rodin:plan-gate");
}

#[test]
fn req_peg_011_6_a_failed_assessment_blocks_with_its_reason() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.run_critic(FINDINGS);
    planning.run_validator(FAIL);
    planning.assert_cannot_leave(
        "Assessment failed: FINDING-1 (No limit on tries) has no gap. To fix: Update gaps to cover findings, then \
         re-run /rodin:plan-gate.",
    );
}

#[test]
fn req_peg_011_7_missing_metadata_is_no_assessment() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, PLAN).unwrap();
    planning.assert_cannot_leave("No assessment found for this session");
    planning.write(PLAN);
    planning.assess();
    for (name, words) in [
        ("plan:hash", "Plan content changed"),
        ("gaps:hash", "Gaps changed"),
        ("validation", "No validation metadata found. To fix: Run /rodin:plan-gate"),
        ("seal", "The verdict does not count"),
    ] {
        let whole = planning.read_plan();
        let start = format!("<!-- rodin:{name}=");
        let without: String = whole.split_inclusive('\n').filter(|line| !line.starts_with(&start)).collect();
        assert_ne!(whole, without);
        fs::write(&planning.plan, without).unwrap();
        planning.assert_cannot_leave(words);
        fs::write(&planning.plan, whole).unwrap();
    }
    planning.assert_can_leave();
}

#[test]
fn req_peg_012_1_to_3_the_plan_is_found_by_its_session() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    for name in ["aaa.md", "zzz.md"] {
        let other = planning.read_plan().replace(SESSION, OTHER_SESSION);
        planning.project.write_home_file(&format!(".claude/plans/{name}"), &other);
    }
    let mut event = planning.leave_event();
    event["tool_input"] = json!({});
    assert!(planning.hook(&event).is_silent());
    assert_eq!(planning.script_before(&event), Ok(()));
    event["session_id"] = "another".into();
    assert!(planning.hook(&event).expect_denial().contains("No assessment found"));
    assert!(planning.script_before(&event).unwrap_err().contains("No assessment found"));
}

#[test]
fn req_peg_013_1_no_gaps_and_no_issues_pass() {
    let planning = PlanSession::new();
    planning.write("# P\n\n## Goals\n- x\n\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n");
    planning.run_critic(NO_ISSUES);
    planning.run_validator(PASS);
    planning.assert_can_leave();
}

#[test]
fn req_peg_013_2_no_gaps_and_a_serious_finding_fail_whatever_a_validator_says() {
    let planning = PlanSession::new();
    planning.write("# P\n\n## Goals\n- x\n\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n");
    planning.run_critic(FINDINGS);
    planning.run_validator(PASS);
    planning.assert_cannot_leave("No limit on tries (high)");
    let low = FINDINGS.replace("high", "low");
    planning.run_critic(&low);
    planning.run_validator(PASS);
    planning.assert_can_leave();
}

#[test]
fn req_peg_014_1_a_deleted_marker_blocks() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let text = planning.read_plan();
    fs::write(&planning.plan, text.replace(&format!("<!-- rodin:session={SESSION} -->\n"), "")).unwrap();
    planning.assert_cannot_leave("No assessment found for this session");
}

#[test]
fn req_peg_014_2_a_plan_that_is_edited_after_a_pass_is_pending() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    planning.edit("2. Check", "2. Check twice");
    assert_eq!((planning.status().as_str(), planning.read_mark("seal")), ("pending", None));
    planning.assert_cannot_leave("Assessment pending");
    planning.assess();
    planning.assert_can_leave();
}

#[test]
fn req_peg_014_3_gaps_that_are_edited_after_a_pass_are_pending() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    planning.edit("is open", "is mostly open");
    assert_eq!(planning.status(), "pending");
    planning.assert_cannot_leave("Assessment pending");
}

#[test]
fn req_peg_014_4_a_marker_of_another_session_blocks_until_this_one_has_edited() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let second = PlanSession { session: OTHER_SESSION.into(), ..planning };
    second.assert_cannot_leave("No assessment found for this session");
    second.edit("2. Check", "2. Check twice");
    assert_eq!(second.read_mark("session").unwrap(), OTHER_SESSION);
    second.assert_cannot_leave("Assessment pending");
    second.assess();
    second.assert_can_leave();
}

/// Every scenario of the table with the `compat` scripts, which trust the agent's word.
#[test]
fn the_compat_scripts_block_and_allow_as_the_document_says() {
    let planning = PlanSession::new();
    let before = |words: &str| {
        let said = planning.script_before(&planning.leave_event()).unwrap_err();
        assert!(said.starts_with("[RODIN] ") && said.contains(words), "{said}");
    };
    before("No assessment found for this session. To fix: Run /rodin:plan-gate first.");
    planning.write_by_script(PLAN);
    before("Assessment pending");
    let signal = |status: &str, reason: &str| {
        let signal = json!({"status": status, "reason": reason});
        planning.write_by_script(format!("{}<!-- rodin:verdict:signal={signal} -->\n", planning.read_plan()));
    };
    signal("fail", "Uncovered FINDING-2");
    before(
        "Assessment failed: Uncovered FINDING-2\nTo fix: Update gaps to cover findings, then re-run /rodin:plan-gate.",
    );
    signal("pass", "All covered");
    assert_eq!(planning.script_before(&planning.leave_event()), Ok(()));
    assert_eq!(planning.script_before(&json!({"session_id": SESSION})), Ok(()), "by the session alone");
    planning.assert_cannot_leave("The verdict does not count");
    planning.write_by_script(planning.read_plan().replace("1. Form", "1. Other"));
    before("Assessment pending");
    fs::write(&planning.plan, planning.read_plan().replace("1. Other", "1. Form")).unwrap();
    before("Plan content changed since assessment. To fix: Re-run /rodin:plan-gate.");
    fs::write(
        &planning.plan,
        planning.read_plan().replace("1. Form", "1. Other").replace("\"pending\"", "\"fine\""),
    )
    .unwrap();
    before("Internal error: unexpected validation status 'fine'. To fix: Re-run /rodin:plan-gate.");
}

/// The document accepts a validation only as an object, and no empty session.
#[test]
fn the_compat_script_has_the_documents_words_for_damage() {
    let planning = PlanSession::new();
    planning.write_by_script(PLAN);
    let whole = planning.read_plan();
    let validation = planning.read_mark("validation").unwrap();
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
        let said = planning.script_before(&planning.leave_event()).unwrap_err();
        assert_eq!(said.trim_end(), words, "{value}");
    }
    let said = planning.script_before(&json!({"session_id": ""})).unwrap_err();
    assert!(said.starts_with("[RODIN] Internal error: session_id not found in hook input."), "{said}");
}

/// The document's scripts stop with "jq required". Provost needs no other program.
#[test]
fn req_peg_015_1_no_other_program_is_needed() {
    let mut planning = PlanSession::new();
    planning.project = planning.project.with_variable("PATH", "/nowhere");
    planning.write_by_script(PLAN);
    planning.write_by_script(format!(
        "{}<!-- rodin:verdict:signal={{\"status\":\"pass\",\"reason\":\"r\"}} -->\n",
        planning.read_plan()
    ));
    assert_eq!(planning.status(), "pass");
    assert_eq!(planning.script_before(&planning.leave_event()), Ok(()));
}
