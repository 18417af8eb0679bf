//! Running guards one by one, so that no failure of one reaches another.
//!
//! Every guard is asked even after a denial, because the reason should carry all of them at once.
//! Closed guards are asked before open ones, whatever their place in the registry: an open guard
//! that hangs must not keep a closed one from judging. What they said is put in order afterwards.
//! A panic is caught here and becomes the guard's declared failure; the time limit is kept by the
//! hook process ([`crate::hook`]), which can answer while a guard still hangs.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use crate::decision::{Fault, Finding};
use crate::event::Event;
use crate::faults;
use crate::registry::{FailureMode, Guard};
use crate::workspace::Workspace;

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Asks each guard and hands over what it said as soon as it has said it.
pub fn ask(
    guards: &[&'static Guard],
    event: &Event,
    workspace: &Workspace,
    mut asking: impl FnMut(&'static Guard),
    mut heard: impl FnMut(Finding),
) {
    let of_mode = |mode| guards.iter().filter(move |guard| guard.failure == mode);
    for &guard in of_mode(FailureMode::Closed).chain(of_mode(FailureMode::Open)) {
        asking(guard);
        let began = Instant::now();
        let outcome = caught(|| {
            faults::inject(guard.name)?;
            // What a guard before this one has missed is not its fault.
            workspace.take_missed();
            let opinion = (guard.judge)(event, workspace)?;
            match workspace.take_missed() {
                Some(fault) if opinion.says_nothing() => Err(fault),
                _ => Ok(opinion),
            }
        })
        .unwrap_or_else(|panic| Err(Fault::Panic(panic)));
        heard(Finding { guard, outcome, micros: micros(began.elapsed()) });
    }
}

/// Runs `work`; a panic comes back as its message and place.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| LAST_PANIC.take().unwrap_or_else(|| "panic".into()))
}

/// Keeps panics off the client's stderr: what is printed there could be read as an answer.
pub fn quiet_panics() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
        let text = panic.payload_as_str().unwrap_or("panic");
        LAST_PANIC.set(Some(format!("{text}{}", place.unwrap_or_default())));
    }));
}

pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Opinion;
    use crate::event::Kind;
    use crate::registry::GUARDS;

    fn misses_and_fails(_: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
        workspace.miss(Fault::Error("unreadable".into()));
        Err(Fault::Error("something else".into()))
    }

    fn misses(_: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
        workspace.miss(Fault::Error("unreadable".into()));
        Ok(Opinion::default())
    }

    #[test]
    fn what_a_guard_has_missed_is_its_own_fault_and_nobody_elses() {
        let root = tempfile::tempdir().unwrap();
        let judges = [misses_and_fails, |_: &Event, _: &Workspace| Ok(Opinion::default()), misses];
        let open = |judge| &*Box::leak(Box::new(Guard { failure: FailureMode::Open, judge, ..GUARDS[0] }));
        let guards: Vec<&'static Guard> = judges.map(open).to_vec();
        let event = Event::new(String::new(), Kind::Other, root.path().to_owned());
        let mut said = Vec::new();
        let workspace = Workspace::below(root.path());
        ask(
            &guards,
            &event,
            &workspace,
            |_| {},
            |finding| said.push(finding.outcome.map_err(|f| f.to_string())),
        );
        let said: Vec<_> = said.iter().map(|outcome| outcome.as_ref().err().map(String::as_str)).collect();
        assert_eq!(said, [Some("something else"), None, Some("unreadable")]);
    }
}
