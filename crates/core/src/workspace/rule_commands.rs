//! Runs the commands of rules: checks, and what follows a write.
//!
//! A command runs by `sh -c` in the project's root, in a process group of its own, with a time limit and without input.
//! Of its output the end is kept. An interrupted command leaves no process behind.

use std::io;
use std::process::Command;
use std::time::Duration;

use super::Workspace;
use crate::opinion::Fault;
use crate::places::CHILD_MARK;
use crate::process::{ProgramStreams, run_program};
use crate::text::make_printable;

/// How many bytes of the end of an output are kept.
const LONGEST_OUTPUT: usize = 4000;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnd {
    pub has_succeeded: bool,
    /// Completes the sentence "`COMMAND` …".
    pub how: String,
    /// The end of what it printed.
    pub output: String,
}

impl Workspace {
    /// Runs the command of a rule to its end.
    pub fn run_rule_command(&self, line: &str, limit: Duration) -> Result<CommandEnd, Fault> {
        let mut command = Command::new("sh");
        // Standard error keeps its end.
        command.args(["-c", &format!("exec 1>&2\n{line}")]).current_dir(&self.project).env(CHILD_MARK, "1");
        (self.interruption.start_watching)();
        let end = run_program(&mut command, ProgramStreams::default(), limit, self.interruption.is_requested);
        let end = end.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => Fault::Error("interrupted".into()),
            _ => Fault::Error(format!("`sh` could not be run: {error}")),
        })?;
        let Some(end) = end else {
            let how = format!("did not end within {} s", limit.as_secs());
            return Ok(CommandEnd { has_succeeded: false, how, output: String::new() });
        };
        let how = match end.status.code() {
            Some(0) => "passed".into(),
            Some(code) => format!("failed with exit code {code}"),
            None => format!("was ended: {}", end.status),
        };
        Ok(CommandEnd { has_succeeded: end.status.success(), how, output: keep_end(&end.stderr) })
    }
}

/// The last lines of an output.
fn keep_end(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let from = (text.len().saturating_sub(LONGEST_OUTPUT)..=text.len()).find(|at| text.is_char_boundary(*at));
    let kept = &text[from.unwrap_or(0)..];
    let kept =
        if kept.len() < text.len() { kept.split_once('\n').map_or(kept, |(_, rest)| rest) } else { kept };
    make_printable(kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_output_is_kept() {
        let text = format!("first\n{}\nlast\n", "x\n".repeat(5000));
        let kept = keep_end(text.as_bytes());
        assert!(kept.len() <= LONGEST_OUTPUT && kept.ends_with("x\n\nlast") && !kept.contains("first"));
        assert_eq!(keep_end(b"a\nb\n"), "a\nb");
    }
}
