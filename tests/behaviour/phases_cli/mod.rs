//! The commands of `provost phases`, as the user sees them in a pipe.

mod migrate;
mod status;

use std::process::{Command, Stdio};

use crate::support::TestProject;

/// What a command answered.
struct Shown {
    code: i32,
    stdout: String,
    stderr: String,
}

/// `provost phases ARGUMENTS` below this project.
fn command(project: &TestProject, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::program());
    command.arg("phases").args(arguments).env_clear().current_dir(&project.path);
    command.env("HOME", &project.home).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    command
}

fn answered(project: &TestProject, mut command: Command) -> Shown {
    let output = command.output().unwrap();
    let text = |bytes| project.shorten_paths(&String::from_utf8(bytes).unwrap());
    Shown { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn run(project: &TestProject, arguments: &[&str]) -> Shown {
    answered(project, command(project, arguments))
}
