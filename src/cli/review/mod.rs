//! `provost review`: the work on a plan and its reviews, for people and for agents.

pub(crate) mod overview;
mod resume;
mod run;
mod set;
mod status;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::screen::{width, wrapped};
use super::{Exit, Outcome, current_directory};
use crate::clients;
use crate::event::{Event, Kind};
use crate::review_loop::plan::{self, Plan};
use crate::review_loop::route::Action;
use crate::text::{bounded, one_line};
use crate::workspace::{Workspace, resolve};

/// See and steer the reviews of a plan below `.taskie/plans`
///
/// Without PLAN, each command means the plan whose files were changed last. PLAN is the name of a plan's
/// directory, or a path to or into it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review status --watch              what happens, as it happens
  provost review continue                    how to go on
  provost review run                         make the review that is due now
  provost review set next_phase=null         end the reviews of this cycle")]
pub(crate) struct Review {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Status(status::Status),
    Run(run::Run),
    Set(set::Set),
    Continue(resume::Continue),
}

impl Review {
    pub(crate) fn run(self) -> Outcome {
        let cwd = current_directory()?;
        let cwd = resolve(&cwd);
        let mut here = Here::at(cwd.clone(), cwd.clone());
        // A path may lead into another project, whose settings count then.
        if let Some(name) = self.command.plan().filter(|name| here.choose(Some(name)).is_none()) {
            let there = Here::at(resolve(&cwd.join(name)), cwd);
            if there.choose(Some(name)).is_some() {
                here = there;
            }
        }
        match self.command {
            Command::Status(command) => command.run(&here),
            Command::Run(command) => command.run(&here),
            Command::Set(command) => command.run(&here),
            Command::Continue(command) => command.run(&here),
        }
    }
}

impl Command {
    fn plan(&self) -> Option<&str> {
        let plan = match self {
            Self::Status(status::Status { plan, .. })
            | Self::Run(run::Run { plan })
            | Self::Set(set::Set { plan, .. })
            | Self::Continue(resume::Continue { plan, .. }) => plan,
        };
        plan.as_deref()
    }
}

/// Where a command was called.
pub(crate) struct Here {
    cwd: PathBuf,
    /// Where plans are looked for: here, or at the path of the plan.
    start: PathBuf,
    pub(crate) workspace: Workspace,
}

/// A plan that is meant.
pub(crate) struct Chosen {
    plan: Plan,
    /// Nobody named it: it is the one that was changed last.
    is_newest: bool,
    /// It belongs to another project than the one that the command was called in.
    is_elsewhere: bool,
    /// The names of all other plans.
    others: Vec<String>,
}

impl Here {
    fn at(start: PathBuf, cwd: PathBuf) -> Self {
        let event = Event::new(String::new(), Kind::Other, start.clone());
        Self { workspace: Workspace::of(clients::DEFAULT, &event), start, cwd }
    }

    /// The same for a workspace that is known already.
    pub(crate) fn within(workspace: Workspace, cwd: PathBuf) -> Self {
        Self { start: cwd.clone(), cwd, workspace }
    }

    /// The named plan, or the newest; `None`: there is none.
    pub(crate) fn choose(&self, named: Option<&str>) -> Option<Chosen> {
        let plan = match named {
            Some(name) if self.is_elsewhere() => {
                Plan::named(self.cwd.join(name).to_str()?, &self.start, &self.workspace)?
            }
            Some(name) => Plan::named(name, &self.start, &self.workspace)?,
            None => Plan::newest(&self.cwd, &self.workspace)?,
        };
        let all = plan::all(&self.start, &self.workspace).into_iter();
        let mut others: Vec<String> = all.filter(|other| *other != plan).map(|other| other.id).collect();
        others.sort();
        Some(Chosen { plan, is_newest: named.is_none(), is_elsewhere: self.is_elsewhere(), others })
    }

    /// Whether the plan was named by a path into another project.
    fn is_elsewhere(&self) -> bool {
        self.start != self.cwd
    }

    /// Why no plan is meant.
    fn no_plan(&self, named: Option<&str>) -> String {
        let all = plan::all(&self.cwd, &self.workspace);
        let mut there: Vec<String> = all.into_iter().map(|plan| one_line(&plan.id)).collect();
        there.sort();
        match (named, there.is_empty()) {
            (Some(named), false) => format!(
                "[provost] there is no plan `{}`. To fix: name one of these with --plan: {}.",
                bounded(&one_line(named), 200),
                listed(&there)
            ),
            (None, false) => format!(
                "[provost] no plan has a file yet ({}). To fix: write its plan.md, which `/taskie:new-plan` does.",
                listed(&there)
            ),
            (_, true) if plan::is_place(&self.cwd, &self.workspace) => {
                "[provost] there are no plans: `.taskie/plans` has no directory of one. To fix: begin one with \
                 `/taskie:new-plan`."
                    .into()
            }
            (_, true) => format!(
                "[provost] there are no plans: {} and the directories above it have no `.taskie/plans`. To fix: go to \
                 the project of the plan, or begin one with `/taskie:new-plan`.",
                one_line(&self.cwd.to_string_lossy())
            ),
        }
    }
}

impl Chosen {
    /// What a command line needs so that this plan is meant, with a blank in front.
    fn argument(&self) -> String {
        if self.is_newest && self.others.is_empty() { String::new() } else { self.name() }
    }

    /// The argument that names this plan, with a blank in front.
    fn name(&self) -> String {
        let plan = &self.plan;
        format!(" {}", if self.is_elsewhere { plan.argument_anywhere() } else { plan.argument() })
    }

    /// The path of one of its files, for whoever called.
    fn shown(&self, name: &str, cwd: &Path) -> String {
        self.plan.shown(name, cwd)
    }
}

/// Names in a row; beyond a few, how many more there are.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names.iter().take(MOST).map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}

/// What a person does to take a route.
fn advice(action: Action, plan: &str) -> String {
    match action {
        Action::Stop => format!(
            "when the agent ends its turn, the hook makes the review; `provost review run{plan}` makes it now"
        ),
        Action::Command(name) => format!("`/taskie:continue-plan` goes on with {name}"),
        Action::Complete => "`/taskie:continue-plan` sets the plan to complete".into(),
        Action::Tell => "nothing: the plan is complete".into(),
        Action::Ask => {
            format!("say what is due with `provost review set{plan} next_phase=…`, or run its command")
        }
    }
}

/// A sentence on lines that are comfortable to read.
fn say(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", wrapped(&one_line(text), 0, width()))
}

/// Says why nothing was done.
fn refuse(out: &mut impl Write, text: &str) -> Outcome {
    say(out, text)?;
    Ok(Exit::Found)
}
