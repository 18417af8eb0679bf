//! `provost review run`: the review that is due, now.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Chosen, Here, advice, refuse, say};
use crate::cli::screen::{DIM, GREEN, RED, YELLOW, painted, width, wrapped};
use crate::cli::{Exit, Outcome};
use crate::decision::Fault;
use crate::review_loop::messages;
use crate::review_loop::names;
use crate::review_loop::phase::Review;
use crate::review_loop::rounds::{self, Conclusion, Loop};
use crate::review_loop::route;
use crate::review_loop::state::State;
use crate::review_loop::transition::{Answer, ENOUGH, Step};
use crate::reviewer;
use crate::text::one_line;

/// Have the review made that is due, without waiting for the agent to stop
///
/// One step of the loop, exactly as the hook would make it: the reviewer (`reviewer.command`; by default the
/// client itself, without hooks) writes its file and gives its verdict, and state.json is updated. Progress
/// goes to standard error, the result to standard output. Ctrl-C ends the reviewer, and the state keeps its
/// place.
///
/// A person runs it. From inside an agent's tool it is refused: there the hook makes the review when the
/// agent stops.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review run
  provost review run --plan login-limit

Exit codes: 0 a review was made, whatever its verdict; 1 none was.")]
pub(crate) struct Run {
    /// The plan; without, the one whose files were changed last
    #[arg(long)]
    pub(super) plan: Option<String>,
}

impl Run {
    pub(crate) fn run(self, here: &Here) -> Outcome {
        let mut out = anstream::stdout().lock();
        if (here.workspace.client.is_inside)() {
            return refuse(
                &mut out,
                "[provost] `review run` does not run inside an agent's tool: what decides which reviewer is asked \
                 (PATH, the model's address) could be the agent's there. To fix: end your turn; the hook makes the \
                 review that is due when you stop.",
            );
        }
        let Some(chosen) = here.choose(self.plan.as_deref()) else {
            return refuse(&mut out, &here.no_plan(self.plan.as_deref()));
        };
        reviewer::heed_interruptions();
        // The user's own terminal says which program reviews.
        reviewer::remember(&here.workspace, &chosen.plan.root, true);
        let conclusion = with_progress(&Loop { plan: &chosen.plan, workspace: &here.workspace })?;
        // Where nobody reads, the exit code still tells.
        let made = matches!(
            &conclusion.step,
            Some(Step { answer: Answer::Hold { .. } | Answer::Advance { .. }, .. })
        );
        match tell(&mut out, &conclusion, &chosen, here) {
            Ok(()) => {}
            Err(Told::Fault(fault)) => return Err(fault.into()),
            Err(Told::Unread) => {}
        }
        Ok(if made { Exit::Done } else { Exit::Found })
    }
}

/// Why the outcome could not be told.
enum Told {
    Unread,
    Fault(Fault),
}

impl From<io::Error> for Told {
    fn from(_: io::Error) -> Self {
        Self::Unread
    }
}

impl From<Fault> for Told {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Goes one step. What happens is told on standard error, and a terminal counts the seconds.
fn with_progress(steps: &Loop<'_>) -> Result<Conclusion, Fault> {
    const PAUSE: Duration = Duration::from_secs(1);
    let began = Instant::now();
    let is_terminal = io::stderr().is_terminal();
    thread::scope(|scope| {
        let (line, lines) = mpsc::channel::<String>();
        scope.spawn(move || {
            let mut waiting = false;
            loop {
                let heard = lines.recv_timeout(PAUSE);
                let time = painted(DIM, &format!("{:6.1} s", began.elapsed().as_secs_f64()));
                let mut out = anstream::stderr();
                if waiting {
                    let _ = io::stderr().write_all(b"\r\x1b[K");
                    waiting = false;
                }
                match heard {
                    // Whether anybody watches changes nothing.
                    Ok(text) if is_terminal => {
                        let text = wrapped(&one_line(&text), 10, width());
                        drop(writeln!(out, "{time}  {}", text.trim_start()));
                    }
                    Ok(text) => drop(writeln!(out, "{time}  {}", one_line(&text))),
                    Err(RecvTimeoutError::Timeout) if is_terminal => {
                        let _ = write!(out, "{time}  waiting for the reviewer").and_then(|()| out.flush());
                        waiting = true;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        steps.advance(&mut |text| drop(line.send(text.to_owned())))
    })
}

fn tell(out: &mut impl Write, conclusion: &Conclusion, chosen: &Chosen, here: &Here) -> Result<(), Told> {
    for warning in &conclusion.warnings {
        say(out, warning)?;
    }
    if conclusion.elsewhere {
        headline(out, anstyle::Style::new(), "no review", &chosen.plan.id)?;
        let text = format!(
            "The review that is due is being made by another process right now, or was made a moment ago. To fix: \
             `provost review status{}` shows what it comes to.",
            chosen.argument()
        );
        return Ok(below(out, &text)?);
    }
    if let Some(step) = &conclusion.step {
        return tell_step(out, step, conclusion.why.as_deref(), chosen, here);
    }
    let (file, argument) = (chosen.shown("state.json", &here.cwd), chosen.argument());
    headline(out, anstyle::Style::new(), "no review", &chosen.plan.id)?;
    let text = format!(
        "Nothing says what is due: {file} is not there, or cannot be read. To fix: `provost review status{argument}` \
         tells what is wrong with it; without one, `provost review set{argument} --new` makes it."
    );
    Ok(below(out, &text)?)
}

fn tell_step(
    out: &mut impl Write,
    Step { state, answer }: &Step,
    why: Option<&str>,
    chosen: &Chosen,
    here: &Here,
) -> Result<(), Told> {
    let argument = chosen.argument();
    let max = state.max_reviews;
    let written = |review: Review, number: u64| match rounds::subject(review, state) {
        Ok(subject) => chosen.shown(&names::review(subject, false, number), &here.cwd),
        Err(_) => String::new(),
    };
    let next = |state: &State| -> Result<String, Fault> {
        let looked = Loop { plan: &chosen.plan, workspace: &here.workspace };
        let route = route::route(state, route::done(&looked, state)?);
        Ok(format!("To go on: {}.", advice(route.action, &argument)))
    };
    match answer {
        Answer::Hold { round, clean } => {
            let (style, word) = if *clean { (GREEN, "clean") } else { (RED, "issues") };
            headline(out, style, word, &written(round.review, round.number))?;
            let found = if *clean {
                format!("found nothing that must be mended: {} of {ENOUGH} clean in a row", state.clean)
            } else {
                "found issues".into()
            };
            let text = format!(
                "The {}, round {} of {max}, by {}, {found}. {}",
                messages::of(round.review, state),
                round.number,
                one_line(&round.model),
                next(state)?
            );
            below(out, &text)?;
        }
        Answer::Advance { round, to } => {
            headline(out, GREEN, "clean", &written(round.review, round.number))?;
            let text = format!(
                "The {}, round {} of {max}, by {}, found nothing that must be mended: {ENOUGH} of {ENOUGH} clean in a \
                 row, so the cycle is over. Next: {to}. {}",
                messages::of(round.review, state),
                round.number,
                one_line(&round.model),
                next(state)?
            );
            below(out, &text)?;
        }
        Answer::Unanswered(round) => {
            headline(out, YELLOW, "nothing", &chosen.plan.id)?;
            let why = why.unwrap_or("no verdict");
            let text = format!(
                "The {}, round {} of {max}, came to nothing: {}. The state keeps its place; `provost review \
                 run{argument}` or the next stop tries again.",
                messages::of(round.review, state),
                round.number,
                why.trim_end_matches('.')
            );
            below(out, &text)?;
        }
        Answer::Limit(review) => {
            headline(out, YELLOW, "limit", &chosen.plan.id)?;
            let text = format!(
                "The {} has had all its {max} reviews and was not clean {ENOUGH} times in a row. To go on: read the \
                 last review; then `provost review set{argument} phase_iteration=0 consecutive_clean=0` begins another \
                 cycle, or set next_phase to what comes next.",
                messages::of(*review, state)
            );
            below(out, &text)?;
        }
        Answer::Skip { review, to } => {
            headline(out, YELLOW, "skipped", &chosen.plan.id)?;
            let text = format!(
                "The {} is skipped, because max_reviews is 0. Next: {to}. {}",
                messages::of(*review, state),
                next(state)?
            );
            below(out, &text)?;
        }
        // INVARIANT: a review that is due has been made by now.
        Answer::Nothing | Answer::Ask(_) => {
            headline(out, anstyle::Style::new(), "no review", &chosen.plan.id)?;
            let due = state
                .next_phase
                .as_deref()
                .map_or(String::new(), |next| format!(", but {} is", one_line(next)));
            let changed = why.map_or(String::new(), |why| format!(" ({why})"));
            below(out, &format!("No review is due{due}{changed}. {}", next(state)?))?;
        }
    }
    Ok(())
}

fn headline(out: &mut impl Write, style: anstyle::Style, word: &str, about: &str) -> io::Result<()> {
    writeln!(out, "{}  {}", painted(style, word), painted(DIM, &one_line(about)))
}

fn below(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", wrapped(&one_line(text), 2, width()))
}
