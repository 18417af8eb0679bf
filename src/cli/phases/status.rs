//! `provost phases status`: where a workflow stands, on one screen.

use std::io::{self, Write};

use super::overview::{Overview, Standing, below};
use crate::cli::screen::{BOLD, DIM, GREEN, RED, YELLOW, labelled, painted, width, wrapped};
use crate::cli::{Exit, Outcome, Trouble};
use crate::event::Event;
use crate::phases::table;
use crate::text::one_line;
use crate::workspace::Workspace;

/// Show where the workflow stands: its phases, what the current one still demands, and the next step
///
/// Shown is what the guards of the phases go by: the state, the requirements of the phase, the plan of tasks.
/// `tests` and `articles` count tries, `talks` counts menus that were shown.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost phases status
  ISDLC_PROJECT=api provost phases status
  provost phases status --json | jq -r .workflow.next

Exit codes: 0 shown, also where no workflow is under way; 1 there is no `.isdlc` here; 74 the state cannot
be read.")]
pub(crate) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn run(self, event: &Event, workspace: &Workspace) -> Outcome {
        let seen = Overview::of(event, workspace).map_err(|why| Trouble::Io(one_line(&why)))?;
        let mut out = anstream::stdout().lock();
        match &seen {
            None if self.json => writeln!(out, "{{\"project\":null}}")?,
            None => {
                let text = format!(
                    "[provost] {} and the directories above it have no `.isdlc`, so there is no workflow. To fix: go \
                     to the project of the workflow, or begin one there with its installer.",
                    event.cwd.to_string_lossy()
                );
                writeln!(out, "{}", wrapped(&one_line(&text), 0, width()))?;
            }
            Some(overview) if self.json => crate::cli::screen::json(&mut out, &overview.as_json())?,
            Some(overview) => show(&mut out, overview)?,
        }
        Ok(if seen.is_some() { Exit::Done } else { Exit::Found })
    }
}

fn show(out: &mut impl Write, overview: &Overview) -> io::Result<()> {
    labelled(out, "project", &one_line(&overview.root.to_string_lossy()))?;
    if let Some(member) = &overview.member {
        labelled(out, "member", &painted(BOLD, &one_line(member)))?;
    }
    if overview.is_undecided {
        let text =
            "there are several projects, and none is meant here: go to one, or name it in `ISDLC_PROJECT`";
        labelled(out, "member", &painted(YELLOW, text))?;
    }
    match (&overview.workflow, &overview.left_over) {
        (None, None) => labelled(out, "workflow", "none is under way: nothing is held back")?,
        (None, Some(denial)) => {
            labelled(out, "workflow", "none is under way, but the state still names a phase")?;
            let held = one_line(&format!("{}: {}", denial.what, denial.why));
            labelled(out, "held", &painted(YELLOW, &held))?;
        }
        (Some(standing), _) => stands(out, standing, overview)?,
    }
    let on = overview.guards - overview.guards_off.len();
    let off = match overview.guards_off.as_slice() {
        [] => String::new(),
        off => painted(YELLOW, &format!("; off: {}", off.join(", "))),
    };
    labelled(out, "guards", &format!("{on} of {} are on{off}", overview.guards))?;
    overview.next().map_or(Ok(()), |next| labelled(out, "next", &one_line(next)))
}

fn stands(out: &mut impl Write, standing: &Standing, overview: &Overview) -> io::Result<()> {
    let kind = standing.workflow.kind.as_deref().map_or_else(|| "of no type".into(), one_line);
    labelled(out, "workflow", &painted(BOLD, &kind))?;
    branch(out, standing)?;
    phases(out, standing)?;
    if let Some(current) = &standing.current {
        labelled(out, "gate", &table::gate(current))?;
    }
    for demand in &standing.demands {
        let says = one_line(&demand.says);
        let mark = if demand.is_met { painted(GREEN, "met:") } else { painted(RED, "missing:") };
        labelled(out, demand.what, &format!("{mark} {says}"))?;
    }
    if standing.demands.is_empty() {
        labelled(out, "demands", "none that are known for this phase")?;
    }
    let (tasks, is_there) = &standing.tasks;
    let tasks = one_line(&below(tasks, &overview.root));
    let text = match (is_there, standing.needs_tasks) {
        (true, _) => tasks,
        (false, true) => format!("{}: {tasks} is not there", painted(RED, "missing")),
        (false, false) => format!("{tasks} is not there yet, and not needed in this phase"),
    };
    labelled(out, "tasks", &text)?;
    if let Some((agent, since)) = &standing.waits_for {
        let since = since.as_deref().map_or_else(String::new, |since| format!(" since {since}"));
        labelled(out, "waits for", &painted(YELLOW, &one_line(&format!("{agent}{since}"))))?;
    }
    if standing.escalations > 0 {
        let text = match standing.escalations {
            1 => "1 waits in the state".to_owned(),
            several => format!("{several} wait in the state"),
        };
        labelled(out, "escalated", &painted(YELLOW, &text))?;
    }
    Ok(())
}

fn branch(out: &mut impl Write, standing: &Standing) -> io::Result<()> {
    let Some(branch) = &standing.workflow.branch else { return labelled(out, "branch", "none of its own") };
    let name = branch.name.as_deref().unwrap_or("without a name");
    let kind = if branch.is_active { "" } else { ", not active" };
    let here = match standing.on_branch.as_deref() {
        None => String::new(),
        Some(on) if Some(on) == branch.name.as_deref() => "; the repository is on it".into(),
        Some(on) => format!("; the repository is on {on}"),
    };
    let text = one_line(&format!("{name}{kind}{here}"));
    let strays = branch.is_active && matches!(standing.on_branch.as_deref(), Some("main" | "master"));
    labelled(out, "branch", &if strays { painted(YELLOW, &text) } else { text })
}

/// The phases in their order, one a line.
fn phases(out: &mut impl Write, standing: &Standing) -> io::Result<()> {
    let names: Vec<String> = standing.phases.iter().map(|phase| one_line(&phase.name)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(40);
    // Where there is no room for columns, the status stands behind its phase or below it.
    let is_narrow = longest + 26 > width();
    if names.is_empty() {
        return labelled(out, "phases", "the state names none");
    }
    for (at, (phase, name)) in standing.phases.iter().zip(&names).enumerate() {
        let label = if at == 0 { "phases" } else { "" };
        let status = phase.status.as_deref().map_or_else(|| "not begun".into(), one_line);
        let mark = if phase.is_current { ">" } else { " " };
        let text = if is_narrow {
            wrapped(&format!("{name} {status}"), 13, width()).trim_start().to_owned()
        } else {
            format!("{name:longest$}  {status}")
        };
        let line = format!("{mark} {text}");
        let line = match phase.status.as_deref() {
            _ if phase.is_current => painted(BOLD, &line),
            Some("completed") => painted(GREEN, &line),
            _ => painted(DIM, &line),
        };
        writeln!(out, "{}  {line}", painted(crate::cli::screen::CYAN, &format!("{label:9}")))?;
    }
    Ok(())
}
