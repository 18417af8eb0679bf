//! `provost review run`: runs the review of a plan that is due now.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anstyle::Style;

use super::PlanArgument;
use crate::cli::overview::Overview;
use crate::cli::overview::review::{ChosenPlan, describe_action};
use crate::cli::record_work::record_work;
use crate::cli::screen::{DIM, GREEN, RED, YELLOW, paint, print_sentence, wrap_line};
use crate::cli::{CommandResult, Exit};
use crate::opinion::Fault;
use crate::review_loop::due_review::{Conclusion, ReviewLoop};
use crate::review_loop::file_names;
use crate::review_loop::messages;
use crate::review_loop::next_action;
use crate::review_loop::plan;
use crate::review_loop::transition::{CLEAN_NEEDED, LoopStep, Round, StopAnswer};
use crate::reviewer;
use crate::signals;
use crate::text::make_one_line;

/// Review the changes here, or run the review of a plan that is due
///
/// A fresh reviewer (`reviewer.command`; by default the client itself, without hooks) reads the changes that are not
/// committed, new files included, or those of RANGE: `A..B`, `A...B` (since B left A), or `A` for the work tree against A.
/// Lock files and other files that programs write are left out. Progress goes to standard error, the result to standard
/// output. Ctrl-C ends the reviewer.
///
/// In a project with `.taskie/plans`, and without RANGE or `--json`, it is one step of the review loop, exactly as the hook
/// would do it: Provost also updates state.json.
///
/// It runs in your terminal and in CI. Inside an agent's tool it is refused: there the hook runs the review when the agent
/// stops.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review run                         what is not committed
  provost review run main...HEAD --json      a branch, in CI
  provost review run --plan login-limit      the review of a plan that is due

Exit codes: 0 clean, or nothing to review; 1 findings; 64 there is no such range; 75 there is no
verdict. With a plan: 0 a review was written, with any verdict; 1 none was.")]
pub(crate) struct ReviewRun {
    /// The commits to review [default: what is not committed]
    #[arg(value_name = "RANGE", conflicts_with = "plan")]
    pub(super) range: Option<String>,
    #[command(flatten)]
    pub(super) plan: PlanArgument,
    /// Print JSON
    #[arg(long, conflicts_with = "plan")]
    pub(super) json: bool,
    /// The model that reviews [default: opus]
    #[arg(long, value_name = "NAME", conflicts_with = "plan")]
    pub(super) model: Option<String>,
    /// How long the review may take
    #[arg(long, value_name = "NUMBER", default_value_t = 570, value_parser = clap::value_parser!(u64).range(1..=7100))]
    pub(super) seconds: u64,
}

impl ReviewRun {
    /// Whether it is about changes, and not about a plan.
    pub(super) fn is_about_changes(&self, overview: &Overview) -> bool {
        let has_plans = || plan::has_plans(&overview.cwd, &overview.workspace);
        self.range.is_some() || self.json || self.model.is_some() || self.plan.plan.is_none() && !has_plans()
    }
}

/// Why it does not run inside an agent's tool.
pub(super) const INSIDE_AGENT: &str = "[provost] `review run` does not run inside an agent's tool: there the agent could \
    choose the reviewer (PATH, the model's address). To fix: end your turn; the hook runs the review that is due when \
    you stop.";

pub(super) fn run(chosen: &ChosenPlan, overview: &Overview) -> CommandResult {
    signals::watch_signals();
    // The reviewer that the user's own terminal finds is the one to trust.
    reviewer::remember_reviewer(&overview.workspace, &chosen.plan.root, true);
    let review_loop = ReviewLoop::new(&chosen.plan, &overview.workspace);
    let conclusion = run_with_progress(|show| review_loop.run_due_review(show))?;
    let round = conclusion.record_round(&chosen.plan);
    record_work("provost review run", "review-loop", round, &overview.workspace);
    let answer = conclusion.step.as_ref().map(|step| &step.answer);
    let is_written = matches!(answer, Some(StopAnswer::Block { .. } | StopAnswer::Advance { .. }));
    let result = describe_result(&conclusion, chosen, overview)?;
    // The exit code says it too, so a closed standard output is not an error.
    let _ = result.print(&mut anstream::stdout().lock(), &conclusion.warnings);
    Ok(if is_written { Exit::Done } else { Exit::Problem })
}

/// Reviews. Progress goes to standard error; a terminal also counts the seconds.
pub(super) fn run_with_progress<T>(review: impl FnOnce(&mut dyn FnMut(&str)) -> T) -> T {
    const PAUSE: Duration = Duration::from_secs(1);
    let began = Instant::now();
    let is_terminal = io::stderr().is_terminal();
    thread::scope(|scope| {
        let (sender, lines) = mpsc::channel::<String>();
        scope.spawn(move || {
            let mut is_waiting = false;
            loop {
                let line = lines.recv_timeout(PAUSE);
                let time = paint(DIM, &format!("{:6.1} s", began.elapsed().as_secs_f64()));
                let mut out = anstream::stderr();
                if is_waiting {
                    let _ = io::stderr().write_all(b"\r\x1b[K");
                    is_waiting = false;
                }
                match line {
                    // A closed standard error does not stop the review.
                    Ok(text) if is_terminal => {
                        let text = wrap_line(&text, 10);
                        drop(writeln!(out, "{time}  {}", text.trim_start()));
                    }
                    Ok(text) => drop(writeln!(out, "{time}  {}", make_one_line(&text))),
                    Err(RecvTimeoutError::Timeout) if is_terminal => {
                        let _ = write!(out, "{time}  waiting for the reviewer").and_then(|()| out.flush());
                        is_waiting = true;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        review(&mut |text| drop(sender.send(text.to_owned())))
    })
}

/// What a run came to: a word, the file or plan that it is about, and a text.
struct RunResult {
    style: Style,
    word: &'static str,
    about: String,
    text: String,
}

impl RunResult {
    fn print(&self, out: &mut impl Write, warnings: &[String]) -> io::Result<()> {
        for warning in warnings {
            print_sentence(out, warning)?;
        }
        writeln!(out, "{}  {}", paint(self.style, self.word), paint(DIM, &make_one_line(&self.about)))?;
        writeln!(out, "{}", wrap_line(&self.text, 2))
    }
}

fn describe_result(
    conclusion: &Conclusion,
    chosen: &ChosenPlan,
    overview: &Overview,
) -> Result<RunResult, Fault> {
    let argument = chosen.argument();
    let of_plan =
        |style, word, text: String| Ok(RunResult { style, word, about: chosen.plan.id.clone(), text });
    if conclusion.runs_elsewhere {
        let text = format!(
            "Another process is running the review that is due, or has just finished it. To fix: `provost review \
             status{argument}` shows the result."
        );
        return of_plan(Style::new(), "no review", text);
    }
    let Some(LoopStep { state, answer }) = &conclusion.step else {
        let text = format!(
            "{} is missing or cannot be read, so nothing is due. To fix: `provost review status{argument}` shows what \
             is wrong with it; if it is missing, `provost review set{argument} --new` creates it.",
            chosen.plan.display_file("state.json", &overview.cwd)
        );
        return of_plan(Style::new(), "no review", text);
    };
    let why = conclusion.why.as_deref();
    let max = state.max_reviews;
    let name_round = |round: &Round| {
        let subject = messages::name_review_for(round.review, state);
        format!("The {subject}, round {} of {max}, by {},", round.number, make_one_line(&round.model))
    };
    let next = || -> Result<String, Fault> {
        let review_loop = ReviewLoop::new(&chosen.plan, &overview.workspace);
        let route = next_action::find_route(state, next_action::read_finished_work(&review_loop, state)?);
        Ok(format!("To continue: {}.", describe_action(route.action, &argument)))
    };
    let of_review = |round: &Round, is_clean: bool, text: String| {
        let subject = round.review.subject(state.current_task.as_deref());
        let file = subject.map(|subject| file_names::review_name(subject, false, round.number));
        let about =
            file.map_or_else(|_| String::new(), |file| chosen.plan.display_file(&file, &overview.cwd));
        let (style, word) = if is_clean { (GREEN, "clean") } else { (RED, "issues") };
        Ok(RunResult { style, word, about, text })
    };
    match answer {
        StopAnswer::Block { round, clean } => {
            let found = if *clean {
                format!("found nothing to fix: {} of {CLEAN_NEEDED} clean in a row", state.clean)
            } else {
                "found issues".into()
            };
            of_review(round, *clean, format!("{} {found}. {}", name_round(round), next()?))
        }
        StopAnswer::Advance { round, to } => {
            let text = format!(
                "{} found nothing to fix: {CLEAN_NEEDED} of {CLEAN_NEEDED} clean in a row, so the cycle is over. Next: {to}. {}",
                name_round(round),
                next()?
            );
            of_review(round, true, text)
        }
        StopAnswer::NoVerdict(round) => {
            let text = format!(
                "{} has no result: {}. The state does not change; `provost review run{argument}` or the next stop \
                 tries again.",
                name_round(round),
                why.unwrap_or("no verdict").trim_end_matches('.')
            );
            of_plan(YELLOW, "nothing", text)
        }
        StopAnswer::Limit(review) => {
            let text = format!(
                "The {} has had all its {max} reviews and was not clean {CLEAN_NEEDED} times in a row. To continue: read the \
                 last review; then `provost review set{argument} phase_iteration=0 consecutive_clean=0` starts another \
                 cycle, or set next_phase to what comes next.",
                messages::name_review_for(*review, state)
            );
            of_plan(YELLOW, "limit", text)
        }
        StopAnswer::Skip { review, to } => {
            let subject = messages::name_review_for(*review, state);
            let text = format!("The {subject} is skipped, because max_reviews is 0. Next: {to}. {}", next()?);
            of_plan(YELLOW, "skipped", text)
        }
        // INVARIANT: `Ask` cannot come here, because a review that was due has run by now.
        StopAnswer::Nothing | StopAnswer::Review(_) => {
            let due = state.next_phase.as_deref().map(|next| format!(", but {} is", make_one_line(next)));
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            let text = format!("No review is due{}{why}. {}", due.unwrap_or_default(), next()?);
            of_plan(Style::new(), "no review", text)
        }
    }
}
