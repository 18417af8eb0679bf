//! `provost rules`: the rules of `provost.toml`.

mod trust;

use clap::Subcommand;

use super::CommandResult;

/// Trust the commands of this project's rules
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost rules trust

Exit codes: 0 done; 1 nothing was changed; 74 a file cannot be read or written.")]
pub(crate) struct Rules {
    #[command(subcommand)]
    command: RulesAction,
}

#[derive(Subcommand)]
enum RulesAction {
    Trust(trust::Trust),
}

impl Rules {
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            RulesAction::Trust(command) => command.run(),
        }
    }
}
