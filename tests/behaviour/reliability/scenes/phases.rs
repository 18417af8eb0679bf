//! The guards of the pack `phases`.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::Scene;
use crate::reliability::stage::{Deed, Stage};
use crate::support::workflow_project::{
    WorkflowProject, set_phase_record, skill_event, started_workflow, test_and_article_requirements,
    workflow_with_requirements,
};

const PHASE: &str = "06-implementation";

pub const SCENES: &[Scene] = &[
    ("iteration-corridor", iteration_corridor),
    ("skill-validator", skill_validator),
    ("phase-loop-controller", phase_loop_controller),
    ("plan-surfacer", plan_surfacer),
    ("phase-sequence-guard", phase_sequence_guard),
    ("gate-blocker", gate_blocker),
    ("constitution-validator", constitution_validator),
    ("branch-guard", branch_guard),
    ("state-write-validator", state_write_validator),
    ("log-skill-usage", log_skill_usage),
    ("menu-tracker", menu_tracker),
    ("walkthrough-tracker", walkthrough_tracker),
    ("discover-menu-guard", discover_menu_guard),
    ("skill-delegation-enforcer", skill_delegation_enforcer),
    ("test-watcher", test_watcher),
    ("review-reminder", review_reminder),
    ("delegation-gate", delegation_gate),
    ("phase-records", phase_records),
];

/// All of these rest on the state of the workflow.
fn of(guard: &str, flow: WorkflowProject, event: Value, deed: Deed) -> Stage {
    let state = flow.state_file();
    Stage::new(guard, flow.project, event, deed).resting_on([state])
}

fn keeps(guard: &str, flow: WorkflowProject, event: Value, words: &'static str) -> Stage {
    let deed = Deed::Keeps(flow.state_file(), words);
    of(guard, flow, event, deed)
}

/// The work is handed on while tests fail.
fn iteration_corridor() -> Stage {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let record = json!({"completed": false, "last_test_result": "failed", "current_iteration": 2});
    set_phase_record(&flow, PHASE, &json!({"iteration_requirements": {"test_iteration": record}}));
    let event = flow.delegation("sdlc-orchestrator", "Advance");
    of("iteration-corridor", flow, event, Deed::Denies("ITERATION CORRIDOR"))
}

/// An agent starts where a manifest is demanded and missing.
fn skill_validator() -> Stage {
    let flow = WorkflowProject::in_phase(PHASE);
    let mut state = started_workflow(PHASE);
    state["skill_enforcement"] = json!({"fail_behavior": "block"});
    flow.write_state(&state).without_manifest();
    let event = flow.delegation("software-developer", "go");
    of("skill-validator", flow, event, Deed::Denies("SKILL ENFORCEMENT"))
}

/// Work is handed to a phase that has not begun.
fn phase_loop_controller() -> Stage {
    let flow = WorkflowProject::in_phase(PHASE);
    set_phase_record(&flow, PHASE, &json!({"status": "pending"}));
    let event = flow.delegation("software-developer", "implement it");
    let words = "PHASE DELEGATION WITHOUT PROGRESS TRACKING";
    of("phase-loop-controller", flow, event, Deed::Denies(words))
}

/// Work is handed out without a plan of tasks.
fn plan_surfacer() -> Stage {
    let flow = WorkflowProject::in_phase(PHASE);
    let event = flow.delegation("software-developer", "implement it");
    of("plan-surfacer", flow, event, Deed::Denies("TASK PLAN NOT GENERATED"))
}

/// Work is handed to an agent of a later phase.
fn phase_sequence_guard() -> Stage {
    let flow = WorkflowProject::in_phase("05-test-strategy");
    let event = flow.delegation("software-developer", "go");
    of("phase-sequence-guard", flow, event, Deed::Denies("OUT-OF-ORDER PHASE DELEGATION"))
}

/// The phase is left with nothing done.
fn gate_blocker() -> Stage {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let event = flow.delegation("sdlc-orchestrator", "Proceed to the next phase");
    of("gate-blocker", flow, event, Deed::Denies("GATE BLOCKED"))
}

/// The phase is called complete, and its articles are not checked.
fn constitution_validator() -> Stage {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let event = flow.delegation("sdlc-orchestrator", "The phase is complete");
    of("constitution-validator", flow, event, Deed::Denies("PHASE COMPLETION BLOCKED"))
}

/// A commit to `main` while the work has a branch of its own.
fn branch_guard() -> Stage {
    let flow = WorkflowProject::in_phase(PHASE);
    let (main, own) = (".git/refs/heads/main", ".git/refs/heads/feature/REQ-0004-x");
    for (name, text) in [(".git/HEAD", "ref: refs/heads/main\n"), (main, COMMIT), (own, COMMIT)] {
        flow.project.write_file(name, text);
    }
    fs::create_dir_all(flow.project.path.join(".git/objects")).unwrap();
    let head = flow.project.path.join(".git/HEAD");
    let event = flow.project.bash("git commit -m x");
    let mut stage = of("branch-guard", flow, event, Deed::Denies("COMMIT TO MAIN BLOCKED"));
    stage.files.push(head);
    stage
}

const COMMIT: &str = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a\n";

/// A state that claims a check that was never made has been written.
fn state_write_validator() -> Stage {
    let flow = WorkflowProject::new();
    let claim = json!({"constitutional_validation": {"completed": true, "iterations_used": 0}});
    flow.write_state(&json!({"phases": {"01-requirements": claim}}));
    let mut event = flow.project.write(flow.state_file(), "");
    event["hook_event_name"] = "PostToolUse".into();
    event["tool_response"] = json!({});
    of("state-write-validator", flow, event, Deed::Says("[state-write-validator] WARNING"))
}

/// An agent has answered.
fn answered(flow: &WorkflowProject, agent: &str, text: &str) -> Value {
    let input = json!({"subagent_type": agent, "prompt": "go", "description": "d"});
    let mut event = flow.call("PostToolUse.Agent.completed", &input);
    event["tool_response"]["content"] = json!([{"type": "text", "text": text}]);
    event
}

fn log_skill_usage() -> Stage {
    let flow = WorkflowProject::in_phase(PHASE);
    let event = answered(&flow, "software-developer", "done");
    keeps("log-skill-usage", flow, event, "skill_usage_log")
}

/// The user sees a menu.
fn menu_tracker() -> Stage {
    let flow = WorkflowProject::in_phase("01-requirements");
    let menu = "Draft:\n[A] Adjust\n[R] Refine\n[C] Continue\nYour choice:";
    let event = answered(&flow, "requirements-analyst", menu);
    keeps("menu-tracker", flow, event, "menu_interactions")
}

/// A discovery ends, and the walkthrough of the constitution is missing.
fn walkthrough_tracker() -> Stage {
    let flow = WorkflowProject::new();
    flow.write_state(&json!({"discovery_context": {"walkthrough_completed": false}}));
    let event = answered(&flow, "discover-orchestrator", "done");
    of("walkthrough-tracker", flow, event, Deed::Says("[walkthrough-tracker] WARNING"))
}

/// A discovery shows the menu of old.
fn discover_menu_guard() -> Stage {
    let flow = WorkflowProject::in_phase(PHASE);
    let menu = "What would you like to do?\n\n[1] New Project\n[2] Existing Project\n[3] Scoped Analysis\n\
                [4] Auto-detect\n\nYour choice?";
    let event = answered(&flow, "discover-orchestrator", menu);
    of("discover-menu-guard", flow, event, Deed::Says("[discover-menu-guard] WARNING"))
}

/// A skill that delegates to an agent was used.
fn skill_delegation_enforcer() -> Stage {
    let flow = WorkflowProject::in_phase(PHASE);
    let event = skill_event(&flow, "PostToolUse.Read", "sdlc", "feature x");
    keeps("skill-delegation-enforcer", flow, event, "pending_delegation")
}

/// Tests have failed.
fn test_watcher() -> Stage {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    let mut event = flow.call("PostToolUseFailure.Bash", &json!({"command": "npm test"}));
    event["error"] = json!("Exit code 1\nError: x");
    keeps("test-watcher", flow, event, "last_test_result")
}

/// A commit in a team whose reviews are off.
fn review_reminder() -> Stage {
    let flow = WorkflowProject::new();
    let mut state = started_workflow(PHASE);
    state["code_review"] = json!({"enabled": false, "team_size": 3});
    flow.write_state(&state);
    let event = flow.call("PostToolUse.Bash", &json!({"command": "git commit -m x"}));
    of("review-reminder", flow, event, Deed::Says("[review-reminder] WARNING"))
}

/// A turn ends before the agent of its skill has worked.
fn delegation_gate() -> Stage {
    let flow = WorkflowProject::new();
    let event = flow.project.recorded_event("Stop.active_false");
    let mut state = started_workflow(PHASE);
    state["pending_delegation"] = json!({"skill": "sdlc", "required_agent": "sdlc-orchestrator",
        "invoked_at": now(), "args": "", "session": event["session_id"]});
    flow.write_state(&state);
    of("delegation-gate", flow, event, Deed::Denies("DELEGATION REQUIRED"))
}

/// Another guard has noted something.
fn phase_records() -> Stage {
    let mut stage = log_skill_usage();
    stage.guard = provost::registry::find_guard("phase-records").unwrap();
    stage
}

fn now() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
