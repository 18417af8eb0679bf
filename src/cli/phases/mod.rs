//! `provost phases`: a workflow in phases, for people.

mod migrate;
pub(crate) mod overview;
mod status;

use clap::Subcommand;

use super::{Outcome, workspace_here};

/// See where a workflow in phases stands, and come to Provost from its Node hooks
///
/// A workflow belongs to a project that has a directory `.isdlc`. In a repository of several projects, the one is
/// meant that the variable `ISDLC_PROJECT` names, or the current directory is in, or the repository prefers.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost phases status                      where the workflow stands
  provost phases migrate --dry-run           what would become of the settings file")]
pub(crate) struct Phases {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Status(status::Status),
    Migrate(migrate::Migrate),
}

impl Phases {
    pub(crate) fn run(self) -> Outcome {
        let (event, workspace) = workspace_here()?;
        match self.command {
            Command::Status(command) => command.run(&event, &workspace),
            Command::Migrate(command) => command.run(&event, &workspace),
        }
    }
}
