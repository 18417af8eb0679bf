//! `provost gate move`: the record of a plan changes its store.

use std::io::Write;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;

use super::{Chosen, tell_none};
use crate::cli::screen::{DIM, GREEN, RED, painted, width, wrapped};
use crate::cli::{Exit, Outcome};
use crate::plan_gate::store;
use crate::text::one_line;
use crate::workspace::Workspace;

/// Move the record of a plan, with its gaps and its verdict, to the other store
///
/// The plan's text, the gaps and a verdict on them stay the same, so a pass stays one. Which store counts
/// is the setting `plan_gate.store`; this command does not change it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate move --to sidecar
  provost gate move plans/login.md --to embedded

Exit codes: 0 moved; 1 it stays where it is, or there is no plan.")]
pub(crate) struct Move {
    /// The plan's file; without, the plan that was changed last
    plan: Option<PathBuf>,
    /// Where the record goes
    #[arg(long, value_name = "STORE", value_parser = PossibleValuesParser::new(["embedded", "sidecar"]))]
    to: String,
}

impl Move {
    pub(crate) fn run(self, workspace: &Workspace) -> Outcome {
        let mut out = anstream::stdout().lock();
        let Some(chosen) = Chosen::find(self.plan.as_deref(), workspace) else {
            return tell_none(&mut out, None, workspace);
        };
        let to = store::named(&self.to);
        let from = store::named(if to.name() == "embedded" { "sidecar" } else { "embedded" });
        let plan = painted(DIM, &one_line(&chosen.path.to_string_lossy()));
        match store::move_plan(&chosen.path, from, to, workspace)? {
            Err(why) => {
                writeln!(out, "{}  {plan}", painted(RED, "stays"))?;
                writeln!(out, "{}", wrapped(&one_line(&why), 2, width()))?;
                Ok(Exit::Found)
            }
            Ok(moved) => {
                writeln!(out, "{}  {plan}", painted(GREEN, "moved"))?;
                let status = moved.settled.validation.status;
                let told = format!(
                    "Its record is in the store `{}` now, for session {}: {}.",
                    to.name(),
                    moved.session.id(),
                    status.word()
                );
                writeln!(out, "{}", wrapped(&one_line(&told), 2, width()))?;
                let counts = store::of(workspace).name();
                if counts != to.name() {
                    let told = format!(
                        "`plan_gate.store` is \"{counts}\" here, so the plan counts as unassessed until that is \
                         \"{}\" in provost.toml.",
                        to.name()
                    );
                    writeln!(out, "{}", wrapped(&told, 2, width()))?;
                }
                Ok(Exit::Done)
            }
        }
    }
}
