//! One input, tried twice: no panic, two equal answers, in time, and what the target promises.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use crate::clocks;
use crate::targets::Target;

/// Code that counts where it goes, or is built for debugging, is that much slower.
const SLOWNESS: u32 = match (cfg!(debug_assertions), cfg!(feature = "guided")) {
    (true, _) => 20,
    (false, true) => 5,
    (false, false) => 1,
};
/// A piece of input for which a target's patience holds.
const PIECE: usize = 100_000;

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What was seen, as a number: two answers are the same if their numbers are.
#[derive(Default)]
pub struct Seen(DefaultHasher);

impl Seen {
    pub fn add(&mut self, answer: impl Hash) {
        answer.hash(&mut self.0);
    }

    /// The same for what can only be shown.
    pub fn add_shown(&mut self, answer: &dyn std::fmt::Debug) {
        format!("{answer:?}").hash(&mut self.0);
    }
}

/// What is wrong with the answers to an input.
pub fn of(target: &Target, input: &[u8]) -> Result<(), String> {
    let (first, took) = once(target, input)?;
    let (second, again) = once(target, input)?;
    if first != second {
        return Err("two answers to one input".into());
    }
    let pieces = u32::try_from(1 + input.len() / PIECE).unwrap_or(u32::MAX);
    let allowed = target.patience * SLOWNESS * pieces;
    // What is done for the first time may have to be set up.
    let took = took.min(again);
    if took > allowed {
        return Err(format!("{} ms instead of {}", took.as_millis(), allowed.as_millis()));
    }
    Ok(())
}

fn once(target: &Target, input: &[u8]) -> Result<(u64, Duration), String> {
    let began = clocks::of_thread();
    let mut seen = Seen::default();
    let checked = panic::catch_unwind(AssertUnwindSafe(|| (target.check)(input, &mut seen)));
    let took = clocks::of_thread().saturating_sub(began);
    checked.map_err(|_| format!("a panic: {}", LAST_PANIC.take()))??;
    Ok((seen.0.finish(), took))
}

/// Keeps the text of a panic instead of printing it: what is found is told once, with its input.
pub fn quiet_panics() {
    panic::set_hook(Box::new(|panic| LAST_PANIC.set(panic.to_string())));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::targets;

    fn tried(check: fn(&[u8], &mut Seen) -> Result<(), String>) -> Result<(), String> {
        let target = Target { check, patience: Duration::from_millis(1), ..targets::ALL[0] };
        of(&target, b"x")
    }

    /// A fuzzer that finds nothing may be one that cannot.
    #[test]
    fn what_goes_wrong_is_found() {
        quiet_panics();
        assert_eq!(tried(|_, _| Ok(())), Ok(()));
        assert_eq!(tried(|_, _| Err("broken".into())), Err("broken".into()));
        assert!(tried(|input, _| panic!("at {}", input.len())).unwrap_err().contains("at 1"));
        let changing = |_: &[u8], seen: &mut Seen| {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            seen.add(NUMBER.fetch_add(1, Ordering::Relaxed));
            Ok(())
        };
        assert!(tried(changing).unwrap_err().contains("two answers"));
        let slow = |_: &[u8], _: &mut Seen| {
            let began = clocks::of_thread();
            while clocks::of_thread().saturating_sub(began) < Duration::from_millis(1) * SLOWNESS * 2 {}
            Ok(())
        };
        assert!(tried(slow).unwrap_err().contains("instead of"));
    }
}
