//! `provost gate show`: the parts of an assessment in full.

use std::io::{self, Write};
use std::path::PathBuf;

use super::{Chosen, labelled, parts, tell_none};
use crate::cli::screen::{BOLD, DIM, painted, width, wrapped};
use crate::cli::{Exit, Outcome};
use crate::plan_gate::entries::Entry;
use crate::plan_gate::overview::Overview;
use crate::text::one_line;
use crate::workspace::Workspace;

/// Show the parts of an assessment in full: the critic's findings, the gaps, the validator's reason
///
/// Serious findings (high, medium, or without a severity) come first: each of them needs a gap. Which gap
/// covers which finding is the validator's judgement, so what is shown of that is its own reason.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate show
  provost gate show plan.md

Exit codes: 0 shown; 1 there is no plan.")]
pub(crate) struct Show {
    /// The plan's file; without, the plan that was changed last
    plan: Option<PathBuf>,
}

impl Show {
    pub(crate) fn run(self, workspace: &Workspace) -> Outcome {
        let mut out = anstream::stdout().lock();
        let Some(chosen) = Chosen::find(self.plan.as_deref(), workspace) else {
            return tell_none(&mut out, None, workspace);
        };
        let Some(overview) = Overview::of(&chosen.path, workspace)? else {
            return tell_none(&mut out, Some(&chosen.path), workspace);
        };
        show(&mut out, &overview, chosen.is_newest)?;
        Ok(Exit::Done)
    }
}

fn show(out: &mut impl Write, overview: &Overview, is_newest: bool) -> io::Result<()> {
    parts::head(out, overview, is_newest)?;
    let findings = overview.critic.as_ref().map(|evidence| evidence.critique.findings()).unwrap_or_default();
    let (serious, minor): (Vec<&Entry>, Vec<&Entry>) = findings.iter().partition(|entry| entry.is_serious());
    section(out, "Findings", &parts::findings(overview))?;
    for entry in serious.into_iter().chain(minor) {
        whole(out, "FINDING", entry)?;
    }
    match &overview.gaps {
        None => section(out, "Gaps", "no gaps block")?,
        Some(gaps) => {
            section(out, "Gaps", &gaps.len().to_string())?;
            for gap in gaps {
                whole(out, "GAP", gap)?;
            }
        }
    }
    section(out, "Validator", parts::validator(overview))?;
    match overview.validator() {
        Some(verdict) => labelled(out, "  reason", &one_line(&verdict.reason)),
        None => Ok(()),
    }
}

fn section(out: &mut impl Write, name: &str, about: &str) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "{}  {}", painted(BOLD, name), painted(DIM, about))
}

/// An entry with its description.
fn whole(out: &mut impl Write, kind: &str, entry: &Entry) -> io::Result<()> {
    parts::heading(out, 2, kind, entry)?;
    if !entry.description.trim().is_empty() {
        writeln!(out, "{}", wrapped(&one_line(&entry.description), 14, width()))?;
    }
    Ok(())
}
