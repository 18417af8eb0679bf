//! Dispatch only: the hook path before anything slow, every other command behind it.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let asks_for_help = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    let mut arguments = arguments.into_iter();
    match arguments.next() {
        Some(command) if command == "hook" && !asks_for_help => provost::hook::run(arguments),
        Some(command) if command == "compat" && !asks_for_help => {
            provost::cli::compat(arguments).unwrap_or_else(provost::cli::run)
        }
        Some(command) if command == "statusline" && !asks_for_help => provost::cli::statusline(),
        _ => provost::cli::run(),
    }
}
