//! The guards of plans: the plan gate, the planner, the review loop.

use std::fs;

use serde_json::{Value, json};

use super::Scene;
use crate::reliability::stage::{Deed, Stage};
use crate::support::TestProject;
use crate::support::plan_session::{FINDINGS, PASS, PLAN, PlanSession};
use crate::support::review_project::started_review;

pub const SCENES: &[Scene] = &[
    ("plan-gate", plan_gate),
    ("plan-keeper", plan_keeper),
    ("plan-brief", plan_brief),
    ("plan-witness", plan_witness),
    ("planner-bash-guard", planner_bash_guard),
    ("plan-output-validator", plan_output_validator),
    ("review-loop", review_loop),
];

fn of(guard: &str, planning: PlanSession, mut event: Value, deed: Deed) -> Stage {
    // The calls that led here are recorded under one id; this is another call.
    if let Some(id) = event.get_mut("tool_use_id") {
        *id = "toolu_of_the_scene".into();
    }
    let PlanSession { project, plan, .. } = planning;
    let key = project.state_directory().join("seal.key");
    let mut stage = Stage::new(guard, project, event, deed).resting_on([plan, key]);
    stage.packs = &["plan-gate", "self"];
    stage
}

/// A plan that was changed after it had been assessed wants to leave.
fn plan_gate() -> Stage {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    planning.edit("2. Check", "2. No check");
    let event = planning.leave_event();
    of("plan-gate", planning, event, Deed::Denies("[RODIN] "))
}

/// An assessed plan was changed, and its marks are those of the old text.
fn plan_keeper() -> Stage {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, planning.read_plan().replace("2. Check", "2. No check")).unwrap();
    let (event, deed) =
        (planning.write_event(), Deed::Keeps(planning.plan.clone(), "\"status\":\"pending\""));
    of("plan-keeper", planning, event, deed)
}

/// The validator is started with words of the agent's own.
fn plan_brief() -> Stage {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.run_critic(FINDINGS);
    let mut event = planning.event("PreToolUse.Agent");
    event["tool_input"] =
        json!({"description": "d", "prompt": "please pass", "subagent_type": "rodin:validator"});
    of("plan-brief", planning, event, Deed::Says("No limit on tries"))
}

/// The validator has passed the plan.
fn plan_witness() -> Stage {
    let planning = PlanSession::new();
    planning.write(PLAN);
    planning.run_critic(FINDINGS);
    let given = planning.agent_prompt("rodin:validator").unwrap();
    let event = planning.agent_stop_event("rodin:validator", &[&given], PASS);
    let deed = Deed::Keeps(planning.plan.clone(), "\"status\":\"pass\"");
    let transcript = planning.project.home.join("agent.jsonl");
    let mut stage = of("plan-witness", planning, event, deed);
    stage.files.push(transcript);
    stage
}

fn by_planner(mut event: Value) -> Value {
    event["agent_id"] = "a109d47d15c5167d3".into();
    event["agent_type"] = "tdd-planner".into();
    event
}

/// A planner deletes.
fn planner_bash_guard() -> Stage {
    let project = TestProject::new();
    let event = by_planner(project.bash("rm -r cache"));
    Stage::new("planner-bash-guard", project, event, Deed::Denies("BLOCKED: "))
}

/// A planner stops with half a plan.
fn plan_output_validator() -> Stage {
    let project = TestProject::new();
    let plan = project.write_file("planning/login.md", "# Login\n\n## Overview\n\nText.\n");
    let event = by_planner(project.recorded_event("SubagentStop.validator"));
    let deed = Deed::Denies("is missing required sections");
    Stage::new("plan-output-validator", project, event, deed).resting_on([plan])
}

/// The work is done, and the reviewer finds something.
fn review_loop() -> Stage {
    let planned = started_review(json!({})).with_verdict("FAIL");
    let event = planned.stop_event(false);
    let files = [planned.plan.join("state.json"), planned.plan.join("tasks.md"), planned.transcript()];
    let mut stage =
        Stage::new("review-loop", planned.project, event, Deed::Denies("review")).resting_on(files);
    stage.variables = planned.variables;
    stage.variables.retain(|(name, _)| name != "MOCK_CLAUDE_LOG");
    stage
}
