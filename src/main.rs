//! Dispatch only: the hook path before anything slow, every other command behind it.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    match arguments.next() {
        Some(command) if command == "hook" && !provost::cli::asks_for_help() => provost::hook::run(arguments),
        Some(command) if command == "compat" && !provost::cli::asks_for_help() => {
            provost::cli::compat(arguments).unwrap_or_else(provost::cli::run)
        }
        Some(command) if command == "statusline" && !provost::cli::asks_for_help() => {
            provost::cli::statusline()
        }
        _ => provost::cli::run(),
    }
}
