//! Runs the commands of rules: checks, and what follows a write.
//!
//! A command runs by `sh -c` in the project's root, in a process group of its own, with a time limit and without input.
//! Of its output the end is kept. An interrupted command leaves no process behind.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::Workspace;
use crate::opinion::Fault;
use crate::places::CHILD_MARK;
use crate::process::{ProgramStreams, run_to_limit};
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

/// The command of Provost that supervises the command of a rule.
pub const SUPERVISE: &str = "supervise";

impl Workspace {
    /// Runs the command of a rule until it ends, at most until `end`. `seconds` is the whole time that it has.
    pub fn run_rule_command(&self, line: &str, end: Instant, seconds: u64) -> Result<CommandEnd, Fault> {
        let mut command = self.build_rule_command(line)?;
        (self.interruption.start_watching)();
        let limit = end.saturating_duration_since(Instant::now());
        let streams = ProgramStreams::default();
        let ended = run_to_limit(&mut command, streams, limit, self.interruption.is_requested);
        let ended = ended.map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => Fault::Error("interrupted".into()),
            _ => Fault::Error(format!("`sh` could not be run: {error}")),
        })?;
        let code = ended.status.map(|status| status.code());
        let how = match code {
            None => format!("did not end within {seconds} s"),
            Some(Some(0)) => "passed".into(),
            Some(Some(code)) => format!("failed with exit code {code}"),
            Some(None) => "was killed".into(),
        };
        Ok(CommandEnd { has_succeeded: code == Some(Some(0)), how, output: keep_end(&ended.stderr) })
    }

    fn build_rule_command(&self, line: &str) -> Result<Command, Fault> {
        self.permit_change()?;
        // Standard error keeps its end.
        let line = format!("exec 1>&2\n{line}");
        let mut command = match self.supervisor {
            Some(program) if Path::new(program).exists() => {
                let mut command = Command::new(program);
                command.args([SUPERVISE, &std::process::id().to_string(), &line]);
                command
            }
            _ => {
                let mut command = Command::new("sh");
                command.args(["-c", &line]);
                command
            }
        };
        command.current_dir(&self.project).env(CHILD_MARK, "1");
        Ok(command)
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
