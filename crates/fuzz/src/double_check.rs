//! Checks one input twice: both runs must keep the target's promise, give the same answers, and end in time.
//!
//! The time is the processor time of this thread, which a busy machine does not lengthen.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use cpu_time::cpu_time;

use crate::targets::Target;

/// The factor by which a debug build, or code with libFuzzer's counters, may be slower.
const SLOWNESS: u32 = match (cfg!(debug_assertions), cfg!(feature = "guided")) {
    (true, _) => 20,
    (false, true) => 5,
    (false, false) => 1,
};
/// The number of input bytes to which a target's time limit applies.
const PIECE: usize = 100_000;

/// A digest of the answers to one input, for the comparison of two runs.
#[derive(Default)]
pub struct AnswerDigest(DefaultHasher);

impl AnswerDigest {
    pub fn add(&mut self, answer: impl Hash) {
        answer.hash(&mut self.0);
    }

    /// Adds an answer that has no hash, by its debug text.
    pub fn add_debug(&mut self, answer: &dyn std::fmt::Debug) {
        format!("{answer:?}").hash(&mut self.0);
    }
}

/// Checks one input twice. The error describes what is wrong; the caller handles panics.
pub fn check_twice(target: &Target, input: &[u8]) -> Result<(), String> {
    let (first, took) = check_once(target, input)?;
    let (second, again) = check_once(target, input)?;
    if first != second {
        return Err("two answers to one input".into());
    }
    let pieces = u32::try_from(1 + input.len() / PIECE).unwrap_or(u32::MAX);
    let allowed = target.patience * SLOWNESS * pieces;
    // The first run may include some set-up.
    let took = took.min(again);
    if took > allowed {
        return Err(format!("{} ms instead of {}", took.as_millis(), allowed.as_millis()));
    }
    Ok(())
}

fn check_once(target: &Target, input: &[u8]) -> Result<(u64, Duration), String> {
    let mut digest = AnswerDigest::default();
    let (checked, time) = cpu_time(|| (target.check)(input, &mut digest));
    checked?;
    Ok((digest.0.finish(), time))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::targets;

    fn check_with(check: fn(&[u8], &mut AnswerDigest) -> Result<(), String>) -> Result<(), String> {
        let target = Target { check, patience: Duration::from_millis(1), ..targets::ALL[0] };
        check_twice(&target, b"x")
    }

    #[test]
    fn broken_changing_and_slow_answers_are_found() {
        assert_eq!(check_with(|_, _| Ok(())), Ok(()));
        assert_eq!(check_with(|_, _| Err("broken".into())), Err("broken".into()));
        let changing = |_: &[u8], digest: &mut AnswerDigest| {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            digest.add(NUMBER.fetch_add(1, Ordering::Relaxed));
            Ok(())
        };
        assert!(check_with(changing).unwrap_err().contains("two answers"));
        let slow = |_: &[u8], _: &mut AnswerDigest| {
            let mut spent = Duration::ZERO;
            while cfg!(unix) && spent < Duration::from_millis(1) * SLOWNESS * 2 {
                spent += cpu_time(|| std::hint::black_box((0..1000).sum::<u64>())).1;
            }
            Ok(())
        };
        assert!(cfg!(not(unix)) || check_with(slow).unwrap_err().contains("instead of"));
    }
}
