//! Critics and validators that work in the background, as they do in a terminal.

use super::*;

/// The event after the start of an agent in the background.
fn launched(planning: &PlanSession, agent: &str, id: &str) -> Value {
    let mut event = planning.event("PostToolUse.Agent.async_launched");
    event["tool_input"]["subagent_type"] = agent.into();
    event["tool_response"]["agentId"] = id.into();
    event
}

/// The prompt with which the client announces the end of an agent in the background.
fn announced(planning: &PlanSession, id: &str, status: &str) -> Value {
    let mut event = planning.event("UserPromptSubmit");
    event["prompt"] = format!(
        "<task-notification>\n<task-id>{id}</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n\
         <status>{status}</status>\n<summary>Agent</summary>\n</task-notification>"
    )
    .into();
    event
}

/// Starts an agent in the background, and returns its prompt.
fn start(planning: &PlanSession, agent: &str, id: &str) -> String {
    let given = planning.agent_prompt(agent).unwrap();
    let answer = planning.hook(&launched(planning, agent, id));
    assert!(answer.is_silent(), "{answer:?}");
    given
}

/// Lets an agent that was started in the background answer.
fn answers(planning: &PlanSession, agent: &str, id: &str, given: &str, answer: &str) {
    let mut event = planning.agent_stop_event(agent, &[given], answer);
    event["agent_id"] = id.into();
    event["background_tasks"] = json!([{"id": id, "type": "subagent", "status": "running"}]);
    let said = planning.hook(&event);
    assert!(said.is_silent(), "words at the stop would reach the judge: {said:?}");
}

fn context(answer: &crate::support::Answer) -> String {
    answer.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn leaving_plan_mode_while_an_agent_judges_the_plan_says_to_wait() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let given = start(&planning, "rodin:critic", "a1");
    planning.assert_cannot_leave(
        "Assessment pending: the critic has not answered yet; wait for it. To fix: End the turn",
    );
    answers(&planning, "rodin:critic", "a1", &given, FINDINGS);
    planning.assert_cannot_leave("Assessment pending: Content changed, re-run assessment");
    let given = start(&planning, "rodin:validator", "a2");
    planning.assert_cannot_leave("the validator has not answered yet; wait for it");
    answers(&planning, "rodin:validator", "a2", &given, PASS);
    planning.assert_can_leave();
}

#[test]
fn an_agent_without_a_known_id_counts_as_running() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.agent_prompt("rodin:critic").unwrap();
    planning.assert_cannot_leave("the critic has not answered yet; wait for it");
    planning.run_critic(FINDINGS);
    let denial = planning.leave().expect_denial();
    assert!(!denial.contains("has not answered"), "{denial}");
}

#[test]
fn an_agent_that_judges_another_text_or_has_ended_is_not_waited_for() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    start(&planning, "rodin:critic", "a1");
    planning.edit("1. Form", "1. Form and link");
    planning.assert_cannot_leave("Assessment pending: Content changed");
    // The gate ignores other agents.
    let other = PlanSession::new();
    other.write(PLAN);
    assert!(other.hook(&launched(&other, "general-purpose", "a9")).is_silent());
    other.assert_cannot_leave("Assessment pending: Content changed");
    // An agent that fails does not stop. Only the notification reports its end.
    start(&other, "rodin:critic", "a1");
    let told = context(&other.hook(&announced(&other, "a1", "failed")));
    assert_eq!(told, "[RODIN] The critic has ended without an answer. To fix: Re-run /rodin:plan-gate.");
    other.assert_cannot_leave("Assessment pending: Content changed");
}

#[test]
fn an_agent_that_answers_before_its_launch_is_reported_is_not_waited_for() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let given = planning.agent_prompt("rodin:critic").unwrap();
    answers(&planning, "rodin:critic", "a1", &given, FINDINGS);
    assert!(planning.hook(&launched(&planning, "rodin:critic", "a1")).is_silent());
    planning.assert_cannot_leave("Assessment pending: Content changed");
}

#[test]
fn the_result_of_a_background_agent_comes_with_its_notification() {
    let planning = PlanSession::new();
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
    planning.assert_cannot_leave("Assessment failed: FINDING-1");
    for other in ["a99", "", "../x"] {
        assert!(planning.hook(&announced(&planning, other, "completed")).is_silent(), "{other:?}");
    }
    let mut typed = planning.event("UserPromptSubmit");
    typed["prompt"] = "what does <task-id>a1</task-id> mean?".into();
    assert!(planning.hook(&typed).is_silent());
}

#[test]
fn after_a_fail_the_gate_names_the_findings_whatever_the_plan_claims() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    let sealed = planning.read_plan();
    planning.run_validator(FAIL);
    let is_named = || {
        planning.assert_cannot_leave(
            "Assessment failed: FINDING-1 (No limit on tries) has no gap. To fix: Update gaps",
        );
    };
    is_named();
    for (status, reason) in [("pass", "All findings covered"), ("fail", "nothing much"), ("fine", "")] {
        planning.write_signal(status, reason);
        assert_eq!(planning.status(), "fail");
        assert!(!planning.read_plan().contains("verdict:signal"));
        is_named();
    }
    // The agent can change the record, because the record is in its plan.
    planning.write(&sealed);
    is_named();
    fs::write(&planning.plan, &sealed).unwrap();
    is_named();
    planning.write(PLAN);
    is_named();
    fs::write(&planning.plan, PLAN).unwrap();
    is_named();
    planning.write(PLAN);
    planning.run_validator(PASS);
    planning.assert_can_leave();
}
