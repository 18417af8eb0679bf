//! `provost rules`: the rules of `provost.toml`: list, show, test, add, import, suggest and trust them.

mod add;
mod drafted_rule;
mod edit;
pub(crate) mod example_run;
mod import;
mod list;
mod show;
mod suggest;
mod test;
mod trust;

use clap::Subcommand;

use super::CommandResult;
pub(crate) use edit::RuleFileEdit;

/// List the rules that hold here, and show, test, add or import rules
///
/// Without a command, it lists each rule: the file that has it, whether it is enforced or only watched, what it does,
/// and how often it matched lately. See docs/rules.md for the language.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  provost rules
  provost rules show no-force-push
  provost rules test
  provost rules add baseline
  provost rules add --name no-force-push --runs 'git push --force|-f' --deny 'it rewrites history'
  provost rules trust
  provost rules import .safety-net.json >> provost.toml

Exit codes: 0 done; 1 a rule has a mistake, an example fails, or the rule does not exist; 74 a
file cannot be read or written."
)]
pub(crate) struct Rules {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<RulesAction>,
}

#[derive(Subcommand)]
enum RulesAction {
    Trust(trust::Trust),
    Show(show::Show),
    Test(test::Test),
    Add(Box<add::Add>),
    Import(import::Import),
    Suggest(suggest::Suggest),
}

impl Rules {
    pub(crate) fn run(self) -> CommandResult {
        match self.command {
            Some(RulesAction::Trust(command)) => command.run(),
            None => list::run(self.json),
            Some(RulesAction::Show(command)) => command.run(),
            Some(RulesAction::Test(command)) => command.run(),
            Some(RulesAction::Add(command)) => command.run(),
            Some(RulesAction::Import(command)) => command.run(),
            Some(RulesAction::Suggest(command)) => command.run(),
        }
    }
}
