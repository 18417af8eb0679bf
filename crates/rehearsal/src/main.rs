//! `rehearse`: plays scenarios, and records hooks while they are played.
//!
//! | exit | meaning |
//! |------|---------|
//! | 0    | every scenario passed |
//! | 1    | at least one failed, or could not be played |
//! | 64   | wrong usage, or no client |
//! | 130  | interrupted, after cleaning up |
//!
//! As a recorder (`--record`) it ends exactly as the hook that it ran.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let options = match cli::Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(cli::USAGE) } else { ExitCode::SUCCESS };
        }
    };
    if let Some(log) = &options.record {
        // Ends the process without unwinding or waiting for a pipe that a background child of the hook still holds.
        std::process::exit(rehearsal::record(log, &options.argv()))
    }
    if options.attach {
        eprintln!("rehearse: cannot start on a terminal: {}", rehearsal::attach(&options.argv()));
        return ExitCode::FAILURE;
    }
    match &options.versions {
        Some(directory) => cli::compare(directory),
        None => cli::play(&options),
    }
}
