//! The same targets, led by which code an input reaches.
//!
//! libFuzzer keeps every input that reaches something new and goes on from there, half of the time by our own
//! mutations. `FUZZ_TARGET` names the target, `FUZZ_SECONDS` how much processor time it may use; then the row for
//! the table is printed and the run ends. `scripts/fuzz` builds and starts it.

#![no_main]

use std::cell::RefCell;
use std::time::Duration;

use fuzz::mutation::Mutator;
use fuzz::run::{Memory, Tally};
use fuzz::targets::{self, Target};
use fuzz::{clocks, report, trial};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use rustix::process::{Signal, getpid, kill_process};

struct Session {
    target: &'static Target,
    mutator: Mutator,
    time: Duration,
    inputs: u64,
    memory: Memory,
    is_over: bool,
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::new());
}

impl Session {
    fn new() -> Self {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let target = targets::find(&variable("FUZZ_TARGET")).expect("FUZZ_TARGET names a target");
        let seconds = variable("FUZZ_SECONDS").parse().unwrap_or(u64::MAX);
        Self {
            target,
            mutator: Mutator::new(target, 1),
            time: Duration::from_secs(seconds),
            inputs: 0,
            memory: Memory::default(),
            is_over: false,
        }
    }

    fn tried(&mut self, input: &[u8]) -> Result<(), String> {
        trial::of(self.target, input)?;
        self.inputs += 1;
        let processor = clocks::of_process();
        // What is learned in the first half stays in memory: it is the corpus.
        if processor * 2 >= self.time {
            self.memory.note();
        }
        if processor >= self.time && !self.is_over {
            self.is_over = true;
            self.memory.check()?;
            println!("{}", report::row(self.target, Some(&Tally { inputs: self.inputs, processor })));
            // The fuzzer ends when it is asked to, and not when it is left.
            let _ = kill_process(getpid(), Signal::USR1);
        }
        Ok(())
    }
}

fuzz_target!(|input: &[u8]| {
    let tried = SESSION.with_borrow_mut(|session| session.tried(input));
    if let Err(finding) = tried {
        panic!("{finding}");
    }
});

fuzz_mutator!(|bytes: &mut [u8], length: usize, longest: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(bytes, length, longest);
    }
    let mut changed = SESSION.with_borrow_mut(|session| session.mutator.step(&bytes[..length], seed.into()));
    changed.truncate(longest);
    bytes[..changed.len()].copy_from_slice(&changed);
    changed.len()
});
