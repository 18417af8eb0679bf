//! `provost review status`: where the work on a plan stands, on one screen.

use std::io::{self, Write};

use serde_json::Value;

use super::overview::{Overview, Standing, stage, word};
use super::{Here, listed, say};
use crate::cli::screen::{BOLD, GREEN, RED, YELLOW, labelled, painted};
use crate::cli::watch::{self, Seen};
use crate::cli::{Exit, Outcome, Trouble};
use crate::review_loop::phase::Stage;
use crate::review_loop::transition::{Answer, ENOUGH};
use crate::reviewer::Judgement;
use crate::text::one_line;

/// Show where the work on a plan stands, which review is running, and what the next stop does
///
/// A round is one review of the cycle; two clean ones in a row end it. `last` is the review that was written
/// last, with its verdict. While a review is being made, its log can be watched.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review status
  provost review status --plan login-limit
  provost review status --watch
  provost review status --json | jq -r .next_stop.text

Exit codes: 0 shown; 1 there is no such plan.")]
pub(crate) struct Status {
    /// The plan; without, the one whose files were changed last
    #[arg(long)]
    pub(super) plan: Option<String>,
    /// Print JSON; with --watch one line for each change
    #[arg(long)]
    json: bool,
    /// Go on showing it whenever something has changed, until Ctrl-C
    #[arg(long)]
    watch: bool,
}

impl Status {
    pub(crate) fn run(self, here: &Here) -> Outcome {
        if self.watch {
            return watch::follow(!self.json, || {
                let seen = self.look(here)?;
                let facts = seen.as_ref().map_or(Value::Null, Overview::as_json);
                Ok(Seen { facts, text: self.drawn(seen.as_ref(), here)? })
            });
        }
        let seen = self.look(here)?;
        anstream::stdout().lock().write_all(self.drawn(seen.as_ref(), here)?.as_bytes())?;
        Ok(if seen.is_some() { Exit::Done } else { Exit::Found })
    }

    fn look(&self, here: &Here) -> Result<Option<Overview>, Trouble> {
        let chosen = here.choose(self.plan.as_deref());
        Ok(chosen.map(|chosen| Overview::of(&chosen, here)).transpose()?)
    }

    fn drawn(&self, seen: Option<&Overview>, here: &Here) -> io::Result<String> {
        let mut out = Vec::new();
        match (seen, self.json) {
            (None, false) => say(&mut out, &here.no_plan(self.plan.as_deref()))?,
            (None, true) => writeln!(out, "{{\"plan\":null}}")?,
            (Some(overview), true) if self.watch => {
                crate::cli::screen::json_line(&mut out, &overview.as_json())?;
            }
            (Some(overview), true) => crate::cli::screen::json(&mut out, &overview.as_json())?,
            (Some(overview), false) => show(&mut out, overview)?,
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

fn show(out: &mut impl Write, overview: &Overview) -> io::Result<()> {
    let newest = if overview.is_newest && !overview.others.is_empty() { "  (changed last)" } else { "" };
    labelled(out, "plan", &format!("{}{newest}", painted(BOLD, &one_line(&overview.id))))?;
    match &overview.standing {
        Err(unknown) => {
            labelled(out, "state", &painted(RED, &one_line(&unknown.why)))?;
            tasks(out, overview, None)?;
        }
        Ok(standing) => stands(out, overview, standing)?,
    }
    if let Some(last) = &overview.last {
        let verdict = match last.verdict {
            Some(Judgement::Pass) => painted(GREEN, word(Judgement::Pass)),
            Some(Judgement::Fail) => painted(RED, word(Judgement::Fail)),
            None => "no verdict in its last line".into(),
        };
        labelled(out, "last", &format!("{}: {verdict}", one_line(&last.shown)))?;
    }
    match &overview.running {
        None => labelled(out, "running", "no review")?,
        Some(running) => {
            let ago = running.seconds().map_or(String::new(), |seconds| format!(" for {seconds} s"));
            labelled(out, "running", &painted(YELLOW, &format!("a review is being made{ago}")))?;
            if let Some(log) = &running.log {
                labelled(out, "log", &one_line(&log.to_string_lossy()))?;
            }
        }
    }
    for violation in &overview.violations {
        labelled(out, "rules", &painted(RED, &one_line(violation)))?;
    }
    if overview.violations.is_empty() {
        labelled(out, "rules", "the plan's files keep the ground rules")?;
    }
    for warning in &overview.warnings {
        let text = warning.strip_prefix("Warning: ").unwrap_or(warning);
        labelled(out, "warning", &painted(YELLOW, &one_line(text)))?;
    }
    let plan = &overview.argument;
    match &overview.standing {
        Err(unknown) => {
            labelled(out, "next stop", "it goes through: without a state nothing is reviewed")?;
            labelled(out, "go on", &unknown.go_on)?;
        }
        Ok(standing) => {
            labelled(out, "next stop", &standing.next_stop)?;
            labelled(out, "go on", &standing.go_on)?;
            if standing.state.is_in_loop() {
                let text = format!(
                    "`provost review set{plan} next_phase=null` ends this cycle, `max_reviews=0` skips all reviews"
                );
                labelled(out, "end it", &text)?;
            }
        }
    }
    if !overview.others.is_empty() {
        labelled(out, "others", &listed(&overview.others))?;
    }
    Ok(())
}

/// What the state says.
fn stands(out: &mut impl Write, overview: &Overview, standing: &Standing) -> io::Result<()> {
    let state = &standing.state;
    let phase = |name: Option<&str>| match name {
        None => "none".to_owned(),
        Some(name) if Stage::of(name).is_none() => format!("{} (unknown)", one_line(name)),
        Some(name) => name.to_owned(),
    };
    labelled(out, "stage", stage(state).map_or("unknown", Stage::words))?;
    labelled(
        out,
        "phase",
        &format!("{}, next: {}", phase(state.phase.as_deref()), phase(state.next_phase.as_deref())),
    )?;
    let round = standing.round_in_words();
    let is_over = matches!(standing.answer, Answer::Limit(_));
    labelled(out, "round", &if is_over { painted(YELLOW, &round) } else { round })?;
    if standing.state.is_in_loop() {
        labelled(out, "model", &format!("{} is next", one_line(&state.model)))?;
        labelled(out, "clean", &format!("{} of {ENOUGH} clean in a row", state.clean))?;
    }
    tasks(out, overview, state.current_task.as_deref())
}

fn tasks(out: &mut impl Write, overview: &Overview, current: Option<&str>) -> io::Result<()> {
    let counted = overview.tasks.as_ref().map(|tasks| format!("{} of {} tasks left", tasks.open, tasks.all));
    let current = current.map(|id| format!("task {}", one_line(id)));
    let parts: Vec<String> = current.into_iter().chain(counted).collect();
    if parts.is_empty() { Ok(()) } else { labelled(out, "task", &parts.join("; ")) }
}
