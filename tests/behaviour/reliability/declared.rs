//! The expected outcome for each guard and fault: a rule for each fault, and the exceptions with their reasons.

use provost::registry::{FailureMode, Guard};

use super::answers::Outcome;
use super::faults::Fault;

/// An outcome that differs from the rule of the fault.
pub struct Exception {
    pub guards: &'static [&'static str],
    pub faults: &'static [Fault],
    pub word: Outcome,
    pub reason: &'static str,
}

/// These guards collect what belongs into the state of a workflow, and the last one writes it.
const RECORDS: &[&str] =
    &["log-skill-usage", "menu-tracker", "skill-delegation-enforcer", "test-watcher", "phase-records"];

/// These guards only answer and write nothing.
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
        guards: &["planner-bash-guard", "override", "rules", "discover-menu-guard"],
        faults: &[Fault::Unreadable],
        word: Outcome::Acts,
        reason: "they judge the event alone",
    },
    Exception {
        guards: &["workflow-finish"],
        faults: &[Fault::Unreadable],
        word: Outcome::Acts,
        reason: "tasks that cannot be read are not done",
    },
    Exception {
        guards: &["override", "discover-menu-guard"],
        faults: &[Fault::Vanished],
        word: Outcome::Acts,
        reason: "they judge the event alone",
    },
    Exception {
        guards: &["config-check"],
        faults: &[Fault::Unreadable],
        word: Outcome::Acts,
        reason: "a provost.toml that cannot be read is a mistake that it reports",
    },
    Exception {
        guards: &["plan-brief"],
        faults: &[Fault::Unreadable, Fault::Vanished, Fault::NoHome],
        word: Outcome::Warned,
        reason: "the model reads that no plan of its session is known",
    },
    Exception {
        guards: &["plan-keeper", "plan-witness", "plan-output-validator"],
        faults: &[Fault::Vanished],
        word: Outcome::Allowed,
        reason: "the plan existed when the guard looked for it, and the journal says that it is gone",
    },
    Exception {
        guards: RECORDS,
        faults: &[Fault::ProjectReadOnly, Fault::LockHeld],
        word: Outcome::Allowed,
        reason: "the state of the workflow is not written, and the record in the journal says why",
    },
    Exception {
        guards: RECORDS,
        faults: &[Fault::StateReadOnly, Fault::DiskFull, Fault::NoHome],
        word: Outcome::Warned,
        reason: "writing the state needs a lock in Provost's state directory, which is not available; the journal is \
                 there too",
    },
    Exception {
        guards: &["plan-keeper", "plan-witness"],
        faults: &[Fault::ProjectReadOnly, Fault::LockHeld],
        word: Outcome::Allowed,
        reason: "the plan is not written; the gate then finds it unassessed",
    },
    Exception {
        guards: &["plan-keeper", "plan-witness"],
        faults: &[Fault::StateReadOnly, Fault::DiskFull],
        word: Outcome::Warned,
        reason: "the plan is not written, and the journal cannot be; the gate then finds it unassessed",
    },
    Exception {
        guards: &["plan-witness"],
        faults: &[Fault::NoHome],
        word: Outcome::Warned,
        reason: "there is no key to seal with, and no journal",
    },
    Exception {
        guards: &["plan-keeper"],
        faults: &[Fault::NoHome],
        word: Outcome::Silent,
        reason: "without a home there is no directory of plans, and no file is a plan",
    },
    Exception {
        guards: &["plan-gate"],
        faults: &[Fault::KeyEmpty, Fault::KeyForeign, Fault::KeyOpen],
        word: Outcome::Denied,
        reason: "no seal can be checked with this key, so no plan leaves plan mode",
    },
    Exception {
        guards: &["plan-keeper", "plan-brief", "plan-witness"],
        faults: &[Fault::KeyEmpty, Fault::KeyForeign, Fault::KeyOpen],
        word: Outcome::Allowed,
        reason: "nothing can be sealed or checked with this key; the gate then lets no plan leave plan mode",
    },
    Exception {
        guards: &["override"],
        faults: &[Fault::StateReadOnly, Fault::DiskFull, Fault::NoHome],
        word: Outcome::Warned,
        reason: "the user reads that the override could not be recorded",
    },
    Exception {
        guards: &["workflow-gate"],
        faults: &[Fault::Unreadable],
        word: Outcome::Acts,
        reason: "a text that cannot be read is not approved, and the denial says which one it is",
    },
    Exception {
        guards: &["workflow-approval"],
        faults: &[
            Fault::Unreadable,
            Fault::Vanished,
            Fault::StateReadOnly,
            Fault::DiskFull,
            Fault::LockHeld,
            Fault::NoHome,
            Fault::KeyEmpty,
            Fault::KeyForeign,
            Fault::KeyOpen,
        ],
        word: Outcome::Warned,
        reason: "the user reads why nothing was approved, and work goes on waiting",
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
        word: Outcome::Warned,
        reason: "without a review there is no verdict: the turn ends, the user reads why, and the next stop tries again",
    },
    Exception {
        guards: &["review-loop"],
        faults: &[Fault::LockHeld],
        word: Outcome::Allowed,
        reason: "another process runs the review that is due",
    },
    Exception {
        guards: SPEAKERS,
        faults: &[Fault::StdoutClosed, Fault::StdoutUnread, Fault::StdoutFull],
        word: Outcome::Unseen,
        reason: "they deny nothing, so no exit code carries their answer",
    },
    Exception {
        guards: &["delegation-gate"],
        faults: &[Fault::ClockBackwards],
        word: Outcome::Silent,
        reason: "a mark is valid for an hour; a mark with a future time could block turns until then",
    },
];

/// The outcome by the kind of fault and the guard's failure mode.
pub fn rule(failure: FailureMode, fault: Fault) -> Outcome {
    match (fault, failure) {
        (Fault::Panic | Fault::Error | Fault::Deadline, FailureMode::Closed) => Outcome::Denied,
        (Fault::Panic | Fault::Error | Fault::Deadline, FailureMode::Open) => Outcome::Allowed,
        (Fault::Terminated, FailureMode::Closed) => Outcome::Denied,
        (Fault::Terminated, FailureMode::Open) => Outcome::Ends,
        (Fault::Unreadable, FailureMode::Closed) => Outcome::Denied,
        (Fault::Unreadable, FailureMode::Open) => Outcome::Allowed,
        // A file that is gone is like one that never existed.
        (Fault::Vanished, FailureMode::Open) => Outcome::Silent,
        _ => Outcome::Acts,
    }
}

pub fn exceptions(guard: &Guard, fault: Fault) -> impl Iterator<Item = &'static Exception> {
    let name = guard.name;
    EXCEPTIONS.iter().filter(move |it| it.faults.contains(&fault) && it.guards.contains(&name))
}

pub fn declared(guard: &Guard, fault: Fault) -> Outcome {
    exceptions(guard, fault).next().map_or_else(|| rule(guard.failure_mode, fault), |it| it.word)
}
