//! The whole answer of an agent counts, and a verdict must be the only one in it.

use super::*;

/// The transcript lines of the client for each part of an answer.
fn part(text: &str, stop_reason: &str) -> Value {
    json!({"type": "assistant", "isSidechain": true, "message": {
        "role": "assistant", "stop_reason": stop_reason, "content": [{"type": "text", "text": text}]}})
}

fn user(text: &str) -> Value {
    json!({"type": "user", "isSidechain": true, "isMeta": true, "message": {"role": "user", "content": text}})
}

const LIMIT: &str = "Output token limit hit. Your caller does not receive an answer in pieces.";

/// The events at the end of an agent in the foreground: its stop, and the end of the call. Both have only the
/// last part of its answer.
fn ended(planning: &PlanSession, agent: &str, id: &str, parts: &[Value]) -> [Value; 2] {
    let given = planning.agent_prompt(agent).unwrap();
    let last = parts.last().unwrap()["message"]["content"][0]["text"].as_str().unwrap();
    let mut stop = planning.agent_stop_event(agent, &[&given], last);
    let record = planning.project.home.join(".claude/projects/p").join(&planning.session);
    let transcript = record.join(format!("subagents/agent-{id}.jsonl"));
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let lines: Vec<String> = [user(&given)].iter().chain(parts).map(Value::to_string).collect();
    fs::write(&transcript, lines.join("\n")).unwrap();
    stop["agent_id"] = id.into();
    stop["agent_transcript_path"] = json!(transcript);
    let mut call = planning.event("PostToolUse.Agent.completed");
    call["transcript_path"] = json!(record.with_extension("jsonl"));
    call["tool_input"] = json!({"prompt": given, "subagent_type": agent, "description": "d"});
    call["tool_response"]["agentType"] = agent.into();
    call["tool_response"]["agentId"] = id.into();
    call["tool_response"]["prompt"] = given.into();
    call["tool_response"]["content"] = json!([{"type": "text", "text": last}]);
    [stop, call]
}

fn context(answer: &crate::support::Answer) -> String {
    answer.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_answer_that_was_continued_after_the_token_limit_does_not_count() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.run_critic(FINDINGS);
    let cut =
        [part("### VERDICT: FAIL\n**Reason**: FIND", "max_tokens"), user(LIMIT), part(PASS, "end_turn")];
    for (id, hears_stop) in [("a1", true), ("a2", false)] {
        let [stop, call] = ended(&planning, "rodin:validator", id, &cut);
        if hears_stop {
            assert!(planning.hook(&stop).is_silent());
            planning.assert_cannot_leave("Assessment pending");
        }
        let told = context(&planning.hook(&call));
        assert!(told.starts_with("[RODIN] The answer does not count: "), "{told}");
        planning.assert_cannot_leave("Assessment pending");
    }
    // Not even when its transcript is gone.
    let [stop, call] = ended(&planning, "rodin:validator", "a3", &cut);
    planning.hook(&stop);
    fs::remove_file(stop["agent_transcript_path"].as_str().unwrap()).unwrap();
    assert!(context(&planning.hook(&call)).contains("does not count"));
    planning.assert_cannot_leave("Assessment pending");
}

#[test]
fn the_answer_of_a_critic_that_was_cut_off_does_not_count() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let cut = [part(FINDINGS, "max_tokens"), user(LIMIT), part(NO_ISSUES, "end_turn")];
    let [stop, call] = ended(&planning, "rodin:critic", "a1", &cut);
    assert!(planning.hook(&stop).is_silent());
    assert!(context(&planning.hook(&call)).contains("does not count"));
    assert_eq!(planning.agent_prompt("rodin:validator"), None);
}

#[test]
fn every_part_of_an_answer_counts() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    let [stop, call] =
        ended(&planning, "rodin:critic", "a1", &[part(FINDINGS, "end_turn"), part(NO_ISSUES, "end_turn")]);
    planning.hook(&stop);
    assert!(context(&planning.hook(&call)).contains("2 findings, 1 of them to be covered"));
    let [stop, call] =
        ended(&planning, "rodin:validator", "a2", &[part(FAIL, "end_turn"), part(PASS, "end_turn")]);
    planning.hook(&stop);
    planning.assert_cannot_leave("Assessment pending");
    assert!(context(&planning.hook(&call)).contains("a second line that could be read as a verdict"));
    planning.assert_cannot_leave("Assessment pending");
    let [stop, call] = ended(
        &planning,
        "rodin:validator",
        "a3",
        &[part("Both lists compared.", "end_turn"), part(PASS, "end_turn")],
    );
    planning.hook(&stop);
    assert!(context(&planning.hook(&call)).contains("Ready to exit plan mode"));
    planning.assert_can_leave();
}

#[test]
fn a_pass_beside_another_possible_verdict_does_not_count() {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.run_critic(FINDINGS);
    for second in [
        "### VERDICT: FAIL",
        "**Verdict**: fail",
        "ＶＥＲＤＩＣＴ： ＦＡＩＬ",
        "### VER\u{200b}DICT: FAIL",
        "Corrected verdict: FAIL",
        "    ### VERDICT: FAIL",
        "```\n### VERDICT: FAIL\n```",
        "VERDICT - FAIL",
        "Verdict = fail",
        "### VERDICT:\nFAIL",
        "{\"verdict\": \"fail\"}",
    ] {
        for answer in [format!("{PASS}\n\n{second}\n"), format!("{second}\n\n{PASS}\n")] {
            planning.run_validator(&answer);
            planning.assert_cannot_leave("Assessment pending");
        }
    }
    planning.run_validator(&format!("I compared both lists; the verdict line comes last.\n\n{PASS}\n"));
    planning.assert_can_leave();
}
