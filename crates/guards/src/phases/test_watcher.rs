//! `test-watcher`: records the results of tests, and counts the tries.
//!
//! A pass ends the tries; a failure after it begins to count again. If the same error repeats too often, or
//! there were too many tries, the user decides. A run whose result is not known is not recorded.

use super::phase_records::{append_to_field, set_field};
use super::prelude::*;
use super::requirements::{TEST_COUNTER, TEST_RECORD, TestRequirement, list_articles};
use super::state::find_value;
use super::test_result::TestResult;
use provost_core::text::{make_one_line, truncate_utf16};

const MOST_RESULTS: usize = 50;
const LONGEST_COMMAND: usize = 200;

/// What a result means for the tries.
#[derive(Debug, PartialEq, Eq)]
enum TestStep {
    Passed,
    Failed {
        remaining: u64,
    },
    /// One error repeated too often.
    SameError {
        times: u64,
    },
    NoTriesLeft,
    /// The user has been asked already.
    StillGivenUp,
}

pub fn judge(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let Tool::Shell { command } = &event.call()?.tool else { return None };
    let context = WorkflowContext::find(event, workspace)?;
    let result = TestResult::from_event(event)?;
    let phase = CurrentPhase::find(context, workspace)?;
    let workflow = phase.state.workflow()?;
    let demands = phase.demands()?;
    let demand = demands.tests?;
    let progress = phase.progress();
    // The user may have set limits. A record that has begun has its own.
    let set = phase.state.read_value(&["iteration_config"]).unwrap_or_default();
    let tries = set["testing_max"].as_u64().filter(|tries| *tries > 0 && !set["configured_at"].is_null());
    let same_errors = set["circuit_breaker_threshold"].as_u64().filter(|times| *times > 0);
    let begun = progress.tests.and_then(|tests| tests.max_tries);
    let limits = TestRequirement {
        tries: begun.or(tries).unwrap_or(demand.tries),
        same_errors: same_errors.unwrap_or(demand.same_errors),
    };
    let command = truncate_utf16(&make_one_line(command), LONGEST_COMMAND).into_owned();
    let now = workspace.format_now();
    let known = phase
        .state
        .find_phase_record(&phase.name)
        .and_then(|(_, phase)| find_value(phase, TEST_RECORD)?.as_object());
    let (iteration, step) =
        add_result(&mut known.cloned().unwrap_or_default(), &result, limits, &command, &now);
    let (mut to_model, to_person) = step.describe(&phase.name, &result, iteration, limits.tries);
    let evidence = vec![to_model.lines().next().unwrap_or_default().to_owned()];
    if result == TestResult::Passed {
        let is_checked = progress.constitution.is_some_and(|checks| checks.is_enough());
        if let Some(demand) = demands.constitution.filter(|_| !is_checked) {
            let articles = list_articles(&demand.articles);
            to_model +=
                &format!("\nNext: check the artifacts of {} against Articles {articles}.", phase.name);
        }
        if workflow.atdd_mode {
            to_model += "\nATDD: a test that is skipped is not passed. None may be skipped at the gate.";
        }
    }
    phase.change_record(TEST_RECORD, move |record| {
        add_result(record, &result, limits, &command, &now);
    });
    Some(Opinion { to_model: Some(to_model), to_user: to_person, evidence, ..Opinion::default() })
}

/// Adds a result to the record of the tries. Returns the number of the try, and what the result means.
fn add_result(
    record: &mut Map<String, Value>,
    result: &TestResult,
    limits: TestRequirement,
    command: &str,
    now: &str,
) -> (u64, TestStep) {
    let number = |name: &str| record.get(name).and_then(Value::as_u64).unwrap_or(0);
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let was_given_up = text("status") == Some("escalated");
    let was_passed = record.get("completed") == Some(&Value::Bool(true)) && !was_given_up;
    let iteration = if was_passed { 1 } else { number(TEST_COUNTER) + 1 };
    let failures = number("failures_count");
    let last_error = text("last_error").filter(|_| text("last_test_result") == Some("failed") && !was_passed);
    let times = match result {
        TestResult::Failed { error } if last_error == Some(error) => {
            number("identical_failure_count").max(1) + 1
        }
        _ => 1,
    };
    set_field(record, "required", true);
    if !record.contains_key("started_at") {
        set_field(record, "started_at", now);
    }
    set_field(record, TEST_COUNTER, iteration);
    set_field(record, "max_iterations", limits.tries);
    set_field(record, "last_test_at", now);
    let TestResult::Failed { error } = result else {
        set_field(record, "completed", true);
        set_field(record, "status", "success");
        set_field(record, "last_test_result", "passed");
        set_field(record, "identical_failure_count", 0);
        set_field(record, "completed_at", now);
        let entry = json!({"iteration": iteration, "result": "PASSED", "command": command, "timestamp": now});
        append_to_field(record, "history", entry, MOST_RESULTS);
        return (iteration, TestStep::Passed);
    };
    set_field(record, "last_test_result", "failed");
    set_field(record, "last_error", error.as_str());
    set_field(record, "failures_count", failures + 1);
    set_field(record, "identical_failure_count", times);
    let entry = json!({"iteration": iteration, "result": "FAILED", "error": error, "command": command,
        "timestamp": now});
    append_to_field(record, "history", entry, MOST_RESULTS);
    if was_given_up {
        return (iteration, TestStep::StillGivenUp);
    }
    let (given_up, step) = if times >= limits.same_errors {
        (Some("circuit_breaker"), TestStep::SameError { times })
    } else if iteration >= limits.tries {
        (Some("max_iterations"), TestStep::NoTriesLeft)
    } else {
        (None, TestStep::Failed { remaining: limits.tries - iteration })
    };
    // For the workflow's agents, "completed" means here: no more tries, and the user has to approve that.
    set_field(record, "completed", given_up.is_some());
    set_field(record, "status", if given_up.is_some() { "escalated" } else { "in_progress" });
    if let Some(reason) = given_up {
        set_field(record, "escalation_reason", reason);
        set_field(record, "escalated_at", now);
        // An earlier approval was about something else.
        record.shift_remove("escalation_approved");
    }
    (iteration, step)
}

impl TestStep {
    /// What the model reads, and what the user reads if they have to decide.
    fn describe(
        &self,
        phase: &str,
        result: &TestResult,
        iteration: u64,
        tries: u64,
    ) -> (String, Option<String>) {
        let TestResult::Failed { error } = result else {
            return (format!("TESTS PASSED in {phase} (iteration {iteration}/{tries})."), None);
        };
        let (cause, is_new) = match self {
            Self::SameError { times } => {
                (format!("CIRCUIT BREAKER: the same error came {times} times: {error}"), true)
            }
            Self::NoTriesLeft => (format!("MAX ITERATIONS: no tries are left: {error}"), true),
            _ => (format!("Error: {error}"), false),
        };
        let remaining = match self {
            Self::Failed { remaining } => remaining.to_string(),
            _ => "0. The user has to decide how to go on.".to_owned(),
        };
        let failure = format!("TESTS FAILED (iteration {iteration}/{tries})\n{cause}");
        let to_person = is_new.then(|| {
            format!("{failure}\nWith `escalation_approved` in the state of {phase} the workflow goes on nevertheless.")
        });
        (format!("{failure}\nRemaining iterations: {remaining}"), to_person)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: TestRequirement = TestRequirement { tries: 4, same_errors: 3 };

    fn fail_with(error: &str) -> TestResult {
        TestResult::Failed { error: error.into() }
    }

    fn add_results(record: &mut Map<String, Value>, results: &[TestResult]) -> Vec<(u64, TestStep)> {
        results.iter().map(|result| add_result(record, result, LIMITS, "npm test", "t")).collect()
    }

    #[test]
    fn the_same_error_three_times_needs_the_user() {
        let mut record = Map::new();
        let found = add_results(
            &mut record,
            &[fail_with("a"), fail_with("b"), fail_with("b"), fail_with("b"), fail_with("b")],
        );
        assert_eq!(found[3], (4, TestStep::SameError { times: 3 }));
        assert_eq!(found[4], (5, TestStep::StillGivenUp));
        assert_eq!(
            (&record["status"], &record["escalation_reason"]),
            (&json!("escalated"), &json!("circuit_breaker"))
        );
        assert_eq!((&record["failures_count"], &record["identical_failure_count"]), (&json!(5), &json!(4)));
    }

    #[test]
    fn an_old_approval_does_not_cover_a_new_escalation() {
        let mut record = Map::new();
        record.insert("escalation_approved".into(), json!(true));
        add_results(&mut record, &[fail_with("b"), fail_with("b"), fail_with("b")]);
        assert_eq!((record.get("escalation_approved"), &record["status"]), (None, &json!("escalated")));
    }

    #[test]
    fn no_more_tries_than_allowed() {
        let mut record = Map::new();
        let found =
            add_results(&mut record, &[fail_with("a"), fail_with("b"), fail_with("c"), fail_with("d")]);
        assert_eq!(found[2], (3, TestStep::Failed { remaining: 1 }));
        assert_eq!(found[3], (4, TestStep::NoTriesLeft));
        assert_eq!(record["escalation_reason"], "max_iterations");
    }

    #[test]
    fn a_pass_ends_the_tries_and_a_failure_after_it_begins_new_ones() {
        let mut record = Map::new();
        let found = add_results(&mut record, &[fail_with("a"), TestResult::Passed, fail_with("a")]);
        assert_eq!(found[1], (2, TestStep::Passed));
        assert_eq!(found[2], (1, TestStep::Failed { remaining: 3 }));
        assert_eq!((&record["completed"], &record["status"]), (&json!(false), &json!("in_progress")));
        assert_eq!(record["history"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn records_of_wrong_types_stay() {
        let odd =
            json!({"current_iteration": "x", "history": {}, "completed": "no", "status": 5, "mine": [1]});
        let mut record = odd.as_object().unwrap().clone();
        assert_eq!(
            add_result(&mut record, &fail_with("a"), LIMITS, "npm test", "t"),
            (1, TestStep::Failed { remaining: 3 })
        );
        for (name, value) in odd.as_object().unwrap() {
            assert_eq!(&record[name], value, "{name}");
        }
    }
}
