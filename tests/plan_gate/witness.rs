//! What counts as having been seen.

use super::*;

#[test]
fn the_critic_is_given_the_plan_and_nothing_of_the_gaps() {
    let planning = Planning::new();
    planning.write(PLAN);
    let brief = planning.brief("rodin:critic").unwrap();
    assert_eq!(brief, "The plan:\n\n# Login\n\n## Goals\n- People sign in\n\n## Steps\n1. Form\n2. Check\n");
    assert!(planning.brief("general-purpose").is_none(), "others are given what they are given");
    // Seen on the real client: it forgives these.
    for name in ["Rodin:Critic", " rodin:critic", "rodin:critic ", "RODIN:critic"] {
        assert_eq!(planning.brief(name).as_ref(), Some(&brief), "{name:?}");
    }
}

#[test]
fn the_validator_is_given_the_gaps_and_the_critics_own_words() {
    let planning = Planning::new();
    planning.write(PLAN);
    assert_eq!(planning.brief("rodin:validator"), None, "no critic was heard yet");
    planning.critic(FINDINGS);
    let brief = planning.brief("rodin:validator").unwrap();
    assert!(brief.starts_with("The gaps:\n\n### GAP-1: Lockout") && brief.ends_with(FINDINGS), "{brief}");
    assert!(!brief.contains("People sign in"));
    planning.edit("1. Form", "1. Form and link");
    assert_eq!(planning.brief("rodin:validator"), None, "the critic was heard on another text");
}

#[test]
fn an_answer_that_comes_back_with_the_call_counts_as_well() {
    let planning = Planning::new();
    planning.write(PLAN);
    let reported = |agent: &str, answer: &str| {
        let mut event = planning.event("PostToolUse.Agent.completed");
        let given = planning.brief(agent).unwrap();
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
    planning.stays("Assessment failed: FINDING-1");
    assert!(reported("rodin:validator", PASS).contains("Ready to exit plan mode"));
    let text = planning.text();
    planning.validator(PASS);
    assert_eq!(planning.text(), text, "seen twice, recorded once");
    planning.leaves();
}

#[test]
fn an_agent_in_the_background_is_heard_when_it_stops() {
    let planning = Planning::new();
    planning.write(PLAN);
    let mut event = planning.event("PostToolUse.Agent.async_launched");
    event["tool_input"]["subagent_type"] = "rodin:critic".into();
    assert!(planning.hook(&event).is_silent());
    planning.assess();
    planning.leaves();
}

#[test]
fn what_is_no_answer_is_not_taken_for_one() {
    let planning = Planning::new();
    planning.write(PLAN);
    for nothing in ["", "looks good", "NO ISSUES FOUND", "## FINDING-1: x"] {
        planning.critic(nothing);
        assert_eq!(planning.brief("rodin:validator"), None, "{nothing}");
    }
    planning.critic(FINDINGS);
    for nothing in ["", "PASS", "VERDICT: PASS", "### VERDICT: OK"] {
        planning.validator(nothing);
        planning.stays("Assessment pending");
    }
}

#[test]
fn a_validator_that_says_both_has_given_no_verdict() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.critic(FINDINGS);
    planning.validator(&format!("{PASS}\n\n{FAIL}"));
    planning.stays("Assessment pending");
}

#[test]
fn other_agents_may_be_named_in_the_settings() {
    let planning = Planning::with("[plan_gate]\ncritics = [\"my-critic\"]\nvalidators = [\"a:b\"]\n");
    planning.write(PLAN);
    assert!(planning.brief("rodin:critic").is_none());
    planning.agent("my-critic", FINDINGS);
    planning.agent("a:b", PASS);
    planning.leaves();
}

#[test]
fn outside_plan_mode_nothing_is_replaced() {
    let planning = Planning::new();
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
fn the_key_is_made_once_and_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let planning = Planning::new();
    planning.write(PLAN);
    let key = planning.project.state().join("seal.key");
    assert!(!key.exists(), "no key before there is something to seal");
    planning.assess();
    let made = fs::read(&key).unwrap();
    assert_eq!(made.len(), 32);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    planning.edit("1. Form", "1. Forms");
    planning.assess();
    assert_eq!(fs::read(&key).unwrap(), made);
    planning.leaves();
}

#[test]
fn a_key_that_others_can_read_or_that_is_damaged_seals_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    let key = planning.project.state().join("seal.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let said = planning.leave();
    assert!(said.closed_failure().contains("others can read it"), "{said:?}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    planning.leaves();
    fs::write(&key, "short").unwrap();
    assert!(planning.leave().closed_failure().contains("the seal key is damaged"));
    fs::write(&key, [0; 32]).unwrap();
    planning.stays("The verdict does not count");
    fs::remove_file(&key).unwrap();
    planning.stays("The verdict does not count");
    planning.assess();
    planning.leaves();
}
