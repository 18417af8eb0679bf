//! Judges that work in the background, as they do in a terminal.

use super::*;

/// The event after the start of an agent in the background.
fn launched(planning: &Planning, agent: &str, id: &str) -> Value {
    let mut event = planning.event("PostToolUse.Agent.async_launched");
    event["tool_input"]["subagent_type"] = agent.into();
    event["tool_response"]["agentId"] = id.into();
    event
}

/// The prompt with which the client announces the end of an agent in the background.
fn announced(planning: &Planning, id: &str, status: &str) -> Value {
    let mut event = planning.event("UserPromptSubmit");
    event["prompt"] = format!(
        "<task-notification>\n<task-id>{id}</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n\
         <status>{status}</status>\n<summary>Agent</summary>\n</task-notification>"
    )
    .into();
    event
}

/// Starts a judge in the background; the answer is what it was given.
fn start(planning: &Planning, agent: &str, id: &str) -> String {
    let given = planning.brief(agent).unwrap();
    let answer = planning.hook(&launched(planning, agent, id));
    assert!(answer.is_silent(), "{answer:?}");
    given
}

/// A judge that was started in the background answers.
fn answers(planning: &Planning, agent: &str, id: &str, given: &str, answer: &str) {
    let mut event = planning.stopped(agent, &[given], answer);
    event["agent_id"] = id.into();
    event["background_tasks"] = json!([{"id": id, "type": "subagent", "status": "running"}]);
    let said = planning.hook(&event);
    assert!(said.is_silent(), "words at the stop would reach the judge: {said:?}");
}

fn context(answer: &support::Answer) -> String {
    answer.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn while_a_judge_is_at_work_leaving_plan_mode_says_to_wait_for_it() {
    let planning = Planning::new();
    planning.write(PLAN);
    let given = start(&planning, "rodin:critic", "a1");
    planning.stays("Assessment pending: the critic has not answered yet; wait for it. To fix: End the turn");
    answers(&planning, "rodin:critic", "a1", &given, FINDINGS);
    planning.stays("Assessment pending: Content changed, re-run assessment");
    let given = start(&planning, "rodin:validator", "a2");
    planning.stays("the validator has not answered yet; wait for it");
    answers(&planning, "rodin:validator", "a2", &given, PASS);
    planning.leaves();
}

#[test]
fn a_judge_that_was_just_started_is_at_work_too() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.brief("rodin:critic").unwrap();
    planning.stays("the critic has not answered yet; wait for it");
    planning.critic(FINDINGS);
    let denial = planning.leave().denial();
    assert!(!denial.contains("has not answered"), "{denial}");
}

#[test]
fn nobody_waits_for_a_judge_of_another_text_or_for_one_that_has_ended() {
    let planning = Planning::new();
    planning.write(PLAN);
    start(&planning, "rodin:critic", "a1");
    planning.edit("1. Form", "1. Form and link");
    planning.stays("Assessment pending: Content changed");
    // Other agents are none of the gate's business.
    let other = Planning::new();
    other.write(PLAN);
    assert!(other.hook(&launched(&other, "general-purpose", "a9")).is_silent());
    other.stays("Assessment pending: Content changed");
    // One that fails does not stop: only the notification tells.
    start(&other, "rodin:critic", "a1");
    let told = context(&other.hook(&announced(&other, "a1", "failed")));
    assert_eq!(told, "[RODIN] The critic has ended without an answer. To fix: Re-run /rodin:plan-gate.");
    other.stays("Assessment pending: Content changed");
}

#[test]
fn an_answer_before_the_word_of_its_start_is_not_waited_for() {
    let planning = Planning::new();
    planning.write(PLAN);
    let given = planning.brief("rodin:critic").unwrap();
    answers(&planning, "rodin:critic", "a1", &given, FINDINGS);
    assert!(planning.hook(&launched(&planning, "rodin:critic", "a1")).is_silent());
    planning.stays("Assessment pending: Content changed");
}

#[test]
fn what_was_heard_in_the_background_comes_with_the_notification() {
    let planning = Planning::new();
    planning.write(PLAN);
    let told = |id: &str| context(&planning.hook(&announced(&planning, id, "completed")));
    let given = start(&planning, "rodin:critic", "a1");
    answers(&planning, "rodin:critic", "a1", &given, FINDINGS);
    assert_eq!(told("a1"), "[RODIN] The critic was heard on this plan: 2 findings, 1 of them to be covered.");
    let given = start(&planning, "rodin:validator", "a2");
    answers(&planning, "rodin:validator", "a2", &given, FAIL);
    assert!(told("a2").starts_with("[RODIN] Assessment failed: FINDING-1 (No limit on tries) has no gap."));
    let given = start(&planning, "rodin:validator", "a3");
    answers(&planning, "rodin:validator", "a3", &given, "### VERDICT: PASS\nVERDICT - FAIL");
    assert_eq!(
        told("a3"),
        "[RODIN] The answer does not count: the validator's answer: it has a second line that could be read as a \
         verdict. To fix: Re-run /rodin:plan-gate."
    );
    planning.stays("Assessment failed: FINDING-1");
    for other in ["a99", "", "../x"] {
        assert!(planning.hook(&announced(&planning, other, "completed")).is_silent(), "{other:?}");
    }
    let mut typed = planning.event("UserPromptSubmit");
    typed["prompt"] = "what does <task-id>a1</task-id> mean?".into();
    assert!(planning.hook(&typed).is_silent());
}

#[test]
fn after_a_fail_the_gate_names_the_findings_whatever_is_claimed() {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    let sealed = planning.text();
    planning.validator(FAIL);
    let is_named =
        || planning.stays("Assessment failed: FINDING-1 (No limit on tries) has no gap. To fix: Update gaps");
    is_named();
    for (status, reason) in [("pass", "All findings covered"), ("fail", "nothing much"), ("fine", "")] {
        planning.signal(status, reason);
        assert_eq!(planning.status(), "fail");
        assert!(!planning.text().contains("verdict:signal"));
        is_named();
    }
    // The record is in the plan, and the plan is the agent's to write.
    planning.write(&sealed);
    is_named();
    fs::write(&planning.plan, &sealed).unwrap();
    is_named();
    planning.write(PLAN);
    is_named();
    fs::write(&planning.plan, PLAN).unwrap();
    is_named();
    planning.write(PLAN);
    planning.validator(PASS);
    planning.leaves();
}
