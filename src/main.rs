//! Dispatch only: the hook path first, before anything slow, then every other command.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

#[cfg(target_os = "linux")]
use provost::workspace::rule_commands::SUPERVISE;

/// With the allocator of musl, a recorded step of a workflow takes twice as long.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let asks_for_help = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    let mut arguments = arguments.into_iter();
    match arguments.next() {
        Some(command) if command == "hook" && !asks_for_help => provost::hook::run(arguments),
        Some(command) if command == "compat" && !asks_for_help => {
            provost::cli::run_compat(arguments).unwrap_or_else(provost::cli::run)
        }
        #[cfg(target_os = "linux")]
        Some(command) if command == SUPERVISE => provost::supervisor::run(arguments),
        Some(command) if command == "statusline" && !asks_for_help => provost::cli::run_statusline(),
        None if !io::stdin().is_terminal() => provost::hook::run_bare(),
        _ => provost::cli::run(),
    }
}
