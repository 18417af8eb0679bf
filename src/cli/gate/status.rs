//! `provost gate status`: the state of a plan, on one screen.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{PlanChoice, parts, refuse_without_plan};
use crate::cli::screen::{self, GREEN, RED, paint, print_labelled, print_table, wrap_line};
use crate::cli::{CommandResult, Exit};
use crate::plan_gate::gate;
use crate::plan_gate::plan_status::{PlanStatus, SealMatch};
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// Show a plan's verdict, gaps and findings, why it is blocked, and what to do
///
/// The findings are from a critic that Provost saw reading exactly this text. The validator judges which gap covers
/// which finding; its reason is shown with the verdict.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate status
  provost gate status plan.md --json | jq .blocked
  provost gate status --all

Exit codes: 0 plan mode can be left with this plan; 1 it cannot, or there is no plan. With --all: 0.")]
pub(crate) struct GateStatus {
    /// The plan's file [default: the plan that was changed last]
    plan: Option<PathBuf>,
    /// List every plan of the directory, one line each, the one that was changed last first
    #[arg(long, conflicts_with = "plan")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl GateStatus {
    pub(crate) fn run(self, workspace: &Workspace) -> CommandResult {
        let mut out = anstream::stdout().lock();
        if self.all {
            return self.list(&mut out, workspace);
        }
        let chosen = PlanChoice::find(self.plan.as_deref(), workspace);
        let status = chosen.as_ref().map(|chosen| PlanStatus::read(&chosen.path, workspace)).transpose()?;
        match (chosen, status.flatten()) {
            (Some(chosen), Some(status)) => {
                if self.json {
                    screen::print_json(&mut out, &parts::as_json(&status))?;
                } else {
                    show(&mut out, &status, &chosen)?;
                }
                Ok(if status.blocked.is_some() { Exit::Problem } else { Exit::Done })
            }
            _ if self.json => {
                writeln!(out, "{{\"plan\":null}}")?;
                Ok(Exit::Problem)
            }
            (chosen, _) => {
                refuse_without_plan(&mut out, chosen.as_ref().map(|chosen| chosen.path.as_path()), workspace)
            }
        }
    }

    fn list(&self, out: &mut impl Write, workspace: &Workspace) -> CommandResult {
        let directory = workspace.plans_directory().unwrap_or_default();
        let mut rows =
            vec![["VERDICT", "SEALED", "GAPS", "LEAVES", "SESSION", "PLAN"].map(String::from).to_vec()];
        let mut all: Vec<Value> = Vec::new();
        for path in workspace.list_markdown(&directory) {
            let name = make_one_line(&path.file_name().unwrap_or_default().to_string_lossy());
            // A plan that cannot be read does not hide the others.
            match PlanStatus::read(&path, workspace) {
                Ok(None) => {}
                Ok(Some(status)) => {
                    all.push(parts::as_json(&status));
                    rows.push(row(&status, name));
                }
                Err(fault) => {
                    all.push(json!({"plan": path.to_string_lossy(), "fault": fault.to_string()}));
                    let plan = format!("{name}: {}", make_one_line(&fault.to_string()));
                    rows.push(["fault", "", "", "no", "", &plan].map(String::from).to_vec());
                }
            }
        }
        if self.json {
            screen::print_json(out, &Value::from(all))?;
        } else if all.is_empty() {
            writeln!(out, "no plans in {}", make_one_line(&directory.to_string_lossy()))?;
        } else {
            print_table(out, &rows)?;
        }
        Ok(Exit::Done)
    }
}

fn row(status: &PlanStatus, name: String) -> Vec<String> {
    let verdict =
        status.verdict.as_ref().map_or("none".into(), |verdict| make_one_line(verdict.status.word()));
    let sealed = match status.seal {
        SealMatch::Fits => "yes",
        SealMatch::None => "no",
        SealMatch::Other => "other",
    };
    let gaps = status.gaps.as_ref().map_or("-".into(), |gaps| gaps.len().to_string());
    let session: String = make_one_line(status.session.as_deref().unwrap_or("-")).chars().take(8).collect();
    let leaves = if status.blocked.is_none() { "yes" } else { "no" };
    vec![verdict, sealed.into(), gaps, leaves.into(), session, name]
}

fn show(out: &mut impl Write, status: &PlanStatus, chosen: &PlanChoice) -> io::Result<()> {
    parts::show_record(out, status, chosen)?;
    let gaps = status.gaps.as_deref();
    print_labelled(out, "gaps", &gaps.map_or("no gaps block".into(), |gaps| gaps.len().to_string()))?;
    for gap in gaps.unwrap_or_default() {
        parts::show_title(out, 11, "GAP", gap)?;
    }
    print_labelled(out, "findings", &parts::describe_findings(status))?;
    for finding in status.critic.iter().flat_map(|evidence| evidence.critique.findings()) {
        parts::show_title(out, 11, "FINDING", finding)?;
    }
    print_labelled(out, "validator", parts::describe_validator(status))?;
    for sentence in &status.missing {
        print_labelled(out, "missing", &make_one_line(sentence))?;
    }
    let Some(denial) = &status.blocked else {
        return print_labelled(
            out,
            "gate",
            &paint(GREEN, "open: plan mode can be left with exactly this text"),
        );
    };
    print_labelled(out, "gate", &paint(RED, "closed"))?;
    let colon = if denial.why.is_empty() { "" } else { ": " };
    let reason = format!("{}{colon}{}", gate::strip_tag(denial), denial.why);
    writeln!(out, "{}", wrap_line(&reason, 11))?;
    print_labelled(out, "to fix", &parts::next_step(status, chosen.is_newest).unwrap_or_default())
}
