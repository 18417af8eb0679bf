//! What is declared for each guard and fault: a rule for each fault, and the exceptions with their reasons.

use provost::registry::{FailureMode, Guard};

use crate::answers::Word;
use crate::faults::Fault;

/// An answer that is not the one of the fault's rule.
pub struct Exception {
    pub faults: &'static [Fault],
    pub guards: &'static [&'static str],
    pub word: Word,
    pub reason: &'static str,
}

pub const EXCEPTIONS: &[Exception] = &[];

/// What follows from the kind of fault and the guard's failure mode.
pub fn rule(guard: &Guard, fault: Fault) -> Word {
    match (fault, guard.failure) {
        (Fault::Panic | Fault::Error | Fault::Deadline | Fault::Terminated, FailureMode::Closed) => {
            Word::Denied
        }
        (Fault::Panic | Fault::Error | Fault::Deadline, FailureMode::Open) => Word::GoesOn,
        (Fault::Terminated, FailureMode::Open) => Word::Ends,
        _ => Word::Acts,
    }
}

pub fn exception(guard: &Guard, fault: Fault) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|it| it.faults.contains(&fault) && it.guards.contains(&guard.name))
}

pub fn declared(guard: &Guard, fault: Fault) -> Word {
    exception(guard, fault).map_or_else(|| rule(guard, fault), |it| it.word)
}
