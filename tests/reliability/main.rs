//! What becomes of a call when something fails around a guard: every guard of the registry, with every fault.
//!
//! Each guard has a [scene](scenes), in which it acts. Each [fault](faults) is made around it, the real
//! process is run, and what came of it is held against what is [declared]. The page
//! `docs/reliability.md` shows the same table: `PROVOST_BLESS=1 cargo test --test reliability` writes it.

#![cfg(all(unix, debug_assertions))]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod declared;
mod faults;
mod scenes;
mod stage;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use answers::Word;
use declared::declared;
use faults::Fault;
use provost::registry::{GUARDS, Guard};

/// How many processes are waited for at once: most of those that take long only sleep.
const AT_ONCE: usize = 8;

#[test]
fn every_failure_around_a_guard_has_its_declared_answer() {
    stage::program();
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

/// Runs one cell and holds it against what is declared.
fn check(guard: &Guard, fault: Fault) -> Result<(), String> {
    let mut stage = scenes::of(guard.name)();
    let answer = fault.run(&mut stage);
    let word = Word::of(&stage, fault, &answer);
    let wrong = |why: String| {
        let journal =
            stage.project.journal().pop().map(|line| line["guards"].to_string()).unwrap_or_default();
        let shown = stage.project.shown(&format!("{answer:?}\n      journal {journal}"));
        Err(format!("  {} with {fault:?}: {why}\n      {shown}", guard.name))
    };
    let wanted = declared(guard, fault);
    if word != wanted {
        return wrong(format!("`{word}`, but declared is `{wanted}`"));
    }
    if fault != Fault::Panic
        && word != Word::Ends
        && fault.is_read()
        && !answer.stderr.is_empty() | (answer.code == Some(0))
        && let Err(why) = answer.well_formed()
    {
        return wrong(why);
    }
    if answer.stderr.contains("panicked") || answer.stderr.contains("RUST_BACKTRACE") {
        return wrong("a panic is shown".into());
    }
    let litter = stage.litter();
    if !litter.is_empty() {
        return wrong(format!("left behind: {litter:?}"));
    }
    Ok(())
}
