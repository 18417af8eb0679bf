//! `provost completions`: what a shell needs to complete the commands, made from the commands themselves.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Exit, Outcome, Provost};

/// Print the completions for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  source <(provost completions bash)           in ~/.bashrc
  source <(provost completions zsh)            in ~/.zshrc, after compinit
  provost completions fish > ~/.config/fish/completions/provost.fish
  provost completions powershell >> $PROFILE
  eval (provost completions elvish | slurp)    in rc.elv")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Provost::command(), "provost", &mut script);
        // A pipe that nobody reads is no reason to panic, as it would be for the generator.
        std::io::stdout().write_all(&script)?;
        Ok(Exit::Done)
    }
}
