//! `provost review status`: the state of the work on a plan, on one screen.

use std::io::{self, Write};

use serde_json::Value;

use super::{PlanArgument, explain_missing_plan, list_names};
use crate::cli::overview::Overview;
use crate::cli::overview::review::{ReviewCycle, ReviewProgress, find_stage, name_verdict};
use crate::cli::screen::{self, BOLD, GREEN, RED, YELLOW, paint, print_labelled, print_sentence};
use crate::cli::watch::{self, WatchedView};
use crate::cli::{CommandError, CommandResult, Exit};
use crate::review_loop::phase::PlanStage;
use crate::review_loop::transition::{CLEAN_NEEDED, StopAnswer};
use crate::review_verdict::ReviewVerdict;
use crate::text::make_one_line;

/// Show the progress of a plan, which review is running, and what happens at the next stop
///
/// A round is one review of the cycle; two clean ones in a row end it. `last` is the review that was written last,
/// with its verdict. While a review runs, you can watch its log.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review status
  provost review status --plan login-limit
  provost review status --watch
  provost review status --json | jq -r .next_stop.text

Exit codes: 0 shown; 1 there is no such plan.")]
pub(crate) struct ReviewStatus {
    #[command(flatten)]
    pub(super) plan: PlanArgument,
    /// Print JSON; with --watch, one line for each change
    #[arg(long)]
    json: bool,
    /// Show it again after every change, until Ctrl-C
    #[arg(long)]
    watch: bool,
}

impl ReviewStatus {
    pub(super) fn run(&self, overview: &Overview) -> CommandResult {
        if self.watch {
            return watch::show_changes(!self.json, || {
                let progress = self.read(overview)?;
                let facts = progress.as_ref().map_or(Value::Null, ReviewProgress::as_json);
                Ok(WatchedView { facts, text: self.render(progress.as_ref(), overview)? })
            });
        }
        let progress = self.read(overview)?;
        anstream::stdout().lock().write_all(self.render(progress.as_ref(), overview)?.as_bytes())?;
        Ok(if progress.is_some() { Exit::Done } else { Exit::Problem })
    }

    fn read(&self, overview: &Overview) -> Result<Option<ReviewProgress>, CommandError> {
        let chosen = overview.choose_review_plan(self.plan.plan.as_deref());
        Ok(chosen.map(|chosen| ReviewProgress::read(&chosen, overview)).transpose()?)
    }

    fn render(&self, progress: Option<&ReviewProgress>, overview: &Overview) -> io::Result<String> {
        let mut out = Vec::new();
        match (progress, self.json) {
            (None, false) => {
                print_sentence(&mut out, &explain_missing_plan(overview, self.plan.plan.as_deref()))?;
            }
            (None, true) => writeln!(out, "{{\"plan\":null}}")?,
            (Some(progress), true) if self.watch => screen::print_json_line(&mut out, &progress.as_json())?,
            (Some(progress), true) => screen::print_json(&mut out, &progress.as_json())?,
            (Some(progress), false) => show(&mut out, progress)?,
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

fn show(out: &mut impl Write, progress: &ReviewProgress) -> io::Result<()> {
    let newest = if progress.is_newest && !progress.others.is_empty() { "  (changed last)" } else { "" };
    print_labelled(out, "plan", &format!("{}{newest}", paint(BOLD, &make_one_line(&progress.id))))?;
    match &progress.cycle {
        Err(unknown) => print_labelled(out, "state", &paint(RED, &make_one_line(&unknown.why)))?,
        Ok(cycle) => show_cycle(out, cycle)?,
    }
    show_tasks(out, progress)?;
    if let Some(last) = &progress.last {
        let verdict = match last.verdict {
            Some(verdict @ ReviewVerdict::Pass) => paint(GREEN, name_verdict(verdict)),
            Some(verdict @ ReviewVerdict::Fail) => paint(RED, name_verdict(verdict)),
            None => "no verdict in its last line".into(),
        };
        print_labelled(out, "last", &format!("{}: {verdict}", make_one_line(&last.short)))?;
    }
    match &progress.running {
        None => print_labelled(out, "running", "no review")?,
        Some(running) => {
            print_labelled(out, "running", &paint(YELLOW, &running.describe()))?;
            if let Some(log) = &running.log {
                print_labelled(out, "log", &make_one_line(&log.to_string_lossy()))?;
            }
        }
    }
    for violation in &progress.violations {
        print_labelled(out, "rules", &paint(RED, &make_one_line(violation)))?;
    }
    if progress.violations.is_empty() {
        print_labelled(out, "rules", "the plan's files follow the ground rules")?;
    }
    for warning in &progress.warnings {
        let text = warning.strip_prefix("Warning: ").unwrap_or(warning);
        print_labelled(out, "warning", &paint(YELLOW, &make_one_line(text)))?;
    }
    match &progress.cycle {
        Err(unknown) => {
            print_labelled(out, "next stop", "the agent may stop: without a state, no review runs")?;
            print_labelled(out, "continue", &unknown.next_step)?;
        }
        Ok(cycle) => {
            print_labelled(out, "next stop", &cycle.at_next_stop)?;
            print_labelled(out, "continue", &cycle.next_step)?;
            if cycle.state.is_in_loop() {
                let text = format!(
                    "`provost review set{} next_phase=null` ends this cycle, `max_reviews=0` skips all reviews",
                    progress.argument
                );
                print_labelled(out, "end it", &text)?;
            }
        }
    }
    if progress.others.is_empty() {
        return Ok(());
    }
    print_labelled(out, "others", &list_names(&progress.others))
}

/// What the state says.
fn show_cycle(out: &mut impl Write, cycle: &ReviewCycle) -> io::Result<()> {
    let state = &cycle.state;
    let phase = |name: Option<&str>| match name {
        None => "none".to_owned(),
        Some(name) if PlanStage::from_phase(name).is_none() => format!("{} (unknown)", make_one_line(name)),
        Some(name) => name.to_owned(),
    };
    print_labelled(out, "stage", find_stage(state).map_or("unknown", PlanStage::label))?;
    let (current, next) = (phase(state.phase.as_deref()), phase(state.next_phase.as_deref()));
    print_labelled(out, "phase", &format!("{current}, next: {next}"))?;
    let round = cycle.describe_round();
    let is_over = matches!(cycle.answer, StopAnswer::Limit(_));
    print_labelled(out, "round", &if is_over { paint(YELLOW, &round) } else { round })?;
    if state.is_in_loop() {
        print_labelled(out, "model", &format!("{} is next", make_one_line(&state.model)))?;
        print_labelled(out, "clean", &format!("{} of {CLEAN_NEEDED} clean in a row", state.clean))?;
    }
    Ok(())
}

fn show_tasks(out: &mut impl Write, progress: &ReviewProgress) -> io::Result<()> {
    let current = progress.cycle.as_ref().ok().and_then(|cycle| cycle.state.current_task.as_deref());
    let count = progress.tasks.as_ref().map(|tasks| format!("{} of {} tasks left", tasks.open, tasks.all));
    let current = current.map(|id| format!("task {}", make_one_line(id)));
    let parts: Vec<String> = current.into_iter().chain(count).collect();
    if parts.is_empty() { Ok(()) } else { print_labelled(out, "task", &parts.join("; ")) }
}
