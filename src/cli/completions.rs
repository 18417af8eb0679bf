//! `provost completions`: completion scripts for shells, generated from the commands.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{CommandResult, Exit, Provost};

/// Print the completion script of a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  source <(provost completions bash)           in ~/.bashrc
  source <(provost completions zsh)            in ~/.zshrc, after compinit
  provost completions fish > ~/.config/fish/completions/provost.fish
  provost completions powershell >> $PROFILE
  eval (provost completions elvish | slurp)    in rc.elv")]
pub(crate) struct Completions {
    /// The shell to complete in
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Provost::command(), "provost", &mut script);
        // The generator would panic on a closed pipe.
        std::io::stdout().write_all(&script)?;
        Ok(Exit::Done)
    }
}
