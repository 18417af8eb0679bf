//! `provost workflow`: the spec-driven workflows of a project, for the user.

mod status;

use clap::Subcommand;

use super::CommandResult;

/// Show the changes, features, specs or stories of a spec-driven workflow, and what is approved
///
/// `[workflow] use` in `provost.toml` says which workflows hold work until you have approved the plan: `openspec`,
/// `spec-kit`, `kiro`, `bmad`, `task-master`, or one of your own.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost workflow status                    what is open, approved and done")]
pub(crate) struct WorkflowCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    Status(status::WorkflowInstances),
}

impl WorkflowCommand {
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            Subcommands::Status(command) => command.run(),
        }
    }
}
