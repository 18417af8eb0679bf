//! What becomes of a call when something fails around a guard: every guard of the registry, with every fault.
//!
//! Each guard has a [scene](scenes), in which it acts. Each [fault](faults) is made around it, the real
//! process is run, and what came of it is held against what is [declared]. The page
//! `docs/reliability.md` shows the same: `PROVOST_BLESS=1 cargo test --test reliability` writes it.

#![cfg(all(target_os = "linux", debug_assertions))]

#[path = "../support/mod.rs"]
mod support;

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

use answers::Word;
use declared::{EXCEPTIONS, declared, exceptions, rule};
use faults::Fault;
use provost::registry::{GUARDS, Guard};
use stage::Stage;
use support::Answer;

/// How many processes are waited for at once: most of those that take long only sleep.
const AT_ONCE: usize = 8;
const MOST_CPU_SECONDS: f64 = 8.0;

#[test]
fn every_failure_around_a_guard_has_its_declared_answer() {
    // Before there are threads: a program that somebody has open for writing cannot be run.
    let _program = stage::Copied::new();
    let mut cells: Vec<(&Guard, Fault)> =
        GUARDS.iter().flat_map(|guard| Fault::ALL.map(|fault| (guard, fault))).collect();
    // Those that wait for a limit begin first.
    cells.sort_by_key(|(guard, fault)| (guard.deadline.is_none(), *fault != Fault::Deadline));
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
    assert_eq!(names.len(), GUARDS.len(), "a scene for a guard that there is no more: {names:?}");
}

#[test]
fn an_exception_is_one_and_there_is_no_second() {
    for exception in EXCEPTIONS {
        for (name, fault) in
            exception.guards.iter().flat_map(|name| exception.faults.iter().map(move |it| (name, *it)))
        {
            let guard = Guard::find(name).unwrap_or_else(|| panic!("the registry has no guard `{name}`"));
            assert_ne!(exception.word, rule(guard.failure, fault), "{name} with {fault:?} follows the rule");
            assert_eq!(exceptions(guard, fault).count(), 1, "{name} with {fault:?}");
        }
    }
}

/// Runs one cell and holds it against what is declared.
fn check(guard: &Guard, fault: Fault) -> Result<(), String> {
    let mut stage = scenes::of(guard.name)();
    assert_eq!(stage.guard.name, guard.name);
    let answer = fault.run(&mut stage);
    let word = Word::of(&stage, fault, &answer);
    let wanted = declared(guard, fault);
    let found = if word == wanted {
        flaw(&stage, fault, word, &answer)
    } else {
        Some(format!("`{word}`, but declared is `{wanted}`"))
    };
    let Some(why) = found else { return Ok(()) };
    let said = stage.project.journal().pop().map(|line| line["guards"].to_string()).unwrap_or_default();
    let shown = stage.project.shown(&format!("{answer:?}\n      journal: {said}"));
    Err(format!("  {} with {fault:?}: {why}\n      {shown}", guard.name))
}

/// What no answer may have, whatever it says.
fn flaw(stage: &Stage, fault: Fault, word: Word, answer: &Answer) -> Option<String> {
    let form = match (fault, word) {
        // Its text names the panic, and that is all that it may show of it.
        (Fault::Panic, Word::Denied) => {
            let is_ours = answer.stderr.lines().all(|line| line.starts_with("[provost] "));
            (!answer.stdout.is_empty() || !is_ours).then(|| "not in our own words".into())
        }
        (Fault::Terminated, _) => (!answer.stdout.is_empty()).then(|| "half an answer".into()),
        _ if !fault.is_read() => None,
        _ => answer.well_formed().err(),
    };
    let has_timed_out = || {
        let said = [&answer.stdout, &answer.stderr, &stage.project.journal_text()];
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
