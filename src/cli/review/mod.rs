//! `provost review`: reviews of changes, and of plans, for the user and for agents.

mod changes;
mod next_action;
mod run;
mod set;
mod status;

use clap::Subcommand;

use super::overview::Overview;
use super::screen::{print_sentence, wrap_line};
use super::{CommandResult, Exit};
use crate::review_loop::plan;
use crate::text::{make_one_line, truncate_utf16};

/// Review changes, and show and control the reviews of a plan below `.taskie/plans`
///
/// `provost review run` reviews the changes of any project. Without PLAN, each other command means the plan whose files were changed last. PLAN is the name of a plan's
/// directory, or a path to or into it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review status --watch              what happens, as it happens
  provost review continue                    how to continue the work
  provost review run                         review what is not committed, or the plan that is due
  provost review run main...HEAD --json      review a branch, in CI
  provost review set next_phase=null         end the reviews of this cycle")]
pub(crate) struct Review {
    #[command(subcommand)]
    command: ReviewCommand,
}

#[derive(Subcommand)]
enum ReviewCommand {
    Status(status::ReviewStatus),
    Run(run::ReviewRun),
    Set(set::ReviewSet),
    Continue(next_action::ReviewContinue),
}

/// The plan that a command works on.
#[derive(clap::Args)]
struct PlanArgument {
    /// The plan [default: the one whose files were changed last]
    #[arg(long)]
    plan: Option<String>,
}

impl Review {
    pub(crate) fn run(self) -> CommandResult {
        let plan = match &self.command {
            ReviewCommand::Status(status::ReviewStatus { plan, .. })
            | ReviewCommand::Run(run::ReviewRun { plan, .. })
            | ReviewCommand::Set(set::ReviewSet { plan, .. })
            | ReviewCommand::Continue(next_action::ReviewContinue { plan, .. }) => plan.plan.as_deref(),
        };
        let overview = Overview::open_for_plan(plan)?;
        match (&self.command, overview.choose_review_plan(plan)) {
            (ReviewCommand::Status(command), _) => command.run(&overview),
            (ReviewCommand::Run(command), _) if command.is_about_changes(&overview) => {
                if (overview.client.is_agent_process)() {
                    eprintln!("{}", wrap_line(run::INSIDE_AGENT, 0));
                    return Ok(Exit::NoVerdict);
                }
                changes::run(command, &overview)
            }
            (ReviewCommand::Run(_), _) if (overview.client.is_agent_process)() => refuse(run::INSIDE_AGENT),
            (_, None) => refuse(&explain_missing_plan(&overview, plan)),
            (ReviewCommand::Run(_), Some(chosen)) => run::run(&chosen, &overview),
            (ReviewCommand::Set(command), Some(chosen)) => command.run(&chosen, &overview),
            (ReviewCommand::Continue(command), Some(chosen)) => command.run(&chosen, &overview),
        }
    }
}

/// Why there is no plan to work on.
fn explain_missing_plan(overview: &Overview, named: Option<&str>) -> String {
    let all = plan::list_plans(&overview.cwd, &overview.workspace);
    let mut plans: Vec<String> = all.into_iter().map(|plan| plan.id).collect();
    plans.sort();
    match (named, plans.is_empty()) {
        (Some(named), false) => format!(
            "[provost] there is no plan `{}`. To fix: name one of these with --plan: {}.",
            truncate_utf16(&make_one_line(named), 200),
            list_names(&plans)
        ),
        (None, false) => format!(
            "[provost] no plan has a file yet ({}). To fix: write its plan.md, which `/taskie:new-plan` does.",
            list_names(&plans)
        ),
        (_, true) if plan::has_plans(&overview.cwd, &overview.workspace) => {
            "[provost] there are no plans: `.taskie/plans` is empty. To fix: begin one with `/taskie:new-plan`."
                .into()
        }
        (_, true) => format!(
            "[provost] there are no plans: {} and the directories above it have no `.taskie/plans`. To fix: go to \
             the project of the plan, or begin one with `/taskie:new-plan`.",
            make_one_line(&overview.cwd.to_string_lossy())
        ),
    }
}

/// The first names of a list, and how many more there are.
fn list_names(names: &[String]) -> String {
    const MOST: usize = 8;
    let first = names.iter().take(MOST).map(|name| make_one_line(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => first,
        more => format!("{first}, and {more} more"),
    }
}

/// Says why nothing was done.
fn refuse(text: &str) -> CommandResult {
    print_sentence(&mut anstream::stdout(), text)?;
    Ok(Exit::Problem)
}
