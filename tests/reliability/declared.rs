//! What is declared for each guard and fault: a rule for each fault, and the exceptions with their reasons.

use provost::registry::{FailureMode, Guard};

use crate::answers::Word;
use crate::faults::Fault;

/// An answer that is not the one of the fault's rule.
pub struct Exception {
    pub guards: &'static [&'static str],
    pub faults: &'static [Fault],
    pub word: Word,
    pub reason: &'static str,
}

/// What is kept in the state of a workflow is noted by these, and written by the last one.
const RECORDS: &[&str] =
    &["log-skill-usage", "menu-tracker", "skill-delegation-enforcer", "test-watcher", "phase-records"];

/// These only say something, or hand something over: all that they do is in the answer.
const SPEAKERS: &[&str] = &[
    "config-check",
    "plan-brief",
    "state-write-validator",
    "walkthrough-tracker",
    "discover-menu-guard",
    "review-reminder",
];

pub const EXCEPTIONS: &[Exception] = &[
    Exception {
        guards: &["planner-bash-guard", "override", "discover-menu-guard"],
        faults: &[Fault::Unreadable],
        word: Word::Acts,
        reason: "they judge the event alone",
    },
    Exception {
        guards: &["override", "discover-menu-guard"],
        faults: &[Fault::Vanished],
        word: Word::Acts,
        reason: "they judge the event alone",
    },
    Exception {
        guards: &["config-check"],
        faults: &[Fault::Unreadable],
        word: Word::Acts,
        reason: "that provost.toml cannot be read is the mistake that it tells",
    },
    Exception {
        guards: &["plan-brief"],
        faults: &[Fault::Unreadable, Fault::Vanished, Fault::NoHome],
        word: Word::Told,
        reason: "the model is told that no plan of its session is known",
    },
    Exception {
        guards: &["plan-keeper", "plan-witness", "plan-output-validator"],
        faults: &[Fault::Vanished],
        word: Word::GoesOn,
        reason: "the plan was there when it was looked for, and the journal says that it is gone",
    },
    Exception {
        guards: RECORDS,
        faults: &[Fault::ProjectReadOnly, Fault::LockHeld],
        word: Word::GoesOn,
        reason: "the state of the workflow is not written, and the record in the journal says why",
    },
    Exception {
        guards: RECORDS,
        faults: &[Fault::StateReadOnly, Fault::DiskFull, Fault::NoHome],
        word: Word::Told,
        reason: "the state is written only under a lock of Provost's own directory, which cannot be had; the \
                 journal lies there too",
    },
    Exception {
        guards: &["plan-keeper", "plan-witness"],
        faults: &[Fault::ProjectReadOnly, Fault::LockHeld],
        word: Word::GoesOn,
        reason: "the plan is not written; the gate then finds it unassessed",
    },
    Exception {
        guards: &["plan-keeper", "plan-witness"],
        faults: &[Fault::StateReadOnly, Fault::DiskFull],
        word: Word::Told,
        reason: "the plan is not written, and the journal cannot be; the gate then finds it unassessed",
    },
    Exception {
        guards: &["plan-witness"],
        faults: &[Fault::NoHome],
        word: Word::Told,
        reason: "there is no key to seal with, and no journal",
    },
    Exception {
        guards: &["plan-keeper"],
        faults: &[Fault::NoHome],
        word: Word::Silent,
        reason: "without a home there is no directory of plans, and no file is a plan",
    },
    Exception {
        guards: &["plan-gate"],
        faults: &[Fault::KeyEmpty, Fault::KeyForeign, Fault::KeyOpen],
        word: Word::Denied,
        reason: "no seal can be checked with such a key, so no plan leaves",
    },
    Exception {
        guards: &["plan-keeper", "plan-brief", "plan-witness"],
        faults: &[Fault::KeyEmpty, Fault::KeyForeign, Fault::KeyOpen],
        word: Word::GoesOn,
        reason: "nothing is sealed or believed with such a key; the gate then lets no plan leave",
    },
    Exception {
        guards: &["override"],
        faults: &[Fault::StateReadOnly, Fault::DiskFull, Fault::NoHome],
        word: Word::Told,
        reason: "the person is told that the permission could not be recorded",
    },
    Exception {
        guards: &["review-loop"],
        faults: &[
            Fault::ProjectReadOnly,
            Fault::StateReadOnly,
            Fault::DiskFull,
            Fault::NoHome,
            Fault::ReviewerHangs,
        ],
        word: Word::Told,
        reason: "no review is no verdict: the turn ends, the person is told why, and the next stop tries again",
    },
    Exception {
        guards: &["review-loop"],
        faults: &[Fault::LockHeld],
        word: Word::GoesOn,
        reason: "another process makes the review that is due",
    },
    Exception {
        guards: SPEAKERS,
        faults: &[Fault::StdoutClosed, Fault::StdoutUnread, Fault::StdoutFull],
        word: Word::Unheard,
        reason: "they hold nothing back, so there is no exit code to say it with",
    },
    Exception {
        guards: &["delegation-gate"],
        faults: &[Fault::ClockBackwards],
        word: Word::Silent,
        reason: "a mark counts for an hour; one of tomorrow could hold turns until then",
    },
];

/// What follows from the kind of fault and the guard's failure mode.
pub fn rule(failure: FailureMode, fault: Fault) -> Word {
    match (fault, failure) {
        (Fault::Panic | Fault::Error | Fault::Deadline, FailureMode::Closed) => Word::Denied,
        (Fault::Panic | Fault::Error | Fault::Deadline, FailureMode::Open) => Word::GoesOn,
        (Fault::Terminated, FailureMode::Closed) => Word::Denied,
        (Fault::Terminated, FailureMode::Open) => Word::Ends,
        (Fault::Unreadable, FailureMode::Closed) => Word::Denied,
        (Fault::Unreadable, FailureMode::Open) => Word::GoesOn,
        // What is gone might as well never have been there.
        (Fault::Vanished, FailureMode::Open) => Word::Silent,
        _ => Word::Acts,
    }
}

pub fn exceptions(guard: &Guard, fault: Fault) -> impl Iterator<Item = &'static Exception> {
    let name = guard.name;
    EXCEPTIONS.iter().filter(move |it| it.faults.contains(&fault) && it.guards.contains(&name))
}

pub fn declared(guard: &Guard, fault: Fault) -> Word {
    exceptions(guard, fault).next().map_or_else(|| rule(guard.failure, fault), |it| it.word)
}
