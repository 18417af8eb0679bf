//! Each regression, and a similar change that is right.

use serde_json::json;

use super::*;

fn state(value: &Value) -> WorkflowState {
    WorkflowState::parse(value.to_string().as_bytes()).unwrap()
}

fn now() -> Value {
    json!({
        "active_workflow": {"type": "feature", "started_at": "2026-01-01", "current_phase": "06-implementation",
            "current_phase_index": 2, "phases": ["01-requirements", "05-test-strategy", "06-implementation", "07-testing"]},
        "phases": {
            "01-requirements": {"status": "completed", "constitutional_validation": {"completed": true, "iterations_used": 2},
                "iteration_requirements": {"interactive_elicitation": {"completed": true, "menu_interactions": 3}}},
            "06-implementation": {"status": "in_progress", "iteration_requirements":
                {"test_iteration": {"completed": false, "current_iteration": 4, "history": [1, 2, 3]}}},
        },
        "skill_usage_log": [{"agent": "a"}, {"agent": "b"}],
        "pending_escalations": [{"type": "x"}],
    })
}

/// What is wrong with this change of the usual state.
fn changed(change: impl Fn(&mut Value)) -> Vec<String> {
    let mut after = now();
    change(&mut after);
    find_objections(Some(&state(&now())), Some(&state(&after))).into_iter().map(|found| found.what).collect()
}

fn refused(wanted: &str, change: impl Fn(&mut Value)) {
    let found = changed(change);
    assert!(found.len() == 1 && found[0].contains(wanted), "{wanted}: {found:?}");
}

fn passes(change: impl Fn(&mut Value)) {
    assert_eq!(changed(change), [""; 0]);
}

#[test]
fn a_completed_phase_stays_completed() {
    for status in [json!("in_progress"), json!("pending"), json!(null), json!(true)] {
        refused("status of 01-requirements would go back", |after| {
            after["phases"]["01-requirements"]["status"] = status.clone();
        });
    }
    refused("to none", |after| {
        after["phases"]["01-requirements"].as_object_mut().unwrap().remove("status");
    });
    assert!(changed(|after| after["phases"] = json!({})).len() > 3);
    passes(|after| after["phases"]["06-implementation"]["status"] = json!("completed"));
    passes(|after| after["phases"]["06-implementation"]["status"] = json!("pending"));
    passes(|after| after["phases"]["07-testing"] = json!({"status": "in_progress"}));
}

#[test]
fn a_phase_may_change_to_another_of_its_names() {
    passes(|after| {
        let phase = after["phases"].as_object_mut().unwrap().remove("06-implementation").unwrap();
        after["phases"]["05-implementation"] = phase;
    });
}

#[test]
fn a_workflow_only_moves_forward() {
    refused("current_phase would go back from 06-implementation to 05-test-strategy", |after| {
        after["active_workflow"]["current_phase"] = json!("05-test-strategy");
    });
    refused("to none", |after| after["active_workflow"]["current_phase"] = json!(null));
    refused("current_phase_index would go back from 2 to 1", |after| {
        after["active_workflow"]["current_phase_index"] = json!(1);
    });
    refused("current_phase_index would go back from 2 to none", |after| {
        after["active_workflow"]["current_phase_index"] = json!("2");
    });
    passes(|after| {
        after["active_workflow"]["current_phase"] = json!("07-testing");
        after["active_workflow"]["current_phase_index"] = json!(3);
    });
    passes(|after| after["active_workflow"]["current_phase"] = json!("05-implementation"));
    passes(|after| after["active_workflow"]["current_phase"] = json!("99-of-tomorrow"));
}

#[test]
fn removed_phases_change_the_numbers_of_others() {
    passes(|after| {
        after["active_workflow"]["phases"] = json!(["01-requirements", "06-implementation", "07-testing"]);
        after["active_workflow"]["current_phase_index"] = json!(1);
    });
    refused("current_phase_index", |after| {
        after["active_workflow"]["phases"] = json!(["01-requirements", "06-implementation", "07-testing"]);
        after["active_workflow"]["current_phase_index"] = json!(0);
    });
}

#[test]
fn counters_count_up() {
    refused("constitutional_validation.iterations_used would go back from 2 to 1", |after| {
        after["phases"]["01-requirements"]["constitutional_validation"]["iterations_used"] = json!(1);
    });
    refused("interactive_elicitation.menu_interactions would go back from 3 to 1", |after| {
        after["phases"]["01-requirements"]["iteration_requirements"]["interactive_elicitation"]["menu_interactions"] =
            json!(1);
    });
    for count in [json!(3), json!(0), json!(null), json!("x")] {
        refused("test_iteration.current_iteration would go back from 4", |after| {
            after["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]["current_iteration"] =
                count.clone();
        });
    }
    passes(|after| {
        after["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]["current_iteration"] =
            json!(5);
    });
}

#[test]
fn logs_get_longer() {
    refused("skill_usage_log would lose entries (2 now, 1 then)", |after| {
        after["skill_usage_log"] = json!([{"agent": "b"}]);
    });
    refused("skill_usage_log would lose entries (2 now, 0 then)", |after| {
        after["skill_usage_log"] = json!("none");
    });
    refused("in 06-implementation, test_iteration.history would lose entries", |after| {
        after["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]["history"] =
            json!([1, 2]);
    });
    passes(|after| after["skill_usage_log"].as_array_mut().unwrap().push(json!({"agent": "c"})));
    passes(|after| after["pending_escalations"] = json!([]));
}

#[test]
fn a_long_log_may_drop_its_oldest_entries() {
    let lost = |was: std::ops::Range<u32>, is: &[u32]| {
        let [was, is] = [was.collect::<Vec<_>>(), is.to_vec()].map(|log| log.into_iter().map(Value::from));
        find_log_loss("log", &was.collect::<Vec<_>>(), &is.collect::<Vec<_>>()).is_some()
    };
    let numbers = |range: std::ops::Range<u32>| range.collect::<Vec<_>>();
    assert!(!lost(0..30, &numbers(10..30)), "the last twenty");
    assert!(!lost(0..30, &numbers(8..30)));
    assert!(!lost(0..30, &numbers(11..31)), "and a new one");
    assert!(lost(0..30, &numbers(11..30)), "nineteen are too few");
    assert!(lost(0..30, &numbers(0..20)), "the newest are gone");
    assert!(lost(0..30, &numbers(40..60)), "other entries");
    assert!(!lost(0..3, &numbers(0..4)) && !lost(0..0, &[]));
}

#[test]
fn a_workflow_may_end_and_another_may_begin() {
    let clear = |after: &mut Value| {
        after["phases"] = json!({});
        after["skill_usage_log"] = json!([]);
        after["pending_escalations"] = json!([]);
    };
    for workflow in [
        json!(null),
        json!({"type": "fix", "current_phase": "01-requirements"}),
        json!({"type": "feature", "started_at": "2026-02-02", "current_phase": "01-requirements"}),
    ] {
        passes(|after| {
            clear(after);
            after["active_workflow"] = workflow.clone();
        });
    }
    passes(|after| {
        clear(after);
        after.as_object_mut().unwrap().remove("active_workflow");
    });
    // A workflow that only leaves out its start is the same one.
    assert!(
        !changed(|after| {
            clear(after);
            after["active_workflow"] = json!({"type": "feature", "current_phase": "01-requirements"});
        })
        .is_empty()
    );
    let none = state(&json!({"phases": {"01-requirements": {"status": "completed"}}}));
    assert!(
        find_objections(Some(&none), Some(&state(&json!({"active_workflow": {"type": "feature"}}))))
            .is_empty()
    );
}

#[test]
fn only_a_new_fake_counts() {
    let fake = json!({"completed": true, "iterations_used": 0});
    refused("constitutional_validation is completed, but iterations_used is 0 (07-testing)", |after| {
        after["phases"]["07-testing"] = json!({"constitutional_validation": fake});
    });
    let mut old = now();
    old["phases"]["07-testing"] = json!({"constitutional_validation": fake});
    let mut new = old.clone();
    new["note"] = json!("x");
    new["phases"]["07-testing"]["constitutional_validation"]["iterations_used"] = json!(null);
    assert!(find_objections(Some(&state(&old)), Some(&state(&new))).is_empty());
    assert_eq!(find_objections(None, Some(&state(&old))).len(), 1);
    new["active_workflow"] = json!(null);
    new["phases"]["06-implementation"]["constitutional_validation"] = fake;
    assert_eq!(
        find_objections(Some(&state(&old)), Some(&state(&new))).len(),
        1,
        "also where a workflow ends"
    );
}

#[test]
fn a_state_is_not_destroyed() {
    assert_eq!(find_objections(Some(&state(&now())), None).len(), 1);
    assert!(find_objections(None, None).is_empty(), "there is none to destroy");
    assert!(find_objections(None, Some(&state(&now()))).is_empty(), "it is made, or made whole again");
}
