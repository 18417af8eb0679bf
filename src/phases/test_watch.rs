//! `test-watcher`: the results of tests are kept, with the number of tries.
//!
//! A pass ends the tries; a failure after it begins new ones. The same error too often, or too many
//! tries, are a person's matter. What cannot be told is not kept: nobody failed.

use serde_json::{Map, Value, json};

use super::ground::Ground;
use super::requirements::{self, Demands, Progress, TESTS, put, put_behind};
use super::test_run::Ending;
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Tool};
use crate::text::{bounded, one_line};
use crate::workspace::Workspace;

const HISTORY: usize = 50;
/// So much of a command line is kept.
const COMMAND: usize = 200;

/// What was run, and when.
struct Run {
    command: String,
    now: String,
}

/// When trying is over.
#[derive(Debug, Clone, Copy)]
struct Limits {
    tries: u64,
    same_errors: u64,
}

/// Where a result leads to.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Passed {
        iteration: u64,
    },
    Failed {
        iteration: u64,
        remaining: u64,
    },
    /// Trying again does not help.
    SameError {
        iteration: u64,
        times: u64,
    },
    NoTriesLeft {
        iteration: u64,
    },
    /// A person has to decide already.
    StillGivenUp {
        iteration: u64,
    },
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    Ok(noted(event, workspace).unwrap_or_else(Opinion::unconcerned))
}

fn noted(event: &Event, workspace: &Workspace) -> Option<Opinion> {
    let Tool::Shell { command } = &event.call()?.tool else { return None };
    let ground = Ground::of(event, workspace)?;
    let ending = Ending::of(event)?;
    let state = ground.state(workspace)?;
    let workflow = state.workflow()?;
    if requirements::are_off(state) {
        return None;
    }
    let phase = state.current_phase()?;
    let demands = Demands::of(&phase, state, ground, workspace)?;
    let demand = demands.tests?;
    // The user may have set the limits; a record that has begun keeps its own.
    let set = state.value(&["iteration_config"]).unwrap_or_default();
    let tries = set["testing_max"].as_u64().filter(|tries| *tries > 0 && !set["configured_at"].is_null());
    let same_errors = set["circuit_breaker_threshold"].as_u64().filter(|times| *times > 0);
    let progress = Progress::of(&phase, state);
    let begun = progress.tests.as_ref().and_then(|tests| tests.tries);
    let limits = Limits {
        tries: begun.or(tries).unwrap_or(demand.tries),
        same_errors: same_errors.unwrap_or(demand.same_errors),
    };
    let run = Run { command: bounded(&one_line(command), COMMAND).into_owned(), now: workspace.now() };
    let record = state.phase(&phase).and_then(|(_, phase)| {
        TESTS.iter().try_fold(phase, |value, name| value.get(name))?.as_object().cloned()
    });
    let step = next(&mut record.unwrap_or_default(), &ending, limits, &run);
    let mut opinion = step.opinion(&phase, &ending, limits);
    if ending == Ending::Passed
        && let Some(text) = &mut opinion.to_model
    {
        let checks = progress.constitution;
        if let Some(demand) =
            demands.constitution.filter(|_| !checks.is_some_and(|checks| checks.is_enough()))
        {
            let articles = requirements::articles(&demand.articles);
            *text += &format!("\nNext: check the artifacts of {phase} against Articles {articles}.");
        }
        if workflow.atdd_mode {
            *text += "\nATDD: a test that is skipped is not passed. None may be skipped at the gate.";
        }
    }
    ground.notes.add(move |state| {
        requirements::change(state, &phase, TESTS, |record| {
            next(record, &ending, limits, &run);
        });
    });
    Some(opinion)
}

/// Puts a result into the record of the tries.
fn next(record: &mut Map<String, Value>, ending: &Ending, limits: Limits, run: &Run) -> Step {
    let Run { command, now } = run;
    let number =
        |record: &Map<String, Value>, name: &str| record.get(name).and_then(Value::as_u64).unwrap_or(0);
    let says = |record: &Map<String, Value>, name: &str, word: &str| {
        record.get(name).and_then(Value::as_str) == Some(word)
    };
    let was_given_up = says(record, "status", "escalated");
    let was_passed = record.get("completed") == Some(&Value::Bool(true)) && !was_given_up;
    let tries = if was_passed { 0 } else { number(record, "current_iteration") };
    let iteration = tries + 1;
    put(record, "required", json!(true));
    if !record.contains_key("started_at") {
        put(record, "started_at", json!(now));
    }
    put(record, "current_iteration", json!(iteration));
    put(record, "max_iterations", json!(limits.tries));
    put(record, "last_test_at", json!(now));
    let Ending::Failed { error } = ending else {
        put(record, "completed", json!(true));
        put(record, "status", json!("success"));
        put(record, "last_test_result", json!("passed"));
        put(record, "identical_failure_count", json!(0));
        put(record, "completed_at", json!(now));
        let entry = json!({"iteration": iteration, "result": "PASSED", "command": command, "timestamp": now});
        put_behind(record, "history", entry, HISTORY);
        return Step::Passed { iteration };
    };
    let is_same =
        !was_passed && says(record, "last_test_result", "failed") && says(record, "last_error", error);
    let times = if is_same { number(record, "identical_failure_count").max(1) + 1 } else { 1 };
    let failures = number(record, "failures_count") + 1;
    put(record, "last_test_result", json!("failed"));
    put(record, "last_error", json!(error));
    put(record, "failures_count", json!(failures));
    put(record, "identical_failure_count", json!(times));
    let entry = json!({"iteration": iteration, "result": "FAILED", "error": error, "command": command,
        "timestamp": now});
    put_behind(record, "history", entry, HISTORY);
    if was_given_up {
        return Step::StillGivenUp { iteration };
    }
    let (given_up, step) = if times >= limits.same_errors {
        (Some("circuit_breaker"), Step::SameError { iteration, times })
    } else if iteration >= limits.tries {
        (Some("max_iterations"), Step::NoTriesLeft { iteration })
    } else {
        (None, Step::Failed { iteration, remaining: limits.tries - iteration })
    };
    // As the workflow's agents know it: there are no more tries, and a person has to approve that.
    put(record, "completed", json!(given_up.is_some()));
    put(record, "status", json!(if given_up.is_some() { "escalated" } else { "in_progress" }));
    if let Some(reason) = given_up {
        put(record, "escalation_reason", json!(reason));
        put(record, "escalated_at", json!(now));
        // What a person approved was another matter.
        record.shift_remove("escalation_approved");
    }
    step
}

impl Step {
    fn opinion(&self, phase: &str, ending: &Ending, limits: Limits) -> Opinion {
        let error = match ending {
            Ending::Failed { error } => error.as_str(),
            Ending::Passed => "",
        };
        let tries = limits.tries;
        let (to_model, to_person) = match self {
            Self::Passed { iteration } => {
                (format!("TESTS PASSED in {phase} (iteration {iteration}/{tries})."), None)
            }
            Self::Failed { iteration, remaining } => (
                format!(
                    "TESTS FAILED (iteration {iteration}/{tries})\nError: {error}\nRemaining iterations: {remaining}"
                ),
                None,
            ),
            Self::SameError { iteration, times } => {
                let what = format!(
                    "TESTS FAILED (iteration {iteration}/{tries})\nCIRCUIT BREAKER: the same error came {times} \
                     times: {error}"
                );
                (what.clone() + "\nRemaining iterations: 0. The user has to decide how to go on.", Some(what))
            }
            Self::NoTriesLeft { iteration } => {
                let what = format!(
                    "TESTS FAILED (iteration {iteration}/{tries})\nMAX ITERATIONS: no tries are left: {error}"
                );
                (what.clone() + "\nRemaining iterations: 0. The user has to decide how to go on.", Some(what))
            }
            Self::StillGivenUp { iteration } => (
                format!(
                    "TESTS FAILED (iteration {iteration}/{tries})\nError: {error}\nRemaining iterations: 0. The user \
                     has to decide how to go on."
                ),
                None,
            ),
        };
        let to_person = to_person.map(|text| {
            format!("{text}\nWith `escalation_approved` in the state of {phase} the workflow goes on nevertheless.")
        });
        let evidence = vec![to_model.lines().next().unwrap_or_default().to_owned()];
        Opinion { to_model: Some(to_model), to_person, evidence, ..Opinion::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { tries: 4, same_errors: 3 };

    fn run() -> Run {
        Run { command: "npm test".into(), now: "t".into() }
    }

    fn failed(error: &str) -> Ending {
        Ending::Failed { error: error.into() }
    }

    fn steps(record: &mut Map<String, Value>, endings: &[Ending]) -> Vec<Step> {
        endings.iter().map(|ending| next(record, ending, LIMITS, &run())).collect()
    }

    #[test]
    fn the_same_error_three_times_is_a_persons_matter() {
        let mut record = Map::new();
        let found = steps(&mut record, &[failed("a"), failed("b"), failed("b"), failed("b"), failed("b")]);
        assert_eq!(found[3], Step::SameError { iteration: 4, times: 3 });
        assert_eq!(found[4], Step::StillGivenUp { iteration: 5 });
        assert_eq!(
            (&record["status"], &record["escalation_reason"]),
            (&json!("escalated"), &json!("circuit_breaker"))
        );
        assert_eq!((&record["failures_count"], &record["identical_failure_count"]), (&json!(5), &json!(4)));
    }

    #[test]
    fn an_old_approval_does_not_cover_a_new_matter() {
        let mut record = Map::new();
        record.insert("escalation_approved".into(), json!(true));
        steps(&mut record, &[failed("b"), failed("b"), failed("b")]);
        assert_eq!((record.get("escalation_approved"), &record["status"]), (None, &json!("escalated")));
    }

    #[test]
    fn no_more_tries_than_allowed() {
        let mut record = Map::new();
        let found = steps(&mut record, &[failed("a"), failed("b"), failed("c"), failed("d")]);
        assert_eq!(found[2], Step::Failed { iteration: 3, remaining: 1 });
        assert_eq!(found[3], Step::NoTriesLeft { iteration: 4 });
        assert_eq!(record["escalation_reason"], "max_iterations");
    }

    #[test]
    fn a_pass_ends_the_tries_and_a_failure_after_it_begins_new_ones() {
        let mut record = Map::new();
        let found = steps(&mut record, &[failed("a"), Ending::Passed, failed("a")]);
        assert_eq!(found[1], Step::Passed { iteration: 2 });
        assert_eq!(found[2], Step::Failed { iteration: 1, remaining: 3 });
        assert_eq!((&record["completed"], &record["status"]), (&json!(false), &json!("in_progress")));
        assert_eq!(record["history"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn records_of_wrong_types_stay() {
        let odd =
            json!({"current_iteration": "x", "history": {}, "completed": "no", "status": 5, "mine": [1]});
        let mut record = odd.as_object().unwrap().clone();
        assert_eq!(
            next(&mut record, &failed("a"), LIMITS, &run()),
            Step::Failed { iteration: 1, remaining: 3 }
        );
        for (name, value) in odd.as_object().unwrap() {
            assert_eq!(&record[name], value, "{name}");
        }
    }
}
