//! `provost gate move`: moves the record of a plan to the other store.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;

use super::{PlanChoice, refuse_without_plan, show_result};
use crate::cli::screen::{GREEN, RED};
use crate::cli::{CommandResult, Exit};
use crate::plan_gate::store;
use crate::workspace::Workspace;

/// Move the record of a plan, with its gaps and its verdict, to the other store
///
/// The plan's text, its gaps and its verdict do not change, so a pass stays valid. Provost reads the store that the
/// setting `plan_gate.store` names; this command does not change the setting.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate move --to sidecar
  provost gate move plans/login.md --to embedded

Exit codes: 0 moved; 1 not moved, or there is no plan.")]
pub(crate) struct GateMove {
    /// The plan's file [default: the plan that was changed last]
    plan: Option<PathBuf>,
    /// The new store of the record
    #[arg(long, value_name = "STORE", value_parser = PossibleValuesParser::new(["embedded", "sidecar"]))]
    to: String,
}

impl GateMove {
    pub(crate) fn run(self, workspace: &Workspace) -> CommandResult {
        let mut out = anstream::stdout().lock();
        let Some(chosen) = PlanChoice::find(self.plan.as_deref(), workspace) else {
            return refuse_without_plan(&mut out, None, workspace);
        };
        let to = store::find_store(&self.to);
        let from = store::find_store(if to.name() == "embedded" { "sidecar" } else { "embedded" });
        let moved = match store::move_plan(&chosen.path, from, to, workspace)? {
            Ok(moved) => moved,
            Err(why) => {
                show_result(&mut out, (RED, "stays"), &chosen.path, &[why])?;
                return Ok(Exit::Problem);
            }
        };
        let mut sentences = vec![format!(
            "The record is now in the store `{}`, for session {}: {}.",
            to.name(),
            moved.session.id(),
            moved.settled.validation.status.word()
        )];
        let current = store::configured_store(workspace).name();
        if current != to.name() {
            sentences.push(format!(
                "`plan_gate.store` is \"{current}\" here, so the plan counts as unassessed until you set it to \"{}\" \
                 in provost.toml.",
                to.name()
            ));
        }
        show_result(&mut out, (GREEN, "moved"), &chosen.path, &sentences)?;
        Ok(Exit::Done)
    }
}
