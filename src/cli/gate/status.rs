//! `provost gate status`: where a plan stands, on one screen.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::Value;

use super::{Chosen, labelled, parts, tell_none};
use crate::cli::screen::{GREEN, RED, painted, table, width, wrapped};
use crate::cli::{Exit, Outcome};
use crate::plan_gate::gate;
use crate::plan_gate::overview::{Overview, Seal};
use crate::text::one_line;
use crate::workspace::Workspace;

/// Show where a plan stands: verdict, gaps, findings, why it is blocked, what to do
///
/// The findings are those of the critic that Provost saw, if one has read exactly this text. Which gap
/// covers which finding is the validator's judgement; its reason stands with the verdict.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate status
  provost gate status plan.md --json | jq .blocked
  provost gate status --all

Exit codes: 0 plan mode can be left with this plan; 1 it cannot, or there is no plan. With --all: 0.")]
pub(crate) struct Status {
    /// The plan's file; without, the plan that was changed last
    plan: Option<PathBuf>,
    /// List every plan of the directory, one line each, the one that was changed last first
    #[arg(long, conflicts_with = "plan")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn run(self, workspace: &Workspace) -> Outcome {
        let mut out = anstream::stdout().lock();
        if self.all {
            return self.list(&mut out, workspace);
        }
        let chosen = Chosen::find(self.plan.as_deref(), workspace);
        let overview = match &chosen {
            Some(chosen) => Overview::of(&chosen.path, workspace)?,
            None => None,
        };
        let Some(overview) = overview else {
            if self.json {
                writeln!(out, "{{\"plan\":null}}")?;
                return Ok(Exit::Found);
            }
            return tell_none(&mut out, chosen.as_ref().map(|chosen| chosen.path.as_path()), workspace);
        };
        if self.json {
            crate::cli::screen::json(&mut out, &parts::as_json(&overview))?;
        } else {
            show(&mut out, &overview, chosen.is_some_and(|chosen| chosen.is_newest))?;
        }
        Ok(if overview.blocked.is_some() { Exit::Found } else { Exit::Done })
    }

    fn list(&self, out: &mut impl Write, workspace: &Workspace) -> Outcome {
        let directory = workspace.plans_directory().unwrap_or_default();
        let mut rows =
            vec![["VERDICT", "SEALED", "GAPS", "LEAVES", "SESSION", "PLAN"].map(String::from).to_vec()];
        let mut all: Vec<Value> = Vec::new();
        for path in workspace.markdown_files(&directory) {
            let name = one_line(&path.file_name().unwrap_or_default().to_string_lossy());
            // One plan that cannot be read is no reason not to show the others.
            match Overview::of(&path, workspace) {
                Ok(Some(overview)) if self.json => all.push(parts::as_json(&overview)),
                Ok(Some(overview)) => rows.push(row(&overview, name)),
                Ok(None) => {}
                Err(fault) if self.json => {
                    all.push(serde_json::json!({"plan": path.to_string_lossy(), "fault": fault.to_string()}));
                }
                Err(fault) => {
                    let none = String::new;
                    rows.push(vec![
                        "fault".into(),
                        none(),
                        none(),
                        "no".into(),
                        none(),
                        format!("{name}: {}", one_line(&fault.to_string())),
                    ]);
                }
            }
        }
        if self.json {
            crate::cli::screen::json(out, &Value::from(all))?;
        } else if rows.len() == 1 {
            writeln!(out, "no plans in {}", one_line(&directory.to_string_lossy()))?;
        } else {
            table(out, &rows)?;
        }
        Ok(Exit::Done)
    }
}

fn row(overview: &Overview, name: String) -> Vec<String> {
    let verdict = overview.verdict.as_ref().map_or("none".into(), |verdict| one_line(verdict.status.word()));
    let sealed = match overview.seal {
        Seal::Fits => "yes",
        Seal::None => "no",
        Seal::Other => "other",
    };
    let gaps = overview.gaps.as_ref().map_or("-".into(), |gaps| gaps.len().to_string());
    let session: String = one_line(overview.session.as_deref().unwrap_or("-")).chars().take(8).collect();
    let leaves = if overview.blocked.is_none() { "yes" } else { "no" };
    vec![verdict, sealed.into(), gaps, leaves.into(), session, name]
}

fn show(out: &mut impl Write, overview: &Overview, is_newest: bool) -> io::Result<()> {
    parts::head(out, overview, is_newest)?;
    match &overview.gaps {
        None => labelled(out, "gaps", "no gaps block")?,
        Some(gaps) => {
            labelled(out, "gaps", &gaps.len().to_string())?;
            parts::list(out, "GAP", gaps)?;
        }
    }
    labelled(out, "findings", &parts::findings(overview))?;
    if let Some(evidence) = &overview.critic {
        parts::list(out, "FINDING", evidence.critique.findings())?;
    }
    labelled(out, "validator", parts::validator(overview))?;
    for sentence in &overview.missing {
        labelled(out, "missing", &one_line(sentence))?;
    }
    let Some(denial) = &overview.blocked else {
        return labelled(out, "gate", &painted(GREEN, "open: plan mode can be left with exactly this text"));
    };
    labelled(out, "gate", &painted(RED, "closed"))?;
    let what = gate::untagged(denial);
    let colon = if denial.why.is_empty() { "" } else { ": " };
    writeln!(out, "{}", wrapped(&one_line(&format!("{what}{colon}{}", denial.why)), 11, width()))?;
    let step = parts::step(overview, is_newest).unwrap_or_default();
    labelled(out, "to fix", &step)
}
