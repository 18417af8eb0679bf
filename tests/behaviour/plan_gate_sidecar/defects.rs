//! The defects of the document's scripts, each as a test of the correct behaviour.

use super::*;

const BELIEVING: &str = "witness = \"off\"\nfloor = \"off\"\n";

#[test]
fn gaps_file_without_a_value_names_no_file() {
    let gate = Gate::believing();
    let block = format!("{PLAN}<!-- rodin:gaps:start -->\n{GAPS}<!-- rodin:gaps:end -->\n");
    gate.write(&gate.plan(), &block);
    assert_eq!(gate.says("gaps_file"), "");
    gate.set("status", "pass");
    assert_eq!(gate.leaves(), Ok(()));
    for value in ["null", "~", "# none", "''", "\"\"\t"] {
        gate.set("gaps_file", value);
        assert_eq!(gate.leaves(), Ok(()), "{value}");
    }
}

#[test]
fn gaps_written_before_the_plan_are_hashed_with_it() {
    let gate = Gate::believing();
    gate.write(&gate.gaps_file(), GAPS);
    gate.write(&gate.plan(), PLAN);
    assert_eq!(gate.says("gaps_file"), gate.gaps_file().to_str().unwrap());
    assert_eq!(gate.says("gaps_hash"), shasum(&gate.gaps_file()));
    gate.set("status", "pass");
    assert_eq!(gate.leaves(), Ok(()));
    fs::write(gate.gaps_file(), "changed").unwrap();
    assert!(gate.leaves().unwrap_err().contains("Gaps hash mismatch"));
}

#[test]
fn special_characters_in_a_path_stay() {
    for name in ["me@work", "a b", "a # b", "$HOME", "a|b", "it's", "\"quoted\"", "a: b", "ä"] {
        let gate = Gate::believing();
        let plan = gate.plans.join(format!("{name}.md"));
        // A second write reads the line of the first one.
        gate.write(&plan, PLAN);
        gate.write(&plan, "# Plan\n");
        gate.write(&gate.gaps_file(), GAPS);
        gate.set("status", "pass");
        let mut event = gate.leaving();
        event["tool_input"] = json!({});
        assert_eq!(reason_of(&gate.project.hook_with(PACK, &event)), Ok(()), "{name}");
    }
}

#[test]
fn a_verdict_written_into_the_gate_file_does_not_count_without_a_witness() {
    let gate = Gate::passed("floor = \"off\"\n");
    let answer = gate.project.hook_with(PACK, &gate.leaving());
    let reason = reason_of(&answer).unwrap_err();
    assert!(reason.starts_with("[RODIN] The verdict does not count: no validator was seen"), "{reason}");
    for seal in ["pass", &"0".repeat(64)] {
        let text = fs::read_to_string(gate.gate_file()).unwrap();
        fs::write(gate.gate_file(), format!("{text}seal: {seal}\n")).unwrap();
        assert!(reason_of(&gate.project.hook_with(PACK, &gate.leaving())).is_err());
        fs::write(gate.gate_file(), text).unwrap();
    }
}

#[test]
fn an_unknown_status_is_reported() {
    let gate = Gate::passed(BELIEVING);
    gate.set("status", "maybe");
    let reason = gate.leaves().unwrap_err();
    assert!(reason.starts_with("[RODIN] Internal error: unexpected validation status 'maybe'"), "{reason}");
}

#[test]
fn a_gate_file_with_two_verdicts_blocks() {
    let gate = Gate::passed(BELIEVING);
    let text = fs::read_to_string(gate.gate_file()).unwrap();
    fs::write(gate.gate_file(), format!("{text}status: fail\n")).unwrap();
    let reason = gate.leaves().unwrap_err();
    assert!(reason.starts_with("[RODIN] Gate file corrupt: `status` is there more than once"), "{reason}");
}

#[test]
fn a_claimed_signal_does_not_stay_in_the_plan() {
    for (gate, status, reason) in [
        (Gate::believing(), "pass", "Assessment not yet run"),
        (Gate::with(""), "pass", "A pass was claimed, but no validator was seen to give it"),
        (Gate::with(""), "fail", "uncovered: all"),
    ] {
        gate.write(&gate.gaps_file(), GAPS);
        gate.write(&gate.plan(), PLAN);
        let signal = json!({"status": status, "reason": "uncovered: all"});
        gate.write(&gate.plan(), &format!("{PLAN}<!-- rodin:verdict:signal={signal} -->\n"));
        assert_eq!(fs::read_to_string(gate.plan()).unwrap(), PLAN);
        assert_eq!(gate.says("status"), if status == "fail" { "fail" } else { "pending" });
        assert!(gate.says("reason").contains(reason), "{}", gate.says("reason"));
        let left = gate.leaves().unwrap_err();
        assert!(!left.contains("mismatch"), "{left}");
    }
}

/// A few locks serve all files. A plan that shares a lock with its record is updated like any other.
#[test]
fn a_plan_that_shares_a_lock_with_its_record_is_updated() {
    let gate = Gate::with("");
    let lock_number = |path: &Path| provost::places::fnv1a(path.to_str().unwrap().as_bytes()) % 64;
    let records = lock_number(gate.gate_file().parent().unwrap());
    let names = (0..10_000).map(|number| gate.plans.join(format!("plan-{number}.md")));
    let plan = names.into_iter().find(|plan| lock_number(plan) == records).unwrap();
    gate.write(&plan, &format!("{PLAN}<!-- rodin:verdict:signal={{\"status\":\"pass\"}} -->\n"));
    assert_eq!(fs::read_to_string(&plan).unwrap(), PLAN);
    assert_eq!(gate.says("status"), "pending");
}

#[test]
fn a_home_behind_a_link_is_the_same_home() {
    let gate = Gate::believing();
    let link = gate.project.home.with_file_name("link");
    std::os::unix::fs::symlink(&gate.project.home, &link).unwrap();
    let Gate { project, plans } = gate;
    let gate = Gate { project: project.with_variable("HOME", &link), plans };
    let through = link.join(".claude/plans").join(format!("{SLUG}.md"));
    gate.write(&through, PLAN);
    gate.write(&link.join(format!(".claude/plans/rodin-plan-gate/{SESSION}.gaps.md")), GAPS);
    gate.set("status", "pass");
    let mut event = gate.leaving();
    event["tool_input"]["planFilePath"] = json!(through);
    assert_eq!(reason_of(&gate.project.hook_with(PACK, &event)), Ok(()));
}
