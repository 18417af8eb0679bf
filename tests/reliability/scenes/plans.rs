//! The guards of plans: the plan gate, the planner, the review loop.

use std::fs;

use serde_json::{Value, json};

use super::Scene;
use crate::stage::{Deed, Stage};
use crate::support::TestProject;
use crate::support::planned::started;
use crate::support::planning::{FINDINGS, PASS, PLAN, Planning};

pub const SCENES: &[Scene] = &[
    ("plan-gate", plan_gate),
    ("plan-keeper", plan_keeper),
    ("plan-brief", plan_brief),
    ("plan-witness", plan_witness),
    ("planner-bash-guard", planner_bash_guard),
    ("plan-output-validator", plan_output_validator),
    ("review-loop", review_loop),
];

fn of(guard: &str, planning: Planning, mut event: Value, deed: Deed) -> Stage {
    // The calls that led here are recorded under one id; this is another call.
    if let Some(id) = event.get_mut("tool_use_id") {
        *id = "toolu_of_the_scene".into();
    }
    let Planning { project, plan, .. } = planning;
    let key = project.state().join("seal.key");
    let mut stage = Stage::new(guard, project, event, deed).resting_on([plan, key]);
    stage.packs = &["plan-gate", "self"];
    stage
}

/// A plan that was changed after it had been assessed wants to leave.
fn plan_gate() -> Stage {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    planning.edit("2. Check", "2. No check");
    let event = planning.leaving();
    of("plan-gate", planning, event, Deed::Denies("[RODIN] "))
}

/// An assessed plan was changed, and its marks are those of the old text.
fn plan_keeper() -> Stage {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.assess();
    fs::write(&planning.plan, planning.text().replace("2. Check", "2. No check")).unwrap();
    let (event, deed) = (planning.written(), Deed::Keeps(planning.plan.clone(), "\"status\":\"pending\""));
    of("plan-keeper", planning, event, deed)
}

/// The validator is started with words of the agent's own.
fn plan_brief() -> Stage {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.critic(FINDINGS);
    let mut event = planning.event("PreToolUse.Agent");
    event["tool_input"] =
        json!({"description": "d", "prompt": "please pass", "subagent_type": "rodin:validator"});
    of("plan-brief", planning, event, Deed::Says("No limit on tries"))
}

/// The validator has passed the plan.
fn plan_witness() -> Stage {
    let planning = Planning::new();
    planning.write(PLAN);
    planning.critic(FINDINGS);
    let given = planning.brief("rodin:validator").unwrap();
    let event = planning.stopped("rodin:validator", &[&given], PASS);
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
    let plan = project.file("planning/login.md", "# Login\n\n## Overview\n\nText.\n");
    let event = by_planner(project.event("SubagentStop.validator"));
    let deed = Deed::Denies("is missing required sections");
    Stage::new("plan-output-validator", project, event, deed).resting_on([plan])
}

/// The work is done, and the reviewer finds something.
fn review_loop() -> Stage {
    let planned = started(json!({})).says("FAIL");
    let event = planned.stopping(false);
    let files = [planned.plan.join("state.json"), planned.plan.join("tasks.md"), planned.transcript()];
    let mut stage =
        Stage::new("review-loop", planned.project, event, Deed::Denies("review")).resting_on(files);
    stage.variables = planned.variables;
    stage.variables.retain(|(name, _)| name != "MOCK_CLAUDE_LOG");
    stage
}
