//! Leaving plan mode.

use super::*;

const BELIEVING: &str = "witness = \"off\"\nfloor = \"off\"\n";

#[test]
fn no_gate_file_blocks() {
    let gate = Gate::believing();
    fs::write(gate.plan(), PLAN).unwrap();
    assert_eq!(
        gate.leaves().unwrap_err(),
        "[RODIN] No assessment found. To fix: Run /rodin:plan-gate first.\n[provost] Only the user can \
         allow this once, with the prompt `provost override plan-gate REASON`."
    );
}

#[test]
fn a_stale_plan_hash_blocks() {
    let gate = Gate::passed(BELIEVING);
    fs::write(gate.plan(), "# Edited outside\n").unwrap();
    let reason = gate.leaves().unwrap_err();
    assert!(reason.starts_with("[RODIN] Plan hash mismatch. To fix: Re-run /rodin:plan-gate."), "{reason}");
}

#[test]
fn a_stale_gaps_hash_blocks() {
    let gate = Gate::passed(BELIEVING);
    fs::write(gate.gaps_file(), "edited outside\n").unwrap();
    let reason = gate.leaves().unwrap_err();
    assert!(reason.starts_with("[RODIN] Gaps hash mismatch. To fix: Re-run /rodin:plan-gate."), "{reason}");
}

#[test]
fn an_unreadable_file_blocks() {
    let gate = Gate::passed(BELIEVING);
    fs::remove_file(gate.gaps_file()).unwrap();
    fs::create_dir(gate.gaps_file()).unwrap();
    assert_shown!("plan-gate-sidecar-unreadable-gaps", gate.leaves().unwrap_err());

    let gate = Gate::passed(BELIEVING);
    fs::remove_file(gate.gate_file()).unwrap();
    fs::create_dir(gate.gate_file()).unwrap();
    let reason = gate.leaves().unwrap_err();
    assert!(reason.starts_with("[RODIN] Cannot read gate file: "), "{reason}");
}

#[test]
fn an_unreadable_plan_blocks_where_the_event_does_not_carry_it() {
    let gate = Gate::passed(BELIEVING);
    fs::remove_file(gate.plan()).unwrap();
    let mut event = gate.leaving();
    event["tool_input"] = json!({});
    assert!(reason_of(&gate.project.hook_with(PACK, &event)).is_err());
    fs::create_dir(gate.plan()).unwrap();
    let answer = gate.project.hook_with(PACK, &event);
    assert!(reason_of(&answer).unwrap_err().contains("not a regular file"), "{answer:?}");
    let answer = gate.project.run_compat(&["pre_tool_use"], event.to_string().as_bytes());
    assert_eq!(answer.code, Some(2), "{answer:?}");
}

#[test]
fn gaps_recorded_but_missing_block() {
    let gate = Gate::passed(BELIEVING);
    fs::remove_file(gate.gaps_file()).unwrap();
    let reason = gate.leaves().unwrap_err();
    assert!(
        reason.starts_with(&format!(
            "[RODIN] Gaps file referenced but missing: <home>/.claude/plans/rodin-plan-gate/{SESSION}.gaps.md. To \
             fix: Re-run /rodin:plan-gate."
        )),
        "{reason}"
    );
    // The fix: write the plan with a gaps block.
    let block = format!("{PLAN}<!-- rodin:gaps:start -->\n{GAPS}<!-- rodin:gaps:end -->\n");
    gate.write(&gate.plan(), &block);
    assert!(gate.leaves().unwrap_err().starts_with("[RODIN] Assessment pending"));
    gate.set("status", "pass");
    assert_eq!(gate.leaves(), Ok(()));
}

#[test]
fn a_pass_lets_the_plan_leave() {
    assert_eq!(Gate::passed(BELIEVING).leaves(), Ok(()));
}

#[test]
fn pending_blocks() {
    let gate = Gate::believing();
    gate.write(&gate.plan(), PLAN);
    gate.write(&gate.gaps_file(), GAPS);
    let reason = gate.leaves().unwrap_err();
    assert!(
        reason.starts_with(
            "[RODIN] Assessment pending: Gaps edited, re-run assessment. To fix: Run /rodin:plan-gate."
        ),
        "{reason}"
    );
}

#[test]
fn a_fail_blocks_with_its_reason() {
    let gate = Gate::passed(BELIEVING);
    gate.set("status", "fail  # by the validator");
    gate.set("reason", "\"Not covered: FINDING-1 # Race\"  # see there");
    let reason = gate.leaves().unwrap_err();
    assert!(
        reason.starts_with(
            "[RODIN] Assessment failed: Not covered: FINDING-1 # Race. To fix: Update gaps.md to cover \
             findings, then re-run /rodin:plan-gate."
        ),
        "{reason}"
    );
}

#[test]
fn a_gate_file_without_a_plan_is_corrupt() {
    let gate = Gate::passed(BELIEVING);
    gate.set("plan_file", "");
    let reason = gate.leaves().unwrap_err();
    assert!(
        reason.starts_with("[RODIN] Gate file corrupt: missing plan_file. To fix: Re-run /rodin:plan-gate."),
        "{reason}"
    );
    let by_session = gate.leaves_by_script(&json!({"session_id": SESSION}));
    assert_eq!(
        by_session.unwrap_err(),
        "[RODIN] Gate file corrupt: missing plan_file. To fix: Re-run /rodin:plan-gate."
    );
    gate.write(&gate.plan(), PLAN);
    assert_eq!(gate.says("plan_file"), gate.plan().to_str().unwrap());
}

#[test]
fn the_record_of_another_plan_does_not_count() {
    let gate = Gate::passed(BELIEVING);
    gate.write(&gate.plans.join("second.md"), PLAN);
    gate.set("status", "pass");
    assert!(gate.leaves().unwrap_err().starts_with("[RODIN] No assessment found"));
    let mut event = gate.leaving();
    event["tool_input"]["planFilePath"] = json!(gate.plans.join("second.md"));
    assert_eq!(reason_of(&gate.project.hook_with(PACK, &event)), Ok(()));
}

#[test]
fn a_plan_without_gaps_stays() {
    let gate = Gate::believing();
    gate.write(&gate.plan(), PLAN);
    gate.set("status", "pass");
    let reason = gate.leaves().unwrap_err();
    let fix = format!(
        "[RODIN] Plan must have gaps. To fix: Write gaps.md (rodin-plan-gate/{SESSION}.gaps.md beside"
    );
    assert!(reason.starts_with(&fix), "{reason}");
}

#[test]
fn empty_gaps_are_gaps() {
    let gate = Gate::believing();
    gate.write(&gate.plan(), PLAN);
    gate.write(&gate.gaps_file(), "");
    gate.set("status", "pass");
    assert_eq!(gate.leaves(), Ok(()));
}

#[test]
fn the_plan_is_found_by_its_session_where_the_event_does_not_name_it() {
    let gate = Gate::passed(BELIEVING);
    for input in [json!({}), json!({"plan": PLAN})] {
        let mut event = gate.leaving();
        event["tool_input"] = input;
        assert_eq!(reason_of(&gate.project.hook_with(PACK, &event)), Ok(()));
        event["tool_input"]["plan"] = "# Other\n".into();
        assert!(reason_of(&gate.project.hook_with(PACK, &event)).is_err());
    }
    // Only a file in the plans directory counts.
    let mut event = gate.leaving();
    event["tool_input"] = json!({});
    let away = gate.project.write_home_file("away.md", PLAN);
    gate.set("plan_file", away.to_str().unwrap());
    assert!(reason_of(&gate.project.hook_with(PACK, &event)).is_err());
}

#[test]
fn a_last_line_feed_that_the_client_dropped_does_not_matter() {
    let gate = Gate::passed(BELIEVING);
    let mut event = gate.leaving();
    event["tool_input"]["plan"] = PLAN.trim_end().into();
    assert_eq!(reason_of(&gate.project.hook_with(PACK, &event)), Ok(()));
    event["tool_input"]["plan"] = format!("{PLAN}x").into();
    assert!(reason_of(&gate.project.hook_with(PACK, &event)).is_err());
}

#[test]
fn the_files_of_the_document_are_read() {
    let gate = Gate::believing();
    fs::write(gate.plan(), PLAN).unwrap();
    fs::create_dir(gate.beside("")).unwrap();
    fs::write(gate.gaps_file(), GAPS).unwrap();
    let text = format!(
        "plan_file: {}\nplan_hash: {}\ngaps_file: {}\ngaps_hash: {}\nstatus: pass  # or fail or pending\nreason: \
         null  # or explanation if fail\ntimestamp: 2026-01-21T20:00:00Z\n",
        gate.plan().display(),
        shasum(&gate.plan()),
        gate.gaps_file().display(),
        shasum(&gate.gaps_file()),
    );
    fs::write(gate.gate_file(), &text).unwrap();
    assert_eq!(gate.leaves(), Ok(()), "as the document's own hook decides, without a mapping");
    fs::write(gate.beside(&format!("{SLUG}.session")), format!("{SESSION}\n")).unwrap();
    assert_eq!(gate.leaves(), Ok(()));
    assert_eq!(fs::read_to_string(gate.gate_file()).unwrap(), text);
}

/// The exact words of document 001.
#[test]
fn the_compat_script_has_the_words_of_the_document() {
    let by_script = |gate: &Gate| gate.leaves_by_script(&json!({"session_id": SESSION})).unwrap_err();
    let gate = Gate::believing();
    assert_eq!(by_script(&gate), "[RODIN] No assessment found. To fix: Run /rodin:plan-gate first.");
    gate.write(&gate.plan(), PLAN);
    gate.write(&gate.gaps_file(), GAPS);
    assert_eq!(by_script(&gate), "[RODIN] Assessment pending. To fix: Run /rodin:plan-gate.");
    gate.set("status", "fail");
    gate.set("reason", "FINDING-1 is not covered");
    assert_eq!(
        by_script(&gate),
        "[RODIN] Assessment failed: FINDING-1 is not covered\nTo fix: Update gaps.md to cover findings, then re-run \
         /rodin:plan-gate."
    );

    let gate = Gate::passed(BELIEVING);
    assert_eq!(gate.leaves_by_script(&json!({"session_id": SESSION})), Ok(()));
    fs::write(gate.plan(), "# Edited outside\n").unwrap();
    assert_eq!(by_script(&gate), "[RODIN] Plan hash mismatch. To fix: Re-run /rodin:plan-gate.");
    fs::remove_file(gate.plan()).unwrap();
    let said = by_script(&gate);
    assert!(said.starts_with("[RODIN] Cannot read plan file: <home>/.claude/plans/"), "{said}");
    assert!(said.ends_with(". To fix: Check file permissions."), "{said}");

    let gate = Gate::passed(BELIEVING);
    fs::write(gate.gaps_file(), "edited outside\n").unwrap();
    assert_eq!(by_script(&gate), "[RODIN] Gaps hash mismatch. To fix: Re-run /rodin:plan-gate.");
    fs::remove_file(gate.gaps_file()).unwrap();
    assert_eq!(
        by_script(&gate),
        format!(
            "[RODIN] Gaps file referenced but missing: <home>/.claude/plans/rodin-plan-gate/{SESSION}.gaps.md. To fix: \
             Re-run /rodin:plan-gate."
        )
    );
    fs::create_dir(gate.gaps_file()).unwrap();
    let said = by_script(&gate);
    assert!(said.starts_with("[RODIN] Cannot read gaps file: <home>/.claude/plans/"), "{said}");
    assert!(said.ends_with(". To fix: Check file permissions."), "{said}");

    let gate = Gate::passed(BELIEVING);
    gate.set("plan_file", "");
    let mut event = gate.leaving();
    event["session_id"] = SESSION.into();
    assert_eq!(
        gate.leaves_by_script(&event).unwrap_err(),
        "[RODIN] Gate file corrupt: missing plan_file. To fix: Re-run /rodin:plan-gate."
    );
}
