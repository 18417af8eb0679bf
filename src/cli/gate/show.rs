//! `provost gate show`: the parts of an assessment in full.

use std::io::{self, Write};
use std::path::PathBuf;

use super::{PlanChoice, parts, refuse_without_plan};
use crate::cli::screen::{BOLD, DIM, paint, print_labelled, wrap_line};
use crate::cli::{CommandResult, Exit};
use crate::plan_gate::entries::PlanEntry;
use crate::plan_gate::plan_status::PlanStatus;
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// Show the parts of an assessment in full: the critic's findings, the gaps, the validator's reason
///
/// Serious findings (high, medium, or without a severity) are listed first: each of them needs a gap. The validator
/// judges which gap covers which finding, and its reason says so.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate show
  provost gate show plan.md

Exit codes: 0 shown; 1 there is no plan.")]
pub(crate) struct GateShow {
    /// The plan's file [default: the plan that was changed last]
    plan: Option<PathBuf>,
}

impl GateShow {
    pub(crate) fn run(self, workspace: &Workspace) -> CommandResult {
        let mut out = anstream::stdout().lock();
        let Some(chosen) = PlanChoice::find(self.plan.as_deref(), workspace) else {
            return refuse_without_plan(&mut out, None, workspace);
        };
        let Some(status) = PlanStatus::read(&chosen.path, workspace)? else {
            return refuse_without_plan(&mut out, Some(&chosen.path), workspace);
        };
        show(&mut out, &status, &chosen)?;
        Ok(Exit::Done)
    }
}

fn show(out: &mut impl Write, status: &PlanStatus, chosen: &PlanChoice) -> io::Result<()> {
    parts::show_record(out, status, chosen)?;
    let findings = status.critic.as_ref().map(|evidence| evidence.critique.findings()).unwrap_or_default();
    let (serious, minor): (Vec<&PlanEntry>, Vec<&PlanEntry>) =
        findings.iter().partition(|entry| entry.is_serious());
    show_heading(out, "Findings", &parts::describe_findings(status))?;
    for entry in serious.into_iter().chain(minor) {
        show_entry(out, "FINDING", entry)?;
    }
    let gaps = status.gaps.as_deref();
    show_heading(out, "Gaps", &gaps.map_or("no gaps block".into(), |gaps| gaps.len().to_string()))?;
    for gap in gaps.unwrap_or_default() {
        show_entry(out, "GAP", gap)?;
    }
    show_heading(out, "Validator", parts::describe_validator(status))?;
    status
        .validator()
        .map_or(Ok(()), |verdict| print_labelled(out, "  reason", &make_one_line(&verdict.reason)))
}

fn show_heading(out: &mut impl Write, name: &str, about: &str) -> io::Result<()> {
    writeln!(out, "\n{}  {}", paint(BOLD, name), paint(DIM, about))
}

/// An entry with its description.
fn show_entry(out: &mut impl Write, kind: &str, entry: &PlanEntry) -> io::Result<()> {
    parts::show_title(out, 2, kind, entry)?;
    if !entry.description.trim().is_empty() {
        writeln!(out, "{}", wrap_line(&entry.description, 14))?;
    }
    Ok(())
}
