//! `fuzz TARGET|all`: tries strange inputs for some time and tells how many, or what was found.
//!
//! It needs no special compiler, so it runs wherever the tests run.
//!
//! | exit | meaning |
//! |------|---------|
//! | 0    | nothing was found |
//! | 1    | an input broke a promise; it is printed and lies in a file |
//! | 64   | the command line makes no sense |

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use fuzz::targets::{self, Target};
use fuzz::{report, run, trial};

const USAGE: &str = "Usage: cargo run --release -p fuzz -- TARGET|all [--seconds N] [--seed N]
       cargo run --release -p fuzz -- TARGET --try FILE
       cargo run --release -p fuzz -- TARGET --write-seeds DIRECTORY
Seconds are processor time.";

struct Options {
    targets: Vec<&'static Target>,
    seconds: u64,
    seed: u64,
    /// One input to try.
    tried: Option<PathBuf>,
    /// Where the seeds are to be written.
    seeds: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(options) = options(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(64);
    };
    trial::quiet_panics();
    match options.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(finding) => {
            eprintln!("fuzz: {finding}");
            ExitCode::from(1)
        }
    }
}

impl Options {
    fn run(&self) -> Result<(), String> {
        let told = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        if let Some(file) = &self.tried {
            let input = std::fs::read(file).map_err(|error| told(file, error))?;
            return self.targets.iter().try_for_each(|target| trial::of(target, &input));
        }
        if let Some(directory) = &self.seeds {
            std::fs::create_dir_all(directory).map_err(|error| told(directory, error))?;
            for (number, seed) in self.targets.iter().flat_map(|target| target.all_seeds()).enumerate() {
                let file = directory.join(format!("seed-{number}"));
                std::fs::write(&file, seed).map_err(|error| told(&file, error))?;
            }
            return Ok(());
        }
        println!("{}", report::HEAD);
        for target in &self.targets {
            let tally = run::random(target, Duration::from_secs(self.seconds), self.seed)?;
            println!("{}", report::row(target, Some(&tally)));
        }
        Ok(())
    }
}

fn options(arguments: &[String]) -> Option<Options> {
    let [target, rest @ ..] = arguments else { return None };
    let targets = match target.as_str() {
        "all" => targets::ALL.iter().collect(),
        name => vec![targets::find(name)?],
    };
    let mut options = Options { targets, seconds: 10, seed: 1, tried: None, seeds: None };
    for pair in rest.chunks(2) {
        let [name, value] = pair else { return None };
        match name.as_str() {
            "--seconds" => options.seconds = value.parse().ok()?,
            "--seed" => options.seed = value.parse().ok()?,
            "--try" => options.tried = Some(value.into()),
            "--write-seeds" => options.seeds = Some(value.into()),
            _ => return None,
        }
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_read() {
        let read = |text: &str| {
            options(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
                .map(|options| (options.targets.len(), options.seconds, options.seed))
        };
        assert_eq!(read("shell --seconds 600"), Some((1, 600, 1)));
        assert_eq!(read("all --seed 5"), Some((8, 10, 5)));
        assert_eq!(read("other"), None);
        assert_eq!(read("shell --seconds"), None);
    }
}
