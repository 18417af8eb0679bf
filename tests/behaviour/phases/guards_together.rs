//! Section 8: how guards of the same event affect each other. All guards of the pack are on.
//!
//! The client runs hooks in parallel, so no hook stops the others: every reason
//! is shown, the first in the order of ADR-004 in full.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use super::gate_blocker::{test_and_article_requirements, workflow_with_requirements, write_requirements};
use super::{WorkflowProject, read_denial, started_workflow};
use crate::support::assert_shown;

const PENDING: &str = "PHASE DELEGATION WITHOUT PROGRESS TRACKING";
const NO_PLAN: &str = "TASK PLAN NOT GENERATED";
const ORDER: &str = "OUT-OF-ORDER PHASE DELEGATION";
/// In the order of ADR-004.
const GUARDS: [(&str, &str); 3] =
    [("phase-loop-controller", PENDING), ("plan-surfacer", NO_PLAN), ("phase-sequence-guard", ORDER)];

/// The reason with which the whole pack denies an event.
fn find_reason(flow: &WorkflowProject, event: &Value) -> Option<String> {
    read_denial(&flow.project.hook_with(&["--pack", "phases"], event))
}

/// A workflow in the implementation, with two things that can be wrong there.
fn flow(pending: bool, no_plan: bool) -> WorkflowProject {
    let flow = WorkflowProject::new();
    let mut state = started_workflow("06-implementation");
    state["phases"]["06-implementation"]["status"] = json!(if pending { "pending" } else { "in_progress" });
    flow.write_state(&state);
    if !no_plan {
        flow.write_tasks();
    }
    flow
}

#[test]
fn every_reason_is_shown_and_the_first_in_full() {
    let reasons = [0, 1, 2, 3, 4, 5, 6, 7].map(|case| {
        let flow = flow(case & 1 != 0, case & 2 != 0);
        let agent = if case & 4 != 0 { "integration-tester" } else { "software-developer" };
        let reason = find_reason(&flow, &flow.delegation(agent, "go"));
        flow.project.shorten_paths(&reason.unwrap_or("(allowed)".to_owned()))
    });
    assert_shown!("phases-several-reasons", reasons.join("\n\n"));
}

#[test]
fn wrong_phase_and_pending_status_are_one_denial() {
    let flow = flow(true, false);
    let reason = find_reason(&flow, &flow.delegation("integration-tester", "go")).unwrap();
    assert_eq!(
        flow.project.shorten_paths(&reason),
        "[provost] agent `integration-tester` denied: the status of `06-implementation` is `pending`. To fix: do its \
         TaskUpdate step: set `phases.06-implementation.status` to `in_progress` in \
         .isdlc/state.json, then delegate the work of `07-testing` again. (PHASE DELEGATION WITHOUT PROGRESS TRACKING)\n\
         [provost] also `phase-sequence-guard`: OUT-OF-ORDER PHASE DELEGATION: it is for `07-testing`, the workflow is \
         in `06-implementation`.\n\
         [provost] Only the user can allow this once, with the prompts `provost override \
         phase-loop-controller REASON` and `provost override phase-sequence-guard REASON`."
    );
}

/// The hook has a message for the user's screen; a script answers as its document prescribes.
#[test]
fn a_script_denies_with_the_reason_alone() {
    let flow = flow(true, true);
    let event = flow.delegation("integration-tester", "go");
    for (name, _) in GUARDS {
        let script = flow.project.run_compat(&[name], event.to_string().as_bytes());
        assert!(read_denial(&script).is_some() && !script.json().contains_key("systemMessage"), "{script:?}");
    }
    assert!(flow.project.hook_with(&["--pack", "phases"], &event).json().contains_key("systemMessage"));
}

/// The scripts may be registered in any order, and run in parallel.
#[test]
fn no_guard_depends_on_another() {
    let flow = flow(true, true);
    let event = flow.delegation("integration-tester", "go");
    thread::scope(|scope| {
        let runs = GUARDS.iter().rev().chain(&GUARDS).map(|(name, headline)| {
            let (flow, event) = (&flow, &event);
            (headline, scope.spawn(move || flow.project.run_compat(&[name], event.to_string().as_bytes())))
        });
        for (headline, run) in runs.collect::<Vec<_>>() {
            let reason = read_denial(&run.join().unwrap()).unwrap();
            assert!(reason.starts_with(&format!("[provost] {headline}: ")), "{reason}");
        }
    });
    // Each of them is one of the reasons of the whole pack.
    let reasons = GUARDS.map(|(name, _)| {
        flow.project.write_file("provost.toml", &format!("[guards]\n{name} = \"off\"\n"));
        format!("===== without {name}\n{}\n", find_reason(&flow, &event).unwrap())
    });
    assert_shown!("phases-one-guard-off", flow.project.shorten_paths(&reasons.join("\n")));
}

/// 8.1: these guards only read. The files stay the same, byte for byte.
#[test]
fn guards_before_a_delegation_do_not_change_the_state() {
    let flow = flow(true, true);
    let before = fs::read(flow.state_file()).unwrap();
    for agent in ["software-developer", "integration-tester", "general-purpose"] {
        find_reason(&flow, &flow.delegation(agent, "go"));
    }
    assert_eq!(fs::read(flow.state_file()).unwrap(), before);
}

/// 8.5: a delegation to the wrong phase, and the fix that the reason names.
#[test]
fn a_wrong_delegation_is_allowed_after_the_fix() {
    let flow = flow(false, false);
    let event = flow.delegation("integration-tester", "go");
    assert!(find_reason(&flow, &event).unwrap().contains(ORDER));
    let mut state = started_workflow("07-testing");
    state["phases"] =
        json!({"06-implementation": {"status": "completed"}, "07-testing": {"status": "pending"}});
    flow.write_state(&state);
    let reason = find_reason(&flow, &event).unwrap();
    assert_shown!("phases-next-phase-pending", flow.project.shorten_paths(&reason));
    state["phases"]["07-testing"]["status"] = json!("in_progress");
    flow.write_state(&state);
    assert_eq!(find_reason(&flow, &event), None);
}

#[test]
fn the_user_can_allow_all_of_it_once() {
    let flow = flow(true, true);
    let event = flow.delegation("integration-tester", "go");
    let session = event["session_id"].clone();
    for (name, headline) in GUARDS {
        assert!(find_reason(&flow, &event).unwrap().contains(headline));
        let mut prompt = flow.project.recorded_event("UserPromptSubmit");
        prompt["session_id"] = session.clone();
        prompt["prompt"] = format!("provost override {name} we know").into();
        let answer = flow.project.hook(&prompt);
        assert_eq!(answer.code, Some(0), "{answer:?}");
    }
    // The call that needs the overrides uses them up.
    assert_eq!(find_reason(&flow, &event), None);
    let mut next = event;
    next["tool_use_id"] = json!("toolu_next");
    assert!(GUARDS.iter().all(|(_, headline)| find_reason(&flow, &next).unwrap().contains(headline)));
}

/// 8.3: both warnings about one answer, in the order of ADR-004.
#[test]
fn all_warnings_about_one_answer_are_shown() {
    let flow = WorkflowProject::new();
    flow.write_state(&json!({"discovery_context": {}}));
    let mut event =
        flow.call("PostToolUse.Agent.completed", &json!({"subagent_type": "discover-orchestrator"}));
    event["tool_response"]["content"] = json!([{"type": "text", "text":
        "What would you like to do?\n1. New Project\n2. Existing Project\n3. Scoped Analysis"}]);
    let answer = flow.project.hook_with(&["--pack", "phases"], &event);
    assert_shown!("phases-two-warnings", flow.project.whole(&answer));
}

/// The journal has no entry for a call that does not concern a guard.
#[test]
fn events_that_do_not_concern_a_guard_are_not_recorded() {
    for (name, _) in GUARDS {
        let flow = flow(true, true);
        let is_kept = || flow.project.read_journal_text().contains(name);
        for event in [
            flow.call("PreToolUse.Bash", &json!({"command": "ls"})),
            flow.call("PreToolUse.Read", &json!({"file_path": "a"})),
            flow.delegation("general-purpose", "look"),
        ] {
            assert_eq!(
                read_denial(&flow.enable_only(name).hook_with(&["--pack", "phases"], &event)),
                None,
                "{event}"
            );
        }
        assert!(!is_kept(), "{}", flow.project.read_journal_text());
        let event = flow.delegation("integration-tester", "go");
        assert!(read_denial(&flow.enable_only(name).hook_with(&["--pack", "phases"], &event)).is_some());
        assert!(is_kept());
    }
}

/// A workflow whose tests fail, and where everything else is wrong too.
fn with_failing_tests() -> WorkflowProject {
    let flow = flow(true, true);
    write_requirements(
        &flow,
        &json!({"phase_requirements": {"06-implementation": test_and_article_requirements()}}),
    );
    let mut state = flow.read_state();
    state["phases"]["06-implementation"]["iteration_requirements"] =
        json!({"test_iteration": {"completed": false, "last_test_result": "failed", "current_iteration": 2}});
    flow.write_state(&state);
    flow
}

/// 8.1: if tests fail, that is the first reason.
#[test]
fn the_corridor_is_the_first_reason() {
    let flow = with_failing_tests();
    let delegations = [
        ("integration-tester", "proceed to the next phase"),
        ("sdlc-orchestrator", "phase complete, advance"),
    ];
    let reasons =
        delegations.map(|(agent, prompt)| find_reason(&flow, &flow.delegation(agent, prompt)).unwrap());
    assert_shown!("phases-failing-tests-first", flow.project.shorten_paths(&reasons.join("\n\n")));
}

/// 8.1: both write to the state for one event, and neither loses the other's changes.
#[test]
fn all_changes_before_a_call_are_written_at_once() {
    let flow = with_failing_tests();
    find_reason(&flow, &flow.delegation("sdlc-orchestrator", "phase complete, advance")).unwrap();
    let state = flow.read_state();
    let phase = &state["phases"]["06-implementation"];
    assert_eq!(phase["gate_validation"]["status"], "blocked");
    assert_eq!(phase["constitutional_validation"]["status"], "pending");
    assert_eq!(phase["iteration_requirements"]["test_iteration"]["current_iteration"], 2);
    let hooks: Vec<&Value> =
        state["pending_escalations"].as_array().unwrap().iter().map(|entry| &entry["hook"]).collect();
    assert_eq!(hooks.len(), 3, "{hooks:?}");
}

/// 8.1: with a manifest it denies nothing, whatever the others do.
#[test]
fn skill_validator_never_conflicts() {
    for (pending, agent) in
        [(false, "software-developer"), (true, "software-developer"), (false, "qa-engineer")]
    {
        let flow = flow(pending, false);
        let mut state = flow.read_state();
        state["skill_enforcement"] = json!({"enabled": true, "fail_behavior": "block"});
        flow.write_state(&state);
        let before = fs::read(flow.state_file()).unwrap();
        let with = find_reason(&flow, &flow.delegation(agent, "go"));
        flow.project.write_file("provost.toml", "[guards]\nskill-validator = \"off\"\n");
        assert_eq!(find_reason(&flow, &flow.delegation(agent, "go")), with);
        assert_eq!(fs::read(flow.state_file()).unwrap(), before);
    }
}

/// 8.3: the agent and the user's choice are recorded for one event and written once.
#[test]
fn the_log_and_the_menu_are_written_at_once() {
    let list = tempfile::NamedTempFile::new().unwrap();
    let mut flow = WorkflowProject::in_phase("01-requirements");
    flow.project = flow.project.with_variable("PROVOST_READS", list.path());
    let mut event =
        flow.call("PostToolUse.Agent.completed", &json!({"subagent_type": "requirements-analyst"}));
    event["tool_response"]["content"] =
        json!([{"type": "text", "text": "[A] Adjust\n[C] Continue\nYour choice:"}]);
    let answer = flow.project.hook_with(&["--pack", "phases"], &event);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let state = flow.read_state();
    assert_eq!(state["skill_usage_log"][0]["agent"], "requirements-analyst");
    assert_eq!(state["skill_usage_log"].as_array().unwrap().len(), 1);
    let talks = &state["phases"]["01-requirements"]["iteration_requirements"]["interactive_elicitation"];
    assert_eq!(talks["menu_interactions"], 1);
    assert_eq!(state["active_workflow"], started_workflow("01-requirements")["active_workflow"]);
    // Read by the guards, read under the lock, and read once more before the only write.
    let path = flow.state_file().display().to_string();
    let reads = fs::read_to_string(list.path()).unwrap();
    assert_eq!(reads.lines().filter(|line| *line == path).count(), 3, "{reads}");
}

/// 8.5: the client does not run a denied call, so no event follows. The event that it sends instead is neither a
/// commit nor a test run.
#[test]
fn after_a_denied_commit_there_is_nothing_to_do() {
    let flow = workflow_with_requirements("06-implementation", &test_and_article_requirements());
    let mut state = flow.read_state();
    state["code_review"] = json!({"enabled": false, "team_size": 3});
    flow.write_state(&state);
    for directory in ["objects", "refs/heads"] {
        fs::create_dir_all(flow.project.path.join(".git").join(directory)).unwrap();
    }
    flow.project.write_file(".git/HEAD", "ref: refs/heads/main\n");
    let before = fs::read(flow.state_file()).unwrap();
    let command = json!({"command": "npm test && git commit -m x"});
    let reason = find_reason(&flow, &flow.call("PreToolUse.Bash", &command)).unwrap();
    assert_shown!("phases-denied-commit", reason);
    let mut failed = flow.call("PostToolUseFailure.Bash", &command);
    failed["error"] = json!(reason);
    let answer = flow.project.hook_with(&["--pack", "phases"], &failed);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{answer:?}");
    assert_eq!(fs::read(flow.state_file()).unwrap(), before);
}

/// 8.5: a faked state causes a warning when it is written, and the gate stays closed.
#[test]
fn a_faked_state_causes_a_warning_and_opens_no_gate() {
    let flow = workflow_with_requirements("06-implementation", &test_and_article_requirements());
    flow.write_tasks();
    let mut state = flow.read_state();
    state["phases"]["06-implementation"] = json!({
        "constitutional_validation": {"completed": true, "status": "compliant", "iterations_used": 0},
        "iteration_requirements": {"test_iteration": {"completed": true, "status": "success", "current_iteration": 0}},
    });
    flow.write_state(&state);
    let write = flow
        .call("PostToolUse.Write", &json!({"file_path": flow.state_file(), "content": state.to_string()}));
    let advance = flow.delegation("sdlc-orchestrator", "advance");
    let answers = [write, advance]
        .map(|event| flow.project.whole(&flow.project.hook_with(&["--pack", "phases"], &event)));
    assert_shown!("phases-faked-state", answers.join("\n"));
    // Work that was done and counted opens the gate.
    state["phases"]["06-implementation"]["constitutional_validation"]["iterations_used"] = json!(1);
    state["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]["current_iteration"] =
        json!(1);
    flow.write_state(&state);
    assert_eq!(find_reason(&flow, &flow.delegation("sdlc-orchestrator", "advance")), None);
}
