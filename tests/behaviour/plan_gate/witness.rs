//! Which answers Provost accepts as witnessed.

use super::*;

#[test]
fn the_critic_is_given_the_plan_and_nothing_of_the_gaps() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let brief = planning.agent_prompt("rodin:critic").unwrap();
    assert_eq!(brief, "The plan:\n\n# Login\n\n## Goals\n- People sign in\n\n## Steps\n1. Form\n2. Check\n");
    assert!(planning.agent_prompt("general-purpose").is_none(), "others are given what they are given");
    // The real client accepts these names.
    for name in ["Rodin:Critic", " rodin:critic", "rodin:critic ", "RODIN:critic"] {
        assert_eq!(planning.agent_prompt(name).as_ref(), Some(&brief), "{name:?}");
    }
}

#[test]
fn the_validator_is_given_the_gaps_and_the_critics_own_words() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    assert_eq!(planning.agent_prompt("rodin:validator"), None, "no critic was heard yet");
    planning.run_critic(FINDINGS);
    assert_shown!("plan-gate-validator-prompt", planning.agent_prompt("rodin:validator").unwrap());
    planning.edit("1. Form", "1. Form and link");
    assert_eq!(planning.agent_prompt("rodin:validator"), None, "the critic was heard on another text");
}

#[test]
fn an_answer_in_the_result_of_the_call_counts() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let reported = |agent: &str, answer: &str| {
        let mut event = planning.event("PostToolUse.Agent.completed");
        let given = planning.agent_prompt(agent).unwrap();
        event["tool_input"] = json!({"prompt": given, "subagent_type": agent, "description": "d"});
        event["tool_response"]["agentType"] = agent.into();
        event["tool_response"]["prompt"] = given.into();
        event["tool_response"]["content"][1]["text"] = answer.into();
        let answer = planning.hook(&event).json();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    };
    assert!(reported("rodin:critic", FINDINGS).contains("2 findings, 1 of them to be covered"));
    let failed = reported("rodin:validator", FAIL);
    assert_eq!(
        failed,
        "[RODIN] Assessment failed: FINDING-1 (No limit on tries) has no gap. To fix: Update gaps to cover findings, \
         then re-run /rodin:plan-gate."
    );
    planning.assert_cannot_leave("Assessment failed: FINDING-1");
    assert!(reported("rodin:validator", PASS).contains("Ready to exit plan mode"));
    let text = planning.read_plan();
    planning.run_validator(PASS);
    assert_eq!(planning.read_plan(), text, "seen twice, recorded once");
    planning.assert_can_leave();
}

#[test]
fn the_answer_of_a_background_agent_counts_when_it_stops() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let mut event = planning.event("PostToolUse.Agent.async_launched");
    event["tool_input"]["subagent_type"] = "rodin:critic".into();
    assert!(planning.hook(&event).is_silent());
    planning.assess();
    planning.assert_can_leave();
}

#[test]
fn text_that_is_not_an_answer_does_not_count() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    for nothing in ["", "looks good", "NO ISSUES FOUND", "## FINDING-1: x"] {
        planning.run_critic(nothing);
        assert_eq!(planning.agent_prompt("rodin:validator"), None, "{nothing}");
    }
    planning.run_critic(FINDINGS);
    for nothing in ["", "PASS", "VERDICT: PASS", "### VERDICT: OK"] {
        planning.run_validator(nothing);
        planning.assert_cannot_leave("Assessment pending");
    }
}

#[test]
fn a_validator_with_two_verdicts_has_given_none() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.run_critic(FINDINGS);
    planning.run_validator(&format!("{PASS}\n\n{FAIL}"));
    planning.assert_cannot_leave("Assessment pending");
}

#[test]
fn other_agents_may_be_named_in_the_settings() {
    let planning =
        PlanSession::with_config("[plan_gate]\ncritics = [\"my-critic\"]\nvalidators = [\"a:b\"]\n");
    planning.write(PLAN);
    assert!(planning.agent_prompt("rodin:critic").is_none());
    planning.run_agent("my-critic", FINDINGS);
    planning.run_agent("a:b", PASS);
    planning.assert_can_leave();
}

#[test]
fn outside_plan_mode_nothing_is_replaced() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let mut event = planning.event("PreToolUse.Agent");
    event["tool_input"] = json!({"description": "d", "prompt": "p", "subagent_type": "rodin:critic"});
    event["permission_mode"] = "default".into();
    let answer = planning.hook(&event).json();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("Must be invoked in plan mode"), "{context}");
    assert!(answer["hookSpecificOutput"].get("updatedInput").is_none());
}

#[test]
fn the_key_is_created_once_and_only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let planning = PlanSession::new();
    planning.write(PLAN);
    let key = planning.project.state_directory().join("seal.key");
    assert!(!key.exists(), "no key before there is something to seal");
    planning.assess();
    let made = fs::read(&key).unwrap();
    assert_eq!(made.len(), 32);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    planning.edit("1. Form", "1. Forms");
    planning.assess();
    assert_eq!(fs::read(&key).unwrap(), made);
    planning.assert_can_leave();
}

#[test]
fn a_key_that_others_can_read_or_that_is_damaged_seals_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let key = planning.project.state_directory().join("seal.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let said = planning.leave();
    assert!(said.expect_closed_failure().contains("others can read it"), "{said:?}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    planning.assert_can_leave();
    fs::write(&key, "short").unwrap();
    assert!(planning.leave().expect_closed_failure().contains("the seal key is damaged"));
    fs::write(&key, [0; 32]).unwrap();
    planning.assert_cannot_leave("The verdict does not count");
    fs::remove_file(&key).unwrap();
    planning.assert_cannot_leave("The verdict does not count");
    planning.assess();
    planning.assert_can_leave();
}
