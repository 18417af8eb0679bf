//! Asks guards one by one, so that no failure of one reaches another.
//!
//! Every guard is asked even after a denial, because the reason should name all of them at once. A panic becomes the
//! guard's declared failure here. The time limit belongs to the hook process, which can answer while a guard still
//! hangs.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use crate::decision::{Finding, Judge};
use crate::event::Event;
use crate::guard::{FailureMode, Guard};
use crate::opinion::{Fault, RuleOpinion};
use crate::workspace::Workspace;
use provost_files::faults;

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The indexes of the guards in the order in which to ask them: closed guards first, because an open guard that hangs
/// must not keep a closed one from judging.
pub fn asking_order(guards: &[&'static Guard]) -> impl Iterator<Item = usize> {
    let with_mode = move |mode| (0..guards.len()).filter(move |index| guards[*index].failure_mode == mode);
    with_mode(FailureMode::Closed).chain(with_mode(FailureMode::Open))
}

/// Asks one guard. The opinion of each rule is a finding of its own.
pub fn ask_guard(guard: &'static Guard, event: &Event, workspace: &Workspace) -> Vec<Finding> {
    let began = Instant::now();
    let outcome = catch_panic(|| {
        faults::inject_fault(guard.name).map_err(Fault::Error)?;
        // What an earlier guard could not read is not this guard's fault.
        workspace.take_unreadable();
        workspace.take_disk_use();
        let mut opinion = (guard.judge)(event, workspace)?;
        opinion.disk_use = workspace.take_disk_use();
        match workspace.take_unreadable() {
            Some(fault) if opinion.is_silent() => Err(fault),
            _ => Ok(opinion),
        }
    })
    .unwrap_or_else(|panic| Err(Fault::Panic(panic)));
    let mut finding = Finding::for_guard(guard, outcome, to_micros(began.elapsed()));
    finding.is_watched = workspace.config.is_guard_watched(guard.name, guard.pack);
    split_by_rule(finding)
}

fn split_by_rule(mut finding: Finding) -> Vec<Finding> {
    let rules =
        finding.outcome.as_mut().map(|opinion| std::mem::take(&mut opinion.by_rule)).unwrap_or_default();
    if rules.is_empty() {
        return vec![finding];
    }
    let of_rule = |rule: RuleOpinion| Finding {
        judge: Judge { guard: finding.judge.guard, rule: Some(rule.name) },
        is_watched: finding.is_watched || rule.is_watched,
        outcome: Ok(rule.opinion),
        micros: finding.micros,
    };
    rules.into_iter().map(of_rule).collect()
}

/// Asks all guards, and returns their findings in the order of `guards`.
pub fn ask_guards(guards: &[&'static Guard], event: &Event, workspace: &Workspace) -> Vec<Finding> {
    let asked = asking_order(guards).map(|index| (index, ask_guard(guards[index], event, workspace)));
    let mut findings: Vec<(usize, Vec<Finding>)> = asked.collect();
    findings.sort_unstable_by_key(|(index, _)| *index);
    findings.into_iter().flat_map(|(_, findings)| findings).collect()
}

/// Runs `work`. Returns a panic as its message and its place in the code.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| LAST_PANIC.take().unwrap_or_else(|| "panic".into()))
}

/// Keeps panics off standard error, where the client could read them as an answer.
pub fn silence_panics() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
        let text = panic.payload_as_str().unwrap_or("panic");
        LAST_PANIC.set(Some(format!("{text}{}", place.unwrap_or_default())));
    }));
}

pub fn to_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;
    use crate::guard::TimeLimit;
    use crate::opinion::Opinion;

    fn misses_and_fails(_: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
        workspace.report_unreadable(Fault::Error("unreadable".into()));
        Err(Fault::Error("something else".into()))
    }

    fn misses(_: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
        workspace.report_unreadable(Fault::Error("unreadable".into()));
        Ok(Opinion::default())
    }

    #[test]
    fn a_file_that_a_guard_cannot_read_is_the_fault_of_that_guard_alone() {
        let root = tempfile::tempdir().unwrap();
        let judges = [misses_and_fails, |_: &Event, _: &Workspace| Ok(Opinion::default()), misses];
        let open = |judge| {
            &*Box::leak(Box::new(Guard {
                name: "made-up",
                pack: "self",
                purpose: "",
                triggers: &[],
                agents_setting: None,
                failure_mode: FailureMode::Open,
                can_block: false,
                is_overridable: false,
                time_limit: TimeLimit::Shared,
                unjudged_in_past: None,
                way_out: "",
                judge,
            }))
        };
        let guards: Vec<&'static Guard> = judges.map(open).to_vec();
        let event = Event::new(String::new(), EventKind::Other, root.path().to_owned());
        let workspace = Workspace::for_tests(root.path());
        let findings = ask_guards(&guards, &event, &workspace);
        let faults = findings.into_iter().map(|finding| finding.outcome.err().map(|fault| fault.to_string()));
        assert_eq!(
            faults.collect::<Vec<_>>(),
            [Some("something else".to_owned()), None, Some("unreadable".to_owned())]
        );
    }
}
