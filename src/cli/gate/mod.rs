//! `provost gate`: a plan and its assessment, for people.

mod assess;
pub(crate) mod parts;
mod relocate;
mod show;
mod status;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::screen::labelled;
use super::{Exit, Outcome, Trouble, workspace_here};
use crate::decision::Fault;
use crate::text::one_line;
use crate::workspace::Workspace;

/// Assess a plan, and see where it stands
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
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Assess(assess::Assess),
    Status(status::Status),
    Show(show::Show),
    Move(relocate::Move),
}

impl Gate {
    pub(crate) fn run(self) -> Outcome {
        let (_, workspace) = workspace_here()?;
        match self.command {
            Command::Assess(command) => command.run(&workspace),
            Command::Status(command) => command.run(&workspace),
            Command::Show(command) => command.run(&workspace),
            Command::Move(command) => command.run(&workspace),
        }
    }
}

/// A plan that is meant.
pub(crate) struct Chosen {
    pub(crate) path: PathBuf,
    /// Nobody named it: it is the one that was changed last.
    is_newest: bool,
}

impl Chosen {
    /// The named plan, or the newest; `None`: there is none.
    pub(crate) fn find(named: Option<&Path>, workspace: &Workspace) -> Option<Self> {
        let path = match named {
            Some(plan) => plan.to_owned(),
            None => workspace.markdown_files(&workspace.plans_directory()?).into_iter().next()?,
        };
        let path = std::path::absolute(&path).unwrap_or(path);
        Some(Self { path: workspace.resolve(&path), is_newest: named.is_none() })
    }
}

/// That there is no plan, and where it was looked for.
fn tell_none(out: &mut impl Write, named: Option<&Path>, workspace: &Workspace) -> Outcome {
    let place = match (named, workspace.plans_directory()) {
        (Some(named), _) => format!("`{}` is not there", named.display()),
        (None, Some(directory)) => format!("there is no plan in {}", directory.display()),
        (None, None) => "there is no directory for plans".into(),
    };
    writeln!(
        out,
        "[RODIN] Must be invoked in plan mode, or with the file of a plan: {}. To fix: Write the plan, or name \
         its file.",
        one_line(&place)
    )?;
    Ok(Exit::Found)
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Io(one_line(&fault.to_string()))
    }
}
