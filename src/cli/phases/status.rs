//! `provost phases status`: the state of a workflow, on one screen.

use std::io::{self, Write};

use crate::cli::overview::workflow::{WorkflowProgress, WorkflowStatus, relative_path};
use crate::cli::screen::{
    self, BOLD, CYAN, DIM, GREEN, RED, YELLOW, paint, print_labelled, print_sentence, text_width, wrap,
};
use crate::cli::{CommandError, CommandResult, Exit};
use crate::event::Event;
use crate::phases::phase_names;
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// Show the phases of the workflow, what the current one still requires, and the next step
///
/// It shows what the guards of the phases read: the state, the requirements of the phase, the plan of tasks.
/// `tests` and `articles` count tries, `talks` counts menus.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost phases status
  ISDLC_PROJECT=api provost phases status
  provost phases status --json | jq -r .workflow.next

Exit codes: 0 shown, also if no workflow is active; 1 there is no `.isdlc` here; 74 the state cannot
be read.")]
pub(crate) struct PhasesStatus {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl PhasesStatus {
    pub(crate) fn run(self, event: &Event, workspace: &Workspace) -> CommandResult {
        let status =
            WorkflowStatus::read(event, workspace).map_err(|why| CommandError::Io(make_one_line(&why)))?;
        let mut out = anstream::stdout().lock();
        match &status {
            None if self.json => writeln!(out, "{{\"project\":null}}")?,
            None => {
                let text = format!(
                    "[provost] there is no workflow: {} and the directories above it have no `.isdlc`. To fix: go to \
                     the project of the workflow, or start one there with its installer.",
                    event.cwd.to_string_lossy()
                );
                print_sentence(&mut out, &text)?;
            }
            Some(status) if self.json => screen::print_json(&mut out, &status.as_json())?,
            Some(status) => show(&mut out, status)?,
        }
        Ok(if status.is_some() { Exit::Done } else { Exit::Problem })
    }
}

fn show(out: &mut impl Write, status: &WorkflowStatus) -> io::Result<()> {
    print_labelled(out, "project", &make_one_line(&status.root.to_string_lossy()))?;
    if let Some(member) = &status.member {
        print_labelled(out, "member", &paint(BOLD, &make_one_line(member)))?;
    }
    if status.is_undecided {
        let text = "unknown: the repository has several projects. Go to one, or name it in `ISDLC_PROJECT`";
        print_labelled(out, "member", &paint(YELLOW, text))?;
    }
    match (&status.active, &status.left_over) {
        (None, None) => print_labelled(out, "workflow", "none is active, so nothing is blocked")?,
        (None, Some(denial)) => {
            print_labelled(out, "workflow", "none is active, but the state still names a phase")?;
            let reason = make_one_line(&format!("{}: {}", denial.what, denial.why));
            print_labelled(out, "blocked", &paint(YELLOW, &reason))?;
        }
        (Some(active), _) => show_active(out, active, status)?,
    }
    let on = status.guards - status.guards_off.len();
    let off = match status.guards_off.as_slice() {
        [] => String::new(),
        off => paint(YELLOW, &format!("; off: {}", off.join(", "))),
    };
    print_labelled(out, "guards", &format!("{on} of {} are on{off}", status.guards))?;
    status.next_step().map_or(Ok(()), |step| print_labelled(out, "next", &make_one_line(step)))
}

fn show_active(out: &mut impl Write, active: &WorkflowProgress, status: &WorkflowStatus) -> io::Result<()> {
    let kind = active.workflow.kind.as_deref().map_or_else(|| "without a type".into(), make_one_line);
    print_labelled(out, "workflow", &paint(BOLD, &kind))?;
    show_branch(out, active)?;
    show_phases(out, active)?;
    if let Some(current) = &active.current {
        print_labelled(out, "gate", &phase_names::gate_name(current))?;
    }
    for requirement in &active.requirements {
        let mark = if requirement.is_met { paint(GREEN, "met:") } else { paint(RED, "missing:") };
        print_labelled(out, requirement.name, &format!("{mark} {}", make_one_line(&requirement.text)))?;
    }
    if active.requirements.is_empty() {
        print_labelled(out, "requires", "nothing known in this phase")?;
    }
    let (tasks, has_tasks) = &active.tasks;
    let tasks = make_one_line(&relative_path(tasks, &status.root));
    let text = match (has_tasks, active.needs_tasks) {
        (true, _) => tasks,
        (false, true) => format!("{}: {tasks} does not exist", paint(RED, "missing")),
        (false, false) => format!("{tasks} does not exist yet, and this phase does not need it"),
    };
    print_labelled(out, "tasks", &text)?;
    if let Some((agent, since)) = &active.waits_for {
        let since = since.as_deref().map_or_else(String::new, |since| format!(" since {since}"));
        print_labelled(out, "waits for", &paint(YELLOW, &make_one_line(&format!("{agent}{since}"))))?;
    }
    match active.escalations {
        0 => Ok(()),
        1 => print_labelled(out, "escalated", &paint(YELLOW, "1 waits in the state")),
        several => print_labelled(out, "escalated", &paint(YELLOW, &format!("{several} wait in the state"))),
    }
}

fn show_branch(out: &mut impl Write, active: &WorkflowProgress) -> io::Result<()> {
    let Some(branch) = &active.workflow.branch else {
        return print_labelled(out, "branch", "none of its own");
    };
    let name = branch.name.as_deref().unwrap_or("without a name");
    let inactive = if branch.is_active { "" } else { ", not active" };
    let checked_out = active.git_branch.as_deref();
    let here = match checked_out {
        None => String::new(),
        Some(_) if checked_out == branch.name.as_deref() => "; checked out".into(),
        Some(other) => format!("; but {other} is checked out"),
    };
    let text = make_one_line(&format!("{name}{inactive}{here}"));
    let is_wrong = branch.is_active && matches!(checked_out, Some("main" | "master"));
    print_labelled(out, "branch", &if is_wrong { paint(YELLOW, &text) } else { text })
}

/// The phases in their order, one on each line.
fn show_phases(out: &mut impl Write, active: &WorkflowProgress) -> io::Result<()> {
    let names: Vec<String> = active.phases.iter().map(|phase| make_one_line(&phase.name)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(40);
    // Without room for two columns, the status follows its phase or wraps below it.
    let is_narrow = longest + 26 > text_width();
    if names.is_empty() {
        return print_labelled(out, "phases", "the state names none");
    }
    for (at, (phase, name)) in active.phases.iter().zip(&names).enumerate() {
        let label = if at == 0 { "phases" } else { "" };
        let status = phase.status.as_deref().map_or_else(|| "not begun".into(), make_one_line);
        let mark = if phase.is_current { ">" } else { " " };
        let text = if is_narrow {
            wrap(&format!("{name} {status}"), 13, text_width()).trim_start().to_owned()
        } else {
            format!("{}  {status}", screen::pad(name, longest))
        };
        let style = match phase.status.as_deref() {
            _ if phase.is_current => BOLD,
            Some("completed") => GREEN,
            _ => DIM,
        };
        let line = paint(style, &format!("{mark} {text}"));
        writeln!(out, "{}  {line}", paint(CYAN, &format!("{label:9}")))?;
    }
    Ok(())
}
