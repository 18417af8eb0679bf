//! Witnessed verdicts in `gate.yml`.

use super::*;

const FINDINGS: &str = "### FINDING-1: No rollback\n- **Severity**: high\n- **Description**: It may fail.\n";

/// The prompt that replaces an agent's own.
fn brief(gate: &Gate, agent: &str) -> String {
    let mut event = gate.project.recorded_event("PreToolUse.Agent");
    event["session_id"] = SESSION.into();
    event["permission_mode"] = "plan".into();
    event["tool_input"]["subagent_type"] = agent.into();
    let answer = gate.project.hook_with(PACK, &event);
    let prompt = answer.json()["hookSpecificOutput"]["updatedInput"]["prompt"].clone();
    prompt.as_str().unwrap_or_else(|| panic!("no brief: {answer:?}")).to_owned()
}

/// Starts an agent and lets it answer.
fn answered(gate: &Gate, agent: &str, answer: &str) -> String {
    let given = brief(gate, agent);
    let mut event = gate.project.recorded_event("PostToolUse.Agent.completed");
    event["session_id"] = SESSION.into();
    event["permission_mode"] = "plan".into();
    event["tool_input"]["subagent_type"] = agent.into();
    event["tool_response"]["prompt"] = given.into();
    event["tool_response"]["agentType"] = agent.into();
    event["tool_response"]["content"] = json!([{"type": "text", "text": answer}]);
    let answer = gate.project.hook_with(PACK, &event);
    answer.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

fn assessed(gate: &Gate, verdict: &str) {
    let told = answered(gate, "rodin:critic", FINDINGS);
    assert!(told.contains("The critic was heard on this plan: 1 finding,"), "{told}");
    answered(gate, "rodin:validator", verdict);
}

fn ready() -> Gate {
    let gate = Gate::witnessing();
    gate.write(&gate.plan(), PLAN);
    gate.write(&gate.gaps_file(), GAPS);
    gate
}

fn hook(gate: &Gate) -> Result<(), String> {
    reason_of(&gate.project.hook_with(PACK, &gate.leaving()))
}

#[test]
fn no_mapping_says_to_write_the_plan_first() {
    let gate = Gate::witnessing();
    fs::write(gate.plan(), PLAN).unwrap();
    let mut event = gate.project.recorded_event("PreToolUse.Agent");
    event["session_id"] = SESSION.into();
    event["permission_mode"] = "plan".into();
    event["tool_input"]["subagent_type"] = "rodin:critic".into();
    let answer = gate.project.hook_with(PACK, &event).json();
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("write the plan file, then start again"), "{told}");
}

#[test]
fn a_file_that_is_not_a_plan_is_given_to_no_agent() {
    let gate = ready();
    let away = gate.project.write_home_file("away.md", "SECRET\n");
    let below = gate.beside("below.md");
    fs::write(&below, "SECRET\n").unwrap();
    for file in [away, below, gate.plans.join("../settings.json"), "relative.md".into()] {
        gate.set("plan_file", file.to_str().unwrap());
        let before = fs::read(gate.gate_file()).unwrap();
        let mut event = gate.project.recorded_event("PreToolUse.Agent");
        event["session_id"] = SESSION.into();
        event["permission_mode"] = "plan".into();
        event["tool_input"]["subagent_type"] = "rodin:critic".into();
        let answer = gate.project.hook_with(PACK, &event);
        assert!(answer.stdout.contains("no plan of this session is known yet"), "{answer:?}");
        gate.write(&gate.gaps_file(), "### GAP-1: Other\n");
        assert_eq!(fs::read(gate.gate_file()).unwrap(), before, "a record of something else is not kept");
    }
}

#[test]
fn the_critic_reads_the_plan_and_no_gaps() {
    let gate = Gate::witnessing();
    let block = format!("{PLAN}<!-- rodin:gaps:start -->\nSECRET-2\n<!-- rodin:gaps:end -->\n");
    gate.write(&gate.plan(), &block);
    gate.write(&gate.gaps_file(), "SECRET-1\n");
    assert_shown!("plan-gate-sidecar-critic-prompt", brief(&gate, "rodin:critic"));
    answered(&gate, "rodin:critic", FINDINGS);
    assert_shown!("plan-gate-sidecar-validator-prompt", brief(&gate, "rodin:validator"));
}

#[test]
fn a_pass_sets_status_and_reason_and_nothing_else() {
    let gate = ready();
    let (plan_hash, gaps_hash) = (gate.says("plan_hash"), gate.says("gaps_hash"));
    assessed(&gate, "### VERDICT: PASS\n**Reason**: All covered: yes.\n");
    assert_eq!((gate.says("plan_hash"), gate.says("gaps_hash")), (plan_hash, gaps_hash));
    assert_eq!((gate.says("status"), gate.says("reason")), ("pass".into(), "\"All covered: yes.\"".into()));
    assert_eq!(gate.says("seal").len(), 64);
    assert_eq!(hook(&gate), Ok(()));
}

#[test]
fn a_fail_sets_status_and_its_reason() {
    let gate = ready();
    assessed(&gate, "### VERDICT: FAIL\n**Reason**: FINDING-1 is not covered\n");
    assert_eq!(
        (gate.says("status"), gate.says("reason")),
        ("fail".into(), "FINDING-1 is not covered".into())
    );
    let reason = hook(&gate).unwrap_err();
    assert!(
        reason.starts_with("[RODIN] Assessment failed: FINDING-1 is not covered. To fix: Update gaps.md"),
        "{reason}"
    );
    assert!(!fs::read_to_string(gate.gate_file()).unwrap().contains("seal"));
}

#[test]
fn a_sealed_pass_ends_with_any_edit() {
    for (edited, status) in [("# Other\n", "Plan edited"), (PLAN, "Gaps edited")] {
        let gate = ready();
        assessed(&gate, "### VERDICT: PASS\n**Reason**: Fine\n");
        gate.write(&gate.plan(), PLAN);
        assert_eq!(hook(&gate), Ok(()), "the same text is no edit");
        let sealed = fs::read_to_string(gate.gate_file()).unwrap();
        if edited == PLAN {
            gate.write(&gate.gaps_file(), "### GAP-1: Other\n");
        } else {
            gate.write(&gate.plan(), edited);
        }
        assert!(gate.says("reason").starts_with(status));
        assert!(hook(&gate).is_err());
        // The old file with its seal and new hashes is about other texts.
        fs::write(gate.gate_file(), sealed).unwrap();
        gate.set("plan_hash", &shasum(&gate.plan()));
        gate.set("gaps_hash", &shasum(&gate.gaps_file()));
        assert!(hook(&gate).unwrap_err().contains("The verdict does not count"));
    }
}

#[test]
fn gaps_in_the_plan_itself_are_enough() {
    let gate = Gate::witnessing();
    gate.write(&gate.plan(), &format!("{PLAN}<!-- rodin:gaps:start -->\n{GAPS}<!-- rodin:gaps:end -->\n"));
    assessed(&gate, "### VERDICT: PASS\n**Reason**: Fine\n");
    assert_eq!(hook(&gate), Ok(()));
    // For the next session, the verdict on exactly these texts stays valid.
    gate.write_by(OTHER, &gate.plan(), &fs::read_to_string(gate.plan()).unwrap());
    let mut event = gate.leaving();
    event["session_id"] = OTHER.into();
    assert_eq!(reason_of(&gate.project.hook_with(PACK, &event)), Ok(()));
    assert!(hook(&gate).is_err(), "it is no longer the plan of the first one");
}
