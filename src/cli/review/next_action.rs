//! `provost review continue`: how the work on a plan continues.

use std::io::{self, Write};

use super::{PlanArgument, list_names};
use crate::cli::overview::Overview;
use crate::cli::overview::review::{ChosenPlan, name_answer};
use crate::cli::screen::{BOLD, paint, print_labelled, print_sentence};
use crate::cli::{CommandResult, Exit};
use crate::review_loop::due_review::ReviewLoop;
use crate::review_loop::next_action::{self, NextAction, Route};
use crate::review_loop::phase::{CONTINUE_TASK, NEW_PLAN};
use crate::review_loop::prompts;
use crate::review_loop::state::{LoopState, StateFile};
use crate::text::make_one_line;

/// The placeholder, in a command's text, for the words that the user typed after the command.
const WORDS: &str = "$ARGUMENTS";
const NO_WORDS: &str = "(nothing more: this action comes from continue-plan)";
const WORDS_OF_A_PLAN: &str = "(the text of the existing plan.md; ask only if there is none)";

/// Show how the work on a plan continues: the route for its state, and with --with-action its instructions
///
/// The route is a command of the plugin, or `stop` (the review that is due runs when the agent stops), `complete`,
/// `tell` (everything is done) or `ask` (only the user knows). `/taskie:continue-plan` follows it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review continue
  provost review continue --plan login-limit --with-action

Exit codes: 0 the route is shown; 1 there is no such plan.")]
pub(crate) struct ReviewContinue {
    #[command(flatten)]
    pub(super) plan: PlanArgument,
    /// Print the instructions of the action, too
    #[arg(long)]
    with_action: bool,
}

impl ReviewContinue {
    pub(super) fn run(&self, chosen: &ChosenPlan, overview: &Overview) -> CommandResult {
        let mut out = anstream::stdout().lock();
        let review_loop = ReviewLoop::new(&chosen.plan, &overview.workspace);
        let unreadable = |why: &str| {
            format!(
                "state.json cannot be read ({why}). Tell the user, who has to fix it; change nothing before that."
            )
        };
        let state = match review_loop.read_state() {
            Ok(None) => Err((
                "git history",
                "There is no state.json, as in a plan from before it existed. Use the git history and the plan's \
                 files: tell the user where the work seems to be, and continue from there."
                    .to_owned(),
            )),
            Ok(Some(bytes)) => StateFile::parse(&bytes)
                .map(|file| file.state())
                .map_err(|malformed| ("ask", unreadable(&malformed.0))),
            Err(fault) => Err(("ask", unreadable(&fault.to_string()))),
        };
        let state = match state {
            Ok(state) => state,
            Err((route, text)) => {
                show_route(&mut out, route, &text, chosen, overview)?;
                return Ok(Exit::Done);
            }
        };
        let route = next_action::find_route(&state, next_action::read_finished_work(&review_loop, &state)?);
        let is_answered = review_loop.read_facts(&state)?.post_review;
        let text = describe_route(&route, chosen);
        show_route(&mut out, &route.action.to_string(), &text, chosen, overview)?;
        show_state(&mut out, &state, chosen, overview)?;
        if is_answered {
            let text = "the file to write exists already: if it is complete, set the state and end the turn";
            print_labelled(&mut out, "note", text)?;
        }
        if self.with_action {
            show_action(&mut out, &route, &state, chosen)?;
        }
        Ok(Exit::Done)
    }
}

fn describe_route(route: &Route, chosen: &ChosenPlan) -> String {
    let mut why = route.why.clone();
    if let Some(first) = why.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let instruction = match route.action {
        NextAction::Command(NEW_PLAN) => " Finish the existing plan, and keep what it contains.".into(),
        NextAction::Command(_) => String::new(),
        NextAction::Stop => " Say so in a sentence and end the turn: the review begins when the agent stops.".into(),
        NextAction::Complete => format!(
            " Run `provost review set{} phase=complete next_phase=null`, and tell the user that all tasks are done.",
            chosen.explicit_argument()
        ),
        NextAction::Tell => " Tell the user that all tasks are done; change nothing.".into(),
        NextAction::Ask => {
            " Show the user phase, next_phase and current_task, and ask what to do; change nothing before that.".into()
        }
    };
    format!("{why}.{instruction}")
}

/// The route, what it means, and for which plan.
fn show_route(
    out: &mut impl Write,
    route: &str,
    text: &str,
    chosen: &ChosenPlan,
    overview: &Overview,
) -> io::Result<()> {
    writeln!(out, "{}", paint(BOLD, &format!("Route: {route}")))?;
    print_sentence(out, text)?;
    print_labelled(out, "plan", &chosen.plan.display_file("plan.md", &overview.cwd))?;
    if chosen.is_newest && !chosen.others.is_empty() {
        print_labelled(
            out,
            "others",
            &format!("{}; `--plan` names one of them", list_names(&chosen.others)),
        )?;
    }
    Ok(())
}

fn show_state(
    out: &mut impl Write,
    state: &LoopState,
    chosen: &ChosenPlan,
    overview: &Overview,
) -> io::Result<()> {
    let word = |value: &Option<String>| value.as_deref().map_or("null".into(), make_one_line);
    let (phase, next, task) = (word(&state.phase), word(&state.next_phase), word(&state.current_task));
    print_labelled(out, "state", &format!("phase {phase}, next_phase {next}, current_task {task}"))?;
    if let Some((review, answer)) = name_answer(state) {
        print_labelled(out, "read", &chosen.plan.display_file(&review, &overview.cwd))?;
        print_labelled(out, "write", &chosen.plan.display_file(&answer, &overview.cwd))?;
    }
    Ok(())
}

/// Prints the instructions of an action, which do not depend on the command that led to it.
fn show_action(
    out: &mut impl Write,
    route: &Route,
    state: &LoopState,
    chosen: &ChosenPlan,
) -> io::Result<()> {
    let NextAction::Command(name) = route.action else { return Ok(()) };
    let task = match (name, state.current_task.as_deref()) {
        (CONTINUE_TASK | "post-code-review", Some(task)) => {
            format!(" and on task `{}`", make_one_line(task))
        }
        _ => String::new(),
    };
    writeln!(out)?;
    print_sentence(
        out,
        &format!(
            "This is the action {name}, including its section `## State`. It works on the plan `{}`{task}; where it \
             asks for words of the user, use those that came with continue-plan.",
            make_one_line(&chosen.plan.id)
        ),
    )?;
    let words = if name == NEW_PLAN { WORDS_OF_A_PLAN } else { NO_WORDS };
    let text = prompts::action_text(name).replace(WORDS, words);
    writeln!(out, "\n<action>\n{}\n</action>", crate::text::make_printable(&text))
}
