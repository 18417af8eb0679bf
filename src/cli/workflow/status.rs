//! `provost workflow status`: every instance with its artefacts, its approval and its tasks.

use std::io::{self, Write};

use serde_json::json;

use crate::cli::overview::Overview;
use crate::cli::overview::instances::{ApprovalState, InstanceReport, RootReport, read_reports};
use crate::cli::screen::{
    self, BOLD, DIM, GREEN, RED, YELLOW, paint, print_detail, print_labelled, print_sentence,
};
use crate::cli::{CommandResult, Exit};
use crate::text::make_one_line;

/// Show what is open, what you have approved and when, which tasks are done, and what comes next
///
/// A finished instance is only counted; `--all` shows it like the others.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost workflow status
  provost workflow status --json | jq '.workflows[].instances[] | select(.open)'

Exit codes: 0 shown; 1 there is no workflow here, or a part of it cannot be read, and says so.")]
pub(crate) struct WorkflowInstances {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show finished instances in full too
    #[arg(long)]
    all: bool,
}

impl WorkflowInstances {
    pub(crate) fn run(self) -> CommandResult {
        let overview = Overview::open_here()?;
        let reports = read_reports(&overview.cwd, &overview.workspace);
        let mut out = anstream::stdout().lock();
        if self.json {
            let all: Vec<_> = reports.iter().map(RootReport::as_json).collect();
            screen::print_json(&mut out, &json!({"workflows": all}))?;
        } else if reports.is_empty() {
            print_sentence(
                &mut out,
                "[provost] there is no workflow here: no file of OpenSpec, Spec Kit, Kiro, BMAD or Task Master. To fix: go to \
                 the project that has one.",
            )?;
        } else {
            for (at, report) in reports.iter().enumerate() {
                if at > 0 {
                    writeln!(out)?;
                }
                show(&mut out, report, self.all)?;
            }
        }
        let is_readable = reports.iter().all(|report| report.fault.is_none());
        Ok(if is_readable && !reports.is_empty() { Exit::Done } else { Exit::Problem })
    }
}

fn show(out: &mut impl Write, report: &RootReport, shows_all: bool) -> io::Result<()> {
    let root = make_one_line(&report.root.to_string_lossy());
    print_labelled(out, "workflow", &format!("{} in {root}", paint(BOLD, &report.workflow)))?;
    if !report.is_used {
        let text =
            format!("not held: add `use = [\"{}\"]` under `[workflow]` in provost.toml", report.workflow);
        print_labelled(out, "work", &paint(YELLOW, &text))?;
    } else if let Some(fault) = &report.fault {
        print_labelled(out, "work", &paint(RED, &format!("denied: {fault}")))?;
    } else {
        print_labelled(out, "work", &describe_work(report))?;
    }
    let finished = report.instances.iter().filter(|instance| !instance.is_open).count();
    for instance in report.instances.iter().filter(|instance| instance.is_open || shows_all) {
        show_instance(out, instance, &report.noun)?;
    }
    if finished > 0 && !shows_all {
        print_labelled(out, "finished", &paint(DIM, &finished.to_string()))?;
    }
    Ok(())
}

fn describe_work(report: &RootReport) -> String {
    match report.find_governing() {
        None => format!("free: no {} is open", report.noun),
        Some(instance) if instance.approval.allows_work() => {
            paint(GREEN, &format!("allowed by {}", make_one_line(&instance.name)))
        }
        Some(_) => paint(RED, "denied until you approve what is open"),
    }
}

fn show_instance(out: &mut impl Write, instance: &InstanceReport, noun: &str) -> io::Result<()> {
    let current = if instance.is_current { paint(DIM, " (current)") } else { String::new() };
    print_labelled(out, noun, &format!("{}{current}", paint(BOLD, &make_one_line(&instance.name))))?;
    let style = match instance.approval {
        ApprovalState::Valid(_) | ApprovalState::NotNeeded(_) => GREEN,
        ApprovalState::Void(..) => RED,
        ApprovalState::None => YELLOW,
    };
    print_detail(out, DIM, "approval", &paint(style, &instance.approval.describe()))?;
    let shown =
        instance.artefacts.iter().filter(|artefact| artefact.is_required || artefact.state != "missing");
    let artefacts: Vec<String> = shown
        .map(|artefact| {
            let id = make_one_line(&artefact.id);
            if artefact.state == "ok" { id } else { paint(RED, &format!("{id} ({})", artefact.state)) }
        })
        .collect();
    print_detail(out, DIM, "texts", &artefacts.join(", "))?;
    print_detail(out, DIM, "tasks", &instance.describe_tasks())?;
    print_detail(out, DIM, "next", &instance.next_step)
}
