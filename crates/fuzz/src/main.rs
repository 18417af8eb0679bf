//! `fuzz shell`: whatever it is given, the shell analysis answers, soon, and the same twice.
//!
//! Inputs are the labelled commands of `tests/commands`, cut up, spliced, repeated and nested by a
//! generator with a fixed seed. It needs no special compiler, so it runs wherever the tests run; the
//! last input is kept in a file, so that a crash that ends the process leaves it behind.
//!
//! | exit | meaning |
//! |------|---------|
//! | 0    | nothing was found |
//! | 1    | an input broke a promise; it is printed and lies in the file |
//! | 64   | the command line makes no sense |

#[path = "../../../tests/commands/table.rs"]
mod table;

mod mutation;

use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mutation::Mutator;
use provost::shell;

/// What an answer may take for each 100 KB, and for any input at least.
const PATIENCE: Duration = Duration::from_millis(50);
/// A build for debugging is that much slower.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 20 } else { 1 };
/// More effects than this for each byte would be a line that blows up.
const EFFECTS_PER_BYTE: usize = 64;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((seconds, seed)) = options(&arguments) else {
        eprintln!("Usage: cargo run --release -p fuzz -- shell [--seconds N] [--seed N]");
        return ExitCode::from(64);
    };
    match fuzz(Duration::from_secs(seconds), seed) {
        Ok(count) => {
            println!("{count} inputs in {seconds} s, seed {seed}: nothing found");
            ExitCode::SUCCESS
        }
        Err(finding) => {
            eprintln!("fuzz: {finding}");
            ExitCode::from(1)
        }
    }
}

fn options(arguments: &[String]) -> Option<(u64, u64)> {
    let (mut seconds, mut seed) = (10, 1);
    let [target, rest @ ..] = arguments else { return None };
    for pair in rest.chunks(2) {
        match pair {
            [name, value] if name == "--seconds" => seconds = value.parse().ok()?,
            [name, value] if name == "--seed" => seed = value.parse().ok()?,
            _ => return None,
        }
    }
    (target == "shell").then_some((seconds, seed))
}

/// Tries inputs until the time is over, and gives their number or the first finding.
fn fuzz(time: Duration, seed: u64) -> Result<usize, String> {
    let seeds = table::read().into_iter().map(|line| line.command).collect();
    let mut mutator = Mutator::new(seeds, seed);
    let kept = std::env::temp_dir().join(format!("fuzz-shell-{}", std::process::id()));
    let began = Instant::now();
    let mut count = 0;
    while began.elapsed() < time {
        let input = mutator.next();
        // Only a large input can overflow the stack; writing each small one would be all the work.
        if input.len() > 1000 {
            std::fs::write(&kept, &input).map_err(|error| error.to_string())?;
        }
        check(&input).map_err(|finding| {
            let _ = std::fs::write(&kept, &input);
            let start: String = input.chars().take(300).collect();
            format!("{finding}, input {count} of {} bytes in {}: {start:?}", input.len(), kept.display())
        })?;
        count += 1;
    }
    let _ = std::fs::remove_file(&kept);
    Ok(count)
}

fn check(input: &str) -> Result<(), String> {
    let analyse = || {
        let began = Instant::now();
        let effects = panic::catch_unwind(|| {
            shell::effects(input, Path::new("/work/project"), Some(Path::new("/home/x")))
        });
        effects.map(|effects| (effects, began.elapsed())).map_err(|_| "a panic".to_owned())
    };
    let (first, took) = analyse()?;
    let (second, again) = analyse()?;
    if first != second {
        return Err("two answers to one input".into());
    }
    if first.len() > 1000 + input.len() * EFFECTS_PER_BYTE {
        return Err(format!("{} effects", first.len()));
    }
    let allowed = PATIENCE * SLOWNESS * u32::try_from(1 + input.len() / 100_000).unwrap_or(u32::MAX);
    // The machine may have been busy with something else once, but not twice.
    let took = took.min(again);
    if took > allowed {
        return Err(format!("{} ms instead of {}", took.as_millis(), allowed.as_millis()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_seconds_find_nothing() {
        let count = fuzz(Duration::from_secs(5), 3).unwrap_or_else(|finding| panic!("{finding}"));
        println!("{count} inputs");
        assert!(count > 100, "{count}");
    }

    #[test]
    fn the_command_line_is_read() {
        let read = |text: &str| options(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(read("shell --seconds 600"), Some((600, 1)));
        assert_eq!(read("shell --seed 5"), Some((10, 5)));
        assert_eq!(read("other"), None);
        assert_eq!(read("shell --seconds"), None);
    }
}
