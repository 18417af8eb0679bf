//! `provost rules trust`: the user agrees to the commands of a project's rules.

use std::io::Write;

use crate::cli::file_change::{Confirmation, PipeTolerantOutput};
use crate::cli::screen::print_sentence;
use crate::cli::{CommandError, CommandResult, Exit, open_current_workspace};
use crate::rules::Rule;
use crate::text::{make_one_line, make_printable};

/// Let the rules of this project's provost.toml run their commands
///
/// The commands of `need.check` and `run` do not run before you trust them, so that a cloned project runs nothing on
/// your machine. It shows the commands and asks. A command that changes later waits again. In a session, the prompt
/// `provost trust rules` does the same. No tool may run this command.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost rules trust
  provost rules trust --dry-run    show which commands wait

Exit codes: 0 done; 1 nothing was changed; 74 a file cannot be read or written.")]
pub(crate) struct Trust {
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Trust {
    pub(crate) fn run(self) -> CommandResult {
        let (_, workspace) = open_current_workspace()?;
        let mut out = PipeTolerantOutput(anstream::stdout().lock());
        let waiting: Vec<&Rule> =
            workspace.config.rules.rules.iter().filter(|rule| !workspace.is_trusted(rule)).collect();
        if waiting.is_empty() {
            print_sentence(&mut out, "No command of this project's rules waits for your trust.")?;
            return Ok(Exit::Done);
        }
        print_sentence(&mut out, "These commands of this project's provost.toml would run on your machine:")?;
        for rule in waiting {
            let command = make_printable(rule.command().unwrap_or_default()).replace('\n', "\n    ");
            writeln!(out, "  {}: {command}", make_one_line(&rule.full_name()))?;
        }
        if let Some(exit) = self.confirmation.ask(&mut out, "Trust them?")? {
            return Ok(exit);
        }
        workspace.trust_commands().map_err(|fault| CommandError::Io(fault.to_string()))?;
        print_sentence(&mut out, "They run from now on. A command that changes waits for your trust again.")?;
        Ok(Exit::Done)
    }
}
