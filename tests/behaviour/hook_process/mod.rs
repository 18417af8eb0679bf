//! `provost hook` as a process: hostile input, mistakes on the command line, guards that fail.
//!
//! The client reads exit code 2 as "blocked" and anything it cannot read as "go on", so what
//! matters here is which of the two an odd situation becomes, and that it becomes it in time.

mod command_line;
#[cfg(debug_assertions)]
mod faults;
mod input;
mod large_input;
mod recursion;
pub(crate) mod several_entries;
mod surroundings;

use std::io::Write;
use std::process::Stdio;

use crate::support::TestProject;
use serde_json::Value;

/// A call that the self guard denies.
fn forbidden(project: &TestProject) -> Value {
    project.write(project.path.join("provost.toml"), "")
}

/// The exit code of a hook whose answer no process reads.
fn unread(project: &TestProject, arguments: &[&str], event: &Value) -> Option<i32> {
    let mut child = project.command(arguments).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    child.wait().unwrap().code()
}
