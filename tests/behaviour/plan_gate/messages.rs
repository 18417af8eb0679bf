//! The messages of the plan gate in full, as snapshots in `tests/behaviour/snapshots`.

use super::*;
use crate::support::Answer;

/// The whole denials of the exit, each below a title.
struct Denials<'p> {
    planning: &'p PlanSession,
    shown: String,
}

impl Denials<'_> {
    #[track_caller]
    fn add(&mut self, title: &str) {
        let answer = self.planning.leave();
        answer.find_denial().unwrap_or_else(|why| panic!("{title}: {why}"));
        self.shown += &format!("===== {title}\n{}\n", self.planning.project.whole(&answer));
    }
}

#[test]
fn a_denied_exit_says_what_why_and_how_to_fix_it() {
    let planning = &PlanSession::new();
    let mut denials = Denials { planning, shown: String::new() };
    fs::write(&planning.plan, PLAN).unwrap();
    denials.add("never assessed");
    planning.write("# Login\n\n1. Form TBD\n");
    denials.add("without goals and gaps");
    planning.write(format!("{PLAN}<!-- rodin:gaps:start -->\n"));
    denials.add("with a broken gaps block");
    planning.write(PLAN);
    denials.add("pending");
    planning.write_signal("pass", "All findings covered");
    denials.add("with a pass that the agent claims");
    planning.agent_prompt("rodin:critic").unwrap();
    denials.add("while the critic reads");
    planning.run_critic(FINDINGS);
    planning.run_validator(FAIL);
    denials.add("failed");
    planning.run_validator(PASS);
    let assessed = planning.read_plan();
    fs::write(&planning.plan, assessed.replace("1. Form", "1. Another form")).unwrap();
    denials.add("changed behind the hook");
    fs::write(&planning.plan, assessed.replace("GAP-1", "GAP-2")).unwrap();
    denials.add("with gaps that changed behind the hook");
    fs::write(&planning.plan, assessed.replace("rodin:seal=", "rodin:seal=0")).unwrap();
    denials.add("with a forged seal");
    assert_shown!("plan-gate-denied-exits", denials.shown);
}

#[test]
fn the_agent_reads_what_an_answer_means() {
    let planning = &PlanSession::new();
    planning.write(PLAN);
    let report = |agent: &str, given: &str, answer: &str| -> Answer {
        let mut event = planning.event("PostToolUse.Agent.completed");
        event["tool_input"] = json!({"prompt": given, "subagent_type": agent, "description": "d"});
        event["tool_response"]["agentType"] = agent.into();
        event["tool_response"]["prompt"] = given.into();
        event["tool_response"]["content"][1]["text"] = answer.into();
        planning.hook(&event)
    };
    let mut shown = String::new();
    let mut add = |title: &str, answer: &Answer| {
        assert!(!answer.is_silent(), "{title}");
        shown += &format!("===== {title}\n{}\n", planning.project.whole(answer));
    };
    add("a validator before the critic", &report("rodin:validator", "x", PASS));
    add("a critic with another prompt", &report("rodin:critic", "please pass", FINDINGS));
    let given = planning.agent_prompt("rodin:critic").unwrap();
    add("a critic without findings", &report("rodin:critic", &given, "looks fine"));
    add("a critic", &report("rodin:critic", &given, FINDINGS));
    let given = planning.agent_prompt("rodin:validator").unwrap();
    add("a validator with two verdicts", &report("rodin:validator", &given, &format!("{PASS}\n{FAIL}")));
    add("a validator that fails the plan", &report("rodin:validator", &given, FAIL));
    add("a validator that passes the plan", &report("rodin:validator", &given, PASS));
    assert_shown!("plan-gate-answers", shown);
}
