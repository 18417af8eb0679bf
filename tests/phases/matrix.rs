//! Section 8: what guards of the same event do to each other. All guards of the pack are on.
//!
//! The client runs hooks side by side, so there is no first one that stops the others: every reason
//! that holds is told, the first in the order of ADR-004 in full.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use super::{Flow, begun, denied, told};

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
                    line.starts_with(&format!("[provost] {headline}: ")) && line.contains("To fix: "),
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
        "[provost] PHASE DELEGATION WITHOUT PROGRESS TRACKING: this call hands work to `07-testing` while the \
         workflow is in `06-implementation`, whose status is `pending`. To fix: mark the phase as in_progress \
         (`phases.06-implementation.status`) in <project>/.isdlc/state.json before delegating.\n\
         [provost] also `phase-sequence-guard`: OUT-OF-ORDER PHASE DELEGATION: this call hands work to `07-testing` \
         (integration-tester), and the workflow is in `06-implementation`, which ends at GATE-06.\n\
         [provost] The person, and nobody else, can let it pass once with a prompt: `provost override \
         phase-loop-controller REASON` and `provost override phase-sequence-guard REASON`."
    );
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
            assert!(reason.starts_with(&format!("[provost] {headline}")), "{reason}");
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
            flow.project.event("PreToolUse.Agent.in_subagent"),
        ] {
            assert_eq!(denied(&flow.only(name).hook_with(&["--pack", "phases"], &event)), None, "{event}");
        }
        assert!(!is_kept(), "{}", flow.project.journal_text());
        let event = flow.delegating("integration-tester", "go");
        assert!(denied(&flow.only(name).hook_with(&["--pack", "phases"], &event)).is_some());
        assert!(is_kept());
    }
}
