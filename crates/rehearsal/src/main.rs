//! `rehearse`: plays scenarios, and stands in for hooks while they are played.
//!
//! | exit | meaning |
//! |------|---------|
//! | 0    | every scenario turned out as expected |
//! | 1    | at least one did not, or could not be played |
//! | 64   | the command line makes no sense, or there is no client |
//! | 130  | it was interrupted, and has cleaned up |
//!
//! As a recorder (`--record`) it ends exactly as the hook it ran.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match cli::Invocation::parse(arguments) {
        Ok(cli::Invocation::Record { log, argv }) => {
            // Ends the process without unwinding or waiting for a pipe that a background child of
            // the hook still holds.
            std::process::exit(rehearsal::record(&log, &argv))
        }
        Ok(cli::Invocation::Attach { argv }) => {
            eprintln!("rehearse: cannot start on a terminal: {}", rehearsal::attach(&argv));
            ExitCode::FAILURE
        }
        Ok(cli::Invocation::Help) => {
            print!("{}", cli::HELP);
            ExitCode::SUCCESS
        }
        Ok(cli::Invocation::Play(options)) => cli::play(&options),
        Ok(cli::Invocation::Compare(directory)) => cli::compare(&directory),
        Err(usage) => {
            eprintln!("rehearse: {usage}\nTry `rehearse --help`.");
            ExitCode::from(cli::USAGE)
        }
    }
}
