//! Section 8: what guards of the same event do to each other. All guards of the pack are on.
//!
//! The client runs hooks side by side, so there is no first one that stops the others: every reason
//! that holds is told, the first in the order of ADR-004 in full.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use super::{Flow, begun, denied, told};
use crate::gate::{demanding, demands_of, tests_and_articles};

const PENDING: &str = "PHASE DELEGATION WITHOUT PROGRESS TRACKING";
const NO_PLAN: &str = "TASK PLAN NOT GENERATED";
const ORDER: &str = "OUT-OF-ORDER PHASE DELEGATION";
/// In the order of ADR-004.
const GUARDS: [(&str, &str); 3] =
    [("phase-loop-controller", PENDING), ("plan-surfacer", NO_PLAN), ("phase-sequence-guard", ORDER)];

/// What the whole pack says of an event.
fn judged(flow: &Flow, event: &Value) -> Option<String> {
    denied(&flow.project.hook_with(&["--pack", "phases"], event))
}

/// A workflow in the implementation, with what can be wrong there.
fn flow(pending: bool, no_plan: bool) -> Flow {
    let flow = Flow::new();
    let mut state = begun("06-implementation");
    state["phases"]["06-implementation"]["status"] = json!(if pending { "pending" } else { "in_progress" });
    flow.state(&state);
    if !no_plan {
        flow.tasks();
    }
    flow
}

#[test]
fn every_reason_is_told_and_the_first_in_full() {
    for case in 0..8 {
        let wrong = [case & 1 != 0, case & 2 != 0, case & 4 != 0];
        let flow = flow(wrong[0], wrong[1]);
        let agent = if wrong[2] { "integration-tester" } else { "software-developer" };
        let reason = judged(&flow, &flow.delegating(agent, "go")).unwrap_or_default();
        let expected = GUARDS.iter().zip(wrong).filter(|(_, wrong)| *wrong).map(|(guard, _)| guard);
        let mut lines = reason.lines();
        for (index, (name, headline)) in expected.enumerate() {
            let line = lines.next().unwrap();
            if index == 0 {
                assert!(
                    line.starts_with(&format!("[provost] agent `{agent}` denied: "))
                        && line.contains("To fix: ")
                        && line.ends_with(&format!(" ({headline})")),
                    "{line}"
                );
            } else {
                assert!(line.starts_with(&format!("[provost] also `{name}`: {headline}: ")), "{line}");
            }
        }
        let rest: Vec<&str> = lines.collect();
        assert_eq!(rest.len(), usize::from(case != 0), "only the way out is left: {rest:?}");
    }
}

#[test]
fn wrong_phase_and_pending_status_are_one_denial() {
    let flow = flow(true, false);
    let reason = judged(&flow, &flow.delegating("integration-tester", "go")).unwrap();
    assert_eq!(
        flow.project.shown(&reason),
        "[provost] agent `integration-tester` denied: the status of `06-implementation` is `pending`. To fix: do its \
         TaskUpdate step: set `phases.06-implementation.status` to `in_progress` in \
         .isdlc/state.json, then delegate the work of `07-testing` again. (PHASE DELEGATION WITHOUT PROGRESS TRACKING)\n\
         [provost] also `phase-sequence-guard`: OUT-OF-ORDER PHASE DELEGATION: it is for `07-testing`, the workflow is \
         in `06-implementation`.\n\
         [provost] Only the user can allow this once, with the prompts `provost override \
         phase-loop-controller REASON` and `provost override phase-sequence-guard REASON`."
    );
}

/// The message for the user's screen is the hook's; a script answers as its document has it.
#[test]
fn a_script_denies_with_the_reason_alone() {
    let flow = flow(true, true);
    let event = flow.delegating("integration-tester", "go");
    for (name, _) in GUARDS {
        let script = flow.project.script(&[name], event.to_string().as_bytes());
        assert!(denied(&script).is_some() && !script.json().contains_key("systemMessage"), "{script:?}");
    }
    assert!(flow.project.hook_with(&["--pack", "phases"], &event).json().contains_key("systemMessage"));
}

/// The scripts may be registered in any order, and run at once.
#[test]
fn no_guard_depends_on_another() {
    let flow = flow(true, true);
    let event = flow.delegating("integration-tester", "go");
    thread::scope(|scope| {
        let runs = GUARDS.iter().rev().chain(&GUARDS).map(|(name, headline)| {
            let (flow, event) = (&flow, &event);
            (headline, scope.spawn(move || flow.project.script(&[name], event.to_string().as_bytes())))
        });
        for (headline, run) in runs.collect::<Vec<_>>() {
            let reason = denied(&run.join().unwrap()).unwrap();
            assert!(reason.starts_with(&format!("[provost] {headline}: ")), "{reason}");
        }
    });
    // And each of them is one of the reasons of the whole.
    for (name, headline) in GUARDS {
        flow.project.file("provost.toml", &format!("[guards]\n{name} = \"off\"\n"));
        let reason = judged(&flow, &event).unwrap();
        let others = GUARDS.iter().filter(|(other, _)| *other != name);
        assert!(others.into_iter().all(|(_, headline)| reason.contains(headline)), "{reason}");
        assert!(!reason.contains(headline), "{reason}");
    }
}

/// 8.1: these guards only read. What they judge by stays as it was, byte by byte.
#[test]
fn guards_before_a_delegation_leave_the_state_alone() {
    let flow = flow(true, true);
    let before = fs::read(flow.state_file()).unwrap();
    for agent in ["software-developer", "integration-tester", "general-purpose"] {
        judged(&flow, &flow.delegating(agent, "go"));
    }
    assert_eq!(fs::read(flow.state_file()).unwrap(), before);
}

/// 8.5: a delegation to the wrong phase, and the way out that the reason names.
#[test]
fn a_wrong_delegation_passes_after_its_remedy() {
    let flow = flow(false, false);
    let event = flow.delegating("integration-tester", "go");
    assert!(judged(&flow, &event).unwrap().contains(ORDER));
    let mut state = begun("07-testing");
    state["phases"] =
        json!({"06-implementation": {"status": "completed"}, "07-testing": {"status": "pending"}});
    flow.state(&state);
    let reason = judged(&flow, &event).unwrap();
    assert!(reason.contains(PENDING) && !reason.contains(ORDER), "{reason}");
    state["phases"]["07-testing"]["status"] = json!("in_progress");
    flow.state(&state);
    assert_eq!(judged(&flow, &event), None);
}

#[test]
fn the_person_can_let_all_of_it_pass_once() {
    let flow = flow(true, true);
    let event = flow.delegating("integration-tester", "go");
    let session = event["session_id"].clone();
    for (name, headline) in GUARDS {
        assert!(judged(&flow, &event).unwrap().contains(headline));
        let mut prompt = flow.project.event("UserPromptSubmit");
        prompt["session_id"] = session.clone();
        prompt["prompt"] = format!("provost override {name} we know").into();
        let answer = flow.project.hook(&prompt);
        assert_eq!(answer.code, Some(0), "{answer:?}");
    }
    // The call that needs them uses them up.
    assert_eq!(judged(&flow, &event), None);
    let mut next = event;
    next["tool_use_id"] = json!("toolu_next");
    assert!(GUARDS.iter().all(|(_, headline)| judged(&flow, &next).unwrap().contains(headline)));
}

/// 8.3: both remarks on one answer, in the order of ADR-004.
#[test]
fn remarks_on_one_answer_are_all_told() {
    let flow = Flow::new();
    flow.state(&json!({"discovery_context": {}}));
    let mut event =
        flow.call("PostToolUse.Agent.completed", &json!({"subagent_type": "discover-orchestrator"}));
    event["tool_response"]["content"] = json!([{"type": "text", "text":
        "What would you like to do?\n1. New Project\n2. Existing Project\n3. Scoped Analysis"}]);
    let text = told(&flow.project.hook_with(&["--pack", "phases"], &event)).unwrap();
    let at = |part: &str| text.find(part).expect(part);
    assert!(at("[walkthrough-tracker] WARNING") < at("[discover-menu-guard] WARNING"), "{text}");
    assert!(text.contains("Missing options: Chat / Explore") && text.contains("removed options"), "{text}");
}

/// Nothing is kept of calls that are none of a guard's business.
#[test]
fn what_is_none_of_its_business_is_not_even_kept() {
    for (name, _) in GUARDS {
        let flow = flow(true, true);
        let is_kept = || flow.project.journal_text().contains(name);
        for event in [
            flow.call("PreToolUse.Bash", &json!({"command": "ls"})),
            flow.call("PreToolUse.Read", &json!({"file_path": "a"})),
            flow.delegating("general-purpose", "look"),
        ] {
            assert_eq!(denied(&flow.only(name).hook_with(&["--pack", "phases"], &event)), None, "{event}");
        }
        assert!(!is_kept(), "{}", flow.project.journal_text());
        let event = flow.delegating("integration-tester", "go");
        assert!(denied(&flow.only(name).hook_with(&["--pack", "phases"], &event)).is_some());
        assert!(is_kept());
    }
}

/// A workflow whose tests fail, and where everything else is wrong too.
fn in_corridor() -> Flow {
    let flow = flow(true, true);
    demands_of(&flow, &json!({"phase_requirements": {"06-implementation": tests_and_articles()}}));
    let mut state = flow.state_now();
    state["phases"]["06-implementation"]["iteration_requirements"] =
        json!({"test_iteration": {"completed": false, "last_test_result": "failed", "current_iteration": 2}});
    flow.state(&state);
    flow
}

/// 8.1: who has to mend tests is told that first.
#[test]
fn the_corridor_is_the_first_reason() {
    let flow = in_corridor();
    let reason = judged(&flow, &flow.delegating("integration-tester", "proceed to the next phase")).unwrap();
    let lines: Vec<&str> = reason.lines().collect();
    let first = "[provost] agent `integration-tester` denied: the tests of `06-implementation` fail";
    assert!(
        lines[0].starts_with(first) && lines[0].contains("ITERATION CORRIDOR: Tests are failing"),
        "{reason}"
    );
    assert!(lines[0].contains("To fix: fix them and run them again"), "{reason}");
    for ((name, headline), line) in GUARDS.iter().zip(&lines[1..]) {
        assert!(line.starts_with(&format!("[provost] also `{name}`: {headline}")), "{reason}");
    }
    let reason = judged(&flow, &flow.delegating("sdlc-orchestrator", "phase complete, advance")).unwrap();
    let at = |part: &str| reason.find(part).expect(part);
    assert!(at("ITERATION CORRIDOR") < at("`gate-blocker`: GATE BLOCKED"), "{reason}");
    assert!(at("GATE BLOCKED") < at("`constitution-validator`: PHASE COMPLETION BLOCKED"), "{reason}");
}

/// 8.1: both write to the state on one event, and neither loses what the other wrote.
#[test]
fn all_that_is_noted_before_a_call_is_written_at_once() {
    let flow = in_corridor();
    judged(&flow, &flow.delegating("sdlc-orchestrator", "phase complete, advance")).unwrap();
    let state = flow.state_now();
    let phase = &state["phases"]["06-implementation"];
    assert_eq!(phase["gate_validation"]["status"], "blocked");
    assert_eq!(phase["constitutional_validation"]["status"], "pending");
    assert_eq!(phase["iteration_requirements"]["test_iteration"]["current_iteration"], 2);
    let hooks: Vec<&Value> =
        state["pending_escalations"].as_array().unwrap().iter().map(|entry| &entry["hook"]).collect();
    assert_eq!(hooks.len(), 3, "{hooks:?}");
}

/// 8.1: with a manifest it has nothing to say, whatever the others say.
#[test]
fn skill_validator_never_conflicts() {
    for (pending, agent) in
        [(false, "software-developer"), (true, "software-developer"), (false, "qa-engineer")]
    {
        let flow = flow(pending, false);
        let mut state = flow.state_now();
        state["skill_enforcement"] = json!({"enabled": true, "fail_behavior": "block"});
        flow.state(&state);
        let before = fs::read(flow.state_file()).unwrap();
        let with = judged(&flow, &flow.delegating(agent, "go"));
        flow.project.file("provost.toml", "[guards]\nskill-validator = \"off\"\n");
        assert_eq!(judged(&flow, &flow.delegating(agent, "go")), with);
        assert_eq!(fs::read(flow.state_file()).unwrap(), before);
    }
}

/// 8.3: who worked, and what the person chose, is noted on one event and written once.
#[test]
fn the_log_and_the_menu_are_written_at_once() {
    let list = tempfile::NamedTempFile::new().unwrap();
    let mut flow = Flow::in_phase("01-requirements");
    flow.project = flow.project.set("PROVOST_READS", list.path());
    let mut event =
        flow.call("PostToolUse.Agent.completed", &json!({"subagent_type": "requirements-analyst"}));
    event["tool_response"]["content"] =
        json!([{"type": "text", "text": "[A] Adjust\n[C] Continue\nYour choice:"}]);
    let answer = flow.project.hook_with(&["--pack", "phases"], &event);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let state = flow.state_now();
    assert_eq!(state["skill_usage_log"][0]["agent"], "requirements-analyst");
    assert_eq!(state["skill_usage_log"].as_array().unwrap().len(), 1);
    let talks = &state["phases"]["01-requirements"]["iteration_requirements"]["interactive_elicitation"];
    assert_eq!(talks["menu_interactions"], 1);
    assert_eq!(state["active_workflow"], begun("01-requirements")["active_workflow"]);
    // Read by the guards, read under the lock, and read once more before the only write.
    let path = flow.state_file().display().to_string();
    let reads = fs::read_to_string(list.path()).unwrap();
    assert_eq!(reads.lines().filter(|line| *line == path).count(), 3, "{reads}");
}

/// 8.5: the client does not run what is denied, so nothing comes after it. What it tells instead is no
/// commit and no run of tests.
#[test]
fn after_a_denied_commit_there_is_nothing_to_do() {
    let flow = demanding("06-implementation", &tests_and_articles());
    let mut state = flow.state_now();
    state["code_review"] = json!({"enabled": false, "team_size": 3});
    flow.state(&state);
    for directory in ["objects", "refs/heads"] {
        fs::create_dir_all(flow.project.path.join(".git").join(directory)).unwrap();
    }
    flow.project.file(".git/HEAD", "ref: refs/heads/main\n");
    let before = fs::read(flow.state_file()).unwrap();
    let command = json!({"command": "npm test && git commit -m x"});
    let reason = judged(&flow, &flow.call("PreToolUse.Bash", &command)).unwrap();
    assert!(reason.starts_with("[provost] `npm test && git commit -m x` denied: "), "{reason}");
    assert!(reason.contains("COMMIT TO MAIN BLOCKED"), "{reason}");
    let mut failed = flow.call("PostToolUseFailure.Bash", &command);
    failed["error"] = json!(reason);
    let answer = flow.project.hook_with(&["--pack", "phases"], &failed);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{answer:?}");
    assert_eq!(fs::read(flow.state_file()).unwrap(), before);
}

/// 8.5: a state that is faked is remarked once it is written, and the gate holds nevertheless.
#[test]
fn a_faked_state_is_remarked_and_opens_no_gate() {
    let flow = demanding("06-implementation", &tests_and_articles());
    flow.tasks();
    let mut state = flow.state_now();
    state["phases"]["06-implementation"] = json!({
        "constitutional_validation": {"completed": true, "status": "compliant", "iterations_used": 0},
        "iteration_requirements": {"test_iteration": {"completed": true, "status": "success", "current_iteration": 0}},
    });
    flow.state(&state);
    let write = flow
        .call("PostToolUse.Write", &json!({"file_path": flow.state_file(), "content": state.to_string()}));
    let text = told(&flow.project.hook_with(&["--pack", "phases"], &write)).unwrap();
    assert!(
        text.contains("[state-write-validator] WARNING") && text.contains("iterations_used is 0"),
        "{text}"
    );
    let reason = judged(&flow, &flow.delegating("sdlc-orchestrator", "advance")).unwrap();
    assert!(reason.contains("GATE BLOCKED"), "{reason}");
    for why in [
        "test_iteration: the tests are marked as completed, but were never run",
        "constitutional_validation: the check is marked as completed, but was never made",
    ] {
        assert!(reason.contains(why), "{reason}");
    }
    // What was done and counted opens it.
    state["phases"]["06-implementation"]["constitutional_validation"]["iterations_used"] = json!(1);
    state["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]["current_iteration"] =
        json!(1);
    flow.state(&state);
    assert_eq!(judged(&flow, &flow.delegating("sdlc-orchestrator", "advance")), None);
}
