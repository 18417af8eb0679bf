//! Trying inputs until the time is over.
//!
//! A second thread watches: an input that never ends is printed and ends the process, because nothing else
//! could. Memory is looked at after a tenth of the time and at the end; what has grown by then grows for ever.

use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::clocks;
use crate::mutation::Mutator;
use crate::targets::Target;
use crate::trial;

/// No input takes longer, on any machine, however busy it is.
const HANG: Duration = Duration::from_secs(100);
/// A debug build is given more.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 6 } else { 1 };
/// Memory may grow by so much after the first tenth: allocators keep what one large input has needed.
const MOST_GROWTH: u64 = 96 << 20;

/// What a run was.
pub struct Tally {
    pub inputs: u64,
    pub processor: Duration,
}

/// Tries inputs for so much processor time; an error is the first finding.
pub fn random(target: &'static Target, time: Duration, seed: u64) -> Result<Tally, String> {
    let mut mutator = Mutator::new(target, seed);
    let watched = Watched::start(target);
    let mut memory = Memory::default();
    let began = clocks::of_thread();
    let mut inputs = 0;
    loop {
        let processor = clocks::of_thread().saturating_sub(began);
        if processor >= time {
            memory.check()?;
            return Ok(Tally { inputs, processor });
        }
        if processor * 10 >= time {
            memory.note();
        }
        let input = mutator.next_input();
        watched.begin(&input);
        let tried = trial::of(target, &input);
        watched.end();
        tried
            .map_err(|finding| told(target, &input, &format!("{finding}, input {inputs} of seed {seed}")))?;
        inputs += 1;
    }
}

/// The memory of this process at a tenth of a run, and what became of it.
#[derive(Default)]
pub struct Memory(Option<u64>);

impl Memory {
    /// Looks, the first time that it is told to.
    pub fn note(&mut self) {
        if self.0.is_none() {
            self.0 = clocks::memory();
        }
    }

    pub fn check(&self) -> Result<(), String> {
        let (Some(before), Some(after)) = (self.0, clocks::memory()) else { return Ok(()) };
        if after > before + MOST_GROWTH {
            return Err(format!("memory grew from {} to {} MiB", before >> 20, after >> 20));
        }
        Ok(())
    }
}

/// The finding with its input, which is kept in a file.
fn told(target: &Target, input: &[u8], finding: &str) -> String {
    let file = kept(target);
    let kept = match std::fs::write(&file, input) {
        Ok(()) => file.display().to_string(),
        Err(error) => format!("no file ({error})"),
    };
    let start = String::from_utf8_lossy(&input[..input.len().min(400)]).into_owned();
    format!("{}: {finding}, {} bytes in {kept}: {start:?}", target.name, input.len())
}

fn kept(target: &Target) -> PathBuf {
    std::env::temp_dir().join(format!("fuzz-{}-{}", target.name, process::id()))
}

/// The input that is being tried, and since when.
type Current = Option<(Instant, Vec<u8>)>;

struct Watched(Arc<Mutex<Current>>);

impl Watched {
    fn start(target: &'static Target) -> Self {
        let current: Arc<Mutex<Current>> = Arc::default();
        let watched = Arc::downgrade(&current);
        thread::spawn(move || {
            // It ends with the run.
            while let Some(current) = watched.upgrade() {
                let current = current.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((began, input)) = &*current
                    && began.elapsed() > HANG * SLOWNESS
                {
                    eprintln!("fuzz: {}", told(target, input, "no answer"));
                    process::exit(1);
                }
                drop(current);
                thread::sleep(Duration::from_millis(500));
            }
        });
        Self(current)
    }

    fn begin(&self, input: &[u8]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), input.to_vec()));
    }

    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_grows_is_a_finding() {
        let mut memory = Memory::default();
        memory.note();
        memory.check().unwrap();
        // Every page is touched, and nothing is given back before the second look.
        let held = vec![1_u8; usize::try_from(MOST_GROWTH).unwrap() + (16 << 20)];
        let checked = memory.check();
        assert!(checked.is_err() || clocks::memory().is_none(), "{checked:?}");
        drop(held);
    }
}
