//! `provost gate`: a plan and its assessment, for the user.

mod assess;
mod move_record;
pub(crate) mod parts;
mod show;
mod status;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::screen::{DIM, paint, wrap_line};
use super::{CommandError, CommandResult, Exit, open_current_workspace};
use crate::opinion::Fault;
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// Assess a plan, and show its verdict and gaps
///
/// Without PLAN, each command means the plan that was changed last in the client's plans directory.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate status
  provost gate status --all
  provost gate show
  provost gate assess plans/login.md")]
pub(crate) struct Gate {
    #[command(subcommand)]
    command: GateCommand,
}

#[derive(Subcommand)]
enum GateCommand {
    Assess(assess::Assess),
    Status(status::GateStatus),
    Show(show::GateShow),
    Move(move_record::GateMove),
}

impl Gate {
    pub(crate) fn run(self) -> CommandResult {
        let (_, workspace) = open_current_workspace()?;
        match self.command {
            GateCommand::Assess(command) => command.run(&workspace),
            GateCommand::Status(command) => command.run(&workspace),
            GateCommand::Show(command) => command.run(&workspace),
            GateCommand::Move(command) => command.run(&workspace),
        }
    }
}

/// The plan that a command works on.
pub(crate) struct PlanChoice {
    pub(crate) path: PathBuf,
    /// The user named no plan, so it is the one that was changed last.
    is_newest: bool,
}

impl PlanChoice {
    /// The named plan, or the one that was changed last.
    pub(crate) fn find(named: Option<&Path>, workspace: &Workspace) -> Option<Self> {
        let path = match named {
            Some(plan) => plan.to_owned(),
            None => workspace.list_markdown(&workspace.plans_directory()?).into_iter().next()?,
        };
        let path = std::path::absolute(&path).unwrap_or(path);
        Some(Self { path: workspace.resolve(&path), is_newest: named.is_none() })
    }

    /// What is shown after the plan's path.
    fn newest_mark(&self) -> &'static str {
        if self.is_newest { "  (changed last)" } else { "" }
    }
}

/// Says that there is no plan, and where it was searched.
fn refuse_without_plan(out: &mut impl Write, named: Option<&Path>, workspace: &Workspace) -> CommandResult {
    let place = match (named, workspace.plans_directory()) {
        (Some(named), _) => format!("`{}` is not there", named.display()),
        (None, Some(directory)) => format!("there is no plan in {}", directory.display()),
        (None, None) => "there is no directory for plans".into(),
    };
    writeln!(
        out,
        "[RODIN] Must be invoked in plan mode, or with the file of a plan: {}. To fix: Write the plan, or name \
         its file.",
        make_one_line(&place)
    )?;
    Ok(Exit::Problem)
}

/// The result of a command: a word, the plan, and sentences below them.
fn show_result(
    out: &mut impl Write,
    (style, word): (anstyle::Style, &str),
    plan: &Path,
    sentences: &[String],
) -> io::Result<()> {
    let plan = paint(DIM, &make_one_line(&plan.to_string_lossy()));
    writeln!(out, "{}  {plan}", paint(style, word))?;
    for sentence in sentences {
        writeln!(out, "{}", wrap_line(sentence, 2))?;
    }
    Ok(())
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        Self::Io(make_one_line(&fault.to_string()))
    }
}
