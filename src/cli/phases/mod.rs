//! `provost phases`: a workflow in phases, for the user.

mod migrate;
mod status;

use clap::Subcommand;

use super::{CommandResult, open_current_workspace};

/// Show the state of a workflow in phases, and migrate from its Node hooks
///
/// A workflow belongs to a project that has a directory `.isdlc`. In a repository of several projects, the command
/// is about the project that the variable `ISDLC_PROJECT` names, or that contains the current directory, or that the
/// repository names as its default.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost phases status                      show the workflow and the next step
  provost phases migrate --dry-run           how the settings file would change")]
pub(crate) struct Phases {
    #[command(subcommand)]
    command: PhasesCommand,
}

#[derive(Subcommand)]
enum PhasesCommand {
    Status(status::PhasesStatus),
    Migrate(migrate::Migrate),
}

impl Phases {
    pub(crate) fn run(self) -> CommandResult {
        let (event, workspace) = open_current_workspace()?;
        match self.command {
            PhasesCommand::Status(command) => command.run(&event, &workspace),
            PhasesCommand::Migrate(command) => command.run(&event, &workspace),
        }
    }
}
