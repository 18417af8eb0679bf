//! What happens to a call when something fails around a guard: every guard of the registry, with every fault.
//!
//! Each guard has a [scene](scenes) in which it acts. The test creates each [fault](faults) around it, runs the real
//! process and compares the outcome with the [declared] one. `PROVOST_BLESS=1 cargo test --test behaviour reliability::`
//! writes the same to `docs/reliability.md`.

mod answers;
mod declared;
mod denials;
mod faults;
mod page;
mod scenes;
mod shown;
mod stage;
mod switches;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::Answer;
use answers::Outcome;
use declared::{EXCEPTIONS, declared, exceptions, rule};
use faults::Fault;
use provost::registry::{GUARDS, Guard, TimeLimit, find_guard};
use stage::Stage;

/// How many processes run at once. Most of the long ones only sleep.
const AT_ONCE: usize = 8;
const MOST_CPU_SECONDS: f64 = 8.0;

#[test]
fn every_fault_around_a_guard_has_its_declared_outcome() {
    // Before there are threads: a program that is open for writing cannot be run.
    let _program = stage::Copied::new();
    let mut cells: Vec<(&Guard, Fault)> =
        GUARDS.iter().flat_map(|guard| Fault::ALL.map(|fault| (guard, fault))).collect();
    // Those that wait for a limit begin first.
    cells.sort_by_key(|(guard, fault)| {
        (matches!(guard.time_limit, TimeLimit::Shared), *fault != Fault::Deadline)
    });
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(&(guard, fault)) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = check(guard, fault) {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} cells:\n{}", wrong.len(), cells.len(), wrong.join("\n"));
}

#[test]
fn every_guard_has_one_scene_and_every_scene_a_guard() {
    let names: Vec<&str> = scenes::all().iter().map(|(name, _)| *name).collect();
    for guard in GUARDS {
        scenes::of(guard.name);
        assert_eq!(names.iter().filter(|name| **name == guard.name).count(), 1, "{}", guard.name);
    }
    assert_eq!(names.len(), GUARDS.len(), "a scene for a guard that does not exist any more: {names:?}");
}

#[test]
fn every_exception_differs_from_the_rule_and_is_declared_once() {
    for exception in EXCEPTIONS {
        for (name, fault) in
            exception.guards.iter().flat_map(|name| exception.faults.iter().map(move |it| (name, *it)))
        {
            let guard = find_guard(name).unwrap_or_else(|| panic!("the registry has no guard `{name}`"));
            assert_ne!(
                exception.word,
                rule(guard.failure_mode, fault),
                "{name} with {fault:?} follows the rule"
            );
            assert_eq!(exceptions(guard, fault).count(), 1, "{name} with {fault:?}");
        }
    }
}

/// Runs one cell and compares the outcome with the declared one.
fn check(guard: &Guard, fault: Fault) -> Result<(), String> {
    let mut stage = scenes::of(guard.name)();
    assert_eq!(stage.guard.name, guard.name);
    let answer = fault.run(&mut stage);
    let word = Outcome::classify(&stage, fault, &answer);
    let wanted = declared(guard, fault);
    let found = if word == wanted {
        flaw(&stage, fault, word, &answer)
    } else {
        Some(format!("`{word}`, but declared is `{wanted}`"))
    };
    let Some(why) = found else { return Ok(()) };
    let said = stage.project.read_journal().pop().map(|line| line["guards"].to_string()).unwrap_or_default();
    let shown = stage.project.shorten_paths(&format!("{answer:?}\n      journal: {said}"));
    Err(format!("  {} with {fault:?}: {why}\n      {shown}", guard.name))
}

/// A flaw that no answer may have.
fn flaw(stage: &Stage, fault: Fault, word: Outcome, answer: &Answer) -> Option<String> {
    let form = match (fault, word) {
        // Its text names the panic, and that is all that it may show of it.
        (Fault::Panic, Outcome::Denied) => {
            let is_ours = answer.stderr.lines().all(|line| line.starts_with("[provost] "));
            (!answer.stdout.is_empty() || !is_ours).then(|| "not in our own words".into())
        }
        (Fault::Terminated, _) => (!answer.stdout.is_empty()).then(|| "half an answer".into()),
        _ if !fault.is_read() => None,
        _ => answer.check_form().err(),
    };
    let has_timed_out = || {
        let said = [&answer.stdout, &answer.stderr, &stage.project.read_journal_text()];
        said.iter().any(|text| text.contains("no answer within"))
    };
    let litter = stage.litter();
    if form.is_some() {
        form
    } else if answer.stderr.contains("panicked") || answer.stderr.contains("RUST_BACKTRACE") {
        Some("a panic is shown".into())
    } else if fault != Fault::Deadline && has_timed_out() {
        Some("the deadline answered instead of the guard".into())
    } else if answer.cpu_seconds > MOST_CPU_SECONDS {
        Some(format!("{:.1} s of CPU time, and {MOST_CPU_SECONDS} are enough", answer.cpu_seconds))
    } else if litter.is_empty() {
        None
    } else {
        Some(format!("left behind: {litter:?}"))
    }
}
