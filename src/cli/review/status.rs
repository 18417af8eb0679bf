//! `provost review status`: where the work on a plan stands, on one screen.

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::Duration;

use super::overview::{Overview, Standing, stage, word};
use super::{Here, listed, say};
use crate::cli::screen::{BOLD, GREEN, RED, YELLOW, labelled, painted};
use crate::cli::{Exit, Outcome, Trouble};
use crate::clock;
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
            return self.watch(here);
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
            (Some(overview), true) if self.watch => writeln!(out, "{}", overview.as_json())?,
            (Some(overview), true) => writeln!(out, "{:#}", overview.as_json())?,
            (Some(overview), false) => show(&mut out, overview)?,
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    fn watch(&self, here: &Here) -> Outcome {
        const PAUSE: Duration = Duration::from_secs(1);
        let on_terminal = io::stdout().is_terminal() && !self.json;
        let mut shown: Option<Option<Overview>> = None;
        loop {
            let seen = match self.look(here) {
                Ok(seen) => seen,
                Err(trouble) if shown.is_none() => return Err(trouble),
                // A file that vanishes while it is looked at is there, or not, the next time.
                Err(_) => {
                    thread::sleep(PAUSE);
                    continue;
                }
            };
            // Only a terminal counts the seconds of a review.
            let counts = on_terminal && seen.as_ref().is_some_and(|seen| seen.running.is_some());
            if counts || shown.as_ref() != Some(&seen) {
                let text = self.drawn(seen.as_ref(), here)?;
                if on_terminal {
                    redraw(&text)?;
                } else {
                    let gap = if shown.is_some() && !self.json { "\n" } else { "" };
                    let mut out = anstream::stdout().lock();
                    write!(out, "{gap}{text}")?;
                    out.flush()?;
                }
                shown = Some(seen);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Draws over what is on the terminal, line by line, so that nothing flickers.
fn redraw(text: &str) -> io::Result<()> {
    let size = terminal_size::terminal_size();
    let (width, height) = size.map_or((usize::MAX, usize::MAX), |(width, height)| {
        (usize::from(width.0).max(1), usize::from(height.0))
    });
    let mut out = io::stdout().lock();
    // The moves of the cursor are no colours, and stay where nobody wants colours.
    let plain = anstream::AutoStream::choice(&out) == anstream::ColorChoice::Never;
    let mut screen = String::from("\x1b[H");
    for line in fitting(text, width, height.saturating_sub(1)) {
        if plain {
            screen += &anstream::adapter::strip_str(line).to_string();
        } else {
            screen += line;
        }
        screen += "\x1b[K\n";
    }
    screen += "\x1b[J";
    out.write_all(screen.as_bytes())?;
    out.flush()
}

/// The first lines of a text, as many as fit. A path or a command may need more than one row.
fn fitting(text: &str, width: usize, height: usize) -> impl Iterator<Item = &str> {
    let mut used: usize = 0;
    text.lines().take_while(move |line| {
        let letters = anstream::adapter::strip_str(line).to_string().chars().count();
        used = used.saturating_add(letters.div_ceil(width).max(1));
        used <= height
    })
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
            let ago = running.began.map(|began| clock::since_1970().saturating_sub(began).as_secs());
            let ago = ago.map_or(String::new(), |seconds| format!(" for {seconds} s"));
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
    let max = state.max_reviews;
    let round = match (&standing.answer, standing.round(), state.iteration) {
        (Answer::Limit(_), ..) => painted(YELLOW, &format!("all {max} of {max} are made")),
        (Answer::Skip { .. }, ..) => "none: max_reviews is 0".into(),
        (Answer::Ask(_), Some(number), _) => format!("round {number} of {max} is due"),
        (_, Some(number), _) => format!("round {number} of {max} waits for its answer"),
        (_, None, Some(made)) => format!("{made} of {max} were made in the last cycle"),
        (_, None, None) => "none: this is no review cycle".into(),
    };
    labelled(out, "round", &round)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_drawn_than_the_terminal_has_rows() {
        let rows = |width, height| fitting("one\n\n\x1b[36m1234567890\x1b[0m\nend", width, height).count();
        assert_eq!((rows(10, 4), rows(10, 3), rows(5, 4), rows(5, 3), rows(9, 5)), (4, 3, 3, 2, 4));
        assert_eq!(rows(80, 0), 0);
    }
}
